import warnings

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import hyperclus as hc
from hyperclus.clustering.frames import LABEL_COLUMNS
from hyperclus.clustering.membership import CLEAR, REASONS, confidence, confidence_in, membership
from hyperclus.clustering.objectives import INFORMATION, NCUT
from hyperclus.clustering.overlaps import overlap
from hyperclus.engines import cuda
from support import oracles, stand_in_device
from support.strategies import alphas, hypergraphs, with_partition, with_relabelling

objectives = st.sampled_from([NCUT, INFORMATION])
split = with_partition(hypergraphs(min_n=3))


def planted(blocks, size, n_edges, seed, outliers=0):
    """Blocks with hyperedges of five members inside each, then vertices in fifteen random hyperedges."""
    rng = np.random.default_rng(seed)
    edges = [set((rng.integers(blocks) * size + rng.integers(size, size=5)).tolist()) for _ in range(n_edges)]
    for vertex in range(blocks * size, blocks * size + outliers):
        for edge in rng.choice(n_edges, 15, replace=False):
            edges[edge].add(vertex)
    h = hc.Hypergraph.from_edges([sorted(edge) for edge in edges])
    return h, h.vertex_ids >= blocks * size


def steps_to_others(p, labels, k):
    """Shares of the steps to other vertices that go into each cluster, by the definition."""
    shares = np.zeros((len(p), k))
    for v in range(len(p)):
        others = [u for u in range(len(p)) if u != v]
        for u in others:
            shares[v, labels[u]] += p[v, u]
        total = shares[v].sum()
        shares[v] = shares[v] / total if total > 0 else 0.0
    return shares


class TestMembership:
    @given(split, alphas)
    def test_equals_its_definition(self, given_labels, alpha):
        h, labels = given_labels
        k = labels.max() + 1
        found = membership(hc.RandomWalk(h, alpha=alpha), labels, k)
        p = oracles.transition(h, alpha)
        wanted = np.array([[p[v, labels == c].sum() for c in range(k)] for v in range(h.n_vertices)])
        assert found.toarray() == pytest.approx(wanted, abs=1e-12)
        assert found.sum(axis=1) == pytest.approx(1.0)
        assert found.nnz == (wanted > 0).sum()

    def test_a_vertex_in_no_hyperedge_has_no_entries(self):
        h = hc.Hypergraph.from_edges([["b", "c"], ["d", "e"]], vertex_ids=list("abcdef"))
        found = hc.evaluate(h, [0, 0, 0, 1, 1, 1]).membership()
        assert found.shape == (6, 2)
        assert found.sum(axis=1).tolist() == [0, 1, 1, 1, 1, 0]

    def test_many_clusters_are_sparse(self):
        h, _ = planted(60, 6, 600, seed=0)
        found = hc.evaluate(h, h.vertex_ids // 6, chance=False).membership()
        assert found.nnz == h.n_vertices
        assert found.shape == (h.n_vertices, 60)


class TestMargin:
    @given(split, alphas, objectives)
    def test_is_what_the_next_best_move_costs(self, given_labels, alpha, objective):
        h, labels = given_labels
        k = labels.max() + 1
        assume(k > 1)
        walk = hc.RandomWalk(h, alpha=alpha)
        p, phi = oracles.transition(h, alpha), walk.stationary
        assume(np.bincount(labels, weights=phi).min() > 1e-6)

        def cost(of):
            parts = [set(np.flatnonzero(of == c).tolist()) for c in range(k)]
            return oracles.ncut(p, phi, parts) if objective is NCUT else -oracles.information(p, phi, parts)

        found = confidence(walk, labels, k, objective)
        for v, home in enumerate(labels):
            if (labels == home).sum() == 1 or phi[(labels == home)].sum() - phi[v] < 1e-9:
                continue
            moved = {c: cost(np.where(np.arange(len(labels)) == v, c, labels)) for c in range(k) if c != home}
            assert found.margins[v] == pytest.approx(min(moved.values()) - cost(labels), abs=1e-7)
            assert moved[found.next_clusters[v]] == pytest.approx(min(moved.values()), abs=1e-7)

    @pytest.mark.parametrize("objective", ["ncut", "information"])
    def test_a_searched_label_is_locally_best(self, objective):
        h, _ = planted(3, 20, 150, seed=1)
        part = hc.cluster(h, 3, objective=objective, chance=False)
        assert (part.confidence().margins > -1e-12).all()

    def test_there_is_none_without_a_move(self):
        h = hc.Hypergraph.from_edges([["a", "b", "c"], ["c", "d"]])
        alone = hc.evaluate(h, [0, 0, 0, 1]).confidence()
        assert np.isnan(alone.margins).tolist() == [False, False, False, True]
        assert alone.next_clusters.tolist() == [1, 1, 1, -1]
        one = hc.evaluate(h, [0, 0, 0, 0]).confidence()
        assert np.isnan(one.margins).all()
        assert (one.next_clusters == -1).all()
        assert one.values == pytest.approx(1.0)
        assert one.outliers.tolist() == [None, None, None, "few shared hyperedges"]


class TestConfidence:
    @given(split, alphas)
    def test_equals_its_definition(self, given_labels, alpha):
        h, labels = given_labels
        k, n = labels.max() + 1, h.n_vertices
        walk = hc.RandomWalk(h, alpha=alpha)
        p, phi = oracles.transition(h, alpha), walk.stationary
        assume(p.diagonal().max() < 0.999)  # the rest has digits
        to_edges, to_vertices = oracles.factor_matrices(h, alpha)
        volumes = [phi[labels == c].sum() for c in range(k)]
        shares, found = steps_to_others(p, labels, k), confidence(walk, labels, k, NCUT)
        spreads, staying, noise = [], [], []
        for v in range(n):
            edges = [e for e in range(h.n_edges) if to_edges[v, e] > 0]
            others = sum(np.count_nonzero(to_vertices[e]) - 1 for e in edges)
            lifts = [(others * shares[v, c] / volumes[c] + 1) / (others + 1) for c in range(k)]
            powers = [lift ** np.sqrt(len(edges)) for lift in lifts]
            home = labels[v]
            assert found.values[v] == pytest.approx(powers[home] / sum(powers), rel=1e-6)
            parts = [to_vertices[e, labels == home].sum() for e in range(h.n_edges)]
            flow = [sum(phi[u] * to_edges[u, e] for u in range(n)) for e in range(h.n_edges)]
            spread = sum(share * (part - volumes[home]) ** 2 for share, part in zip(flow, parts, strict=True))
            spreads.append(spread)
            staying.append((shares[v, home] - volumes[home]) / np.sqrt(max(spread, 1e-18)))
            noise.append(np.sqrt(sum(to_edges[v, e] ** 2 for e in edges)))
        assume(min(spreads) > 1e-6)
        overlaps, usual = overlap(h), sum(phi[v] * staying[v] for v in range(n))
        for v in range(n):
            wanted = (staying[v] - usual / 2) / noise[v] * (1 - noise[v] ** 2) + overlaps[v]
            assert found.fits[v] == pytest.approx(wanted, rel=1e-5, abs=1e-5)

    @given(with_relabelling(hypergraphs(min_n=4)), objectives)
    def test_does_not_depend_on_the_order_of_the_input(self, given_orders, objective):
        h, other, order = given_orders
        labels = np.arange(h.n_vertices) % 2
        walk = hc.RandomWalk(h)
        assume(oracles.transition(h).diagonal().max() < 0.999)
        one = confidence(walk, labels, 2, objective)
        two = confidence(hc.RandomWalk(other), labels[order], 2, objective)
        assert two.values == pytest.approx(one.values[order], rel=1e-6)
        assert two.margins == pytest.approx(one.margins[order], abs=1e-9, nan_ok=True)

    def test_is_between_equal_shares_and_one(self):
        volumes, homes = np.array([0.5, 0.3, 0.2]), np.array([0, 1, 2])
        nothing = confidence_in(np.zeros((3, 3)), homes, volumes, np.ones(3), np.zeros(3))
        assert nothing == pytest.approx(1 / 3)
        sure = confidence_in(np.eye(3), homes, volumes, np.full(3, 100.0), np.full(3, 1e6))
        assert sure == pytest.approx(1.0)
        wrong = confidence_in(np.eye(3)[[1, 2, 0]], homes, volumes, np.full(3, 100.0), np.full(3, 1e6))
        assert wrong == pytest.approx(0.0)

    def test_is_low_where_a_label_is_wrong(self):
        h, _ = planted(4, 25, 300, seed=2)
        blocks = h.vertex_ids // 25
        wrong = np.arange(h.n_vertices) % 10 == 0
        found = hc.evaluate(h, np.where(wrong, (blocks + 1) % 4, blocks), chance=False).confidence()
        assert found.values[wrong].max() < 0.1 < 0.9 < found.values[~wrong].min()
        assert found.margins[wrong].max() < 0 < found.margins[~wrong].min()

    def test_blocks_of_vertices_change_nothing(self):
        h, _ = planted(3, 20, 150, seed=3)
        walk, labels = hc.RandomWalk(h), h.vertex_ids // 20
        whole, pieces = (confidence(walk, labels, 3, NCUT, block) for block in (10**6, 50))
        assert pieces.values.tolist() == whole.values.tolist()
        assert pieces.fits.tolist() == whole.fits.tolist()
        shares, again = (membership(walk, labels, 3, block).toarray() for block in (10**6, 50))
        assert again.tolist() == shares.tolist()

    @pytest.mark.parametrize("precision", ["float64", "float32"])
    def test_is_the_same_after_a_search_on_another_engine(self, monkeypatch, precision):
        monkeypatch.setattr(cuda, "DEVICE", stand_in_device.StandIn)
        monkeypatch.setattr(cuda, "missing", lambda: None)
        monkeypatch.setattr(cuda, "fits", lambda *_: True)
        h, _ = planted(3, 20, 150, seed=7)
        part = hc.cluster(h, 3, objective="information", engine="cuda", precision=precision, chance=False)
        assert part.settings["engine"] == "cuda"
        here = confidence(hc.RandomWalk(h), part.labels, 3, INFORMATION)
        assert part.confidence().values == pytest.approx(here.values, rel=1e-9)
        assert part.confidence().margins == pytest.approx(here.margins, abs=1e-12)
        assert part.membership().sum(axis=1) == pytest.approx(1.0)

    def test_cannot_be_changed(self):
        found = hc.evaluate([["a", "b"], ["b", "c"]], [0, 0, 1]).confidence()
        for name in ("values", "margins", "next_clusters", "fits", "outliers"):
            assert not getattr(found, name).flags.writeable


class TestOutliers:
    @pytest.mark.parametrize("objective", ["ncut", "information"])
    def test_vertices_in_random_hyperedges_fit_no_cluster(self, objective):
        h, random = planted(4, 50, 800, seed=4, outliers=10)
        found = hc.cluster(h, 4, objective=objective, chance=False).confidence()
        flagged = found.outliers == "fits no cluster"
        assert found.fits[random].max() < np.quantile(found.fits[~random], 0.05)
        assert flagged[random].mean() > 0.5
        assert flagged[~random].mean() < 0.05

    def test_reasons(self):
        h, _ = planted(2, 30, 300, seed=5)
        edges = [h.vertex_ids[h.gamma[[e]].indices].tolist() for e in range(h.n_edges)]
        edges += [[100, 101, 102], [101, 102, 100], [102, 0], [5, 200], [300], {400: 1e6, 6: 1.0}]
        h = hc.Hypergraph.from_edges(
            [dict.fromkeys(edge, 1.0) if isinstance(edge, list) else edge for edge in edges],
            vertex_ids=[*range(60), 100, 101, 102, 200, 300, 400, 500],
        )
        labels = [0] * 30 + [1] * 30 + [2, 2, 2, 0, 0, 0, 0]
        found = hc.evaluate(h, labels, chance=False).confidence()
        assert found.outliers[:60].tolist() == [None] * 60
        assert found.outliers[60:63].tolist() == ["tiny cluster"] * 3
        assert found.outliers[63:66].tolist() == ["few shared hyperedges"] * 3
        assert found.outliers[66] == "in no hyperedge"
        assert np.isnan([found.values[66], found.margins[66], found.fits[66]]).all()
        assert found.next_clusters[66] == -1

    def test_two_hyperedges_are_too_few_to_tell(self):
        """A vertex between two clusters is not said to fit none; CLEAR keeps it out."""
        h = hc.Hypergraph.from_edges([["a", "b", "c"], ["c", "d"], ["d", "e", "f"]])
        assert CLEAR > 0
        found = hc.evaluate(h, [0, 0, 0, 1, 1, 1]).confidence()
        assert set(found.outliers) == {None}
        assert found.fits[[0, 1, 4, 5]].tolist() == [0.0] * 4  # one hyperedge says nothing

    def test_a_wrong_label_is_not_an_outlier(self):
        """A vertex that another cluster would suit has a negative margin, and a low fit in its own."""
        h, _ = planted(4, 25, 300, seed=2)
        blocks = h.vertex_ids // 25
        wrong = np.arange(h.n_vertices) % 10 == 0
        found = hc.evaluate(h, np.where(wrong, (blocks + 1) % 4, blocks), chance=False).confidence()
        assert found.fits[wrong].max() < 0
        assert set(found.outliers) == {None}

    def test_rows_with_two_values_of_a_column_fit_no_cluster(self):
        """The clusters are too weak to tell, but values of a column never occur together elsewhere."""
        rng = np.random.default_rng(8)
        values = rng.integers(0, 4, (400, 8)) + 4 * np.arange(8)
        values[:20, ::2] = values[:20, 1::2] // 4 * 4 + (values[:20, 1::2] + 1) % 4
        h = hc.Hypergraph.from_long({"vertex": np.repeat(np.arange(400), 8), "edge": values.ravel()})
        found = hc.evaluate(h, np.arange(400) % 2, chance=False).confidence()
        odd = h.vertex_ids < 20
        assert np.median(found.fits[odd]) < np.quantile(found.fits[~odd], 0.15)

    @given(split, objectives)
    def test_every_hypergraph_has_figures(self, given_labels, objective):
        h, labels = given_labels
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = confidence(hc.RandomWalk(h), labels, labels.max() + 1, objective)
        assert ((found.values >= 0) & (found.values <= 1)).all()
        assert np.isfinite(found.fits).all()
        assert set(found.outliers) <= set(REASONS)


class TestFrame:
    H = hc.Hypergraph.from_edges([["a", "b", "c"], ["d", "e"]], vertex_ids=list("abcdef"))

    def test_columns(self):
        part = hc.evaluate(self.H, ["x", "x", "x", "y", "y", "y"])
        frame = part.to_frame()
        assert tuple(frame.columns) == LABEL_COLUMNS
        assert frame["next_cluster"].tolist() == ["y", "y", "y", "x", "x", -1]
        assert frame["confidence"].tolist()[:5] == part.confidence().values.tolist()[:5]
        assert frame["outlier"].notna().tolist() == [False, False, False, True, True, True]

    def test_a_noun_that_is_a_column_is_not_used(self):
        part = hc.evaluate(self.H.with_nouns(vertex="margin"), [0, 0, 0, 1, 1, 1])
        assert tuple(part.to_frame().columns) == LABEL_COLUMNS

    def test_the_objective_is_that_of_the_search(self):
        h, _ = planted(3, 15, 100, seed=6)
        found = {}
        for objective in (NCUT, INFORMATION):
            part = hc.cluster(h, 3, objective=objective.name, chance=False)
            found[objective.name] = part.confidence().margins
            wanted = confidence(part.walk, part.labels, 3, objective)
            assert found[objective.name].tolist() == wanted.margins.tolist()
        assert found["ncut"].tolist() != found["information"].tolist()
