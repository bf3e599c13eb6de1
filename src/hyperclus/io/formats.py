"""Any file to a `Hypergraph` and back: which format a file has, and who reads and writes it."""

import inspect
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hyperclus.errors import InputError
from hyperclus.hypergraph import Hypergraph, check_hypergraph
from hyperclus.io.files import Place, fault, reading
from hyperclus.io.hif import read_hif, write_hif
from hyperclus.io.hmetis import read_hmetis, write_hmetis
from hyperclus.io.long_table import read_long, write_long
from hyperclus.io.matrix_market import read_matrix_market, write_matrix_market
from hyperclus.io.npz import read_npz, write_npz

LOOK = 4096  # bytes of a file by which its format is guessed


@dataclass(frozen=True, slots=True)
class Format:
    """One way to keep a hypergraph in a file.

    Attributes
    ----------
    suffixes : tuple of str
        Of file names, in small letters; .gz may follow where the format is text.
    """

    name: str
    title: str
    suffixes: tuple[str, ...]
    read: Callable[..., Hypergraph]
    write: Callable[..., None]


FORMATS = {
    one.name: one
    for one in (
        Format("csv", "long table, comma-separated", (".csv",), read_long, write_long),
        Format("tsv", "long table, tab-separated", (".tsv",), read_long, write_long),
        Format("parquet", "long table, Parquet", (".parquet", ".pq"), read_long, write_long),
        Format("hif", "Hypergraph Interchange Format, JSON", (".json", ".hif"), read_hif, write_hif),
        Format("hmetis", "hMETIS", (".hgr", ".hmetis"), read_hmetis, write_hmetis),
        Format("mtx", "Matrix Market", (".mtx", ".mm"), read_matrix_market, write_matrix_market),
        Format("npz", "NumPy archive, lossless", (".npz",), read_npz, write_npz),
    )
}


def read(path: Place, *, format: str | None = None, **options: Any) -> Hypergraph:  # noqa: A002
    r"""The hypergraph in a file: a long table (CSV, TSV, Parquet), HIF, hMETIS, Matrix Market or npz.

    Parameters
    ----------
    path : path
        Text may be gzipped.
    format : {"csv", "tsv", "parquet", "hif", "hmetis", "mtx", "npz"}, optional
        By default guessed from the name, else from the content.
    **options
        Of the format, such as `vertex="author", edge="paper"` for long tables; see `hyperclus.io`.

    Raises
    ------
    InputError
        With the file and the line, for whatever cannot be read.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "papers.csv"
    >>> _ = path.write_text("author,paper,share\nann,p1,3\nbob,p1,1\nbob,p2,1\n")
    >>> read(path, vertex="author", edge="paper", weight="share")
    Hypergraph(2 vertices, 2 hyperedges, 3 incidences)
    """
    _check_path(path)
    chosen = _named(format) if format is not None else guess(path)
    return chosen.read(path, **_known(chosen.read, options, chosen))


def write(hypergraph: Hypergraph, path: Place, *, format: str | None = None, **options: Any) -> None:  # noqa: A002
    """Write a hypergraph to a file, whole or not at all; the format goes by the name unless given.

    What a format cannot hold is named in a `LossWarning`, or refused where nothing sensible would be left.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "h.npz"
    >>> write(Hypergraph.from_edges([["a", "b"], ["b", "c"]]), path)
    >>> read(path).vertex_ids.tolist()
    ['a', 'b', 'c']
    """
    check_hypergraph(hypergraph)
    _check_path(path)
    chosen = _named(format) if format is not None else by_name(path)
    if chosen is None:
        raise fault(
            path, f"the name does not tell a format; end it with one of {_suffixes()}, or give the format"
        )
    try:
        chosen.write(hypergraph, path, **_known(chosen.write, options, chosen))
    except InputError as error:
        if os.fspath(path) in str(error):
            raise
        raise fault(path, str(error)) from None


def guess(path: Place) -> Format:
    """The format of a file that is there: by its name, else by how it begins; a folder is one of Parquet."""
    found = by_name(path)
    if found is not None:
        return found
    if os.path.isdir(path):
        return FORMATS["parquet"]
    with reading(path) as content:
        start = content.read(LOOK).removeprefix(b"\xef\xbb\xbf").lstrip()
    for mark, name in (
        (b"PAR1", "parquet"),
        (b"PK\x03\x04", "npz"),
        (b"%%MatrixMarket", "mtx"),
        (b"{", "hif"),
    ):
        if start.startswith(mark):
            return FORMATS[name]
    first = start.split(b"\n")[0]
    if b"\t" in first or b"," in first:
        return FORMATS["tsv" if b"\t" in first else "csv"]
    raise fault(
        path,
        f"neither the name nor the content tells the format; give the format, one of {', '.join(FORMATS)}",
    )


def by_name(path: Place) -> Format | None:
    """The format that the name of a file tells, or None."""
    name = Path(os.fspath(path)).name.lower().removesuffix(".gz")
    return next((one for one in FORMATS.values() if name.endswith(one.suffixes)), None)


def _check_path(path: Any) -> None:
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"the name of a file is needed, not {type(path).__name__}")


def _named(name: str) -> Format:
    if name not in FORMATS:
        raise InputError(f"there is no format {name!r}; choose from {', '.join(FORMATS)}")
    return FORMATS[name]


def _suffixes() -> str:
    return ", ".join(suffix for one in FORMATS.values() for suffix in one.suffixes)


def _known(function: Callable[..., Any], options: dict[str, Any], chosen: Format) -> dict[str, Any]:
    """The options, and the format itself where the function takes several."""
    parameters = inspect.signature(function).parameters
    for name in options:
        if name not in parameters:
            known = ", ".join(name for name, one in parameters.items() if one.kind is one.KEYWORD_ONLY)
            raise InputError(f"the format {chosen.name} has no option {name!r}; it has {known or 'none'}")
    return {**options, "format": chosen.name} if "format" in parameters else options
