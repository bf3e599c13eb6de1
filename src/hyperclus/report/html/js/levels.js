// ---- the number of groups -----------------------------------------------------------------------

const slots = new Map(all("[data-slot]").map((slot) => [slot.dataset.slot, slot]));
const shown = new Map(); // the elements of each level that was shown before, by level and slot
const contentsOf = (k, slot) => {
  const key = `${k} ${slot}`;
  if (!shown.has(key)) {
    const template = document.querySelector(`template[data-level="${k}"]`).content;
    shown.set(key, [...document.importNode(template.querySelector(`[data-slot="${slot}"]`), true).childNodes]);
  }
  return shown.get(key);
};
const slider = byId("level-slider");
const labelSlider = () => {
  slider.value = position;
  const text = `${formatCount(level().k)} ${level().k === 1 ? "group" : "groups"}`;
  slider.setAttribute("aria-valuetext", text);
  byId("level-text").textContent = text;
};
const showLevel = (wanted) => {
  if (wanted === position || !data.levels[wanted]) return Promise.resolve();
  const before = level().k;
  slots.forEach((slot, name) => {
    shown.set(`${before} ${name}`, [...slot.childNodes]);
    slot.replaceChildren(...contentsOf(data.levels[wanted].k, name));
  });
  position = wanted;
  if (!level().ids.includes(chosen)) chosen = -1;
  labelSlider();
  applyNames();
  markChosen();
  remember();
  announce(`${level().k} groups are shown.`);
  return emit("level", level());
};
const fromAddress = () => {
  const found = new URLSearchParams(location.hash.slice(1));
  const wanted = data.levels.findIndex(({ k }) => String(k) === found.get("k"));
  const first = data.levels.findIndex(({ k }) => k === saved.k);
  return [wanted >= 0 ? wanted : first >= 0 ? first : data.main, /^\d+$/.test(found.get("group") ?? "") ? +found.get("group") : -1];
};
const goToAddress = async () => {
  const [wanted, group] = fromAddress();
  await showLevel(wanted);
  if (level().ids.includes(group) && group !== chosen) await choose(group);
  else if (group < 0 && chosen >= 0) await choose(-1);
};
addEventListener("hashchange", () => (location.hash === "" || /^#(k|group)=/.test(location.hash)) && goToAddress());
slider.addEventListener("input", () => showLevel(+slider.value));
for (const [id, step] of [["level-fewer", -1], ["level-more", 1]]) byId(id).addEventListener("click", () => showLevel(position + step));
on("level", () => {
  byId("level-fewer").disabled = position === 0;
  byId("level-more").disabled = position === data.levels.length - 1;
});
