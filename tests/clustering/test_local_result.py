"""What a local cluster says about itself, and whether it doubts the right answers."""

import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings

import hyperclus as hc
from hyperclus.clustering.local_result import Dip
from support.oracles import stationary, transition
from support.strategies import alphas, hypergraphs, random_hypergraph, with_subset

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
import local_doubt

examples = settings(deadline=None, max_examples=40)


@pytest.fixture(scope="module")
def pairs():
    """Two triangles of papers, joined by one."""
    edges = {
        "p1": ["a", "b", "c"],
        "p2": ["a", "b"],
        "p3": ["c", "d"],
        "p4": ["d", "e", "f"],
        "p5": ["e", "f"],
    }
    return hc.Hypergraph.from_edges(edges)


class TestDescription:
    @examples
    @given(with_subset(hypergraphs(min_n=4)), alphas)
    def test_steps_are_those_of_the_definition(self, case, alpha):
        h, subset = case
        p, phi = transition(h, alpha), stationary(h, alpha)
        walk = hc.RandomWalk(h, alpha=alpha)
        assume(phi.max() < 0.99)
        found = hc.local_cluster(walk, sorted(subset), max_volume=0.999, keep_seeds=False)
        inside, order = found.positions, found.order.astype(int)
        steps = np.asarray(p)[:, inside].sum(axis=1)
        assert found.staying == pytest.approx(steps[inside], rel=1e-6, abs=1e-9)
        assert found.order_staying == pytest.approx(steps[order], rel=1e-6, abs=1e-9)
        assert 0 <= found.overlap <= 1
        excess = phi[inside] @ steps[inside] - phi[inside].sum() ** 2
        if excess > 1e-9:
            assert found.edge_parts.sum() == pytest.approx(1.0)
        held = h.edge_weights > 0
        gamma = h.gamma.toarray()
        shares = gamma[:, inside].sum(axis=1) / gamma.sum(axis=1)
        by_id = dict(zip(h.edge_ids.tolist(), shares, strict=True))
        assert held.all()
        expected = [by_id[edge] for edge in found.edge_ids.tolist()]
        assert found.edge_shares == pytest.approx(expected, rel=1e-6)

    def test_frames(self, pairs):
        found = hc.local_cluster(pairs, ["a"])
        frame = found.to_frame()
        assert frame["vertex"].tolist() == found.members.tolist()
        assert frame["score"].tolist() == found.scores.tolist()
        assert frame["seed"].tolist() == [True, False, False]
        everything = found.to_frame(reached=True)
        assert set("abcd") <= set(everything["vertex"])
        assert everything["member"].sum() == 3
        edges = found.edges_frame()
        assert set(edges["edge"]) == {"p1", "p2", "p3"}
        assert edges["edge"].iloc[-1] == "p3"
        assert edges["share"].tolist()[:2] == pytest.approx([1.0, 1.0])

    def test_repr_names_members_dips_and_doubt(self, pairs):
        found = hc.local_cluster(pairs, ["a"])
        assert repr(found).splitlines()[1:] == ["seeds: 'a'", "members: 'a', 'b', 'c'"]
        dips = (*found.dips, Dip(np.arange(6), 0.7, 0.05))
        lines = repr(replace(found, dips=dips, limit="max_volume")).splitlines()
        assert lines[3] == "other dips: 6 at 0.05"
        assert lines[4].startswith("in doubt: it is as large as the limit on its volume allows")
        assert repr(dips[-1]) == "Dip(6 vertices, conductance 0.05)"

    def test_html(self):
        h = hc.Hypergraph.from_edges([["<a>", "b"], ["b", "c"], ["c", "d"]])
        page = hc.local_cluster(h, ["<a>"])._repr_html_()
        assert "&lt;a&gt;" in page
        assert "<a>" not in page
        assert page.count("<tr>") >= 3

    def test_the_cluster_is_among_the_dips(self):
        for seed in range(10):
            found = hc.local_cluster(random_hypergraph(80, 90, 4, seed=seed), [0])
            assert [dip.members.tolist() for dip in found.dips].count(found.members.tolist()) == 1

    def test_plot(self, pairs):
        pytest.importorskip("matplotlib").use("agg")
        found = hc.local_cluster(pairs, ["a"])
        ax = found.plot_sweep()
        labels = [text.get_text() for text in ax.get_legend().get_texts()]
        assert labels[0] == "first vertices of the order"
        assert f"3 (the cluster), {found.conductance:.4g}" in labels
        assert ax.get_title() == "sweep around the seeds"

    def test_a_plot_with_many_dips_names_a_few(self, pairs):
        pytest.importorskip("matplotlib").use("agg")
        found = hc.local_cluster(pairs, ["a"])
        others = tuple(Dip(found.members[:1], 0.1, share / 100) for share in range(20))
        ax = replace(found, dips=(*found.dips[:1], *others)).plot_sweep()
        labels = [text.get_text() for text in ax.get_legend().get_texts()]
        assert len(labels) <= 8
        assert any(label.startswith("and 1") and label.endswith(" more") for label in labels)


class TestDoubt:
    def changed(self, **changes):
        found = hc.local_cluster(random_hypergraph(60, 60, 4, seed=1), [0, 1], max_size=20)
        clear = {"conductance": 0.1, "volume": 0.1, "limit": None, "overlap": 1.0, "dips": ()}
        return replace(found, members=np.arange(20), **{**clear, **changes})

    def test_none(self):
        assert self.changed().doubt == ""

    @pytest.mark.parametrize(
        ("changes", "words"),
        [
            ({"limit": "max_size"}, "as large as the limit on its size allows"),
            (
                {"conductance": 0.7},
                "hardly separate: 70 % of the steps leave it, and 90 % would leave a random",
            ),
            ({"overlap": 0.4}, r"another one from other members \(F1 of the two 0.4\)"),
            (
                {"dips": (Dip(np.arange(9), 0.05, 0.12),)},
                "a smaller one is nearly as good: 9 vertices, .* 0.12",
            ),
            ({"dips": (Dip(np.arange(90), 0.3, 0.02),)}, "a larger one is better: 90 vertices"),
        ],
    )
    def test_reasons(self, changes, words):
        assert re.search(words, self.changed(**changes).doubt)

    def test_no_reason(self):
        worse = (Dip(np.arange(9), 0.05, 0.4), Dip(np.arange(90), 0.3, 0.08), Dip(np.arange(21), 0.1, 0.05))
        assert self.changed(dips=worse).doubt == ""

    def test_a_limit_that_decides_is_named(self):
        ring = hc.Hypergraph.from_edges([[i, (i + 1) % 40] for i in range(40)])
        assert hc.local_cluster(ring, [0], max_size=5).limit == "max_size"
        assert hc.local_cluster(ring, [0], max_volume=0.2).limit == "max_volume"

    def test_a_limit_that_does_not_decide_is_not(self):
        h = hc.Hypergraph.from_edges([["a", "b"], ["b", "c"], ["x", "y"], ["y", "z"], ["c", "x"]])
        assert hc.local_cluster(h, ["a"], max_size=3).limit is None
        assert hc.local_cluster(h, ["a"]).limit is None


class TestPlantedGroups:
    """600 people in 12 groups of 50; `benchmarks/local_doubt.py` has more draws and families."""

    def answers(self, name, seeds, draws=8):
        found = list(local_doubt.answers(local_doubt.FAMILIES[name], draws, seeds))
        return np.array([f1 for f1, _ in found]), np.array([bool(one.doubt) for _, one in found])

    def test_one_seed_finds_its_group_or_doubts(self):
        scores, doubts = self.answers("groups", 1)
        assert (scores[~doubts] > 0.85).all()
        assert scores.mean() > 0.85
        assert doubts.mean() < 0.5

    def test_five_seeds_find_their_group(self):
        scores, _ = self.answers("groups", 5)
        assert scores.mean() > 0.95

    def test_where_there_are_no_groups_it_doubts(self):
        _, doubts = self.answers("no groups", 1)
        assert doubts.all()
