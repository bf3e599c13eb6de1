"""Constraints: kept if that is possible, refused with a sentence if it is not."""

from collections import Counter
from itertools import product

import numpy as np
import pytest

import hyperclus as hc
from hyperclus.clustering.feasible import with_volumes
from hyperclus.clustering.objectives import OBJECTIVES
from hyperclus.clustering.rules import rules_of
from hyperclus.clustering.vertex_search import Clusters, flow_of
from hyperclus.engines import cuda
from support import stand_in_device
from support.command_line import assert_refused, inside

TWO = hc.Hypergraph.from_edges([["a", "b", "c"], ["a", "b"], ["c", "d"], ["d", "e", "f"], ["e", "f"]])


def random_hypergraph(rng, n):
    """A connected hypergraph on 0 .. n - 1 with random weights."""
    edges = [rng.choice(n, size=rng.integers(2, 4), replace=False).tolist() for _ in range(2 * n)]
    edges += [[v, (v + 1) % n] for v in range(n)]
    return hc.Hypergraph.from_edges([{v: float(rng.integers(1, 4)) for v in edge} for edge in edges])


def random_constraints(rng, ids, k):
    """Constraints that often contradict each other, and a smallest share or None."""

    def pick(size):
        return [ids[place] for place in rng.choice(len(ids), size=size, replace=False)]

    given = {
        "fixed": {v: f"c{rng.integers(k)}" for v in pick(rng.integers(0, 3))},
        "must_link": [pick(rng.integers(2, 4)) for _ in range(rng.integers(0, 3))],
        "cannot_link": [pick(2) for _ in range(rng.integers(0, 5))],
        "max_share": rng.uniform(1 / k, 1 / k + 0.2) if rng.random() < 0.4 else None,
    }
    return given, rng.uniform(0.5 / k, 1 / k) if rng.random() < 0.3 else None


def kept(labels, names, given, least, phi, k):
    """Whether labels of vertices keep constraints, by loops; `names` are the labels of the fixed clusters."""
    by = dict(enumerate(labels))
    volumes = np.bincount(labels, weights=phi, minlength=k)
    return (
        all(by[v] == names[cluster] for v, cluster in given["fixed"].items())
        and all(by[u] == by[v] for group in given["must_link"] for u in group for v in group)
        and all(by[u] != by[v] for u, v in given["cannot_link"])
        and (given["max_share"] is None or volumes.max() <= given["max_share"] * (1 + 1e-8))
        and volumes.min() >= (least or 0.0) * (1 - 1e-8)
        and len(set(labels)) == k
    )


@pytest.mark.parametrize("seed", range(40))
def test_enumeration_agrees_on_what_is_possible_and_best(seed):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(5, 8)), int(rng.integers(2, 4))
    h = random_hypergraph(rng, n)
    h = h.restrict(np.argsort(h.vertex_ids))
    given, least = random_constraints(rng, list(range(n)), k)
    objective = ["information", "ncut"][seed % 2]
    walk, names = hc.RandomWalk(h), {f"c{c}": c for c in range(k)}
    rows = [row for row in product(range(k), repeat=n) if kept(row, names, given, least, walk.stationary, k)]
    settings = {"objective": objective, "min_share": least or 0.0, "chance": False}
    if not rows:
        with pytest.raises(hc.InputError):
            hc.cluster(h, k, constraints=given, **settings)
        return
    part = hc.cluster(h, k, constraints=given, **settings)
    numbers = {name: place for place, name in enumerate(part.cluster_names) if name in names}
    assert kept(part.labels, numbers, given, least, walk.stationary, k)
    best = min(hc.cut(walk, np.array(row), k).ncut for row in rows)
    if objective == "ncut":
        assert part.ncut == pytest.approx(best, abs=1e-9)
    else:
        some = max(hc.evaluate(h, list(row), chance=False).information for row in rows[:20])
        assert part.information >= some - 1e-9


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("objective", ["information", "ncut"])
def test_constraints_of_a_partition_are_kept(seed, objective):
    rng = np.random.default_rng(1000 + seed)
    n, k = int(rng.integers(12, 40)), int(rng.integers(2, 5))
    h = random_hypergraph(rng, n)
    h = h.restrict(np.argsort(h.vertex_ids))
    phi = hc.RandomWalk(h).stationary
    classes = np.append(np.arange(k), rng.integers(k, size=n - k))
    pairs = [rng.choice(n, size=2, replace=False).tolist() for _ in range(n)]
    volumes = np.bincount(classes, weights=phi)
    given = {
        "fixed": {int(v): f"c{classes[v]}" for v in rng.choice(n, size=rng.integers(0, 4), replace=False)},
        "must_link": [pair for pair in pairs if len(set(classes[pair])) == 1][:4],
        "cannot_link": [pair for pair in pairs if len(set(classes[pair])) == 2][: rng.integers(0, n)],
        "max_share": float(volumes.max()) if rng.random() < 0.5 else None,
    }
    least = min(float(volumes.min()), 1 / k) if rng.random() < 0.5 else 0.0
    part = hc.cluster(h, k, constraints=given, objective=objective, min_share=least, chance=False)
    numbers = {name: place for place, name in enumerate(part.cluster_names)}
    assert kept(part.labels, numbers, given, least, phi, k)


@pytest.mark.parametrize("name", ["ncut", "information"])
@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_contraction_keeps_the_cost(name, alpha):
    rng = np.random.default_rng(3)
    h = random_hypergraph(rng, 12)
    walk, objective = hc.RandomWalk(h, alpha=alpha), OBJECTIVES[name]
    known = hc.Constraints(must_link=[h.vertex_ids[[0, 3, 5]].tolist(), h.vertex_ids[[1, 2]].tolist()])
    rules = with_volumes(rules_of(known, h.vertex_ids, h.covered, 3), walk.stationary, 0.0, None)
    flow = rules.contracted(flow_of(walk))
    for _ in range(5):
        labels = np.append(rng.permutation(3), rng.integers(3, size=rules.n_groups - 3))
        small = Clusters.of(walk, labels, 3, objective=objective, flow=flow, rules=rules)
        large = Clusters.of(walk, labels[rules.groups], 3, objective=objective)
        np.testing.assert_allclose(small.plain_cost, large.plain_cost, atol=1e-12)
        small.assign(np.array([0, 4]), np.array([1, 2]))
        large = Clusters.of(walk, small.state.labels[rules.groups], 3, objective=objective)
        np.testing.assert_allclose(small.plain_cost, large.plain_cost, atol=1e-12)


class TestNames:
    def test_text_names_the_clusters_and_the_others_are_numbered(self):
        part = hc.cluster(TWO, 3, constraints={"fixed": {"a": "left", "f": "right"}}, chance=False)
        assert {"left", "right"} < set(part.names)
        assert "a" in part.members("left").tolist()
        (other,) = set(part.names) - {"left", "right"}
        assert part.members(other).tolist() == part.members(int(other)).tolist()

    def test_numbers_name_nothing(self):
        part = hc.cluster(TWO, 2, constraints={"fixed": {"a": 7, "f": 9}}, chance=False)
        assert part.names is None
        assert part.labels[0] != part.labels[5]

    def test_the_clusters_of_refine_are_those_given(self):
        part = hc.refine(TWO, list("xxxyyy"), constraints={"fixed": {"a": "y"}}, chance=False)
        assert "a" in part.members("y").tolist()
        with pytest.raises(hc.InputError, match="no cluster 'z' among those given, 'x', 'y'"):
            hc.refine(TWO, list("xxxyyy"), constraints={"fixed": {"a": "z"}})

    def test_a_series_with_missing_clusters(self):
        pandas = pytest.importorskip("pandas")
        known = pandas.Series(["left", None, np.nan, "right"], index=["a", "b", "c", "f"])
        assert hc.Constraints(fixed=known).fixed == {"a": "left", "f": "right"}


class TestSeeds:
    def test_seeds_may_leave(self):
        part = hc.cluster(TWO, 2, constraints={"seeds": {"left": ["a", "f"], "right": ["e"]}}, chance=False)
        assert part.members("left").tolist() in (["a", "b", "c"], ["d", "e", "f"])

    def test_settings_and_text_say_what_was_constrained(self):
        part = hc.cluster(TWO, 2, constraints=hc.Constraints(fixed={"a": "l"}, seeds={"r": ["e"]}))
        assert part.settings["constraints"] == "1 fixed vertex, 1 seed"
        assert "constrained: 1 fixed vertex, 1 seed; the bounds are for all clusters" in repr(part)

    def test_no_constraints_change_nothing(self):
        part = hc.cluster(TWO, 2, constraints={"fixed": {}}, chance=False)
        assert "constraints" not in part.settings


REFUSED = [
    ({"fixed": {"x": 1}}, "vertex 'x' is not among the 6"),
    ({"fixed": {"g": 1}}, "vertex 'g' is not among the 6"),
    ({"fixed": {"a": 1, "b": 2, "c": 3}}, "fixed and seeds name 3 clusters, 1, 2, 3; use at least k=3"),
    ({"fixed": {"a": 1}, "seeds": {2: ["a"]}}, "vertex 'a' is given for two clusters, 2 and 1; keep one"),
    (
        {"fixed": {"a": 1, "c": 2}, "must_link": ["ab", "bc"]},
        "must_link must have lists of vertices; got 'ab'",
    ),
    (
        {"fixed": {"a": 1, "c": 2}, "must_link": [("a", "b"), ("b", "c")]},
        "vertices 'a' and 'c' are fixed to clusters 1 and 2, but must_link joins them; drop a link",
    ),
    (
        {"must_link": [("a", "b"), ("b", "c")], "cannot_link": [("a", "c")]},
        "vertices 'a' and 'c' are in cannot_link, but must_link joins them; drop one",
    ),
    (
        {"fixed": {"a": 1, "b": 1}, "cannot_link": [("a", "b")]},
        "vertices 'a' and 'b' are in cannot_link, but fixed puts both in cluster 1",
    ),
    ({"cannot_link": [("a", "b", "c")]}, "must all be apart, which takes 3 clusters; there are 2"),
    ({"cannot_link": [("a", "a")]}, "vertex 'a' cannot be apart from itself"),
    ({"cannot_link": [("a",)]}, "cannot_link must have 2 vertices or more in each"),
    (
        {"cannot_link": [("a", "b"), ("b", "c"), ("c", "d"), ("d", "e"), ("e", "a")]},
        "the cannot-links of vertices .* cannot be kept with 2 clusters",
    ),
    ({"must_link": ["abcdef"]}, "must_link must have lists"),
    ({"must_link": [list("abcdef")]}, "leave 1 groups? of vertices, which cannot fill 2 clusters"),
    ({"max_share": 0.4}, "max_share must be at least 1/k = 0.5; got 0.4"),
    ({"max_share": -1}, "max_share must be above 0 and at most 1; got -1"),
    ({"must_link": [list("abcd")], "max_share": 0.6}, "joined with .* have .* max_share allows 0.6"),
    ({"fixed": ["a"]}, "fixed must be a mapping"),
    ({"linked": []}, "there is no constraint 'linked'; there are fixed"),
]


@pytest.mark.parametrize(("given", "message"), REFUSED)
def test_conflicts_are_named(given, message):
    with pytest.raises(hc.InputError, match=message):
        hc.cluster(TWO, 2, constraints=given, chance=False)


def test_a_vertex_in_no_hyperedge_cannot_be_fixed():
    h = hc.Hypergraph.from_edges([["a", "b"], ["b", "c"]], vertex_ids=["a", "b", "c", "alone"])
    with pytest.raises(hc.InputError, match="vertex 'alone' in fixed is in no hyperedge"):
        hc.cluster(h, 2, constraints={"fixed": {"alone": 1}})


def test_small_components_stay_together_unless_something_is_known_of_them():
    ring = [[v, (v + 1) % 60, (v + 2) % 60] for v in range(60)]
    h = hc.Hypergraph.from_edges([*ring, [100, 101], [200, 201], [300, 301]])
    known = {"fixed": {0: "a", 30: "b", 100: "a"}}
    part = hc.cluster(h, 2, objective="information", constraints=known, chance=False)
    where = dict(zip(part.vertex_ids.tolist(), part.named_labels, strict=True))
    assert where[100] == where[101] == "a"
    assert Counter(where[v] for v in (200, 201, 300, 301)).most_common(1)[0][1] == 4


def test_the_engine_of_the_walk_changes_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    edges = [(rng.choice(20, 3, replace=False) + 20 * (i % 3)).tolist() for i in range(150)]
    h = hc.Hypergraph.from_edges([*edges, [0, 20], [21, 40]])
    known = {"fixed": {0: "a", 20: "b"}, "cannot_link": [(1, 2)], "max_share": 0.5}
    here = hc.cluster(h, 3, constraints=known, engine="cpu", chance=False)
    monkeypatch.setattr(cuda, "DEVICE", stand_in_device.StandIn)
    monkeypatch.setattr(cuda, "missing", lambda: None)
    monkeypatch.setattr(cuda, "fits", lambda *_: True)
    there = hc.cluster(h, 3, constraints=known, engine="cuda", chance=False)
    assert there.settings["engine"] == "cuda"
    np.testing.assert_array_equal(there.labels, here.labels)


def test_the_estimator_takes_constraints():
    sklearn = pytest.importorskip("hyperclus.sklearn")
    rows = [[3, 1, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 2], [0, 0, 1, 1]]
    model = sklearn.HypergraphClustering(2, constraints={"must_link": [(0, 2)]}, random_state=0).fit(rows)
    assert model.labels_[0] == model.labels_[2]


class TestCommandLine:
    TABLE = "name,size,milk\n" + "".join(f"v{i},{i // 6},{'yn'[i // 6]}\n" for i in range(12))

    def run(self, tmp_path, *words, **files):
        (tmp_path / "t.csv").write_text(self.TABLE)
        for name, text in files.items():
            (tmp_path / f"{name}.csv").write_text(text)
        options = [word for name in files for word in (f"--{name}", f"{tmp_path / name}.csv")]
        return inside(
            "cluster",
            tmp_path / "t.csv",
            "-k",
            "2",
            "--id",
            "name",
            "--csv",
            "--quiet",
            "--no-chance",
            *options,
            *words,
        )

    def test_files_of_constraints(self, tmp_path):
        links = "u,v,kind\nv1,v2,must\nv0,v1,cannot\n"
        done = self.run(tmp_path, fixed="name,cluster\nv0,left\nv11,right\nv5,\n", links=links)
        assert done.returncode == 0, done.stderr
        where = dict(line.split(",")[:2] for line in done.stdout.splitlines()[1:])
        assert where["v0"] == "left"
        assert where["v11"] == where["v1"] == where["v2"] == "right"

    @pytest.mark.parametrize(
        ("files", "message"),
        [
            ({"fixed": "name,cluster\nv99,x\n"}, "'v99' is no vertex"),
            ({"fixed": "name,cluster\nv0,x\nv0,y\n"}, "'v0' is fixed to two clusters, 'x' and 'y'"),
            ({"fixed": "name\nv0\n"}, "2 columns"),
            ({"links": "a,b,c\nv0,v1,may\n"}, "a link is must or cannot, not 'may'"),
        ],
    )
    def test_wrong_files(self, tmp_path, files, message):
        assert_refused(self.run(tmp_path, **files), message)

    def test_the_method_of_the_paper_has_none(self, tmp_path):
        assert_refused(self.run(tmp_path, "--method", "hyperclus-g", "--max-share", "0.9"), "--max-share")
