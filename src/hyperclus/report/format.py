"""Numbers as people read them."""

import math

ZERO = 5e-13  # what is below is rounding
_DIGITS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def figure(value: float, digits: int = 4) -> str:
    """Some significant digits.

    >>> figure(0.2517731), figure(12), figure(5618), figure(1e-17), figure(float("inf"))
    ('0.2518', '12', '5,618', '0', 'unbounded')
    """
    if not math.isfinite(value):
        return "unbounded" if value > 0 else "unknown"
    if abs(value) < ZERO:
        return "0"
    if 1000 <= abs(value) < 1e9:
        return f"{value:,.0f}"
    mantissa, _, exponent = f"{value:.{digits}g}".partition("e")
    return f"{mantissa} \u00d7 10{str(int(exponent)).translate(_DIGITS)}" if exponent else mantissa


def exact(value: float) -> str:
    """Four significant digits, zeros included.

    >>> exact(1.92), exact(0.25177)
    ('1.920', '0.2518')
    """
    return f"{value:#.4g}" if 1e-3 <= abs(value) < 1000 else figure(value)


def percent(share: float) -> str:
    """A share in per cent, to two or three digits.

    >>> percent(0.1234), percent(0.0123), percent(0.00123), percent(0), percent(1e-7), percent(31)
    ('12 %', '1.2 %', '0.12 %', '0 %', '< 0.01 %', '3,100 %')
    """
    if not math.isfinite(share):
        return "unbounded"
    hundred = 100 * share
    if abs(share) < ZERO:
        return "0 %"
    if abs(hundred) < 0.01:
        return "< 0.01 %"
    places = 2 if hundred < 1 else 1 if hundred < 10 else 0
    return f"{hundred:,.{places}f} %"


def tenths(share: float) -> str:
    """A share in per cent with one decimal; half goes up, so that noise makes no difference.

    >>> tenths(0.3425), tenths(0.3425 - 1e-12), tenths(1 / 3)
    ('34.3', '34.3', '33.3')
    """
    return f"{100 * share + 1e-7:.1f}"


def count(number: int, one: str, many: str | None = None) -> str:
    """A number of things.

    >>> count(1, "vertex", "vertices"), count(2000, "cluster")
    ('1 vertex', '2,000 clusters')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def seconds(value: float) -> str:
    """A time.

    >>> seconds(0.0312), seconds(2.5), seconds(200)
    ('31 ms', '2.5 s', '200 s')
    """
    if value < 0.9995:
        return f"{1000 * value:.0f} ms" if value >= 0.0095 else f"{1000 * value:.1f} ms"
    return f"{value:.1f} s" if value < 100 else f"{value:.0f} s"


def rounded(value: float, digits: int = 4) -> float:
    """A number for the page's data, with few digits; rounding noise is 0."""
    return 0.0 if abs(value) < ZERO else float(f"{value:.{digits}g}")
