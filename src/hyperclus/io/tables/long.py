"""Long tables in files, a row per incidence: CSV and TSV, gzipped or not, and Parquet."""

import os
import re
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Literal, get_args

import numpy as np

from hyperclus._runtime.arrays import blocks
from hyperclus._runtime.files import StrPath, fault, writing
from hyperclus.errors import Argument, InputError, LossWarning, check_choice
from hyperclus.hypergraph.hypergraph import Hypergraph, check_hypergraph
from hyperclus.hypergraph.ids import object_array
from hyperclus.hypergraph.messages import named, shown
from hyperclus.io.tables.encode import WHOLE, arrow, assemble
from hyperclus.io.tables.files import PARQUET, Decimal, ParquetTable, TableFile, TextTable, told_delimiter
from hyperclus.typing import AbsencePolicy, Codes, DuplicatePolicy, Ids

SIMPLE = re.compile(r"[\w.:/@+-]+")  # needs no quotes

IdPolicy = Literal["guess", "text"]
TableFormat = Literal["csv", "tsv", "parquet"]


def read_long(
    path: StrPath,
    *,
    format: TableFormat | None = None,  # noqa: A002
    vertex: str = "vertex",
    edge: str = "edge",
    weight: str | Literal[False] | None = None,
    edge_weight: str | Literal[False] | None = None,
    delimiter: str | None = None,
    decimal: Decimal = ".",
    ids: IdPolicy = "guess",
    vertex_ids: Iterable[Any] | None = None,
    edge_ids: Iterable[Any] | None = None,
    duplicates: DuplicatePolicy = "error",
    isolated: AbsencePolicy = "error",
    empty_edges: AbsencePolicy = "error",
) -> Hypergraph:
    r"""From a file with a row per incidence, as `Hypergraph.from_long` makes it from a table in memory.

    The file is gone through twice, in batches, and never held. Parquet took less than twice the memory of
    the hypergraph with its ids (10 million incidences, ids that are text or integers close together);
    integers far apart take more, about 2.5 times, and CSV about 5 times.

    Parameters
    ----------
    path : file name
        .csv, .tsv (also gzipped) or .parquet. Several Parquet files with the same columns make one table:
        a folder of them, or a pattern such as "part-*.parquet", in the order of their names.
    format : {"csv", "tsv", "parquet"}, optional
        By default the name tells.
    vertex, edge : column names
    weight : column name, optional
        The column of gamma; by default "weight" where there is one, otherwise gamma = 1. False: gamma = 1
        in any case. A row with gamma = 0 makes no member.
    edge_weight : column name, optional
        The column of omega, which must be the same in all rows of a hyperedge; by default "edge_weight"
        where there is one, otherwise omega = 1. False: omega = 1 in any case.
    delimiter : one character, optional
        Of text. By default a tab for TSV; for CSV a comma, or a semicolon, a bar or a tab where the first
        records tell that it is one. With it, text may have any name.
    decimal : {".", ","}
        Of weights in text.
    ids : {"guess", "text"}
        Text has no integers. Where every id of a column looks like one (as Python writes it, within 64
        bits: 7 and -7, not 007), they become integers; "text" leaves them as they are.
    vertex_ids, edge_ids, duplicates, isolated, empty_edges
        As in `Hypergraph.from_long`.

    Raises
    ------
    InputError
        Naming the file, the line (in Parquet the row, from 0) and the remedy: for rows that are too long or
        too short, quotes left open, text that is not UTF-8, missing ids, weights that are negative, missing
        or no finite number, and all that `Hypergraph.from_long` refuses.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "papers.csv")
    >>> _ = path.write_text("author,paper,share\nann,1,2\nbob,1,1\nbob,2,1\n")
    >>> h = read_long(path, vertex="author", edge="paper", weight="share")
    >>> h, h.edge_ids.tolist()
    (Hypergraph(2 vertices, 2 hyperedges, 3 incidences), [1, 2])
    """
    check_choice("ids", ids, get_args(IdPolicy))
    check_choice("decimal", decimal, get_args(Decimal))
    check_choice("duplicates", duplicates, get_args(DuplicatePolicy))
    for argument, policy in (("isolated", isolated), ("empty_edges", empty_edges)):
        check_choice(argument, policy, get_args(AbsencePolicy))
    source = open_table(path, format, delimiter, decimal)
    hypergraph = assemble(
        source,
        source.column(vertex),
        source.column(edge),
        source.optional_column(weight, "weight", (vertex, edge)),
        source.optional_column(edge_weight, "edge_weight", (vertex, edge, weight)),
        guess=ids == "guess" and source.text,
        vertex_ids=vertex_ids,
        edge_ids=edge_ids,
        duplicates=duplicates,
        isolated=isolated,
        empty_edges=empty_edges,
    )
    source.check_unchanged()
    return hypergraph


def write_long(
    hypergraph: Hypergraph,
    path: StrPath,
    *,
    format: TableFormat | None = None,  # noqa: A002
    vertex: str = "vertex",
    edge: str = "edge",
    weight: str = "weight",
    edge_weight: str = "edge_weight",
) -> None:
    """Write a row per incidence; `read_long` gives the same ids and, to the last bit, the same weights.

    Hyperedges come one after the other. The column of omega is only written where some omega is not 1.

    Parameters
    ----------
    hypergraph : Hypergraph
    path : file name
        .csv, .tsv, .csv.gz, .tsv.gz or .parquet.
    format : {"csv", "tsv", "parquet"}, optional
        By default the name tells.
    vertex, edge, weight, edge_weight : column names

    Raises
    ------
    InputError
        For ids that would not come back: a column holds integers or text, not both, nor anything else. In
        CSV and TSV, text must not look like integers throughout ("1", "2"); Parquet keeps that.

    Warns
    -----
    LossWarning
        Naming vertices in no hyperedge and hyperedges without members, which have no row; and when the
        vertices will come back in another order, that of first appearance. `read_long` with `vertex_ids`
        and `edge_ids` restores all three.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "papers.csv")
    >>> write_long(Hypergraph.from_edges({"paper 1": {"ann": 2, "bob": 1}, "paper 2": ["bob"]}), path)
    >>> print(path.read_text())
    vertex,edge,weight
    ann,"paper 1",2.0
    bob,"paper 1",1.0
    bob,"paper 2",1.0
    <BLANKLINE>
    """
    check_hypergraph(hypergraph)
    names = [vertex, edge, weight, edge_weight]
    if len(set(names)) < len(names) or not all(isinstance(name, str) and _encodes(name) for name in names):
        raise InputError(f"the column names must be different texts; got {shown(names)}")
    if (hypergraph.edge_weights == 1).all():
        names.pop()
    separator = delimiter_of(path, format, None)
    for ids, what in ((hypergraph.vertex_ids, "vertex"), (hypergraph.edge_ids, "edge")):
        _check_ids(path, ids, what, separator is not None)
    _warn_of_loss(hypergraph, path)
    with writing(path) as handle:
        if separator is None:
            _write_parquet(hypergraph, handle, names)
        else:
            _write_text(hypergraph, handle, names, separator)


def open_table(
    path: StrPath,
    format: TableFormat | None,  # noqa: A002
    delimiter: str | None,
    decimal: Decimal = ".",
) -> TableFile:
    """A table of which the header has been read."""
    separator = delimiter_of(path, format, delimiter)
    if separator is None:
        return ParquetTable(path)
    if delimiter is None and separator == ",":
        separator = told_delimiter(path)
    return TextTable(path, separator, decimal)


def delimiter_of(path: StrPath, format: str | None, given: str | None) -> str | None:  # noqa: A002
    """What separates the fields of text; None: Parquet."""
    if given is not None and not (
        isinstance(given, str) and len(given) == 1 and given.isascii() and given not in '"\r\n\0'
    ):
        raise InputError(
            Argument("delimiter"), f" must be one ASCII character, no quote or line end; got {shown(given)}"
        )
    if format is not None:
        check_choice("format", format, get_args(TableFormat))
    ending = Path(path).name.lower().removesuffix(".gz")
    if format == "parquet" or (format is None and (ending.endswith(PARQUET) or os.path.isdir(path))):
        return None
    if given is not None:
        return given
    if format is None and not ending.endswith((".csv", ".tsv")):
        endings = "the name must end with .csv, .tsv, .csv.gz, .tsv.gz or .parquet; or use "
        raise fault(path, InputError(endings, Argument("format")))
    return "\t" if format == "tsv" or (format is None and ending.endswith(".tsv")) else ","


def _check_ids(path: StrPath, ids: Ids, what: str, text: bool) -> None:
    """Refuse ids that `read_long` would not give back."""
    if ids.dtype != object:
        return
    values = ids.tolist()
    other = next((value for value in values if not isinstance(value, str)), None)
    if other is not None:
        mixed = isinstance(other, int) and not isinstance(other, bool)
        why = "not text as others are; use HIF" if mixed else "neither text nor an integer; rename it"
        raise fault(path, f"{what} id {shown(other)} is {why}, a column of a long table cannot hold it")
    broken = next((value for value in values if not _encodes(value)), None)
    if broken is not None:
        raise fault(path, f"{what} id {shown(broken)} has half a character and cannot be written; rename it")
    whole = re.compile(WHOLE.replace(r"\z", r"\Z"))
    if text and all(whole.match(value) and -(2**63) <= int(value) < 2**63 for value in values):
        raise fault(
            path,
            f"{what} id {shown(values[0])} is text, but it and all others would be read as integers; "
            "write .parquet, which tells them apart",
        )


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _warn_of_loss(hypergraph: Hypergraph, path: StrPath) -> None:
    covered, empty = hypergraph.covered, hypergraph.edge_sizes == 0
    lost = []
    if not covered.all():
        lost.append(f"vertex {named(hypergraph.vertex_ids, ~covered)}, which no hyperedge holds")
    if empty.any():
        lost.append(f"hyperedge {named(hypergraph.edge_ids, empty)}, which has no members")
    # Every vertex must be new when it is larger than all before it.
    highest, news = -1, 0
    for block in blocks(hypergraph.n_incidences):
        running = np.maximum.accumulate(hypergraph.gamma.indices[block])
        news += int(np.count_nonzero(np.diff(np.maximum(running, highest), prepend=highest)))
        highest = max(highest, int(running[-1]))
    if news < covered.sum():
        lost.append("the order of the vertices")
    if lost:
        warnings.warn(
            f"{os.fspath(path)}: a long table does not hold {'; nor '.join(lost)}; write .npz or "
            ".json to keep everything",
            LossWarning,
            stacklevel=3,
        )


def _incidences(hypergraph: Hypergraph) -> Iterator[tuple[slice, Codes, Codes]]:
    """Blocks of incidences: where they are in gamma, their vertices and their hyperedges."""
    gamma = hypergraph.gamma
    for block in blocks(hypergraph.n_incidences):
        places = np.arange(block.start, block.stop)
        yield block, gamma.indices[block], np.searchsorted(gamma.indptr, places, side="right") - 1


def _write_text(hypergraph: Hypergraph, handle: BinaryIO, names: list[str], delimiter: str) -> None:
    vertices = object_array([_quoted(value) for value in hypergraph.vertex_ids.tolist()])
    edges = object_array([_quoted(value) for value in hypergraph.edge_ids.tolist()])
    handle.write((delimiter.join(map(_quoted, names)) + "\n").encode())
    for block, inside, around in _incidences(hypergraph):
        columns = [vertices[inside], edges[around], map(repr, hypergraph.gamma.data[block].tolist())]
        if len(names) == 4:
            columns.append(map(repr, hypergraph.edge_weights[around].tolist()))
        lines = map(delimiter.join, zip(*columns, strict=True))
        handle.write(("\n".join(lines) + "\n").encode())


def _quoted(value: str | int) -> str:
    text = str(value)
    return text if SIMPLE.fullmatch(text) else '"' + text.replace('"', '""') + '"'


def _write_parquet(hypergraph: Hypergraph, handle: BinaryIO, names: list[str]) -> None:
    pa, pq = arrow(), arrow("pyarrow.parquet")
    vertices, edges = (
        pa.array(ids, pa.large_string() if ids.dtype == object else pa.int64())
        for ids in (hypergraph.vertex_ids, hypergraph.edge_ids)
    )
    kinds = [vertices.type, edges.type, pa.float64(), pa.float64()][: len(names)]
    schema = pa.schema(list(zip(names, kinds, strict=True)))
    with pq.ParquetWriter(handle, schema, write_page_checksum=True) as writer:
        for block, inside, around in _incidences(hypergraph):
            columns = [vertices.take(pa.array(inside)), edges.take(pa.array(around))]
            columns.append(pa.array(hypergraph.gamma.data[block]))
            if len(names) == 4:
                columns.append(pa.array(hypergraph.edge_weights[around]))
            writer.write_table(pa.table(columns, schema=schema))
