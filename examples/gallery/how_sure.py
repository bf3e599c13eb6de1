"""
How sure is each label?
=======================

Every label has a confidence, from 0 to 1. Here are the ten kinds of handwritten digits, found without labels:
for each cluster the six surest images and the six least sure.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import hyperclus as hc

plt.style.use("hyperclus.light")

digits = load_digits()
h = hc.Hypergraph.from_incidence(digits.data, empty_edges="drop")
part = hc.cluster(h, 10, alpha=1, chance=False)
confidence = part.confidence().values

fig, axes = plt.subplots(10, 13, figsize=(8.5, 7), gridspec_kw={"width_ratios": [1] * 6 + [0.5] + [1] * 6})
for ax in axes.flat:
    ax.set_axis_off()
for cluster in range(part.k):
    order = np.flatnonzero(part.labels == cluster)
    order = order[np.argsort(-confidence[order])]
    for place, image in zip([*range(6), *range(7, 13)], [*order[:6], *order[-6:]], strict=True):
        axes[cluster, place].imshow(digits.images[image], cmap="Greys")
    axes[cluster, 0].text(
        -2, 4, cluster, color=f"C{cluster}", ha="right", va="center", weight="bold", fontsize=14
    )
axes[0, 0].set_title("the surest")
axes[0, 7].set_title("the least sure")
plt.show()

# %%
# Is it worth anything? The digits are known. Sort the images by confidence, and count how many show the most
# frequent digit of their cluster.

majority = np.array(
    [np.bincount(digits.target[part.labels == cluster]).argmax() for cluster in range(part.k)]
)
right = digits.target == majority[part.labels]
fifths = np.array_split(np.argsort(confidence), 5)

fig, ax = plt.subplots(figsize=(6, 3))
bars = ax.bar(range(5), [right[fifth].mean() for fifth in fifths], color="grey")
ax.bar_label(bars, fmt="{:.0%}")
ax.set_xticks(range(5), [f"{confidence[f].min():.2f} to\n{confidence[f].max():.2f}" for f in fifths])
ax.yaxis.set_major_formatter("{x:.0%}")
ax.set(xlabel="confidence", ylim=(0, 1.08), title="Images with the digit of their cluster, by confidence")
plt.show()

# %%
# Labels below one quarter are hardly better than guesses, and say so. The last bar is lower than the one
# before: confidence is about *clusters*, and a cluster that holds two digits can be sure of both.
