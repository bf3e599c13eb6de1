"""The method: clusters found by a search from the eigenvectors, with proven bounds."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal, Unpack, cast

import numpy as np

from hyperclus.clustering._run import (
    Bound,
    Result,
    Run,
    Settings,
    Steps,
    check_k,
    checked_rules,
    default_min_share,
)
from hyperclus.clustering.constraints import Constraints
from hyperclus.clustering.exhaustive import at_least_as_good
from hyperclus.clustering.objectives import NCUT, ObjectiveName, objective_of
from hyperclus.clustering.partition import Partition, unique_names
from hyperclus.clustering.rules import Rules, rules_of
from hyperclus.clustering.search_problem import Effort, EffortName, SearchProblem, effort_of
from hyperclus.engines import InMemory, Precision
from hyperclus.hypergraph.ids import vertex_codes
from hyperclus.typing import HypergraphLike, Integers, Seed


def cluster(
    hypergraph: HypergraphLike,
    k: int | Literal["auto"] = 2,
    *,
    objective: ObjectiveName | None = None,
    effort: EffortName | Effort | None = None,
    min_share: float | None = None,
    alpha: float = 0.0,
    bound: Bound = "eigenvalues",
    bound_seconds: float | None = None,
    tolerance: float = 1e-8,
    seed: Seed = 0,
    engine: InMemory = "auto",
    precision: Precision = "float64",
    chance: bool = True,
    constraints: Constraints | Mapping[str, Any] | None = None,
    attributes: Any = None,
    beta: float | Literal["auto"] = "auto",
) -> Partition:
    """Split the vertices into k clusters that a random walker seldom leaves, with proven bounds.

    The eigenvectors of L_sym give the bounds and initial partitions. A search then improves the objective
    itself, by moving vertices and hyperedges between clusters.

    Parameters
    ----------
    hypergraph : Hypergraph
        Or whatever `as_hypergraph` accepts: a matrix, a data frame, lists, or an object of another library.
    k : int or "auto"
        The number of clusters; "auto" is the one that `suggest_k` suggests, up to 10.
    objective : {"information", "ncut"}, optional
        What the search improves. The information that a walker's cluster has about its next one agrees best
        with known classes on real data. The lowest NCut often contains clusters of a few vertices; its proven
        bound is close. Whatever the objective, the partition has both figures. By default "information", and
        "ncut" for the other bounds than "eigenvalues".
    effort : {"fast", "default", "thorough"} or Effort, optional
        How long to search: the whole call costs about 2 to 4, 3 to 5 and 100 times as much as the
        eigenvectors. By default "default", and "thorough" for such bounds. The work is counted, not
        timed, so the same seed gives the same labels on every machine.
    min_share : float, optional
        The smallest share of the volume (of a walker's time) for each cluster. The lowest NCut may belong
        to a few vertices that are almost separate; a larger min_share rules them out. By default 0.01 for
        two clusters of a connected hypergraph, else 0.
    alpha : float
        Weight of gamma when a vertex picks a hyperedge: 0 is the walk of the paper, 1 uses gamma in both
        directions, which suits gamma that is a strength of membership.
    bound : {"eigenvalues", "tight", "optimal"}
        How the lower bound is proven. "tight" is much closer, takes seconds to minutes, and is for up to
        200,000 vertices. "optimal" continues until a gap of 1e-7, and up to 400 vertices distinguishes cases
        (branch and bound), so that an optimum can be proven.
    bound_seconds : float, optional
        Time after which the search for a tighter bound ends; what it has found by then is proven. By default
        it continues until the bound no longer improves. For the bounds "tight" and "optimal" only.
    tolerance : float
        Largest residual of an eigenvector.
    seed : int, Generator or None
        Random seed.
    engine : {"auto", "cpu", "cuda"}
        Where to compute: on the CPU, or on an NVIDIA GPU with CuPy. "auto" uses the GPU if there is one and
        the hypergraph is large enough to benefit. The lowest NCut is the same up to rounding; the clusters
        of most information may be others that are nearly as good.
    precision : {"float64", "float32"}
        Precision of gamma and of the eigenvectors on a GPU. Single precision takes less memory and time; the
        eigenvectors have residuals of about 1e-5, and all figures are those of the rounded gamma.
    chance : bool
        Whether to compare the clusters with those of shuffled hypergraphs, see `Chance`. Large hypergraphs
        are sampled; `timings["chance"]` of the result says how long it took. The clusters do not depend on
        it, so switch it off where many hypergraphs are clustered.
    constraints : Constraints or mapping, optional
        What the clusters must keep: `fixed` vertices, `must_link`, `cannot_link`, `max_share`; and `seeds` to
        start from. See `Constraints`. With them, `min_share` is kept, too, if it is given.
    attributes : matrix, data frame or Attributes, optional
        A row of attributes for each vertex: a dense or sparse matrix in the order of the vertices, or a data
        frame (or mapping of columns) of numbers, categories and text, whose index or column "vertex" or "id"
        names the vertices. A share beta of the steps of each vertex then goes to vertices with similar
        attributes. The hypergraph may be None, for clusters by attributes alone. See
        docs/how_to/attributes.md.
    beta : "auto" or float
        The share of steps by attributes, from 0 to 1; by default it is chosen without labels, see `Share`.

    Returns
    -------
    Partition

    Raises
    ------
    InputError, ConvergenceError

    See Also
    --------
    hyperclus_g : The algorithm of the paper.
    cluster_files : The same method for Parquet files on a Dask cluster.

    Examples
    --------
    >>> from hyperclus import Hypergraph
    >>> h = Hypergraph.from_edges([["a", "b", "c"], ["a", "b"], ["c", "d"], ["d", "e", "f"], ["e", "f"]])
    >>> part = cluster(h, k=2)
    >>> sorted(part.members(part.labels[0]).tolist())
    ['a', 'b', 'c']
    """
    if effort is None:
        effort = "default" if bound == "eigenvalues" else "thorough"
    known, joined, suggestion = Constraints.of(constraints), None, dict[str, str]()
    if attributes is not None:
        from hyperclus.clustering.attributed import Given, join_attributes

        joined = join_attributes(hypergraph, attributes, beta, k, Given(alpha, seed, engine, precision))
        hypergraph, alpha = joined.hypergraph, joined.alpha
    run = Run(
        hypergraph,
        engine,
        chance,
        precision=precision,
        alpha=alpha,
        bound=bound,
        bound_seconds=bound_seconds,
        tolerance=tolerance,
        seed=seed,
    )
    if isinstance(k, str):
        from hyperclus.clustering.n_clusters import chosen_k

        k, suggestion = chosen_k(run.hypergraph, k, alpha, seed)
    settings = {
        "method": "cluster",
        "objective": chosen_objective(objective, bound),
        **suggestion,
        **({} if joined is None else joined.settings),
    }
    rules = None if known is None else _rules(run, known, check_k(k, run.whole.n_vertices, min_share))
    part = search(run, k, effort, min_share, settings, constraints=known, rules=rules)
    return part if joined is None else replace(part, attributes=joined.attributes)


def refine(
    hypergraph: HypergraphLike,
    labels: Mapping[Any, Any] | Iterable[Any] | Partition,
    *,
    objective: ObjectiveName | None = None,
    effort: EffortName | Effort = "fast",
    min_share: float | None = None,
    constraints: Constraints | Mapping[str, Any] | None = None,
    **settings: Unpack[Settings],
) -> Partition:
    """Improve given clusters: raise their information, or lower their NCut; no cluster is emptied.

    Moves single vertices until no move helps ("fast"), then tries whole hyperedges and mergers as
    `cluster` does. The labels are those of `evaluate`, the other parameters those of `cluster`. The objective
    never gets worse (unless the given clusters are smaller than `min_share`, or do not keep the constraints,
    whose clusters are those of the labels).

    Examples
    --------
    >>> from hyperclus import Hypergraph
    >>> h = Hypergraph.from_edges([["a", "b", "c"], ["a", "b"], ["c", "d"], ["d", "e", "f"], ["e", "f"]])
    >>> refine(h, ["x", "x", "y", "y", "y", "y"]).members(0).tolist()
    ['a', 'b', 'c']
    """
    run = Run.of("refine", hypergraph, settings)
    known = Constraints.of(constraints)
    start, given = _label_codes(run, labels)
    how = {"method": "refine", "objective": chosen_objective(objective, run.bound)}
    rules = None if known is None else _rules(run, known, len(given), given)
    return search(run, len(given), effort, min_share, how, start, known, rules)


def evaluate(
    hypergraph: HypergraphLike,
    labels: Mapping[Any, Any] | Iterable[Any] | Partition,
    **settings: Unpack[Settings],
) -> Partition:
    """Score given clusters: their NCut, conductance, and proven gap to the optimum.

    Parameters
    ----------
    labels : one hashable label per vertex
        In the order of the vertices, or a mapping (or pandas Series) from vertex id, or a Partition.
        Clusters are renumbered 0, 1, ... by size; labels that are not integers stay as their names. Vertices
        in no hyperedge belong to no cluster.
    **settings
        alpha, bound, bound_seconds, tolerance, seed, engine, precision, chance: as in `cluster`.

    Examples
    --------
    >>> from hyperclus import Hypergraph
    >>> h = Hypergraph.from_edges([["a", "b"], ["b", "c"], ["c", "d"]])
    >>> part = evaluate(h, ["x", "x", "y", "y"])
    >>> round(part.ncut, 4), part.members("y").tolist()
    (0.3333, ['c', 'd'])
    """
    run = Run.of("evaluate", hypergraph, settings)
    start, given = _label_codes(run, labels)
    k = len(given)
    walk = run.walk(run.whole, k)
    pairs = run.eigenpairs(walk, k)
    return run.partition(walk, pairs, start, k, {"method": "evaluate"})


def search(
    run: Steps[Result],
    k: int,
    effort: EffortName | Effort,
    min_share: float | None,
    settings: dict[str, Any],
    start: Integers | None = None,
    constraints: Constraints | None = None,
    rules: Rules | None = None,
) -> Result:
    """The method, for every engine; the search starts from the eigenvectors, or from given labels.

    `rules` are what the constraints mean for the vertices.
    """
    k, how = check_k(k, run.whole.n_vertices, min_share), effort_of(effort)
    objective = objective_of(settings["objective"])
    seed = int(run.rng.integers(1 << 63))  # drawn first, so that it does not depend on the eigen-solver
    walk = run.walk(run.whole, k)  # P = A B and its stationary distribution
    if constraints is not None and rules is not None:
        together = start is None and objective is not NCUT
        rules = checked_rules(rules, walk, min_share or 0.0, constraints.max_share, together)
        settings["constraints"] = constraints.summary
    pairs = run.eigenpairs(walk, k, how.extra)  # the smallest of L_sym
    if min_share is None:
        min_share = default_min_share(walk, k, start) if objective is NCUT else 0.0
    min_volume = float(min_share)
    with run.timed("search"):
        problem = SearchProblem(walk, pairs, k, min_volume, objective, rules)
        labels = run.search(problem, how, seed, start)
        if start is None:
            labels = at_least_as_good(problem, labels)
    return run.partition(walk, pairs, labels, k, settings | {"effort": effort, "min_share": min_volume})


def chosen_objective(objective: ObjectiveName | None, bound: Bound = "eigenvalues") -> ObjectiveName:
    """The objective, by default the one that suits the bound."""
    if objective is None:
        return "information" if bound == "eigenvalues" else "ncut"
    return cast(ObjectiveName, objective_of(objective).name)


def _rules(run: Run, constraints: Constraints, k: int, given: list[Any] | None = None) -> Rules:
    """The constraints on the vertices of a run, which keeps the names of the clusters."""
    rules = rules_of(constraints, run.hypergraph.vertex_ids, run.active, k, given)
    if given is None and not all(isinstance(cluster, int) for cluster in rules.clusters):
        run.names = [*unique_names(rules.clusters), *[None] * (k - len(rules.clusters))]
    return rules


def _label_codes(
    run: Run, labels: Mapping[Any, Any] | Iterable[Any] | Partition
) -> tuple[Integers, list[Any]]:
    """Labels 0 .. k - 1 of the vertices in hyperedges, and what they were; the run keeps their names."""
    given = labels.labels if isinstance(labels, Partition) else labels
    codes, distinct = vertex_codes(given, run.hypergraph.vertex_ids, "label")
    found, inside = np.unique(codes[run.active], return_inverse=True)
    values = distinct[found].tolist()
    if isinstance(labels, Partition):
        run.names = None if labels.names is None else [labels.names[cluster] for cluster in values]
    elif not all(isinstance(value, int) for value in values):
        run.names = unique_names(values)
    return inside, values if run.names is None or not isinstance(labels, Partition) else list(run.names)
