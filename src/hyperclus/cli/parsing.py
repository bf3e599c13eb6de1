"""Parsing of option values that are more than text or a number."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any, cast

from hyperclus.cli.options import MAX_DIGITS
from hyperclus.errors import InputError, prefixed
from hyperclus.hypergraph.binning import Bins, BinsByColumn, BinsOrRule, Rule

SWITCHES = ("transpose", "compressed")  # options of formats that are true or false
TRUTH = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}


def format_options(given: dict[str, str | None], more: list[str] | None) -> dict[str, Any]:
    """The given options by name, with those of -o or -w; the values of switches become truth values."""
    found: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    for text in more or ():
        name, sign, value = text.partition("=")
        if not sign or not name:
            raise InputError(f"an option is NAME=VALUE, such as isolated=keep; got {text!r}")
        name = name.replace("-", "_")
        found[name] = value
        if name in SWITCHES:
            if value.lower() not in TRUTH:
                raise InputError(f"{name} must be yes or no; got {text!r}")
            found[name] = TRUTH[value.lower()]
        elif name in ("weight", "edge_weight") and value.lower() == "false":
            found[name] = False
        elif name in ("vertex_ids", "edge_ids"):
            raise InputError(f"{name} takes a list, which the command line has no way to give; use Python")
    for name, convert in CONVERTED.items():
        if name in found:
            found[name] = convert(found[name])
    if found.get("delimiter") in ("\\t", "tab"):  # how it is typed in a shell
        found["delimiter"] = "\t"
    return found


def _number_or_text(text: str) -> float | str:
    with suppress(ValueError):
        return int(text) if text.isdecimal() else float(text)
    return text


CONVERTED: dict[str, Callable[[str], Any]] = {  # options whose values are not text
    "missing": _number_or_text,
    "min_df": _number_or_text,
    "max_df": _number_or_text,
    "stop_words": lambda text: None if text == "none" else text,
}


def parse_split(texts: list[str]) -> dict[str, str]:
    """Parse the values of --split, such as authors=';'."""
    found = {}
    for text in texts:
        name, sign, value = text.rpartition("=")
        if not (sign and name and value):
            raise InputError(f"--split is COLUMN=SIGN, such as authors=';'; got {text!r}")
        found[name] = "\t" if value in ("\\t", "tab") else value
    return found


def parse_order(texts: list[str]) -> dict[str, list[str]]:
    """Parse the values of --order, such as q1='disagree,neutral,agree'; also separated by semicolons."""
    found = {}
    for text in texts:
        name, _, values = text.partition("=")
        levels = [one.strip() for one in values.split(";" if ";" in values else ",")]
        if not (name and len(levels) > 1 and all(levels)):
            raise InputError(f"--order is COLUMN=VALUES, such as q1='disagree,neutral,agree'; got {text!r}")
        found[name] = levels
    return found


def parse_bins(texts: list[str]) -> BinsByColumn:
    """Parse the values of --bins: 5, quantile, quantile:8, none, or one of these for a column, as age=8."""
    overall: list[str] = []
    columns: dict[str, BinsOrRule | None] = {}
    for text in texts:
        name, sign, value = text.rpartition("=")
        if not sign:
            overall.append(text)
        else:
            columns[name] = None if value == "none" else _bins(value, text)
    if len(overall) > 1 or (overall and columns):
        raise InputError("--bins is given once for all columns, or as COLUMN=BINS for some of them")
    if columns:
        return columns
    return None if overall == ["none"] else _bins(overall[0], overall[0])


def _bins(value: str, text: str) -> Bins:
    """Parse a number of bins, a rule, or both."""
    rule, sign, size = ("width", ":", value) if value.isdecimal() else value.partition(":")
    if sign and not (size.isdecimal() and len(size) <= MAX_DIGITS):
        raise InputError(f"--bins {text}: {size!r} is not a number of bins; use 8, quantile or quantile:8")
    try:
        return replace(Bins(cast(Rule, rule)), count=int(size)) if sign else Bins(cast(Rule, rule))
    except InputError as error:
        raise prefixed(f"--bins {text}: ", error) from None
