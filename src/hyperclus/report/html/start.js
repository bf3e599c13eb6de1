"use strict";
// Before anything is painted: the theme that was chosen last, and room for what the page's script adds.
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  addEventListener("error", () => root.classList.contains("drawn") || root.classList.remove("js"));
  try {
    const theme = localStorage.getItem("hyperclus-theme");
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  } catch {
    // nothing is kept
  }
})();
