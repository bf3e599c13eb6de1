"""HIF files (Hypergraph Interchange Format, schema 0.1.0), a JSON format that several libraries read.

Beyond the schema, unknown or repeated keys, nodes or edges listed twice with different contents, and numbers
outside double precision are refused. Those listed twice with the same contents are merged.
"""

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from itertools import islice
from typing import Any, Literal, TypeAlias, Unpack, get_args

import numpy as np

from hyperclus._runtime.files import StrPath, fault, printable, writing
from hyperclus._runtime.source import reading
from hyperclus.errors import Argument, InputError, check_choice
from hyperclus.hypergraph.hypergraph import Hypergraph, check_hypergraph
from hyperclus.hypergraph.ids import factorize, id_array
from hyperclus.hypergraph.incidence import PolicyOptions
from hyperclus.hypergraph.messages import count, shown
from hyperclus.io.hif_parser import Incidences, Items, NetworkType, parse
from hyperclus.io.shared import lost_mixture, naming, warn_losses
from hyperclus.typing import Booleans, Floats, Ids

IdPolicy: TypeAlias = Literal["error", "text"]

BLOCK = 10_000  # lines to write at once


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class HIF:
    """The full content of a HIF file; a part that the file does not have is None.

    To change a document, create another with `dataclasses.replace`.
    """

    incidences: Incidences
    nodes: Items | None = None
    edges: Items | None = None
    network_type: NetworkType | None = None
    metadata: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        if self.network_type is not None:
            check_choice("network_type", self.network_type, get_args(NetworkType))
        if not (self.metadata is None or isinstance(self.metadata, dict)):
            raise InputError(f"metadata must be a dict, not {shown(self.metadata)}")
        if not np.isin(self.incidences.directions, ("", "head", "tail")).all():
            raise InputError("directions must be 'head', 'tail' or ''")
        for section in (self.incidences, self.nodes, self.edges):
            if section is not None and np.isinf(section.weights).any():
                raise InputError("weights must be finite, or NaN for no weight; correct them")

    def __repr__(self) -> str:
        nodes, edges = (0 if items is None else len(items.ids) for items in (self.nodes, self.edges))
        incidences = count(len(self.incidences.weights), "incidence")
        return f"HIF({incidences}, {count(nodes, 'node')} listed, {count(edges, 'edge')} listed)"

    @property
    def losses(self) -> list[str]:
        """What the document has and a `Hypergraph` cannot hold, in words."""
        sections = (self.incidences, self.nodes, self.edges)
        lost = {
            "node weights": self.nodes is not None and not np.isnan(self.nodes.weights).all(),
            "attrs": any(any(section.attrs.values()) for section in sections if section),
            "metadata": self.metadata,
            "directions": (self.incidences.directions != "").any(),
            f"the network type {self.network_type!r}": self.network_type not in (None, "undirected"),
        }
        return [name for name, is_lost in lost.items() if is_lost]

    def hypergraph(self, **policies: Unpack[PolicyOptions]) -> Hypergraph:
        """Convert to a `Hypergraph`; the arguments are those of `read_hif`."""
        inside, listed = self.incidences, np.empty(0) if self.edges is None else self.edges.weights
        vertex_ids, edge_ids = (
            factorize(used if items is None else items.ids.tolist() + used.tolist(), "id")[1]
            for items, used in ((self.nodes, inside.nodes), (self.edges, inside.edges))
        )
        omega = np.append(listed, np.full(len(edge_ids) - len(listed), np.nan))
        gamma = self._weights(inside.weights, inside.weights < 0, "incidences", "not be negative")
        return Hypergraph.from_long(
            {"vertex": inside.nodes, "edge": inside.edges, "weight": gamma},
            vertex_ids=vertex_ids,
            edge_ids=edge_ids,
            edge_weights=self._weights(omega, omega <= 0, "edges", "be positive"),
            **policies,
        )

    def _weights(self, weights: Floats, wrong: Booleans, section: str, rule: str) -> Floats:
        """Check the weights and replace missing ones by 1."""
        if wrong.any():
            first, total = int(np.argmax(wrong)), count(int(np.count_nonzero(wrong)), "such weight")
            place = f"{section}[{first}].weight is {weights[first]:g} ({total} in {self})"
            raise InputError(f"{place}; weights must {rule}, correct it")
        return np.where(np.isnan(weights), 1.0, weights)


def read_hif(path: StrPath, **policies: Unpack[PolicyOptions]) -> Hypergraph:
    """Read a hypergraph from a HIF file: gamma from the incidences, omega from the edges, 1 by default.

    Vertices and hyperedges are in the order in which the file lists them, then in order of first appearance.
    An incidence of weight 0 adds no member.

    Parameters
    ----------
    path : path
    **policies
        `duplicates`, `isolated` and `empty_edges` as in `Hypergraph.from_incidence`. A node that is head and
        tail of an edge is a duplicate.

    Warns
    -----
    LossWarning
        If the file has node weights, attrs, metadata, directions or a network type, which a hypergraph
        cannot hold. `read_hif_document` keeps them.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> h = Hypergraph.from_edges({"paper1": {"ann": 2, "bob": 1}, "paper2": ["bob", "eve"]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "papers.json")
    ...     write_hif(h, file)
    ...     read_hif(file)
    Hypergraph(3 vertices, 2 hyperedges, 4 incidences)
    """
    document = read_hif_document(path)
    with naming(path):
        hypergraph = document.hypergraph(**policies)
    remedy = "read_hif_document keeps it, and so does converting HIF to HIF"
    warn_losses(f"{printable(path)}: a Hypergraph", document.losses, remedy)
    return hypergraph


def read_hif_document(path: StrPath) -> HIF:
    """Read everything that a HIF file holds.

    An `InputError` has line and column for text that is not JSON, and the JSON path of the entry
    (`incidences[3].weight`) for whatever the schema refuses.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "x.json")
    ...     _ = file.write_text('{"incidences": [{"edge": 1, "node": 1, "attrs": {"role": "author"}}]}')
    ...     read_hif_document(file).incidences.attrs
    {0: {'role': 'author'}}
    """
    with reading(path) as file:
        data = file.read()
    try:
        with naming(path):
            return HIF(**parse(data))
    except RecursionError:
        raise fault(path, "the JSON is nested too deeply, about 1000 levels; make it flatter") from None


def write_hif_document(document: HIF, path: StrPath) -> None:
    """Write a HIF file that `read_hif_document` reads back unchanged, with one entry per line.

    An `InputError` names ids, attrs and metadata that JSON cannot hold as they are.
    """
    if not isinstance(document, HIF):
        kind = type(document).__name__
        raise InputError(f"expected a HIF document, not a {kind}; use write_hif for a Hypergraph")
    with writing(path) as file:
        lines = _lines(document)
        while block := list(islice(lines, BLOCK)):
            file.write("".join(block).encode())


def write_hif(
    hypergraph: Hypergraph, path: StrPath, *, metadata: dict[str, Any] | None = None, ids: IdPolicy = "error"
) -> None:
    """Write a hypergraph as a HIF file that `read_hif` reads back bit by bit.

    All vertices and hyperedges are listed, in their order. gamma is left out if it is 1 everywhere, and so is
    omega. A `LossWarning` says that the mixture of a walk with attributes is lost.

    `metadata` is anything that JSON can hold, by name. HIF holds text and integers as ids; others, such as
    the pairs that `from_table` makes, are refused (ids="error") or written as `str` shows them (ids="text").
    """
    check_hypergraph(hypergraph)
    check_choice("ids", ids, get_args(IdPolicy))
    lost = [lost_mixture(hypergraph)]
    warn_losses(f"{printable(path)}: a HIF file", lost, "write .npz to keep it")
    gamma, omega = hypergraph.gamma, hypergraph.edge_weights
    vertices, edges = hypergraph.vertex_ids, hypergraph.edge_ids
    if ids == "text":
        vertices, edges = (
            id_array([name if _is_id(name) else str(name) for name in some.tolist()], what)
            for some, what in ((vertices, "vertex"), (edges, "edge"))
        )
    incidences = Incidences(
        np.repeat(edges, hypergraph.edge_sizes),
        vertices[gamma.indices],
        np.where((gamma.data == 1).all(), np.nan, gamma.data),
        np.full(len(gamma.data), ""),
        {},
    )
    nodes = Items(vertices, np.full(len(vertices), np.nan), {})
    listed = Items(edges, np.where((omega == 1).all(), np.nan, omega), {})
    write_hif_document(HIF(incidences, nodes, listed, "undirected", metadata), path)


def _is_id(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _lines(document: HIF) -> Iterator[str]:
    yield "{\n"
    for key, value in (("network-type", document.network_type), ("metadata", document.metadata)):
        if value is not None:
            yield f'"{key}": {_as_json(value, key)},\n'
    for key, items in (("node", document.nodes), ("edge", document.edges)):
        if items is not None:
            yield from _section_lines(f"{key}s", {key: items.ids}, items, [""] * len(items.ids))
            yield ",\n"
    inside = document.incidences
    ids = {"edge": inside.edges, "node": inside.nodes}
    yield from _section_lines("incidences", ids, inside, inside.directions.tolist())
    yield "\n}\n"


def _section_lines(
    name: str, ids: dict[str, Ids], section: Items | Incidences, directions: list[str]
) -> Iterator[str]:
    yield f'"{name}": ['
    texts = [map(cache(partial(_id_text, key)), column.tolist()) for key, column in ids.items()]
    rows = zip(*texts, section.weights.tolist(), directions, strict=True)
    for number, (*keys, weight, direction) in enumerate(rows):
        if weight == weight:
            keys.append(f'"weight": {weight!r}')
        if direction:
            keys.append(f'"direction": "{direction}"')
        if number in section.attrs:
            keys.append(f'"attrs": {_as_json(section.attrs[number], f"{name}[{number}].attrs")}')
        yield f"{',' if number else ''}\n{{{', '.join(keys)}}}"
    yield "\n]" if len(section.weights) else "]"


def _id_text(key: str, value: Any) -> str:
    if not _is_id(value):
        problem = f"{key} id {shown(value)} is neither text nor an integer, as HIF needs; rename it, or use "
        raise InputError(problem, Argument("ids", "text", for_writing=True), " to write such ids as text")
    return f'"{key}": {_as_json(value, f"{key} id")}'


def _as_json(value: Any, place: str) -> str:
    """Convert to JSON on one line, and make sure that it is read back as the same value."""
    with suppress(TypeError, ValueError, RecursionError):
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        if json.loads(text.encode()) == value:
            return text
    usable = "text, finite numbers, true, false, null, lists, and objects with text as keys"
    raise InputError(f"{place}: JSON cannot hold {shown(value)} as it is; use {usable}")
