"""Plots of a partition, a tree, a suggestion and a local cluster, with Matplotlib.

Colours and markers are for clusters, and for the suggested k; everything else is black (white on a dark
background) or grey.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from hyperclus._runtime.optional import library
from hyperclus.clustering.local_result import LocalCluster
from hyperclus.clustering.n_clusters import Suggestion
from hyperclus.clustering.partition import Partition
from hyperclus.clustering.tree import Tree
from hyperclus.errors import InputError
from hyperclus.report import colours
from hyperclus.report.format import short_id
from hyperclus.report.views import Views
from hyperclus.typing import Codes, Floats, Ids, Integers

MAX_LISTED = colours.DISTINCT  # clusters in a legend
MAX_BESIDE = 10  # clusters in a legend inside the axes
MAX_NUMBERED = 12  # clusters with their names at an axis
MAX_NAMED = 30  # vertices or hyperedges with their names
NAME_LENGTH = 24  # characters
MAX_DIPS = 5  # other dips in the legend of a local sweep
STRIP = 0.025  # width of a strip of clusters, as a share of the axes
CLOSE = 0.5  # of the largest eigenvalue: if all but the zeros are above, the axis does not start at 0


def plot_embedding(part: Partition, ax: Any, axes: tuple[int, int], options: Mapping[str, Any]) -> Any:
    """Plot the vertices by two coordinates of the embedding."""
    view = Views(part).embedding
    first, second = (_coordinate(eigenvector, len(view.axes)) for eigenvector in axes)
    ax = _axes(ax)
    labels, points = part.labels[view.vertices], view.coordinates[:, [first, second]]
    size = float(np.clip(6000 / len(labels), 12, 40))
    style, clusters = {"s": size, "alpha": 0.9, "linewidths": 0, **options}, part.cluster_names
    for cluster in range(part.k):
        name = f"cluster {short_id(clusters[cluster], NAME_LENGTH)}" if cluster < MAX_LISTED else None
        ax.scatter(*points[labels == cluster].T, label=name, **{**_look(ax, cluster, options), **style})
    if len(labels) <= MAX_NAMED:
        _label_points(ax, points, part.vertex_ids[view.vertices])
    sample = f"{len(labels):,} of {view.total:,}" if len(labels) < view.total else f"{view.total:,}"
    title = f"spectral embedding of {sample} {part.nouns.vertices}"
    ax.set(xlabel=view.axes[first], ylabel=view.axes[second], title=title)
    _list_clusters(ax, part.k)
    return ax


def plot_spectrum(part: Partition, ax: Any, options: Mapping[str, Any]) -> Any:
    """Plot the eigenvalues and the gap after the k-th."""
    view = Views(part).spectrum
    ax = _axes(ax)
    numbers, n_converged = np.arange(1, len(view.values) + 1), view.n_converged
    ink, grey = _ink(ax)
    style = {"marker": "o", "linestyle": "none", **options}
    ax.plot(numbers[:n_converged], view.values[:n_converged], **{"color": ink, **style})
    if n_converged < len(numbers):
        hollow = {"color": grey, **style, "markerfacecolor": "none"}
        ax.plot(numbers[n_converged:], view.values[n_converged:], label="upper bound", **hollow)
        ax.legend(frameon=False)
    gap, title = view.gap_after(part.k), "eigenvalues"
    if gap is not None:
        ends = view.values[part.k - 1 : part.k + 1]
        ax.fill_between([part.k, part.k + 1], *ends, color=grey, alpha=0.35, linewidth=0)
        title += f"; the gap after {part.k} is {'at most ' if n_converged <= part.k else ''}{gap:.4g}"
    ax.set(xlabel="number", ylabel="eigenvalue of L_sym", title=title)
    ax.set_xticks(numbers if len(numbers) <= 20 else numbers[:: len(numbers) // 10])
    _fit_eigenvalues(ax, view.values, part.n_components)
    return ax


def _fit_eigenvalues(ax: Any, values: Floats, zeros: int) -> None:
    """Start the axis at 0, or, if all but the zeros are close together, just below those."""
    top, lowest = max(float(values.max()), 1e-9), float(values[zeros:].min(initial=np.inf))
    if not CLOSE * top <= lowest < np.inf:
        ax.set_ylim(bottom=-0.03 * top)  # so that a marker at 0 is not cut off
        return
    room = max(0.15 * (top - lowest), 0.02 * top)
    ax.set_ylim(lowest - room, top + room)
    text = "eigenvalue 1 is 0" if zeros == 1 else f"eigenvalues 1 to {zeros} are 0"
    ax.annotate(text, (0.02, 0.02), xycoords="axes fraction", fontsize="small")


def plot_sweep(part: Partition, ax: Any, options: Mapping[str, Any]) -> Any:
    """Plot NCut and conductance along the second eigenvector."""
    view = Views(part).sweep_profile
    if view is None:
        raise InputError("a hypergraph with a single vertex has no cuts to sweep over")
    ax = _axes(ax)
    ink, grey = _ink(ax)
    ax.plot(view.sizes, view.ncuts, **{"color": ink, "label": "NCut", **options})
    dashed = {"color": grey, "linestyle": "--", "label": "conductance", **options}
    ax.plot(view.sizes, view.conductances, **dashed)
    size, lowest = view.sizes[view.best], view.ncuts[view.best]
    ax.plot(size, lowest, "o", color=ink, label=f"lowest NCut, {lowest:.4g}, after {size:,}")
    if part.k == 2:
        ax.axhline(part.ncut, color=grey, linestyle=":", label=f"NCut of the clusters, {part.ncut:.4g}")
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
    ink, grey = _ink(ax)
    style = {"color": grey, "label": "first vertices of the order", **options}
    ax.plot(sizes[shown], found.conductances[shown], **style)
    others = found.other_dips
    for number, dip in enumerate(others):
        label = f"{len(dip):,} (another dip), {dip.conductance:.4g}" if number < MAX_DIPS else None
        ax.plot(len(dip), dip.conductance, "o", color=ink, label=label, markerfacecolor="none")
    if len(others) > MAX_DIPS:
        ax.plot([], [], " ", label=f"and {len(others) - MAX_DIPS} more")
    label = f"{len(found.members):,} (the cluster), {found.conductance:.4g}"
    ax.plot(len(found.members), found.conductance, "o", color=ink, label=label)
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
    style = {"labels": names, "color_threshold": 0.0, "above_threshold_color": _ink(ax)[1], **options}
    drawn = dendrogram(tree.to_linkage(), ax=ax, **style)
    if not options:  # with some, leaves are elsewhere
        for position, leaf in enumerate(drawn["leaves"] or []):
            look = _look(ax, leaf, {})
            ax.scatter(
                10 * position + 5, 0, s=36, zorder=3, clip_on=False, **look
            )  # where SciPy draws leaves
        ax.tick_params(axis="x", pad=6)
    for text in ax.get_xticklabels() + ax.get_yticklabels():
        text.set_parse_math(False)
    lost = "information lost, in nats" if tree.objective == "information" else "k - NCut lost"
    ax.set(ylabel=lost, title=f"{tree.k} clusters, merged by least loss")
    return ax


def plot_suggestion(found: Suggestion, ax: Any, options: Mapping[str, Any]) -> Any:
    """Plot the NCut by k, as a share of the k - 1 of random clusters, beside that of shuffles."""
    if not found.candidates:
        raise InputError(f"there are no candidates to draw: {found.reason}")
    ax = _axes(ax)
    ink, grey = _ink(ax)
    by_k = sorted(found.candidates, key=lambda one: one.k)
    ks = np.array([one.k for one in by_k])
    ncuts, bounds, chance = (
        np.array([getattr(one, name) for one in by_k]) / (ks - 1)
        for name in ("ncut", "lower_bound", "chance")
    )
    shuffled = {"color": grey, "linestyle": "--", "marker": "o", "markerfacecolor": "none"}
    ax.plot(ks, chance, label="in shuffles, on average", **shuffled)
    ax.plot(ks, ncuts, **{"color": ink, "marker": "o", "label": "clusters of a quick search", **options})
    ax.plot(ks, bounds, color=grey, linestyle=":", label="lower bound")
    if found.k is not None:
        ring = {"markersize": 13, "markeredgewidth": 2, "markerfacecolor": "none", "linestyle": "none"}
        ring |= {"color": colours.colour(0, dark=_is_dark(ax)), "label": "suggested"}
        ax.plot(found.k, ncuts[ks == found.k], "o", **ring)
    ticker = library("matplotlib.ticker", "Matplotlib", "a plot", "plots")
    ax.xaxis.set_major_locator(ticker.MaxNLocator(integer=True, min_n_ticks=1))
    ax.set(xlabel="k, the number of clusters", ylabel="NCut / (k - 1)", title=f"suggestion: {found.answer}")
    ax.legend(frameon=False)
    return ax


def plot_incidence(part: Partition, ax: Any, options: Mapping[str, Any]) -> Any:
    """Plot the incidence matrix with rows and columns sorted by cluster."""
    view, hypergraph = Views(part).incidence_grid, part.walk.hypergraph
    ax = _axes(ax)
    style = {"cmap": _shades(ax), "rasterized": True, "vmin": 0.0, "vmax": float(view.cells.max()), **options}
    mesh = ax.pcolormesh(view.cells, **style)
    for clusters, draw_line in ((view.column_clusters, ax.axvline), (view.row_clusters, ax.axhline)):
        for position in np.flatnonzero(np.diff(clusters)) + 1:
            draw_line(position, color=_ink(ax)[1], linewidth=0.6, alpha=0.6)
    ax.invert_yaxis()
    _strips(ax, view.column_clusters, view.row_clusters)
    names = _names(view.vertices, hypergraph.vertex_ids)
    if names:
        ax.set_xticks(np.arange(len(names)) + 0.5, names, rotation=90, parse_math=False)
    _number_clusters(ax.secondary_xaxis(1 + STRIP) if names else ax, view.column_clusters, part.cluster_names)
    names = _names(view.edges, hypergraph.edge_ids)
    ax.set_yticks(np.arange(len(names)) + 0.5, names, parse_math=False)
    n_edges, n_vertices = sum(map(len, view.edges)), hypergraph.n_vertices
    vertices, edges = part.nouns.count_vertices(n_vertices), part.nouns.count_hyperedges(n_edges)
    ax.set(xlabel=f"{vertices}, by cluster", ylabel=f"{edges}, by cluster")
    aggregated = view.cells.shape != (n_edges, n_vertices)
    ax.set_title("incidence matrix" + ", mean weights of groups" * aggregated, pad=14)  # above the strip
    ax.figure.colorbar(mesh, ax=ax, label="gamma / largest gamma of the hyperedge")
    return ax


def _shades(ax: Any) -> Any:
    """A colour map from the background to a strong grey."""
    maps = library("matplotlib.colors", "Matplotlib", "a plot", "plots")
    strong = "#d5d9de" if _is_dark(ax) else "#3f464f"
    return maps.LinearSegmentedColormap.from_list("weights", [ax.get_facecolor(), strong])


def _strips(ax: Any, columns: Integers, rows: Integers) -> None:
    """Draw strips in the colours of the clusters above the columns and to the right of the rows."""
    rectangle = library("matplotlib.patches", "Matplotlib", "a plot", "plots").Rectangle
    for clusters, along_x in ((columns, True), (rows, False)):
        starts = np.flatnonzero(np.diff(clusters, prepend=-2))
        frame = ax.get_xaxis_transform() if along_x else ax.get_yaxis_transform()
        for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(clusters)], strict=True):
            corner = [start, 1.0, end - start, STRIP] if along_x else [1.0, start, STRIP, end - start]
            fill = colours.colour(int(clusters[start]), dark=_is_dark(ax))
            ax.add_patch(
                rectangle(corner[:2], *corner[2:], transform=frame, clip_on=False, color=fill, linewidth=0)
            )


def _look(ax: Any, cluster: int, options: Mapping[str, Any]) -> dict[str, Any]:
    """The colour and the marker of a cluster, unless the user chose others."""
    look = {"marker": colours.MARKERS[colours.shape(cluster)]}
    if not {"c", "color", "facecolor", "facecolors"} & set(options):
        look["color"] = colours.colour(cluster, dark=_is_dark(ax))
    return look


def _ink(ax: Any) -> tuple[str, str]:
    """The colours of what is no cluster: that of text, and grey."""
    dark = _is_dark(ax)
    return ("#ffffff" if dark else "#000000"), colours.colour(-1, dark=dark)


def _is_dark(ax: Any) -> bool:
    red, green, blue, alpha = ax.get_facecolor() if ax.get_facecolor()[3] else ax.figure.get_facecolor()
    return alpha > 0 and colours.is_dark(red, green, blue)


def _list_clusters(ax: Any, k: int) -> None:
    """Add a legend of the clusters, beside the axes if they are many."""
    if k > MAX_BESIDE:
        title = f"{MAX_LISTED} of {k:,} clusters" if k > MAX_LISTED else None
        columns = 1 + (k > 15)
        legend = ax.legend(
            frameon=False,
            loc="upper left",
            bbox_to_anchor=(1, 1),
            ncols=columns,
            fontsize="small",
            title=title,
        )
    else:
        legend = ax.legend(frameon=False)
    for text in legend.get_texts():
        text.set_parse_math(False)


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


def _names(groups: list[Codes], ids: Ids) -> list[str]:
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
