// ---- the chosen group ---------------------------------------------------------------------------

let chosen = -1;
const markChosen = () => {
  all("button[data-choose]").forEach((button) => button.setAttribute("aria-pressed", String(+button.dataset.choose === chosen)));
  all(".clusters tbody tr").forEach((row) => row.classList.toggle("chosen", +row.dataset.cluster === chosen));
  all("tr[data-cluster], td[data-cluster]").forEach((item) =>
    item.classList.toggle("dim", chosen >= 0 && +item.dataset.cluster !== chosen),
  );
  byId("clear").hidden = chosen < 0;
  if (chosen < 0) delete root.dataset.chosen;
  else root.dataset.chosen = chosen;
};
const remember = () => {
  const parts = [...(position === data.main ? [] : [`k=${level().k}`]), ...(chosen < 0 ? [] : [`group=${chosen}`])];
  history.replaceState(null, "", parts.length ? `#${parts.join("&")}` : location.pathname + location.search);
};
const choose = (group) => {
  chosen = group === chosen ? -1 : group;
  markChosen();
  announce(chosen < 0 ? "All groups are shown." : `${groupName(chosen)} is chosen.`);
  remember();
  return emit("choose", chosen);
};
document.addEventListener("click", (event) => {
  if (event.target.closest("button:not([data-choose]), input, a, summary")) return;
  const item = event.target.closest("[data-choose]");
  if (item && (item.matches("button") || !String(getSelection()))) choose(+item.dataset.choose);
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.target.matches(".rename, input[type=search]:not(:placeholder-shown)")) return;
  showTooltip(event, null);
  if (chosen >= 0) choose(-1);
});
byId("clear").addEventListener("click", () => choose(-1));
