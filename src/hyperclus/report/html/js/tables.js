// ---- filters and sorting --------------------------------------------------------------------------

const matches = (row, wanted) => (row.querySelector(".name") ?? row).textContent.toLowerCase().includes(wanted);
const showCards = () => {
  all(".card").forEach((card) => {
    const here = chosen < 0 || +card.dataset.cluster === chosen;
    card.classList.toggle("hidden", !here);
  });
  byId("no-match").hidden = all(".card:not(.hidden)").length > 0;
};
on("choose", showCards);
on("level", showCards);
document.addEventListener("input", ({ target }) => {
  if (target.id !== "clusters-filter") return;
  const wanted = target.value.trim().toLowerCase();
  all(".clusters tbody tr").forEach((row) => row.classList.toggle("hidden", Boolean(wanted) && !matches(row, wanted)));
  target.closest(".folded").classList.toggle("all", Boolean(wanted));
});
const sortBy = (button) => {
  const head = button.closest("th");
  const body = head.closest("table").tBodies[0];
  const numeric = head.classList.contains("number");
  const before = head.getAttribute("aria-sort");
  const up = before === "none" ? !numeric || head.cellIndex === 0 : before === "descending";
  const key = (row) => (numeric ? parseFloat(row.cells[head.cellIndex].dataset.value) : row.cells[head.cellIndex].textContent);
  const compare = numeric ? (a, b) => a - b : (a, b) => a.localeCompare(b, undefined, { numeric: true });
  const rows = [...body.rows].map((row) => [key(row), row]);
  rows.sort((a, b) => (up ? 1 : -1) * compare(a[0], b[0]));
  all("th[aria-sort]", head.parentElement).forEach((other) => other.setAttribute("aria-sort", "none"));
  head.setAttribute("aria-sort", up ? "ascending" : "descending");
  body.append(...rows.map(([, row]) => row));
  if (body.closest(".clusters")) [...body.rows].forEach((row, i) => row.classList.toggle("more", i >= data.openClusters));
};
const unfold = (button) => {
  button.dataset.label ??= button.textContent;
  const open = button.closest(".folded").classList.toggle("open");
  button.setAttribute("aria-expanded", String(open));
  button.textContent = open ? "Fewer" : button.dataset.label;
};
document.addEventListener("click", ({ target }) => {
  const sort = target.closest(".sort");
  const more = target.closest(".more-rows");
  if (sort) sortBy(sort);
  if (more) unfold(more);
});
const makeScrollable = () =>
  all(".scroll").forEach((box) => {
    if (box.scrollWidth > box.clientWidth + 1 || box.scrollHeight > box.clientHeight + 1) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  });
