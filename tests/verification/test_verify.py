"""Verdicts beside every partition of small hypergraphs, and changed certificates."""

import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import hyperclus as hc
from hyperclus.spectral.branch_and_bound import branch_and_bound
from hyperclus.spectral.sdp_bound import TightBound
from hyperclus.verification.digest import data_digest
from hyperclus.verification.verify import Limits
from support.certificates import certified, leaf, written
from support.paper_data import paper_hypergraph
from support.strategies import random_hypergraph

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
import certificates as benchmark

H = random_hypergraph(12, 10, 3, 8)
FLOATING = Limits(exact=0, small_side=0)
SMALL_SIDE = Limits(exact=0, rounded=0)


def outcomes(work, decades, numbers):
    return Counter(one for number in numbers for one in work(number, decades))


@pytest.mark.filterwarnings("ignore:invalid value encountered in divide")
@pytest.mark.parametrize("decades", [4.0, 300.0])
def test_bounds_are_true_and_their_certificates_verified(decades):
    found = outcomes(benchmark.one, decades, range(100))
    assert not [one for one in found if "FALSE" in one or "REFUSED" in one], found
    assert sum(count for one, count in found.items() if one.endswith("a bound above 0 verified")) > 120


@pytest.mark.filterwarnings("ignore:invalid value encountered in divide")
@pytest.mark.parametrize("decades", [4.0, 300.0])
def test_changed_certificates_are_refused_or_still_true(decades):
    found = outcomes(benchmark.one_mutation, decades, range(1000, 1100))
    assert not [one for one in found if "FALSE" in one], found
    assert sum(count for one, count in found.items() if one.endswith("refused")) > 15


@pytest.mark.parametrize("bound", ["eigenvalues", "tight"])
@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
def test_all_methods_agree(tmp_path, alpha, bound):
    path, _ = certified(H, 3, tmp_path, alpha=alpha, bound=bound)
    exactly, floating = hc.verify(path, H), hc.verify(path, H, limits=FLOATING)
    assert exactly.verified
    assert exactly.method == "ball arithmetic"
    assert floating.method == "floating point with error bounds"
    assert exactly.bound - 1e-9 < floating.bound <= exactly.bound


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_the_side_of_the_hyperedges_agrees(tmp_path, alpha):
    h = random_hypergraph(60, 7, 10, 5)
    path, _ = certified(h, 3, tmp_path, alpha=alpha)
    exactly, small = hc.verify(path, h), hc.verify(path, h, limits=SMALL_SIDE)
    assert exactly.verified
    assert exactly.bound - 1e-9 < small.bound <= exactly.bound


def test_a_proof_that_is_too_large_is_not_verified_but_the_ncut_is(tmp_path):
    path, _ = certified(H, 2, tmp_path)
    verdict = hc.verify(path, H, limits=Limits(exact=0, rounded=0, small_side=0))
    assert not verdict
    assert "the bound is not verified" in verdict.refusals[0]
    assert verdict.ncut[0] > 0


def test_the_order_of_the_data_does_not_matter(tmp_path):
    path, _ = certified(H, 2, tmp_path, bound="tight")
    order = np.random.default_rng(0).permutation(H.n_vertices)
    other = H.restrict(order)
    other = hc.Hypergraph(other.gamma[::-1], other.edge_weights[::-1], other.vertex_ids, other.edge_ids[::-1])
    assert data_digest(other) == data_digest(H)
    assert hc.verify(path, other).verified


@pytest.mark.parametrize("change", ["gamma", "omega", "vertex", "edge", "fewer"])
def test_other_data_are_refused(tmp_path, change):
    path, _ = certified(H, 2, tmp_path)
    gamma, omega = H.gamma.copy(), H.edge_weights.copy()
    vertices, edges = H.vertex_ids.astype(object), H.edge_ids.astype(object)
    if change == "gamma":
        gamma.data[3] = np.nextafter(gamma.data[3], 9.0)
    elif change == "omega":
        omega[0] = np.nextafter(omega[0], 9.0)
    elif change == "vertex":
        vertices[0] = "0"
    elif change == "edge":
        edges[0] = "0"
    other = hc.Hypergraph(gamma, omega, vertices, edges)
    if change == "fewer":
        other = H.drop_edges(np.arange(H.n_edges) == 0)
    assert hc.verify(path, other).refusals == ("it is about other data",)


def test_vertices_in_no_hyperedge_do_not_matter(tmp_path):
    h = hc.Hypergraph.from_edges([["a", "b"], ["b", "c"], ["c", "d"]], vertex_ids=["z", "d", "c", "b", "a"])
    path, found = certified(h, 2, tmp_path)
    assert sorted(found.vertex_ids.tolist()) == ["a", "b", "c", "d"]
    assert hc.verify(path, h).verified
    assert hc.verify(path, h.restrict(np.array([1, 2, 3, 4]))).verified


def test_separate_clusters_have_an_exact_optimum(tmp_path):
    h = hc.Hypergraph.from_edges([["a", "b", "c"], ["d", "e"]])
    path, _ = certified(h, 2, tmp_path)
    verdict = hc.verify(path, h)
    assert (verdict.verified, verdict.bound, verdict.ncut, verdict.gap) == (True, 0.0, (0.0, 0.0), 0.0)


def test_three_clusters_of_two_components(tmp_path):
    h = hc.Hypergraph.from_edges([["a", "b", "c"], ["c", "d"], ["d", "e", "f"], ["x", "y"], ["y", "z"]])
    path, _ = certified(h, 3, tmp_path)
    verdict = hc.verify(path, h)
    assert verdict.verified
    assert verdict.bound > 0.05


class TestRefusals:
    """One thing that is wrong at a time."""

    def refused(self, certificate, folder):
        verdict = hc.verify(written(certificate, folder), H)
        assert not verdict.verified
        return verdict.refusals[0]

    def test_claims(self, tmp_path):
        _, found = certified(H, 3, tmp_path, bound="tight")
        assert "it claims the bound" in self.refused(replace(found, bound=found.bound * (1 + 1e-7)), tmp_path)
        assert "it claims the NCut" in self.refused(replace(found, ncut=found.ncut * (1 - 1e-7)), tmp_path)
        assert "it claims the gap" in self.refused(replace(found, gap=0.0), tmp_path)

    def test_multipliers(self, tmp_path):
        _, found = certified(H, 3, tmp_path, bound="tight")
        (one,) = found.leaves
        values = one.pair_values.copy()
        values[0] = -1e-9
        changed = replace(found, leaves=(replace(one, pair_values=values),))
        assert "a multiplier of an inequality is negative" in self.refused(changed, tmp_path)
        higher = replace(found, leaves=(replace(one, shift=one.shift + 1e-6),))
        assert "not proven to be positive semidefinite" in self.refused(higher, tmp_path)

    def test_cases(self, tmp_path):
        _, found = certified(H, 3, tmp_path)
        (one,) = found.leaves
        assert "do not cover" in self.refused(replace(found, leaves=()), tmp_path)
        half = replace(found, leaves=(replace(one, path=np.array([[0, 1, 0]])),))
        assert "do not cover" in self.refused(half, tmp_path)
        grouped = replace(one, groups=np.r_[0, 0, 1:11], vectors=one.vectors[1:])
        assert "the groups are not those" in self.refused(replace(found, leaves=(grouped,)), tmp_path)
        apart = replace(one, apart=np.array([[0, 1]]), apart_values=np.array([-1.0]))
        assert "without an assumption" in self.refused(replace(found, leaves=(apart,)), tmp_path)

    def test_other_probabilities(self, tmp_path):
        _, found = certified(H, 3, tmp_path)
        phi = np.full(H.n_vertices, 1 / H.n_vertices)
        verdict = hc.verify(written(replace(found, phi=phi), tmp_path), H)
        assert not verdict.verified
        given = hc.verify(
            written(replace(found, phi=phi), tmp_path), H, limits=Limits(elimination=0, dense=0)
        )
        assert "phi is not stationary" in given.refusals[0]


def test_two_cases_cover_all_partitions(tmp_path):
    """A branch on one pair: joined into a group, or apart with a multiplier of either sign."""
    _, found = certified(H, 2, tmp_path)
    (whole,) = found.leaves
    n = H.n_vertices
    groups = np.r_[0, 0, 1 : n - 1]
    joined = leaf(n - 1, path=np.array([[0, 1, 1]]), groups=groups, shift=1e-6)
    values = {"apart": np.array([[0, 1]]), "apart_values": np.array([-1e-3])}
    apart = leaf(n, path=np.array([[0, 1, 0]]), shift=1e-6, vectors=whole.vectors, **values)
    both = replace(found, bound=1e-9, gap=np.inf, leaves=(joined, apart))
    verdict = hc.verify(written(both, tmp_path), H)
    assert verdict.verified, verdict.refusals
    assert verdict.bound > 0


@pytest.mark.parametrize(("seed", "k"), [(1, 2), (2, 3), (3, 4)])
def test_branch_and_bound(tmp_path, seed, k):
    h = random_hypergraph(14, 12, 5, seed)
    part = hc.cluster(h, k, objective="ncut", min_share=0, chance=False)
    found = branch_and_bound(part.walk, k, part.ncut, max_cases=30)
    tight = TightBound(found.value, "closed", cases=found.cases)
    path = tmp_path / "x.cert"
    replace(part, tight=tight).certificate(path)
    verdict = hc.verify(path, h)
    assert verdict.verified, verdict.refusals
    assert len(verdict.certificate.leaves) == len(found.cases)
    assert found.value - 1e-8 < verdict.bound <= verdict.ncut[1]


def test_weights_in_single_precision_are_not_certified(tmp_path):
    part = hc.cluster(H, 2, chance=False)
    rounded = replace(part, settings={**part.settings, "precision": "float32"})
    with pytest.raises(hc.InputError, match="single precision cannot be certified"):
        rounded.certificate(tmp_path / "x.cert")
    assert not (tmp_path / "x.cert").exists()


@pytest.mark.parametrize(
    ("name", "k", "bound"), [("car", 2, "tight"), ("zoo", 7, "tight"), ("letter", 2, "eigenvalues")]
)
def test_data_of_the_paper(tmp_path, name, k, bound):
    h = paper_hypergraph(name)[0]
    path, found = certified(h, k, tmp_path, bound=bound)
    verdict = hc.verify(path, h)
    assert verdict.verified, verdict.refusals
    assert verdict.stationary.factor < 1 + 1e-13
    assert found.bound <= verdict.bound <= verdict.ncut[0]
    if bound == "tight":
        assert verdict.gap < 3e-3
