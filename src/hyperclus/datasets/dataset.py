"""Data sets by name: hypergraph, classes, and where they come from."""

from dataclasses import dataclass
from pathlib import Path

from hyperclus._runtime.arrays import read_only
from hyperclus.datasets import tables
from hyperclus.datasets.download import Folder, Status, data_folder, download, find
from hyperclus.datasets.registry import SOURCES, Source
from hyperclus.errors import InputError, check_choice, check_switch
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.io.npz import checked_array, opened_archive, read_npz, unpack_ids
from hyperclus.typing import Ids

PACKAGE = Path(__file__).with_name("files")
HYPERGRAPHS = ("southern-women", "house-committees", "cora", "dblp-titles", "pbmc68k")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Dataset:
    """A hypergraph with known groups.

    Attributes
    ----------
    name : str
        One of `names()`.
    hypergraph : Hypergraph
        For a table, a hyperedge per (feature, value) with gamma = 1; the weights of the paper, which count
        the classes, are those of `hyperclus.research.datasets.load`.
    classes : array
        The known group of each vertex, for `hc.agreement` and `Partition.agreement`.
    k : int
        The number of classes.
    table : dict or None
        For a table, its columns, binned where the paper bins.
    source : Source
        Title, description, licence, citation, address and, if there is one, a copyright notice.
    """

    name: str
    hypergraph: Hypergraph
    classes: Ids
    k: int
    table: tables.Table | None
    source: Source

    def __repr__(self) -> str:
        return f"Dataset({self.name!r}, k={self.k}, {self.hypergraph!r})"


def names() -> tuple[str, ...]:
    """The names of the data sets: the tables, in the paper's order, then the hypergraphs.

    >>> names()[9:]
    ('southern-women', 'house-committees', 'cora', 'dblp-titles', 'pbmc68k')
    """
    return (*tables.RULES, *HYPERGRAPHS)


def source(name: str) -> Source:
    """The source of a data set, without loading it.

    >>> source("digit-24").title, source("pbmc68k").licence
    ('Optical Recognition of Handwritten Digits', 'BSD-3-Clause')
    """
    check_choice("name", name, names())
    return tables.RULES[name].source if name in tables.RULES else SOURCES[name]


def load(
    name: str, *, from_source: bool = False, folder: Folder | None = None, progress: bool = False
) -> Dataset:
    """Load a data set from the package, without a network.

    Parameters
    ----------
    name : str
        One of `names()`.
    from_source : bool
        Read UCI's own files instead; see `fetch`. For the nine tables only.
    folder : path, optional
        The folder of UCI's own files; if it is given, they are read as with `from_source`.
    progress : bool
        Show a progress bar while downloading (needs tqdm).

    Raises
    ------
    InputError
        If the name is unknown, a file in the package is damaged, or a file in your own folder is not UCI's.
    DownloadError
        If UCI's files are asked for and cannot be downloaded; the message says where to put them by hand.

    Examples
    --------
    >>> data = load("zoo")
    >>> data.hypergraph, data.k
    (Hypergraph(101 vertices, 36 hyperedges, 1,616 incidences), 7)
    >>> data.source.licence, data.source.citation.split(".")[0]
    ('CC BY 4.0', 'Forsyth, R')
    """
    check_switch("from_source", from_source)
    if from_source or folder is not None:
        paths = fetch(name, folder=folder, progress=progress)
    else:
        paths = files(name)
    if name in tables.RULES:
        rule = tables.RULES[name]
        table, classes = tables.read(rule, paths.values())
        hypergraph = Hypergraph.from_table(table, bins=None)
        return Dataset(name, hypergraph, classes, rule.k, table, rule.source)
    (path,) = paths.values()
    with opened_archive(path) as (archive, _):
        classes = unpack_ids(checked_array(archive, "classes", ("|u1",)), "classes")
    k = len(set(classes.tolist()))
    return Dataset(name, read_npz(path), read_only(classes), k, None, SOURCES[name])


def files(name: str) -> dict[str, Path]:
    """Return the paths of a data set's files in the package by name, after a check of their sha256.

    The tables are UCI's own files, gzipped. Letter has the rows of four letters only, and covertype those of
    two classes and those with the largest value of a numeric column, which the bins need. The hypergraphs
    are archives for `hc.read`.

    >>> [path.name for path in files("digit").values()]
    ['optdigits.tra.gz', 'optdigits.tes.gz']
    """
    found = {file.name: find(PACKAGE, file.packaged) for file in source(name).files}
    for status, path in found.values():
        if status != "ok":
            raise InputError(f"{path} is {status}; install hyperclus again")
    return {file: path for file, (_, path) in found.items()}


def folder() -> Path:
    """The default folder of UCI's own files: HYPERCLUS_DATA if it is set, else the user's cache."""
    return data_folder(None)[0]


def fetch(name: str, *, folder: Folder | None = None, progress: bool = False) -> dict[str, Path]:
    """Return the paths of UCI's own files of a table by name; missing ones are downloaded.

    Parameters
    ----------
    name : str
        One of the nine tables.
    folder : path, optional
        Folder of the files; missing ones are downloaded to it. By default the folder in the environment
        variable HYPERCLUS_DATA, else the user's cache. Files that exist and have the right sha256 are used
        without a network. A damaged file in the cache is downloaded again; a damaged file in your own folder
        raises an error and is left alone.
    progress : bool
        Show a progress bar while downloading (needs tqdm).

    Raises
    ------
    InputError
        If the name is not that of a table of UCI, or a file in your own folder is not UCI's.
    DownloadError
        If files are missing and cannot be downloaded; the message says where to put them by hand.
    """
    origin = _of_uci(name)
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
    """Check each of UCI's own files of a table without downloading: "ok", "missing" or "damaged"."""
    origin = _of_uci(name)
    home, _ = data_folder(folder)
    return {file.name: find(home, file)[0] for file in origin.files}


def _of_uci(name: str) -> Source:
    """The source of a table; the hypergraphs are in the package only."""
    origin = source(name)
    if not origin.archive:
        raise InputError(f"{name} is complete in the package, only the tables of UCI have files elsewhere")
    return origin
