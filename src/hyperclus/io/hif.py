"""HIF files (Hypergraph Interchange Format, schema 0.1.0): JSON that other hypergraph libraries read too.

The schema's rules are here in full: what it accepts is read, what it refuses is an `InputError` with line,
column and JSON path. Only a key that comes twice, a node or an edge listed twice, and numbers or nesting
beyond what Python holds are refused on top. Entries are parsed one at a time into columns, so a file needs
little more memory than its text. Where in an entry a fault is, is only looked for once there is one.
"""

import json
import re
import warnings
from array import array
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, NoReturn, TypeAlias

import numpy as np

from hyperclus._runtime.arrays import read_only
from hyperclus._runtime.files import StrPath, fault, reading
from hyperclus.errors import InputError, LossWarning
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.hypergraph.ids import object_array, plain
from hyperclus.hypergraph.messages import shown
from hyperclus.io.hif_document import (
    DIRECTIONS,
    HIF,
    NETWORK_TYPES,
    Attributes,
    Incidences,
    Items,
    write_hif,
    write_hif_document,
)
from hyperclus.typing import AbsencePolicy, DuplicatePolicy, Ids

__all__ = ["HIF", "read_hif", "read_hif_document", "write_hif", "write_hif_document"]

Path: TypeAlias = list[str | int]

ID_KEYS = {"incidences": ("edge", "node"), "nodes": ("node",), "edges": ("edge",)}
KEYS = ("network-type", "metadata", "incidences", "nodes", "edges")
NO_HIF = "this is no HIF file; a HIF file is a JSON object with 'incidences'"

SPACE = re.compile(r"[ \t\n\r]*")
NOT_ZERO = re.compile("-?[0.]*[1-9]")  # how a number begins that is not 0, though it may be read as 0
AFTER_ENTRY = re.compile(r"[ \t\n\r]*([,\]])[ \t\n\r]*")
TOKEN = re.compile(r'[ \t\n\r]*("[^"\\]*+(?:\\.[^"\\]*+)*+"|[{}\[\]:,]|[^ \t\n\r{}\[\]:,"]+)', re.DOTALL)
NUMBER = re.compile(r"-?[0-9]")
PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


def read_hif(
    path: StrPath,
    *,
    duplicates: DuplicatePolicy = "error",
    isolated: AbsencePolicy = "keep",
    empty_edges: AbsencePolicy = "keep",
) -> Hypergraph:
    """The hypergraph of a HIF file: gamma from the incidences, omega from the edges, 1 where there is none.

    Vertices and hyperedges come in the order in which the file lists them, then of first appearance. An
    incidence of weight 0 makes no member.

    Parameters
    ----------
    path
        A JSON file, gzipped or not.
    duplicates : {"error", "sum", "max"}
        What to do with a node that is in an edge more than once, such as one that is head and tail of it.
    isolated, empty_edges : {"keep", "drop", "error"}
        What to do with nodes in no edge and edges without nodes.

    Raises
    ------
    InputError
        For a file that is not HIF, with line, column and JSON path, and for one that makes no hypergraph.

    Warns
    -----
    LossWarning
        When the file has node weights, attrs, metadata, directions or a network type that a hypergraph
        does not hold. `read_hif_document` keeps them.

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
    try:
        hypergraph = document.hypergraph(duplicates=duplicates, isolated=isolated, empty_edges=empty_edges)
    except InputError as error:
        raise fault(path, error) from None
    if lost := document.beyond_hypergraph:
        message = f"a Hypergraph does not hold what the file has beside it: {', '.join(lost)}"
        advice = "read_hif_document keeps it, and so does converting HIF to HIF"
        warnings.warn(LossWarning(f"{fault(path, message)}; {advice}"), stacklevel=2)
    return hypergraph


def read_hif_document(path: StrPath) -> HIF:
    """All that a HIF file says, with nothing added or lost.

    Two readings go beyond the schema: an entry has no keys but the schema's, and a node or an edge is
    listed at most once. 1.0 is the integer 1, as in JSON Schema.

    Raises
    ------
    InputError
        Naming line, column and JSON path, for text that is not JSON, a number too large for double
        precision, a key that comes twice in one object, and whatever the schema refuses.

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
        if b"\0" in data[:4] or data[:2] in (b"\xff\xfe", b"\xfe\xff"):
            raise fault(path, "this is UTF-16 or UTF-32, or no text; save the file as UTF-8")
        text = data.decode().removeprefix("\ufeff")
    del data
    return _Parser(path, text).document()


class _FaultError(Exception):
    """A fault at a path inside the value that was just parsed; at the key itself if it is no value's."""

    def __init__(self, message: str, *path: str | int, at_key: bool = False) -> None:
        super().__init__(message)
        self.path, self.at_key = list(path), at_key


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise _FaultError("a key comes twice")
    return made


def _float(token: str) -> float:
    value = float(token)
    if value - value:  # infinite
        raise _FaultError("too large")
    return value


def _no_number(token: str) -> NoReturn:
    raise _FaultError(f"{token} is no JSON")


class _Parser:
    """Goes through the top level of the document by itself and leaves every value below to `json`."""

    def __init__(self, path: StrPath, text: str) -> None:
        self._path, self._text, self._at = path, text, 0
        numbers: dict[str, Any] = {"parse_float": _float, "parse_constant": _no_number}
        self._decode_plain = json.JSONDecoder(**numbers).raw_decode
        self._decode = json.JSONDecoder(object_pairs_hook=_object, **numbers).raw_decode
        self._known: dict[str, dict[Any, Any]] = {"node": {}, "edge": {}}  # one object for equal ids

    def document(self) -> HIF:
        sections: dict[str, _Columns] = {}
        head: dict[str, Any] = {}
        if self._next() != "{":
            self._stop(self._at, [], NO_HIF)
        start = self._at
        closing = False
        while not closing:
            self._at += 1
            if self._next() == "}" and not (head or sections):
                break
            key = self._key({*head, *sections})
            if key in ID_KEYS:
                sections[key] = self._section(key)
            else:
                head[key] = self._head(key)
            if self._next() not in (",", "}"):
                self._stop(self._at, [], "a comma or a closing brace is missing")
            closing = self._next() == "}"
        self._at += 1
        if self._next():
            self._stop(self._at, [], "the document has ended, and there is more; remove it")
        if "incidences" not in sections:
            self._stop(start, [], "the key 'incidences' is missing; add it, with an array")
        nodes, edges = (sections[key].items() if key in sections else None for key in ("nodes", "edges"))
        incidences = sections["incidences"].incidences()
        return HIF(incidences, nodes, edges, head.get("network-type"), head.get("metadata"))

    def _next(self) -> str:
        """The next character that is not white space, "" at the end of the text."""
        self._at = SPACE.match(self._text, self._at).end()  # type: ignore[union-attr]
        return self._text[self._at : self._at + 1]

    def _key(self, before: set[str]) -> str:
        start = self._at
        if self._next() != '"':
            self._stop(start, [], "a key in double quotes is missing")
        key = str(self._value([]))
        if key not in KEYS and '"incidences"' not in self._text:
            self._stop(start, [], NO_HIF)
        if key not in KEYS:
            known = ", ".join(KEYS)
            self._stop(start, [], f"HIF has no key {shown(key)}, only {known}; put it into metadata")
        if key in before:
            self._stop(start, [key], "the key comes twice; keep one of them")
        if self._next() != ":":
            self._stop(self._at, [key], "a colon is missing after the key")
        self._at += 1
        self._next()
        return key

    def _head(self, key: str) -> Any:
        """The value of "metadata" or "network-type" at this place."""
        start = self._at
        value = self._value([key])
        if key == "metadata" and not isinstance(value, dict):
            self._stop(start, [key], f"this must be an object, not {_json(value)}")
        if key == "network-type" and not (isinstance(value, str) and value in NETWORK_TYPES):
            self._stop(start, [key], f"this must be one of {', '.join(NETWORK_TYPES)}, not {_json(value)}")
        return value

    def _section(self, key: str) -> "_Columns":
        """The array of entries at this place."""
        columns = _Columns(key, self._known)
        if self._next() != "[":
            self._stop(self._at, [key], "this must be an array, in brackets")
        self._at += 1
        if self._next() == "]":
            self._at += 1
            return columns
        text, add, count = self._text, columns.add, 0
        while True:
            start = self._at
            entry = self._entry([key, count])
            try:
                add(entry, text, start)
            except _FaultError as found:
                at = _place(text, start, found.path, found.at_key)[0]
                self._stop(at, [key, count, *found.path], str(found))
            count += 1
            after = AFTER_ENTRY.match(text, self._at)
            if after is None:
                self._next()
                self._stop(self._at, [key], "a comma or a closing bracket is missing")
            self._at = after.end()
            if after[1] == "]":
                return columns

    def _entry(self, path: Path) -> Any:
        """As `_value`, but fast where there are as many colons as keys, so that no key comes twice."""
        try:
            entry, end = self._decode_plain(self._text, self._at)
            simple = self._text.count(":", self._at, end) == len(entry)
        except (_FaultError, TypeError, ValueError, RecursionError):
            simple = False
        if not simple:
            return self._value(path)
        self._at = end
        return entry

    def _value(self, path: Path) -> Any:
        """The JSON value at this place, by the standard library."""
        start = self._at
        try:
            value, self._at = self._decode(self._text, start)
        except json.JSONDecodeError as error:
            self._stop(error.pos, path, f"this is no JSON ({error.msg.rstrip(': ')}); correct it")
        except RecursionError:
            self._stop(start, path, "this is nested too deeply, about 1000 levels; make it flatter")
        except (_FaultError, ValueError) as error:
            at, inside, message = _odd(self._text, start) or (start, [], str(error))
            self._stop(at, path + inside, message)
        return value

    def _stop(self, at: int, path: Path, message: str) -> NoReturn:
        before = self._text.rfind("\n", 0, at)
        place = f"column {at - before}" + (f", {_written(path)}" if path else "")
        ended = " (the text ends here)" if at >= len(self._text) else ""
        line = self._text.count("\n", 0, at) + 1
        raise fault(self._path, f"{place}: {message}{ended}", line) from None


class _Columns:
    """Entries of one section, checked against the schema and taken apart."""

    def __init__(self, key: str, known: dict[str, dict[Any, Any]]) -> None:
        self._keys = {*ID_KEYS[key], "weight", "attrs"} | ({"direction"} if key == "incidences" else set())
        self._ids: list[tuple[str, list[Any], dict[Any, Any]]] = [
            (name, [], known[name]) for name in ID_KEYS[key]
        ]
        self._listed: set[Any] = set()
        self._weights, self._directions = array("d"), bytearray()
        self._attrs: Attributes = {}

    def add(self, entry: Any, text: str, start: int) -> None:
        """Take the next entry, which begins at `start`."""
        if type(entry) is not dict:
            raise _FaultError(f"an entry must be an object, not {_json(entry)}")
        for name, column, known in self._ids:
            if name not in entry:
                raise _FaultError(f"the key {name!r} is missing; add it")
            value = entry[name]
            if type(value) is not str and type(value) is not int:
                value = _as_id(value, name, text, start)
            column.append(known.setdefault(value, value))
        if not self._keys.issuperset(entry):
            unknown = next(key for key in entry if key not in self._keys)
            known_keys = ", ".join(sorted(self._keys))
            raise _FaultError(f"this key is none of {known_keys}; put it into attrs", unknown, at_key=True)
        if len(self._ids) == 1:
            self._list(name, value)
        if "attrs" in entry:
            self._attrs[len(self._weights)] = _as_attrs(entry["attrs"])
        weight = _as_weight(entry["weight"]) if "weight" in entry else np.nan
        if weight == 0 and NOT_ZERO.match(text, _place(text, start, ["weight"], False)[0]):
            raise _FaultError("the weight is too small for double precision; make it larger, or 0", "weight")
        self._weights.append(weight)
        self._directions.append(_as_direction(entry["direction"]) if "direction" in entry else 0)

    def _list(self, name: str, value: Any) -> None:
        if value in self._listed:
            raise _FaultError(f"{name} {shown(value)} is listed already; list each once", name)
        self._listed.add(value)

    def items(self) -> Items:
        """The entries of "nodes" or "edges"."""
        return Items(self._column(0), read_only(np.array(self._weights)), self._attrs)

    def incidences(self) -> Incidences:
        """The entries of "incidences"."""
        directions = np.array(DIRECTIONS)[np.frombuffer(self._directions, dtype=np.uint8)]
        weights = read_only(np.array(self._weights))
        return Incidences(self._column(0), self._column(1), weights, read_only(directions), self._attrs)

    def _column(self, position: int) -> Ids:
        values = plain(self._ids[position][1], "ids")
        return read_only(object_array(values) if isinstance(values, list) else values)


def _as_id(value: Any, name: str, text: str, start: int) -> int:
    """The integer that a number such as 1.0 is."""
    if type(value) is float and value.is_integer():
        if abs(value) < 2**53:
            return int(value)
        exact = Decimal(_place(text, start, [name])[1])  # a double may be next to the number that is there
        if exact == int(exact):
            return int(exact)
    raise _FaultError(f"an id must be text or an integer, not {_json(value)}", name)


def _as_weight(value: Any) -> float:
    if type(value) is not float and type(value) is not int:
        raise _FaultError(f"a weight must be a number, not {_json(value)}", "weight")
    try:
        return float(value)
    except OverflowError:
        raise _FaultError("the weight is too large for double precision; make it smaller", "weight") from None


def _as_attrs(value: Any) -> dict[str, Any]:
    if type(value) is dict:
        return value
    raise _FaultError(f"this must be an object, not {_json(value)}", "attrs")


def _as_direction(value: Any) -> int:
    if value == "head" or value == "tail":
        return DIRECTIONS.index(value)
    raise _FaultError(f"this must be 'head' or 'tail', not {_json(value)}", "direction")


# ---- a slow second look at one value, to say where a fault is ----------------------------------------------


def _walk(text: str, start: int) -> Iterator[tuple[Path, int, str, bool]]:
    """Keys and values of the JSON value at `start`: path, position, first token, whether it is a key.

    The text must be JSON up to where the caller stops. The path is the same list each time.
    """
    path: Path = []
    open_brackets: list[str] = []
    key_next = False
    while match := TOKEN.match(text, start):
        token, at, start = match[1], match.start(1), match.end()
        if token in ("}", "]"):
            open_brackets.pop()
            path.pop()
        elif token == ",":
            key_next = open_brackets[-1] == "{"
            if not key_next:
                path[-1] = int(path[-1]) + 1
        elif token != ":" and key_next:
            path[-1] = json.loads(token)
            key_next = False
            yield path, at, token, True
        elif token != ":":
            yield path, at, token, False
            if token in ("{", "["):
                open_brackets.append(token)
                key_next = token == "{"
                path.append("" if key_next else 0)
        if not open_brackets:
            return


def _place(text: str, start: int, wanted: Path, at_key: bool = False) -> tuple[int, str]:
    """Position and first token of what is at a path inside the JSON value at `start`."""
    for path, at, token, is_key in _walk(text, start):
        if path == wanted and is_key == at_key:
            return at, token
    return start, ""


def _odd(text: str, start: int) -> tuple[int, Path, str] | None:
    """The first thing in the JSON value at `start` that `json` lets pass or cannot read: place, message."""
    seen = set()
    for path, at, token, is_key in _walk(text, start):
        if is_key:
            if tuple(path) in seen:
                return at, path, "the key comes twice in one object; keep one of them"
            seen.add(tuple(path))
        elif token in ("NaN", "Infinity", "-Infinity"):
            return at, path, f"{token} is no JSON; leave the value out"
        elif NUMBER.match(token):
            try:
                if token.lstrip("-").isdigit():
                    int(token)
                else:
                    _float(token)
            except (_FaultError, ValueError):
                return at, path, "the number is too large to be read; make it smaller"
    return None


def _written(path: Path) -> str:
    """A JSON path in words: incidences[3].weight."""
    text = ""
    for step in path:
        if isinstance(step, str) and PLAIN_KEY.fullmatch(step):
            text += f".{step}"
        else:
            text += f"[{shown(step)}]"
    text = text.lstrip(".")
    return text if len(text) <= 120 else text[:117] + "..."


def _json(value: Any) -> str:
    """A value in a message, as JSON calls it."""
    words = {"None": "null", "True": "true", "False": "false"}
    return words.get(shown(value), shown(value))
