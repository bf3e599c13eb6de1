"""Trees of clusters against loops over all pairs; splits and mergers of clusters; hostile input."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import dendrogram, is_valid_linkage, to_tree

import hyperclus as hc
from hyperclus.clustering import nested
from hyperclus.clustering import tree as module
from hyperclus.clustering.objectives import OBJECTIVES, flows_between
from hyperclus.clustering.vertex_search import Clusters
from support import oracles
from support.engine_contracts import planted
from support.strategies import alphas, disconnected, hypergraphs, with_partition

examples = settings(deadline=None, max_examples=25)
objectives = st.sampled_from(["ncut", "information"])
H = hc.Hypergraph.from_edges([["a", "b", "c"], ["a", "b"], ["c", "d"], ["d", "e", "f"], ["e", "f"]])
anything = with_partition(st.one_of(hypergraphs(min_n=4, max_n=9), disconnected()))


def worth(p, phi, parts, objective):
    """The information, or k - NCut, of sets of vertices by their definitions: what mergers lose."""
    if objective == "information":
        return float(oracles.information(p, phi, parts))
    return len(parts) - float(oracles.ncut(p, phi, parts))


def sets(labels):
    return [set(np.flatnonzero(labels == cluster).tolist()) for cluster in range(max(labels) + 1)]


@examples
@given(anything, alphas, objectives)
def test_every_merger_is_the_best_pair_by_the_definition(case, alpha, objective):
    h, labels = case
    tree = hc.evaluate(h, labels, alpha=alpha, chance=False).tree(objective)
    p, phi = oracles.transition(h, alpha), oracles.stationary(h, alpha)
    parts = dict(enumerate(sets(tree.leaves.labels)))
    lost = highest = 0.0
    for node, (pair, loss, height) in enumerate(
        zip(tree.mergers, tree.losses, tree.heights, strict=True), tree.k
    ):
        now = worth(p, phi, list(parts.values()), objective)
        after = {
            (one, other): worth(p, phi, [*rest.values(), parts[one] | parts[other]], objective)
            for one, other in combinations(parts, 2)
            for rest in [{key: part for key, part in parts.items() if key not in (one, other)}]
        }
        left, right = pair.tolist()
        made = after[min(left, right), max(left, right)]
        assert made == pytest.approx(max(after.values()), abs=1e-9)
        assert loss == pytest.approx(now - made, abs=1e-9)
        assert len(parts[left]) >= len(parts[right])
        lost += loss
        highest = max(highest, lost)
        assert height == pytest.approx(highest, abs=1e-12)
        parts[node] = parts.pop(left) | parts.pop(right)
        assert tree.sizes[node] == len(parts[node])
        assert tree.volumes[node] == pytest.approx(float(sum(phi[v] for v in parts[node])), abs=1e-9)


@examples
@given(anything, objectives)
def test_cuts_are_nested_and_are_partitions_with_their_figures(case, objective):
    h, labels = case
    tree = hc.evaluate(h, labels, chance=False).tree(objective)
    before = tree.cut(1)
    for k in range(1, tree.k + 1):
        cut, part = tree.cut(k), tree.partition(k)
        np.testing.assert_array_equal(cut, part.labels)
        assert set(cut.tolist()) == set(range(k))
        assert len({*zip(cut, before, strict=True)}) == k  # each cluster is in one of the level above
        assert getattr(part, objective) == pytest.approx(tree.figures[k - 1], abs=1e-9)
        scored = hc.evaluate(h, cut, chance=False)
        assert part.ncut == pytest.approx(scored.ncut, abs=1e-12)
        assert part.lower_bound == pytest.approx(scored.lower_bound, abs=1e-9)
        assert part.lower_bound <= part.ncut + 1e-9
        before = cut
    np.testing.assert_array_equal(before, tree.leaves.labels)
    assert (np.diff(tree.heights) >= 0).all()
    if objective == "information":
        assert (tree.losses >= -1e-12).all()


def test_a_negative_loss_of_the_ncut_does_not_lower_the_height():
    """Walkers from one cluster mostly go to another and back, so that both together keep more of them."""
    gamma = [[0, 0, 0.01], [0, 0.01, 1], [0.1, 10, 0], [100, 0, 0.01]]
    h = hc.Hypergraph.from_incidence(np.array(gamma), edge_weights=[1, 0.1, 0.01])
    tree = hc.evaluate(h, range(4), chance=False).tree("ncut")
    assert tree.losses[0] < -0.3
    assert tree.heights[0] == 0.0
    assert (np.diff(tree.heights) >= 0).all()
    assert is_valid_linkage(tree.to_linkage())
    for k in range(1, 5):
        assert tree.partition(k).ncut == pytest.approx(tree.figures[k - 1], abs=1e-12)


def example():
    h = planted(120, 500, 6, noise=0.2, seed=3)
    return hc.cluster(h, 6, objective="information", chance=False)


def test_linkage_newick_and_frames():
    names = ["plain", "it's", "two words", "a,b(c):d", "under_score", "é"]
    tree = example().tree().with_names(names)
    linkage = tree.to_linkage()
    assert is_valid_linkage(linkage)
    assert to_tree(linkage).get_count() == 6
    assert len(dendrogram(linkage, labels=tree.leaves.cluster_names, no_plot=True)["ivl"]) == 6
    newick = tree.to_newick()
    for quoted in ("plain:", "'it''s':", "'two words':", "'a,b(c):d':", "'under_score':", "'é':"):
        assert quoted in newick
    assert newick.endswith(");")
    frame = tree.to_frame()
    assert frame["k"].tolist() == [5, 4, 3, 2, 1]
    assert frame["size"].iloc[-1] == 120
    assert frame["information"].tolist() == pytest.approx(tree.figures[4::-1].tolist())
    labels = tree.labels_frame()
    assert labels.columns.tolist() == ["vertex", "k2", "k3", "k4", "k5", "k6"]
    assert labels["k3"].tolist() == tree.cut(3).tolist()
    assert tree.labels_frame([4]).columns.tolist() == ["vertex", "k4"]


def test_names_survive_mergers_and_splits():
    part = example().with_names(list("ABCDEF"))
    merged = part.merge(["A", 1])
    assert merged.k == 5
    assert set(merged.names) == {"A + B", "C", "D", "E", "F"}
    assert set(merged.members("A + B")) == {*part.members("A"), *part.members("B")}
    assert merged.members("F").tolist() == part.members("F").tolist()
    everything = part.merge(list("ABCDEF"))
    assert everything.names == ("A + 5 others",)
    assert everything.ncut == pytest.approx(0.0, abs=1e-12)
    split = part.split("C", 3)
    assert split.k == 8
    assert set(split.names) == {*"ABDEF", "C (1)", "C (2)", "C (3)"}
    for name in "ABDEF":
        assert split.members(name).tolist() == part.members(name).tolist()
    inside = [*split.members("C (1)"), *split.members("C (2)"), *split.members("C (3)")]
    assert sorted(inside) == sorted(part.members("C"))
    twice = part.tree().partition(3)
    assert sorted(" + ".join(twice.names).split(" + ")) == list("ABCDEF")


@pytest.mark.parametrize("objective", ["ncut", "information"])
def test_a_split_finds_blocks_that_were_merged_and_proves_a_bound(objective):
    h = planted(80, 300, 4, noise=0.1, seed=1)
    part = hc.cluster(h, 4, objective=objective, chance=False)
    merged = part.merge([1, 2])
    back = merged.split(int(merged.labels[part.labels == 1][0]))
    assert hc.agreement(part.labels, back.labels).nmi == pytest.approx(1.0)
    assert back.ncut == pytest.approx(part.ncut)
    assert back.lower_bound == pytest.approx(part.lower_bound, abs=1e-7)
    assert merged.lower_bound == pytest.approx(hc.evaluate(h, merged).lower_bound, abs=1e-7)
    assert back.settings["objective"] == objective
    assert back.settings["method"].startswith("split of cluster")
    assert back.chance is None
    finer = part.split(0)  # new eigenpairs
    assert finer.lower_bound == pytest.approx(hc.evaluate(h, finer).lower_bound, abs=1e-7)
    assert finer.lower_bound <= finer.ncut


def test_results_say_what_was_done_and_not_compared(tmp_path):
    part = hc.cluster(H, 2)
    assert part.chance is not None
    for other, method in (
        (part.split(0), "split of cluster 0 into 2"),
        (part.split(0).merge([0, 1]), "merger of clusters 0, 1"),
        (part.tree().partition(2), "cut of a tree of 2 leaves"),
    ):
        assert "evaluate compares them" in str(other)
        assert other.settings["method"] == method
        other.to_html(tmp_path / "page.html")
        assert method in (tmp_path / "page.html").read_text()
        assert "hc.cluster(h" not in (tmp_path / "page.html").read_text()


def test_vertices_in_no_hyperedge_stay_outside():
    h = hc.Hypergraph.from_edges(
        [["a", "b"], ["c", "d"], ["b", "c"], ["d", "e"]], vertex_ids=["z", "a", "b", "c", "d", "e", "y"]
    )
    part = hc.cluster(h, 3, chance=False)
    tree = part.tree()
    for labels in (tree.cut(2), tree.partition(2).labels, part.merge([0, 1]).labels, part.split(0).labels):
        assert labels[[0, 6]].tolist() == [-1, -1]
        assert (labels[1:6] >= 0).all()
    assert tree.partition(2).vertex_ids.tolist() == h.vertex_ids.tolist()


@pytest.mark.parametrize("objective", ["ncut", "information"])
def test_descend_within_moves_inside_groups_only(objective):
    h = planted(150, 600, 5, noise=0.3, seed=4)
    walk, rng = hc.RandomWalk(h), np.random.default_rng(0)
    labels = rng.integers(0, 6, h.n_vertices)
    groups = np.array([0, 1, 0, 2, 1, 1])
    clusters = Clusters.of(walk, labels, 6, objective=OBJECTIVES[objective])
    before = clusters.cost
    clusters.descend_within(groups)
    after = clusters.state.labels
    np.testing.assert_array_equal(groups[labels], groups[after])
    np.testing.assert_array_equal(clusters.state.sizes, np.bincount(after, minlength=6))
    again = Clusters.of(walk, after, 6, objective=OBJECTIVES[objective])
    assert clusters.cost == pytest.approx(again.cost)
    assert again.cost < before - 1e-3


@examples
@given(anything, objectives)
def test_scores_are_gains_of_moves(case, objective):
    """Exact for the NCut, of first order for the information."""
    h, labels = case
    walk, k, what = hc.RandomWalk(h), max(labels) + 1, OBJECTIVES[objective]
    before = flows_between(walk, labels, k)
    gains, targets = nested._best_moves(
        walk, what, nested.Leaves(np.asarray(labels), before, [np.arange(k)]), np.ones(1)
    )
    for vertex, (gain, target) in enumerate(zip(gains, targets, strict=True)):
        moved = np.where(np.arange(len(labels)) == vertex, target, labels)
        after = flows_between(walk, moved, k)
        if objective == "information":
            logs, volumes = np.log(np.maximum(before, 1e-8)), np.log(before.sum(axis=1))
            expected = ((after - before) * logs).sum() - 2 * (after - before).sum(axis=1) @ volumes
            assert gain == pytest.approx(expected, abs=1e-9)
        elif np.bincount(moved, minlength=k).min() > 0:
            expected = what.cost_between(before) - what.cost_between(after)
            assert gain == pytest.approx(expected, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("objective", ["ncut", "information"])
def test_a_searched_tree_is_close_to_direct_searches(objective):
    h = planted(200, 1000, 6, noise=0.3, seed=5)
    tree = hc.tree(h, 12, objective=objective)
    assert tree.leaves.settings["levels"] == (2, 4, 12)
    assert (np.diff(tree.heights) >= 0).all()
    for k in (2, 4, 6, 12):
        direct = getattr(hc.cluster(h, k, objective=objective, chance=False), objective)
        ratio = tree.figures[k - 1] / direct
        assert (ratio if objective == "ncut" else 1 / ratio) < 1.04
    again = hc.tree(h, 12, objective=objective)
    np.testing.assert_array_equal(tree.cut(5), again.cut(5))


@examples
@given(anything, objectives)
def test_a_refined_cut_is_never_worse_and_no_single_move_helps(case, objective):
    h, labels = case
    tree = hc.evaluate(h, labels, chance=False).tree(objective)
    p, phi = oracles.transition(h, 0.0), oracles.stationary(h, 0.0)
    for k in range(1, tree.k + 1):
        found = tree.refined(k)
        assert set(found.labels.tolist()) == set(range(k))
        best = worth(p, phi, sets(found.labels), objective)
        assert best >= worth(p, phi, sets(tree.cut(k)), objective) - 1e-9
        if k == 2:  # two clusters of the NCut have a smallest share
            continue
        for vertex, target in product(range(len(labels)), range(k)):
            moved = np.where(np.arange(len(labels)) == vertex, target, found.labels)
            if len(set(moved.tolist())) == k:
                assert worth(p, phi, sets(moved), objective) <= best + 1e-6


def test_a_refined_cut_keeps_names_ids_and_vertices_in_no_hyperedge():
    h = hc.Hypergraph.from_edges(
        [["a", "b"], ["a", "b", "c"], ["c", "d"], ["d", "e"], ["d", "e"]], vertex_ids=[*"zabcdey"]
    )
    tree = hc.evaluate(h, dict(zip("abcde", "xxxyw", strict=True)) | {"z": "x", "y": "x"}).tree()
    found = tree.refined(2)
    assert found.labels[[0, 6]].tolist() == [-1, -1]
    assert found.vertex_ids.tolist() == h.vertex_ids.tolist()
    assert set(found.names) == set(tree.partition(2).names)
    assert found.settings["method"] == "refined cut of a tree of 3 leaves"
    assert found.lower_bound <= found.ncut + 1e-9


@pytest.mark.parametrize("objective", ["ncut", "information"])
def test_moves_lower_the_total_loss_and_keep_the_levels_nested(objective):
    h, ks = planted(150, 600, 5, noise=0.4, seed=4), [2, 3, 6, 9]
    walk, what, rng = hc.RandomWalk(h), OBJECTIVES[objective], np.random.default_rng(0)
    labels = np.append(np.arange(9), rng.integers(0, 9, h.n_vertices - 9))
    start = nested.leaves_of(walk, what, [labels], ks)
    costs = [nested.best_alone(walk, what, [start], number)[1] for number in range(len(ks))]
    references = nested.References(what, np.array(costs))
    end = nested.improved_together(walk, references, start)
    assert references.total(end) < 0.9 * references.total(start)
    np.testing.assert_allclose(end.between, flows_between(walk, end.labels, 9), atol=1e-12)
    for coarse, fine, k in zip(end.levels, end.levels[1:], ks[1:], strict=False):
        assert len({*zip(coarse[end.labels], fine[end.labels], strict=True)}) == k


def test_large_trees_are_mergers_of_the_leaves_and_say_so(monkeypatch):
    monkeypatch.setattr(module, "REFINED_UP_TO", 0)
    tree = hc.tree(planted(60, 200, 3, seed=0), 5, objective="ncut")
    assert module.NOT_REFINED in tree.leaves.settings["fallbacks"]
    np.testing.assert_array_equal(tree.mergers, tree.leaves.tree().mergers)


def test_small_and_default_trees():
    one = hc.Hypergraph.from_edges([["a"]])
    tree = hc.tree(one)
    assert tree.k == 1
    assert tree.cut(1).tolist() == [0]
    assert tree.to_newick() == "0;"
    assert tree.heights.shape == (0,)
    assert "1 leaf" in repr(tree)
    assert hc.tree(hc.Hypergraph.from_edges([["a", "b"]])).k == 2
    assert hc.tree(planted(100, 300, 3, seed=0)).k == 10


def test_drawing():
    h = planted(120, 500, 6, noise=0.2, seed=3)
    text = str(hc.cluster(h, 6, objective="information", chance=False).tree())
    lines = text.splitlines()
    assert lines[0] == "Tree of 120 vertices, 6 leaves; lost is in nats of information"
    assert len(lines) == 2 + 11
    assert len({len(line) for line in lines[1:]}) == 1
    assert sum("cluster" in line for line in lines) == 6
    many = hc.evaluate(h, np.arange(120), chance=False).tree("ncut")
    assert "leaves" in str(many).splitlines()[-1] or "cluster" in str(many).splitlines()[-1]
    assert len(str(many).splitlines()) == 2 + 79
    assert str(many).count("leaves") > 1


def test_plot():
    pytest.importorskip("matplotlib").use("agg")
    ax = example().with_names(["$x$", "b", "c", "d", "e", "f"]).tree().plot()
    assert "$x$" in [text.get_text() for text in ax.get_xticklabels()]
    ax.figure.canvas.draw()
    with pytest.raises(hc.InputError, match="single leaf"):
        hc.tree(hc.Hypergraph.from_edges([["a"]])).plot()


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda part: part.tree().cut(0), "k must be a whole number from 1"),
        (lambda part: part.tree().cut(4), "the tree has 3 leaves, so it cannot be cut into 4 clusters"),
        (lambda part: part.tree().cut(True), "k must be a whole number from 1"),
        (lambda part: part.tree().partition(2.0), "k must be a whole number from 1"),
        (lambda part: part.tree().labels_frame(2), "ks must be a list"),
        (lambda part: part.tree("cut"), "objective must be 'ncut' or 'information'"),
        (lambda part: part.split(3), "clusters are numbered 0 to 2; there is no cluster 3"),
        (lambda part: part.split(-1), "there is no cluster -1"),
        (lambda part: part.split("x"), "there is no cluster 'x'"),
        (lambda part: part.split(0, 1), "k must be a whole number from 2"),
        (lambda part: part.split(0, 9), "so it cannot be split into 9; use a smaller k"),
        (lambda part: part.merge([1]), "needs at least two different clusters"),
        (lambda part: part.merge([1, 1]), "needs at least two different clusters"),
        (lambda part: part.merge([]), "needs at least two different clusters"),
        (lambda part: part.merge(1), "clusters must be a list"),
        (lambda part: part.merge([0, "y"]), "there is no cluster 'y'"),
        (lambda part: hc.tree(H, 0), "k_max must be a whole number from 1"),
        (lambda part: hc.tree(H, 7), "7 clusters need at least 7 vertices"),
        (lambda part: hc.tree(H, 3, objective="x"), "objective must be"),
        (lambda part: hc.tree(H, 3, bound="tight"), "a tree has no tight bound"),
    ],
)
def test_hostile_input(call, sentence):
    with pytest.raises(hc.InputError) as error:
        call(hc.cluster(H, 3, objective="ncut", chance=False))
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)


def test_arrays_are_read_only():
    tree = example().tree()
    with pytest.raises(ValueError, match="read-only"):
        tree.losses[0] = 1.0
