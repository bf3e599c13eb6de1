"""Branch and bound against enumeration; its cases cover all partitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hyperclus as hc
from hyperclus import InputError, RandomWalk
from hyperclus.spectral.branch_and_bound import branch_and_bound
from support import oracles
from support.paper_data import paper_hypergraph
from support.proofs import proven_value
from support.strategies import hypergraphs, random_hypergraph

few = settings(deadline=None, max_examples=25)


def optimum(walk, k):
    return oracles.min_ncut(walk.dense(), walk.stationary, k)


def covers(paths):
    """Whether the paths are the leaves of a complete tree."""
    if len(paths) == 1:
        return len(paths[0]) == 0
    if any(len(path) == 0 for path in paths) or len({tuple(path[0][:2]) for path in paths}) > 1:
        return False
    return all(covers([path[1:] for path in paths if path[0][2] == side]) for side in (0, 1))


def check(walk, k, found):
    assert covers([case.path.tolist() for case in found.cases])
    values = [proven_value(case.proof, walk) for case in found.cases]
    assert min(values) == pytest.approx(found.value, rel=1e-6, abs=1e-9)


@few
@given(hypergraphs(min_n=4, max_n=8), st.sampled_from([2, 3]))
def test_no_partition_beats_it(h, k):
    walk = RandomWalk(h)
    best = optimum(walk, k)
    found = branch_and_bound(walk, k, best, max_cases=8)
    assert found.value <= best + 1e-14
    check(walk, k, found)


@pytest.mark.parametrize("seed", range(8))
def test_random_hypergraphs_are_solved(seed):
    walk = RandomWalk(random_hypergraph(9, 8, 3, seed))
    best = optimum(walk, 3)
    found = branch_and_bound(walk, 3, best, tolerance=1e-6)
    assert found.closed
    assert best * (1 - 1e-6) <= found.value <= best
    check(walk, 3, found)


def test_an_upper_bound_that_no_partition_reaches_ends_the_search():
    walk = RandomWalk(random_hypergraph(9, 8, 3, 0))
    found = branch_and_bound(walk, 2, 10.0, max_cases=6)
    assert (found.closed, len(found.cases)) == (False, 6)
    assert found.value <= optimum(walk, 2)


@pytest.mark.parametrize("seed", [2, 4])
def test_no_case_has_fewer_groups_than_clusters(seed):
    walk = RandomWalk(random_hypergraph(6, 6, 3, seed))
    best = optimum(walk, 5)
    found = branch_and_bound(walk, 5, 1.001 * best)
    assert found.value == pytest.approx(best, rel=1e-9)
    assert found.value <= best


@pytest.mark.parametrize("seed", range(4))
def test_cluster_proves_an_optimum_that_can_be_verified(seed, tmp_path):
    h = random_hypergraph(12, 9, 3, seed)
    part = hc.cluster(h, 3, bound="optimal", chance=False)
    best = optimum(RandomWalk(h), 3)
    assert part.settings["objective"] == "ncut"
    assert part.tight.ended == "closed"
    assert best * (1 - 2e-7) <= part.lower_bound <= best <= part.ncut * (1 + 1e-12)
    part.certificate(tmp_path / "x.cert")
    verdict = hc.verify(tmp_path / "x.cert", h)
    assert verdict.verified, verdict.refusals
    assert verdict.gap < 1e-6


def test_seconds_limit_the_cases():
    h = random_hypergraph(30, 25, 3, 0)
    part = hc.cluster(h, 4, bound="optimal", bound_seconds=1e-6, chance=False)
    assert part.tight.ended == "seconds"
    assert part.tight.cases == ()
    assert part.lower_bound <= part.ncut


def test_a_tree_has_no_such_bound():
    with pytest.raises(InputError, match="a tree has no tight bound"):
        hc.tree(random_hypergraph(12, 9, 3, 0), bound="optimal")


@pytest.mark.slow
@pytest.mark.parametrize(("name", "k"), [("car", 2), ("zoo", 7)])
def test_car_and_zoo_are_proven_optimal(name, k, tmp_path):
    h, _, _ = paper_hypergraph(name)
    part = hc.cluster(h, k, bound="optimal", chance=False)
    assert part.gap <= 1e-7
    part.certificate(tmp_path / "x.cert")
    assert hc.verify(tmp_path / "x.cert", h).gap < 1e-6


@pytest.mark.parametrize("k", [1, 9])
def test_a_wrong_number_of_clusters(k):
    with pytest.raises(InputError):
        branch_and_bound(RandomWalk(random_hypergraph(9, 8, 3, 0)), k, 1.0)


def test_what_is_too_large():
    h = hc.Hypergraph.from_edges([[i, i + 1] for i in range(400)])
    with pytest.raises(InputError, match="n <= 400 vertices; got 2 of 401"):
        branch_and_bound(RandomWalk(h), 2, 1.0)


def test_multipliers_of_a_case_without_partitions_are_limited():
    walk = RandomWalk(random_hypergraph(5, 6, 3, 0))
    found = branch_and_bound(walk, 3, 1.001 * optimum(walk, 3))
    proofs = [case.proof for case in found.cases]
    values = np.concatenate([array for one in proofs for array in (one.pair_values, one.apart_values)])
    assert 1e3 < np.abs(values).max() <= 1e6
