"use strict";
(() => {
  const root = document.documentElement;
  const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];
  const one = (id) => document.getElementById(id);
  const { k, openRows, openClusters, charts, vertices } = JSON.parse(one("data").textContent);
  const views = {};
  let chosen = -1;

  // ---- numbers and words --------------------------------------------------------------------

  const figure = (value) => (value === 0 ? "0" : Math.abs(value) < 1e-4 ? value.toExponential(2) : String(+value.toPrecision(4)));
  const whole = (value) => value.toLocaleString("en-US");
  const group = ([size, ...names], many) =>
    size === 1 ? [names[0]] : [`${whole(size)} ${many}`, names.join(", ") + (size > names.length ? ", …" : "")];

  // What the pointer shows, line by line; the first is the heading.
  const lines = {
    embedding(datum) {
      const { names, classOf, classes } = charts.embedding.data;
      return [names[datum.i], `cluster ${datum.c}`, ...(classOf ? [`class ${classes[classOf[datum.i]]}`] : [])];
    },
    matrix(datum) {
      const { rows, columns, largest } = charts.matrix.data;
      const many = rows[datum.y][0] * columns[datum.x][0] > 1;
      return [
        ...group(rows[datum.y], "hyperedges"),
        `leaning to cluster ${datum.home}`,
        ...group(columns[datum.x], "vertices").map((text, i) => (i ? text : `${text}, in cluster ${datum.c}`)),
        many
          ? `mean weight ${figure(datum.v * largest)} of the largest in each hyperedge`
          : `weight ${figure(datum.v * largest)} of the largest in this hyperedge`,
      ];
    },
    spectrum: (datum) => [
      `eigenvalue ${datum.i}`,
      datum.sure ? `${figure(datum.v)}, residual ${figure(datum.residual)}` : `at most ${figure(datum.v)}`,
    ],
    sweep: (datum) => [
      `${whole(datum.n)} and ${whole(charts.sweep.data.total - datum.n)} vertices`,
      `NCut ${figure(datum.ncut)}`,
      `conductance ${figure(datum.conductance)}`,
    ],
  };

  // ---- tables of the pictures ---------------------------------------------------------------

  const spans = (clusters) => {
    const found = [];
    clusters.forEach((c, i) => {
      const last = found[found.length - 1];
      if (last && last.c === c) last.b = i + 1;
      else found.push({ c, a: i, b: i + 1 });
    });
    return found;
  };
  // The names of points at one place stand in a row, not on top of each other.
  const inRows = (points, ...axes) => {
    const found = new Map();
    const widths = axes.map((axis) => {
      const values = points.map((point) => point[axis]);
      return Math.max(...values) - Math.min(...values) || 1;
    });
    points.forEach((point) => {
      const place = [point.c, ...axes.map((axis, i) => Math.round((200 * point[axis]) / widths[i]))].join();
      const before = found.get(place);
      found.set(place, before ? { ...before, name: `${before.name}, ${point.name}` } : point);
    });
    return [...found.values()];
  };
  const tables = {
    embedding({ places, moved, c, middles, names, named }) {
      const point = (values) => Object.fromEntries(values.map((value, axis) => [`p${axis}`, value]));
      const points = c.map((cluster, i) => ({ i, c: cluster, name: names[i], ...point(places.map((axis) => axis[i])) }));
      moved.forEach((vertices, axis) => vertices.forEach((i) => (points[i][`m${axis}`] = 1)));
      const numbers = middles.map((place, cluster) => ({ c: cluster, name: String(cluster), ...point(place) }));
      return { points, names: named ? inRows(points, "p0", "p1") : numbers };
    },
    matrix({ cells, rows, columns, rowClusters, columnClusters, namedEvery }) {
      const found = [];
      cells.forEach((row, y) =>
        row.forEach((v, x) => v && found.push({ x, y, v: v / 1000, c: columnClusters[x], home: rowClusters[y] })),
      );
      return {
        cells: found,
        across: spans(columnClusters),
        down: spans(rowClusters),
        rows: rows.map((row, y) => ({ y, c: rowClusters[y], name: row[1] })).filter(({ y }) => y % namedEvery === 0),
        columns: columns.map((column, x) => ({ x, c: columnClusters[x], name: column[1] })),
      };
    },
    spectrum: ({ values, sure, residuals }) => ({
      values: values.map((v, i) => ({ i: i + 1, v, sure: i < sure, residual: residuals[i] })),
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

  // ---- pictures -----------------------------------------------------------------------------

  const styles = () => {
    const css = getComputedStyle(root);
    const token = (name) => css.getPropertyValue(`--${name}`).trim();
    return {
      ink: token("ink"),
      soft: token("soft"),
      rule: token("rule"),
      page: token("page"),
      palette: Array.from({ length: 10 }, (_, i) => token(`c${i}`)),
    };
  };
  const sized = (name, view, width) => {
    const padding = { ...charts[name].spec.padding };
    const named = name === "matrix" && charts.matrix.data.nameWidth > 0 && width > 420;
    if (named) padding.left += charts.matrix.data.nameWidth;
    if (name === "matrix") view.signal("named", named);
    view.padding(padding).width(Math.max(120, Math.floor(width) - padding.left - padding.right));
    if (name === "embedding") view.height(Math.min(charts.embedding.spec.height, Math.max(280, width * 0.9)));
  };
  const draw = async (box) => {
    const name = box.dataset.chart;
    const { spec, data } = charts[name];
    const font = getComputedStyle(document.body).fontFamily;
    const letters = { labelFont: font, titleFont: font, labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal" };
    const rows = tables[name](data);
    const many = Object.values(rows).reduce((sum, table) => sum + table.length, 0) > 4000;
    const filled = { ...spec, data: spec.data.map((table) => ({ ...table, values: rows[table.name] })) };
    const start = { ...styles(), chosen, ...(data.axes && { acrossTitle: data.axes[0], upTitle: data.axes[1] }) };
    filled.signals = spec.signals.map((signal) => ({ ...signal, value: start[signal.name] ?? signal.value }));
    const { view } = await vegaEmbed(box, filled, {
      mode: "vega",
      ast: true, // expressions are interpreted, not compiled: the page's policy forbids that
      actions: false,
      defaultStyle: false,
      renderer: many ? "canvas" : "svg",
      config: { axis: { ...letters, gridWidth: 0.7 }, text: { font }, aria: false },
      tooltip: (_, event, item, value) => tip(event, value ? lines[name](value) : null),
    });
    if (name === "embedding" || name === "matrix") {
      view.addEventListener("click", (_, item) => item && item.datum && item.datum.c >= 0 && choose(item.datum.c));
    }
    sized(name, view, box.clientWidth);
    views[name] = view;
    return view.signal("chosen", chosen).runAsync();
  };
  const each = (change) => Promise.all(Object.values(views).map((view) => (change(view), view.runAsync())));
  const restyle = () => {
    const now = styles();
    return each((view) => Object.entries(now).forEach(([style, value]) => view.signal(style, value)));
  };

  const tip = (event, texts) => {
    const box = one("tip");
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
    one("clear").hidden = chosen < 0;
    fitted();
    one("announcement").textContent = chosen < 0 ? "All clusters are shown." : `Cluster ${chosen} is chosen.`;
    if (chosen < 0) delete root.dataset.chosen;
    else root.dataset.chosen = chosen;
    if (remember) history.replaceState(null, "", chosen < 0 ? location.pathname + location.search : `#cluster=${chosen}`);
    narrow();
    return each((view) => view.signal("chosen", chosen));
  };
  document.addEventListener("click", (event) => {
    const item = event.target.closest("[data-choose]");
    if (item && (item.matches("button") || !String(getSelection()))) choose(+item.dataset.choose);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || (event.target.matches("input") && event.target.value)) return;
    tip(event, null);
    if (chosen >= 0) choose(-1);
  });
  one("clear").addEventListener("click", () => choose(-1));
  addEventListener("hashchange", () => {
    const cluster = fromAddress();
    if (cluster !== chosen && (cluster >= 0 || !location.hash)) choose(cluster, false);
  });

  // ---- filters and sorting ------------------------------------------------------------------

  const matches = (row, wanted) => (row.querySelector(".name") ?? row).textContent.toLowerCase().includes(wanted);
  const narrow = () => {
    const wanted = one("details-filter").value.trim().toLowerCase();
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
    one("no-match").hidden = shown > 0;
    one("no-match").textContent = wanted ? "Nothing matches." : "This cluster is not among those described.";
  };
  one("details-filter").addEventListener("input", narrow);
  if (one("clusters-filter")) {
    one("clusters-filter").addEventListener("input", (event) => {
      const wanted = event.target.value.trim().toLowerCase();
      all(".clusters tbody tr").forEach((row) => row.classList.toggle("hidden", Boolean(wanted) && !matches(row, wanted)));
      one("clusters").classList.toggle("all", Boolean(wanted));
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

  // ---- one vertex ---------------------------------------------------------------------------

  const MOST_FOUND = 10;
  const plain = vertices.names.map((name) => name.toLowerCase());
  const ranked = (wanted) => {
    const found = [[], [], []]; // the name itself, names that begin so, names that hold it
    plain.forEach((name, i) => {
      const place = name.indexOf(wanted);
      if (place >= 0) found[name === wanted ? 0 : place ? 2 : 1].push(i);
    });
    return found.flat();
  };
  const node = (tag, className, ...children) => {
    const made = Object.assign(document.createElement(tag), { className });
    made.append(...children);
    return made;
  };
  const line = (i) => {
    const cluster = vertices.clusters[i];
    const facts = cluster < 0 ? ["in no hyperedge, in no cluster"] : [`stay probability ${(vertices.stay[i] / 10).toFixed(1)} %`];
    if (vertices.classOf) facts.unshift(node("bdi", "", `class ${vertices.classes[vertices.classOf[i]]}`));
    const item = node("li", cluster < 0 ? "" : `c${cluster % 10}`, node("bdi", "name", vertices.names[i]));
    if (cluster >= 0) {
      const button = node("button", "chooser", node("span", "badge", node("i", ""), `cluster ${cluster}`));
      Object.assign(button, { type: "button" }).dataset.choose = cluster;
      button.setAttribute("aria-pressed", String(cluster === chosen));
      item.append(button);
    }
    item.append(...facts.map((fact) => node("span", "note", fact)));
    return item;
  };
  one("find").addEventListener("input", (event) => {
    const wanted = event.target.value.trim().toLowerCase();
    const found = wanted ? ranked(wanted) : [];
    one("found").replaceChildren(...found.slice(0, MOST_FOUND).map(line));
    const many = found.length === 1 ? "1 vertex matches." : `${whole(found.length)} vertices match.`;
    const rest = found.length > MOST_FOUND ? ` The first ${MOST_FOUND} are shown.` : "";
    one("find-status").textContent = !wanted ? "" : found.length ? many + rest : "No vertex matches.";
  });

  // ---- light and dark, axes, copying, printing ----------------------------------------------

  const system = matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const named = () => (one("theme").textContent = dark() ? "Light" : "Dark");
  one("theme").addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    try {
      localStorage.setItem("hyperclus-theme", root.dataset.theme);
    } catch {
      // not kept
    }
    named();
    restyle();
  });
  system.addEventListener("change", () => { named(); restyle(); });
  named();
  for (const [id, key] of [["x-axis", "across"], ["y-axis", "up"]]) {
    if (!one(id)) continue;
    one(id).addEventListener("change", (event) => {
      const axis = +event.target.value;
      const { data } = charts.embedding;
      const view = views.embedding.signal(key, `p${axis}`).signal(`${key}Title`, data.axes[axis]);
      if (data.named) view.data("names", inRows(tables.embedding(data).points, view.signal("across"), view.signal("up")));
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
    restyle();
  });
  addEventListener("afterprint", () => {
    if (before) root.dataset.theme = before;
    else delete root.dataset.theme;
    restyle();
  });

  const scrollsForKeyboard = () =>
    all(".scroll").forEach((box) => {
      if (box.scrollWidth > box.clientWidth + 1 || box.scrollHeight > box.clientHeight + 1) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    });
  const chips = document.querySelector(".chips");
  const moreChips = one("more-chips");
  const fitted = () => {
    if (moreChips.ariaExpanded === "true") return;
    moreChips.hidden = true;
    if (chips.scrollWidth > chips.clientWidth + 1) {
      moreChips.hidden = false; // which takes room itself
      const end = chips.getBoundingClientRect().right + 1;
      const beyond = all(".chooser", chips).filter((chip) => chip.getBoundingClientRect().right + chips.scrollLeft > end);
      moreChips.textContent = `${beyond.length} more`;
    }
  };
  moreChips.addEventListener("click", () => {
    const wide = document.querySelector(".toolbar").classList.toggle("wide");
    moreChips.setAttribute("aria-expanded", String(wide));
    if (wide) moreChips.textContent = "Fewer";
    else fitted();
  });
  for (const fit of [scrollsForKeyboard, fitted]) {
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
        sized(target.dataset.chart, view, target.clientWidth);
        view.runAsync();
      }),
    );
    boxes.forEach((box) => watch.observe(box));
    root.classList.add("drawn");
  });
  if (fromAddress() >= 0) choose(fromAddress(), false);
  window.hyperclus = { views, ready };
})();
