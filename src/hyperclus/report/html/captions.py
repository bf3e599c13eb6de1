"""The captions of the page."""

import numpy as np

from hyperclus.clustering.chance import LITTLE, MORE, NO_MORE, Chance
from hyperclus.hypergraph.messages import count, with_article
from hyperclus.report.format import NOISE, four_digits, number, ordinal, percent, short_id
from hyperclus.report.html.charts import row_name_step
from hyperclus.report.html.contents import (
    CONFUSION_SIZE,
    DETAILED_CLUSTERS,
    TABLE_CLUSTERS,
    Contents,
    capitalized,
)
from hyperclus.report.html.levels import Group, Level
from hyperclus.report.html.members import rest_coverage, sureness
from hyperclus.report.text import is_bounded

_HIGH_NCUT = (
    " A high NCut alone does not mean poor clusters: hypergraphs made from tables are mostly in the upper "
    "part, because rows of different clusters still share many values. The gap says how close this NCut is "
    "to the optimum, and the comparison with shuffled data whether it is better than chance."
)

# The class of the verdict on the page, and its first words.
_VERDICTS = {
    MORE: ("clear", "Clear."),
    LITTLE: ("doubtful", "Doubtful."),
    NO_MORE: ("chance", "No more than chance."),
    None: ("unknown", "Not checked."),
}
_ADVICE = {
    MORE: " So they are no accident.",
    LITTLE: " Do not build on them without other evidence.",
    NO_MORE: " A search finds some in any data. Do not use these.",
}
MOST = 0.5  # of a group, that most of it has
MANY = 0.2  # of a group, that many have: said if there is too little that most have
APART = 0.1  # excess of the share in a group over that in the others, to be named
SAID = 3  # hyperedges that the sentence of a group names


def verdict(contents: Contents, level: Level) -> tuple[str, str, str]:
    """The verdict on the groups: a class for its style, its words, and the reason."""
    found, main = contents.part.chance, contents.main
    if contents.part.k == 1 and level.k == 1:
        return "unknown", "One group.", "Nothing was divided."
    if level.k != main.k and (found is None or found.verdict not in (LITTLE, NO_MORE)):
        words = f"Only the {main.k:,} groups" if main.k > 1 else "Only one group"
        return "unknown", "Not checked.", f"{words} that were asked for were compared with chance."
    if found is None:
        return (*_VERDICTS[None], "The groups were not compared with chance, because that was switched off.")
    if found.verdict is None:
        return (*_VERDICTS[None], f"The groups were not compared with chance: {found.reason}.")
    return (*_VERDICTS[found.verdict], _evidence(found) + _ADVICE[found.verdict])


def _evidence(found: Chance) -> str:
    """What shuffled data say about the groups, in words."""
    copies = count(len(found.shuffled), "shuffled copy", "shuffled copies")
    data = "the data" if found.n_sampled is None else f"a random sample of {found.n_sampled:,}"
    nothing = f"{copies} of {data}, in which there is nothing to find"
    if found.verdict != MORE:
        almost = "almost as distinct" if found.verdict == LITTLE else "as distinct"
        return f"Groups {almost} as these turn up in {nothing}."
    is_cut = found.measure == "NCut"
    best = min(found.shuffled) if is_cut else max(found.shuffled)
    better, worse = (best, found.value) if is_cut else (found.value, best)
    times = "far more" if better > 20 * worse else f"{better / worse:.2g} times as"
    return f"The groups are {times} distinct {'than' if times == 'far more' else 'as'} the best in {nothing}."


def apart(level: Level, group: Group) -> list[tuple[float, str, float]]:
    """What most vertices of a group have and others have not: share of the group, name, share of the others.

    Empty if there is no such hyperedge.
    """
    top = level.views.top_hyperedges[group.label]
    if level.k == 1:
        return []
    n = int(level.part.sizes.sum())
    shares = zip(top.coverage.tolist(), top.coverage_all.tolist(), strict=True)
    others = np.array([rest_coverage(*each, group.size, n) for each in shares], dtype=np.float64)
    excess = top.coverage - others
    able = np.flatnonzero((top.coverage >= MANY) & (excess >= APART))
    chosen = able[np.lexsort((-excess[able], top.coverage[able] < MOST))][:SAID]
    return [(float(top.coverage[i]), short_id(top.ids[i], 40), float(others[i])) for i in chosen.tolist()]


def certainty(value: float, k: int) -> str:
    """How sure the labels of a group are, in words: by how far they are from a guess among k groups."""
    return sureness(max(value - 1 / k, 0.0) / (1 - 1 / k)) if k > 1 else "sure"


def clusters(contents: Contents, level: Level) -> str:
    """What the columns of the table of groups mean."""
    sure = (
        f"\u201cHow sure\u201d is the mean over the {contents.nouns.vertices} of a group: 100 % if nothing "
        f"speaks for another group, {percent(1 / level.k)} for a guess."
    )
    if level.confidence is None:
        sure = f"How sure the groups are is known for {contents.main.k:,} groups only: the data are large."
    named = "Choose a group to see it in all pictures; the pencil gives it a name, and Save keeps that."
    return f"{named} {sure}" + _limited(TABLE_CLUSTERS, level.k, "groups are listed")


def splits(contents: Contents) -> str:
    """What the picture of all levels shows."""
    levels = contents.levels.levels
    text = (
        f"Each column is one number of groups, from {levels[0].k:,} to {levels[-1].k:,}; the height of a bar "
        f"is the number of {contents.nouns.vertices}. A group keeps its colour while it exists, and its "
        "larger part keeps it when it splits. Choose a number above a column, or move the slider at the top."
    )
    if levels[-1].k == contents.part.k:
        return text + " Groups were merged, but not split further."
    return text


def levels(contents: Contents) -> str:
    """Where the levels come from."""
    text = f"Only the {contents.part.k:,} clusters were searched for or given. "
    finer = contents.levels.finest.k > contents.part.k
    if finer:
        text += (
            f"A search for {contents.levels.finest.k:,} clusters was made nested in them; the levels "
            "between are mergers of least loss. "
        )
    return (
        text + "Fewer clusters are mergers of least loss, so a search for that number may find better ones."
    )


def comparison(contents: Contents) -> str:
    """How many vertices moved between two partitions."""
    assert contents.other is not None
    found, nouns = contents.other.comparison, contents.nouns
    common = int(np.count_nonzero(found.common))
    moved = int(np.count_nonzero(found.is_moved))
    apart = len(found.vertex_ids) - common
    only = f" {nouns.count_vertices(apart)} in only one of the two {'is' if apart == 1 else 'are'} left out."
    return (
        f"{nouns.count_vertices(common - moved)} of {common:,} ({percent(found.unchanged)}) are in the group "
        f"that corresponds to theirs; {moved:,} moved. NMI {found.nmi:.3f}, ARI {found.ari:.3f}."
    ) + (only if apart else "")


def comparison_picture(contents: Contents) -> str:
    """What the picture of two partitions shows."""
    return (
        f"Left: the groups of this page. Right: the others. A band is as high as the number of "
        f"{contents.nouns.vertices} that both have."
    )


def provisos(contents: Contents) -> str:
    """Under which assumptions the lower bound is proven."""
    part = contents.part
    text = "The bound is computed in double precision, with a margin for rounding errors."
    if part.tight is None and "lanczos" in part.eigenpairs.method.lower():
        text += (
            " Its eigenvalues come from the Lanczos method with a random start. It would be too high if an "
            "eigenvalue had been missed; checks make that improbable, but they are no proof."
        )
    return text


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
        f"Each point is {with_article(nouns.a_vertex)}; {nouns.vertices} that have much in common are close. "
        "The axes are eigenvectors of the random walk."
    )
    if n_shown < view.total:
        text += (
            f" A random sample of {n_shown:,} of {nouns.count_vertices(view.total)} is shown, with some of "
            "each group."
        )
    if view.n_clipped:
        verb = "is" if view.n_clipped == 1 else "are"
        text += f" {nouns.count_vertices(view.n_clipped)} {verb} farther out and drawn at the edge (hollow)."
    if isolated:
        verb = "is" if isolated == 1 else "are"
        text += f" {nouns.count_vertices(isolated)} in no {nouns.a_hyperedge} {verb} not shown."
    return text


def matrix(contents: Contents) -> str:
    grid = contents.levels.grid
    rows, columns = len(grid.edges), len(grid.vertices)
    edges, vertices = sum(map(len, grid.edges)), sum(map(len, grid.vertices))
    nouns = contents.nouns
    text = (
        f"Lines are {nouns.hyperedges} and columns {nouns.vertices}, sorted by group; a stronger colour "
        "means more weight."
    )
    if edges > rows or vertices > columns:
        text = (
            f"{nouns.count_hyperedges(edges)} in {count(rows, 'line')} and {nouns.count_vertices(vertices)} "
            f"in {count(columns, 'column')}, sorted by group; the strength of a cell is the square root of "
            "its mean weight."
        )
    text += " Every second line is labelled." * (row_name_step(grid) > 1)
    text += (
        f" {capitalized(nouns.vertices)} of the main group of {with_article(nouns.a_hyperedge)} are in "
        "colour, others in grey."
    )
    if (grid.row_clusters < 0).any():
        text += (
            f" The last lines, with a grey strip, are {nouns.hyperedges} that no group has clearly more "
            "than others."
        )
    return text + _limited(grid.n_clusters, contents.part.k, "groups are shown")


def details(contents: Contents, level: Level) -> str:
    nouns = contents.nouns
    return (
        f"Open a group to see what sets it apart, its typical {nouns.vertices}, and those that are not "
        f"clearly in it. Select any {nouns.a_vertex} to see why it is there."
    ) + _limited(DETAILED_CLUSTERS, level.k, "groups are described")


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


def classes(contents: Contents, level: Level) -> str:
    found = contents.agreement(level)
    text = (
        f"Number of {contents.nouns.vertices} of each class in each group, shaded by the share of the "
        "class. F1 compares a class with the group matched to it, and is 0 if no group is left."
    )
    text += _limited(CONFUSION_SIZE, len(found.classes), "classes are shown")
    return text + _limited(CONFUSION_SIZE, level.k, "groups are shown")


def nonbreaking(text: str) -> str:
    """Keep a number and its unit on one line."""
    return text.replace(" ", "\u00a0")


def _limited(shown: int, total: int, what: str) -> str:
    return f" The {shown:,} largest of {total:,} {what}." if shown < total else ""
