"""Pictures of a partition with Matplotlib; what they show is found by `portrait`."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from hyperclus._runtime.optional import library
from hyperclus.clustering.partition import Partition
from hyperclus.errors import InputError
from hyperclus.report.format import short_id
from hyperclus.report.views import Views
from hyperclus.typing import Floats, Ids, Integers

COLOURS = (  # of the clusters, in turn: Okabe and Ito's, told apart by the colour-blind too
    "#0072b2",
    "#e69f00",
    "#009e73",
    "#cc79a7",
    "#56b4e9",
    "#d55e00",
    "#8c8c8c",
    "#000000",
)
NAMED = 12  # clusters in a legend
LABELLED = 30  # vertices and hyperedges that have their names beside them
LONGEST = 24  # characters of a name
QUIET = "#8c8c8c"


def plot_embedding(part: Partition, ax: Any, axes: tuple[int, int], options: Mapping[str, Any]) -> Any:
    """The vertices by two coordinates of the embedding."""
    shown = Views(part).embedding
    first, second = (_coordinate(which, len(shown.axes)) for which in axes)
    ax = _axes(ax)
    labels = part.labels[shown.vertices]
    style = {"s": 14, "alpha": 0.75, "linewidths": 0, **options}
    for cluster in range(part.k):
        places = shown.coordinates[labels == cluster]
        name = f"cluster {cluster}" if cluster < NAMED else None
        colour = {} if "c" in options or "color" in options else {"color": COLOURS[cluster % len(COLOURS)]}
        ax.scatter(places[:, first], places[:, second], label=name, **colour, **style)
    if len(labels) <= LABELLED:
        _name_points(ax, shown.coordinates[:, [first, second]], part.vertex_ids[shown.vertices])
    ax.set_xlabel(shown.axes[first])
    ax.set_ylabel(shown.axes[second])
    drawn = len(shown.vertices)
    some = f"{drawn:,} of {shown.total:,}" if drawn < shown.total else f"{shown.total:,}"
    ax.set_title(f"{some} vertices by their spectral embedding")
    ax.legend(frameon=False)
    return ax


def plot_spectrum(part: Partition, ax: Any, options: Mapping[str, Any]) -> Any:
    """The eigenvalues, with the gap after the k-th."""
    shown = Views(part).spectrum
    ax = _axes(ax)
    places = np.arange(1, len(shown.values) + 1)
    style = {"marker": "o", "linestyle": "none", **options}
    ax.plot(places[: shown.n_converged], shown.values[: shown.n_converged], **{"color": COLOURS[0], **style})
    if shown.n_converged < len(places):
        rough = {"color": QUIET, **style, "markerfacecolor": "none"}
        ax.plot(places[shown.n_converged :], shown.values[shown.n_converged :], label="at most", **rough)
        ax.legend(frameon=False)
    gap = shown.gap_after(part.k)
    if gap is not None:
        ax.fill_between(
            [part.k, part.k + 1], *shown.values[part.k - 1 : part.k + 1], color=COLOURS[1], alpha=0.3
        )
    most = "at most " if shown.n_converged <= part.k else ""
    ax.set_title("eigenvalues" + ("" if gap is None else f"; the gap after {part.k} is {most}{gap:.4g}"))
    ax.set_xticks(places if len(places) <= 20 else places[:: len(places) // 10])
    ax.set_ylim(bottom=-0.03 * max(float(shown.values.max()), 1e-9))  # a whole circle at 0
    ax.set_xlabel("number")
    ax.set_ylabel("eigenvalue of L_sym")
    return ax


def plot_sweep(part: Partition, ax: Any, options: Mapping[str, Any]) -> Any:
    """NCut and conductance along the second eigenvector."""
    shown = Views(part).sweep_profile
    if shown is None:
        raise InputError("a hypergraph with a single vertex has no cuts to sweep over")
    ax = _axes(ax)
    ax.plot(shown.sizes, shown.ncuts, **{"color": COLOURS[0], "label": "NCut", **options})
    ax.plot(shown.sizes, shown.conductances, **{"color": COLOURS[1], "label": "conductance", **options})
    size, lowest = shown.sizes[shown.best], shown.ncuts[shown.best]
    ax.plot(size, lowest, "o", color=COLOURS[0], label=f"lowest NCut, {lowest:.4g}, after {size:,}")
    if part.k == 2:
        ax.axhline(part.ncut, color=QUIET, linestyle="--", label=f"NCut of the clusters, {part.ncut:.4g}")
    ticker = library("matplotlib.ticker", "Matplotlib", "a plot", "plots")
    ax.xaxis.set_major_locator(ticker.MaxNLocator(integer=True, min_n_ticks=1))
    ax.set_xlabel("vertices on the first side, in the order of eigenvector 2")
    ax.set_ylim(bottom=0)
    ax.set_title("cuts along the second eigenvector")
    ax.legend(frameon=False)
    return ax


def plot_incidence(part: Partition, ax: Any, options: Mapping[str, Any]) -> Any:
    """The incidence matrix, both sides by cluster."""
    shown = Views(part).incidence_grid
    ax = _axes(ax)
    style = {"cmap": "Blues", "rasterized": True, "vmin": 0.0, "vmax": float(shown.cells.max()), **options}
    mesh = ax.pcolormesh(shown.cells, **style)
    for clusters, line in ((shown.column_clusters, ax.axvline), (shown.row_clusters, ax.axhline)):
        for place in np.flatnonzero(np.diff(clusters)) + 1:
            line(place, color=COLOURS[5], linewidth=0.8)
    ax.invert_yaxis()
    hypergraph = part.walk.hypergraph
    names = _names(shown.vertices, hypergraph.vertex_ids)
    if names:
        ax.set_xticks(np.arange(len(names)) + 0.5, names, rotation=90, parse_math=False)
    _number_clusters(ax.secondary_xaxis("top") if names else ax, shown.column_clusters)
    names = _names(shown.edges, hypergraph.edge_ids)
    ax.set_yticks(np.arange(len(names)) + 0.5, names, parse_math=False)
    ax.set_xlabel(f"{hypergraph.n_vertices:,} vertices, by cluster")
    ax.set_ylabel(f"{sum(map(len, shown.edges)):,} hyperedges, by cluster")
    grouped = shown.cells.shape != (sum(map(len, shown.edges)), hypergraph.n_vertices)
    ax.set_title("weight of the members" + (", mean of groups" if grouped else ""))
    ax.figure.colorbar(mesh, ax=ax, label="gamma over the largest in its hyperedge")
    return ax


def _name_points(ax: Any, places: Floats, ids: Ids) -> None:
    """The names beside the points; those of one place in a row."""
    ax.margins(x=0.12)
    near = np.round(places / np.maximum(np.ptp(places, axis=0), 1e-12), 3)
    together: dict[tuple[float, ...], list[int]] = {}
    for number, spot in enumerate(near.tolist()):
        together.setdefault(tuple(spot), []).append(number)
    for numbers in together.values():
        text = ", ".join(short_id(ids[number], LONGEST) for number in numbers)
        beside = {"xytext": (4, 4), "textcoords": "offset points", "fontsize": "small"}
        ax.annotate(text, places[numbers[0]], **beside, parse_math=False)


def _number_clusters(ax: Any, clusters: Integers) -> None:
    """The number of each cluster at the middle of its columns; none where there are many."""
    starts = np.flatnonzero(np.diff(clusters, prepend=-1))
    middles = (starts + np.append(starts[1:], len(clusters))) / 2
    few = len(starts) <= NAMED
    ax.set_xticks(middles if few else [], [str(cluster) for cluster in clusters[starts]] if few else [])


def _names(groups: list[Integers], ids: Ids) -> list[str]:
    """The name of each row or column; none where they are many or stand for groups."""
    if len(groups) > LABELLED or any(len(group) > 1 for group in groups):
        return []
    return [short_id(ids[group[0]], LONGEST) for group in groups]


def _coordinate(which: Any, known: int) -> int:
    if not isinstance(which, int | np.integer) or isinstance(which, bool) or not 2 <= which < known + 2:
        raise InputError(f"axes are eigenvectors from 2 to {known + 1}; got {which!r}")
    return int(which) - 2


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    return library("matplotlib.pyplot", "Matplotlib", "a plot", "plots").subplots(layout="constrained")[1]
