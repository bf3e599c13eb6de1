"""DiffEq against its definition written with loops: the steps, the sweep, the whole search."""

from math import inf

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import hyperclus as hc
from hyperclus.research.baselines import diffeq_search
from hyperclus.research.baselines.diffeq import diffeq, diffeq_best, diffeq_local
from hyperclus.research.baselines.diffeq_search import diffused, highest, network_of, restarts
from hyperclus.research.baselines.diffusion import COLUMNS
from support.paper_data import paper_hypergraph
from support.strategies import hypergraphs, random_hypergraph, relabelled, with_long_indices, with_relabelling

examples = settings(deadline=None, max_examples=60)
RULES = ("all", "sequential")
both_rules = pytest.mark.parametrize("ties", RULES)


# ---- the definition, with loops ----------------------------------------------------------------------------


STEPS, LEAST, TIE = 30, 1e-5, 1e-8  # of the public program


def member_lists(h):
    return [sorted(h.gamma[[e]].indices.tolist()) for e in range(h.n_edges)]


def degree_list(h):
    degrees = [0.0] * h.n_vertices
    for weight, inside in zip(h.edge_weights.tolist(), member_lists(h), strict=True):
        for v in inside:
            degrees[v] += weight
    return degrees


def extreme(y, inside, ties, sign):
    """The maximum (sign 1) or minimum (sign -1) and the members that attain it."""
    if ties == "all":
        best = max(sign * y[v] for v in inside)
        return sign * best, [v for v in inside if sign * y[v] >= best - TIE * abs(best)]
    best, attained = -inf, []
    for v in inside:
        if sign * y[v] > best + TIE:
            best, attained = sign * y[v], [v]
        elif sign * y[v] > best - TIE:
            attained.append(v)
    return sign * best, attained


def stepped(h, source, alpha, ties, steps, least):
    """x after some steps from s = source."""
    degrees, edges, x = degree_list(h), member_lists(h), list(source)
    for _ in range(steps):
        y = [mass / degree for mass, degree in zip(x, degrees, strict=True)]
        change = [0.0] * len(x)
        for weight, inside in zip(h.edge_weights.tolist(), edges, strict=True):
            top, high = extreme(y, inside, ties, 1)
            bottom, low = extreme(y, inside, ties, -1)
            for v in high:
                change[v] += weight * (top - bottom) / len(high)
            for v in low:
                change[v] -= weight * (top - bottom) / len(low)
        x = [
            before - ((1 - alpha) * moved + alpha * (before - start))
            for before, moved, start in zip(x, change, source, strict=True)
        ]
        x = [0.0 if mass < least else mass for mass in x]
    return x


def volume_of(h, inside):
    degrees = degree_list(h)
    return sum(degrees[v] for v in inside)


def conductance_of(h, inside):
    cut = sum(
        weight
        for weight, members in zip(h.edge_weights.tolist(), member_lists(h), strict=True)
        if 0 < len(inside & set(members)) < len(members)
    )
    here, total = volume_of(h, inside), volume_of(h, range(h.n_vertices))
    return cut / min(here, total - here)


def swept(h, seeds, alpha, ties):
    """The vertices by x / d after the steps, descending; ties by position; "all" leaves out those at 0."""
    source = [1 / len(seeds) if v in seeds else 0.0 for v in range(h.n_vertices)]
    x, degrees = stepped(h, source, alpha, ties, STEPS, LEAST), degree_list(h)
    reached = [v for v in range(h.n_vertices) if ties == "sequential" or x[v] > 0]
    return sorted(reached, key=lambda v: -x[v] / degrees[v])


def best_prefix(h, seeds, max_volume, ties):
    """The lowest conductance over all alphas and prefixes; infinity if all are too large."""
    total, best = volume_of(h, range(h.n_vertices)), inf
    for alpha in restarts(h.n_vertices, h.n_edges).tolist():
        order = swept(h, seeds, alpha, ties)
        for length in range(1, len(order) + 1):
            inside = set(order[:length])
            if volume_of(h, inside) > max_volume * total * (1 + 1e-12):
                break
            best = min(best, conductance_of(h, inside))
    return best


# ---- helpers ----------------------------------------------------------------------------------------------


def network(h):
    return network_of(h, np.arange(h.n_vertices))


@st.composite
def starts(draw):
    """A hypergraph, and a source and an alpha for several columns: single seeds, sets, any distribution."""
    h = draw(hypergraphs())
    count = draw(st.integers(1, 5))
    source = np.zeros((h.n_vertices, count))
    for column in range(count):
        distribution = draw(
            st.lists(st.integers(0, 3), min_size=h.n_vertices, max_size=h.n_vertices).filter(any)
        )
        source[:, column] = np.array(distribution) / sum(distribution)
    alphas = draw(st.lists(st.sampled_from([0.0, 1e-3, 0.1, 0.5, 1.0]), min_size=count, max_size=count))
    return h, source, np.array(alphas)


def planted(seed=0):
    """12 vertices 0 .. 11 with 36 hyperedges of their own among 150, and 4 pairs with one of each kind."""
    rng = np.random.default_rng(seed)
    edges = [[(i + step) % 12 for step in (0, 1, 3, 7)] for i in range(36)]
    edges += [(12 + rng.choice(138, 5, replace=False)).tolist() for _ in range(400)]
    edges += [[int(rng.integers(12)), int(rng.integers(12, 150))] for _ in range(4)]
    return hc.Hypergraph.from_edges(edges, vertex_ids=range(150))


SMALL = hc.Hypergraph.from_edges([["a", "b", "c"], ["a", "b"], ["c", "d"], ["d", "e", "f"], ["e", "f"]])


# ---- the steps -----------------------------------------------------------------------------------------


class TestSteps:
    @both_rules
    def test_by_hand(self, ties):
        h = hc.Hypergraph.from_edges([[0, 1, 2], [2, 3]], edge_weights=[1.0, 2.0])
        source, alphas = np.eye(4)[:, :1], np.array([0.5])
        expected = {
            1: [0.5, 0.25, 0.25, 0.0],
            2: [6.5 / 12, 0.125, 0.25, 1 / 12],
            30: [0.55216693419804741, 0.069020866762937727, 0.2744783306429201, 0.10433386839609476],
        }
        for steps, x in expected.items():
            found = diffused(network(h), source, alphas, ties, steps=steps)
            np.testing.assert_allclose(found[:, 0], x, rtol=0, atol=1e-14)

    @both_rules
    @examples
    @given(case=starts(), least=st.sampled_from([-inf, LEAST, 0.05]))
    def test_are_the_definition(self, ties, case, least):
        """To the last bit: the sums run in the order of the hyperedges in both."""
        h, source, alphas = case
        found = diffused(network(h), source, alphas, ties, steps=8, least=least)
        for column, alpha in enumerate(alphas.tolist()):
            x = stepped(h, source[:, column].tolist(), alpha, ties, 8, least)
            np.testing.assert_array_equal(found[:, column], x)

    @both_rules
    @examples
    @given(case=starts())
    def test_mass_is_kept(self, ties, case):
        """Without the cut at 1e-5 the mass stays 1, and nothing becomes negative but by tie tolerance.

        A member that attains M gives omega (M - mu) / |Amax|. If its own y is M this is omega y at most.
        If it only ties it shares with another. With "all" it has y >= M (1 - TIE) and gives less than
        omega y; with "sequential" y >= M - TIE, so that it may give omega (y + TIE) / 2, and one step takes
        y below 0 by TIE / 2 at most.
        """
        h, source, alphas = case
        found = diffused(network(h), source, alphas, ties, least=-inf)
        np.testing.assert_allclose(found.sum(axis=0), 1.0, rtol=0, atol=1e-12)
        degrees = np.array(degree_list(h))
        below = STEPS * TIE / 2 if ties == "sequential" else 0.0
        assert (found / degrees[:, None]).min() >= -below - 1e-15

    @both_rules
    def test_mass_stays_positive_away_from_ties(self, ties):
        h = random_hypergraph(40, 30, 5, 1)
        found = diffused(network(h), np.eye(40)[:, :COLUMNS], np.full(COLUMNS, 0.01), ties, least=-inf)
        assert found.min() >= -1e-15
        cut = diffused(network(h), np.eye(40)[:, :3], np.full(3, 0.95), ties)
        assert ((cut == 0) | (cut >= LEAST)).all()
        assert (cut == 0).any()

    def test_the_two_rules_differ_where_near_ties_chain(self):
        """In order 1, 1 + .8, 1 + 1.6 (times 1e-8): the third starts a new set and loses the second."""
        h = hc.Hypergraph.from_edges([[0, 1, 2, 3]])
        rising = np.array([1, 1 + 0.8e-8, 1 + 1.6e-8, 0])[:, None]
        moved = {
            (ties, order): np.flatnonzero(
                np.abs(diffused(network(h), start, np.zeros(1), ties, steps=1)[:3] - start[:3]) > 0.1
            ).tolist()
            for ties in RULES
            for order, start in (("up", rising), ("down", rising[[2, 1, 0, 3]]))
        }
        assert moved == {
            ("all", "up"): [1, 2],
            ("all", "down"): [0, 1],
            ("sequential", "up"): [2],
            ("sequential", "down"): [0, 1],
        }

    @pytest.mark.parametrize("omega", [1e-12, 1e-300])
    @both_rules
    def test_mass_is_kept_where_the_tie_tolerance_drowns(self, ties, omega):
        """y is so large that y - 1e-8 is y."""
        h = random_hypergraph(20, 15, 4, 2, omega=0.0)
        h = h.with_edge_weights(np.full(15, omega))
        found = diffused(network(h), np.eye(20), np.full(20, 0.01), ties, least=-inf)
        np.testing.assert_allclose(found.sum(axis=0), 1.0, rtol=0, atol=1e-12)

    @examples
    @given(case=with_relabelling(hypergraphs()))
    def test_all_ties_together_only_relabel(self, case):
        h, _, vertices = case
        same_edges = relabelled(h, vertices, np.arange(h.n_edges))
        alphas = np.full(h.n_vertices, 0.01)
        before = diffused(network(h), np.eye(h.n_vertices), alphas, "all")
        after = diffused(network(same_edges), np.eye(h.n_vertices), alphas, "all")
        np.testing.assert_array_equal(after, before[np.ix_(vertices, vertices)])

    @both_rules
    def test_columns_do_not_see_each_other(self, ties):
        h = random_hypergraph(40, 30, 6, 4)
        alphas = np.resize(restarts(40, 30), COLUMNS)
        together = diffused(network(h), np.eye(40)[:, :COLUMNS], alphas, ties)
        for column in (0, 7, COLUMNS - 1):
            alone = diffused(network(h), np.eye(40)[:, [column]], alphas[[column]], ties)
            np.testing.assert_array_equal(alone[:, 0], together[:, column])


@both_rules
def test_long_indices_give_the_same_bits(ties):
    h = random_hypergraph(40, 25, 6, 3)
    found = []
    for one in (h, with_long_indices(h)):
        x = diffused(network(one), np.eye(40)[:, :5], restarts(40, 25)[2:7], ties)
        local = diffeq_local(one, [3], max_volume=0.3, ties=ties)
        found.append((x, local.positions, local.conductance, local.restart))
    for short, long in zip(*found, strict=True):
        np.testing.assert_array_equal(short, long)


# ---- the sweep and the search --------------------------------------------------------------------------


class TestSearch:
    def test_alphas(self):
        alphas = restarts(4, 2)
        assert alphas.tolist() == pytest.approx([1 / 8, 1.9 / 8, 1.9**2 / 8, 1.9**3 / 8])
        assert restarts(1, 1).tolist() == [1.0]

    @examples
    @given(scores=st.lists(st.integers(0, 4).map(float), min_size=1, max_size=12), count=st.integers(1, 14))
    def test_highest(self, scores, count):
        expected = sorted(range(len(scores)), key=lambda v: -scores[v])
        found = highest(np.array(scores), count).tolist()
        assert len(found) >= min(count, len(scores))
        assert found == expected[: len(found)]

    @both_rules
    @settings(deadline=None, max_examples=30)
    @given(h=hypergraphs(max_n=8), data=st.data())
    def test_local_is_the_definition(self, ties, h, data):
        some = st.sets(st.integers(0, h.n_vertices - 1), min_size=1, max_size=3)
        seeds, max_volume = data.draw(some), data.draw(st.sampled_from([0.1, 0.3, 0.5]))
        found = diffeq_local(h, seeds, max_volume=max_volume, ties=ties)
        best = best_prefix(h, seeds, max_volume, ties)
        if best == inf:
            assert len(found) == 0
            assert np.isnan(found.conductance)
            return
        assert found.conductance == pytest.approx(best, rel=1e-9, abs=2e-12)
        assert found.conductance == pytest.approx(conductance_of(h, set(found.positions.tolist())), rel=1e-12)
        assert found.positions.tolist() == swept(h, seeds, found.restart, ties)[: len(found)]
        share = volume_of(h, found.positions.tolist()) / volume_of(h, range(h.n_vertices))
        assert found.volume == pytest.approx(share)
        assert found.volume <= max_volume * (1 + 1e-9)

    @both_rules
    @settings(deadline=None, max_examples=25)
    @given(h=hypergraphs(max_n=9))
    def test_best_is_the_best_of_the_locals(self, ties, h):
        """With many blocks of columns and two threads; of equal ones the first."""
        best = diffeq_best(h, n_seeds=None, max_volume=0.4, ties=ties)
        alone = [diffeq_local(h, [v], max_volume=0.4, ties=ties) for v in range(h.n_vertices)]
        assume(len(best))
        first = min((one for one in alone if len(one)), key=lambda one: one.conductance)
        assert best.conductance == pytest.approx(first.conductance, abs=2e-12)
        (same,) = (one for one in alone if one.seeds.tolist() == best.seeds.tolist())
        assert same.positions.tolist() == best.positions.tolist()
        assert (same.conductance, same.restart) == (best.conductance, best.restart)

    def test_of_equal_ones_the_first_seed(self):
        twins = hc.Hypergraph.from_edges([[i, i + 1, i + 2] for i in range(0, 30, 3)])
        assert diffeq_best(twins, n_seeds=None).seeds.tolist() == [0]
        assert diffeq_best(twins, n_seeds=None).conductance == 0.0

    def test_of_equal_ones_the_first_prefix(self):
        """Vertices without mass follow by position, and complete one triple after the other."""
        twins = hc.Hypergraph.from_edges([[i, i + 1, i + 2] for i in range(0, 30, 3)])
        assert sorted(diffeq_local(twins, 4, max_volume=0.5).members.tolist()) == [3, 4, 5]

    @pytest.mark.parametrize("seed", range(4))
    def test_a_relabelling_only_relabels(self, seed):
        h = random_hypergraph(60, 45, 5, seed)
        order = np.random.default_rng(seed).permutation(60)
        again = relabelled(h, order, np.random.default_rng(seed + 1).permutation(45))
        before = diffeq_local(h, [7])
        after = diffeq_local(again, [int(np.flatnonzero(order == 7)[0])])
        assert len(before) > 0
        assert order[after.positions].tolist() == before.positions.tolist()
        assert after.conductance == pytest.approx(before.conductance, rel=1e-12)

    @examples
    @given(h=hypergraphs())
    def test_gamma_plays_no_part(self, h):
        given_gamma, plain = (
            diffeq_local(h, 0, max_volume=0.5),
            diffeq_local(hc.unit_weights(h), 0, max_volume=0.5),
        )
        assert given_gamma.positions.tolist() == plain.positions.tolist()


class TestPlanted:
    H = planted()

    @both_rules
    def test_is_found_from_one_seed(self, ties):
        found = diffeq_local(self.H, 5, ties=ties)
        assert sorted(found.members.tolist()) == list(range(12))
        assert found.conductance == pytest.approx(conductance_of(self.H, set(range(12))))
        assert found.seeds.tolist() == [5]
        assert repr(found).startswith("DiffEqCluster(12 vertices from 5, conductance 0.027027, ")

    def test_is_found_from_several(self):
        found = diffeq_local(self.H, [3, 9, 3])
        assert sorted(found.members.tolist()) == list(range(12))
        assert found.seeds.tolist() == [3, 9]

    def test_max_volume_is_respected(self):
        for max_volume in (0.02, 0.04, 0.3):
            found = diffeq_best(self.H, max_volume=max_volume)
            assert 0 < found.volume <= max_volume
            inside = set(found.positions.tolist())
            assert found.conductance == pytest.approx(conductance_of(self.H, inside))

    def test_more_seeds_are_never_worse(self):
        every = diffeq_best(self.H, n_seeds=None, max_volume=0.03).conductance
        for seed in range(3):
            few, more = (diffeq_best(self.H, n_seeds=n, max_volume=0.03, seed=seed) for n in (2, 12))
            assert every <= more.conductance <= few.conductance

    def test_same_seed_same_result(self):
        first, again = (diffeq_best(self.H, n_seeds=5, max_volume=0.05, seed=3) for _ in range(2))
        assert first.members.tolist() == again.members.tolist()
        assert diffeq(self.H, 3, n_seeds=5).labels.tolist() == diffeq(self.H, 3, n_seeds=5).labels.tolist()

    def test_partition(self):
        part = diffeq(self.H)
        assert sorted(part.members(1).tolist()) == list(range(12))
        assert part.ncut == pytest.approx(hc.evaluate(self.H, part.labels).ncut)
        expected = {"method": "diffeq", "n_seeds": 50, "max_volume": 0.1, "ties": "all", "strategy": "best"}
        assert expected.items() <= part.settings.items()

    @pytest.mark.parametrize("strategy", ["best", "largest"])
    def test_k_way(self, strategy):
        part = diffeq(self.H, 5, n_seeds=6, strategy=strategy)
        assert part.k == 5
        assert part.sizes.min() > 0
        assert part.sizes.sum() == 150

    def test_k_way_with_reweighing(self):
        rng = np.random.default_rng(2)
        classes = rng.integers(2, size=150)

        def reweigh(sub, vertices):
            return hc.class_counts(sub.drop_edges(sub.edge_sizes < 3), classes[vertices])

        assert diffeq(self.H, 3, n_seeds=6, reweigh=reweigh).k == 3


class TestNoCluster:
    H = hc.Hypergraph.from_edges([["a", "b"], ["b", "c"]])
    SENTENCE = (
        "no cluster: the first vertex of every sweep holds more than max_volume = 0.1 of the volume; "
        "raise max_volume, to 0.5 at most"
    )

    def test_local_and_best_are_empty_and_say_so(self):
        for found in (diffeq_local(self.H, "a"), diffeq_best(self.H)):
            assert len(found) == 0
            assert not found
            assert np.isnan(found.conductance)
            assert np.isnan(found.restart)
            assert found.members.tolist() == []
            assert repr(found) == f"DiffEqCluster({self.SENTENCE})"
        assert diffeq_local(self.H, "a").seeds.tolist() == ["a"]

    def test_partition_raises(self):
        with pytest.raises(hc.InputError, match=self.SENTENCE):
            diffeq(self.H)
        assert diffeq(self.H, max_volume=0.5).k == 2
        assert diffeq(self.H, 1).k == 1

    def test_inside_a_cluster_another_one_is_split(self):
        """Each of the 12 planted vertices holds more than 0.07 of their volume; the rest is split."""
        part = diffeq(planted(), 3, max_volume=0.07)
        assert part.k == 3
        assert list(range(12)) in [sorted(part.members(cluster).tolist()) for cluster in range(3)]
        with pytest.raises(hc.InputError, match="no cluster can be split further"):
            diffeq(SMALL, 6, max_volume=0.3)

    def test_no_larger_max_volume_is_advised_than_there_is(self):
        alone = hc.Hypergraph.from_edges([["a"]])
        assert repr(diffeq_best(alone, max_volume=0.5)).endswith("of the volume)")


class TestOddities:
    def test_vertices_in_no_hyperedge(self):
        """They count nowhere, not even in n: the answer is that of the hypergraph without them."""
        edges = [[f"v{v}" for v in row] for row in ([1, 2], [2, 3], [1, 3], [3, 4], [4, 5], [5, 6], [4, 6])]
        ids = ["lost", *(f"v{v}" for v in range(1, 7)), "gone"]
        h = hc.Hypergraph.from_edges(edges, vertex_ids=ids, isolated="keep")
        plain = hc.Hypergraph.from_edges(edges)
        found, expected = diffeq_local(h, "v1", max_volume=0.5), diffeq_local(plain, "v1", max_volume=0.5)
        assert found.members.tolist() == expected.members.tolist()
        assert h.vertex_ids[found.positions].tolist() == found.members.tolist()
        assert (found.restart, found.conductance) == (expected.restart, expected.conductance)
        part = diffeq(h, max_volume=0.5)
        assert part.labels[[0, -1]].tolist() == [-1, -1]
        assert sorted(part.members(1).tolist()) in (["v1", "v2", "v3"], ["v4", "v5", "v6"])
        with pytest.raises(hc.InputError, match="vertex 'lost' is in no hyperedge"):
            diffeq_local(h, ["v1", "lost"])

    def test_hyperedges_without_members_do_no_harm(self):
        edges = [["a", "b", "c"], ["a", "b"], [], ["c", "d"], ["d", "e", "f"], ["e", "f"], []]
        h = hc.Hypergraph.from_edges(edges, empty_edges="keep")
        for ties in RULES:
            found = diffeq_local(h, "e", max_volume=0.5, ties=ties)
            expected = diffeq_local(SMALL, "e", max_volume=0.5, ties=ties)
            assert found.members.tolist() == expected.members.tolist()
            assert found.restart == expected.restart

    def test_seeds_in_many_forms(self):
        for seeds in ("e", ["e"], ("e",), {"e"}, np.array(["e"], dtype=object), ["e", "e"]):
            assert diffeq_local(SMALL, seeds).seeds.tolist() == ["e"]
        tuples = hc.Hypergraph.from_edges([[(0, 0), (0, 1)], [(0, 1), (1, 1)]])
        assert diffeq_local(tuples, (0, 1)).seeds.tolist() == [(0, 1)]
        assert diffeq_local(tuples, [(0, 1), (0, 0)]).seeds.tolist() == [(0, 0), (0, 1)]
        numbers = hc.Hypergraph.from_edges([[3, 5], [5, 8]])
        for seeds in (5, np.int64(5), [5], np.array([5]), 5.0):
            assert diffeq_local(numbers, seeds).seeds.tolist() == [5]

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"n_seeds": 0}, "n_seeds must be a whole number from 1; got 0"),
            ({"n_seeds": 2.0}, "n_seeds must be a whole number"),
            ({"n_seeds": True}, "n_seeds must be a whole number"),
            ({"max_volume": 0}, "max_volume must be a share of the volume, above 0 and up to 1/2; got 0"),
            ({"max_volume": 0.6}, "max_volume must be"),
            ({"max_volume": float("nan")}, "max_volume must be"),
            ({"max_volume": "0.1"}, "max_volume must be"),
            ({"ties": "some"}, "ties must be 'all' or 'sequential', not 'some'"),
            ({"seed": -1}, "seed must be"),
        ],
    )
    def test_arguments(self, arguments, message):
        for method in (diffeq, diffeq_best):
            with pytest.raises(hc.InputError, match=message):
                method(SMALL, **arguments)
        if "n_seeds" not in arguments and "seed" not in arguments:
            with pytest.raises(hc.InputError, match=message):
                diffeq_local(SMALL, "a", **arguments)

    def test_bad_input(self):
        with pytest.raises(hc.InputError, match="vertex 'z' is not among the 6 known vertex ids"):
            diffeq_local(SMALL, ["a", "z"])
        with pytest.raises(hc.InputError, match="vertex 'abc' is not among"):
            diffeq_local(SMALL, "abc")
        with pytest.raises(hc.InputError, match="vertex None is not among"):
            diffeq_local(SMALL, None)
        with pytest.raises(hc.InputError, match="there are no seeds"):
            diffeq_local(SMALL, [])
        for call in (diffeq, diffeq_best, lambda given: diffeq_local(given, "a")):
            with pytest.raises(hc.InputError, match="a Hypergraph is needed"):
                call([["a", "b"]])
        with pytest.raises(hc.InputError, match="strategy must be"):
            diffeq(SMALL, strategy="worst", max_volume=0.5)
        with pytest.raises(hc.InputError, match="k must be"):
            diffeq(SMALL, 0)


def test_car_from_every_vertex():
    h, _, _ = paper_hypergraph("car")
    every = diffeq_best(h, n_seeds=None)
    assert every.conductance == pytest.approx(conductance_of(h, set(every.positions.tolist())))
    assert every.volume <= 0.1
    for seed in range(3):
        assert diffeq_best(h, n_seeds=20, seed=seed).conductance >= every.conductance
    assert diffeq(h).ncut < 1


def test_only_what_mass_has_reached_is_in_a_cluster():
    """A chain, and a component of its own that its mass never reaches; whatever the order."""
    edges = [["z", "y"], ["a", "b"], ["a", "b"], ["z", "a"], *([f"L{i}", f"L{i + 1}"] for i in range(60))]
    names = sorted({name for edge in edges for name in edge})
    found = [
        diffeq_local(hc.Hypergraph.from_edges(edges, vertex_ids=ids), "L60", max_volume=0.5)
        for ids in (names, names[::-1])
    ]
    assert all(name.startswith("L") for name in found[0].members)
    assert sorted(found[0].members) == sorted(found[1].members)
    program = diffeq_local(
        hc.Hypergraph.from_edges(edges, vertex_ids=names[::-1]), "L60", max_volume=0.5, ties="sequential"
    )
    assert {"a", "b"} <= set(program.members)


@pytest.mark.parametrize("scale", [1e-200, 1e-8, 1e8, 1e200])
def test_the_unit_of_omega_does_not_matter(scale):
    h = random_hypergraph(40, 70, 5, seed=3)
    scaled = h.with_edge_weights(h.edge_weights * scale)
    first, second = (diffeq_local(g, h.vertex_ids[25], max_volume=0.3) for g in (h, scaled))
    assert first.members.tolist() == second.members.tolist()
    assert second.conductance == pytest.approx(first.conductance, rel=1e-9)


def test_an_interruption_stops_the_other_thread(monkeypatch):
    """Of 200 blocks; the first that is swept raises."""
    h, swept = random_hypergraph(60, 40, 5, seed=0), []

    def interrupted(scores, count):
        swept.append(count)
        raise KeyboardInterrupt

    monkeypatch.setattr(diffeq_search, "highest", interrupted)
    with pytest.raises(KeyboardInterrupt):
        diffeq_best(h, n_seeds=None)
    assert len(swept) <= 2
