"use strict";
// Runs before the first paint: restore the theme, and show the controls that need JavaScript.
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  addEventListener("error", () => root.classList.contains("drawn") || root.classList.remove("js"));
  try {
    const theme = localStorage.getItem("hyperclus-theme");
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  } catch {
    // without storage the system's theme is used
  }
})();
