// ---- datasets of the charts -------------------------------------------------------------------

const groupLines = ([size, ...names], plural) =>
  size === 1 ? [names[0]] : [`${formatCount(size)} ${plural}`, names.join(", ") + (size > names.length ? ", …" : "")];

// The lines of the tooltip of a datum; the first is the heading.
const tooltipLines = {
  embedding({ i, c }) {
    const { names, classOf, classes } = charts.embedding.data;
    return [names[i], groupName(c), ...(classOf ? [`class ${classes[classOf[i]]}`] : [])];
  },
  matrix({ x, y, c, home, v }) {
    const { rows, columns, largest } = charts.matrix.data;
    const aggregated = rows[y][0] * columns[x][0] > 1;
    return [
      ...groupLines(rows[y], nouns.hyperedges),
      home < 0 ? "no main group" : `main group ${groupName(home)}`,
      ...groupLines(columns[x], nouns.vertices).map((text, i) => (i ? text : `${text}, in ${groupName(c)}`)),
      aggregated
        ? `mean weight ${formatNumber(v * largest)} of the largest in each ${nouns.a_hyperedge}`
        : `weight ${formatNumber(v * largest)} of the largest in this ${nouns.a_hyperedge}`,
    ];
  },
  spectrum: ({ i, v, converged, residual }) => [
    `eigenvalue ${i}`,
    converged ? `${formatNumber(v)}, residual ${formatNumber(residual)}` : `at most ${formatNumber(v)}`,
  ],
  sweep: ({ n, ncut, conductance }) => [
    `${formatCount(n)} and ${formatCount(charts.sweep.data.total - n)} ${nouns.vertices}`,
    `NCut ${formatNumber(ncut)}`,
    `conductance ${formatNumber(conductance)}`,
  ],
};

// Runs of equal groups: from a (inclusive) to b (exclusive).
const spans = (groups) => {
  const found = [];
  groups.forEach((c, i) => {
    const last = found[found.length - 1];
    if (last && last.c === c) last.b = i + 1;
    else found.push({ c, a: i, b: i + 1 });
  });
  return found.map((span) => ({ ...span, name: span.c < 0 ? "" : groupName(span.c), middle: (span.a + span.b) / 2 }));
};
// Points at the same position share one label, so that names are not on top of each other.
const mergedLabels = (points) => {
  const found = new Map();
  const [width, height] = ["x", "y"].map((axis) => {
    const values = points.map((point) => point[axis]);
    return Math.max(...values) - Math.min(...values) || 1;
  });
  points.forEach((point) => {
    const key = [point.c, Math.round((200 * point.x) / width), Math.round((200 * point.y) / height)].join();
    const before = found.get(key);
    found.set(key, before ? { ...before, name: `${before.name}, ${point.name}` } : point);
  });
  return [...found.values()];
};
const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];
const datasets = {
  embedding({ coordinates, clipped, leaves, names, showNames, showGroups }, xAxis = 0, yAxis = 1) {
    const outliers = new Set([...clipped[xAxis], ...clipped[yAxis]]);
    const { ofLeaf, ids } = level();
    const points = leaves.map((leaf, i) => ({
      i,
      c: ofLeaf[leaf],
      name: names[i],
      x: coordinates[xAxis][i],
      y: coordinates[yAxis][i],
      clipped: outliers.has(i),
    }));
    const centre = (c) => {
      const members = points.filter((point) => point.c === c);
      return { c, name: groupName(c), x: median(members.map(({ x }) => x)), y: median(members.map(({ y }) => y)) };
    };
    const numbers = ids.length <= showGroups ? ids.map(centre).filter(({ x }) => x !== undefined) : [];
    const labels = showNames ? mergedLabels(points) : numbers;
    return { points, names: labels.length ? labels : [{ ...points[0], name: "" }] }; // Vega warns of no data
  },
  matrix({ cells, rows, columns, homes, leaves, nameStep }) {
    const rowGroups = homes[position];
    const columnGroups = leaves.map((leaf) => level().ofLeaf[leaf]);
    const found = [];
    cells.forEach((row, y) =>
      row.forEach((v, x) => {
        if (v) found.push({ x, x2: x + 1, y, y2: y + 1, v: v / 1000, c: columnGroups[x], home: rowGroups[y] });
      }),
    );
    const label = (groups) => (group, i) => ({ i, middle: i + 0.5, c: groups[i], name: group[1] });
    return {
      cells: found,
      across: spans(columnGroups),
      down: spans(rowGroups),
      rows: rows.map(label(rowGroups)).filter(({ i }) => i % nameStep === 0),
      columns: columns.map(label(columnGroups)),
    };
  },
  spectrum: ({ values, nConverged, residuals }) => ({
    values: values.map((v, i) => ({ i: i + 1, v, converged: i < nConverged, residual: residuals[i] })),
  }),
  sweep({ sizes, ncuts, conductances, best }) {
    const middle = (i) => (sizes[i] + sizes[i + 1]) / 2;
    const cuts = sizes.map((n, i) => ({
      n,
      ncut: ncuts[i],
      conductance: conductances[i],
      from: i ? middle(i - 1) : n - 0.5,
      to: i + 1 < sizes.length ? middle(i) : n + 0.5,
    }));
    return { cuts, best: [cuts[best]] };
  },
};

// ---- charts -----------------------------------------------------------------------------------

const views = {};
const colours = () => {
  const css = getComputedStyle(root);
  const token = (name) => css.getPropertyValue(`--${name}`).trim();
  return {
    ink: token("ink"),
    soft: token("soft"),
    rule: token("rule"),
    page: token("page"),
    none: token("none"),
    palette: Array.from({ length: data.nColours }, (_, i) => token(`c${i}`)),
  };
};
const resize = (name, view, width) => {
  const padding = { ...charts[name].spec.padding };
  const showNames = name === "matrix" && charts.matrix.data.nameWidth > 0 && width > 420;
  if (showNames) padding.left += charts.matrix.data.nameWidth;
  if (name === "matrix") view.signal("showNames", showNames);
  view.padding(padding).width(Math.max(120, Math.floor(width) - padding.left - padding.right));
  if (name === "embedding") view.height(Math.min(charts.embedding.spec.height, Math.max(280, width * 0.9)));
};
const draw = async (box) => {
  const name = box.dataset.chart;
  const { spec, data: values } = charts[name];
  const font = getComputedStyle(document.body).fontFamily;
  const letters = { labelFont: font, titleFont: font, labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal" };
  const rows = datasets[name](values);
  const many = Object.values(rows).reduce((sum, table) => sum + table.length, 0) > 4000;
  const signals = { ...colours(), chosen, ...(values.axes && { xTitle: values.axes[0], yTitle: values.axes[1] }) };
  const params = spec.params.map((param) => ({ ...param, value: signals[param.name] ?? param.value }));
  const { view } = await vegaEmbed(box, { ...spec, params, datasets: rows }, {
    mode: "vega-lite",
    ast: true, // interpret expressions, because the content security policy forbids compiling them
    actions: false,
    defaultStyle: false,
    renderer: many ? "canvas" : "svg",
    config: { axis: { ...letters, gridWidth: 0.7 }, text: { font }, view: { stroke: null }, background: null, aria: false },
    tooltip: (_, event, item, datum) => {
      if (name === "sweep") views.sweep.signal("hovered", datum ? datum.n : -1).runAsync();
      showTooltip(event, datum ? tooltipLines[name](datum) : null);
    },
  });
  if (name === "embedding" || name === "matrix") {
    view.addEventListener("click", (_, item) => {
      if (item?.datum?.c >= 0) choose(item.datum.c);
      if (name === "embedding" && item?.datum?.i >= 0) emit("point", item.datum.i);
    });
  }
  resize(name, view, box.clientWidth);
  views[name] = view;
  return view.signal("chosen", chosen).runAsync();
};
const updateAll = (change) => Promise.all(Object.values(views).map((view) => (change(view), view.runAsync())));
const updateColours = () => {
  const values = Object.entries(colours());
  return updateAll((view) => values.forEach(([name, value]) => view.signal(name, value)));
};
// Charts that show groups, after the level or a name has changed.
const updateGroups = () =>
  Promise.all(
    ["embedding", "matrix"].filter((name) => views[name]).map((name) => {
      const view = views[name];
      const axes = name === "embedding" ? [view.signal("xAxis"), view.signal("yAxis")] : [];
      const drawn = charts[name].spec.layer.map((layer) => layer.data.name);
      for (const [key, rows] of Object.entries(datasets[name](charts[name].data, ...axes))) {
        if (drawn.includes(key)) view.data(key, rows);
      }
      return view.runAsync();
    }),
  );
// Texts change at once, the pictures when the slider rests, because they take longer.
let timer = 0;
let resting = [];
const updateSoon = () =>
  new Promise((resolve) => {
    resting.push(resolve);
    clearTimeout(timer);
    timer = setTimeout(() => {
      const done = resting;
      resting = [];
      makeScrollable();
      drawFlows();
      updateGroups().then(() => done.forEach((resolve) => resolve()));
    }, 80);
  });
on("level", updateSoon);
on("names", updateSoon);
on("theme", updateColours);
on("choose", () => updateAll((view) => view.signal("chosen", chosen)));

for (const axis of ["x", "y"]) {
  byId(`${axis}-axis`)?.addEventListener("change", ({ target }) => {
    views.embedding.signal(`${axis}Axis`, +target.value).signal(`${axis}Title`, charts.embedding.data.axes[+target.value]);
    updateGroups();
  });
}
