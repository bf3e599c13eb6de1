"""Labels of new vertices equal their definition written with loops, and a saved model is the same model."""

import json
import zipfile

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import hyperclus as hc
from hyperclus import Bins, Hypergraph
from hyperclus.clustering import model as module
from hyperclus.clustering.model import model_of
from hyperclus.clustering.new_vertices import new_vertices
from hyperclus.clustering.objectives import OBJECTIVES
from support.contracts import refused

examples = settings(deadline=None, max_examples=60)

BASKETS = {
    "ann": {"tea": 2, "milk": 1, "cup": 1},
    "bob": {"tea": 1, "milk": 3},
    "cy": {"milk": 1, "cup": 2, "glue": 1},
    "dee": {"nails": 2, "glue": 1},
    "eve": {"nails": 1, "glue": 2, "ink": 1},
    "fay": {"ink": 1, "glue": 1},
}


def hypergraph_of(vertices):
    rows = [(v, e, w) for v, edges in vertices.items() for e, w in edges.items()]
    columns = dict(zip(("vertex", "edge", "weight"), zip(*rows, strict=True), strict=True))
    return Hypergraph.from_long({name: list(values) for name, values in columns.items()})


def partition(objective="information", alpha=0.0):
    labels = [0, 0, 0, 1, 1, 1]
    return hc.refine(hypergraph_of(BASKETS), labels, objective=objective, alpha=alpha, chance=False)


def by_loops(part, objective, vertex):
    """Membership, and the gain by each cluster, of a vertex {edge: weight}, from the definitions."""
    h, k, phi = part.walk.hypergraph, part.k, part.walk.stationary
    gamma, omega, alpha = h.gamma.toarray(), h.edge_weights, part.walk.alpha
    n_edges, n = gamma.shape
    d = [sum(omega[e] * gamma[e, v] ** alpha for e in range(n_edges) if gamma[e, v]) for v in range(n)]
    delta = gamma.sum(axis=1)
    a, b, between = np.zeros((n_edges, k)), np.zeros((n_edges, k)), np.zeros((k, k))
    for e in range(n_edges):
        for v in range(n):
            if gamma[e, v]:
                a[e, part.labels[v]] += phi[v] * omega[e] * gamma[e, v] ** alpha / d[v]
                b[e, part.labels[v]] += gamma[e, v] / delta[e]
        between += np.outer(a[e], b[e])
    out, back = np.zeros(k), np.zeros(k)
    for edge, weight in vertex.items():
        e = h.edge_ids.tolist().index(edge)
        out += omega[e] * weight**alpha * b[e]
        back += weight / delta[e] * a[e]
    out, back, volumes = out / out.sum(), back / back.sum(), between.sum(axis=1)
    if objective == "ncut":
        return out, [(out[c] + back[c] - between[c, c] / volumes[c]) / volumes[c] for c in range(k)]
    logs = np.log(np.maximum(between, np.outer(volumes, volumes) / n))
    gains = [sum(out[j] * logs[c, j] + back[j] * logs[j, c] for j in range(k)) for c in range(k)]
    return out, [gain - 2 * np.log(volumes[c]) for c, gain in enumerate(gains)]


weights = st.dictionaries(
    st.sampled_from(["tea", "milk", "cup", "nails", "glue", "ink"]), st.floats(0.1, 9), min_size=1
)


@given(
    st.lists(weights, min_size=1, max_size=5),
    st.sampled_from(list(OBJECTIVES)),
    st.sampled_from([0.0, 0.5, 1.0]),
)
@examples
def test_labels_and_membership_equal_the_definition(new, objective, alpha):
    part = partition(objective, alpha)
    found, volumes = part.predict(new), part.cut.volumes
    h = part.walk.hypergraph
    sizes = dict(zip(h.edge_ids.tolist(), h.edge_sizes.tolist(), strict=True))
    for row, vertex in enumerate(new):
        out, gains = by_loops(part, objective, vertex)
        np.testing.assert_allclose(found.membership[row], out, atol=1e-12)
        assert gains[found.labels[row]] == pytest.approx(max(gains), abs=1e-9)
        others, root = sum(sizes[edge] for edge in vertex), len(vertex) ** 0.5
        lifts = [(others * share / volume + 1) ** root for share, volume in zip(out, volumes, strict=True)]
        assert found.confidence[row] == pytest.approx(lifts[found.labels[row]] / sum(lifts), abs=1e-9)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_gain_is_the_derivative_of_the_objective(objective):
    """A vertex of small mass that is added to the hypergraph changes the cost as the gains say."""
    baskets = BASKETS | {"gil": {"cup": 2, "ink": 2, "milk": 2, "nails": 2}}
    part = hc.evaluate(hypergraph_of(baskets), [0, 0, 0, 1, 1, 1, 1], alpha=1.0, chance=False)
    new, mass = {"glue": 1.0, "cup": 2.0}, 1e-6
    _, gains = by_loops(part, objective, new)
    costs = []
    for cluster in range(2):
        h = hypergraph_of(baskets | {"new": {edge: mass * weight for edge, weight in new.items()}})
        score = hc.evaluate(h, [*part.labels.tolist(), cluster], alpha=1.0, chance=False)
        costs.append(score.ncut if objective == "ncut" else -score.information)
    share = hc.RandomWalk(h, alpha=1.0).stationary[-1]
    assert (costs[0] - costs[1]) / share == pytest.approx(gains[1] - gains[0], rel=1e-3)


def test_everything_that_holds_vertices_gives_the_same():
    part = partition()
    new = {"x": {"tea": 1, "cup": 2}, "y": {"ink": 3}}
    wanted = part.predict(new)
    assert wanted.labels.tolist() == [part.labels[0], part.labels[5]]
    h = hypergraph_of(new)
    ids = part.walk.hypergraph.edge_ids.tolist()
    matrix = np.array([[edges.get(edge, 0) for edge in ids] for edges in new.values()])
    long = pd.DataFrame(
        [(v, e, w) for v, es in new.items() for e, w in es.items()], columns=["vertex", "edge", "weight"]
    )
    frame = pd.DataFrame(matrix, columns=ids, index=list(new))
    for more in (
        h,
        matrix,
        sp.csr_array(matrix),
        sp.coo_matrix(matrix),
        sp.csr_array(matrix[:, ::-1])[:, ::-1],
        long,
        frame,
        list(new.values()),
    ):
        found = part.predict(more)
        np.testing.assert_allclose(found.membership, wanted.membership, atol=1e-12)
        assert found.labels.tolist() == wanted.labels.tolist()
        assert found.n_unknown == 0
    listed = part.predict({"x": ["tea", "cup"], "y": ["ink"]})
    assert listed.vertex_ids.tolist() == ["x", "y"]
    assert part.predict([["tea", "tea"]], duplicates="max").labels.tolist() == [wanted.labels[0]]


def test_unknown_hyperedges_are_counted_and_have_no_influence():
    part = partition()
    part = part.with_names({part.labels[0]: "drinks", part.labels[5]: "office"})
    found = part.predict({"x": ["tea", "salt"], "y": ["salt", "oil"], "z": []})
    assert found.named_labels == ["drinks", -1, -1]
    assert found.unknown.tolist() == [1, 2, 0]
    assert found.unknown_edges.tolist() == ["salt", "oil"]
    assert found.membership[1:].sum() == 0
    assert found.confidence[1:].tolist() == [0, 0]
    np.testing.assert_array_equal(found.membership[0], part.predict([["tea"]]).membership[0])
    assert repr(found) == (
        "Prediction(3 vertices: 1 in cluster drinks, 2 in no known hyperedge; "
        "2 hyperedges unknown to the model and left out: 'salt', 'oil')"
    )
    frame = found.to_frame()
    assert list(frame.columns) == ["vertex", "cluster", "confidence", "share", "unknown"]
    assert frame["cluster"].tolist() == ["drinks", -1, -1]
    assert not found.labels.flags.writeable


def test_hyperedges_without_members_are_unknown():
    h = Hypergraph.from_edges({"a": ["x", "y"], "none": [], "b": ["z", "w"]})
    part = hc.evaluate(h, [0, 0, 1, 1], chance=False)
    found = part.predict({"v": ["none"], "w": ["none", "b"]})
    assert found.labels.tolist() == [-1, 1]
    assert found.unknown_edges.tolist() == ["none"]
    assert part.predict(sp.csr_array([[0, 1, 0], [0, 1, 1.0]])).labels.tolist() == [-1, 1]


def test_columns_without_members_keep_their_numbers():
    h = Hypergraph.from_incidence([[1, 0, 0, 0], [1, 0, 0, 0], [0, 0, 1, 1], [0, 0, 1, 0], [0, 0, 0, 0]])
    part = hc.evaluate(h, [0, 0, 1, 1, 1], chance=False)
    assert part.walk.hypergraph.n_edges == 3
    assert part.predict(np.array([[0, 0, 0, 2], [3, 0, 0, 0]])).labels.tolist() == [1, 0]


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_most_vertices_keep_their_labels(objective):
    rng = np.random.default_rng(0)
    block = np.repeat(np.arange(3), 40)
    matrix = (rng.random((120, 60)) < np.where(block[:, None] == np.arange(60) % 3, 0.3, 0.05)).astype(float)
    part = hc.cluster(matrix, 3, objective=objective, chance=False)
    inside = part.labels >= 0
    assert (part.predict(matrix).labels == part.labels)[inside].mean() > 0.97


TABLE = {
    "colour": ["red", "red", "blue", "blue", "blue", None],
    "age": [1.0, 2.5, 30.0, 44.0, 100.0, 31.0],
    "legs": [2, 2, 4, 4, 4, 2],
    "size": ["S", "M", "L", "XL", "L", "S"],
}


@pytest.mark.parametrize(
    "rule", [Bins("width", 3), Bins("quantile", 3), Bins("soft", 4), Bins("paper", 5), None]
)
@pytest.mark.parametrize("missing", ["category", "drop"])
def test_old_rows_get_their_hyperedges(rule, missing):
    bins = {"age": rule, "size": 2}
    h = Hypergraph.from_table(TABLE, bins=bins, order={"size": ["S", "M", "L", "XL"]}, missing=missing)
    part = hc.evaluate(h, [0, 0, 1, 1, 1, 0], chance=False)
    for table in (TABLE, pd.DataFrame(TABLE)):
        found = new_vertices(part.model(), table)
        np.testing.assert_allclose(found.weights.toarray(), h.gamma.toarray().T)
        assert found.unknown.tolist() == [0] * 6


@given(
    st.lists(st.floats(-100, 100), min_size=2, max_size=30),
    st.sampled_from(["width", "quantile", "soft"]),
    st.integers(2, 6),
)
@examples
def test_rows_are_in_the_bins_of_the_first_table(values, rule, count):
    h = Hypergraph.from_table({"f": values}, bins={"f": Bins(rule, count)}, constant="keep")
    model = model_of(hc.RandomWalk(h), np.zeros(len(values), dtype=int), 1, "ncut")
    order = np.argsort(values)[: max(1, len(values) // 2)]  # other rows would have other bins
    found = model.predict({"f": np.array(values)[order]})
    assert found.n_unknown == 0
    assert found.labels.tolist() == [0] * len(order)
    beyond = model.predict({"f": [min(values) - 1, max(values) + 1, float("nan"), float("inf")]})
    assert beyond.labels.tolist() == [-1] * 4
    assert beyond.unknown.tolist() == [1, 1, 0, 1]


def test_new_values_of_a_table_are_unknown():
    part = hc.evaluate(
        Hypergraph.from_table(TABLE, bins={"age": 2}, missing="drop"), [0, 0, 1, 1, 1, 0], chance=False
    )
    new = pd.DataFrame(
        {"legs": [2, 7], "age": ["old", 99.5], "colour": ["red", None], "size": ["S", "XS"], "more": [1, 2]},
        index=["p", "q"],
    )
    found = part.predict(new)
    assert found.vertex_ids.tolist() == ["p", "q"]
    assert found.labels.tolist() == [part.labels[0], part.labels[4]]
    assert found.unknown.tolist() == [1, 2]
    assert set(found.unknown_edges.tolist()) == {("age", "old"), ("legs", 7), ("size", "XS")}
    assert part.predict(new, vertex="more").vertex_ids.tolist() == [1, 2]
    refused(lambda: part.predict(new.drop(columns="age")), "the table has no column 'age'")


def test_what_is_refused():
    part = partition()
    refused(lambda: part.predict(np.ones((2, 5))), "a matrix needs a column for each of the 6 hyperedges")
    refused(lambda: part.predict(np.ones(3)), "a matrix needs a column")
    refused(lambda: part.predict({"x": "tea"}), "the hyperedges of vertex 'x' must be a list")
    refused(lambda: part.predict({"x": {"tea": -1}}), "vertex 'x'", "negative")
    refused(lambda: part.predict({"x": {"tea": "much"}}), "vertex 'x', hyperedge 0")
    refused(lambda: part.predict({"x": ["tea", "tea"]}), "appears more than once")
    refused(lambda: part.predict({"x": ["tea"]}, vertex="name"), "vertex names the column of ids")
    refused(lambda: part.predict(sp.csr_array([[np.nan] + [0.0] * 5])), "vertex 0")
    refused(lambda: part.predict("new.csv"), "not the name of a file")
    refused(lambda: partition(alpha=1.0).predict({"x": {"tea": 1e308, "milk": 1e308}}), "exceed the range")


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "shop.hcm"
    partition().with_names(["one", "two"]).save(path)
    return path


def test_a_saved_model_is_the_same(tmp_path, saved):
    part, model = partition(), hc.load(saved)
    assert model.names == ("one", "two")
    new = {"x": {"tea": 1, "cup": 2, "salt": 1}, "y": {"ink": 3}}
    assert model.predict(new).labels.tolist() == part.predict(new).labels.tolist()
    np.testing.assert_array_equal(model.predict(new).membership, part.predict(new).membership)
    again = tmp_path / "again.hcm"
    model.save(again)
    assert (
        repr(hc.load(again))
        == repr(model)
        == "Model(k=2, 6 hyperedges, objective='information', from 6 vertices)"
    )
    assert b"ann" not in saved.read_bytes()  # the vertices are not in it


def test_ids_and_bins_survive(tmp_path):
    path = tmp_path / "t.hcm"
    bins = {"age": Bins("soft", 3), "size": 2}
    h = Hypergraph.from_table(TABLE, bins=bins, order={"size": ["S", "M", "L", "XL"]}, missing="category")
    part = hc.evaluate(h.with_nouns(vertex="person"), [0, 0, 1, 1, 1, 0], chance=False)
    part.save(path)
    model = hc.load(path)
    assert model.edge_ids.tolist() == h.edge_ids.tolist()
    assert model.nouns.vertex == "person"
    np.testing.assert_array_equal(model.predict(TABLE).membership, part.predict(TABLE).membership)
    hc.write(h, tmp_path / "h.npz")
    read = hc.evaluate(hc.read(tmp_path / "h.npz"), [0, 0, 1, 1, 1, 0], chance=False)
    np.testing.assert_array_equal(read.predict(TABLE).membership, part.predict(TABLE).membership)


def rewritten(path, **changes):
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files}
    arrays |= {name: change(arrays) if callable(change) else change for name, change in changes.items()}
    with path.open("wb") as file:
        np.savez(file, **arrays)


def test_hostile_files(saved, tmp_path):
    content = saved.read_bytes()
    broken = tmp_path / "broken.hcm"
    for kept in (10, len(content) // 2, len(content) - 30):
        broken.write_bytes(content[:kept])
        refused(lambda: hc.load(broken), "broken.hcm: this is not a saved model, or it is damaged")
    broken.write_bytes(bytes([content[200] ^ 255]).join([content[:200], content[201:]]))
    refused(lambda: hc.load(broken), "broken.hcm: ")
    broken.write_bytes(b"")
    refused(lambda: hc.load(broken), "broken.hcm: the file is empty")
    broken.write_text("vertex,cluster\n")
    refused(lambda: hc.load(broken), "this is not a saved model, or it is damaged")
    hc.write(hypergraph_of(BASKETS), tmp_path / "h.npz")
    refused(lambda: hc.load(tmp_path / "h.npz"), "this is not a saved model; Partition.save writes one")
    refused(lambda: hc.read(saved, format="npz"), "this is a saved model, not a hypergraph; hc.load reads it")
    refused(lambda: hc.load(tmp_path / "absent.hcm"), "absent.hcm")
    refused(lambda: partition().save(tmp_path / "none" / "m.hcm"), "the folder does not exist")
    refused(lambda: partition().save(tmp_path / "m.hcm.gz"), "a model is not gzipped")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"hyperclus_model": np.array(2)}, "the version of the format is not 1; update hyperclus"),
        (
            {"ahead": lambda arrays: arrays["behind"], "behind": lambda arrays: arrays["ahead"][::-1]},
            "was changed",
        ),
        ({"edge_weights": lambda arrays: arrays["edge_degrees"]}, "was changed or damaged"),
        ({"between": np.ones((2, 2))}, "was changed or damaged"),
        (
            {"ahead": np.ones(3, dtype=np.float32)},
            "the array 'ahead' must be one-dimensional and of type <f8",
        ),
        ({"edge_ids": np.array([{}], dtype=object)}, "saved model"),
        ({"starts": np.array([[0]])}, "the array 'starts' must be one-dimensional"),
    ],
)
def test_changed_arrays(saved, changes, message):
    rewritten(saved, **changes)
    refused(lambda: hc.load(saved), "shop.hcm: ", message)


@pytest.mark.parametrize("name", ["ahead", "between", "edge_flow", "clusters", "starts", "edge_weights"])
def test_arrays_that_do_not_fit_are_refused_even_with_their_digest(saved, name):
    with np.load(saved) as archive:
        arrays = {one: archive[one] for one in archive.files}
    for change in (arrays[name] * 0 + 7, arrays[name][:-1], -arrays[name] - 1):
        bad = arrays | {name: change}
        bad["digest"] = np.frombuffer(module._digest(bad), dtype=np.uint8)
        with saved.open("wb") as file:
            np.savez(file, **bad)
        if name != "edge_weights" or len(change) < 6 or change.min() < 0:
            refused(lambda: hc.load(saved), "shop.hcm: ")


def test_a_bomb_is_not_unpacked(saved):
    with zipfile.ZipFile(saved, "a", zipfile.ZIP_DEFLATED) as archive:
        header = json.dumps("x" * 30_000_000).encode()
        archive.writestr("more.npy", b"\x93NUMPY\x01\x00" + header)
    refused(lambda: hc.load(saved), "unpacks to more than 200 times its size")
