"""JSON text: parsing, with an error that names the line, and what a JSON file holds."""

import json
import math
from typing import Any

import msgspec
from msgspec import Raw

from hyperclus._runtime.files import StrPath
from hyperclus._runtime.source import not_utf8, reading
from hyperclus.errors import InputError, prefixed
from hyperclus.hypergraph.messages import shown

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
HIF_KEYS = {"incidences", "nodes", "edges", "network-type", "metadata"}


def parse_json(data: bytes) -> Any:
    """Parse JSON; repeated keys and text that is not JSON are an `InputError` with the line."""
    try:
        value = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        load_strictly(data, "")
        raise InputError("an escape such as \\ud800 is half a character; correct it") from None
    except RecursionError:
        raise InputError("the JSON is nested too deeply, about 1000 levels; make it flatter") from None
    return value if count_colons(value) == data.count(b":") else load_strictly(data, "")


def json_kind(path: StrPath) -> str:
    """Return the name of the format of a JSON file: "hif", "json" (hyperedges) or "records"."""
    with reading(path) as file:
        data = file.read().removeprefix(BYTE_ORDER_MARK).lstrip()
    if data[:1] == b"[":
        return "records" if data[1:].lstrip()[:1] == b"{" else "json"
    if data[:1] != b"{":
        return "hif"  # whose reader says what is wrong
    try:
        keys = msgspec.json.decode(data, type=dict[str, Raw]).keys()
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        if _is_object(data.split(b"\n", 1)[0]):
            return "records"
        return "hif" if b'"incidences"' in data else "json"  # whose reader says what is wrong
    return "hif" if not keys or HIF_KEYS & set(map(str.lower, keys)) else "json"


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(msgspec.json.decode(line), dict)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False


def count_colons(value: Any) -> int:
    """Count the colons in the JSON of a value.

    If the text that was parsed has more, it has repeated keys, of which msgspec silently uses the last one.
    """
    try:
        return msgspec.json.encode(value).count(b":")
    except OverflowError:  # msgspec reads integers of more than 64 bits, but does not write them
        return -1


def load_strictly(text: bytes, place: str) -> Any:
    """Parse JSON with the standard library; refuse repeated keys, infinite numbers and NaN."""
    try:
        hooks: dict[str, Any] = {"parse_float": _number, "parse_constant": _number}
        return json.loads(text.decode(), object_pairs_hook=_unique, **hooks)
    except json.JSONDecodeError as error:
        message = f"line {error.lineno}, column {error.colno}: this is not JSON ({error.msg}); correct it"
    except UnicodeDecodeError as error:
        raise prefixed(place, not_utf8(f"byte {error.start}")) from None
    except InputError as error:
        message = str(error)
    except ValueError:
        message = "an integer has too many digits; shorten it"
    raise InputError(place + message)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    unique = dict(pairs)
    if len(unique) < len(pairs):
        keys = [key for key, _ in pairs]
        repeated = next(key for key in keys if keys.count(key) > 1)
        raise InputError(f"the key {shown(repeated)} is repeated within an object; keep one of them")
    return unique


def _number(token: str) -> float:
    """Convert a number; "NaN", "Infinity" and "-Infinity" are not JSON."""
    if token[-1] in "Ny":
        raise InputError(f"{token} is not JSON; leave the value out")
    if math.isinf(value := float(token)):
        raise InputError(f"the number {token[:20]} is too large for double precision; make it smaller")
    return value
