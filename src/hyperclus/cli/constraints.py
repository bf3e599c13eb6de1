"""Constraints on clusters from files: --fixed, --links and --max-share."""

from pathlib import Path
from typing import Any

from hyperclus._runtime.files import fault
from hyperclus.cli.ids import texts
from hyperclus.cli.options import Search
from hyperclus.clustering.constraints import Constraints
from hyperclus.errors import InputError
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.hypergraph.messages import caption, shown
from hyperclus.io.tables import open_table
from hyperclus.io.tables.encode import read_ids
from hyperclus.io.tables.schema import read_columns
from hyperclus.io.tables.table import Table

FIXED, LINKS = "the vertex and its cluster", "two vertices, and must or cannot"


def read_constraints(search: Search, hypergraph: Hypergraph) -> Constraints | None:
    """The constraints that the options of a search give; None if there are none."""
    ids = dict(zip(texts(hypergraph.vertex_ids), hypergraph.vertex_ids.tolist(), strict=True))
    given: dict[str, Any] = {"max_share": search.max_share}
    if search.fixed is not None:
        given["fixed"] = _fixed(search.fixed, ids)
    if search.links is not None:
        given |= _links(search.links, ids)
    return Constraints.of(given)


def _fixed(path: Path, ids: dict[str, Any]) -> dict[Any, Any]:
    """The cluster of each vertex in a file; rows without one are left out."""
    table = _open(path, FIXED, 2)
    found: dict[Any, Any] = {}
    clusters = _values(table, table.names[1])
    for row, (vertex, cluster) in enumerate(zip(_vertices(table, 0, ids), clusters, strict=True)):
        if cluster is not None and found.setdefault(vertex, cluster) != cluster:
            both = f"{shown(found[vertex])} and {shown(cluster)}"
            raise table.fault(f"vertex {shown(vertex)} is fixed to two clusters, {both}; keep one", row)
    return found


def _links(path: Path, ids: dict[str, Any]) -> dict[str, list[tuple[Any, Any]]]:
    table = _open(path, LINKS, 3)
    found: dict[str, list[tuple[Any, Any]]] = {"must_link": [], "cannot_link": []}
    ends = zip(_vertices(table, 0, ids), _vertices(table, 1, ids), strict=True)
    for row, (pair, kind) in enumerate(zip(ends, _values(table, table.names[2]), strict=True)):
        if kind not in ("must", "cannot"):
            raise table.fault(f"a link is must or cannot, not {shown(kind)}", row)
        found[f"{kind}_link"].append(pair)
    return found


def _open(path: Path, what: str, width: int) -> Table:
    table = open_table(path)
    if len(table.names) != width:
        raise fault(path, f"this must have {width} columns, {what}; it has {len(table.names)}")
    return table


def _vertices(table: Table, column: int, ids: dict[str, Any]) -> list[Any]:
    """The vertices in a column, which are compared as text."""
    codes, found = read_ids(table, table.names[column], False)
    try:
        known = [ids[caption(one)] for one in found.tolist()]
    except KeyError as unknown:
        raise table.fault(
            InputError(f"{shown(unknown.args[0])} is no vertex of the hypergraph; leave it out")
        ) from None
    return [known[code] for code in codes]


def _values(table: Table, name: str) -> list[Any]:
    (column,) = read_columns(table, [name], ".")
    return list(column.values.to_pylist())
