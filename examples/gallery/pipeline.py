"""
In a scikit-learn pipeline
==========================

:class:`hyperclus.sklearn.HypergraphClustering` is a clusterer like any other, in pipelines and searches. Here
178 wines with 13 chemical measurements: the numbers are cut into bins, each bin is a hyperedge, and a grid
search tries numbers of bins.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, StandardScaler

from hyperclus.sklearn import HypergraphClustering

plt.style.use("hyperclus.light")

wine = load_wine(as_frame=True)
bins = KBinsDiscretizer(encode="onehot", strategy="quantile", quantile_method="averaged_inverted_cdf")
model = make_pipeline(bins, HypergraphClustering(3, random_state=0))
folds = StratifiedKFold(5, shuffle=True, random_state=0)

# %%
# Different numbers of bins are different walks, so their NCuts do not compare. A few known classes do:
# ``scoring`` compares with them. Rows of a fold that were not seen are labelled by ``predict``.

search = GridSearchCV(
    model,
    {"kbinsdiscretizer__n_bins": [2, 3, 4, 5, 7, 10], "kbinsdiscretizer__strategy": ["uniform", "quantile"]},
    scoring="adjusted_rand_score",
    cv=folds,
).fit(wine.data, wine.target)

results = pd.DataFrame(search.cv_results_)
fig, ax = plt.subplots(figsize=(7, 3.6))
for strategy, rows in results.groupby("param_kbinsdiscretizer__strategy"):
    ax.errorbar(
        rows["param_kbinsdiscretizer__n_bins"],
        rows["mean_test_score"],
        rows["std_test_score"],
        marker="o",
        capsize=3,
        label=strategy,
    )
rival = make_pipeline(StandardScaler(), KMeans(3, n_init=10, random_state=0)).fit(wine.data)
both = GridSearchCV(rival, {}, scoring="adjusted_rand_score", cv=folds).fit(wine.data, wine.target)
ax.axhline(both.best_score_, color="grey", linestyle="--", label="k-means, scaled numbers")
ax.set(xlabel="bins", ylabel="ARI of unseen rows", title="Wines: numbers of bins", ylim=(0, 1.02))
ax.legend(loc="lower right")
plt.show()

# %%
# k-means on the scaled numbers is better here. Dense numbers are its home ground; hyperedges are for
# categories, sets, words, and for tables that mix them with numbers.
#
# The fitted pipeline has everything else, too. Give the hyperedges the names that the earlier steps know, and
# ask what the clusters are:

best = search.best_estimator_
clusters = best[-1].name_features(best[:-1].get_feature_names_out(wine.data.columns))
print(search.best_params_)
print(clusters.partition_.describe(4))

# %%
print(np.bincount(best.predict(wine.data)))
