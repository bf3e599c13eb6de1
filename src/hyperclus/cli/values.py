"""Values of options.

To typer each is a list of text, so that one that is wrong, or given twice, gets a sentence of our own.
"""

import math
from copy import copy
from dataclasses import MISSING, Field
from inspect import Parameter
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin

from hyperclus.errors import InputError
from hyperclus.hypergraph.messages import shown

PLAIN = (str, int, float, Path)


def declared(field: Field[Any]) -> tuple[Any, Any]:
    """The type and the default value of an option or argument, as typer needs them."""
    info, default = field.metadata["typer"], field.default
    default = Parameter.empty if default is MISSING else default
    if not _single(field):
        return cast(Any, Annotated)[field.type, info], default
    kind = _kind(field)
    if choices := get_args(kind):
        info = copy(info)
        info.metavar, info.autocompletion = "|".join(choices), lambda: list(choices)
    element = Path if kind is Path else str
    default = None if default is None else [str(default)]
    return cast(Any, Annotated)[list[element] | None, info], default  # type: ignore[valid-type]


def parsed(field: Field[Any], given: Any) -> Any:
    """The value of an option or argument, of the type of its field."""
    if given is None or not _single(field):
        return given
    names, kind = field.metadata["names"], _kind(field)
    flag = names[0] if names else "--" + field.name.replace("_", "-")
    if len(given) > 1:
        values = " and ".join(shown(str(value)) for value in given[:2])
        raise InputError(f"{flag} has more than one value, {values}; give it once")
    (value,) = given
    if kind in (int, float):
        return _number(flag, value, kind, field.metadata["least"])
    if (choices := get_args(kind)) and value not in choices:
        wanted = f"{', '.join(choices[:-1])} or {choices[-1]}"
        raise InputError(f"{flag} must be {wanted}; got {shown(value)}")
    return value


def _single(field: Field[Any]) -> bool:
    """Whether a field is an option with one value."""
    kind = _kind(field)
    return "least" in field.metadata and (kind in PLAIN or get_origin(kind) is Literal)


def _kind(field: Field[Any]) -> Any:
    """The type of a field, without None."""
    if get_origin(field.type) not in (Union, UnionType):
        return field.type
    kinds = [kind for kind in get_args(field.type) if kind is not NoneType]
    return kinds[0] if len(kinds) == 1 else field.type


def _number(flag: str, text: str, kind: type[int] | type[float], least: float | None) -> float:
    """Parse a number that is not below `least`; infinity is left to the checks of the library."""
    try:
        value = kind(text) if text.isascii() and "_" not in text else math.nan
    except ValueError:
        value = math.nan
    if not value >= (-math.inf if least is None else least):
        what = "a whole number" if kind is int else "a number"
        bound = "" if least is None else f" from {least:g}"
        raise InputError(f"{flag} must be {what}{bound}; got {shown(text)}")
    return value
