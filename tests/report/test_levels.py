"""The levels of a report: nested, with the partition among them, and with numbers that stay."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hyperclus as hc
from hyperclus.errors import InputError
from hyperclus.report.html.contents import Contents
from hyperclus.report.html.levels import levels_of
from support.strategies import random_hypergraph


def members(level):
    """The sets of vertices of a level, by the number of their group."""
    return {
        group.id: frozenset(np.flatnonzero(level.part.labels == group.label).tolist())
        for group in level.groups
    }


@given(st.integers(0, 10_000), st.integers(1, 9), st.sampled_from(["ncut", "information"]))
def test_levels_are_nested_and_keep_numbers(seed, k, objective):
    h = random_hypergraph(24, 18, 4, seed=seed)
    n = int(h.covered.sum())
    part = hc.cluster(h, min(k, n), objective=objective, chance=False, effort="fast")
    found = levels_of(part)
    assert found.levels[found.main].part is part
    assert found.levels[found.main].ids.tolist() == list(range(part.k))
    assert [level.k for level in found.levels] == sorted({level.k for level in found.levels})
    for coarse, fine in zip(found.levels, found.levels[1:], strict=False):
        wide, narrow = members(coarse), members(fine)
        assert len(narrow) == fine.k
        for number, inside in narrow.items():
            around = [other for other in wide.values() if inside <= other]
            assert len(around) == 1
            if number in wide:
                assert inside <= wide[number]
        for number, outside in wide.items():  # the largest part keeps the number
            parts = {other: inside for other, inside in narrow.items() if inside <= outside}
            assert number in parts
            if fine.k == coarse.k + 1:
                assert len(parts[number]) == max(map(len, parts.values()))


def test_leaves_give_the_groups_of_each_level():
    part = hc.cluster(random_hypergraph(60, 50, 4, seed=1), 4, chance=False)
    found = levels_of(part)
    leaves = found.tree.leaves.walk_labels
    for level in found.levels:
        assert (level.of_leaf[leaves] == level.ids[level.part.walk_labels]).all()
    order = np.argsort(found.leaf_order)
    for level in found.levels:  # groups are adjacent
        assert np.count_nonzero(np.diff(level.of_leaf[order])) == level.k - 1


def test_levels_can_be_limited_and_extended():
    part = hc.cluster(random_hypergraph(60, 50, 4, seed=1), 4, chance=False)
    assert [level.k for level in levels_of(part).levels] == list(range(2, 13))
    assert [level.k for level in levels_of(part, 2).levels] == [2, 3, 4]
    assert [level.k for level in levels_of(part, 20).levels] == [*range(2, 13), 20]
    many = hc.evaluate(part.walk.hypergraph, np.arange(len(part.walk_labels)) % 50)
    assert [level.k for level in levels_of(many).levels] == [*range(2, 13), 24, 50]
    with pytest.raises(InputError, match="levels must be a whole number"):
        Contents(part, levels="all")
    with pytest.raises(InputError, match="at most 100"):
        Contents(part, levels=9999)


def test_names_follow_the_tree():
    h = hc.Hypergraph.from_edges([["a", "b"], ["b", "c"], ["c", "d"], ["d", "e"], ["e", "f"]])
    part = hc.evaluate(h, ["left", "left", "mid", "mid", "right", "right"])
    found = levels_of(part)
    assert set(found.levels[found.main].names) == {"left", "mid", "right"}
    assert any(" + " in name for name in found.levels[0].names)
    assert any(name.endswith("(2)") for name in found.levels[found.main + 1].names)
    contents = Contents(part, names={0: "first"})
    assert "first" in contents.main.names


def test_certainty_is_the_mean_confidence():
    part = hc.cluster(random_hypergraph(60, 50, 4, seed=1), 4, chance=False)
    level = levels_of(part).levels[levels_of(part).main]
    values = part.confidence().values
    for group in level.groups:
        assert group.certainty == pytest.approx(values[part.labels == group.label].mean())
