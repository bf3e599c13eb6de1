"""Numbers, times, sizes and ids as text for people; the report and the command line share these functions."""

import math
from typing import Any

from hyperclus.hypergraph.messages import caption, shown

NOISE = 5e-13  # smaller absolute values are rounding errors and shown as 0
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

# Control characters, characters that change the direction of the surrounding text, and code points that are
# no characters.
_UNSAFE = [*range(32), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
_UNSAFE += [0x2028, 0x2029, 0xFEFF, *range(0xD800, 0xE000), *range(0xFFF9, 0xFFFC), 0xFFFE, 0xFFFF]
_REPLACED = dict.fromkeys(_UNSAFE, "\ufffd")
_REPLACED_IN_LINES = {code: sign for code, sign in _REPLACED.items() if code not in (9, 10)}


def ordinal(number: int) -> str:
    """Format a position in a sequence.

    >>> ordinal(1), ordinal(12), ordinal(22)
    ('1st', '12th', '22nd')
    """
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number:,}{'th' if number % 100 in (11, 12, 13) else ending}"


def number(value: float, digits: int = 4) -> str:
    """Format a number with up to `digits` significant digits.

    >>> number(0.2517731), number(12), number(5618), number(1e-17), number(float("inf"))
    ('0.2518', '12', '5,618', '0', 'unbounded')
    """
    if not math.isfinite(value):
        return "unbounded" if value > 0 else "unknown"
    if abs(value) < NOISE:
        return "0"
    if 1000 <= abs(value) < 1e9:
        return f"{value:,.0f}"
    mantissa, _, exponent = f"{value:.{digits}g}".partition("e")
    return f"{mantissa} \u00d7 10{str(int(exponent)).translate(_SUPERSCRIPTS)}" if exponent else mantissa


def four_digits(value: float) -> str:
    """Format a number with four significant digits, trailing zeros included.

    >>> four_digits(1.92), four_digits(0.25177)
    ('1.920', '0.2518')
    """
    return f"{value:#.4g}" if 1e-3 <= abs(value) < 1000 else number(value)


def byte_size(size: float) -> str:
    """Format a number of bytes with three digits.

    >>> byte_size(812), byte_size(56_497_576), byte_size(2.3e12)
    ('812 B', '56.5 MB', '2.30 TB')
    """
    for unit, name in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size >= 0.9995 * unit:
            decimals = 2 if size < 9.995 * unit else 1 if size < 99.95 * unit else 0
            return f"{size / unit:.{decimals}f} {name}"
    return f"{size:.0f} B"


def percent(share: float) -> str:
    """Format a share as a percentage with two or three digits.

    >>> percent(0.1234), percent(0.0123), percent(0.00123), percent(0), percent(1e-7), percent(31)
    ('12 %', '1.2 %', '0.12 %', '0 %', '< 0.01 %', '3,100 %')
    """
    if not math.isfinite(share):
        return "unbounded"
    hundredths = 100 * share
    if abs(share) < NOISE:
        return "0 %"
    if abs(hundredths) < 0.01:
        return "< 0.01 %"
    decimals = 3 if hundredths < 0.1 else 2 if hundredths < 1 else 1 if hundredths < 10 else 0
    return f"{hundredths:,.{decimals}f} %"


def whole_percent(share: float) -> str:
    """Format a share as a whole percentage.

    >>> whole_percent(0.873), whole_percent(0.001), whole_percent(0.999), whole_percent(0), whole_percent(1)
    ('87 %', '< 1 %', '> 99 %', '0 %', '100 %')
    """
    if NOISE < share < 0.005:
        return "< 1 %"
    if 0.995 < share < 1.0 - NOISE:
        return "> 99 %"
    return f"{100 * share:.0f} %"


def percent_cell(share: float, decimals: int = 1) -> str:
    """Format a share for a column whose title has the percent sign.

    Halves are rounded up with a tolerance, so that shares that differ only by rounding errors look the same.

    >>> percent_cell(0.3425), percent_cell(0.3425 - 1e-12), percent_cell(0), percent_cell(1e-6, 3)
    ('34.3', '34.3', '0.0', '< 0.001')
    """
    if NOISE < 100 * share < 0.5 * 10**-decimals:
        return f"< {10**-decimals:.{decimals}f}"
    return f"{100 * share + 1e-7 * 10 ** (1 - decimals):.{decimals}f}"


def duration(seconds: float) -> str:
    """Format a time span.

    >>> duration(0.0312), duration(2.5), duration(59.7), duration(8000)
    ('31 ms', '2.5 s', '1 min 0 s', '2 h 13 min')
    """
    if seconds < 0.9995:
        return f"{1000 * seconds:.{0 if seconds >= 0.0095 else 1}f} ms"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, left = divmod(minutes, 60)
    return f"{hours} h {left} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"


def shorten(text: str, longest: int) -> str:
    """Replace the middle of a text that has more than `longest` characters by an ellipsis.

    >>> shorten("short", 9), shorten("x" * 200, 9)
    ('short', 'xxxxxx…xx')
    """
    if len(text) <= longest:
        return text
    tail = min(16, longest // 4)
    return f"{text[: longest - tail - 1]}\u2026{text[len(text) - tail :]}"


def short_id(value: Any, longest: int = 64) -> str:
    r"""Format an id, class or file name on one line, shortened and without unsafe characters.

    >>> short_id(("odor", "n")), short_id("a\n\u202eb")
    ('odor = n', 'a��b')
    """
    try:
        text = caption(value)
    except ValueError:  # an integer of thousands of digits
        text = shown(value)
    return shorten(text, longest).translate(_REPLACED)


def safe_lines(text: Any) -> str:
    r"""Replace unsafe characters, except tabs and line ends.

    >>> safe_lines("a\n\u202eb")
    'a\n�b'
    """
    return str(text).translate(_REPLACED_IN_LINES)
