"""A HIF document as a value: all that a file says, in columns; and the writing of HIF files."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from hyperclus._runtime.files import StrPath, writing
from hyperclus.errors import Argument, InputError, check_choice
from hyperclus.hypergraph.hypergraph import Hypergraph, check_hypergraph
from hyperclus.hypergraph.ids import factorize, object_array
from hyperclus.hypergraph.messages import shown
from hyperclus.typing import AbsencePolicy, Booleans, DuplicatePolicy, Floats, Ids

Attributes: TypeAlias = dict[int, dict[str, Any]]
IdPolicy: TypeAlias = Literal["error", "text"]

NETWORK_TYPES = ("undirected", "directed", "asc")
DIRECTIONS = ("", "head", "tail")
LINES = 10_000  # are written at once


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Items:
    """The entries of "nodes" or "edges", in the order of the file.

    Attributes
    ----------
    ids : array of shape (n,)
        Text and integers.
    weights : array of shape (n,)
        NaN where the entry has none.
    attrs : dict
        From the position of an entry to its attrs, for those that have some.
    """

    ids: Ids
    weights: Floats
    attrs: Attributes


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Incidences:
    """The entries of "incidences", in the order of the file.

    Attributes
    ----------
    edges, nodes : arrays of shape (m,)
        The ids of each incidence, text and integers.
    weights : array of shape (m,)
        gamma; NaN where the entry has none.
    directions : array of shape (m,)
        "head", "tail", or "" where the entry has none.
    attrs : dict
        From the position of an incidence to its attrs, for those that have some.
    """

    edges: Ids
    nodes: Ids
    weights: Floats
    directions: NDArray[np.str_]
    attrs: Attributes


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class HIF:
    """All that a HIF file says, nothing added: what the file leaves out is None, or NaN among weights.

    Get one from `read_hif_document`, turn it into a hypergraph with `hypergraph`, write it with
    `write_hif_document`. Weights are held in double precision. To change a document, make another with
    `dataclasses.replace`.

    Attributes
    ----------
    incidences : Incidences
    nodes, edges : Items or None
    network_type : {"undirected", "directed", "asc"} or None
    metadata : dict or None

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from hyperclus.io.hif import read_hif_document
    >>> text = '{"incidences": [{"edge": "e", "node": 1, "weight": 2}], "nodes": [{"node": 5, "weight": 7}]}'
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "small.json")
    ...     _ = path.write_text(text)
    ...     document = read_hif_document(path)
    >>> document
    HIF(1 incidences, 1 nodes listed, 0 edges listed)
    >>> document.nodes.weights.tolist(), document.network_type
    ([7.0], None)
    >>> document.hypergraph().vertex_ids.tolist()
    [5, 1]
    """

    incidences: Incidences
    nodes: Items | None = None
    edges: Items | None = None
    network_type: Literal["undirected", "directed", "asc"] | None = None
    metadata: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        if self.network_type is not None:
            check_choice("network_type", self.network_type, NETWORK_TYPES)
        if not (self.metadata is None or isinstance(self.metadata, dict)):
            raise InputError(f"metadata must be a dict, not {shown(self.metadata)}")
        if not np.isin(self.incidences.directions, DIRECTIONS).all():
            raise InputError("directions must be 'head', 'tail' or ''")
        for section in (self.incidences, self.nodes, self.edges):
            if section is not None and np.isinf(section.weights).any():
                raise InputError("weights must be finite, or NaN where there is none; correct them")

    def __repr__(self) -> str:
        listed = [0 if items is None else len(items.ids) for items in (self.nodes, self.edges)]
        return (
            f"HIF({len(self.incidences.weights):,} incidences, {listed[0]:,} nodes listed, "
            f"{listed[1]:,} edges listed)"
        )

    @property
    def beyond_hypergraph(self) -> list[str]:
        """What the document says and a `Hypergraph` cannot hold, in words; empty if there is nothing."""
        sections = (self.incidences, self.nodes, self.edges)
        found = {
            "node weights": self.nodes is not None and not np.isnan(self.nodes.weights).all(),
            "attrs": any(any(section.attrs.values()) for section in sections if section),
            "metadata": bool(self.metadata),
            "directions": bool((self.incidences.directions != "").any()),
            f"the network type {self.network_type!r}": self.network_type not in (None, "undirected"),
        }
        return [name for name, present in found.items() if present]

    def hypergraph(
        self,
        *,
        duplicates: DuplicatePolicy = "error",
        isolated: AbsencePolicy = "keep",
        empty_edges: AbsencePolicy = "keep",
    ) -> Hypergraph:
        """The hypergraph: gamma from the incidences, omega from the edges, 1 where there is none.

        Vertices and hyperedges come in the order in which they are listed, then of first appearance. An
        incidence of weight 0 makes no member.

        Parameters
        ----------
        duplicates : {"error", "sum", "max"}
            What to do with a node that is in an edge more than once, such as one that is head and tail
            of it: refuse it, add up the weights, or take the largest.
        isolated, empty_edges : {"keep", "drop", "error"}
            What to do with nodes in no edge and edges without nodes. They are kept by default, because
            the file names them on purpose.

        Raises
        ------
        InputError
            Naming the place: for a negative weight of an incidence, a weight of an edge that is not
            positive, for the policies above, and where no vertex is in any hyperedge.
        """
        inside = self.incidences
        listed = self.edges.weights if self.edges is not None else np.empty(0)
        _refuse(inside.weights < 0, "incidences", inside.weights, "not be negative (0 means: not a member)")
        _refuse(listed <= 0, "edges", listed, "be positive, or leave the edge out")
        vertices, edges = _order(self.nodes, inside.nodes), _order(self.edges, inside.edges)
        omega = np.ones(len(edges))
        omega[: len(listed)] = _or_one(listed)
        return Hypergraph.from_long(
            {"node": inside.nodes, "edge": inside.edges, "weight": _or_one(inside.weights)},
            vertex="node",
            vertex_ids=vertices,
            edge_ids=edges,
            edge_weights=omega,
            duplicates=duplicates,
            isolated=isolated,
            empty_edges=empty_edges,
        )


def write_hif_document(document: HIF, path: StrPath) -> None:
    """Write a HIF file: one entry per line, UTF-8, numbers to the last bit; gzipped if it ends with .gz.

    `read_hif_document` gives the same document back. The file is there when it is complete, or not at all.

    Raises
    ------
    InputError
        When the file cannot be written, and for ids, attrs or metadata that JSON cannot hold as they are.
    """
    if not isinstance(document, HIF):
        raise InputError(
            f"a HIF document is needed, not a {type(document).__name__}; use write_hif for a Hypergraph"
        )
    with writing(path) as file:
        lines = _lines(document)
        while block := list(islice(lines, LINES)):
            file.write("".join(block).encode())


def write_hif(
    hypergraph: Hypergraph, path: StrPath, *, metadata: dict[str, Any] | None = None, ids: IdPolicy = "error"
) -> None:
    """Write a hypergraph as a HIF file; `read_hif` gives it back to the last bit.

    All vertices and hyperedges are listed, in their order. gamma is left out where it is 1 throughout,
    and so is omega. The file is gzipped if its name ends with .gz.

    Parameters
    ----------
    metadata : optional
        Anything that JSON can hold, by name.
    ids : {"error", "text"}
        HIF holds text and integers as ids. Others, such as the pairs that `from_table` makes, are refused,
        or written as `str` shows them.

    Raises
    ------
    InputError
        When the file cannot be written, and for ids or metadata that it cannot hold.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from hyperclus.io.hif import read_hif
    >>> h = Hypergraph.from_table({"colour": ["red", "red", "blue"]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "colours.json")
    ...     write_hif(h, file, ids="text")
    ...     read_hif(file).edge_ids.tolist()
    ["('colour', 'red')", "('colour', 'blue')"]
    """
    check_hypergraph(hypergraph)
    check_choice("ids", ids, get_args(IdPolicy))
    gamma, omega = hypergraph.gamma, hypergraph.edge_weights
    vertices = _writable(hypergraph.vertex_ids, "vertex", ids)
    edges = _writable(hypergraph.edge_ids, "edge", ids)
    incidences = Incidences(
        np.repeat(edges, hypergraph.edge_sizes),
        vertices[gamma.indices],
        np.where((gamma.data == 1).all(), np.nan, gamma.data),
        np.full(len(gamma.data), ""),
        {},
    )
    document = HIF(
        incidences,
        Items(vertices, np.full(len(vertices), np.nan), {}),
        Items(edges, np.where((omega == 1).all(), np.nan, omega), {}),
        "undirected",
        metadata,
    )
    write_hif_document(document, path)


def _lines(document: HIF) -> Iterator[str]:
    head = {"network-type": document.network_type, "metadata": document.metadata}
    yield "{\n"
    for key, value in head.items():
        if value is not None:
            yield f'"{key}": {_as_json(value, key)},\n'
    for key, items in (("nodes", document.nodes), ("edges", document.edges)):
        if items is not None:
            yield from _section(key, _item_lines(items, key))
            yield ",\n"
    yield from _section("incidences", _incidence_lines(document.incidences))
    yield "\n}\n"


def _section(key: str, entries: Iterator[str]) -> Iterator[str]:
    yield f'"{key}": ['
    comma = ""
    for entry in entries:
        yield f"{comma}\n{entry}"
        comma = ","
    yield "\n]" if comma else "]"


def _item_lines(items: Items, key: str) -> Iterator[str]:
    what = key[:-1]
    names, attrs = _Names(what), items.attrs
    for position, (item, weight) in enumerate(zip(items.ids.tolist(), items.weights.tolist(), strict=True)):
        line = f'{{"{what}": {names[item]}'
        yield line + _ending(weight, "", attrs, position, key)


def _incidence_lines(inside: Incidences) -> Iterator[str]:
    edge_names, node_names, attrs = _Names("edge"), _Names("node"), inside.attrs
    columns = (inside.edges, inside.nodes, inside.weights, inside.directions)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    for position, (edge, node, weight, direction) in enumerate(rows):
        line = f'{{"edge": {edge_names[edge]}, "node": {node_names[node]}'
        yield line + _ending(weight, direction, attrs, position, "incidences")


def _ending(weight: float, direction: str, attrs: Attributes, position: int, key: str) -> str:
    text = f', "weight": {weight!r}' if weight == weight else ""
    if direction:
        text += f', "direction": "{direction}"'
    if position in attrs:
        text += f', "attrs": {_as_json(attrs[position], f"{key}[{position}].attrs")}'
    return text + "}"


class _Names(dict[Any, str]):
    """From an id to its JSON, made when it is first asked for."""

    def __init__(self, what: str) -> None:
        super().__init__()
        self._what = what

    def __missing__(self, name: Any) -> str:
        if not _is_id(name):
            raise InputError(f"{self._what} id {shown(name)} is neither text nor an integer; rename it")
        text = self[name] = _as_json(name, f"{self._what} id")
        return text


def _is_id(value: Any) -> bool:
    """Whether HIF can hold the id: text or an integer; True and False are none."""
    return isinstance(value, str | int) and not isinstance(value, bool)


def _as_json(value: Any, place: str) -> str:
    """JSON on one line that reads back as the same value, as UTF-8 where that can hold it."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        try:
            text.encode()
        except UnicodeEncodeError:  # half a surrogate pair, which only an escape can write
            text = json.dumps(value, allow_nan=False)
        if json.loads(text) == value:
            return text
    except (TypeError, ValueError, RecursionError):
        pass
    try:
        what = shown(value)
    except ValueError:  # an integer of more digits than Python likes to write
        what = "a very large integer"
    raise InputError(
        f"{place}: {what} would not come back the same from JSON; use text, finite numbers, true, false, "
        "null, lists, and objects with text as keys"
    )


def _writable(ids: Ids, what: str, policy: IdPolicy) -> Ids:
    """The ids as HIF can hold them, still all different."""
    names = ids.tolist()
    for position, name in enumerate(names):
        if not _is_id(name):
            if policy == "error":
                raise InputError(
                    f"{what} id {shown(name)} is neither text nor an integer, and HIF holds no others; "
                    "rename it, or use ",
                    Argument("ids", "text", for_writing=True),
                    " to write such ids as text",
                )
            names[position] = str(name)
    written: set[Any] = set()
    for name in names:
        if name in written:
            raise InputError(f"two {what} ids become {shown(name)} as text; rename one of them")
        written.add(name)
    return object_array(names)


def _order(items: Items | None, used: Ids) -> Ids:
    """The ids in the order listed, then in the order of first appearance."""
    if items is None:
        return factorize(used, "id")[1]
    return factorize(items.ids.tolist() + used.tolist(), "id")[1]


def _or_one(weights: Floats) -> Floats:
    return np.where(np.isnan(weights), 1.0, weights)


def _refuse(wrong: Booleans, key: str, weights: Floats, rule: str) -> None:
    if wrong.any():
        first = int(np.argmax(wrong))
        raise InputError(f"{key}[{first}].weight is {weights[first]}; the weight must {rule}")
