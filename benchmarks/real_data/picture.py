"""One picture of all NMIs: a line per set, a mark per method."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

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
        rivals = [
            mean
            for m in tables.rivals
            if (mean := tables.mean(name, m)) == mean and tables.comparable(name, m)
        ]
        if rivals:
            axes.hlines(row, min(rivals), max(rivals), color="#d0d0d0", linewidth=5, zorder=1)
    for method in tables.methods[::-1]:
        means = [tables.mean(name, method) for name in order]
        style = {"color": COLOURS[method.name], "marker": MARKERS[method.name], "label": method.name}
        if method == DEFAULT:
            spread = [np.std(tables.values(name, method, "nmi")) for name in order]
            axes.errorbar(means, range(len(order)), xerr=spread, fmt="none", ecolor=style["color"], zorder=4)
            axes.scatter(means, range(len(order)), s=95, edgecolor="white", zorder=5, **style)
        else:
            axes.scatter(means, range(len(order)), s=34, alpha=0.9, linewidth=0, zorder=3, **style)
    axes.set_yticks(range(len(order)), order)
    axes.set_xlabel("NMI with the classes, mean over the seeds; grey: from the worst to the best rival")
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


def max_nmi(tables: Tables, name: str) -> float:
    """The highest mean NMI of any method on a set."""
    means = [tables.mean(name, method) for method in tables.methods]
    return max((mean for mean in means if mean == mean), default=0.0)
