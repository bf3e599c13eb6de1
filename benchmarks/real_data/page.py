"""The tables of benchmarks/REAL.md, and the sentences that follow from the figures."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from real_data.methods import METHODS, Method

NEAR = 0.01  # NMI; a difference that does not count
DEFAULT = METHODS[0]
KINDS = {
    "texts": ("classic3", "cstr", "news20", "octis-", "webace"),
    "cells": ("sc-",),
    "contacts": ("contact-",),
    "co-authors and citations": ("citeseer", "cora-", "dblp-"),
}
FIELDS = ("nmi", "ari", "accuracy")


class Tables:
    """All measured cells, by set and method."""

    def __init__(self, cells: list[dict]) -> None:
        self.cells = {(cell["set"], cell["method"]): cell for cell in cells}
        self.sets = sorted({cell["set"] for cell in cells})
        self.methods = [m for m in METHODS if any((name, m.name) in self.cells for name in self.sets)]
        self.rivals = [method for method in self.methods if not method.own]

    def values(self, name: str, method: Method, field: str) -> np.ndarray:
        """A figure of each finished seed; empty if there is none."""
        seeds = self.cells.get((name, method.name), {"seeds": []})["seeds"]
        return np.array([seed[field] for seed in seeds])

    def mean(self, name: str, method: Method, field: str = "nmi") -> float:
        """The mean over the finished seeds; nan if there is none."""
        values = self.values(name, method, field)
        return float(values.mean()) if len(values) else np.nan

    def comparable(self, name: str, method: Method) -> bool:
        """Whether a method has finished, with k/2 to 2k clusters: many small ones have a high NMI."""
        counts = self.values(name, method, "clusters")
        return len(counts) > 0 and 1 / 2 <= counts.mean() / self.cells[name, method.name]["k"] <= 2

    def best_rival(self, name: str) -> tuple[float, str]:
        """The highest mean NMI of a comparable rival on a set, and its name."""
        rivals = [method for method in self.rivals if self.comparable(name, method)]
        found = [(self.mean(name, method), method.name) for method in rivals]
        return max(found, default=(np.nan, "none"))

    def behind(self, method: Method) -> dict[str, float]:
        """How far the mean NMI is below the best rival (above it if negative), on comparable sets."""
        names = [name for name in self.sets if self.comparable(name, method)]
        return {name: self.best_rival(name)[0] - self.mean(name, method) for name in names}


def markdown(tables: Tables, machine: str) -> str:
    """The whole page."""
    sections = [
        "# Real data with known classes",
        introduction(tables, machine),
        "![NMI of every method on every set](images/real.png)",
        "## Summary",
        summary(tables),
        *sentences(tables),
        "## By kind of data",
        "Mean NMI over the sets of a kind. The best rival is chosen for each set; the last column has the "
        "best three of the rivals that are comparable on all sets of the kind.",
        by_kind(tables),
        "## NMI",
        "Mean ± standard deviation over the seeds; the best of a set is bold. A method that gives fewer than "
        "k/2 or more than 2k clusters (number in brackets) answers another question, since many small "
        "clusters have a high NMI: it is not compared on that set, here or in the summary. Empty cells were "
        "not measured.",
        table(tables, nmi, bold=True),
        "## ARI",
        table(tables, lambda cells, name, method: f"{cells.mean(name, method, 'ari'):.3f}"),
        "## Accuracy of the best matching of clusters and classes",
        table(tables, lambda cells, name, method: f"{cells.mean(name, method, 'accuracy'):.3f}"),
        "## Smallest cluster",
        "Over all seeds; in brackets the number of clusters where it is not k in every seed.",
        table(tables, smallest),
        "## CPU seconds",
        "Median over the seeds, from the matrix in memory to labels.",
        table(tables, lambda cells, name, method: f"{np.median(cells.values(name, method, 'cpu')):.3g}"),
        "## Peak memory (MB)",
        "Of the process, with interpreter, libraries and input.",
        table(tables, memory),
        "## How each method is called",
        "\n".join(f"- **{method.name}**: {method.how}." for method in tables.methods),
        *failures(tables),
    ]
    return "\n\n".join(sections) + "\n"


def introduction(tables: Tables, machine: str) -> str:
    """What was measured, where and when."""
    cells = tables.cells.values()
    dates = sorted({cell["date"] for cell in cells})
    code: dict[str, list[str]] = {}
    for method, words in sorted({(cell["method"], cell["code"]) for cell in cells if "code" in cell}):
        code.setdefault(words, []).append(method)
    seeds = max(len(cell["seeds"]) for cell in cells)
    when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    return (
        f"`make real` ({machine}; {when}). {len(tables.sets)} hypergraphs with known classes "
        f"(`../shared/real`), {seeds} seeds, one thread and a process of its own for each method and "
        "set. The number of clusters k is given, the classes are not. All methods get the weights of the "
        "file. Vertices in no hyperedge do not count. NMI is the mutual information over the arithmetic mean "
        "of the entropies.\n\nEverything here is generated; after a change of hyperclus, "
        "`make real FLAGS='--methods hyperclus --fresh'` measures it again beside the stored figures of the "
        "others. The other libraries have the versions of `benchmarks/rivals/requirements/`. "
        + " ".join(f"Code of {', '.join(names)}: {words}." for words, names in code.items())
    )


def summary(tables: Tables) -> str:
    """A line per method, over the sets where it is comparable."""
    lines = [
        ["", "sets", "mean NMI", "ARI", "accuracy", f"within {NEAR} of the best rival", "farthest below it"],
        ["---", "---:", "---:", "---:", "---:", "---:", "---"],
    ]
    for method in tables.methods:
        gaps = tables.behind(method)
        if not gaps:
            continue
        means = [np.mean([tables.mean(name, method, field) for name in gaps]) for field in FIELDS]
        near = sum(gap <= NEAR for gap in gaps.values())
        worst = max(gaps, key=lambda name: gaps[name])
        far = f"{gaps[worst]:.3f} ({worst})" if gaps[worst] > 0 else "never"
        line = [method.name, str(len(gaps)), *(f"{mean:.3f}" for mean in means), str(near), far]
        lines.append([f"**{text}**" for text in line] if method == DEFAULT else line)
    return joined(lines)


def sentences(tables: Tables) -> list[str]:
    """What the summary means for the default of hyperclus, in words."""
    gaps = tables.behind(DEFAULT)
    if not gaps or not tables.rivals:
        return []
    mean = np.mean([tables.mean(name, DEFAULT) for name in gaps])
    above = sum(gap < 0 for gap in gaps.values())
    near = sum(gap <= NEAR for gap in gaps.values())
    whole = [method for method in tables.rivals if len(tables.behind(method)) == len(gaps)]
    told = (
        f"With nothing but k, hyperclus has a mean NMI of {mean:.3f}; it is above every rival on {above} of "
        f"{len(gaps)} sets, and above or within {NEAR} of the best rival on {near}."
    )
    if whole:
        means = {m.name: np.mean([tables.mean(name, m) for name in gaps]) for m in whole}
        best = max(means, key=lambda name: means[name])
        told += f" The highest mean of a rival that finished all sets is {means[best]:.3f} ({best})."
    lost = sorted((gap, name) for name, gap in gaps.items() if gap > NEAR)[::-1]
    places = [f"{name} (by {gap:.3f}, {tables.best_rival(name)[1]})" for gap, name in lost]
    told += f" It loses by more than {NEAR} on {', '.join(places)}." if places else ""
    sizes = {name: min(tables.values(name, DEFAULT, "smallest")) for name in gaps}
    least = min(sizes, key=lambda name: sizes[name])
    return [f"{told} Its smallest cluster has {sizes[least]} vertices ({least})."]


def by_kind(tables: Tables) -> str:
    """A line per kind of data: the variants of hyperclus, the best rival of each set, and the best three."""
    own = [method for method in tables.methods if method.own]
    lines = [
        ["", "sets", *(method.name for method in own), "best rival of each set", "rivals"],
        ["---", "---:", *["---:"] * (len(own) + 1), "---"],
    ]
    for kind, beginnings in KINDS.items():
        names = [name for name in tables.sets if name.startswith(beginnings)]
        if not names:
            continue
        means = {m: np.mean([tables.mean(name, m) for name in names]) for m in tables.methods}
        whole = [m for m in tables.rivals if all(tables.comparable(name, m) for name in names)]
        best = sorted(whole, key=lambda method: -means[method])[:3]
        line = [kind, str(len(names)), *(f"{means[m]:.3f}" if means[m] == means[m] else "" for m in own)]
        line.append(f"{np.mean([tables.best_rival(name)[0] for name in names]):.3f}")
        lines.append([*line, ", ".join(f"{m.name} {means[m]:.3f}" for m in best)])
    return joined(lines)


def table(tables: Tables, text: Callable[[Tables, str, Method], str], bold: bool = False) -> str:
    """A line per set, a column per method; why there is no figure where there is none."""
    lines = [
        ["", "k", *(method.name for method in tables.methods)],
        ["---", "---:", *["---:"] * len(tables.methods)],
    ]
    for name in tables.sets:
        means = [tables.mean(name, m) for m in tables.methods if bold and tables.comparable(name, m)]
        best, line = round(max(means, default=np.inf), 3), []
        for method in tables.methods:
            cell = tables.cells.get((name, method.name), {"seeds": [], "status": ""})
            figure = text(tables, name, method) if cell["seeds"] else missing(cell)
            first = tables.comparable(name, method) and round(tables.mean(name, method), 3) >= best
            line.append(f"**{figure}**" if first else figure)
        k = next(cell["k"] for (given, _), cell in tables.cells.items() if given == name)
        lines.append([name, str(k), *line])
    return joined(lines)


def nmi(tables: Tables, name: str, method: Method) -> str:
    """Mean and standard deviation; in brackets how many seeds or clusters there are, where it matters."""
    values, cell = tables.values(name, method, "nmi"), tables.cells[name, method.name]
    notes = [] if cell["status"] == "done" else [f"seeds: {len(values)}"]
    if not tables.comparable(name, method):
        notes.append(f"{tables.mean(name, method, 'clusters'):.0f} clusters")
    spread = f" ± {values.std(ddof=1):.3f}" if len(values) > 1 else ""
    return f"{values.mean():.3f}{spread}" + (f" ({', '.join(notes)})" if notes else "")


def smallest(tables: Tables, name: str, method: Method) -> str:
    """The smallest cluster of any seed, and the numbers of clusters where they are not k."""
    counts = sorted({int(count) for count in tables.values(name, method, "clusters")})
    size = f"{tables.values(name, method, 'smallest').min():,}"
    if counts == [tables.cells[name, method.name]["k"]]:
        return size
    return f"{size} ({counts[0]})" if len(counts) == 1 else f"{size} ({counts[0]} to {counts[-1]})"


def memory(tables: Tables, name: str, method: Method) -> str:
    """Peak megabytes of the process; nothing on systems without /proc."""
    peak = tables.cells[name, method.name]["peak_bytes"]
    return f"{peak / 1e6:,.0f}" if peak else ""


def missing(cell: dict) -> str:
    """Why a cell has no figure."""
    return f"> {cell['seconds']:g} s" if cell["status"] == "time" else cell["status"]


def failures(tables: Tables) -> list[str]:
    """The errors of cells that failed, if there are any."""
    lines = [
        f"- {name}, {method}: {cell['error']}"
        for (name, method), cell in tables.cells.items()
        if cell["status"] == "failed"
    ]
    return ["## Failed", "\n".join(lines)] if lines else []


def outcome(cell: dict) -> str:
    """One cell in words, for the log."""
    if not cell["seeds"]:
        return cell.get("error", missing(cell))
    nmis, cpu = ([seed[field] for seed in cell["seeds"]] for field in ("nmi", "cpu"))
    return f"NMI {np.mean(nmis):.3f}, {np.median(cpu):.3g} s CPU (seeds: {len(nmis)}, {cell['status']})"


def joined(lines: list[list[str]]) -> str:
    """Lines of a Markdown table."""
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def store(path: Path, text: str) -> None:
    """Write a file atomically."""
    temporary = path.with_name(path.name + ".new")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)
