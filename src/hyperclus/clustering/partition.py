"""Results of clustering: the clusters, their quality, and what is proven about them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import scipy.sparse as sp

from hyperclus._runtime.files import StrPath
from hyperclus._runtime.optional import arrow
from hyperclus.clustering.chance import Chance
from hyperclus.clustering.cut import Cut, edge_shares
from hyperclus.clustering.objectives import ObjectiveName, information_of, objective_of
from hyperclus.clustering.quality import PartitionQuality
from hyperclus.errors import InputError, check_integer
from hyperclus.hypergraph.ids import as_list, object_array, vertex_codes
from hyperclus.hypergraph.messages import USUAL, Nouns, caption, first_few, shown
from hyperclus.spectral.eigen import Eigenpairs
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Codes, DuplicatePolicy, Floats, Ids, Integers, PageNotes

if TYPE_CHECKING:  # what a method alone needs is imported there: a first call waits for no more than it uses
    from hyperclus.clustering.description import Description, TopHyperedges, TopVertices
    from hyperclus.clustering.membership import Confidence
    from hyperclus.clustering.metrics import Agreement
    from hyperclus.clustering.model import Model, Prediction
    from hyperclus.clustering.profile import Profile
    from hyperclus.clustering.tree import Tree
    from hyperclus.io.attributes import Attributes
    from hyperclus.spectral.sdp_bound import TightBound


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Partition(PartitionQuality):
    """Clusters of the vertices of a hypergraph.

    Attributes
    ----------
    labels : array of shape (n_vertices,)
        0 .. k - 1, cluster 0 the largest; -1 for a vertex in no hyperedge.
    vertex_ids : array of shape (n_vertices,)
    cut : Cut
        Volume and boundary of each cluster.
    eigenpairs : Eigenpairs
        The max(k, 2) smallest of L_sym, for the vertices that are in some hyperedge.
    walk : RandomWalk
        The walk that was cut, on the vertices that are in some hyperedge.
    tight : TightBound or None
        The tighter bound, if it was requested.
    settings, timings : mappings
        The arguments, with `fallbacks` if something else was done; and the seconds spent in each stage.
    names : tuple of str, or None
        The names of the clusters, if they have any; see `with_names`.
    chance : Chance or None
        Whether the clusters are more than what a search finds in shuffled hypergraphs; None if that was
        switched off.
    attributes : Attributes or None
        The attributes of the vertices, if some were given.
    """

    labels: Integers
    vertex_ids: Ids
    cut: Cut
    eigenpairs: Eigenpairs
    walk: RandomWalk
    tight: "TightBound | None" = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    timings: Mapping[str, float] = field(default_factory=dict)
    names: tuple[str, ...] | None = None
    chance: Chance | None = None
    attributes: "Attributes | None" = None

    def __post_init__(self) -> None:
        self.labels.flags.writeable = False

    @property
    def n_components(self) -> int:
        """The number of connected components of the hypergraph."""
        return self.walk.n_components

    @property
    def objective(self) -> ObjectiveName:
        """What the clusters were searched by; "ncut" if they were given or come from another method."""
        name: ObjectiveName = self.settings.get("objective", "ncut")
        return name

    @property
    def walk_labels(self) -> Integers:
        """The labels of the vertices of the walk, which are those in some hyperedge."""
        return self.labels if self.labels.min(initial=0) >= 0 else self.labels[self.labels >= 0]

    @property
    def sizes(self) -> Integers:
        """The number of vertices in each cluster."""
        return np.bincount(self.walk_labels, minlength=self.k)

    @property
    def information(self) -> float:
        """The nats that a walker's cluster tells about its next cluster: 0 for random ones, at most ln k."""
        return information_of(self.walk, self.walk_labels, self.k)

    @property
    def information_bound(self) -> float:
        """A proven bound: no partition into k clusters has more information.

        It takes milliseconds where the walk is reversible, as with gamma = 1; elsewhere up to 240 products
        with the walk. For two clusters, and often for three, a tight bound on the NCut makes it tighter.
        """
        from hyperclus.spectral.information_bound import information_upper_bound

        given = self.walk, self.eigenpairs, self.k
        return information_upper_bound(*given, lowest_ncut=self.lower_bound)

    @property
    def nouns(self) -> Nouns:
        """What a vertex and a hyperedge are called."""
        return self.walk.hypergraph.nouns

    @property
    def cluster_names(self) -> list[str | int]:
        """The names of the clusters, or their numbers if they have no names."""
        return list(range(self.k)) if self.names is None else list(self.names)

    @property
    def named_labels(self) -> list[str | int]:
        """The name, or number, of the cluster of each vertex; -1 for a vertex in no hyperedge."""
        return self._named(self.labels)

    def _named(self, labels: Codes) -> list[str | int]:
        names = [*self.cluster_names, -1]
        return [names[label] for label in labels.tolist()]

    def with_names(self, names: Mapping[int, Any] | Iterable[Any]) -> "Partition":
        """Return the same partition with names for the clusters: one for each, or a mapping for some.

        The clusters that a mapping leaves out keep their names.

        >>> from hyperclus import Hypergraph, cluster
        >>> part = cluster(Hypergraph.from_edges([["a", "b", "c"], ["d", "e"]])).with_names(["three", "two"])
        >>> part.members("two").tolist()
        ['d', 'e']
        """
        given = dict(names) if isinstance(names, Mapping) else dict(enumerate(as_list(names, "names")))
        unknown = [cluster for cluster in given if cluster not in range(self.k)]
        if unknown or (not isinstance(names, Mapping) and len(given) != self.k):
            raise InputError(f"names are for the clusters 0 to {self.k - 1}; got {shown(list(given))}")
        return replace(
            self, names=unique_names([given.get(i, name) for i, name in enumerate(self.cluster_names)])
        )

    def members(self, cluster: int | str) -> Ids:
        """The ids of the vertices of one cluster, by its number or name; -1 for those in no hyperedge."""
        return np.asarray(self.vertex_ids[self.labels == self._number(cluster, -1)])

    def _number(self, cluster: int | str, least: int = 0) -> int:
        """The number of a cluster, given by its number or name, or an `InputError`."""
        whole = isinstance(cluster, int | np.integer) and not isinstance(cluster, bool)
        if isinstance(cluster, str) and cluster in (self.names or ()):
            return self.cluster_names.index(cluster)
        if not whole or cluster not in range(least, self.k):
            named = "" if self.names is None else f" and named {first_few(self.names)}"
            raise InputError(
                f"clusters are numbered 0 to {self.k - 1}{named}; there is no cluster {shown(cluster)}"
            )
        return int(cluster)

    def tree(self, objective: ObjectiveName | None = None) -> "Tree":
        """Merge two clusters at a time, those that lose least of the objective, by default its own."""
        from hyperclus.clustering.tree import tree_of

        return tree_of(self, objective)

    def split(self, cluster: int | str, k: int = 2) -> "Partition":
        """Split one cluster into k; the others stay as they are.

        >>> from hyperclus import Hypergraph, cluster
        >>> part = cluster(Hypergraph.from_edges([["a", "b"], ["b", "c"], ["d", "e"]]), k=1).split(0)
        >>> part.members(0).tolist(), part.members(1).tolist()
        (['a', 'b', 'c'], ['d', 'e'])
        """
        from hyperclus.clustering.regroup import split

        return split(self, self._number(cluster), k)

    def merge(self, clusters: Iterable[int | str]) -> "Partition":
        """Merge two or more clusters, given by their numbers or names, into one."""
        from hyperclus.clustering.regroup import merge

        return merge(self, [self._number(cluster) for cluster in as_list(clusters, "clusters")])

    def membership(self) -> sp.csr_array:
        """The share of the steps of each vertex into each cluster, (n_vertices, k); rows sum to 1.

        A vertex has entries for the clusters that it reaches in one step, none if it is in no hyperedge.

        >>> from hyperclus import Hypergraph, cluster
        >>> part = cluster(Hypergraph.from_edges([["a", "b", "c"], ["c", "d"], ["d", "e", "f"]]))
        >>> part.membership().toarray()[2].round(3).tolist()
        [0.75, 0.25]
        """
        from hyperclus.clustering.membership import membership

        return membership(self.walk, self.labels, self.k)

    def confidence(self) -> "Confidence":
        """How sure each label is: confidence, margin, the next best cluster, and outliers, in O(m k)."""
        from hyperclus.clustering.membership import confidence

        return confidence(self.walk, self.labels, self.k, objective_of(self.objective))

    def label_columns(self) -> dict[str, list[Any]]:
        """The columns of `to_frame`, as lists."""
        from hyperclus.clustering.frames import LABEL_COLUMNS

        sure = self.confidence()
        labels, others = self.named_labels, self._named(sure.next_clusters)
        figures = sure.values.tolist(), sure.margins.tolist(), others, sure.outliers.tolist()
        return dict(zip(LABEL_COLUMNS, (self.vertex_ids.tolist(), labels, *figures), strict=True))

    def to_frame(self) -> Any:
        """A pandas data frame of the vertices, their clusters and how sure these are.

        The columns are `vertex`, or the noun for a vertex (such as the name of its column in a long table);
        `cluster`, the number or the name of the cluster; and the figures of `confidence`: `confidence`,
        `margin`, `next_cluster` and `outlier`, the reason if it is one.
        """
        from hyperclus.clustering.frames import frame_of

        columns = self.label_columns()
        del columns["vertex"]
        return frame_of("to_frame", self.vertex_ids, self.nouns.vertex, "vertex", columns)

    def agreement(self, classes: Mapping[Any, Any] | Iterable[Any]) -> "Agreement":
        """Compare the clusters with known classes of the vertices; those in no hyperedge are left out.

        The classes are in the order of the vertices, or a mapping or pandas Series from vertex id.
        """
        from hyperclus.clustering.metrics import agreement

        codes, names = vertex_codes(classes, self.vertex_ids, "class")
        inside = self.labels >= 0
        clusters = self.labels if self.names is None else object_array(self.named_labels)
        return agreement(names[codes[inside]], clusters[inside])

    def model(self) -> "Model":
        """What is needed to label new vertices, without the data; `predict` and `save` are its methods."""
        from hyperclus.clustering.model import model_of

        return model_of(self.walk, self.walk_labels, self.k, self.objective, self.names)

    def predict(
        self,
        more: Any = None,
        *,
        attributes: Any = None,
        vertex: Any = None,
        duplicates: DuplicatePolicy = "error",
    ) -> "Prediction":
        """Label new vertices by their hyperedges, as `Model.predict` does, or by their attributes, or both.

        The attributes have a row for each new vertex, of the kind that was clustered.
        """
        if attributes is None:
            return self.model().predict(more, vertex=vertex, duplicates=duplicates)
        from hyperclus.clustering.new_attributes import Clustered, predict_by_attributes

        known = Clustered(self.model(), self.vertex_ids, self.attributes)
        return predict_by_attributes(known, more, attributes, vertex, duplicates)

    def save(self, path: StrPath) -> None:
        """Write `model()` to a file, which `hyperclus.load` reads; it has no vertices."""
        self.model().save(path)

    def certificate(self, path: StrPath) -> None:
        """Write a certificate of `lower_bound`, `ncut` and `gap`, for `hyperclus.verify`.

        docs/understand/certificate.md describes the file. Its figures are rounded to the safe side.
        """
        from hyperclus.clustering.certificates import Found, certificate_of
        from hyperclus.verification.certificate import write_certificate

        exact = self.settings.get("precision") != "float32"
        found = Found(self.ncut, self.lower_bound, self.eigenpairs, self.tight, exact)
        write_certificate(certificate_of(self.walk, self.walk_labels, self.k, found), path)

    def edge_shares(self) -> Floats:
        """The share of each cluster in the walkers that pass through each hyperedge, (n_edges, k)."""
        return edge_shares(self.walk, self.walk_labels, self.k)

    def describe(self, n: int = 5) -> "Description":
        """The size of each cluster, its `n` most distinctive hyperedges and attributes, and top vertices.

        It prints as a table; see `Description` for the figures.

        >>> from hyperclus import Hypergraph, cluster
        >>> part = cluster(Hypergraph.from_table({"legs": [2, 2, 4, 4], "hair": ["no", "no", "yes", "no"]}))
        >>> part.top_edges(part.labels[0], 1).to_frame()[["edge", "coverage", "coverage_all"]].values.tolist()
        [[('legs', 2), 1.0, 0.5]]
        """
        from hyperclus.clustering.attribute_profile import top_attributes
        from hyperclus.clustering.description import describe
        from hyperclus.clustering.edge_flows import edge_flows

        check_integer("n", n)
        flows = edge_flows(self.walk, self.walk_labels, self.cut.volumes, int(n))
        found = describe(self.walk, self.labels, flows, self.cut.volumes, self.cluster_names, int(n))
        if self.attributes is None:
            return found
        top = top_attributes(self.attributes, self.labels, self.cluster_names, int(n))
        return replace(found, attributes=top)

    def top_edges(self, cluster: int | str, n: int = 10) -> "TopHyperedges":
        """The `n` most distinctive hyperedges of one cluster, by its number or name."""
        return self.describe(n).edges[self._number(cluster)]

    def top_vertices(self, cluster: int | str, n: int = 10) -> "TopVertices":
        """The `n` most visited vertices of one cluster, by its number or name."""
        return self.describe(n).vertices[self._number(cluster)]

    def profile(self) -> "Profile":
        """For hypergraphs from tables: values and means of each column in each cluster; see `Profile`."""
        from hyperclus.clustering.profile import profile

        return profile(self.walk.hypergraph, self.walk_labels, self.cluster_names)

    def edges_frame(self) -> Any:
        """A pandas data frame of the hyperedges and their clusters.

        The columns are `edge`, or the noun for a hyperedge; `cluster`, the one for which it has the largest
        score psi(e) share log(share / volume), or -1 if that one does not have it clearly more than others
        (see docs/how_to/describe.md); `share`, `lift`, `coverage` and `coverage_all` for that cluster, even
        if not clear (see `TopHyperedges`); `flow`, the share of all walkers that pass through (psi);
        `information`, the hyperedge's part of the mutual information of hyperedges and clusters, which sums
        to 1 unless it is 0; and `share_0`, `share_1`, ... for each cluster. Hyperedges without members are
        left out.

        >>> from hyperclus import Hypergraph, cluster
        >>> h = Hypergraph.from_edges({"left": ["a", "b", "c"], "mid": ["c", "d"], "right": ["d", "e", "f"]})
        >>> cluster(h).edges_frame().set_index("edge")["cluster"].to_dict()
        {'left': 0, 'mid': -1, 'right': 1}
        """
        from hyperclus.clustering.description import edge_columns
        from hyperclus.clustering.frames import frame_of

        columns = edge_columns(self.walk, self.walk_labels, self.cut.volumes, self.cluster_names)
        ids, noun = self.walk.hypergraph.edge_ids, self.nouns.edge
        frame = frame_of("edges_frame", ids, noun, "edge", columns)
        return frame[self.walk.edge_stationary > 0].reset_index(drop=True)

    def to_html(
        self,
        path: StrPath,
        *,
        title: str | None = None,
        source: str | None = None,
        classes: Mapping[Any, Any] | Iterable[Any] | None = None,
        names: Mapping[int, Any] | Iterable[Any] | None = None,
        levels: int | None = None,
        other: Any = None,
        **notes: Unpack[PageNotes],
    ) -> None:
        """Write a self-contained HTML report: the groups and what sets them apart, pictures and figures.

        Parameters
        ----------
        title, source : str, optional
            Title of the page, and what was clustered, such as a file name.
        classes : optional
            Known classes to compare with: one per vertex, or a mapping (or pandas Series) from vertex id.
        names : optional
            Names for the clusters, as in `with_names`.
        levels : int, optional
            The largest number of clusters that the page can show, 12 by default. The page has a slider from
            2 to it. More clusters than the partition has take another search, so that large data have by
            default only fewer ones; 2 has no such search either.
        other : Partition or labels, optional
            Another partition of the same vertices to compare with, as in `compare`.
        command : str, optional
            How to reproduce the result, such as a command line; Python code by default.
        remarks : list of str, optional
            Sentences shown with the result, such as the reason for a suggested k.
        """
        from hyperclus.report.html.page import write

        given = {"title": title, "source": source, "classes": classes, "names": names}
        write(self, path, **given, levels=levels, other=other, **notes)

    def plot_embedding(self, ax: Any = None, *, axes: tuple[int, int] = (2, 3), **options: Any) -> Any:
        """Draw the vertices by two eigenvectors over sqrt(phi), coloured by cluster, with Matplotlib.

        As all plots, draws into `ax`, or a new figure, and returns it. `axes` are the numbers of the
        eigenvectors, from 2; those beyond k are rough, if available. Options go to `Axes.scatter`.
        """
        from hyperclus.report.plots import plot_embedding

        return plot_embedding(self, ax, axes, options)

    def plot_spectrum(self, ax: Any = None, **options: Any) -> Any:
        """Draw the eigenvalues of L_sym and the gap after the k-th; options go to `Axes.plot`."""
        from hyperclus.report.plots import plot_spectrum

        return plot_spectrum(self, ax, options)

    def plot_sweep(self, ax: Any = None, **options: Any) -> Any:
        """Draw NCut and conductance of the cuts along the second eigenvector; options go to `Axes.plot`."""
        from hyperclus.report.plots import plot_sweep

        return plot_sweep(self, ax, options)

    def plot_incidence(self, ax: Any = None, **options: Any) -> Any:
        """Draw the incidence matrix, ordered by cluster; options go to `Axes.pcolormesh`."""
        from hyperclus.report.plots import plot_incidence

        return plot_incidence(self, ax, options)

    def __repr__(self) -> str:
        from hyperclus.report.text import partition_text

        return str(partition_text(self))

    def _repr_html_(self) -> str:
        from hyperclus.report.text import partition_text

        return partition_text(self).to_html()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class StoredPartition(PartitionQuality):
    """Clusters found by `cluster_files`: their quality, and a folder of Parquet files with the labels."""

    folder: Path  # with a row for each vertex: its id, and `cluster`, 0 .. k - 1, cluster 0 the largest
    n_vertices: int
    n_edges: int
    n_incidences: int
    cut: Cut
    eigenpairs: Eigenpairs  # without the vectors, which stay on the workers
    sizes: Integers
    n_components: int
    settings: Mapping[str, Any] = field(default_factory=dict)
    timings: Mapping[str, float] = field(default_factory=dict)
    rounds: Mapping[str, Any] = field(default_factory=dict)  # number, seconds and bytes of each stage

    @property
    def nouns(self) -> Nouns:
        """What a vertex and a hyperedge are called."""
        return USUAL

    @property
    def chance(self) -> Chance:
        """Nothing, because files are not shuffled."""
        return Chance(None, reason="hypergraphs in files are not shuffled; cluster a sample in memory")

    @property
    def cluster_names(self) -> list[str | int]:
        """The numbers of the clusters."""
        return list(range(self.k))

    def to_arrow(self) -> Any:
        """Read all labels into a PyArrow table; needs memory for all vertices."""
        return arrow("pyarrow.parquet").read_table(self.folder, use_threads=False)

    def __repr__(self) -> str:
        return (
            f"StoredPartition(k={self.k}, sizes={self.sizes.tolist()}, ncut={self.ncut:.6g}, "
            f"lower_bound={self.lower_bound:.6g}, folder={str(self.folder)!r})"
        )

    def _repr_html_(self) -> str:
        from hyperclus.report.text import partition_text

        return partition_text(self).to_html(f"labels: {self.folder}")


def unique_names(values: Iterable[Any]) -> tuple[str, ...]:
    """Return values as the names of clusters, which must be different."""
    names = tuple(map(caption, values))
    if not all(names):
        raise InputError(f"the names of clusters must not be empty; that of cluster {names.index('')} is")
    for cluster, name in enumerate(names):
        if (first := names.index(name)) < cluster:
            both = f"clusters {first} and {cluster} are both {shown(name)}"
            raise InputError(f"the names of clusters must be different; {both}")
    return names
