# ruff: noqa: N803 (scikit-learn writes X)
"""scikit-learn estimators around `cluster`, `hyperclus_g` and the eigenvectors.

Samples are vertices, features are hyperedges. Needs scikit-learn 1.6 or newer; importing this module
without it raises a `MissingLibraryError`.
"""

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from hyperclus._runtime.optional import library
from hyperclus.clustering._run import Bound, Run
from hyperclus.clustering.cluster import cluster
from hyperclus.clustering.constraints import Constraints
from hyperclus.clustering.cut import cut
from hyperclus.clustering.hyperclus_g import Rounding, Strategy, hyperclus_g
from hyperclus.clustering.new_attributes import Clustered, joined_neighborhoods
from hyperclus.clustering.objectives import ObjectiveName
from hyperclus.clustering.partition import Partition
from hyperclus.clustering.search_problem import Effort, EffortName
from hyperclus.engines import InMemory
from hyperclus.errors import InputError, check_integer
from hyperclus.hypergraph.hypergraph import Hypergraph, check_incidences
from hyperclus.hypergraph.ids import ids_or_range, is_missing
from hyperclus.hypergraph.messages import shown
from hyperclus.hypergraph.tables import row_names
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import AbsencePolicy, Floats, Incidence, Integers, Seed

__all__ = ["HyperClusG", "HypergraphClustering", "HypergraphSpectralEmbedding"]

_base: Any = library("sklearn.base", "scikit-learn", "hyperclus.sklearn", "sklearn")
_validation: Any = library("sklearn.utils.validation", "scikit-learn", "hyperclus.sklearn", "sklearn")
_Named: Any = _base.ClassNamePrefixFeaturesOutMixin
_Transformer: Any = _base.TransformerMixin

FLAT = 1e-4  # below this |1 - lambda|, hyperedges carry no information about a component


@dataclass(eq=False, repr=False, kw_only=True)
class _HypergraphEstimator(_base.BaseEstimator):  # type: ignore[misc]
    """Settings of all estimators, and validation of X."""

    alpha: float = 0.0
    edge_weights: Mapping[Any, float] | ArrayLike | None = None
    edge_names: Sequence[Any] | None = None
    engine: InMemory = "auto"
    random_state: Any = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "stationary_")  # what `fit` sets last

    def _matrix(self, X: Any, *, min_samples: int = 1, reset: bool = False) -> Any:
        """Validate X; no entry may be negative."""
        if not reset:
            _validation.check_is_fitted(self)
        form = {"accept_sparse": ("csr", "csc", "coo"), "dtype": np.float64}
        matrix = _validation.validate_data(self, X, ensure_min_samples=min_samples, reset=reset, **form)
        entries: Any = matrix.data if hasattr(matrix, "tocsr") else matrix
        if entries.size and entries.min() < 0:
            samples, features, values = sp.find(matrix)
            order = np.lexsort((features, samples))
            first = order[np.argmax(values[order] < 0)]
            name = getattr(self, "feature_names_in_", np.arange(matrix.shape[1]))[features[first]]
            raise InputError(
                f"Negative values in data passed to {type(self).__name__}: sample {samples[first]} has "
                f"{values[first]} in feature {shown(name)}; weights must not be negative"
            )
        return matrix

    def _hypergraph(self, matrix: Any, isolated: AbsencePolicy, vertex_ids: Any = None) -> Hypergraph:
        """The hypergraph of the samples; features without entries are left out here and in `predict`."""
        self._known = np.flatnonzero(np.asarray(matrix.sum(axis=0)).ravel() > 0)
        names = self.edge_names
        return Hypergraph.from_incidence(
            matrix,
            edge_weights=self.edge_weights,
            vertex_ids=vertex_ids,
            edge_ids=getattr(self, "feature_names_in_", None) if names is None else names,
            duplicates="sum",  # as everywhere in scikit-learn
            isolated=isolated,
            empty_edges="drop",
        )

    def _seed(self) -> Seed:
        """An integer is the seed itself; from a RandomState it is drawn."""
        given = self.random_state
        if given is None or isinstance(given, np.random.Generator):
            return given
        state = _validation.check_random_state(given)
        return int(given if isinstance(given, int | np.integer) else state.randint(1 << 31))

    def _on_known(self, matrix: Any) -> Incidence:
        """The features that had entries in `fit`, by sample."""
        rows: Incidence = sp.csr_array(sp.csr_array(matrix)[:, self._known])
        rows.eliminate_zeros()
        return rows


@dataclass(eq=False, repr=False)
class _ClusterEstimator(_base.ClusterMixin, _HypergraphEstimator):  # type: ignore[misc]
    """`fit`, `predict` and `score` from a function that clusters a hypergraph."""

    n_clusters: int | Literal["auto"] = 2
    _: KW_ONLY
    bound: Bound = "eigenvalues"
    bound_seconds: float | None = None
    chance: bool = False
    _function: ClassVar[Callable[..., Partition]]

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the clusters of the samples; y is ignored."""
        return self._fit(X, {})

    def _fit(self, X: Any, more: Mapping[str, Any]) -> Self:
        """Find the clusters, with more arguments of the function."""
        least = 1
        if self.n_clusters != "auto":
            check_integer("n_clusters", self.n_clusters)
            least = self.n_clusters
        matrix = self._matrix(X, min_samples=least, reset=True)
        hypergraph = self._hypergraph(matrix, "keep", _unique_index(X))
        check_incidences(hypergraph)
        if self.alpha == 0 and hypergraph.n_incidences == hypergraph.n_vertices * hypergraph.n_edges:
            warnings.warn(
                "every sample has an entry in every feature, so with alpha=0 all samples look the same to "
                "the walk and the clusters mean nothing; bin the columns (KBinsDiscretizer), or use alpha=1",
                stacklevel=2,
            )
        settings = {**self.get_params(), "seed": self._seed()}
        for name in ("n_clusters", "edge_weights", "edge_names", "random_state"):
            del settings[name]
        part = self._function(hypergraph, self.n_clusters, **settings, **more)
        self.partition_, self.n_clusters_ = part, part.k
        self.labels_ = part.labels.copy()
        self.ncut_, self.lower_bound_, self.gap_ = part.ncut, part.lower_bound, part.gap
        self.eigenvalues_ = part.eigenvalues
        self.stationary_ = np.zeros(len(part.labels))
        self.stationary_[part.labels >= 0] = part.walk.stationary
        return self

    def name_features(self, names: Iterable[Any]) -> Self:
        """Give the hyperedges of `partition_` the names of the features, one for each column of X.

        In a fitted pipeline, `pipe[-1].name_features(pipe[:-1].get_feature_names_out())`.
        """
        _validation.check_is_fitted(self)
        part, ids = self.partition_, ids_or_range(names, self.n_features_in_, "edge")
        renamed = replace(part.walk.hypergraph, edge_ids=ids[self._known])
        walk = RandomWalk(renamed, alpha=part.walk.alpha, distribution=part.walk.distribution)
        self.partition_ = replace(part, walk=walk)
        return self

    def predict(self, X: Any) -> Integers:
        """The clusters that samples, new or not, join with the largest gain of the objective.

        This is `hyperclus.clustering.Model.predict`. Label -1 means that a sample has no entry in a feature
        that had one in `fit`. For the samples of `fit` it is mostly `labels_`.
        """
        return self._joined(self._on_known(self._matrix(X)))

    def _joined(self, rows: Incidence) -> Integers:
        return self.partition_.model().joined(self._widened(rows))[0]

    def _widened(self, rows: Incidence) -> Incidence:
        """Weights in all hyperedges of the partition, which may have neighbourhoods, or only these."""
        h = self.partition_.walk.hypergraph
        n_features = 0 if self.partition_.settings.get("beta") == 1 else rows.shape[1]
        some = rows[:, :n_features]
        shape = rows.shape[0], h.n_edges
        return sp.csr_array((some.data, some.indices, some.indptr), shape=shape)

    def score(self, X: Any, y: Any = None) -> float:
        """-NCut / (n_clusters - 1) of the clusters that `predict` finds for X, on the walk of X.

        0 for separate clusters, about -1 for random ones. The walk is that of the samples of X alone, on the
        features known from `fit`; a cluster that none of them joins counts 1 in the NCut. Compare scores only
        for the same alpha; see docs/how_to/scikit_learn.md before you choose n_clusters by it.
        """
        rows = self._on_known(self._matrix(X))
        labels, part = self._joined(rows), self.partition_
        if part.k < 2:
            raise InputError("one cluster has no cut to score; set n_clusters to 2 or more")
        omega = part.walk.hypergraph.edge_weights
        held = Hypergraph.from_incidence(
            rows, edge_weights=omega, isolated="drop", empty_edges="drop", duplicates="sum"
        )
        used, inside = np.unique(labels[labels >= 0], return_inverse=True)
        found = cut(RandomWalk(held, alpha=self.alpha), inside, len(used)).ncut
        return -(found + part.k - len(used)) / (part.k - 1)


@dataclass(eq=False, repr=False, kw_only=True)
class HypergraphClustering(_ClusterEstimator):
    """Clusters of low NCut with a proven lower bound: `hyperclus.cluster` as an estimator.

    X has a row per sample (vertex) and a column per feature (hyperedge); entry (v, e) is gamma_e(v), and
    0 means that v is not in e. Samples without a positive entry get label -1. Features without one are
    ignored.

    Parameters
    ----------
    n_clusters : int or "auto"
        "auto" is the number that `hyperclus.suggest_k` suggests; `n_clusters_` has it after `fit`.
    objective, effort, min_share, alpha, bound, bound_seconds
        As in `hyperclus.cluster`.
    constraints : Constraints or mapping, optional
        As in `hyperclus.cluster`; vertices are positions of samples, or labels of the index of a data frame.
    beta : "auto" or float
        As in `hyperclus.cluster`, for the attributes that `fit` may be given.
    chance : bool
        As in `hyperclus.cluster`, but off by default, because models are often fitted many times.
    edge_weights : sequence of length n_features, or mapping from feature name, optional
        omega(e) > 0; 1 by default.
    edge_names : sequence of length n_features, optional
        Names of the features, which become the ids of the hyperedges; by default the names that X has.
        `name_features` gives them after `fit`, as the earlier steps of a pipeline know them only then.
    engine : {"auto", "cpu", "cuda"}
        Where `fit` computes, as in `cluster`; all fitted attributes are in host memory.
    random_state : int, RandomState, Generator or None
        An int is the seed of `hyperclus.cluster`. None may give other labels each time.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        0 .. n_clusters - 1, cluster 0 the largest; -1 for a sample without a positive entry.
    ncut_, lower_bound_, gap_ : float
        The NCut, a proven lower bound on the NCut of all partitions, and the relative distance between them.
    eigenvalues_ : array
        The smallest eigenvalues of L_sym, ascending.
    stationary_ : array of shape (n_samples,)
        phi, the share of a walker's time; 0 for a sample without a positive entry.
    partition_ : Partition
        The full result. Its hyperedges have the names of the features, its vertices the index of a pandas
        data frame if that is unique; otherwise they are numbered.

    Examples
    --------
    >>> X = [[3, 1, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 2], [0, 0, 1, 1]]
    >>> model = HypergraphClustering(n_clusters=2, random_state=0).fit(X)
    >>> model.labels_.tolist(), round(model.ncut_, 4)
    ([1, 1, 0, 0, 0], 0.2778)
    >>> model.predict([[0, 5, 0, 0], [0, 0, 1, 3], [0, 0, 0, 0]]).tolist()
    [1, 0, -1]
    """

    _function = staticmethod(cluster)
    objective: ObjectiveName | None = None
    effort: EffortName | Effort | None = None
    min_share: float | None = None
    constraints: Constraints | Mapping[str, Any] | None = None
    beta: float | Literal["auto"] = "auto"

    def fit(self, X: Any, y: Any = None, *, attributes: Any = None) -> Self:
        """Find the clusters of the samples, which may have attributes beside X; y is ignored."""
        return self._fit(X, {"attributes": attributes})

    def predict(self, X: Any, *, attributes: Any = None) -> Integers:
        """The clusters that samples join with the largest gain of the objective, as in the base class.

        With attributes, if `fit` had some, a share of the steps of each sample goes to the nearest samples of
        `fit`.
        """
        rows = self._on_known(self._matrix(X))
        if attributes is None:
            return self._joined(rows)
        part, model = self.partition_, self.partition_.model()
        joins = joined_neighborhoods(Clustered(model, part.vertex_ids, part.attributes), attributes)
        if joins.shape[0] != rows.shape[0]:
            raise InputError(
                f"X has {rows.shape[0]} samples and the attributes {joins.shape[0]}; make them equal"
            )
        return model.joined(sp.csr_array(self._widened(rows) + joins))[0]


@dataclass(eq=False, repr=False, kw_only=True)
class HyperClusG(_ClusterEstimator):
    """HyperClus-G, the algorithm of the paper: `hyperclus.hyperclus_g` as an estimator.

    X and the fitted attributes are as for `HypergraphClustering`, which finds a lower NCut.

    Parameters
    ----------
    n_clusters : int or "auto"
    rounding, strategy, alpha, bound, bound_seconds
        As in `hyperclus.hyperclus_g`.
    edge_weights, edge_names, engine, random_state
        As in `HypergraphClustering`.

    Examples
    --------
    >>> X = [[3, 1, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 2], [0, 0, 1, 1]]
    >>> HyperClusG(n_clusters=2, random_state=0).fit(X).labels_.tolist()
    [1, 1, 0, 0, 0]
    """

    _function = staticmethod(hyperclus_g)
    rounding: Rounding = "sign"
    strategy: Strategy = "best"


@dataclass(eq=False, repr=False)
class HypergraphSpectralEmbedding(_Named, _Transformer, _HypergraphEstimator):  # type: ignore[misc]
    """f_2 .. f_{q+1}, the columns of Pi^-1/2 Z: coordinates of the samples that separate clusters.

    Z holds the eigenvectors of L_sym for the smallest eigenvalues after the first. Each f has mean 0 and mean
    square 1 under the stationary distribution. X is as for `HypergraphClustering`.

    `transform` accepts new samples, given by their weights x(e), as if they were added with vanishing weight:

        f(x) = (mean of h weighted by there + mean of g weighted by back) / (2 (1 - lambda)),
        there(e) = omega(e) x(e)^alpha, h = B f;   back(e) = x(e) psi(e) / delta(e), g = A'Pi f / psi.

    For the samples of `fit` this is f itself, because (P f + P* f) / 2 = (1 - lambda) f with P* = Pi^-1 P'Pi.

    Parameters
    ----------
    n_components : int
        q.
    alpha, tolerance
        As in `hyperclus.cluster`.
    edge_weights, edge_names, engine, random_state
        As in `HypergraphClustering`.

    Attributes
    ----------
    embedding_ : array of shape (n_samples, n_components)
        0 for samples without a positive entry. Components whose eigenvalue is 1 (within 1e-4) are 0
        everywhere, with a warning: the hyperedges carry no further information.
    eigenvalues_ : array of shape (n_components,)
        lambda_2, ..., ascending.
    stationary_ : array of shape (n_samples,)
    walk_ : RandomWalk

    Examples
    --------
    >>> X = [[3, 1, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 2], [0, 0, 1, 1]]
    >>> model = HypergraphSpectralEmbedding(n_components=1).fit(X)
    >>> model.embedding_[[0, 1, 3, 4], 0].round(2).tolist()
    [1.14, 1.08, -1.13, -1.1]
    >>> model.transform([[0, 5, 0, 0]]).round(2).tolist()
    [[0.89]]
    """

    n_components: int = 2
    _: KW_ONLY
    tolerance: float = 1e-8

    def fit(self, X: Any, y: Any = None) -> Self:
        """Compute the eigenvectors for the samples; y is ignored."""
        check_integer("n_components", self.n_components)
        matrix = self._matrix(X, min_samples=self.n_components + 1, reset=True)
        hypergraph = self._hypergraph(matrix, "drop")
        if hypergraph.n_vertices <= self.n_components:
            needed = f"{self.n_components} components need at least {self.n_components + 1} samples"
            raise InputError(f"{needed} with a positive entry; there are {hypergraph.n_vertices}")
        run = Run(hypergraph, self.engine, alpha=self.alpha, tolerance=self.tolerance, seed=self._seed())
        walk = run.walk(hypergraph, self.n_components + 1)
        pairs = run.eigenpairs(walk, self.n_components + 1).on_host(walk.backend)
        self.walk_ = walk.on_host()
        self.eigenvalues_ = pairs.values[1:]
        flat = np.abs(1 - self.eigenvalues_) <= FLAT
        scale = np.where(flat, 0.0, 1 / np.where(flat, 1.0, 1 - self.eigenvalues_))
        self._scaled = pairs.vectors[:, 1:] / np.sqrt(self.walk_.stationary)[:, None] * scale
        if flat.any():
            warnings.warn(
                f"{np.count_nonzero(flat)} of {self.n_components} components are 0, because the hyperedges "
                "do not separate the samples further; lower n_components, or try alpha=1",
                stacklevel=2,
            )
        self._n_features_out = self.n_components
        self.embedding_, reached = _stepped(self.walk_, self._scaled, self._on_known(matrix))
        self.stationary_ = np.zeros(len(reached))
        self.stationary_[reached] = self.walk_.stationary
        return self

    def transform(self, X: Any) -> Floats:
        """The coordinates of samples; 0 without an entry in a feature that had one in `fit`."""
        rows = self._on_known(self._matrix(X))  # which checks that it is fitted
        return _stepped(self.walk_, self._scaled, rows)[0]


def _unique_index(X: Any) -> Any:
    """The index of a pandas data frame, if it can name the samples; otherwise None."""
    index = row_names(X)
    usable = index is not None and len(set(index)) == len(index) and not any(map(is_missing, index))
    return index if usable else None


def _stepped(walk: RandomWalk, values: Floats, rows: Incidence) -> tuple[Floats, Any]:
    """(P f + P* f) / 2 for samples given by their weights in the hyperedges, and which samples have any.

    It follows the definition for vertices of the walk, and is the limit for samples of vanishing weight.
    """
    factors, psi = walk.factors, walk.edge_stationary
    ahead = factors.edge_means(values)
    behind = factors.step_to_edges(values * walk.stationary[:, None]) / np.where(psi > 0, psi, 1.0)[:, None]
    with np.errstate(all="ignore"):
        there = rows.data**walk.alpha * walk.hypergraph.edge_weights[rows.indices]
        back = rows.data / factors.edge_degrees[rows.indices] * psi[rows.indices]
        means = []
        for weights, at_edges in ((there, ahead), (back, behind)):
            weighing = sp.csr_array((weights, rows.indices, rows.indptr), shape=rows.shape)
            means.append(weighing @ at_edges / weighing.sum(axis=1)[:, None])
    reached = np.diff(rows.indptr) > 0
    stepped = np.where(reached[:, None], 0.5 * (means[0] + means[1]), 0.0)
    if not np.isfinite(stepped).all():
        raise InputError("the weights of a sample exceed the range of double precision; scale them")
    return stepped, reached
