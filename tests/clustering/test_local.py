"""Local clustering compared with a dense solve, cuts by loops, and planted blocks."""

import copy
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import hyperclus as hc
from hyperclus.clustering import push
from hyperclus.clustering.push import PushContext, push_context
from hyperclus.clustering.push_kernels import REACHED
from hyperclus.spectral.factors import TransitionFactors
from support.oracles import conductance, stationary, transition, volume
from support.strategies import (
    alphas,
    build,
    disconnected,
    hypergraphs,
    random_hypergraph,
    with_edge_scales,
    with_long_indices,
    with_relabelling,
    with_scaled_edges,
    with_subset,
)

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
import families

examples = settings(deadline=None, max_examples=40)
restarts = st.sampled_from([0.01, 0.05, 0.15, 0.5, 0.999])
accuracies = st.sampled_from([1e-5, 1e-3, 0.1, 1.0, 30.0])
cases = with_subset(st.one_of(hypergraphs(), disconnected()))


def defined_pagerank(p, start, restart):
    """pr = a s + (1 - a) pr P, solved."""
    return np.linalg.solve(np.eye(len(p)) - (1 - restart) * np.asarray(p).T, restart * start)


def weighted_rows(indptr, indices, weights, scale):
    """The neighbors of each node, and the weight to each."""
    return [
        [(int(indices[j]), scale[i] * weights[j]) for j in range(indptr[i], indptr[i + 1])]
        for i in range(len(scale))
    ]


def pushed(rows, distributions, start, restart, accuracy):
    """The estimate after pushes, of the queued vertices and the queued hyperedges by turns."""
    estimate, residuals = [0.0] * len(rows[0]), [[0.0] * len(own) for own in rows]
    for vertex, mass in start.items():
        residuals[0][vertex] = mass
    queues = [[v for v, mass in start.items() if mass > accuracy * distributions[0][v]], []]
    while any(queues):
        for side in (0, 1):
            other, stay = 1 - side, 0.0 if side else restart
            for node in queues[side]:
                amount, residuals[side][node] = residuals[side][node], 0.0
                if side == 0:
                    estimate[node] += restart * amount
                for neighbor, weight in rows[side][node]:
                    residuals[other][neighbor] += (1.0 - stay) * amount * weight
                    high = residuals[other][neighbor] > accuracy * distributions[other][neighbor]
                    if high and neighbor not in queues[other]:
                        queues[other].append(neighbor)
            queues[side] = []
    return estimate


def start_at(phi, seeds):
    start = np.zeros(len(phi))
    start[seeds] = phi[seeds] / phi[seeds].sum()
    return start


def two_blocks(size=12):
    """Two blocks of triples in a ring, joined by one pair; the cluster of a vertex is its block."""
    ring = [[i, (i + 1) % size, (i + 2) % size] for i in range(size)]
    edges = ring + [[v + size for v in edge] for edge in ring] + [[0, size]]
    return build([dict.fromkeys(edge, 1.0) for edge in edges], [1.0] * len(edges), 2 * size)


def planted(n, noise, seed=0):
    """n vertices in blocks of 1,000; and the block of each."""
    table, omega, blocks = families.sparse(15 * n, blocks=n // 1_000, noise=noise, seed=seed)
    h = hc.Hypergraph.from_long(table, edge_ids=np.arange(n), edge_weights=omega, isolated="drop")
    return h, blocks[h.vertex_ids]


def same(one, other):
    assert one.members.tolist() == other.members.tolist()
    assert one.positions.tolist() == other.positions.tolist()
    assert one.scores.tolist() == other.scores.tolist()
    assert one.conductances.tolist() == other.conductances.tolist()
    assert [dip.members.tolist() for dip in one.dips] == [dip.members.tolist() for dip in other.dips]
    assert (one.limit, one.overlap, one.doubt) == (other.limit, other.overlap, other.doubt)
    assert (one.conductance, one.volume, one.restart, one.accuracy) == (
        other.conductance,
        other.volume,
        other.restart,
        other.accuracy,
    )
    assert (one.visits, one.touched) == (other.visits, other.touched)


class TestPush:
    @examples
    @given(cases, alphas, restarts, accuracies)
    def test_error_and_mass(self, case, alpha, restart, accuracy):
        h, subset = case
        walk, seeds = hc.RandomWalk(h, alpha=alpha), np.array(sorted(subset))
        phi = walk.stationary
        context = PushContext.of(walk, h.vertex_ids)
        with context.region(seeds) as reached:
            reached.start(np.arange(len(seeds)))
            reached.push(restart, accuracy)
            vertices, edges = reached.vertices, reached.edges
            count, edge_count = vertices.counts[REACHED], edges.counts[REACHED]
            arrived = np.zeros(h.n_vertices)
            arrived[vertices.position[:count]] = vertices.estimate[:count]
            picked = edges.residual[:edge_count] * h.edge_weights[edges.position[:edge_count]]
            mass = arrived.sum() + vertices.residual[:count].sum() + picked.sum()
            assert (vertices.residual[:count] <= accuracy * phi[vertices.position[:count]]).all()
            assert (picked <= accuracy * walk.edge_stationary[edges.position[:edge_count]] * (1 + 1e-9)).all()
        exact = defined_pagerank(transition(h, alpha), start_at(phi, seeds), restart)
        assert mass == pytest.approx(1.0, abs=1e-9)
        assert (exact - arrived >= -1e-9).all()
        assert (exact - arrived <= 2 * accuracy * phi * (1 + 1e-6) + 1e-9).all()

    @examples
    @given(cases, accuracies)
    def test_in_steps_or_at_once_both_hold(self, case, accuracy):
        """Pushing resumes from a coarser accuracy, and meets the bound of the finer one."""
        h, subset = case
        walk, seeds = hc.RandomWalk(h), np.array(sorted(subset))
        with PushContext.of(walk, h.vertex_ids).region(seeds) as reached:
            reached.start(np.arange(len(seeds)))
            for eps in (100 * accuracy, 7 * accuracy, accuracy):
                reached.push(0.2, eps)
            numbers, scores = reached.scores()
            names = reached.vertices.position[numbers].copy()
        exact = defined_pagerank(walk.dense(), start_at(walk.stationary, seeds), 0.2) / walk.stationary
        assert (exact[names] - scores <= 2 * accuracy * (1 + 1e-6) + 1e-9 / walk.stationary[names]).all()

    def test_a_second_start_is_independent_of_the_first(self):
        walk, seeds = hc.RandomWalk(random_hypergraph(300, 200, 6, seed=1)), np.array([3, 4])
        context = PushContext.of(walk, walk.hypergraph.vertex_ids)
        totals = []
        for first in (False, True):
            with context.region(seeds) as reached:
                if first:
                    reached.start(np.arange(len(seeds)))
                    reached.push(0.3, 1e-2)
                reached.start(np.arange(len(seeds)))
                reached.push(0.1, 1e-5)
                totals.append(reached.vertices.estimate[: reached.vertices.counts[REACHED]].sum())
        assert totals == pytest.approx([1.0, 1.0], abs=1e-4)

    def test_interrupted_often_it_resumes(self):
        walk = hc.RandomWalk(random_hypergraph(300, 200, 6, seed=1))
        at_once = hc.local_cluster(walk, [3, 4], restart=0.1, accuracy=1e-3)
        push_context(walk)[1].max_visits = 100
        in_pieces = hc.local_cluster(walk, [3, 4], restart=0.1, accuracy=1e-3)
        assert in_pieces.members.tolist() == at_once.members.tolist()

    @examples
    @given(cases, alphas, restarts, accuracies)
    def test_is_the_definition(self, case, alpha, restart, accuracy):
        """To the last bit: nodes are pushed in the order in which they were queued in both."""
        h, subset = case
        walk, seeds = hc.RandomWalk(h, alpha=alpha), np.array(sorted(subset))
        context = PushContext.of(walk, h.vertex_ids)
        estimate = np.zeros(h.n_vertices)
        with context.region(seeds) as reached:
            reached.start(np.arange(len(seeds)))
            start = reached.vertices.residual[: len(seeds)].tolist()
            reached.push(restart, accuracy)
            count = reached.vertices.counts[REACHED]
            estimate[reached.vertices.position[:count]] = reached.vertices.estimate[:count]
        rows = [weighted_rows(*links[:4]) for links in (context.links, context.edge_links)]
        distributions = [links[5].tolist() for links in (context.links, context.edge_links)]
        given = dict(zip(seeds.tolist(), start, strict=True))
        assert estimate.tolist() == pushed(rows, distributions, given, restart, accuracy)

    @pytest.mark.parametrize("alpha", [0.0, 1.0])
    def test_long_indices_give_the_same_bits(self, alpha):
        h = random_hypergraph(400, 300, 7, seed=2)
        walks = [hc.RandomWalk(one, alpha=alpha) for one in (h, with_long_indices(h))]
        same(*(hc.local_cluster(walk, [0, 5, 9]) for walk in walks))


class TestPagerank:
    @examples
    @given(cases, alphas, st.sampled_from([0.05, 0.15, 0.5, 0.999]))
    def test_is_the_dense_solve(self, case, alpha, restart):
        h, subset = case
        walk, seeds = hc.RandomWalk(h, alpha=alpha), sorted(subset)
        p = transition(h, alpha)
        found = hc.pagerank(walk, seeds, restart=restart)
        assert found == pytest.approx(
            defined_pagerank(p, start_at(walk.stationary, seeds), restart), abs=1e-9
        )
        everywhere = defined_pagerank(p, np.full(len(p), 1 / len(p)), restart)
        assert hc.pagerank(walk, restart=restart) == pytest.approx(everywhere, abs=1e-9)

    @examples
    @given(cases, st.sampled_from([0.01, 0.1, 0.5, 0.9]))
    def test_lazy_walk(self, case, b):
        """To stay with probability 1/2 and restart with b is to walk and restart with 2 b / (1 + b)."""
        h, subset = case
        walk, seeds = hc.RandomWalk(h), sorted(subset)
        lazy = (np.eye(h.n_vertices) + walk.dense()) / 2
        expected = defined_pagerank(lazy, start_at(walk.stationary, seeds), b)
        assert hc.pagerank(walk, seeds, restart=2 * b / (1 + b)) == pytest.approx(expected, abs=1e-9)

    def test_vertices_in_no_hyperedge_have_none(self):
        h = hc.Hypergraph.from_edges([["a", "b"]], vertex_ids=["a", "b", "c"], isolated="keep")
        assert hc.pagerank(h).tolist() == [0.5, 0.5, 0.0]

    def test_a_tolerance_below_rounding_ends(self):
        ranks = hc.pagerank(random_hypergraph(50, 40, 5, seed=0), tolerance=1e-30)
        assert ranks.sum() == pytest.approx(1.0)

    @pytest.mark.parametrize(
        "arguments", [{"restart": 0}, {"restart": 1.0}, {"tolerance": 0}, {"restart": None}]
    )
    def test_refuses(self, arguments):
        with pytest.raises(hc.InputError, match=f"{next(iter(arguments))} must be a number above 0"):
            hc.pagerank(two_blocks(), **arguments)


class TestCluster:
    @examples
    @given(cases, alphas, st.sampled_from([None, 0.05, 0.5]), st.booleans())
    def test_figures_are_those_of_the_definition(self, case, alpha, restart, keep):
        h, subset = case
        walk = hc.RandomWalk(h, alpha=alpha)
        p, phi = transition(h, alpha), stationary(h, alpha)
        slack = 1e-9 + 1e-14 / phi.min()
        try:
            found = hc.local_cluster(walk, sorted(subset), restart=restart, max_volume=0.999, keep_seeds=keep)
        except hc.InputError as error:
            assert "max_volume" in str(error)  # noqa: PT017
            return
        inside = set(found.positions.tolist())
        assert found.volume == pytest.approx(volume(phi, inside), rel=1e-6)
        assert found.conductance == pytest.approx(conductance(p, phi, inside), rel=1e-6, abs=slack)
        assert found.members.tolist() == h.vertex_ids[found.positions].tolist()
        assert not keep or subset <= inside
        allowed = slice(keep * (len(subset) - 1), np.searchsorted(found.volumes, 0.999))
        prefixes = found.conductances / np.maximum(found.volumes, 1 - found.volumes)
        best = min(dip.ncut for dip in found.dips)
        assert best <= prefixes[: h.n_vertices - 1][allowed].min() + slack
        assert found.ncut <= best + 0.1 * abs(1 - best) + slack
        assert 0 < found.touched <= h.n_incidences
        assert found.touched <= found.visits

    @examples
    @given(cases, alphas)
    def test_sweep_profile(self, case, alpha):
        """The conductance of every prefix in the order of the scores."""
        h, subset = case
        walk, seeds = hc.RandomWalk(h, alpha=alpha), np.array(sorted(subset))
        p, phi = transition(h, alpha), stationary(h, alpha)
        with PushContext.of(walk, h.vertex_ids).region(seeds) as reached:
            reached.start(np.arange(len(seeds)))
            reached.push(0.1, 1e-6)
            support, scores = reached.scores()
            order = support[np.argsort(-scores, kind="stable")]
            volumes, conductances = reached.profile(order)
            names = reached.vertices.position[order].tolist()
        for size in range(1, min(len(names), h.n_vertices - 1) + 1):
            inside = set(names[:size])
            slack = 1e-9 + 1e-14 / min(volume(phi, inside), volume(phi, set(range(h.n_vertices)) - inside))
            assert volumes[size - 1] == pytest.approx(volume(phi, inside), rel=1e-6)
            assert conductances[size - 1] == pytest.approx(conductance(p, phi, inside), rel=1e-6, abs=slack)

    @examples
    @given(
        with_subset(hypergraphs(min_n=4)), st.integers(1, 6), st.sampled_from([0.1, 0.4, 0.7]), st.booleans()
    )
    def test_caps(self, case, max_size, max_volume, keep):
        h, subset = case
        try:
            found = hc.local_cluster(
                h, sorted(subset), max_size=max_size, max_volume=max_volume, keep_seeds=keep
            )
        except hc.InputError as error:
            assert "max_" in str(error)  # noqa: PT017
            return
        assert len(found) <= max_size
        assert found.volume <= max_volume * (1 + 1e-12)

    def test_no_single_vertex_would_lower_the_ncut(self):
        h = random_hypergraph(200, 150, 6, seed=4)
        walk = hc.RandomWalk(h)
        found = hc.local_cluster(walk, [0, 1], accuracy=1e-4, restart=0.05)
        inside = np.zeros(h.n_vertices, dtype=bool)
        inside[found.positions] = True
        assert np.allclose(hc.cut(walk, 1 - inside.astype(int), 2).conductances[0], found.conductance)
        for vertex in range(2, h.n_vertices):
            inside[vertex] ^= True
            moved = hc.cut(walk, 1 - inside.astype(int), 2)
            assert moved.ncut >= found.ncut * (1 - 1e-6)
            inside[vertex] ^= True

    @examples
    @given(with_scaled_edges(hypergraphs(min_n=4)), st.integers(0, 3))
    def test_scaling_gamma_within_a_hyperedge_does_not_change_pagerank(self, pair, seed):
        one, other = (hc.pagerank(h, [seed]) for h in pair)
        assert one == pytest.approx(other, abs=1e-9)

    @examples
    @given(hypergraphs(min_n=4), st.integers(0, 3), st.data())
    def test_scaling_gamma_within_a_hyperedge_does_not_change_the_cluster(self, h, seed, data):
        """Scale by powers of 2, which are exact."""
        scales = [2.0 ** data.draw(st.integers(-9, 9)) for _ in range(h.n_edges)]
        walk = hc.RandomWalk(h)
        assume(walk.stationary[seed] < 0.99)
        scaled = hc.RandomWalk.with_distribution(
            TransitionFactors(with_edge_scales(h, np.array(scales))), walk.distribution
        )
        same(*(hc.local_cluster(one, [seed], max_volume=0.999) for one in (walk, scaled)))

    @examples
    @given(with_relabelling(hypergraphs(min_n=4)), st.integers(0, 3))
    def test_relabelling_only_relabels(self, case, seed):
        h, other, vertices = case
        moved = int(np.flatnonzero(vertices == seed)[0])
        one = hc.pagerank(h, [seed])
        assert one[vertices] == pytest.approx(hc.pagerank(other, [moved]), abs=1e-9)
        assume(hc.RandomWalk(h).stationary[seed] < 0.99)  # or the seed alone is above the cap
        found = hc.local_cluster(h, [seed], max_volume=0.999, restart=0.1, accuracy=1e-5)
        again = hc.local_cluster(other, [moved], max_volume=0.999, restart=0.1, accuracy=1e-5)
        assert found.scores[0] == pytest.approx(again.scores[0], rel=1e-4)

    def test_two_blocks(self):
        h = two_blocks()
        for seed in (0, 5, 12, 20):
            block = range(12) if seed < 12 else range(12, 24)
            assert sorted(hc.local_cluster(h, [seed]).members.tolist()) == list(block)  # half of the volume

    def test_the_smallest_hypergraph(self):
        found = hc.local_cluster(hc.Hypergraph.from_edges([["a", "b"], ["a"]]), "b")
        assert found.members.tolist() == ["b"]
        assert found.conductance == pytest.approx(0.5)

    def test_empty_hyperedges_are_ignored(self):
        h = two_blocks()
        gamma = np.vstack([h.gamma.toarray(), np.zeros(24)])
        more = hc.Hypergraph.from_incidence(gamma.T, empty_edges="keep")
        same(hc.local_cluster(h, [3]), hc.local_cluster(more, [3]))

    def test_components(self):
        h = hc.Hypergraph.from_edges([["a", "b"], ["b", "c"], ["x", "y"], ["y", "z"], ["u", "v"]])
        found = hc.local_cluster(h, ["a"])
        assert sorted(found.members.tolist()) == ["a", "b", "c"]
        assert found.conductance == 0.0
        assert found.touched == 4
        both = hc.local_cluster(h, ["a", "u"], max_volume=0.7)
        assert sorted(both.members.tolist()) == ["a", "b", "c", "u", "v"]
        assert both.conductance == 0.0

    def test_a_vertex_of_tiny_stationary_probability(self):
        edges = [
            {0: 1e-12, 1: 1.0, 2: 1.0},
            {1: 1.0, 2: 1.0},
            {2: 1.0, 3: 1.0},
            {3: 1.0, 4: 1.0},
            {3: 1.0, 4: 1.0},
        ]
        found = hc.local_cluster(build(edges, [1.0] * 5, 5), [0], max_volume=0.6)
        assert sorted(found.members.tolist()) == [0, 1, 2]

    @pytest.mark.parametrize("accuracy", [1e-8, 1e6])
    @pytest.mark.parametrize("restart", [1e-4, 0.9999])
    def test_extreme_arguments(self, restart, accuracy):
        found = hc.local_cluster(two_blocks(), [0, 1], restart=restart, accuracy=accuracy)
        assert {0, 1} <= set(found.members.tolist())
        assert (found.restart, found.accuracy) == (restart, accuracy)

    def test_nearly_all_of_the_volume(self):
        edges = [{0: 1.0, 1: 1.0}, {1: 1.0, 2: 1e-18}]
        found = hc.local_cluster(build(edges, [1.0, 1e-3], 3), [0], max_volume=1 - 1e-15)
        assert 0 in found.members
        assert np.isfinite(found.conductance)


class TestSeeds:
    def test_order_and_repetition_do_not_matter(self):
        walk = hc.RandomWalk(random_hypergraph(300, 200, 6, seed=5))
        found = hc.local_cluster(walk, [4, 9, 250])
        for seeds in ([250, 4, 9], (9, 4, 250, 4), {4, 9, 250}, np.array([250, 9, 4]), iter([9, 250, 4])):
            same(found, hc.local_cluster(walk, seeds))

    def test_one_id_is_one_seed(self):
        h = hc.Hypergraph.from_edges([["ann", "bob"], ["bob", "cy"], ["a", "n", "cy"]])
        same(hc.local_cluster(h, "ann"), hc.local_cluster(h, ["ann"]))
        same(hc.local_cluster(two_blocks(), 3), hc.local_cluster(two_blocks(), [3]))

    def test_ids_of_any_kind(self):
        h = hc.Hypergraph.from_edges([[("a", 1), 2.5], [2.5, "x"], ["x", "y"]])
        assert ("a", 1) in hc.local_cluster(h, [("a", 1)]).members.tolist()
        numbers = hc.Hypergraph.from_edges([[100, 7], [7, 30], [30, 5]])
        assert 100 in hc.local_cluster(numbers, np.array([100], dtype=np.uint8)).members
        assert 7 in hc.local_cluster(numbers, [7.0]).members

    @pytest.mark.parametrize(
        ("seeds", "sentence"),
        [
            (["b", "nobody"], r"seed 'nobody' is not among the 3 vertices; correct it or leave it out"),
            ([["a"]], r"seed \['a'\] is not among"),
            ([float("nan")], "seed nan is not among"),
            ([], "no seeds are given; name at least one vertex"),
            (["a", "b", "c"], "all vertices are seeds"),
            (None, "seeds must be a list or an array, not None"),
            ({"a": 1}, "seeds must be a list or an array"),
        ],
    )
    def test_refuses(self, seeds, sentence):
        h = hc.Hypergraph.from_edges([["a", "b"], ["b", "c"]])
        with pytest.raises(hc.InputError, match=sentence):
            hc.local_cluster(h, seeds)

    def test_refuses_an_unknown_number(self):
        with pytest.raises(hc.InputError, match="seed 99 is not among the 24 vertices"):
            hc.local_cluster(two_blocks(), [3, 99])

    def test_in_no_hyperedge(self):
        h = hc.Hypergraph.from_edges(
            [["b", "c"], ["c", "d"], ["d", "e"]], vertex_ids=list("abcde"), isolated="keep"
        )
        with pytest.raises(hc.InputError, match="seed 'a' is in no hyperedge; leave it out"):
            hc.local_cluster(h, ["a"])
        found = hc.local_cluster(h, ["b"])
        assert found.members.tolist() == h.vertex_ids[found.positions].tolist()
        assert found.members[0] == "b"

    @pytest.mark.parametrize(
        ("arguments", "sentence"),
        [
            ({"restart": 1}, "restart must be a number from 0.0001 and below 1; got 1"),
            ({"accuracy": -1.0}, "accuracy must be a number above 0; got -1.0"),
            ({"accuracy": np.nan}, "accuracy must be a number above 0; got nan"),
            ({"max_volume": 1.0}, "max_volume must be a number above 0 and below 1"),
            ({"max_size": 0}, "max_size must be a whole number from 1"),
            ({"max_size": 1}, "2 seeds do not fit into max_size=1;"),
            ({"max_volume": 0.01}, "the seeds hold .* % of the volume, more than max_volume=0.01;"),
            ({"max_volume": 1e-4, "keep_seeds": False}, "holds more than max_volume=0.0001;"),
        ],
    )
    def test_refuses_arguments(self, arguments, sentence):
        with pytest.raises(hc.InputError, match=sentence):
            hc.local_cluster(two_blocks(), [0, 1], **arguments)


class TestManyQueries:
    def test_queries_do_not_depend_on_earlier_ones(self):
        h = random_hypergraph(400, 300, 6, seed=6)
        walk = hc.RandomWalk(h)
        seeds = [[i, (7 * i) % 400] for i in range(20)]
        together = [hc.local_cluster(walk, pair) for pair in seeds]
        for pair, found in zip(reversed(seeds), reversed(together), strict=True):
            same(found, hc.local_cluster(walk, pair))
        same(together[3], hc.local_cluster(hc.RandomWalk(h), seeds[3]))

    def test_queries_do_not_depend_on_a_failed_one(self):
        walk = hc.RandomWalk(two_blocks())
        before = hc.local_cluster(walk, [3])
        with pytest.raises(hc.InputError):
            hc.local_cluster(walk, [3], max_volume=1e-4, keep_seeds=False)
        same(before, hc.local_cluster(walk, [3]))

    def test_in_threads(self):
        walk = hc.RandomWalk(random_hypergraph(2_000, 2_000, 8, seed=7))
        seeds = [[i] for i in range(24)]
        one_by_one = [hc.local_cluster(walk, pair) for pair in seeds]
        with ThreadPoolExecutor(4) as pool:
            at_once = list(pool.map(lambda pair: hc.local_cluster(walk, pair), seeds))
        for one, other in zip(one_by_one, at_once, strict=True):
            same(one, other)

    @pytest.mark.parametrize(
        "twin", [copy.copy, copy.deepcopy, lambda walk: pickle.loads(pickle.dumps(walk))]
    )
    def test_copies_of_a_walk(self, twin):
        walk = hc.RandomWalk(two_blocks(), alpha=1)
        found = hc.local_cluster(walk, [3])
        same(found, hc.local_cluster(twin(walk), [3]))

    def test_a_walk_is_not_kept_alive(self):
        walk = hc.RandomWalk(two_blocks())
        hc.local_cluster(walk, [3])
        kept = len(push._contexts)
        del walk
        assert len(push._contexts) < kept


class TestQuickWalk:
    @examples
    @given(hypergraphs(min_n=4), alphas)
    def test_is_the_same_walk_with_a_rough_distribution_and_its_residual(self, h, alpha):
        exact, quick = hc.RandomWalk(h, alpha=alpha), hc.clustering.quick_walk(h, alpha=alpha, steps=3)
        assert quick.stationary.sum() == pytest.approx(1.0)
        residual = np.abs(quick.adjoint(quick.stationary) - quick.stationary).sum()
        assert quick.distribution.residual == pytest.approx(residual, abs=1e-12)
        assert quick.dense() == pytest.approx(exact.dense())
        assert quick.alpha == alpha

    def test_finds_the_same(self):
        h = two_blocks()
        found = hc.local_cluster(hc.clustering.quick_walk(h), [3], max_volume=0.6)
        assert sorted(found.members.tolist()) == list(range(12))

    def test_refuses_no_steps(self):
        with pytest.raises(hc.InputError, match="steps must be a whole number from 1"):
            hc.clustering.quick_walk(two_blocks(), steps=0)


def answers(n, noise, walk_of, queries=5, n_seeds=5):
    """F1 and touched incidences of a few queries, each from seeds of a block."""
    h, blocks = planted(n, noise)
    walk, rng = walk_of(h), np.random.default_rng(1)
    scores, touched = [], []
    for block in rng.integers(0, n // 1_000, queries):
        inside = np.flatnonzero(blocks == block)
        found = hc.local_cluster(walk, h.vertex_ids[rng.choice(inside, n_seeds, replace=False)])
        both = len(np.intersect1d(found.positions, inside))
        scores.append(2 * both / (len(found) + len(inside)))
        touched.append(found.touched)
    return np.array(scores), np.array(touched)


class TestPlanted:
    @pytest.mark.parametrize("walk_of", [hc.RandomWalk, hc.clustering.quick_walk])
    def test_five_seeds_find_their_block_among_a_hundred(self, walk_of):
        scores, touched = answers(100_000, 0.09, walk_of)  # planted conductance 0.16
        assert scores.min() > 0.99
        assert touched.max() < 0.15 * 1_500_000

    def test_one_seed_finds_its_block(self):
        scores, _ = answers(20_000, 0.2, hc.RandomWalk, n_seeds=1)  # planted conductance 0.32
        assert scores.min() > 0.95

    def test_the_work_does_not_grow_with_the_hypergraph(self):
        _, small = answers(10_000, 0.07, hc.clustering.quick_walk)
        _, large = answers(100_000, 0.07, hc.clustering.quick_walk)
        assert large.mean() < 1.5 * small.mean()

    @pytest.mark.slow
    def test_the_work_does_not_grow_up_to_a_million_vertices(self):
        scores, touched = answers(1_000_000, 0.07, hc.clustering.quick_walk)
        assert scores.min() > 0.99
        assert touched.max() < 200_000
