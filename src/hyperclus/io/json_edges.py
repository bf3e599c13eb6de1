"""Hyperedges in JSON: lists of members, or objects of members by hyperedge, with or without weights."""

from typing import Any, Unpack

from hyperclus._runtime.files import StrPath, fault
from hyperclus._runtime.source import reading
from hyperclus.errors import Argument, InputError
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.hypergraph.incidence import PolicyOptions
from hyperclus.hypergraph.messages import shown
from hyperclus.io.json_text import BYTE_ORDER_MARK, parse_json
from hyperclus.io.shared import naming

SHAPES = 'a list of lists, or an object such as {"e": ["a", "b"]} or {"e": {"a": 2, "b": 1}}'


def read_json(path: StrPath, **policies: Unpack[PolicyOptions]) -> Hypergraph:
    r"""Read hyperedges from a JSON file, as `Hypergraph.from_edges` reads them in memory.

    The file holds a list with a list of members for each hyperedge, which are numbered 0, 1, ...; or an
    object with the members of each hyperedge by its name, as a list, or as an object of weights by member.
    Members are text or integers; 1 and "1" are different. Tables are read by `read_long` and `read_rows`,
    HIF files by `read_hif`.

    Parameters
    ----------
    path : file name
    **policies
        `duplicates`, `isolated` and `empty_edges` as in `Hypergraph.from_incidence`.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "papers.json")
    >>> _ = path.write_text('{"paper 1": {"ann": 2, "bob": 1}, "paper 2": {"bob": 1, "eve": 1}}')
    >>> read_json(path).edge_ids.tolist()
    ['paper 1', 'paper 2']
    """
    with reading(path) as file:
        data = file.read().removeprefix(BYTE_ORDER_MARK)
    with naming(path):
        edges = parse_json(data)
    if isinstance(edges, list) and edges and all(isinstance(one, dict) for one in edges):
        raise fault(path, InputError("this is a list of records; use ", Argument("format", "records")))
    if not isinstance(edges, list | dict):
        raise fault(path, f"hyperedges are {SHAPES}; this is {shown(edges)}")
    for name, members in edges.items() if isinstance(edges, dict) else enumerate(edges):
        _check_members(path, name, members)
    with naming(path):
        return Hypergraph.from_edges(edges, **policies)


def _check_members(path: StrPath, name: str | int, members: Any) -> None:
    where = f"hyperedge {shown(name)}"
    if not isinstance(members, list | dict):
        raise fault(path, f"{where}: its members are {shown(members)}; hyperedges are {SHAPES}")
    for member in members:
        if not isinstance(member, str | int) or isinstance(member, bool):
            problem = f"{where}: the member {shown(member)} is neither text nor an integer"
            raise fault(path, f"{problem}; correct it")
    for member, weight in members.items() if isinstance(members, dict) else ():
        if not isinstance(weight, int | float) or isinstance(weight, bool):
            problem = f"{where}: the weight of {shown(member)} is {shown(weight)}, not a number"
            raise fault(path, f"{problem}; correct it, or write a table as a list of records")
