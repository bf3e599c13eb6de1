"""The parser of HIF files.

msgspec parses the entries in chunks into columns, so that reading needs little more memory than the text. An
entry that is wrong or unusual (an id such as 1.0, a weight of 0, a key that may be repeated) is parsed again
by the standard library, which settles the case or finds the reason for the error message.
"""

import json
import math
import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from operator import attrgetter
from typing import Any, Literal, TypeAlias, get_args

import msgspec
import numpy as np
from msgspec import UNSET, Raw, Struct, UnsetType
from numpy.typing import NDArray

from hyperclus._runtime.arrays import read_only
from hyperclus._runtime.files import printable
from hyperclus.errors import InputError
from hyperclus.hypergraph.ids import as_integers_or_list, object_array
from hyperclus.hypergraph.messages import shown
from hyperclus.io.json_text import colons_in, count_colons, load_strictly
from hyperclus.typing import Floats, Ids

Attributes: TypeAlias = dict[int, dict[str, Any]]
NetworkType: TypeAlias = Literal["undirected", "directed", "asc"]

CHUNK = 1 << 18  # bytes to parse at once
LONGEST_QUOTE = 120  # characters of a message that quotes a key of the file
RULES = {
    "document": "a HIF file is a JSON object with 'incidences' (also nodes, edges, metadata, network-type)",
    "edge": "an id is text or an integer",
    "node": "an id is text or an integer",
    "weight": "a weight is a finite number",
    "direction": "a direction is 'head' or 'tail'",
    "attrs": "attrs are an object",
    "network-type": f"a network type is one of {', '.join(get_args(NetworkType))}",
}
BETWEEN_ENTRIES = re.compile(rb"\}[ \t\n\r]*,")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Items:
    """Entries of "nodes" or "edges": ids, weights (NaN if there is none), and attrs by position."""

    ids: Ids
    weights: Floats
    attrs: Attributes


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Incidences:
    """Entries of "incidences"; a weight is NaN and a direction "" if there is none, attrs are by position."""

    edges: Ids
    nodes: Ids
    weights: Floats
    directions: NDArray[np.str_]
    attrs: Attributes


class _Entry(Struct, forbid_unknown_fields=True, omit_defaults=True, gc=False, kw_only=True):
    weight: float = math.nan
    attrs: dict[str, Any] | UnsetType = UNSET


class _Node(_Entry, kw_only=True):
    node: int | str


class _Edge(_Entry, kw_only=True):
    edge: int | str


class _Incidence(_Edge, kw_only=True):
    node: int | str
    direction: Literal["head", "tail"] | UnsetType = UNSET


class _Outline(Struct, forbid_unknown_fields=True, rename="kebab"):
    incidences: Raw
    nodes: Raw | UnsetType = UNSET
    edges: Raw | UnsetType = UNSET
    network_type: NetworkType | UnsetType = UNSET
    metadata: dict[str, Any] | UnsetType = UNSET


ENTRIES: dict[str, type[_Entry]] = {"incidences": _Incidence, "nodes": _Node, "edges": _Edge}


def parse(data: bytes) -> dict[str, Any]:
    """Parse a document into the fields of `HIF`."""
    if b"\0" in data[:4] or data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise InputError("this is UTF-16, UTF-32 or not text; save the file as UTF-8")
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        outline = msgspec.json.decode(data, type=_Outline)
    except msgspec.ValidationError as error:
        raise _explained(error, "", RULES["document"]) from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        load_strictly(data, "")
        raise InputError("an escape such as \\ud800 is half a character; correct it") from None
    found = {key: value for key, value in msgspec.structs.asdict(outline).items() if value is not UNSET}
    sections = {key: found.pop(key) for key in ENTRIES if key in found}
    n_colons = len(sections) + count_colons(found)
    known: dict[str, dict[Any, Any]] = {"edge": {}, "node": {}}
    for key, raw in sections.items():
        found[key], inside = _section(key, memoryview(raw), known)
        n_colons += inside
    if n_colons != colons_in(data):
        load_strictly(data, "")
    return found


def _section(name: str, text: memoryview, known: dict[str, dict[Any, Any]]) -> tuple[Items | Incidences, int]:
    """Parse the entries of one section into columns; also count the colons."""
    if bytes(text[:1]) != b"[":
        raise InputError(f"{name}: expected an array")
    ids: dict[str, list[Any]] = {key: [] for key in known if key in ENTRIES[name].__struct_fields__}
    weights, directions, attrs, n_colons = array("d"), list[str](), Attributes(), 0
    start, size, stop = 1, CHUNK, len(text) - 1
    while start < stop:
        cut = BETWEEN_ENTRIES.search(text, start + size, stop)
        end = stop if cut is None else cut.end() - 1
        chunk = b"[" + bytes(text[start:end]) + b"]"
        if (entries := _parsed(name, chunk, len(weights))) is None:
            size *= 2
            continue
        start, size, n_colons = end + 1, CHUNK, n_colons + colons_in(chunk)
        for key, column in ids.items():
            unique = known[key].setdefault  # so that equal ids are one object
            column += [unique(value, value) for value in map(attrgetter(key), entries)]
        numbered = enumerate(map(attrgetter("attrs"), entries), len(weights))
        attrs.update((number, value) for number, value in numbered if value is not UNSET)
        weights.extend(map(attrgetter("weight"), entries))
        if name == "incidences":
            directions += [entry.direction or "" for entry in entries]
    given = [as_integers_or_list(values, "ids") for values in ids.values()]
    columns = [read_only(object_array(x) if isinstance(x, list) else x) for x in given]
    numbers = read_only(np.array(weights))
    if name == "incidences":
        directed = read_only(np.array(directions, dtype="<U4"))
        return Incidences(columns[0], columns[1], numbers, directed, attrs), n_colons
    return _merged(name, Items(columns[0], numbers, attrs)), n_colons


def _merged(name: str, items: Items) -> Items:
    """Merge the entries of nodes or edges that are listed more than once; they must not contradict."""
    values = items.ids.tolist()
    first: dict[Any, int] = {}
    for number, value in enumerate(values):
        first.setdefault(value, number)
    if len(first) == len(values):
        return items
    weights, attrs = items.weights.copy(), {number: dict(found) for number, found in items.attrs.items()}
    for number, value in enumerate(values):
        kept = first[value]
        if kept == number:
            continue
        place = f"{name}[{number}]: {shown(value)} is listed already, as {name}[{kept}], with another"
        if weights[number] == weights[number]:
            if weights[kept] == weights[kept] != weights[number]:
                raise InputError(f"{place} weight, {weights[kept]:g}; keep one of them")
            weights[kept] = weights[number]
        known = attrs.get(kept, {})
        for key, found in attrs.pop(number, {}).items():
            if known.setdefault(key, found) != found:
                raise InputError(f"{place} value of {shown(key)} in attrs; keep one of them")
        if known:
            attrs[kept] = known
    chosen = list(first.values())
    renumbered = {new: attrs[old] for new, old in enumerate(chosen) if old in attrs}
    return Items(read_only(items.ids[chosen]), read_only(weights[chosen]), renumbered)


def _parsed(name: str, chunk: bytes, start: int) -> list[Any] | None:
    """Parse a chunk, unusual entries one by one; None if the chunk ends within an entry."""
    entries: list[Any] = []
    odd: Sequence[int] = ()
    try:
        entries = msgspec.json.decode(chunk, type=list[ENTRIES[name]])  # type: ignore[valid-type]
        if count_colons(entries) == colons_in(chunk):
            odd = [number for number, entry in enumerate(entries) if entry.weight == 0]  # maybe rounded
            if not odd:
                return entries
    except (msgspec.DecodeError, UnicodeDecodeError):
        pass
    try:
        raws = msgspec.json.decode(chunk, type=list[Raw])
    except msgspec.DecodeError:
        return None
    entries = entries or [None] * len(raws)
    for number in odd or range(len(raws)):
        entries[number] = _parsed_alone(bytes(raws[number]), ENTRIES[name], f"{name}[{start + number}]")
    return entries


def _parsed_alone(text: bytes, kind: type[_Entry], place: str) -> Any:
    """Parse one entry with all checks."""
    entry = load_strictly(text, f"{place}: ")
    if isinstance(entry, dict):
        exact = json.loads(text, parse_float=Decimal)
        for key in {"edge", "node"} & entry.keys():
            if isinstance(value := exact[key], Decimal) and value == int(value):
                entry[key] = int(value)  # 1.0 is an integer in JSON
        if entry.get("weight") == 0 != exact["weight"]:
            raise InputError(f"{place}.weight: the weight is too small for double precision; change it")
    try:
        return msgspec.convert(entry, kind)
    except msgspec.ValidationError as error:
        rule = f"the keys are {', '.join(kind.__struct_fields__)}; put others into attrs"
        raise _explained(error, place, rule) from None


def _explained(error: msgspec.ValidationError, place: str, rule: str) -> InputError:
    """Add the place and a remedy to an error such as "Expected `float`, got `str` - at `$.weight`"."""
    what, _, where = printable(str(error)).partition(" - at `$")  # it may quote a key from the file
    what = what if len(what) <= LONGEST_QUOTE else what[: LONGEST_QUOTE - 1] + "…"
    where = where.removesuffix("`")
    path = (place + where).lstrip(".")
    return InputError(f"{path}{': ' * bool(path)}{what[0].lower()}{what[1:]}; {RULES.get(where[1:], rule)}")
