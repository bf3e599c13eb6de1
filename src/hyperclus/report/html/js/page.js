// ---- theme, copying, printing -----------------------------------------------------------------------

const system = matchMedia("(prefers-color-scheme: dark)");
const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
const labelThemeButton = () => (byId("theme").textContent = dark() ? "Light" : "Dark");
byId("theme").addEventListener("click", () => {
  root.dataset.theme = dark() ? "light" : "dark";
  try {
    localStorage.setItem("hyperclus-theme", root.dataset.theme);
  } catch {
    // without storage the theme is forgotten
  }
  labelThemeButton();
  emit("theme");
});
system.addEventListener("change", () => { labelThemeButton(); emit("theme"); });
labelThemeButton();
document.addEventListener("click", async ({ target }) => {
  const button = target.closest(".copy");
  if (!button) return;
  const code = button.parentElement.querySelector("code");
  try {
    await navigator.clipboard.writeText(code.textContent);
    button.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(code);
    button.textContent = "Selected";
  }
  setTimeout(() => (button.textContent = "Copy"), 1500);
});
let before = null;
let folded = [];
addEventListener("beforeprint", () => {
  before = root.dataset.theme ?? "";
  root.dataset.theme = "light";
  // All groups are printed if they are few, otherwise those that are open.
  folded = all("details.who").length <= 12 ? all("details.who:not([open])") : [];
  folded.forEach((details) => (details.open = true));
  emit("theme");
});
addEventListener("afterprint", () => {
  if (before) root.dataset.theme = before;
  else delete root.dataset.theme;
  folded.forEach((details) => (details.open = false));
  emit("theme");
});

// ---- start ----------------------------------------------------------------------------------------

// Charts inside a closed part of the page are drawn when it is opened, because they have no width before.
const widths = new Map();
const watch = new ResizeObserver((entries) =>
  entries.forEach(({ target }) => {
    if (!target.clientWidth || Math.abs(target.clientWidth - (widths.get(target) ?? 0)) < 1) return;
    widths.set(target, target.clientWidth);
    const view = views[target.dataset.chart];
    if (!view) return draw(target);
    resize(target.dataset.chart, view, target.clientWidth);
    return view.runAsync();
  }),
);
addEventListener("resize", () => { makeScrollable(); drawFlows(); });
applyNames();
labelSlider();
makeScrollable();
const boxes = all("[data-chart]");
const ready = goToAddress()
  .then(() => drawFlows())
  .then(() => Promise.all(boxes.filter((box) => box.clientWidth).map((box) => (widths.set(box, box.clientWidth), draw(box)))))
  .then(() => {
    boxes.forEach((box) => watch.observe(box));
    root.classList.add("drawn");
  });
window.hyperclus = { views, ready, showLevel };
