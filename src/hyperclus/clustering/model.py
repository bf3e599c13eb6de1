"""What is needed to label new vertices, without the data: a small value that a file can keep.

A step from a new vertex v picks hyperedge e in proportion to omega(e) gamma_e(v)^alpha and ends in cluster c
with probability b_e(c), the share of c in the gammas of e. A step into v comes through e in proportion to
psi(e) gamma_e(v) / delta(e), and begins in c with probability a_e(c) / psi(e). The means of these over the
hyperedges of v, out(c) and back(c), say what the objective gains, to first order in the mass of v, if v joins
a cluster while all else stays. So labels take time in proportion to the incidences of the new vertices.
"""

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from hyperclus._runtime.arrays import blocks, read_only
from hyperclus._runtime.content_digest import content_digest
from hyperclus._runtime.files import StrPath, fault, writing
from hyperclus._runtime.source import refuse_bomb
from hyperclus.clustering.frames import frame_of
from hyperclus.clustering.membership import confidence_in
from hyperclus.clustering.new_vertices import new_vertices
from hyperclus.clustering.objectives import OBJECTIVES, ObjectiveName, flows_between, objective_of
from hyperclus.errors import InputError
from hyperclus.hypergraph.features import Columns
from hyperclus.hypergraph.incidence import check_compressed
from hyperclus.hypergraph.messages import Nouns, caption, first_few
from hyperclus.hypergraph.mixture import Mixture
from hyperclus.io.npz import (
    checked_array,
    checked_version,
    opened_archive,
    pack_columns,
    pack_ids,
    unpack_columns,
    unpack_ids,
)
from hyperclus.spectral.factors import checked_alpha
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Booleans, DuplicatePolicy, Floats, Ids, Incidence, Integers

VERSION = 1  # of the files
BLOCK = 1 << 15  # new vertices at a time
TIE = 1e-12  # relative difference of gains that is rounding error
SAME = 1e-12  # difference of shares that is rounding error
SUMS = 1e-6  # how far sums of shares in a file may be from 1
VECTORS = ("edge_weights", "edge_degrees", "edge_sizes", "edge_flow")
SHARES = ("ahead", "behind")
PLACES = ("clusters", "starts")  # of the shares in a file: the indices and pointers of CSR
PACKED = ("header", "edge_ids", "columns")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Prediction:
    """Clusters of new vertices.

    Attributes
    ----------
    vertex_ids, labels : arrays of shape (n,)
        The new vertices and their clusters, 0 .. k - 1; -1 for a vertex in no known hyperedge.
    membership : array of shape (n, k)
        The share of the steps from the vertex that end in each cluster; 0 for a vertex with label -1.
    confidence : array of shape (n,)
        How sure the label is, from 0 to 1, as in `Partition.confidence`; 0 for a vertex with label -1.
    unknown : array of shape (n,)
        How many hyperedges of the vertex the model does not know. They have no influence.
    unknown_edges : array
        The different unknown hyperedges.
    names, nouns
        As in the model.
    """

    vertex_ids: Ids
    labels: Integers
    membership: Floats
    confidence: Floats
    unknown: Integers
    unknown_edges: Ids
    names: tuple[str, ...] | None
    nouns: Nouns

    @property
    def n_unknown(self) -> int:
        """The number of different hyperedges that the model does not know."""
        return len(self.unknown_edges)

    @property
    def sizes(self) -> Integers:
        """The number of new vertices in each cluster."""
        return np.bincount(self.labels[self.labels >= 0], minlength=self.membership.shape[1])

    @property
    def cluster_names(self) -> list[str | int]:
        """The names of the clusters, or their numbers if they have no names."""
        return list(range(self.membership.shape[1])) if self.names is None else list(self.names)

    @property
    def named_labels(self) -> list[str | int]:
        """The name, or number, of the cluster of each vertex; -1 for a vertex in no known hyperedge."""
        names = [*self.cluster_names, -1]
        return [names[label] for label in self.labels.tolist()]

    @property
    def shares(self) -> Floats:
        """The share of the steps from each vertex that end in its cluster; 0 for label -1."""
        return np.asarray(self.membership[np.arange(len(self.labels)), self.labels])

    def to_frame(self) -> Any:
        """A pandas data frame: vertex (or its noun), cluster, confidence, share and unknown."""
        columns = {
            "cluster": self.named_labels,
            "confidence": self.confidence,
            "share": self.shares,
            "unknown": self.unknown,
        }
        return frame_of("to_frame", self.vertex_ids, self.nouns.vertex, "vertex", columns)

    def __repr__(self) -> str:
        return f"Prediction({self.summary})"

    @property
    def summary(self) -> str:
        """How many vertices each cluster has, and what is unknown, in one line."""
        parts = [
            f"{number:,} in cluster {name}"
            for name, number in zip(self.cluster_names, self.sizes.tolist(), strict=True)
            if number
        ]
        if absent := int(np.count_nonzero(self.labels < 0)):
            parts.append(f"{absent:,} in no known {self.nouns.a_hyperedge}")
        text = f"{self.nouns.count_vertices(len(self.labels))}: {first_few(parts, 10, str) or 'none'}"
        return f"{text}; {self.unknown_text}" if self.n_unknown else text

    @property
    def unknown_text(self) -> str:
        """How many hyperedges are unknown, with examples."""
        what = self.nouns.count_hyperedges(self.n_unknown)
        some = first_few(list(map(caption, self.unknown_edges.tolist())))
        return f"{what} unknown to the model and left out: {some}"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Model:
    """What is needed to label new vertices; `Partition.model` makes it, `save` and `hyperclus.load` keep it.

    Attributes
    ----------
    objective : {"ncut", "information"}
        What a new vertex improves by joining a cluster.
    alpha : float
    edge_ids : array of shape (n_edges,)
    edge_weights, edge_degrees, edge_sizes, edge_flow : arrays of shape (n_edges,)
        omega(e); delta(e), the sum of gamma; the number of members; and psi(e), the share of all walkers that
        pass through.
    ahead, behind : arrays of shape (n_edges, k)
        b_e(c) and a_e(c) / psi(e): the clusters in which a step through the hyperedge ends and begins.
    between : array of shape (k, k)
        F, the flows between the clusters.
    n_vertices : int
        The number of vertices that were clustered.
    names : tuple of str, or None
        The names of the clusters.
    nouns : Nouns
    columns : mapping or None
        The columns of a table with a row per vertex, and their bins.
    version : str
        The version of hyperclus that made the model.
    mixture : Mixture or None
        How steps are shared between hyperedges and neighbourhoods of similar vertices, if there are any.
    """

    objective: ObjectiveName
    alpha: float
    edge_ids: Ids
    edge_weights: Floats
    edge_degrees: Floats
    edge_sizes: Floats
    edge_flow: Floats
    ahead: Floats
    behind: Floats
    between: Floats
    n_vertices: int
    names: tuple[str, ...] | None
    nouns: Nouns
    columns: Columns | None
    version: str
    mixture: Mixture | None = None

    def __post_init__(self) -> None:
        for name in (*VECTORS, *SHARES, "between", "edge_ids"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def k(self) -> int:
        """The number of clusters."""
        return len(self.between)

    @property
    def filled(self) -> Booleans:
        """A mask of the hyperedges that have members; the others are unknown."""
        return np.asarray(self.edge_flow > 0)

    def predict(self, more: Any, *, vertex: Any = None, duplicates: DuplicatePolicy = "error") -> Prediction:
        """Label new vertices by the cluster that gains the objective most; the old ones keep theirs.

        To first order in its mass, a vertex that joins cluster c gains per mass

            information:  sum_j out(j) ln F_cj + back(j) ln F_jc - 2 ln v_c
            ncut:         (out(c) + back(c) - F_cc / v_c) / v_c

        with out(j) and back(j) the shares of its steps to and from cluster j, v the volumes of the clusters,
        and F the flows between them, at least v_c v_j / n for n old vertices. Of equal clusters the largest
        is chosen. Vertices of the old data mostly get the label that they have.

        Parameters
        ----------
        more
            The new vertices and their hyperedges, which are matched by their ids:

            - a mapping, or a list, from vertices to their hyperedges: a list, or a mapping to weights;
            - rows of a table with the columns of the one that was clustered (a data frame, or a mapping of
              columns), if that was `Hypergraph.from_table` or a file with a row per vertex. Values get the
              bins of that table, and a value in no bin, or one that is new, is an unknown hyperedge;
            - a matrix with a column for each hyperedge, as in scikit-learn, or a data frame of weights whose
              columns are hyperedges;
            - a table of the columns vertex and edge, and maybe weight: a row per incidence;
            - a `Hypergraph`, or a hypergraph of another library. Its omega is not used.
        vertex : column name, optional
            The column of vertex ids among the rows of a table; by default the index, or 0, 1, ...
        duplicates : {"error", "sum", "max"}
            What to do with a hyperedge that a vertex has twice.

        Raises
        ------
        InputError
            For what is none of these, for a column of the table that is missing, and for weights that are
            negative or not finite.

        Examples
        --------
        >>> from hyperclus import Hypergraph, cluster
        >>> baskets = {"ann": ["tea", "milk"], "bob": ["tea", "milk"], "eve": ["ink", "glue"]}
        >>> pairs = [(name, item) for name, items in baskets.items() for item in items]
        >>> table = {"vertex": [name for name, _ in pairs], "edge": [item for _, item in pairs]}
        >>> part = cluster(Hypergraph.from_long(table), 2, objective="information")
        >>> found = part.predict({"new": ["tea", "milk"], "other": {"glue": 2, "nails": 1}})
        >>> found.labels.tolist(), part.labels.tolist(), found.unknown_edges.tolist()
        ([0, 1], [0, 0, 1], ['nails'])
        """
        given = new_vertices(self, more, vertex=vertex, duplicates=duplicates)
        labels, membership, confidence = map(read_only, self.joined(given.weights))
        unknown = (read_only(given.unknown), read_only(given.unknown_edges))
        return Prediction(given.vertex_ids, labels, membership, confidence, *unknown, self.names, self.nouns)

    def joined(self, weights: Incidence) -> tuple[Integers, Floats, Floats]:
        """Return labels, membership and confidence of vertices given by their weights in all hyperedges."""
        n, symmetric, volumes = weights.shape[0], self._is_symmetric(), self.between.sum(axis=1)
        labels, confidence = np.full(n, -1, dtype=np.int64), np.zeros(n)
        membership = np.zeros((n, self.k))
        for rows in blocks(n, BLOCK):
            some = sp.csr_array(weights[rows])
            out, back, reached = self._steps(some, symmetric)
            gains = objective_of(self.objective).gains_of_joining(out, back, self.between, self.n_vertices)
            best = gains.max(axis=1)
            chosen = np.argmax(gains >= (best - TIE * np.abs(best))[:, None], axis=1)  # ties: the largest
            labels[rows], membership[rows] = np.where(reached, chosen, -1), out
            members = sp.csr_array((np.ones(some.nnz), some.indices, some.indptr), shape=some.shape)
            degrees = np.asarray(members @ self.filled.astype(np.float64))
            others = np.asarray(members @ self.edge_sizes)
            sure = confidence_in(out, chosen, volumes, degrees, others)
            confidence[rows] = np.where(reached, sure, 0.0)
        return labels, membership, confidence

    def _is_symmetric(self) -> bool:
        """Whether steps to a vertex come from where its steps go, if its gammas are 1 or alpha is 1."""
        if self.mixture is not None:
            return False
        rates = self.edge_flow / (self.edge_degrees * self.edge_weights)
        known = rates[self.filled]
        even = np.ptp(known) <= SAME * known.max()
        return bool(even and np.abs(self.ahead - self.behind).max() <= SAME)

    def _steps(self, weights: Incidence, symmetric: bool) -> tuple[Floats, Floats, Booleans]:
        """The shares of the clusters one step after and one step before each vertex, and which have any."""
        edges, gamma, known = weights.indices, weights.data, self.filled
        reached = np.diff(weights.indptr) > 0
        if not known.all():
            reached &= np.add.reduceat(np.append(known[edges], False), weights.indptr[:-1], dtype=np.intp) > 0
        plain = bool((gamma == 1).all())
        with np.errstate(all="ignore"):
            there = np.where(known, self.edge_weights / self.edge_weights.max(), 0.0)[edges]
            if self.alpha and not plain:
                there *= gamma**self.alpha
            if self.mixture is not None:
                there = self._shared(there, weights, self.mixture)
            steps = [(there, self.ahead)]
            if not (symmetric and (plain or self.alpha == 1)):
                steps.append((gamma * (self.edge_flow / self.edge_degrees)[edges], self.behind))
            found = []
            for picked, clusters in steps:
                picking = sp.csr_array((picked, edges, weights.indptr), shape=weights.shape)
                found.append(picking @ clusters / picking.sum(axis=1)[:, None])
        if not all(np.isfinite(shares[reached]).all() for shares in found):
            raise InputError("the weights of a vertex exceed the range of double precision; scale them")
        for shares in found:
            shares[~reached] = 0.0
        return found[0], found[-1], reached

    def _shared(self, there: Floats, weights: Incidence, mixture: Mixture) -> Floats:
        """Scale the weights of each vertex so that the neighbourhoods get a share beta of its steps."""
        similar = mixture.neighborhoods(len(self.edge_ids))[weights.indices]
        there = np.where(similar, weights.data * (there > 0), there)
        owner, n = np.repeat(np.arange(weights.shape[0]), np.diff(weights.indptr)), weights.shape[0]
        for group, share in ((similar, mixture.beta), (~similar, 1.0 - mixture.beta)):
            total = np.bincount(owner[group], weights=there[group], minlength=n)
            there[group] *= share / total[owner[group]]
        return np.nan_to_num(there)

    def save(self, path: StrPath) -> None:
        """Write the model to a file, which `hyperclus.load` reads; the suffix .hcm is usual.

        The file is a NumPy archive without pickles. It has no vertex, but the ids of all hyperedges.
        """
        name = str(path)
        if name.endswith(".gz"):
            raise fault(path, "a model is not gzipped; leave out .gz")
        header = {
            "version": self.version,
            "objective": self.objective,
            "alpha": self.alpha,
            "n_vertices": self.n_vertices,
            "names": self.names,
            "nouns": [self.nouns.vertex, self.nouns.edge],
            "table": self.columns is not None,
            "mixture": None if self.mixture is None else [self.mixture.n_neighborhoods, self.mixture.beta],
        }
        filled = sp.csr_array(self.ahead + self.behind)  # most hyperedges are in few clusters
        rows = np.repeat(np.arange(len(self.edge_ids)), np.diff(filled.indptr))
        arrays: dict[str, Any] = {name: getattr(self, name).astype("<f8") for name in (*VECTORS, "between")}
        arrays |= {name: getattr(self, name)[rows, filled.indices].astype("<f8") for name in SHARES}
        arrays |= {"clusters": filled.indices.astype("<i8"), "starts": filled.indptr.astype("<i8")}
        arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
        arrays["edge_ids"] = pack_ids(self.edge_ids, "edge")
        arrays["columns"] = pack_columns(self.columns or {})
        digest = np.frombuffer(_digest(arrays), dtype=np.uint8)
        version = np.array(VERSION, dtype="<i8")
        with writing(path) as file:
            np.savez(file, hyperclus_model=version, digest=digest, **arrays)

    def __repr__(self) -> str:
        sizes = f"k={self.k}, {self.nouns.count_hyperedges(len(self.edge_ids))}"
        return (
            f"Model({sizes}, objective={self.objective!r}, from {self.nouns.count_vertices(self.n_vertices)})"
        )


def model_of(
    walk: RandomWalk, labels: Integers, k: int, objective: ObjectiveName, names: tuple[str, ...] | None = None
) -> Model:
    """The model of a partition of a walk with labels 0 .. k - 1."""
    members = (labels[:, None] == np.arange(k)).astype(np.float64)
    psi, h = walk.edge_stationary, walk.hypergraph
    ahead = walk.factors.edge_means(members)
    arriving = walk.factors.step_to_edges(members * walk.stationary[:, None])
    behind = arriving / np.where(psi > 0, psi, 1.0)[:, None]
    return Model(
        objective=objective,
        alpha=walk.alpha,
        edge_ids=h.edge_ids,
        edge_weights=h.edge_weights,
        edge_degrees=walk.factors.edge_degrees,
        edge_sizes=h.edge_sizes.astype(np.float64),
        edge_flow=np.where(h.edge_sizes > 0, psi, 0.0),
        ahead=ahead,
        behind=behind,
        between=flows_between(walk, labels, k),
        n_vertices=h.n_vertices,
        names=names,
        nouns=h.nouns,
        columns=h.columns,
        mixture=h.mixture,
        version=sys.modules["hyperclus"].__version__,  # an import would be circular
    )


def load(path: StrPath) -> Model:
    """Read a model that `Partition.save` or `Model.save` wrote.

    Raises
    ------
    InputError
        If this is another file, a damaged one, or one of a newer version of hyperclus.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from hyperclus import Hypergraph, cluster
    >>> h = Hypergraph.from_edges({"tea": ["a", "b"], "milk": ["a", "b", "c"], "nails": ["c", "d", "e"]})
    >>> path = pathlib.Path(tempfile.mkdtemp(), "shop.hcm")
    >>> cluster(h, 2, objective="information").save(path)
    >>> load(path)
    Model(k=2, 3 hyperedges, objective='information', from 5 vertices)
    """
    with opened_archive(path, "a saved model") as (archive, _):
        if "hyperclus_model" not in archive.files:
            raise InputError(
                "this is not a saved model; Partition.save writes one, and hc.read reads hypergraphs"
            )
        checked_version(archive, "hyperclus_model", VERSION)
        arrays = {name: checked_array(archive, name, ("<f8",)) for name in (*VECTORS, *SHARES)}
        arrays |= {name: checked_array(archive, name, ("<i8",)) for name in PLACES}
        arrays |= {name: checked_array(archive, name, ("|u1", "<i8")) for name in PACKED}
        arrays["between"] = checked_array(archive, "between", ("<f8",), 2)
        digest = checked_array(archive, "digest", ("|u1",))
        if digest.tobytes() != _digest(arrays):
            raise InputError("the content of the model was changed or damaged; save it again")
        shares = 16 * len(arrays["edge_flow"]) * len(arrays["between"])  # bytes in memory
        refuse_bomb(path, os.stat(path).st_size, shares)
        return _unpacked(arrays)


def _mixture(kept: Any, n_edges: int) -> Mixture | None:
    """The mixture of a file."""
    if kept is None:
        return None
    mixture = Mixture(*kept)
    if mixture.n_neighborhoods >= n_edges:
        raise InputError("the parts of the model do not fit together; save it again")
    return mixture


def _unpacked(arrays: Mapping[str, Any]) -> Model:
    """The model of the arrays of a file, after a check that they fit together."""
    header = json.loads(arrays["header"].tobytes())
    edge_ids, columns = unpack_ids(arrays["edge_ids"], "edge_ids"), unpack_columns(arrays["columns"])
    n, k = len(edge_ids), len(arrays["between"])
    shares = {}
    for name in SHARES:
        parts = (arrays[name], arrays["clusters"], arrays["starts"])
        matrix = sp.csr_array(parts, shape=(n, k))
        check_compressed(matrix)
        shares[name] = matrix.toarray()
    names = header["names"] if header["names"] is None else tuple(map(str, header["names"]))
    fits = k > 0 and (names is None or len(names) == k) and header["objective"] in OBJECTIVES
    if not (fits and arrays["between"].shape == (k, k) and all(len(arrays[name]) == n for name in VECTORS)):
        raise InputError("the parts of the model do not fit together; save it again")
    filled, numbers = arrays["edge_flow"] > 0, [*shares.values(), *(arrays[name] for name in VECTORS)]
    sums = [one[filled].sum(axis=1) for one in shares.values()]
    sums += [one.sum(keepdims=True).ravel() for one in (arrays["between"], arrays["edge_flow"])]
    least = min(one.min(initial=0.0) for one in [*numbers, arrays["between"]])
    if not (least >= 0 and all((np.abs(one - 1) < SUMS).all() for one in sums)):
        raise InputError("the shares in the model do not add up to 1; save it again")
    return Model(
        objective=header["objective"],
        alpha=checked_alpha(header["alpha"]),
        edge_ids=edge_ids,
        **{name: arrays[name] for name in (*VECTORS, "between")},
        **shares,
        n_vertices=int(header["n_vertices"]),
        names=names,
        nouns=Nouns(*header["nouns"]),
        columns=columns if header["table"] else None,
        mixture=_mixture(header.get("mixture"), n),
        version=str(header["version"]),
    )


def _digest(arrays: Mapping[str, Any]) -> bytes:
    return content_digest([(name, arrays[name]) for name in (*VECTORS, *SHARES, *PLACES, *PACKED, "between")])
