"""The captions of the page."""

from hyperclus.clustering.chance import LITTLE, MORE, NO_MORE, Chance
from hyperclus.hypergraph.messages import count, with_article
from hyperclus.report.format import NOISE, four_digits, number, ordinal, percent
from hyperclus.report.html.charts import row_name_step
from hyperclus.report.html.contents import (
    CONFUSION_SIZE,
    DETAILED_CLUSTERS,
    TABLE_CLUSTERS,
    Contents,
    capitalized,
)
from hyperclus.report.text import is_bounded

_HIGH_NCUT = (
    " A high NCut alone does not mean poor clusters: hypergraphs made from tables are mostly in the upper "
    "part, because rows of different clusters still share many values. The gap says how close this NCut is "
    "to the optimum, and the comparison with shuffled data whether it is better than chance."
)

_CHANCE = {
    MORE: "The clusters are more than chance.",
    LITTLE: "The clusters are little more than chance, so be careful with them.",
    NO_MORE: "The clusters are no more than chance, so do not rely on them.",
    None: "The clusters were not compared with chance.",
}


def is_doubtful(chance: Chance) -> bool:
    """Whether readers must be warned."""
    return chance.verdict in (LITTLE, NO_MORE)


def chance(found: Chance) -> tuple[str, str]:
    """The verdict, and the evidence for it."""
    shuffled = "" if found.verdict is None else ", which have the same sizes but nothing to find"
    return _CHANCE[found.verdict], capitalized(found.evidence) + shuffled + "."


def bounds(contents: Contents) -> str:
    part = contents.part
    high = _HIGH_NCUT if part.ncut > 0.5 * (part.k - 1) else ""
    if part.lower_bound < NOISE:
        why = "" if is_bounded(part) else " The smallest eigenvalues are too close together to be counted."
        return f"The optimal NCut is in the solid range; no lower bound above 0 is known.{why}{high}"
    proof = "the eigenvalues" if part.tight is None else "a semidefinite relaxation"
    return (
        f"The optimal NCut is in the solid range. The hatched range is ruled out for {part.k:,} clusters by "
        f"{proof}. The scale goes from 0 (separate clusters) to {part.k - 1:,} (no structure). The gap is "
        f"{nonbreaking(percent(part.gap))}.{high}"
    )


def clusters(contents: Contents) -> str:
    return (
        "Largest cluster first. Volume is the share of its time that a random walk spends in the cluster; "
        "conductance says how easily it leaves (0: never)."
    ) + _limited(TABLE_CLUSTERS, contents.part.k, "clusters are listed")


def table(contents: Contents) -> str:
    nouns = contents.nouns
    return (
        f"{capitalized(with_article(nouns.a_vertex))} is a row of a table; {with_article(nouns.a_hyperedge)} "
        "\u201ccolumn = value\u201d holds the rows with that value "
        f"or in that range. {count(len(contents.views.table_columns or {}), 'column')}, with the number of "
        "values in each:"
    )


def embedding(contents: Contents) -> str:
    view = contents.views.embedding
    n_shown, isolated = len(view.vertices), len(contents.part.labels) - view.total
    nouns = contents.nouns
    text = (
        f"Each point is {with_article(nouns.a_vertex)}; its coordinates are eigenvectors of the random walk, "
        f"so that {nouns.vertices} that are hard to separate are close."
    )
    if n_shown < view.total:
        text += (
            f" A random sample of {n_shown:,} of {nouns.count_vertices(view.total)} is shown, with some of "
            "each cluster."
        )
    if view.n_clipped:
        verb = "is an outlier" if view.n_clipped == 1 else "are outliers"
        text += f" {nouns.count_vertices(view.n_clipped)} {verb}, drawn at the edge (hollow)."
    if isolated:
        verb = "is" if isolated == 1 else "are"
        text += f" {nouns.count_vertices(isolated)} in no {nouns.a_hyperedge} {verb} not shown."
    return text


def matrix(contents: Contents) -> str:
    grid = contents.views.incidence_grid
    rows, columns = len(grid.edges), len(grid.vertices)
    edges, vertices = sum(map(len, grid.edges)), sum(map(len, grid.vertices))
    nouns = contents.nouns
    text = (
        f"Rows are {nouns.hyperedges} and columns {nouns.vertices}, sorted by cluster; a stronger colour "
        "means more weight."
    )
    if edges > rows or vertices > columns:
        text = (
            f"{nouns.count_hyperedges(edges)} in {count(rows, 'row')} and {nouns.count_vertices(vertices)} "
            f"in {count(columns, 'column')}, sorted by cluster; the strength of a cell is the square root of "
            "its mean weight."
        )
    text += " Every second row is labelled." * (row_name_step(grid) > 1)
    text += (
        f" {capitalized(nouns.vertices)} of the main cluster of {with_article(nouns.a_hyperedge)} are in "
        "colour, others in grey."
    )
    if (grid.row_clusters < 0).any():
        text += (
            f" The last rows, with a grey strip, are {nouns.hyperedges} that no cluster has clearly more "
            "than others."
        )
    return text + _limited(grid.n_clusters, contents.part.k, "clusters are shown")


def details(contents: Contents) -> str:
    nouns, order = contents.nouns, "that the walk visits most often"
    if contents.views.is_uniform:
        order = (
            "with the largest probability that the next step stays in the cluster (the walk visits all "
            f"{nouns.vertices} equally often)"
        )
    return (
        f"Top {nouns.hyperedges} are the most distinctive for a cluster: walks that pass through them are in "
        "the cluster more often than by chance. A lift of 2 is twice as often; the bars have a logarithmic "
        "scale from 1. \u201cOf it\u201d and \u201cof all\u201d are the shares of the "
        f"{nouns.vertices} of the cluster, and of all {nouns.vertices}, that are members. "
        f"Top {nouns.vertices} are those {order}."
    ) + _limited(DETAILED_CLUSTERS, contents.part.k, "clusters are described")


def spectrum(contents: Contents) -> str:
    view, k = contents.views.spectrum, contents.part.k
    text = "The smallest eigenvalues of the Laplacian: one near 0 for each set that the walk seldom leaves."
    gap, n_bounds = view.gap_after(k), len(view.values) - view.n_converged
    if gap is None:
        return f"{text} The eigenvalue after the {ordinal(k)} was not computed, so the eigengap is unknown."
    size = f"{'at most ' if k >= view.n_converged else ''}{number(gap, 3)}"
    text += f" The eigengap after the {ordinal(k)} is {size}; a large one supports k = {k:,}."
    bound = "an upper bound" if n_bounds == 1 else "upper bounds"
    return text + (f" Hollow: {bound} only." if n_bounds else "")


def sweep(contents: Contents) -> str:
    view, part = contents.views.sweep_profile, contents.part
    assert view is not None
    lowest, size = four_digits(float(view.ncuts[view.best])), int(view.sizes[view.best])
    nouns = contents.nouns
    text = (
        f"Two-way cuts of the {nouns.vertices} in the order of the second eigenvector. Solid: NCut, lowest "
        f"({lowest}) after {nouns.count_vertices(size)} (circle). Dashed: conductance."
    )
    if part.k == 2:
        text += f" Dotted: the NCut of this partition, {four_digits(part.ncut)}."
    if len(view.sizes) < view.total - 1:
        text += f" {len(view.sizes):,} of {view.total - 1:,} cuts are shown, the lowest of each interval."
    return text


def classes(contents: Contents) -> str:
    assert contents.classes is not None
    found = contents.classes.agreement
    text = (
        f"Number of {contents.nouns.vertices} of each class in each cluster, shaded by the share of the "
        "class. F1 compares a class with the cluster matched to it, and is 0 if no cluster is left."
    )
    text += _limited(CONFUSION_SIZE, len(found.classes), "classes are shown")
    return text + _limited(CONFUSION_SIZE, len(found.clusters), "clusters are shown")


def nonbreaking(text: str) -> str:
    """Keep a number and its unit on one line."""
    return text.replace(" ", "\u00a0")


def _limited(shown: int, total: int, what: str) -> str:
    return f" The {shown:,} largest of {total:,} {what}." if shown < total else ""
