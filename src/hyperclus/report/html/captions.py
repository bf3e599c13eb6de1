"""The sentences of the page."""

from hyperclus.report.format import NOISE, count, four_digits, percent
from hyperclus.report.format import number as figure
from hyperclus.report.html.charts import named_every
from hyperclus.report.html.contents import DETAILED, LISTED, Contents
from hyperclus.report.html.markup import Html, element, joined

GLOSSARY = (
    ("Vertex", "One of the things that are clustered: a person, a document, a row of a table."),
    (
        "Hyperedge",
        "A set of vertices that have something in common, of any size: the people at a meeting, "
        "the rows with one value.",
    ),
    ("Incidence", "That one vertex is in one hyperedge. Their number is the size of the data."),
    ("Gamma", "The weight of a vertex in a hyperedge: how likely a walker in it is to go to that member."),
    ("Omega", "The weight of a hyperedge: how likely a walker is to pick it among those of a vertex."),
    (
        "Random walk",
        "From a vertex pick one of its hyperedges, then one of the members, heavier members more often. "
        "Clusters are sets that such a walker seldom leaves.",
    ),
    (
        "NCut",
        "For each cluster, how often a walker in it leaves with the next step; added up over the clusters. "
        "0 if the clusters are separate, about k \u2212 1 if there are none to find. Lower is better.",
    ),
    (
        "Gap",
        "How far this NCut can be above the best possible one, by proof: (NCut \u2212 bound) / bound. "
        "A large gap does not mean bad clusters: often the bound is loose.",
    ),
    ("Volume", "The share of its time that a walker spends in a cluster. All volumes add up to 100 %."),
    (
        "Conductance",
        "The flow out of a cluster over the smaller of its volume and the rest's: "
        "0 for a cluster that is never left.",
    ),
    (
        "phi",
        "The share of its time that a walker spends at one vertex, "
        "here over the mean: 1.00 is an ordinary vertex.",
    ),
    ("Stays", "The chance that the next step from a vertex stays in its cluster."),
    (
        "Share and lift",
        "The cluster's share in the walkers that pass through a hyperedge, and that share over the "
        "cluster's share of all walkers: a lift of 2 is twice as often as by chance.",
    ),
    ("Flow", "The share of all walkers that pass through a hyperedge (psi)."),
    (
        "Eigenvector, eigenvalue and embedding",
        "An eigenvector gives every vertex a number such that a step of the walk changes it little; its "
        "eigenvalue says how much, 0 being not at all. A few of them are the coordinates of the embedding, "
        "which puts vertices near each other that a walker often goes between.",
    ),
)


TIMES = "The stages of clustering only: not reading the data, choosing k or writing this page."
HIGH = (
    " Do not judge by the height: hypergraphs made from tables mostly lie in the upper part, because rows "
    "of different clusters still share many values. The gap says how close this is to the best possible, and "
    "suggest_k whether it is more than chance."
)


def answer(contents: Contents) -> Html:
    """What came out, in one paragraph."""
    part = contents.part
    vertices = element("b", _vertices(int(contents.sizes.sum())))
    if part.k == 1:
        return joined(vertices, " in ", element("b", "1 cluster"), ": nothing is cut.")
    fall = joined(vertices, " fall into ", element("b", count(part.k, "cluster")), ". ")
    if part.ncut < NOISE:
        separate = "They are separate: a random walker never leaves its cluster, and no partition is better."
        return joined(fall, separate)
    leaves = element("b", _tied(percent(contents.views.leave_probability)))
    return joined(fall, "A random walker leaves its cluster in ", leaves, " of its steps. ", _proof(contents))


def _proof(contents: Contents) -> Html:
    part = contents.part
    if part.lower_bound < NOISE:
        return joined(
            f"Its NCut is {four_digits(part.ncut)}; nothing here proves how far that is from the best."
        )
    return joined(
        f"No partition into {count(part.k, 'cluster')} can have an NCut below ",
        element("b", four_digits(part.lower_bound)),
        "; this one has ",
        element("b", four_digits(part.ncut)),
        ", proven to be at most ",
        element("b", _tied(percent(part.gap))),
        " above the best.",
    )


def interval(contents: Contents) -> str:
    """Under the picture of the bounds."""
    part = contents.part
    high = HIGH if part.ncut > 0.5 * (part.k - 1) else ""
    proof = "the eigenvalues" if part.tight is None else "a semidefinite relaxation"
    if part.lower_bound < NOISE:
        return "The best possible NCut lies in the solid range; no bound above 0 is proven here." + high
    return (
        f"The best possible NCut lies in the solid range. Hatched: no partition into {part.k:,} clusters is "
        f"there, proven by {proof}. The scale goes from 0, separate clusters, to {part.k - 1:,}, no "
        f"structure at all; the gap is {_tied(percent(part.gap))}." + high
    )


def clusters(contents: Contents) -> str:
    """Under the table of the clusters."""
    text = "Largest first. Volume is the share of a walker's time; conductance says how easily it leaves."
    return text + _capped(LISTED, contents.part.k, "clusters are listed")


def find(contents: Contents) -> str:
    """Under the field for the name of a vertex, where not every vertex can be found."""
    view = contents.views.lookup
    if len(view.vertices) < view.total:
        return f"Only the {len(view.vertices):,} of {view.total:,} vertices in the embedding can be found."
    return ""


def table(contents: Contents) -> str:
    """Above the columns of a table."""
    columns = contents.views.table_columns or {}
    return (
        "A vertex is a row of a table; a hyperedge \u201ccolumn = value\u201d holds the rows with that value "
        f"or in that range. {count(len(columns), 'column')} went in, here with their numbers of values:"
    )


def embedding(contents: Contents) -> str:
    """Under the embedding."""
    view, alone = contents.views.embedding, int((contents.part.labels < 0).sum())
    shown = len(view.vertices)
    text = "A point is a vertex, placed by eigenvectors of the walk: near ones are hard to cut apart."
    if shown < view.total:
        text += f" {shown:,} of {view.total:,} vertices are shown, drawn at random, some of each cluster."
    if view.n_clipped:
        text += f" {_vertices(view.n_clipped)} farther out {'is' if view.n_clipped == 1 else 'are'} at the edge (hollow)."
    if alone:
        text += f" {_vertices(alone)} in no hyperedge {'has' if alone == 1 else 'have'} no place."
    return text


def matrix(contents: Contents) -> str:
    """Under the incidence matrix."""
    grid, k = contents.views.incidence_grid, contents.part.k
    rows, columns = len(grid.edges), len(grid.vertices)
    edges, vertices = sum(map(len, grid.edges)), sum(map(len, grid.vertices))
    text = "A row is a hyperedge, a column a vertex, both by cluster; stronger is a larger weight."
    if edges > rows or vertices > columns:
        text = (
            f"{count(edges, 'hyperedge')} in {count(rows, 'row')}, {_vertices(vertices)} in "
            f"{count(columns, 'column')}, both by cluster; a cell has the mean weight of its group, "
            "its strength is the square root."
        )
    if named_every(grid) > 1:
        text += " Every second row is named."
    text += " In colour: members from the cluster to which the hyperedge leans; grey: the others."
    return text + _capped(grid.n_clusters, k, "clusters are shown")


def details(contents: Contents) -> str:
    """Above the cards of the clusters."""
    central = (
        "those from which the next step stays most (a walker visits all vertices alike)"
        if contents.views.is_uniform
        else "those that a walker visits most"
    )
    text = (
        "Telling hyperedges hold more of a cluster's walkers than chance would: lift 2 is twice as many "
        f"(bars on a log scale from 1). Central vertices are {central}."
    )
    return text + _capped(DETAILED, contents.part.k, "clusters are described")


def spectrum(contents: Contents) -> str:
    """Under the eigenvalues."""
    view, k = contents.views.spectrum, contents.part.k
    text = "The smallest eigenvalues of the walk's Laplacian: one near 0 for each set that is seldom left."
    gap, rough = view.gap_after(k), len(view.values) - view.n_converged
    if gap is None:
        return f"{text} The one after the {_ordinal(k)} was not computed, so the gap is not known."
    at_most = "at most " if k >= view.n_converged else ""
    text += f" The gap after the {_ordinal(k)} is {at_most}{figure(gap, 3)}; a wide one speaks for k = {k:,}."
    return text + (f" Hollow: {'an upper bound' if rough == 1 else 'upper bounds'} only." if rough else "")


def sweep(contents: Contents) -> str:
    """Under the sweep profile."""
    view, part = contents.views.sweep_profile, contents.part
    if view is None:
        return ""
    lowest, place = (
        four_digits(float(view.ncuts[view.best])),
        _vertices(int(view.sizes[view.best])),
    )
    text = (
        "Vertices in the order of the second eigenvector, cut in two at every place. Solid: NCut, lowest "
        f"{lowest} after {place} (circle). Dashed: conductance."
    )
    if part.k == 2:
        text += f" Dotted: the NCut of this partition, {four_digits(part.ncut)}."
    if len(view.sizes) < view.total - 1:
        text += f" {len(view.sizes):,} of {view.total - 1:,} cuts are drawn, the lowest of each stretch."
    return text


def classes(contents: Contents, most: int) -> str:
    """Under the table of classes and clusters."""
    if contents.classes is None:
        return ""
    found = contents.classes.agreement
    text = (
        "Vertices of each class in each cluster, shaded by the share of the class. F1 is that of a class and "
        "the cluster matched with it, 0 where none is left."
    )
    text += _capped(most, len(found.classes), "classes are shown")
    return text + _capped(most, len(found.clusters), "clusters are shown")


def _capped(shown: int, total: int, what: str) -> str:
    return f" The {shown:,} largest of {total:,} {what}." if shown < total else ""


def _vertices(number: int) -> str:
    return count(number, "vertex", "vertices")


def _ordinal(number: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number:,}{'th' if number % 100 in (11, 12, 13) else ending}"


def _tied(text: str) -> str:
    """Numbers and units that stay on one line."""
    return text.replace(" ", "\u00a0")
