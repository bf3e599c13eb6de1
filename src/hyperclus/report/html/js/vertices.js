// ---- vertex search -----------------------------------------------------------------------------------

const MAX_FOUND = 10;
const { vertices } = data;
const lowerNames = vertices.names.map((name) => name.toLowerCase());
const rankedMatches = (wanted) => {
  const found = [[], [], []]; // equal names, names that start with the text, names that contain it
  lowerNames.forEach((name, i) => {
    const place = name.indexOf(wanted);
    if (place >= 0) found[name === wanted ? 0 : place ? 2 : 1].push(i);
  });
  return found.flat();
};
const foundItem = (i) => {
  const group = vertices.leaves[i] < 0 ? -1 : level().ofLeaf[vertices.leaves[i]];
  const facts = group < 0 ? [`in no ${nouns.a_hyperedge}, in no group`] : [];
  if (vertices.classOf) facts.unshift(element("bdi", "", `class ${vertices.classes[vertices.classOf[i]]}`));
  const item = element("li", group < 0 ? "" : colourClass(group), element("bdi", "name", vertices.names[i]));
  if (group >= 0) {
    const button = element("button", "chooser", element("span", "badge", element("i", ""), groupName(group)));
    Object.assign(button, { type: "button" }).dataset.choose = group;
    button.setAttribute("aria-pressed", String(group === chosen));
    item.append(button);
  }
  item.append(...facts.map((fact) => element("span", "note", fact)));
  return item;
};
const find = () => {
  const wanted = byId("find").value.trim().toLowerCase();
  const found = wanted ? rankedMatches(wanted) : [];
  byId("found").replaceChildren(...found.slice(0, MAX_FOUND).map(foundItem));
  const many = found.length === 1 ? `1 ${nouns.a_vertex} matches.` : `${formatCount(found.length)} ${nouns.vertices} match.`;
  const rest = found.length > MAX_FOUND ? ` The first ${MAX_FOUND} are shown.` : "";
  byId("find-status").textContent = !wanted ? "" : found.length ? many + rest : `No ${nouns.a_vertex} matches.`;
};
byId("find").addEventListener("input", find);
on("level", find);
on("names", find);
