"""How well planted outliers could be found with knowledge that no user has: an oracle for confidence.py.

No score has a higher AUC than the likelihood ratio of vertices and outliers (Neyman and Pearson). It is
unknown for real data, so it is estimated: gradient boosting is trained on which vertices were planted, with
the log-likelihood ratios of the hyperedges of a vertex given the true classes and given the clusters of the
hypergraph without outliers, the overlap of its hyperedges, and their number. Each figure of a vertex leaves
out its own incidences, and each vertex is judged by a model that was trained on other vertices. Sizes of
hyperedges are left out: random incidences are in larger hyperedges, which tells how outliers were planted,
not that they are outliers.

The result is an estimate, not a bound: other features could tell more.
"""

from collections.abc import Callable

import numpy as np
from scipy.special import logsumexp

import hyperclus as hc
from hyperclus.clustering.overlaps import overlap

LENGTHS = (3, 8, 16, 32)  # of the lists of smallest hyperedges that are compared
PRIORS = (0.3, 3.0)  # vertices added to a hyperedge, with the labels of all
Planted = tuple[hc.Hypergraph, np.ndarray]


def label_ratio(h: hc.Hypergraph, labels: np.ndarray, prior: float) -> np.ndarray:
    """Log of the mean over labels c of prod_e share(c in e) / share(c), without the vertex itself."""
    rows = h.gamma.T.tocsr()
    vertex, edge = np.repeat(np.arange(h.n_vertices), np.diff(rows.indptr)), rows.indices
    shares = np.bincount(labels) / len(labels)
    ratios = np.empty((h.n_vertices, len(shares)))
    for c, share in enumerate(shares):
        own = labels[vertex] == c
        others = np.bincount(edge, weights=own, minlength=h.n_edges)[edge] - own
        sizes = h.edge_sizes[edge] - 1
        logs = np.log((others + prior * share) / (sizes + prior) / share)
        ratios[:, c] = np.bincount(vertex, weights=logs, minlength=h.n_vertices)
    return np.asarray(logsumexp(ratios + np.log(shares), axis=1))


def figures(h: hc.Hypergraph, labellings: list[np.ndarray]) -> np.ndarray:
    """What the oracle knows of each vertex, (n, features)."""
    columns = [np.bincount(h.gamma.indices, minlength=h.n_vertices)]
    columns += [label_ratio(h, labels, prior) for labels in labellings for prior in PRIORS]
    columns += [overlap(h, most) for most in LENGTHS]
    return np.column_stack(columns).round(6)  # rounding errors would tell the sizes of hyperedges


def oracle(
    h: hc.Hypergraph,
    labellings: list[np.ndarray],
    plant: Callable[[np.random.Generator], Planted],
    auc: Callable[[np.ndarray, np.ndarray], float],
) -> float:
    """The mean AUC of the oracle over up to six plantings; planted vertices have random labels."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.model_selection import GroupKFold

    rows, answers, rng = [], [], np.random.default_rng(123)
    for seed in range(max(1, min(6, 60_000 // h.n_vertices))):
        moved, planted = plant(np.random.default_rng(seed))
        given = [np.where(planted, rng.permutation(labels), labels) for labels in labellings]
        rows.append(figures(moved, given))
        answers.append(planted)
    x, y, vertex = np.vstack(rows), np.concatenate(answers), np.tile(np.arange(h.n_vertices), len(rows))
    chance = np.empty(len(y))
    for train, test in GroupKFold(5).split(x, y, vertex):
        model = HistGradientBoostingClassifier(
            learning_rate=0.05, max_leaf_nodes=15, min_samples_leaf=40, l2_regularization=1.0, random_state=0
        )
        chance[test] = model.fit(x[train], y[train]).predict_proba(x[test])[:, 1]
    parts = zip(np.split(chance, len(rows)), answers, strict=True)
    return float(np.mean([auc(scores, planted) for scores, planted in parts]))
