"""One picture of all NMIs: a line per set, a mark per method."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from real_data.methods import Method
from real_data.page import DEFAULT, Tables

COLOURS = {
    "hyperclus default": "#0072b2",
    "hyperclus ncut": "#56b4e9",
    "hyperclus information": "#56b4e9",
    "HyperClus-G": "#000000",
    "LSA + k-means": "#d55e00",
    "SpectralCoclustering": "#8c8c8c",
    "Leiden": "#009e73",
    "scikit-network Louvain": "#009e73",
    "scikit-network Spectral": "#e69f00",
    "HyperNetX spec_clus": "#cc79a7",
    "HyperNetX kumar": "#cc79a7",
    "information bottleneck": "#8c6bb1",
}
MARKERS = dict(zip(COLOURS, "o<>XDsv^Pd*p", strict=True))


def draw(tables: Tables, path: Path) -> None:
    """Sets by their best NMI, the best at the top; the default of hyperclus with its standard deviation."""
    order = sorted(tables.sets, key=lambda name: max_nmi(tables, name))
    drawn, axes = plt.subplots(figsize=(11, 1.6 + 0.42 * len(order)), layout="constrained")
    for row, name in enumerate(order):
        rivals = [tables.mean(name, method) for method in tables.rivals if tables.comparable(name, method)]
        if rivals:
            axes.hlines(row, min(rivals), max(rivals), color="#dcdcdc", linewidth=6, zorder=1)
    shown = [method for method in tables.methods if method.name in COLOURS]
    for method in shown[::-1]:
        marks(axes, tables, method, order)
    axes.set_yticks(range(len(order)), order)
    axes.set_xlabel(
        "NMI with the classes, mean over the seeds. Grey: from the worst to the best rival. "
        "Hollow: not near k clusters."
    )
    axes.set_xlim(-0.01, 1.01)
    axes.grid(axis="x", color="#e5e5e5", linewidth=0.6)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    handles, names = axes.get_legend_handles_labels()
    drawn.legend(handles[::-1], names[::-1], loc="outside right center", frameon=False)
    temporary = path.with_suffix(".new.png")
    drawn.savefig(temporary, dpi=150)
    temporary.replace(path)
    plt.close(drawn)


def marks(axes: Axes, tables: Tables, method: Method, order: list[str]) -> None:
    """A mark on each set's line; hollow where the method does not give about k clusters."""
    colour, size = COLOURS[method.name], 95 if method == DEFAULT else 34
    style = {"marker": MARKERS[method.name], "s": size, "zorder": 5 if method == DEFAULT else 3}
    solid = [row for row, name in enumerate(order) if tables.comparable(name, method)]
    hollow = [row for row in range(len(order)) if row not in solid]
    means = np.array([tables.mean(name, method) for name in order])
    axes.scatter(means[hollow], hollow, facecolor="white", edgecolor=colour, linewidth=0.9, **style)
    axes.scatter(
        means[solid], solid, color=colour, edgecolor="white", linewidth=0.4, label=method.name, **style
    )
    if method == DEFAULT:
        spread = [np.std(tables.values(order[row], method, "nmi"), ddof=1) for row in solid]
        axes.errorbar(means[solid], solid, xerr=spread, fmt="none", ecolor=colour, zorder=4)


def max_nmi(tables: Tables, name: str) -> float:
    """The highest mean NMI of any method on a set."""
    means = [tables.mean(name, method) for method in tables.methods]
    return max((mean for mean in means if mean == mean), default=0.0)
