"""Whether the same clusters are found again, by other seeds and in resampled data."""

from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal, get_args

import numpy as np

from hyperclus._runtime.arrays import read_only
from hyperclus._runtime.progress import report_progress, unwatched
from hyperclus._runtime.random import random_generator
from hyperclus.clustering.cluster import cluster
from hyperclus.clustering.comparison import crosstab
from hyperclus.clustering.frames import frame_of, pandas_for
from hyperclus.clustering.hyperclus_g import hyperclus_g
from hyperclus.clustering.metrics import Agreement, best_matching
from hyperclus.clustering.partition import Partition
from hyperclus.errors import InputError, check_choice, check_integer
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.hypergraph.messages import Nouns
from hyperclus.typing import Booleans, Floats, Ids, Integers, Seed

Over = Literal["vertices", "hyperedges", "seeds"]
SETTINGS = ("objective", "effort", "min_share", "alpha", "tolerance", "engine", "precision")  # repeated
VERDICTS = ((0.85, "highly stable"), (0.75, "stable"), (0.6, "doubtful"), (0.0, "dissolves"))  # Hennig's


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Stability:
    """How often vertices and clusters of a partition are found again when the clustering is repeated.

    Attributes
    ----------
    over : {"vertices", "hyperedges", "seeds"}
        What differs between the runs.
    vertex_ids, labels : arrays of shape (n_vertices,)
        Those of the partition; -1 for a vertex in no hyperedge.
    names : tuple
        The names of the clusters, or their numbers.
    vertices : array of shape (n_vertices,)
        The share of the runs in which a vertex is in the cluster that is matched with its own, among the
        runs in which it is present; NaN if there are none.
    present : array of shape (n_vertices,)
        The number of runs in which the vertex was drawn and has a hyperedge.
    jaccard : array of shape (runs, k)
        The largest Jaccard index |A and B| / |A or B| of each cluster A and a cluster B of the run, among the
        vertices that are present in the run.
    ari : float
        The mean adjusted Rand index of two runs.
    nouns : Nouns
        What a vertex and a hyperedge are called.
    """

    over: Over
    vertex_ids: Ids
    labels: Integers
    names: tuple[Any, ...]
    vertices: Floats
    present: Integers
    jaccard: Floats
    ari: float
    nouns: Nouns

    @property
    def sizes(self) -> Integers:
        """The number of vertices in each cluster."""
        return np.bincount(self.labels[self.labels >= 0], minlength=len(self.names))

    @property
    def clusters(self) -> Floats:
        """The stability of each cluster: its mean Jaccard index over the runs (Hennig, 2007)."""
        return np.asarray(self.jaccard.mean(axis=0))

    @property
    def verdicts(self) -> list[str]:
        """Hennig's words: highly stable from 0.85, stable from 0.75, doubtful from 0.6, else dissolves."""
        return [next(word for least, word in VERDICTS if value >= least) for value in self.clusters]

    def to_frame(self) -> Any:
        """A pandas data frame with a row per vertex: it, `cluster`, `stability` and `present`.

        The first column is `vertex`, or the noun for a vertex.
        """
        names = [*self.names, -1]
        columns = {
            "cluster": [names[label] for label in self.labels.tolist()],
            "stability": self.vertices,
            "present": self.present,
        }
        return frame_of("to_frame", self.vertex_ids, self.nouns.vertex, "vertex", columns)

    def clusters_frame(self) -> Any:
        """A pandas data frame with a row per cluster: `cluster`, `size`, `stability` and `verdict`."""
        columns = {
            "cluster": self.names,
            "size": self.sizes,
            "stability": self.clusters,
            "verdict": self.verdicts,
        }
        return pandas_for("clusters_frame").DataFrame(columns)

    def __repr__(self) -> str:
        from hyperclus.report.comparison import stability_text

        return str(stability_text(self))

    def _repr_html_(self) -> str:
        from hyperclus.report.comparison import stability_text

        return stability_text(self).to_html()


def stability(part: Partition, over: Over = "vertices", runs: int = 20, *, seed: Seed = 0) -> Stability:
    """Repeat a clustering, and say which vertices and clusters are found again.

    Parameters
    ----------
    part : Partition
        Its method, k and settings are repeated; clusters from elsewhere (`evaluate`, `consensus`) are
        compared with those that `cluster` finds.
    over : {"vertices", "hyperedges", "seeds"}
        What differs between the runs. "vertices": draw n vertices with replacement, and keep those drawn,
        about 63 %; shows whether the clusters depend on a few vertices. "hyperedges": draw as many hyperedges
        with replacement, so that one drawn t times has the weight t omega(e); shows whether there are enough
        of them, and is hard to pass for a table of few columns. "seeds": the same hypergraph with other
        seeds; shows whether the search is stable, and nothing about the data. The first two use other seeds
        too.
    runs : int
        The number of repetitions, from 2; each costs as much as the clustering.
    seed : int, Generator or None
        Random seed.

    Returns
    -------
    Stability

    Raises
    ------
    InputError, ConvergenceError

    Notes
    -----
    The stability of a cluster is that of C. Hennig, "Cluster-wise assessment of cluster stability",
    *Computational Statistics & Data Analysis* 52 (2007).

    Examples
    --------
    >>> from hyperclus import Hypergraph
    >>> h = Hypergraph.from_edges([["a", "b", "c"], ["a", "b"], ["c", "d"], ["d", "e", "f"], ["e", "f"]])
    >>> stability(cluster(h), "seeds", runs=3).clusters.tolist()
    [1.0, 1.0]
    """
    if not isinstance(part, Partition):
        raise InputError(f"a Partition is needed, such as hc.cluster returns, not {type(part).__name__}")
    if "constraints" in part.settings:
        raise InputError(
            "clusters with constraints are not repeated, because resampled data may not allow them; "
            "cluster without constraints"
        )
    check_choice("over", over, get_args(Over))
    check_integer("runs", runs, 2)
    rng, h = random_generator(seed), part.walk.hypergraph
    found = np.full((runs, h.n_vertices), -1, dtype=np.int32)
    for run in range(runs):
        report_progress("stability", run, "runs", run / runs)
        drawn, some = _drawn(h, over, rng)
        with unwatched():
            found[run, some] = _repeated(part, drawn, int(rng.integers(1 << 63)))
    report_progress("stability", runs, "runs", 1.0)
    return _summarized(part, over, found)


def _drawn(h: Hypergraph, over: Over, rng: np.random.Generator) -> tuple[Hypergraph, Integers]:
    """The hypergraph of one run, and the positions of its vertices."""
    everyone = np.arange(h.n_vertices)
    if over == "seeds":
        return h, everyone
    if over == "vertices":
        some = np.unique(rng.integers(h.n_vertices, size=h.n_vertices))
        sizes = np.diff(h.gamma[:, some].indptr)
        return h.drop_edges((sizes == 1) & (h.edge_sizes > 1)).restrict(some), some
    times = rng.multinomial(h.n_edges, np.full(h.n_edges, 1.0 / h.n_edges))
    part = h.drop_edges(times == 0)
    return part.with_edge_weights(part.edge_weights * times[times > 0]), everyone


def _repeated(part: Partition, h: Hypergraph, seed: int) -> Integers:
    """The labels that the same method finds in a hypergraph; -1 everywhere if it has too few vertices."""
    if np.count_nonzero(h.covered) < part.k:
        return np.full(h.n_vertices, -1, dtype=np.int64)
    given = {name: part.settings[name] for name in SETTINGS if name in part.settings}
    if part.settings.get("method") == "hyperclus_g":
        return hyperclus_g(h, part.k, seed=seed, chance=False, **given).labels
    return cluster(h, part.k, seed=seed, chance=False, **given).labels


def _summarized(part: Partition, over: Over, found: Any) -> Stability:
    """Match the runs with the partition, and with each other."""
    k, inside = part.k, part.labels >= 0
    labels, jaccard = part.walk_labels, np.zeros((len(found), k))
    kept, present = np.zeros(len(labels)), (found >= 0).sum(axis=0)
    for run, others in enumerate(found):
        here = others >= 0
        counts = crosstab(labels[here], others[here], (k, k))
        unions = counts.sum(axis=1)[:, None] + counts.sum(axis=0) - counts
        jaccard[run] = (counts / np.maximum(unions, 1)).max(axis=1)
        kept += here & (best_matching(counts)[labels] == others)
    pairs = [_ari(one, other, k) for one, other in combinations(found, 2)]
    return Stability(
        over,
        part.vertex_ids,
        part.labels,
        tuple(part.cluster_names),
        _everywhere(np.divide(kept, present, out=np.full(len(labels), np.nan), where=present > 0), inside),
        read_only(np.nan_to_num(_everywhere(present, inside)).astype(np.int64)),
        read_only(jaccard),
        float(np.nanmean(pairs)) if np.isfinite(pairs).any() else float("nan"),
        part.nouns,
    )


def _everywhere(values: Any, inside: Booleans) -> Floats:
    """Values of the vertices in hyperedges; NaN for the others."""
    whole = np.full(len(inside), np.nan)
    whole[inside] = values
    return read_only(whole)


def _ari(a: Any, b: Any, k: int) -> float:
    """The adjusted Rand index on the vertices that two runs have in common; NaN if there are none."""
    both, names = (a >= 0) & (b >= 0), np.arange(k)
    return Agreement(names, names, crosstab(a[both], b[both], (k, k))).ari if both.any() else float("nan")
