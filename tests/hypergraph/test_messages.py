"""Values and ids in messages are short and on one line."""

import numpy as np

from hyperclus.hypergraph.ids import id_array
from hyperclus.hypergraph.messages import named, no_column, shown


def test_shown():
    assert shown("a\nb😀") == "'a\\nb😀'"
    assert shown(np.int64(3)) == "3"
    assert shown(np.float64(0.5)) == "0.5"
    assert shown(np.str_("a")) == "'a'"
    assert shown("a  b") == "'a  b'"
    for value in ("x" * 10_000, ("x" * 10_000,) * 50, 10**400, np.ones((50, 50)), object()):
        assert len(shown(value)) <= 120
        assert "\n" not in shown(value)


def test_named():
    ids = id_array(list("abcde"), "vertex")
    assert named(ids, np.array([True, False, True, False, False])) == "'a', 'c'"
    assert named(ids, np.ones(5, dtype=bool)) == "'a', 'b', 'c' and 2 more"
    assert named(np.arange(5000), np.ones(5000, dtype=bool)) == "0, 1, 2 and 4,997 more"


def test_no_column():
    assert no_column("x", ["a", "b"]) == "the table has no column 'x'; its columns are 'a', 'b'"
    assert no_column("x", range(12)).endswith("its columns are 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more")
    assert no_column("x", []).endswith("its columns are none")
