"""JSON text: parsing, with an error that names the line, and what a JSON file holds."""

import json
import math
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Raw

from hyperclus._runtime.files import StrPath
from hyperclus._runtime.source import not_utf8, reading
from hyperclus.errors import InputError, prefixed
from hyperclus.hypergraph.messages import shown

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
TOO_DEEP = "the JSON is nested too deeply, about 1000 levels; make it flatter"
HIF_KEYS = {"incidences", "nodes", "edges", "network-type", "metadata"}
MAY_BE_TINY = re.compile(rb"[eE]-[0-9]{3}|0{300}")  # what a number that is rounded to 0 contains


def parse_json(data: bytes, place: str = "") -> Any:
    """Parse JSON; repeated keys, numbers beyond doubles and text that is not JSON are an `InputError`.

    The error begins with `place`, or else with the line.
    """
    try:
        value = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        load_strictly(data, place)
        raise InputError(f"{place}an escape such as \\ud800 is half a character; correct it") from None
    except RecursionError:
        raise InputError(place + TOO_DEEP) from None
    return value if is_exact(value, data) else load_strictly(data, place, _nonzero_number)


def is_exact(value: Any, data: bytes) -> bool:
    """Whether msgspec surely has not left out repeated keys or rounded numbers to 0."""
    return count_colons(value) == colons_in(data) and not MAY_BE_TINY.search(data)


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
    if {"vertex", "edge"} <= keys:  # a record, or columns, which are refused as records
        return "records"
    return "hif" if not keys or HIF_KEYS & set(map(str.lower, keys)) else "json"


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(msgspec.json.decode(line), dict)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False


def colons_in(text: bytes) -> int:
    """Count the colons of JSON, also as escapes; too many if a backslash before an escape is escaped."""
    return sum(map(text.count, (b":", b"\\u003a", b"\\u003A")))


def count_colons(value: Any) -> int:
    """Count the colons in the JSON of a value.

    If the text that was parsed has more, it may have repeated keys, of which msgspec silently uses the last
    one.
    """
    try:
        return msgspec.json.encode(value).count(b":")
    except OverflowError:  # msgspec reads integers of more than 64 bits, but does not write them
        return -1


def load_strictly(text: bytes, place: str, number: Callable[[str], float] | None = None) -> Any:
    """Parse JSON with the standard library; refuse repeated keys, infinite numbers and NaN.

    `number` converts numbers, by default without a check that a small one is not rounded to 0.
    """
    try:
        hooks: dict[str, Any] = {"parse_float": number or _number, "parse_constant": _number}
        return json.loads(text.decode(), object_pairs_hook=_unique, **hooks)
    except json.JSONDecodeError as error:
        line, what = ("", "one JSON value") if place else (f"line {error.lineno}, ", "JSON")
        message = f"{line}column {error.colno}: this is not {what} ({error.msg}); correct it"
    except UnicodeDecodeError as error:
        raise prefixed(place, not_utf8(f"byte {error.start}")) from None
    except InputError as error:
        message = str(error)
    except ValueError:
        message = "an integer has too many digits; shorten it"
    except RecursionError:
        message = TOO_DEEP
    raise InputError(place + message)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    unique = dict(pairs)
    if len(unique) < len(pairs):
        repeated = next(key for key, number in Counter(key for key, _ in pairs).items() if number > 1)
        raise InputError(f"the key {shown(repeated)} is repeated within an object; keep one of them")
    return unique


def _number(token: str) -> float:
    """Convert a number; "NaN", "Infinity" and "-Infinity" are not JSON."""
    if token[-1] in "Ny":
        raise InputError(f"{token} is not JSON; leave the value out")
    if math.isinf(value := float(token)):
        raise InputError(f"the number {token[:20]} is too large for double precision; make it smaller")
    return value


def _nonzero_number(token: str) -> float:
    """Convert a number; one that is not 0 must not become 0."""
    value = _number(token)
    if value == 0 and re.search("[1-9]", re.split("[eE]", token)[0]):
        raise InputError(f"the number {token[:20]} is too small for double precision; correct it")
    return value
