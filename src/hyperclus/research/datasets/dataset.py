"""A data set by its name: table, classes, the paper's hypergraph, and where it all comes from."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hyperclus.clustering.hyperclus_g import Strategy
from hyperclus.errors import InputError, check_choice
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.hypergraph.weighting import class_counts
from hyperclus.research.datasets import rules, store
from hyperclus.research.datasets.download import download
from hyperclus.research.datasets.registry import SOURCES, Source
from hyperclus.typing import Ids, Integers


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Dataset:
    """One of the paper's data sets.

    Attributes
    ----------
    name : str
    table : dict of arrays
        The columns, binned where the paper bins. `Hypergraph.from_table(table)` has gamma = 1.
    classes : array
        The class of each row.
    hypergraph : Hypergraph
        The paper's: a hyperedge per (feature, value), gamma_e(v) = number of members of e in v's
        class. The classes are part of it, see `class_counts`.
    k : int
        The number of classes, and of clusters in the paper.
    strategy : {"best", "largest"}
        The one that gives the paper's figures for k > 2.
    source : Source
        Title, address, licence, citation, and copyright notice where there is one.
    """

    name: str
    table: rules.Table
    classes: Ids
    hypergraph: Hypergraph
    k: int
    strategy: Strategy
    source: Source

    def reweigh(self, sub: Hypergraph, vertices: Integers) -> Hypergraph | None:
        """The hypergraph of a cluster built anew, as the paper does, for `cluster(reweigh=...)`.

        Features with one value inside the cluster go, and classes are counted inside the cluster;
        None if all its rows are equal.
        """
        constant = sub.edge_sizes == sub.n_vertices
        if constant.all():
            return None
        return class_counts(sub.drop_edges(constant), self.classes[vertices])

    def __repr__(self) -> str:
        return f"Dataset({self.name!r}, k={self.k}, {self.hypergraph!r})"


@dataclass(frozen=True, slots=True)
class _Recipe:
    source: Source
    read: Callable[..., tuple[rules.Table, Ids]]
    k: int = 2
    strategy: Strategy = "best"


_RECIPES = {
    "mushroom": _Recipe(SOURCES["mushroom"], rules.mushroom),
    "rice": _Recipe(SOURCES["rice"], rules.rice),
    "car": _Recipe(SOURCES["car"], rules.car),
    "digit-24": _Recipe(SOURCES["digit"], rules.digit_24),
    "covertype": _Recipe(SOURCES["covertype"], rules.covertype),
    "zoo": _Recipe(SOURCES["zoo"], rules.zoo, 7),
    "wine-567": _Recipe(SOURCES["wine"], rules.wine_567, 3, "largest"),
    "letter": _Recipe(SOURCES["letter"], rules.letter, 4),
    "digit": _Recipe(SOURCES["digit"], rules.digit, 10, "largest"),
}


def names() -> tuple[str, ...]:
    """The names of the data sets, in the paper's order."""
    return tuple(_RECIPES)


def source(name: str) -> Source:
    """Where a data set comes from, without loading it.

    >>> source("digit-24").title
    'Optical Recognition of Handwritten Digits'
    """
    check_choice("name", name, names())
    return _RECIPES[name].source


def folder() -> Path:
    """Where UCI's files are kept by default: HYPERCLUS_DATA, or else the user's cache."""
    return store.place(None)[0]


def load(name: str, *, folder: store.Folder | None = None, progress: bool = False) -> Dataset:
    """Read a data set, fetching its files on first use.

    Parameters
    ----------
    name : str
        One of `names()`.
    folder : path, optional
        Where UCI's files are, or go when they are fetched; by default the folder named in the
        environment variable HYPERCLUS_DATA, or else the user's cache. Files that are there are
        used without a network, after a look at their sha256.
    progress : bool
        Show a bar while fetching (needs tqdm).

    Returns
    -------
    Dataset

    Raises
    ------
    InputError
        When the name is unknown, or a file in a folder of yours is not UCI's.
    DownloadError
        When files are missing and cannot be fetched; it says where to put them by hand.
    """
    paths = fetch(name, folder=folder, progress=progress)
    recipe = _RECIPES[name]
    table, classes = recipe.read(*paths.values())
    hypergraph = class_counts(Hypergraph.from_table(table, bins={}), classes)
    return Dataset(name, table, classes, hypergraph, recipe.k, recipe.strategy, recipe.source)


def fetch(name: str, *, folder: store.Folder | None = None, progress: bool = False) -> dict[str, Path]:
    """The paths of a data set's files by their names; missing ones are fetched.

    Parameters and errors as in `load`. A damaged file is fetched anew in the cache, and left alone,
    with an error, in a folder of yours.
    """
    origin = source(name)
    home, ours = store.place(folder)
    store.sweep(home, origin.files)
    found = {file: store.find(home, file) for file in origin.files}
    for file, (status, path) in found.items():
        if status == "damaged" and not ours:
            raise InputError(
                f"{path} is not UCI's {file.name}, its sha256 differs; move it away, and the right one "
                f"is fetched from {origin.archive}"
            )
    absent = [file for file, (status, _) in found.items() if status != "ok"]
    if absent:
        download(origin, absent, home, progress)
    return {file.name: home / file.name if file in absent else found[file][1] for file in origin.files}


def verify(name: str, *, folder: store.Folder | None = None) -> dict[str, store.Status]:
    """Whether each file of a data set is there and right: "ok", "missing" or "damaged"; fetches nothing."""
    home, _ = store.place(folder)
    return {file.name: store.find(home, file)[0] for file in source(name).files}
