"""Read and write files of any format, and detect the format of a file."""

import inspect
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, get_args

from hyperclus._runtime.files import InputFile, StrPath, check_path, fault, plain_name
from hyperclus._runtime.source import input_file, is_excel, reading
from hyperclus.errors import Argument, InputError
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.hypergraph.messages import no_column, shown
from hyperclus.hypergraph.weighting import transform_weights
from hyperclus.io.anything import as_hypergraph
from hyperclus.io.hif import read_hif, write_hif
from hyperclus.io.json_edges import read_json
from hyperclus.io.json_text import json_kind
from hyperclus.io.lines import read_lines
from hyperclus.io.npz import read_npz, write_npz
from hyperclus.io.numeric_text import read_hmetis, read_matrix_market, write_hmetis, write_matrix_market
from hyperclus.io.shared import naming
from hyperclus.io.tables import excel, open_table, parquet, records
from hyperclus.io.tables.long import WHICH_COLUMNS, list_column, read_long
from hyperclus.io.tables.long_writer import write_long
from hyperclus.io.tables.table import Table
from hyperclus.io.tables.text import read_text
from hyperclus.io.tables.wide import read_rows
from hyperclus.typing import HypergraphLike

SNIFFED_BYTES = 4096  # used to detect the format
MAGIC = {b"PAR1": "parquet", b"PK\x03\x04": "npz", b"%%MatrixMarket": "mtx"}
BINARY = ("parquet", "excel", "npz")  # formats that are not text


@dataclass(frozen=True, slots=True)
class Format:
    """A file format."""

    name: str
    title: str
    suffixes: tuple[str, ...]  # lower-case ends of file names, before .gz; without any, it is not guessed
    read: Callable[..., Hypergraph]
    write: Callable[..., None] | None  # None if the format can only be read


FORMATS = {
    one.name: one
    for one in (
        Format("csv", "long table, comma-separated", (".csv",), read_long, write_long),
        Format("tsv", "long table, tab-separated", (".tsv",), read_long, write_long),
        Format("parquet", "long table, Parquet", parquet.SUFFIXES, read_long, write_long),
        Format("records", "long table, JSON Lines or a list of objects", records.SUFFIXES, read_long, None),
        Format("excel", "long table, Excel", excel.SUFFIXES, read_long, None),
        Format("rows", "table with a row per vertex: CSV, TSV, Parquet, JSON, Excel", (), read_rows, None),
        Format("text", "documents in a column, words as hyperedges", (), read_text, None),
        Format("lines", "text with a hyperedge per line", (), read_lines, None),
        Format("json", "hyperedges as JSON lists or objects", (), read_json, None),
        Format("hif", "Hypergraph Interchange Format, JSON", (".json", ".hif"), read_hif, write_hif),
        Format("hmetis", "hMETIS", (".hgr", ".hmetis"), read_hmetis, write_hmetis),
        Format("mtx", "Matrix Market", (".mtx", ".mm"), read_matrix_market, write_matrix_market),
        Format("npz", "NumPy archive, lossless", (".npz",), read_npz, write_npz),
    )
}


def read(
    path: StrPath,
    *,
    format: str | None = None,  # noqa: A002
    encoding: str | None = None,
    weight_transform: str | None = None,
    **options: Any,
) -> Hypergraph:
    r"""Read a hypergraph from a file: a table, JSON, text, HIF, hMETIS, Matrix Market or npz.

    Parameters
    ----------
    path : path
        Text may be compressed by gzip, bzip2, xz or zstd. "-" is standard input.
    format : str, optional
        By default guessed from the name or the content. Tables with a row per incidence are "csv", "tsv",
        "parquet", "records" (JSON Lines, or a JSON list of objects) and "excel"; "rows" is any of these
        with a row per vertex, "text" with a document in a column. "lines" is text with a hyperedge per
        line, "json" has hyperedges as lists or objects. The others are "hif", "hmetis", "mtx" and "npz".
    encoding : str, optional
        Encoding of text, such as "cp1252", "latin-1" or "utf-16". By default that of a byte order mark, and
        UTF-8 without one.
    weight_transform : str, optional
        "log1p", "sqrt", "clip:99%" or "clip:100", see `hyperclus.transform_weights`.
    **options
        Options of the format, such as `vertex="author", edge="paper"` for long tables; see `hyperclus.io`.

    Raises
    ------
    InputError
        If the file cannot be read, with the file and the line.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "papers.csv"
    >>> _ = path.write_text("author,paper,share\nann,p1,3\nbob,p1,1\nbob,p2,1\n")
    >>> read(path, vertex="author", edge="paper", weight="share")
    Hypergraph(2 authors, 2 papers, 3 incidences)
    """
    source = input_file(path, encoding)
    chosen = find_format(source, format)
    known = known_options(chosen.read, options, chosen)
    if format is None and (table := wide_table(source, chosen, options)) is not None:
        absent = next(name for name in ("vertex", "edge") if name not in {*table.names, *options})
        parts = (*WHICH_COLUMNS, ", or use ", Argument("format", "rows"), " if each row is a vertex")
        raise fault(table.path, InputError(f"{no_column(absent, table.names)}; ", *parts))
    hypergraph = chosen.read(source, **known)
    return hypergraph if weight_transform is None else transform_weights(hypergraph, weight_transform)


def find_format(source: StrPath, name: str | None) -> Format:
    """Return the format of a file to read, by its name if given; refuse an encoding for a binary one."""
    chosen = named_format(source, name) or guess(source)
    if isinstance(source, InputFile) and source.encoding and chosen.name in BINARY:
        wrong = f" is for text, and this is {chosen.name}; leave it out"
        raise fault(source, InputError(Argument("encoding"), wrong))
    return chosen


def write(hypergraph: HypergraphLike, path: StrPath, *, format: str | None = None, **options: Any) -> None:  # noqa: A002
    """Write a hypergraph to a file, atomically; by default the name determines the format.

    A `LossWarning` names what the format cannot hold.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "h.npz"
    >>> write(Hypergraph.from_edges([["a", "b"], ["b", "c"]]), path)
    >>> read(path).vertex_ids.tolist()
    ['a', 'b', 'c']
    """
    hypergraph = as_hypergraph(hypergraph)
    chosen = named_format(path, format) or by_name(path)
    if chosen is None:
        suffixes = ", ".join(suffix for one in FORMATS.values() for suffix in one.suffixes)
        message = f"the name does not determine a format; use one of the endings {suffixes}, or use "
        raise fault(path, InputError(message, Argument("format", for_writing=True)))
    if chosen.write is None:
        raise fault(path, f"the format {chosen.name} can be read, not written; choose another one")
    with naming(path):
        chosen.write(hypergraph, path, **known_options(chosen.write, options, chosen))


def guess(path: StrPath) -> Format:
    """Return the format of an existing file by its name or its content; a folder is a Parquet table."""
    if (found := by_name(path)) is not None:
        return FORMATS[json_kind(path)] if plain_name(path).endswith(".json") else found
    if os.path.isdir(path):
        return FORMATS["parquet"]
    if is_excel(path):
        return FORMATS["excel"]
    with reading(path) as content:
        start = content.read(SNIFFED_BYTES).removeprefix(b"\xef\xbb\xbf").lstrip()
    for magic, name in MAGIC.items():
        if start.startswith(magic):
            return FORMATS[name]
    if start[:1] in (b"[", b"{"):
        return FORMATS[json_kind(path)]
    first = start.split(b"\n")[0]
    if any(sign in first for sign in (b"\t", b",", b";", b"|")):
        return FORMATS["tsv" if b"\t" in first else "csv"]
    message = "neither the name nor the content determines the format; use "
    if b"\0" not in start and any(len(line.split()) > 1 for line in start.splitlines()):
        lines = (Argument("format", "lines"), " if each line is a hyperedge, or ")
        raise fault(
            path, InputError(message, *lines, Argument("format"), f" with one of {', '.join(FORMATS)}")
        )
    raise fault(path, InputError(message, Argument("format"), f", one of {', '.join(FORMATS)}"))


def wide_table(path: StrPath, chosen: Format, options: Mapping[str, Any]) -> Table | None:
    """Open a table with a row per vertex: no column of vertices or hyperedges, and none named; else None."""
    if chosen.read is not read_long or {"vertex", "edge"} <= options.keys():
        return None
    if options.get("split"):
        return None
    named: Any = None if chosen.name in ("csv", "tsv") else chosen.name
    table = open_table(path, named, delimiter=options.get("delimiter"), sheet=options.get("sheet"))
    is_long = table.delimiter_hint() is not None or {"vertex", "edge"} <= {*table.names, *options}
    is_long = is_long or list_column(table, options.get("vertex"), options.get("edge")) is not None
    meant = {name.strip().lower(): name for name in table.names}
    if not is_long and {"vertex", "edge"} <= {*meant, *options}:  # such as Vertex, or a space before it
        names = [meant.get(name, options.get(name)) for name in ("vertex", "edge")]
        problem = f"the columns {shown(names[0])} and {shown(names[1])} must be named exactly vertex and edge"
        ways = (Argument("vertex", names[0]), " and ", Argument("edge", names[1]), ", or ")
        rows = (Argument("format", "rows"), " if each row is a vertex")
        raise fault(path, InputError(f"{problem}; rename them, or use ", *ways, *rows))
    return None if is_long else table


def by_name(path: StrPath) -> Format | None:
    """Return the format that the name of a file determines, or None."""
    name = plain_name(path)
    return next((one for one in FORMATS.values() if name.endswith(one.suffixes)), None)


def named_format(path: Any, name: Any) -> Format | None:
    """Check a path and the name of a format, and return that format."""
    check_path(path)
    if not os.fspath(path):
        raise InputError("the name of the file is empty; give one")
    if "://" in os.fspath(path) and not os.path.exists(path):
        raise fault(path, "this is an address, not a file; download it first")
    if name is not None and not (isinstance(name, str) and name in FORMATS):
        raise InputError(f"there is no format {name!r}; choose from {', '.join(FORMATS)}")
    return None if name is None else FORMATS[name]


def known_options(function: Callable[..., Any], options: dict[str, Any], chosen: Format) -> dict[str, Any]:
    """Check the options of a function, and add the name of the format if it has such a parameter."""
    parameters = inspect.signature(function).parameters
    known = [name for name, one in parameters.items() if one.kind is one.KEYWORD_ONLY and name != "format"]
    for one in parameters.values():
        if one.kind is one.VAR_KEYWORD:  # annotated with Unpack[a TypedDict]
            known += get_args(one.annotation)[0].__annotations__
    for name in options:
        if name not in known:
            has = ", ".join(known) or "none"
            raise InputError(f"the format {chosen.name} has no option {name!r}; it has {has}")
    return {**options, "format": chosen.name} if "format" in parameters else options
