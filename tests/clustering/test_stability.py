"""`stability`: definitions with loops, planted clusters and noise, seeds, and hostile input."""

import itertools

import numpy as np
import pytest

import hyperclus as hc
from hyperclus.clustering.stability import _drawn, _summarized
from support.contracts import refused
from support.strategies import random_hypergraph

OVER = ["vertices", "hyperedges", "seeds"]


def blocks(seed=0, n=90, n_edges=200):
    """Hyperedges of up to six members of one of three blocks; one in ten members is from any block."""
    rng = np.random.default_rng(seed)
    anywhere, size = rng.random((n_edges, 6)) < 0.1, (n_edges, 6)
    homes = np.where(anywhere, rng.integers(0, 3, size), np.arange(n_edges)[:, None] % 3)
    members = 3 * rng.integers(0, n // 3, size) + homes
    return hc.Hypergraph.from_edges([list(set(row)) for row in members.tolist()])


def best_stay(labels, others, k):
    """All matchings of the most common vertices, as the masks of the vertices that stay."""
    masks = [
        [two >= 0 and to[one] == two for one, two in zip(labels, others, strict=True)]
        for to in itertools.permutations(range(k))
    ]
    most = max(map(sum, masks))
    return [mask for mask in masks if sum(mask) == most]


def test_figures_by_their_definitions():
    rng = np.random.default_rng(0)
    h = blocks()
    part = hc.cluster(h, 3, objective="information", chance=False)
    labels = part.labels[part.labels >= 0]
    runs = np.where(rng.random((4, len(labels))) < 0.8, labels, rng.integers(0, 3, (4, len(labels))))
    runs[rng.random(runs.shape) < 0.3] = -1
    runs[:, 0] = -1
    found = _summarized(part, "vertices", runs.astype(np.int32))
    stays = np.array([best_stay(labels, run, 3) for run in runs])[:, 0]  # one best matching each
    present = (runs >= 0).sum(axis=0)
    assert found.present.tolist() == present.tolist()
    seen = present > 0
    assert np.isnan(found.vertices[~seen]).all()
    assert np.allclose(found.vertices[seen], stays.sum(axis=0)[seen] / present[seen])
    for number, run in enumerate(runs):
        for cluster in range(3):
            here = {v for v in range(len(run)) if run[v] >= 0}
            mine = {v for v in here if labels[v] == cluster}
            others = [{v for v in here if run[v] == other} for other in range(3)]
            best = max(len(mine & other) / len(mine | other) for other in others)
            assert found.jaccard[number, cluster] == pytest.approx(best)
    both = [(one >= 0) & (two >= 0) for one, two in itertools.combinations(runs, 2)]
    pairs = zip(both, itertools.combinations(runs, 2), strict=True)
    assert found.ari == pytest.approx(np.mean([hc.agreement(a[mask], b[mask]).ari for mask, (a, b) in pairs]))


@pytest.mark.parametrize("objective", ["ncut", "information"])
@pytest.mark.parametrize("over", OVER)
def test_planted_clusters_are_stable(objective, over):
    part = hc.cluster(blocks(), 3, objective=objective, chance=False)
    found = hc.stability(part, over, runs=6)
    assert {"highly stable", "stable"} >= set(found.verdicts)
    assert np.nanmean(found.vertices) > 0.9
    assert found.ari > 0.75


@pytest.mark.parametrize("over", ["vertices", "hyperedges"])
def test_clusters_of_noise_dissolve(over):
    part = hc.cluster(
        random_hypergraph(120, 200, 6, seed=3, gamma=0), 4, objective="information", chance=False
    )
    found = hc.stability(part, over, runs=6)
    assert set(found.verdicts) == {"dissolves"}
    assert found.ari < 0.3


@pytest.mark.parametrize("over", OVER)
def test_the_same_seed_gives_the_same_figures(over):
    part = hc.cluster(random_hypergraph(60, 60, 5, seed=1), 3, objective="information", chance=False)
    one, two, other = (hc.stability(part, over, runs=3, seed=seed) for seed in (4, 4, 5))
    assert np.array_equal(one.vertices, two.vertices, equal_nan=True)
    assert np.array_equal(one.jaccard, two.jaccard)
    assert over == "seeds" or not np.array_equal(one.jaccard, other.jaccard)


def test_what_is_drawn():
    h, rng = random_hypergraph(50, 80, 4, seed=2), np.random.default_rng(0)
    some, positions = _drawn(h, "vertices", rng)
    assert some.vertex_ids.tolist() == positions.tolist()
    assert 20 < len(positions) < 42
    assert some.edge_sizes.min() > 1
    drawn, positions = _drawn(h, "hyperedges", rng)
    assert positions.tolist() == list(range(50))
    before = dict(zip(h.edge_ids.tolist(), h.edge_weights, strict=True))
    times = [
        weight / before[edge]
        for edge, weight in zip(drawn.edge_ids.tolist(), drawn.edge_weights, strict=True)
    ]
    assert np.allclose(times, np.round(times))
    assert round(sum(times)) == h.n_edges


def test_the_method_and_settings_are_repeated(monkeypatch):
    calls = []
    real = hc.cluster

    def spy(h, k, **given):
        calls.append((k, given))
        return real(h, k, **given)

    monkeypatch.setattr("hyperclus.clustering.stability.cluster", spy)
    part = hc.cluster(blocks(), 3, objective="information", effort="fast", alpha=1.0, seed=7, chance=False)
    hc.stability(part, "seeds", runs=2)
    assert [k for k, _ in calls] == [3, 3]
    given = calls[0][1]
    assert (given["objective"], given["effort"], given["alpha"], given["chance"]) == (
        "information",
        "fast",
        1.0,
        False,
    )
    assert calls[0][1]["seed"] != calls[1][1]["seed"]
    calls.clear()
    assert hc.stability(hc.hyperclus_g(blocks(), 3, chance=False), "seeds", runs=2).clusters.tolist() == [
        1,
        1,
        1,
    ]
    assert not calls


def test_isolated_vertices_names_tables_and_text():
    h = hc.Hypergraph.from_edges([["a", "b"], ["b", "c"], ["d", "e"], ["e", "f"]], vertex_ids=list("abcdefz"))
    part = hc.cluster(h, 2, objective="ncut", chance=False).with_names(["left", "<right>"])
    found = hc.stability(part, "seeds", runs=2)
    frame = found.to_frame().set_index("vertex")
    assert np.isnan(frame.loc["z", "stability"])
    assert frame.loc["z", ["cluster", "present"]].tolist() == [-1, 0]
    assert frame.loc["a"].tolist() == ["left", 1.0, 2]
    assert found.clusters_frame()["verdict"].tolist() == ["highly stable"] * 2
    assert "Stability over 2 runs with other seeds" in repr(found)
    assert "&lt;right&gt;" in found._repr_html_()


def test_a_run_with_too_few_vertices_counts_as_none():
    h = hc.Hypergraph.from_edges([["a", "b"], ["c", "d"], ["e", "f"]])
    part = hc.evaluate(h, range(6), chance=False)
    for over in ("vertices", "hyperedges"):
        found = hc.stability(part, over, runs=3)
        assert found.present.sum() in (0, 6, 12, 18)


def test_progress_is_reported():
    steps = []
    part = hc.cluster(blocks(), 3, objective="ncut", chance=False)
    with hc.watching(steps.append):
        hc.stability(part, runs=3)
    assert [(step.stage, step.done, step.unit) for step in steps] == [
        ("stability", n, "runs") for n in range(4)
    ]
    assert steps[-1].share == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((5,), "a Partition is needed"),
        (("part", "edges"), "over"),
        (("part", "seeds", 1), "runs"),
        (("part", "seeds", "x"), "runs"),
    ],
)
def test_hostile_input(arguments, words):
    part = hc.evaluate(blocks(), np.arange(90) % 3, chance=False)
    given = [part if one == "part" else one for one in arguments]
    refused(lambda: hc.stability(*given), words)


def test_constraints_are_not_silently_left_out():
    h = hc.Hypergraph.from_edges([["a", "b", "c"], ["a", "b"], ["c", "d"], ["d", "e", "f"], ["e", "f"]])
    part = hc.cluster(h, 2, constraints={"must_link": [("a", "d")]})
    with pytest.raises(hc.InputError, match="clusters with constraints are not repeated"):
        hc.stability(part)
