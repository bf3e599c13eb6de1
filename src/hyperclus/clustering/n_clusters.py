"""The number of clusters: eigengaps that are larger than those of shuffled hypergraphs."""

from dataclasses import dataclass
from functools import partial
from itertools import combinations, islice
from typing import Any

import numpy as np

from hyperclus._runtime.checkpoint import open_checkpoint
from hyperclus._runtime.progress import WorkProgress, topic
from hyperclus.clustering._run import Run, default_min_share
from hyperclus.clustering.chance import MORE, verdict_of
from hyperclus.clustering.cut import cut
from hyperclus.clustering.frames import pandas_for
from hyperclus.clustering.initialization import initial_partitions
from hyperclus.clustering.membership import TINY
from hyperclus.clustering.metrics import agreement
from hyperclus.clustering.objectives import NCUT
from hyperclus.clustering.search_problem import EFFORTS, SearchProblem, labels_fit
from hyperclus.clustering.shuffles import sampled, searched_cost
from hyperclus.clustering.vertex_search import vertex_search
from hyperclus.errors import Argument, InputError, check_integer
from hyperclus.hypergraph.configuration_model import shuffled
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.spectral.bounds import ncut_lower_bound, relative_gap
from hyperclus.spectral.eigen import Eigenpairs
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Booleans, Floats, HypergraphLike, Integers, Seed

COLUMNS = ("k", "score", "NCut", "at least", "shuffled", "eigengap", "stability", "reason")
STARTS = 3  # searches for each k
SEARCHED = 5  # shuffles in which clusters are searched
ROUGH = 1e-2  # tolerance for eigenvectors of a sample
MAX_K = 10  # by default
SHUFFLES = (3, 20)  # smallest and largest default number
MAX_SHUFFLES = 1000  # which no longer change the answer
SHUFFLED_INCIDENCES = 1_000_000  # of all shuffles together, if that allows the smallest number
BEYOND_CHANCE = 2.0  # times the differences between shuffles
MIN_REACH = 2 / 3  # of a k that stands out
MIN_SCORE = 1 / 3  # of a k that stands out
FAIR_SHARE = 0.25  # of an equal volume, for each component, if their number is to stand out


@dataclass(frozen=True, slots=True)
class Candidate:
    """One number of clusters and the evidence for it.

    It stands out if the eigengap is more than twice any gap of a shuffle, its reach is at least 2/3, the
    score at least 1/3, and no cluster has less than 5 % of an equal volume; or if there are k components of
    fair size, and no shuffle has any. Noise is the largest gap of a shuffle, level their mean eigenvalue.
    """

    k: int
    ncut: float  # of k clusters that a quick search finds
    lower_bound: float  # proven, for all k clusters
    gap: float  # relative distance between the two
    smallest: float  # volume of the smallest of the clusters found
    chance: float  # mean NCut that the same search finds in shuffles
    eigengap: float  # lambda_{k+1} - lambda_k
    reach: float  # its share of the way from lambda_k to the level: 1 if only chance is left beyond k
    stability: float  # mean adjusted Rand index between the clusters found from different starts
    score: float  # sqrt(reach * jump) * stability, where jump = (eigengap - noise) / (level - lambda_2)
    clear: bool  # whether it stands out
    reason: str  # why, or why not


@dataclass(frozen=True, slots=True, repr=False)
class Suggestion:
    """Numbers of clusters, ranked."""

    k: int | None  # the best number; None if there is no evidence for any
    confident: bool  # whether it stands out
    structure: bool  # whether there are clusters beyond chance, whatever their number
    reason: str
    candidates: tuple[Candidate, ...]  # from 2 to `max_k`: those that stand out, then the others, by score

    @property
    def answer(self) -> str:
        """The number in words, such as "k = 3, with doubt"."""
        if self.k is None:
            return "no clear number of clusters" if self.structure else "no clear structure"
        return f"k = {self.k}" + ("" if self.confident else ", with doubt")

    def to_frame(self) -> Any:
        """A pandas data frame with a row per candidate, best first."""
        columns = list(Candidate.__dataclass_fields__)
        return pandas_for("to_frame").DataFrame(list(self.candidates), columns=columns)

    @property
    def rows(self) -> list[list[str]]:
        """The cells of `COLUMNS` for each candidate."""
        return [
            [
                *(str(one.k), f"{one.score:.2f}", f"{one.ncut:.4g}", f"{one.lower_bound:.4g}"),
                *(f"{one.chance:.4g}", f"{one.eigengap:.4f}", f"{one.stability:.2f}", one.reason),
            ]
            for one in self.candidates
        ]

    def __repr__(self) -> str:
        lines = [f"Suggestion: {self.answer}", f"  {self.reason}"]
        if self.candidates:
            rows = [list(COLUMNS), *self.rows]
            widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
            lines.append("")
            for *figures, reason in rows:
                cells = [cell.rjust(width) for cell, width in zip(figures, widths, strict=False)]
                lines.append("  ".join(["", *cells, reason]))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from hyperclus.report.notebook import html_table, limited

        rows, notes = limited(self.rows, "numbers")
        return html_table(f"Suggestion: {self.answer}", COLUMNS, rows, [self.reason, *notes], text=True)

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw NCut by k beside that of shuffles, and the suggested k; options go to `Axes.plot`."""
        from hyperclus.report.plots import plot_suggestion

        return plot_suggestion(self, ax, options)


def suggest_k(
    hypergraph: HypergraphLike,
    max_k: int | None = None,
    *,
    alpha: float = 0.0,
    shuffles: int | None = None,
    tolerance: float = 1e-4,
    seed: Seed = 0,
) -> Suggestion:
    """Suggest a number of clusters from 2 to max_k, or none if there is no structure.

    Looks for the k after which the eigenvalues of L_sym jump towards their level in shuffled hypergraphs
    with the same degrees and hyperedge sizes: the last k before another cluster costs as much as by chance.
    There is structure if, for two k or more, the NCut that a quick search finds is more than chance (see
    `Chance`). Of a large hypergraph a random sample is used, and all figures are those of the sample.

    Parameters
    ----------
    max_k : int, optional
        The largest k to consider, at least 2 and below the number of vertices; by default 10, or fewer if
        there are not as many vertices.
    shuffles : int, optional
        The number of shuffled hypergraphs, from 2 to 1000; by default 20, down to 3 for a million incidences.
    alpha, tolerance, seed
        As in `cluster`.

    Raises
    ------
    InputError, ConvergenceError

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> blocks = [rng.choice(20, 5, replace=False) + 20 * (edge % 3) for edge in range(90)]
    >>> found = suggest_k(Hypergraph.from_edges([*blocks, [0, 20], [20, 40]]), max_k=5)
    >>> found.k, found.confident
    (3, True)
    """
    if max_k is not None:
        check_integer("max_k", max_k, least=2)
    if shuffles is not None:
        _check_shuffles(shuffles)
    run = Run(hypergraph, engine="cpu", alpha=alpha, tolerance=tolerance, seed=seed)
    if shuffles is None:
        shuffles = int(np.clip(SHUFFLED_INCIDENCES // run.whole.n_incidences, *SHUFFLES))
    n_vertices = run.whole.n_vertices
    most = min(MAX_K, n_vertices - 1) if max_k is None else int(max_k)
    if n_vertices > 2 and most >= n_vertices:
        raise InputError(
            Argument("max_k"), f" must be below the number of vertices, {n_vertices:,}; got {most}"
        )
    if n_vertices < 3:
        return Suggestion(None, False, False, "Fewer than three vertices are too few to tell.", ())
    draw = np.random.default_rng(run.rng.integers(1 << 63))  # independent of the eigen-solver
    whole = sampled(run.whole, most, draw)[0]
    if whole is not run.whole:
        run.tolerance = max(tolerance, ROUGH)
    walk = run.walk(whole, most + 1)
    pairs = run.eigenpairs(walk, most + 1)
    rivals, costs = np.empty((shuffles, most + 1)), []
    for number in range(shuffles):
        with topic(f"shuffle {number + 1} of {shuffles}"):
            rival = run.walk(shuffled(whole, draw), most + 1)
            found = run.eigenpairs(rival, most + 1)
            rivals[number] = found.values
            if number < SEARCHED:
                costs.append(_costs(rival, found, most, draw))
    contrast = _Contrast.of(pairs.values, rivals, _costs(walk, pairs, most, draw), np.array(costs), tolerance)
    candidates = [_candidate(walk, pairs, contrast, k, draw) for k in range(2, most + 1)]
    ranked = tuple(sorted(candidates, key=lambda one: (not one.clear, -one.score, one.k)))
    return _answer(walk, contrast, ranked)


def _check_shuffles(shuffles: int) -> None:
    check_integer("shuffles", shuffles, least=2)
    if shuffles > MAX_SHUFFLES:
        limit = (
            f" must be at most {MAX_SHUFFLES}, or left out for a number that suits the data; got {shuffles}"
        )
        raise InputError(Argument("shuffles"), limit)


def chosen_k(hypergraph: Hypergraph, k: Any, alpha: float, seed: Seed) -> tuple[int, dict[str, str]]:
    """Return k, or the suggested number and the reason for it if k is "auto"."""
    if isinstance(k, str) and k != "auto":
        raise InputError(Argument("k"), f" must be a whole number from 1, or 'auto'; got {k!r}")
    if not isinstance(k, str):
        return k, {}
    found = suggest_k(hypergraph, alpha=alpha, seed=seed)
    if found.k is None:
        raise InputError(
            f"no number of clusters can be suggested ({found.reason.rstrip('.')}); choose ", Argument("k")
        )
    return found.k, {"suggestion": found.reason}


@dataclass(frozen=True, slots=True, eq=False)
class _Contrast:
    """The eigenvalues compared with those of shuffles. Entry k - 2 of an array is about k clusters."""

    level: Floats  # the mean eigenvalues of the shuffles, from the first on
    better: Booleans  # whether the k-th cluster is better than chance
    drops: Floats  # min(lambda_{k+1}, its level) - lambda_k, or 0: the part of the gap below the level
    noise: float  # the largest drop of a shuffle
    reaches: Floats  # as in `Candidate`
    jumps: Floats
    ncuts: Floats  # of clusters found by the quick search
    shuffled: Floats  # the same in shuffles, on average
    structure: bool  # whether the clusters found are more than chance, for two k or more

    @classmethod
    def of(
        cls, values: Floats, rivals: Floats, ncuts: Floats, shuffled: Floats, tolerance: float
    ) -> "_Contrast":
        total, count = rivals.sum(axis=0), len(rivals)
        level, others = total / count, (total - rivals) / (count - 1)  # of all, without the shuffle itself
        noise = max(_drops(rivals, others).max(), tolerance)
        drops = _drops(values, level)
        more = [verdict_of(some, cost) == MORE for some, cost in zip(shuffled.T, ncuts, strict=True)]
        return cls(
            level,
            _better(values, rivals.min(axis=0))[1:-1],
            drops,
            float(noise),
            _share(drops, level[2:] - values[1:-1]),
            _share(np.maximum(drops - noise, 0.0), level[2:] - values[1]),
            ncuts,
            shuffled.mean(axis=0),
            more.count(True) >= min(2, len(more)),  # one of many k may be by chance
        )


def _costs(walk: RandomWalk, pairs: Eigenpairs, most: int, rng: np.random.Generator) -> Floats:
    """The NCuts that a quick search finds, from 2 clusters on."""
    return np.array([
        searched_cost(walk, pairs.first(k), k, NCUT, default_min_share(walk, k), rng)
        for k in range(2, most + 1)
    ])  # fmt: skip


def _better(values: Floats, lowest_values: Floats) -> Booleans:
    """Whether each eigenvalue is below the lowest one of the shuffles, counted from the last that was not."""
    better, rival = np.zeros(len(values), dtype=bool), 1
    for index in range(1, len(values)):
        better[index] = values[index] < lowest_values[rival]
        rival += not better[index]  # what is left beyond the clusters is compared with a complete shuffle
    return better


def _drops(values: Floats, level: Floats) -> Floats:
    return np.maximum(np.minimum(values, level)[..., 2:] - values[..., 1:-1], 0.0)


def _share(parts: Floats, wholes: Floats) -> Floats:
    return np.divide(parts, wholes, out=np.zeros_like(parts), where=wholes > 0)


def _candidate(
    walk: RandomWalk, pairs: Eigenpairs, contrast: _Contrast, k: int, rng: np.random.Generator
) -> Candidate:
    """Search k clusters from a few starts and compare them with chance."""
    found = _found(walk, pairs, k, rng)
    stability = float(np.mean([agreement(one, other).ari for one, other in combinations(found, 2)]))
    best = min((cut(walk, labels, k) for labels in found), key=lambda one: one.ncut)
    smallest, bound = float(best.volumes.min()), ncut_lower_bound(pairs, k)
    better, reach, drop = bool(contrast.better[k - 2]), float(contrast.reaches[k - 2]), contrast.drops[k - 2]
    width = float(np.sqrt(reach * contrast.jumps[k - 2]))
    score = width * max(stability, 0.0)
    above_noise = drop > BEYOND_CHANCE * contrast.noise
    wide = bool(above_noise and reach >= MIN_REACH and score >= MIN_SCORE)
    apart = k == walk.n_components and _fair_components(walk)
    clear = (wide and smallest >= TINY / k) or (apart and better)
    reasons = (
        (apart, "the connected components"),
        (clear, "stands out: the next cluster costs nearly as much as by chance"),
        (not better, "eigenvalue no lower than in shuffles"),
        (not above_noise, "no larger gap than by chance"),
        (reach < MIN_REACH, "a gap, but the next clusters are much better than chance too"),
        (wide, f"a gap, but a cluster holds only {100 * smallest:.2g} % of the volume"),
        (width < MIN_SCORE, "a narrow gap"),
        (True, "a gap, but different starts find different clusters"),
    )
    reason = next(text for holds, text in reasons if holds)
    chance, eigengap = float(contrast.shuffled[k - 2]), float(pairs.values[k] - pairs.values[k - 1])
    ncut = float(contrast.ncuts[k - 2])
    figures = ncut, bound, relative_gap(ncut, bound), smallest, chance, eigengap
    return Candidate(k, *figures, reach, stability, score, clear, reason)


def _found(walk: RandomWalk, pairs: Eigenpairs, k: int, rng: np.random.Generator) -> list[Integers]:
    """The labels of k clusters, searched from each of a few initial partitions."""
    first = pairs.first(k)
    problem, effort = SearchProblem(walk, first, k, default_min_share(walk, k)), EFFORTS["fast"]
    checkpoint = open_checkpoint("search", *problem.key, pairs.vectors, STARTS, rng=rng)
    if (kept := checkpoint.result(partial(labels_fit, walk.hypergraph.n_vertices, k, {}))) is not None:
        return list(kept["labels"])
    found, work = [], WorkProgress("search", "incidences")
    with topic(f"k = {k}"):
        starts = initial_partitions(problem, rng, effort.sample)
        for number, start in enumerate(islice(starts, STARTS), 1):
            part = checkpoint.part("start", number)
            found.append(vertex_search(problem, [start], effort, rng, part, work, number / STARTS))
    return list(checkpoint.finish(labels=np.array(found))["labels"])


def _answer(walk: RandomWalk, contrast: _Contrast, ranked: tuple[Candidate, ...]) -> Suggestion:
    """The best candidate, if there is structure, and the reason in a sentence."""
    best, count, most = ranked[0], walk.n_components, len(ranked) + 1
    apart = f" It has {count:,} connected components." if count > 1 else ""
    if best.clear:
        also = " and ".join(str(one.k) for one in ranked[1:] if one.clear)
        reason = f"{best.k} clusters stand out{also and f'; so do {also}'}."
        return Suggestion(best.k, True, True, reason + apart, ranked)
    if contrast.structure:
        reason = "There are clusters beyond chance, but no number of them stands out."
        if contrast.better.all():
            reason += f" There may be more than {most}: consider more clusters (max_k)."
        return Suggestion(best.k if best.score > 0 else None, False, True, reason + apart, ranked)
    if 1 < count <= most and _fair_components(walk):
        reason = f"It falls into {count} connected components, but shuffled hypergraphs may do so too."
        ranked = tuple(sorted(ranked, key=lambda one: one.k != count))
        return Suggestion(count, False, False, reason, ranked)
    reason = "Shuffled hypergraphs have clusters that are not clearly worse."
    return Suggestion(None, False, False, reason + apart, ranked)


def _fair_components(walk: RandomWalk) -> bool:
    """Whether no component is much smaller than the others."""
    masses = walk.distribution.components.masses(walk.backend, walk.stationary)
    return bool(masses.min() >= FAIR_SHARE / walk.n_components)
