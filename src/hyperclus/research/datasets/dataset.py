"""The paper's data sets by name: table, classes, hypergraph and source."""

from dataclasses import dataclass
from pathlib import Path

from hyperclus.clustering.hyperclus_g import Strategy
from hyperclus.errors import InputError, check_choice
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.hypergraph.weighting import class_counts
from hyperclus.research.datasets import rules
from hyperclus.research.datasets.download import Folder, Status, data_folder, download, find
from hyperclus.research.datasets.registry import Source
from hyperclus.typing import Ids, Integers


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Dataset:
    """One of the paper's data sets.

    Its hypergraph has a hyperedge per (feature, value), with gamma_e(v) the number of members of e in v's
    class. It depends on the classes, see `class_counts`; `Hypergraph.from_table(table)` has gamma = 1.
    """

    name: str
    table: rules.Table  # the columns, binned where the paper bins
    classes: Ids  # of each row
    hypergraph: Hypergraph
    k: int  # the number of classes, which is the number of clusters in the paper
    strategy: Strategy  # of `hyperclus_g` that reproduces the paper's figures for k > 2
    source: Source  # title, address, licence, citation and, if there is one, copyright notice

    def reweigh(self, sub: Hypergraph, vertices: Integers) -> Hypergraph | None:
        """Rebuild the hypergraph of a cluster as the paper does, for `hyperclus_g(reweigh=...)`.

        Hyperedges that contain the whole cluster are dropped, and classes are counted inside the cluster.
        None if all rows of the cluster are equal.
        """
        constant = sub.edge_sizes == sub.n_vertices
        if constant.all():
            return None
        return class_counts(sub.drop_edges(constant), self.classes[vertices])

    def __repr__(self) -> str:
        return f"Dataset({self.name!r}, k={self.k}, {self.hypergraph!r})"


def names() -> tuple[str, ...]:
    """The names of the data sets, in the paper's order."""
    return tuple(rules.RULES)


def source(name: str) -> Source:
    """The source of a data set, without loading it.

    >>> source("digit-24").title
    'Optical Recognition of Handwritten Digits'
    """
    check_choice("name", name, names())
    return rules.RULES[name].source


def folder() -> Path:
    """The default folder of the raw files: HYPERCLUS_DATA if it is set, else the user's cache."""
    return data_folder(None)[0]


def load(name: str, *, folder: Folder | None = None, progress: bool = False) -> Dataset:
    """Load a data set; its files are downloaded on first use.

    Parameters
    ----------
    name : str
        One of `names()`.
    folder : path, optional
        Folder of the raw files; missing ones are downloaded to it. By default the folder in the
        environment variable HYPERCLUS_DATA, else the user's cache. Files that exist and have the right
        sha256 are used without a network.
    progress : bool
        Show a progress bar while downloading (needs tqdm).

    Raises
    ------
    InputError
        If the name is unknown, or a file in your own folder is not UCI's.
    DownloadError
        If files are missing and cannot be downloaded; the message says where to put them by hand.
    """
    paths = fetch(name, folder=folder, progress=progress)
    rule = rules.RULES[name]
    table, classes = rules.read(rule, paths.values())
    hypergraph = class_counts(Hypergraph.from_table(table, bins=None), classes)
    return Dataset(name, table, classes, hypergraph, rule.k, rule.strategy, rule.source)


def fetch(name: str, *, folder: Folder | None = None, progress: bool = False) -> dict[str, Path]:
    """Return the paths of a data set's files by name; missing ones are downloaded.

    Parameters and errors are those of `load`. A damaged file in the cache is downloaded again; a damaged
    file in your own folder raises an error and is left alone.
    """
    origin = source(name)
    home, is_cache = data_folder(folder)
    found = {file: find(home, file) for file in origin.files}
    for file, (status, path) in found.items():
        if status == "damaged" and not is_cache:
            raise InputError(
                f"{path} is not UCI's {file.name}, its sha256 differs; move it away, and the right one "
                f"is downloaded from {origin.archive}"
            )
    missing = [file for file, (status, _) in found.items() if status != "ok"]
    if missing:
        download(origin, missing, home, progress)
    return {file.name: home / file.name if file in missing else found[file][1] for file in origin.files}


def verify(name: str, *, folder: Folder | None = None) -> dict[str, Status]:
    """Check each file of a data set without downloading: "ok", "missing" or "damaged"."""
    home, _ = data_folder(folder)
    return {file.name: find(home, file)[0] for file in source(name).files}
