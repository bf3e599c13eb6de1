"use strict";
(() => {
  const root = document.documentElement;
  const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];
  const byId = (id) => document.getElementById(id);
  const { k, distinctClusters, openRows, openClusters, clusterNames, nouns, charts, vertices } = JSON.parse(byId("data").textContent);
  const views = {};
  let chosen = -1;

  // ---- tooltips -----------------------------------------------------------------------------

  const formatNumber = (value) =>
    value === 0 ? "0" : Math.abs(value) < 1e-4 ? value.toExponential(2) : String(+value.toPrecision(4));
  const formatCount = (value) => value.toLocaleString("en-US");
  const groupLines = ([size, ...names], plural) =>
    size === 1 ? [names[0]] : [`${formatCount(size)} ${plural}`, names.join(", ") + (size > names.length ? ", …" : "")];

  // The lines of the tooltip of a datum; the first is the heading.
  const tooltipLines = {
    embedding({ i, c }) {
      const { names, classOf, classes } = charts.embedding.data;
      return [names[i], `cluster ${clusterNames[c]}`, ...(classOf ? [`class ${classes[classOf[i]]}`] : [])];
    },
    matrix({ x, y, c, home, v }) {
      const { rows, columns, largest } = charts.matrix.data;
      const aggregated = rows[y][0] * columns[x][0] > 1;
      return [
        ...groupLines(rows[y], nouns.hyperedges),
        home < 0 ? "no main cluster" : `main cluster ${clusterNames[home]}`,
        ...groupLines(columns[x], nouns.vertices).map((text, i) => (i ? text : `${text}, in cluster ${clusterNames[c]}`)),
        aggregated
          ? `mean weight ${formatNumber(v * largest)} of the largest in each hyperedge`
          : `weight ${formatNumber(v * largest)} of the largest in this hyperedge`,
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

  // ---- datasets of the charts ---------------------------------------------------------------

  // Runs of equal clusters: from a (inclusive) to b (exclusive).
  const spans = (clusters) => {
    const found = [];
    clusters.forEach((c, i) => {
      const last = found[found.length - 1];
      if (last && last.c === c) last.b = i + 1;
      else found.push({ c, a: i, b: i + 1 });
    });
    return found.map((span) => ({ ...span, name: span.c < 0 ? "" : clusterNames[span.c], middle: (span.a + span.b) / 2 }));
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
  const datasets = {
    embedding({ coordinates, clipped, clusters, centres, names, showNames }, xAxis = 0, yAxis = 1) {
      const outliers = new Set([...clipped[xAxis], ...clipped[yAxis]]);
      const points = clusters.map((c, i) => ({
        i,
        c,
        name: names[i],
        x: coordinates[xAxis][i],
        y: coordinates[yAxis][i],
        clipped: outliers.has(i),
      }));
      const numbers = centres.map((centre, c) => ({ c, name: clusterNames[c], x: centre[xAxis], y: centre[yAxis] }));
      return { points, names: showNames ? mergedLabels(points) : numbers };
    },
    matrix({ cells, rows, columns, rowClusters, columnClusters, nameStep }) {
      const found = [];
      cells.forEach((row, y) =>
        row.forEach((v, x) => {
          if (v) found.push({ x, x2: x + 1, y, y2: y + 1, v: v / 1000, c: columnClusters[x], home: rowClusters[y] });
        }),
      );
      const label = (clusters) => (group, i) => ({ i, middle: i + 0.5, c: clusters[i], name: group[1] });
      return {
        cells: found,
        across: spans(columnClusters),
        down: spans(rowClusters),
        rows: rows.map(label(rowClusters)).filter(({ i }) => i % nameStep === 0),
        columns: columns.map(label(columnClusters)),
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

  // ---- charts -------------------------------------------------------------------------------

  const colours = () => {
    const css = getComputedStyle(root);
    const token = (name) => css.getPropertyValue(`--${name}`).trim();
    return {
      ink: token("ink"),
      soft: token("soft"),
      rule: token("rule"),
      page: token("page"),
      none: token("none"),
      palette: Array.from({ length: 10 }, (_, i) => token(`c${i}`)),
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
    const { spec, data } = charts[name];
    const font = getComputedStyle(document.body).fontFamily;
    const letters = { labelFont: font, titleFont: font, labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal" };
    const rows = datasets[name](data);
    const many = Object.values(rows).reduce((sum, table) => sum + table.length, 0) > 4000;
    const values = { ...colours(), chosen, ...(data.axes && { xTitle: data.axes[0], yTitle: data.axes[1] }) };
    const params = spec.params.map((param) => ({ ...param, value: values[param.name] ?? param.value }));
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
      view.addEventListener("click", (_, item) => item && item.datum && item.datum.c >= 0 && choose(item.datum.c));
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

  const showTooltip = (event, texts) => {
    const box = byId("tip");
    box.hidden = !texts;
    if (!texts) return;
    box.replaceChildren(...texts.map((text) => Object.assign(document.createElement("p"), { textContent: text })));
    const { width, height } = box.getBoundingClientRect();
    const left = Math.min(event.clientX + 14, innerWidth - width - 10);
    const top = event.clientY + 16 + height > innerHeight ? event.clientY - height - 12 : event.clientY + 16;
    box.style.transform = `translate(${Math.max(6, left)}px, ${Math.max(6, top)}px)`;
  };

  // ---- the chosen cluster -------------------------------------------------------------------

  const fromAddress = () => {
    const found = /^#cluster=(\d+)$/.exec(location.hash);
    return found && +found[1] < k ? +found[1] : -1;
  };
  const choose = (cluster, remember = true) => {
    chosen = cluster === chosen ? -1 : cluster;
    all("button[data-choose]").forEach((button) => button.setAttribute("aria-pressed", String(+button.dataset.choose === chosen)));
    all(".clusters tbody tr").forEach((row) => row.classList.toggle("chosen", +row.dataset.cluster === chosen));
    all("tr[data-cluster], td[data-cluster]").forEach((item) =>
      item.classList.toggle("dim", chosen >= 0 && +item.dataset.cluster !== chosen),
    );
    byId("clear").hidden = chosen < 0;
    fitChips();
    byId("announcement").textContent = chosen < 0 ? "All clusters are shown." : `Cluster ${clusterNames[chosen]} is chosen.`;
    if (chosen < 0) delete root.dataset.chosen;
    else root.dataset.chosen = chosen;
    if (remember) history.replaceState(null, "", chosen < 0 ? location.pathname + location.search : `#cluster=${chosen}`);
    applyFilter();
    return updateAll((view) => view.signal("chosen", chosen));
  };
  document.addEventListener("click", (event) => {
    const item = event.target.closest("[data-choose]");
    if (item && (item.matches("button") || !String(getSelection()))) choose(+item.dataset.choose);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || (event.target.matches("input") && event.target.value)) return;
    showTooltip(event, null);
    if (chosen >= 0) choose(-1);
  });
  byId("clear").addEventListener("click", () => choose(-1));
  addEventListener("hashchange", () => {
    const cluster = fromAddress();
    if (cluster !== chosen && (cluster >= 0 || !location.hash)) choose(cluster, false);
  });

  // ---- filters and sorting ------------------------------------------------------------------

  const matches = (row, wanted) => (row.querySelector(".name") ?? row).textContent.toLowerCase().includes(wanted);
  const applyFilter = () => {
    const wanted = byId("details-filter").value.trim().toLowerCase();
    let shown = 0;
    all(".card").forEach((card) => {
      const rows = all("tbody tr", card);
      rows.forEach((row) => row.classList.toggle("hidden", Boolean(wanted) && !matches(row, wanted)));
      const found = !wanted || rows.some((row) => matches(row, wanted));
      const here = chosen < 0 || +card.dataset.cluster === chosen;
      card.classList.toggle("hidden", !(found && here));
      card.classList.toggle("all", Boolean(wanted) || chosen >= 0);
      shown += found && here;
    });
    byId("no-match").hidden = shown > 0;
    byId("no-match").textContent = wanted ? "Nothing matches." : "This cluster is not among those described.";
  };
  byId("details-filter").addEventListener("input", applyFilter);
  if (byId("clusters-filter")) {
    byId("clusters-filter").addEventListener("input", (event) => {
      const wanted = event.target.value.trim().toLowerCase();
      all(".clusters tbody tr").forEach((row) => row.classList.toggle("hidden", Boolean(wanted) && !matches(row, wanted)));
      byId("clusters").classList.toggle("all", Boolean(wanted));
    });
  }
  all(".sort").forEach((button) =>
    button.addEventListener("click", () => {
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
      const shown = body.closest(".card") ? openRows : openClusters;
      [...body.rows].forEach((row, i) => row.classList.toggle("more", i >= shown));
    }),
  );
  all(".more-rows").forEach((button) => {
    const text = button.textContent;
    button.addEventListener("click", () => {
      const open = button.closest(".folded").classList.toggle("open");
      button.setAttribute("aria-expanded", String(open));
      button.textContent = open ? "Fewer" : text;
    });
  });

  // ---- vertex search -----------------------------------------------------------------------

  const MAX_FOUND = 10;
  const lowerNames = vertices.names.map((name) => name.toLowerCase());
  const rankedMatches = (wanted) => {
    const found = [[], [], []]; // equal names, names that start with the text, names that contain it
    lowerNames.forEach((name, i) => {
      const place = name.indexOf(wanted);
      if (place >= 0) found[name === wanted ? 0 : place ? 2 : 1].push(i);
    });
    return found.flat();
  };
  const element = (tag, className, ...children) => {
    const made = Object.assign(document.createElement(tag), { className });
    made.append(...children);
    return made;
  };
  const foundItem = (i) => {
    const cluster = vertices.clusters[i];
    const facts = cluster < 0 ? ["in no hyperedge, in no cluster"] : [`stay probability ${(vertices.stay[i] / 10).toFixed(1)} %`];
    if (vertices.classOf) facts.unshift(element("bdi", "", `class ${vertices.classes[vertices.classOf[i]]}`));
    const item = element("li", cluster < 0 ? "" : `c${cluster % distinctClusters}`, element("bdi", "name", vertices.names[i]));
    if (cluster >= 0) {
      const button = element("button", "chooser", element("span", "badge", element("i", ""), `cluster ${clusterNames[cluster]}`));
      Object.assign(button, { type: "button" }).dataset.choose = cluster;
      button.setAttribute("aria-pressed", String(cluster === chosen));
      item.append(button);
    }
    item.append(...facts.map((fact) => element("span", "note", fact)));
    return item;
  };
  byId("find").addEventListener("input", (event) => {
    const wanted = event.target.value.trim().toLowerCase();
    const found = wanted ? rankedMatches(wanted) : [];
    byId("found").replaceChildren(...found.slice(0, MAX_FOUND).map(foundItem));
    const many = found.length === 1 ? `1 ${nouns.a_vertex} matches.` : `${formatCount(found.length)} ${nouns.vertices} match.`;
    const rest = found.length > MAX_FOUND ? ` The first ${MAX_FOUND} are shown.` : "";
    byId("find-status").textContent = !wanted ? "" : found.length ? many + rest : `No ${nouns.a_vertex} matches.`;
  });

  // ---- theme, axes, copying, printing ---------------------------------------------------

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
    updateColours();
  });
  system.addEventListener("change", () => { labelThemeButton(); updateColours(); });
  labelThemeButton();
  for (const axis of ["x", "y"]) {
    const select = byId(`${axis}-axis`);
    if (!select) continue;
    select.addEventListener("change", () => {
      const { data } = charts.embedding;
      const view = views.embedding.signal(`${axis}Axis`, +select.value).signal(`${axis}Title`, data.axes[+select.value]);
      const { points, names } = datasets.embedding(data, view.signal("xAxis"), view.signal("yAxis"));
      view.data("points", points);
      if (names.length) view.data("names", names);
      view.runAsync();
    });
  }
  all(".copy").forEach((button) =>
    button.addEventListener("click", async () => {
      const code = button.parentElement.querySelector("code");
      try {
        await navigator.clipboard.writeText(code.textContent);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(code);
        button.textContent = "Selected";
      }
      setTimeout(() => (button.textContent = "Copy"), 1500);
    }),
  );
  let before = null;
  addEventListener("beforeprint", () => {
    before = root.dataset.theme ?? "";
    root.dataset.theme = "light";
    updateColours();
  });
  addEventListener("afterprint", () => {
    if (before) root.dataset.theme = before;
    else delete root.dataset.theme;
    updateColours();
  });

  const makeScrollable = () =>
    all(".scroll").forEach((box) => {
      if (box.scrollWidth > box.clientWidth + 1 || box.scrollHeight > box.clientHeight + 1) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    });
  const chips = document.querySelector(".chips");
  const moreChips = byId("more-chips");
  const fitChips = () => {
    if (moreChips.ariaExpanded === "true") return;
    moreChips.hidden = true;
    if (chips.scrollWidth > chips.clientWidth + 1) {
      moreChips.hidden = false; // before measuring, because it takes space
      const end = chips.getBoundingClientRect().right + 1;
      const beyond = all(".chooser", chips).filter((chip) => chip.getBoundingClientRect().right + chips.scrollLeft > end);
      moreChips.textContent = `${beyond.length} more`;
    }
  };
  moreChips.addEventListener("click", () => {
    const wide = document.querySelector(".toolbar").classList.toggle("wide");
    moreChips.setAttribute("aria-expanded", String(wide));
    if (wide) moreChips.textContent = "Fewer";
    else fitChips();
  });
  for (const fit of [makeScrollable, fitChips]) {
    addEventListener("resize", fit);
    fit();
  }

  // ---- start --------------------------------------------------------------------------------

  const boxes = all("[data-chart]");
  const ready = Promise.all(boxes.map(draw)).then(() => {
    const widths = new Map(boxes.map((box) => [box, box.clientWidth]));
    const watch = new ResizeObserver((entries) =>
      entries.forEach(({ target }) => {
        if (Math.abs(target.clientWidth - widths.get(target)) < 1 || !target.clientWidth) return;
        widths.set(target, target.clientWidth);
        const view = views[target.dataset.chart];
        resize(target.dataset.chart, view, target.clientWidth);
        view.runAsync();
      }),
    );
    boxes.forEach((box) => watch.observe(box));
    root.classList.add("drawn");
  });
  if (fromAddress() >= 0) choose(fromAddress(), false);
  window.hyperclus = { views, ready };
})();
