"""Numbers, times and ids as text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperclus.report.format import byte_size, duration, percent, percent_cell, short_id, shorten

shares = st.floats(0, 1)


@given(st.text(), st.integers(4, 100))
def test_short_ids_are_short_and_on_one_line(text, longest):
    found = short_id(text, longest)
    assert len(found) <= longest
    assert len(found.splitlines()) <= 1
    found.encode()
    if len(text) <= longest:
        assert len(found) == len(text)


@given(st.text(), st.integers(4, 100))
def test_shortened_texts_keep_both_ends(text, longest):
    found = shorten(text, longest)
    if len(text) <= longest:
        assert found == text
    else:
        head, tail = found.split("\u2026")[0], found.rsplit("\u2026", 1)[1]
        assert len(found) == longest
        assert text.startswith(head)
        assert text.endswith(tail)


def test_integers_of_thousands_of_digits_have_a_name():
    assert short_id(10**5000) == "<int>"


@given(shares, st.integers(0, 4))
def test_percent_cells_are_rounded(share, decimals):
    found = percent_cell(share, decimals)
    if found.startswith("<"):
        assert 0 < share < 0.01 * float(found[2:])
    else:
        assert float(found) == pytest.approx(100 * share, abs=0.501 * 10**-decimals)


@given(shares)
def test_percentages_have_a_relative_error_below_five_percent(share):
    found = percent(share)
    if found.startswith("<"):
        assert 0 < share < 1e-4
    else:
        assert float(found.removesuffix(" %")) == pytest.approx(100 * share, rel=0.05, abs=1e-9)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0004, "0.4 ms"),
        (0.9996, "1.0 s"),
        (9.94, "9.9 s"),
        (9.96, "10 s"),
        (60, "1 min 0 s"),
        (3600, "1 h 0 min"),
    ],
)
def test_durations_at_the_borders_of_units(seconds, text):
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 B"), (999, "999 B"), (999.6, "1.00 kB"), (99.96e6, "100 MB")]
)
def test_byte_sizes_at_the_borders_of_units(size, text):
    assert byte_size(size) == text
