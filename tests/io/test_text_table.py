"""Codes of texts: those of a dictionary, whatever the texts and the batches are."""

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from hyperclus.io.tables.text_table import TextTable

some = st.sampled_from(["", "a", "\x00", "ab" * 8, "ab" * 8 + "\x00"])
texts = st.lists(st.text(max_size=20) | some, max_size=80)


def by_dictionary(batches):
    known = {}
    return [[known.setdefault(text, len(known)) for text in batch] for batch in batches], list(known)


@given(st.lists(texts, max_size=5), st.integers(1, 10))
def test_codes_are_those_of_a_dictionary(batches, at_once):
    table = TextTable(at_once)
    found = [table.codes(pa.array(batch, pa.large_string())).tolist() for batch in batches]
    codes, known = by_dictionary(batches)
    assert found == codes
    assert len(table) == len(known)
    assert table.texts().to_pylist() == known


@given(texts, st.integers(0, 80), st.integers(0, 80))
def test_a_slice_of_an_array_has_its_own_codes(batch, start, length):
    part = pa.array(batch, pa.large_string()).slice(min(start, len(batch)), length)
    assert TextTable().codes(part).tolist() == by_dictionary([part.to_pylist()])[0][0]


def test_many_texts_are_distinct():
    batch = [f"v{number}" for number in range(100_000)]
    table = TextTable()
    assert table.codes(pa.array(batch, pa.large_string())).tolist() == list(range(100_000))
    assert table.codes(pa.array(batch[::-1], pa.large_string()))[0] == 99_999
