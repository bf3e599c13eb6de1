"""What is known of each vertex: classes and clusters, from a column of the data or a file of their own."""

from pathlib import Path
from typing import Any

from hyperclus._runtime.files import fault
from hyperclus.hypergraph.messages import caption, shown
from hyperclus.io.tables import sniff_table
from hyperclus.io.tables.encode import read_ids
from hyperclus.io.tables.schema import check_present, read_columns
from hyperclus.io.tables.table import Table
from hyperclus.io.tables.wide import RepeatPolicy, unique_ids
from hyperclus.typing import Codes, Ids


def of_rows(
    source: Table, label: str, vertex: str | None, guess: bool, repeated: RepeatPolicy
) -> dict[Any, Any]:
    """A column of a table with a row per vertex, by vertex id."""
    labels = _labels(source, label, "class")
    ids = range(len(labels)) if vertex is None else unique_ids(source, vertex, guess, repeated).tolist()
    return dict(zip(ids, labels, strict=True))


def of_incidences(source: Table, label: str, vertex: str, guess: bool) -> dict[Any, Any]:
    """A column of a table with a row per incidence, the same in all rows of a vertex, by vertex id."""
    codes, vertices = read_ids(source, source.column(vertex), guess)
    classes = _one_each(source, label, codes, vertices, _labels(source, label, "class"))
    return dict(zip(vertices.tolist(), classes, strict=True))


def of_file(path: Path, vertices: Ids, what: str, columns: tuple[str, str] | None) -> list[Any]:
    """A file with a column of vertices and one of classes or clusters, for each of these vertices.

    Ids are compared as they are written: 7 in a hypergraph is 7 in a file of text.

    Parameters
    ----------
    what : str
        "class" or "cluster", for messages.
    columns : pair of column names, or None
        None: there must be two, the vertices in the first.
    """
    if path.suffix.lower() in (".json", ".xlsx", ".xls"):
        raise fault(
            path, f"this must be CSV, TSV or Parquet, with a column of vertices and one of {what} names"
        )
    source = sniff_table(path)
    if columns is None:
        if len(source.names) != 2:
            raise fault(
                path, f"this must have two columns, the vertex and its {what}; it has {len(source.names)}"
            )
        columns = (source.names[0], source.names[1])
    key, label = (source.column(name) for name in columns)
    codes, ids = read_ids(source, key, False)
    values = _one_each(source, label, codes, ids, _labels(source, label, what))
    known = dict(zip(map(caption, ids.tolist()), values, strict=True))
    written = list(map(caption, vertices.tolist()))
    if len(set(written)) < len(written):
        twice = next(text for text in written if written.count(text) > 1)
        raise fault(path, f"two vertices are written {shown(twice)} and cannot be told apart; rename one")
    for text in written:
        if text not in known:
            raise fault(path, f"vertex {shown(text)} has no {what}; give one for each vertex")
    if len(known) > len(written):
        other = next(iter(known.keys() - set(written)))
        raise fault(path, f"{shown(other)} is no vertex of the hypergraph; leave the row out")
    return [known[text] for text in written]


def _labels(source: Table, label: str, what: str) -> list[Any]:
    """A column without gaps."""
    (column,) = read_columns(source, [source.column(label)])
    check_present(source, column, what, "fill it or leave the row out")
    return list(column.values.to_pylist())


def _one_each(source: Table, label: str, codes: Codes, vertices: Ids, labels: list[Any]) -> list[Any]:
    """The label of each vertex; two different ones are an `InputError` that names the vertex."""
    found: dict[int, Any] = {}
    for row, (code, value) in enumerate(zip(codes.tolist(), labels, strict=True)):
        before = found.setdefault(code, value)
        if before != value:
            raise source.fault(
                f"column {shown(label)}: vertex {shown(vertices[code])} has {shown(value)}, and "
                f"{shown(before)} in an earlier row; give each vertex one",
                row,
            )
    return [found[code] for code in range(len(vertices))]
