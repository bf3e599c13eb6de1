// ---- what splits when the number of groups grows, and two partitions side by side -----------------

const svg = (tag, attributes, ...children) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  Object.entries(attributes).forEach(([name, value]) => made.setAttribute(name, value));
  made.append(...children);
  return made;
};
// Columns of bars and bands between them. A column has a title and bars ({ size, group, name }); a link has the
// column, its two bars and its size. Bars of a column and bands of a bar are stacked in their order.
const drawFlow = (box, { columns, links, chosenColumn, height = 340, onColumn, named = false }) => {
  const width = Math.max(260, box.clientWidth);
  const [top, bottom, barWidth, space] = [26, 6, 12, 4];
  const total = Math.max(...columns.map(({ bars }) => bars.reduce((sum, { size }) => sum + size, 0)));
  const most = Math.max(...columns.map(({ bars }) => bars.length));
  const scale = (height - top - bottom - space * (most - 1)) / total;
  const x = (column) => 2 + (column * (width - barWidth - 4)) / Math.max(columns.length - 1, 1);
  const picture = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, class: "flow", "aria-hidden": "true" });
  const places = columns.map(({ bars }) => {
    let y = top;
    return bars.map(({ size }) => {
      const place = { y, left: y, right: y, height: Math.max(size * scale, 0.75) };
      y += place.height + space;
      return place;
    });
  });
  links.forEach(({ column, from, to, size, group }) => {
    const [a, b, thick] = [places[column][from], places[column + 1][to], Math.max(size * scale, 0.5)];
    const [x1, x2] = [x(column) + barWidth, x(column + 1)];
    const middle = (x1 + x2) / 2;
    const path = `M${x1},${a.right}C${middle},${a.right} ${middle},${b.left} ${x2},${b.left}v${thick}C${middle},${b.left + thick} ${middle},${a.right + thick} ${x1},${a.right + thick}Z`;
    picture.append(svg("path", { d: path, class: `band ${group < 0 ? "" : colourClass(group)}`, "data-group": group }));
    a.right += thick;
    b.left += thick;
  });
  columns.forEach(({ title, bars }, column) => {
    const now = column === chosenColumn;
    const anchor = column === 0 ? "start" : column === columns.length - 1 ? "end" : "middle";
    const at = column === 0 ? 0 : column === columns.length - 1 ? width : x(column) + barWidth / 2;
    picture.append(svg("text", { x: at, y: 14, "text-anchor": anchor, class: now ? "strong" : "" }, title));
    bars.forEach(({ size, group, name }, i) => {
      const bar = svg("rect", { x: x(column), y: places[column][i].y, width: barWidth, height: places[column][i].height, class: `bar ${colourClass(group)}`, "data-group": group });
      const show = (event) => showTooltip(event, [name, `${formatCount(size)} ${size === 1 ? nouns.a_vertex : nouns.vertices}`]);
      bar.addEventListener("pointermove", show);
      bar.addEventListener("pointerleave", (event) => showTooltip(event, null));
      picture.append(bar);
      if (named && places[column][i].height > 11) {
        const right = column > 0;
        const at = { x: right ? x(column) - 6 : x(column) + barWidth + 6, y: places[column][i].y + places[column][i].height / 2 + 4 };
        picture.append(svg("text", { ...at, "text-anchor": right ? "end" : "start", class: "name" }, `${name}, ${formatCount(size)}`));
      }
    });
    if (onColumn) {
      const [from, to] = [column ? (x(column - 1) + x(column)) / 2 : 0, column < columns.length - 1 ? (x(column) + x(column + 1)) / 2 + barWidth : width];
      const area = svg("rect", { x: from, y: 0, width: Math.max(to - from, 1), height: top, class: `area${now ? " now" : ""}` });
      area.addEventListener("click", () => onColumn(column));
      picture.prepend(area);
    }
  });
  box.replaceChildren(picture);
};
const colourClass = (group) =>
  group < 0 ? "none" : `c${group % data.nMarks} m${Math.floor(group / data.nColours) % (data.nMarks / data.nColours)}`;

const splits = () => {
  const { leafOrder, leafSizes, levels } = data;
  const byOrder = leafOrder.map((_, i) => i).sort((a, b) => leafOrder[a] - leafOrder[b]);
  const before = position;
  const columns = levels.map(({ k, ofLeaf, ids }, column) => {
    const sizes = new Map();
    byOrder.forEach((leaf) => sizes.set(ofLeaf[leaf], (sizes.get(ofLeaf[leaf]) ?? 0) + leafSizes[leaf]));
    position = column; // names are those of the level
    const bars = [...sizes].map(([group, size]) => ({ group, size, name: groupName(group) }));
    return { title: formatCount(k), bars };
  });
  position = before;
  const links = [];
  levels.slice(1).forEach(({ ofLeaf }, column) => {
    const found = new Map();
    const place = (at, group) => columns[at].bars.findIndex((bar) => bar.group === group);
    byOrder.forEach((leaf) => {
      const key = `${levels[column].ofLeaf[leaf]} ${ofLeaf[leaf]}`;
      found.set(key, (found.get(key) ?? 0) + leafSizes[leaf]);
    });
    found.forEach((size, key) => {
      const [from, to] = key.split(" ").map(Number);
      links.push({ column, from: place(column, from), to: place(column + 1, to), size, group: to });
    });
  });
  return { columns, links, chosenColumn: position, onColumn: showLevel };
};
const comparison = () => {
  const { names, sizes, counts, title } = data.other;
  const bars = level().ids.map((group) => ({ group, size: level().sizes[level().ids.indexOf(group)], name: groupName(group) }));
  const leaves = level().ids.map((group) => level().ofLeaf.flatMap((id, leaf) => (id === group ? [leaf] : [])));
  const links = leaves.flatMap((some, from) =>
    names.map((_, to) => ({ column: 0, from, to, size: some.reduce((sum, leaf) => sum + counts[leaf][to], 0), group: level().ids[from] })),
  );
  // The others are in the order of the groups that they share most with, so that few bands cross.
  const weight = (to) => links.filter((link) => link.to === to).reduce((best, link) => (link.size > best.size ? link : best)).from;
  const order = names.map((_, to) => to).sort((a, b) => weight(a) - weight(b) || a - b);
  const others = order.map((to) => ({ group: -1, size: sizes[to], name: /^\d+$/.test(names[to]) ? `Group ${names[to]}` : names[to] }));
  const kept = links.filter(({ size }) => size).map((link) => ({ ...link, to: order.indexOf(link.to) }));
  kept.sort((a, b) => a.from - b.from || a.to - b.to);
  return { columns: [{ title: "this page", bars }, { title, bars: others }], links: kept, height: 380, named: true };
};
const flows = { splits, comparison };
const drawFlows = () => all("[data-flow]").forEach((box) => box.clientWidth && drawFlow(box, flows[box.dataset.flow]()));
on("choose", () => all(".flow [data-group]").forEach((item) => item.classList.toggle("dim", chosen >= 0 && +item.dataset.group !== chosen)));
