"""Agreement with classes: the paper's example, definitions, scikit-learn's figures."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as reference

import hyperclus as hc
from hyperclus.clustering.metrics import agreement, greedy_matching

labelings = st.integers(1, 40).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(0, 4), min_size=n, max_size=n)] * 2)
)


def test_the_papers_worked_example():
    scores = np.array([[0, 0.9, 0], [0.8, 0, 0], [0, 0.7, 0.6]])
    assert greedy_matching(scores) == [(0, 1), (1, 0), (2, 2)]


@settings(deadline=None)
@given(labelings)
def test_equals_scikit_learn(case):
    classes, clusters = case
    found = agreement(classes, clusters)
    assert found.nmi == pytest.approx(reference.normalized_mutual_info_score(classes, clusters), abs=1e-9)
    assert found.ari == pytest.approx(reference.adjusted_rand_score(classes, clusters), abs=1e-9)


@settings(deadline=None)
@given(labelings)
def test_f1_and_purity_by_their_definitions(case):
    classes, clusters = (np.array(labels) for labels in case)
    found = agreement(classes, clusters)
    best = []
    for name, f1 in zip(found.classes, found.f1_by_class, strict=True):
        inside = classes == name
        scores = []
        for other in found.clusters:
            chosen = clusters == other
            true = np.count_nonzero(inside & chosen)
            precision, recall = true / chosen.sum(), true / inside.sum()
            scores.append(2 * precision * recall / (precision + recall) if true else 0.0)
        assert f1 <= max(scores) + 1e-12
        assert any(f1 == pytest.approx(score) for score in [*scores, 0.0])
        best.append(max(scores))
    assert found.f1_by_class.max() == pytest.approx(max(best))
    majority = sum(max(np.bincount(classes[clusters == other])) for other in found.clusters)
    assert found.purity == pytest.approx(majority / len(classes))
    sizes = [np.count_nonzero(classes == name) for name in found.classes]
    assert found.f1 == pytest.approx(np.dot(found.f1_by_class, sizes) / len(classes))


def test_perfect_agreement_whatever_the_names():
    found = agreement(["a", "b", "a", "c"], [2, 0, 2, 1])
    assert found.f1_by_class.tolist() == [1, 1, 1]
    assert (found.nmi, found.ari, found.purity, found.f1) == (1, 1, 1, 1)


def test_lengths_must_match():
    with pytest.raises(hc.InputError, match="one each per vertex"):
        agreement([1, 2], [1])
