"""Plots of a partition, and of a local cluster, with Matplotlib."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from hyperclus._runtime.optional import library
from hyperclus.clustering.local_result import LocalCluster
from hyperclus.clustering.partition import Partition
from hyperclus.clustering.tree import Tree
from hyperclus.errors import InputError
from hyperclus.report.format import short_id
from hyperclus.report.views import Views
from hyperclus.typing import Floats, Ids, Integers

# The colours of Okabe and Ito, which colour-blind people can distinguish; clusters use them in turn.
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c8c8c", "#000000")
GREY = "#8c8c8c"
MAX_NUMBERED = 12  # clusters in a legend or with their numbers at an axis
MAX_NAMED = 30  # vertices or hyperedges with their names
NAME_LENGTH = 24  # characters


def plot_embedding(part: Partition, ax: Any, axes: tuple[int, int], options: Mapping[str, Any]) -> Any:
    """Plot the vertices by two coordinates of the embedding."""
    view = Views(part).embedding
    first, second = (_coordinate(eigenvector, len(view.axes)) for eigenvector in axes)
    ax = _axes(ax)
    labels, points = part.labels[view.vertices], view.coordinates[:, [first, second]]
    style, clusters = {"s": 14, "alpha": 0.75, "linewidths": 0, **options}, part.cluster_names
    for cluster in range(part.k):
        name = f"cluster {short_id(clusters[cluster], NAME_LENGTH)}" if cluster < MAX_NUMBERED else None
        colour = {} if "c" in options or "color" in options else {"color": COLOURS[cluster % len(COLOURS)]}
        ax.scatter(*points[labels == cluster].T, label=name, **colour, **style)
    if len(labels) <= MAX_NAMED:
        _label_points(ax, points, part.vertex_ids[view.vertices])
    sample = f"{len(labels):,} of {view.total:,}" if len(labels) < view.total else f"{view.total:,}"
    title = f"spectral embedding of {sample} {part.nouns.vertices}"
    ax.set(xlabel=view.axes[first], ylabel=view.axes[second], title=title)
    ax.legend(frameon=False)
    return ax


def plot_spectrum(part: Partition, ax: Any, options: Mapping[str, Any]) -> Any:
    """Plot the eigenvalues and the gap after the k-th."""
    view = Views(part).spectrum
    ax = _axes(ax)
    numbers, n_converged = np.arange(1, len(view.values) + 1), view.n_converged
    style = {"marker": "o", "linestyle": "none", **options}
    ax.plot(numbers[:n_converged], view.values[:n_converged], **{"color": COLOURS[0], **style})
    if n_converged < len(numbers):
        hollow = {"color": GREY, **style, "markerfacecolor": "none"}
        ax.plot(numbers[n_converged:], view.values[n_converged:], label="upper bound", **hollow)
        ax.legend(frameon=False)
    gap, title = view.gap_after(part.k), "eigenvalues"
    if gap is not None:
        ends = view.values[part.k - 1 : part.k + 1]
        ax.fill_between([part.k, part.k + 1], *ends, color=COLOURS[1], alpha=0.3)
        title += f"; the gap after {part.k} is {'at most ' if n_converged <= part.k else ''}{gap:.4g}"
    ax.set(xlabel="number", ylabel="eigenvalue of L_sym", title=title)
    ax.set_xticks(numbers if len(numbers) <= 20 else numbers[:: len(numbers) // 10])
    ax.set_ylim(bottom=-0.03 * max(float(view.values.max()), 1e-9))  # so that a marker at 0 is not cut off
    return ax


def plot_sweep(part: Partition, ax: Any, options: Mapping[str, Any]) -> Any:
    """Plot NCut and conductance along the second eigenvector."""
    view = Views(part).sweep_profile
    if view is None:
        raise InputError("a hypergraph with a single vertex has no cuts to sweep over")
    ax = _axes(ax)
    ax.plot(view.sizes, view.ncuts, **{"color": COLOURS[0], "label": "NCut", **options})
    ax.plot(view.sizes, view.conductances, **{"color": COLOURS[1], "label": "conductance", **options})
    size, lowest = view.sizes[view.best], view.ncuts[view.best]
    ax.plot(size, lowest, "o", color=COLOURS[0], label=f"lowest NCut, {lowest:.4g}, after {size:,}")
    if part.k == 2:
        ax.axhline(part.ncut, color=GREY, linestyle="--", label=f"NCut of the clusters, {part.ncut:.4g}")
    ticker = library("matplotlib.ticker", "Matplotlib", "a plot", "plots")
    ax.xaxis.set_major_locator(ticker.MaxNLocator(integer=True, min_n_ticks=1))
    ax.set_ylim(bottom=0)
    order = f"{part.nouns.vertices} on the first side, in the order of eigenvector 2"
    ax.set(xlabel=order, title="sweep cuts along the second eigenvector")
    ax.legend(frameon=False)
    return ax


def plot_local_sweep(found: LocalCluster, ax: Any, options: Mapping[str, Any]) -> Any:
    """Plot the conductance of the prefixes of a local sweep, and its dips."""
    ax = _axes(ax)
    sizes = np.arange(1, len(found.conductances) + 1)
    shown = found.volumes < 1.0 - 1e-9  # all vertices are no cluster
    style = {"color": COLOURS[0], "label": "first vertices of the order", **options}
    ax.plot(sizes[shown], found.conductances[shown], **style)
    for dip in found.dips:
        other = dip.members.tolist() != found.members.tolist()
        fill = {"markerfacecolor": "none"} if other else {}
        label = f"{len(dip):,} {'(another dip)' if other else '(the cluster)'}, {dip.conductance:.4g}"
        ax.plot(len(dip), dip.conductance, "o", color=COLOURS[5], label=label, **fill)
    ticker = library("matplotlib.ticker", "Matplotlib", "a plot", "plots")
    ax.xaxis.set_major_locator(ticker.MaxNLocator(integer=True, min_n_ticks=1))
    ax.set_ylim(bottom=0)
    ax.set(xlabel="vertices, nearest to the seeds first", ylabel="conductance")
    ax.set_title("sweep around the seeds" + ": in doubt" * bool(found.doubt))
    ax.legend(frameon=False)
    return ax


def plot_tree(tree: Tree, ax: Any, options: Mapping[str, Any]) -> Any:
    """Plot a dendrogram of the clusters."""
    from scipy.cluster.hierarchy import dendrogram

    if tree.k < 2:
        raise InputError("a tree with a single leaf has no mergers to draw")
    ax = _axes(ax)
    names = [short_id(name, NAME_LENGTH) for name in tree.leaves.cluster_names]
    style = {"labels": names, "color_threshold": 0.0, "above_threshold_color": COLOURS[0], **options}
    dendrogram(tree.to_linkage(), ax=ax, **style)
    for text in ax.get_xticklabels() + ax.get_yticklabels():
        text.set_parse_math(False)
    lost = "information lost, in nats" if tree.objective == "information" else "k - NCut lost"
    ax.set(ylabel=lost, title=f"{tree.k} clusters, merged by least loss")
    return ax


def plot_incidence(part: Partition, ax: Any, options: Mapping[str, Any]) -> Any:
    """Plot the incidence matrix with rows and columns sorted by cluster."""
    view, hypergraph = Views(part).incidence_grid, part.walk.hypergraph
    ax = _axes(ax)
    style = {"cmap": "Blues", "rasterized": True, "vmin": 0.0, "vmax": float(view.cells.max()), **options}
    mesh = ax.pcolormesh(view.cells, **style)
    for clusters, draw_line in ((view.column_clusters, ax.axvline), (view.row_clusters, ax.axhline)):
        for position in np.flatnonzero(np.diff(clusters)) + 1:
            draw_line(position, color=COLOURS[5], linewidth=0.8)
    ax.invert_yaxis()
    names = _names(view.vertices, hypergraph.vertex_ids)
    if names:
        ax.set_xticks(np.arange(len(names)) + 0.5, names, rotation=90, parse_math=False)
    _number_clusters(ax.secondary_xaxis("top") if names else ax, view.column_clusters, part.cluster_names)
    names = _names(view.edges, hypergraph.edge_ids)
    ax.set_yticks(np.arange(len(names)) + 0.5, names, parse_math=False)
    n_edges, n_vertices = sum(map(len, view.edges)), hypergraph.n_vertices
    vertices, edges = part.nouns.count_vertices(n_vertices), part.nouns.count_hyperedges(n_edges)
    ax.set(xlabel=f"{vertices}, by cluster", ylabel=f"{edges}, by cluster")
    aggregated = view.cells.shape != (n_edges, n_vertices)
    ax.set_title("incidence matrix" + ", mean weights of groups" * aggregated)
    ax.figure.colorbar(mesh, ax=ax, label="gamma / largest gamma of the hyperedge")
    return ax


def _label_points(ax: Any, points: Floats, ids: Ids) -> None:
    """Write the names beside the points; points at the same position share one label."""
    ax.margins(x=0.12)
    rounded = np.round(points / np.maximum(np.ptp(points, axis=0), 1e-12), 3)
    at_position: dict[tuple[float, ...], list[int]] = {}
    for number, position in enumerate(rounded.tolist()):
        at_position.setdefault(tuple(position), []).append(number)
    for numbers in at_position.values():
        text = ", ".join(short_id(ids[number], NAME_LENGTH) for number in numbers)
        style = {"xytext": (4, 4), "textcoords": "offset points", "fontsize": "small", "parse_math": False}
        ax.annotate(text, points[numbers[0]], **style)


def _number_clusters(ax: Any, clusters: Integers, names: list[str | int]) -> None:
    """Write the number or name of each cluster at the middle of its columns, unless there are many."""
    starts = np.flatnonzero(np.diff(clusters, prepend=-1))
    middles = (starts + np.append(starts[1:], len(clusters))) / 2
    few = len(starts) <= MAX_NUMBERED
    shown = [short_id(names[cluster], NAME_LENGTH) for cluster in clusters[starts]]
    ax.set_xticks(middles if few else [], shown if few else [], parse_math=False)


def _names(groups: list[Integers], ids: Ids) -> list[str]:
    """Return the name of each row or column; none if there are many or if they stand for groups."""
    if len(groups) > MAX_NAMED or any(len(group) > 1 for group in groups):
        return []
    return [short_id(ids[group[0]], NAME_LENGTH) for group in groups]


def _coordinate(eigenvector: Any, n_axes: int) -> int:
    whole = isinstance(eigenvector, int | np.integer) and not isinstance(eigenvector, bool)
    if not whole or not 2 <= eigenvector < n_axes + 2:
        raise InputError(f"axes must be eigenvectors from 2 to {n_axes + 1}; got {eigenvector!r}")
    return int(eigenvector) - 2


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    return library("matplotlib.pyplot", "Matplotlib", "a plot", "plots").subplots(layout="constrained")[1]
