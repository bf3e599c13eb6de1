"""Branch and bound against enumeration; its cases cover all partitions."""

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


def test_cases_are_needed():
    walks = [RandomWalk(random_hypergraph(9, 8, 3, seed)) for seed in range(8)]
    found = [branch_and_bound(walk, 3, optimum(walk, 3), tolerance=1e-6) for walk in walks]
    assert max(len(one.cases) for one in found) > 1


def test_an_upper_bound_that_no_partition_reaches_ends_the_search():
    walk = RandomWalk(random_hypergraph(9, 8, 3, 0))
    found = branch_and_bound(walk, 2, 10.0, max_cases=6)
    assert (found.closed, len(found.cases)) == (False, 6)
    assert found.value <= optimum(walk, 2)


@pytest.mark.slow
def test_car_is_solved_exactly():
    h, _, _ = paper_hypergraph("car")
    part = hc.hyperclus_g(h, k=2, rounding="sweep")
    part = hc.refine(h, part, effort="thorough", objective="ncut")
    found = branch_and_bound(RandomWalk(h), 2, part.ncut, tolerance=5e-7)
    assert found.closed
    assert part.ncut * (1 - 1e-6) <= found.value <= part.ncut


@pytest.mark.parametrize("k", [1, 9])
def test_a_wrong_number_of_clusters(k):
    with pytest.raises(InputError):
        branch_and_bound(RandomWalk(random_hypergraph(9, 8, 3, 0)), k, 1.0)


def test_what_is_too_large():
    h = hc.Hypergraph.from_edges([[i, i + 1] for i in range(400)])
    with pytest.raises(InputError, match="n <= 400 vertices; got 2 of 401"):
        branch_and_bound(RandomWalk(h), 2, 1.0)
