"""One hyperedge per line."""

import pytest

import hyperclus as hc
from hyperclus.io import read_lines
from support.contracts import refused


def members(folder, text, **options):
    path = folder / "t.txt"
    path.write_bytes(text.encode())
    h = read_lines(path, **options)
    return [h.vertex_ids[h.gamma[[e]].indices].tolist() for e in range(h.n_edges)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a b\nb  c\n", [["a", "b"], ["b", "c"]]),
        ("a,b\nb, c\n", [["a", "b"], ["b", "c"]]),
        ("a b;c\nd\n", [["a b", "c"], ["d"]]),
        ("Doe, J; Roe, R\nRoe, R\n", [["Doe, J", "Roe, R"], ["Roe, R"]]),
        ("a\tb\r\nc\r\n", [["a", "b"], ["c"]]),
        ('"a, b",c\n"d"\n', [["a, b", "c"], ["d"]]),
        ("a,b,,\nc,,,\n", [["a", "b"], ["c"]]),
        ("1 2\n2 -3\n", [[1, 2], [2, -3]]),
        ("1 2\n2 03\n", [["1", "2"], ["2", "03"]]),
        ("\ufeffa b\n\n\n", [["a", "b"]]),
        ("a b\n\nc\n", [["a", "b"], [], ["c"]]),
        ("a|b\rc\r", [["a", "b"], ["c"]]),
    ],
)
def test_members(tmp_path, text, expected):
    assert members(tmp_path, text) == expected


def test_options(tmp_path):
    assert members(tmp_path, "a b,c d\n", delimiter=" ") == [["a", "b,c", "d"]]
    assert members(tmp_path, "1 2\n", ids="text") == [["1", "2"]]
    assert members(tmp_path, "a a b\n", duplicates="max") == [["a", "b"]]
    assert members(tmp_path, "a\n\nb\n", empty_edges="drop") == [["a"], ["b"]]
    assert hc.read(tmp_path / "t.txt", format="lines").n_edges == 3


@pytest.mark.parametrize(
    ("text", "options", "parts"),
    [
        ("a b\nc c\n", {}, ["line 2: the member 'c' is repeated", "duplicates='sum'"]),
        ("a\n\nb\n", {"empty_edges": "error"}, ["line 2: the line is blank", "empty_edges='drop'"]),
        ("a,,b\n", {}, ["line 1: a member between two ',' is missing"]),
        ('a,b\n"c,d\n', {}, ["line 2", "quote"]),
        ("a b\n", {"delimiter": "::"}, ["delimiter must be one character"]),
        ("a b\n", {"ids": "int"}, ["ids must be"]),
        ("", {}, ["the file is empty"]),
    ],
)
def test_faults(tmp_path, text, options, parts):
    refused(lambda: members(tmp_path, text, **options), *parts)


def test_text_that_is_not_utf8(tmp_path):
    (tmp_path / "t").write_bytes(b"a b\n\xe9 c\n")
    refused(lambda: read_lines(tmp_path / "t"), "line 2", "is not UTF-8", "encoding='cp1252'")
    assert hc.read(tmp_path / "t", format="lines", encoding="latin-1").vertex_ids.tolist() == list("abéc")


def test_a_ragged_table_may_be_lines(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\nc,d,e\n")
    refused(lambda: hc.read(tmp_path / "t.csv", format="rows"), "line 2: 3 fields", "format='lines'")
