"""
Coordinates for anything
========================

:class:`hyperclus.sklearn.HypergraphSpectralEmbedding` turns rows with weights into coordinates, for pictures
or as the input of another method. New rows get coordinates by the same formula.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.offsetbox import AnnotationBbox, OffsetImage
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.metrics import normalized_mutual_info_score

import hyperclus as hc
from hyperclus.sklearn import HypergraphSpectralEmbedding

plt.style.use("hyperclus.light")

digits = load_digits()
seen, new = digits.data[:1400], digits.data[1400:]
embedding = HypergraphSpectralEmbedding(n_components=9, alpha=1, random_state=0).fit(seen)
points, later = embedding.transform(seen), embedding.transform(new)

part = hc.cluster(hc.Hypergraph.from_incidence(seen), 10, alpha=1, chance=False)

fig, ax = plt.subplots(figsize=(8.5, 6.5))
for cluster in range(part.k):
    ax.scatter(*points[part.labels == cluster, :2].T, s=14, color=f"C{cluster}", alpha=0.55, linewidths=0)
ax.scatter(
    *later[:, :2].T,
    s=14,
    facecolors="none",
    edgecolors="black",
    linewidths=0.5,
    alpha=0.5,
    label="new images",
)
rng = np.random.default_rng(2)
shown = np.empty((0, 2))
for image in rng.permutation(len(seen)):
    if np.all(np.hypot(*(shown - points[image, :2]).T) > 0.55):
        shown = np.vstack([shown, points[image, :2]])
        picture = OffsetImage(digits.images[image], cmap="Greys", zoom=2.2)
        frame = {"edgecolor": f"C{part.labels[image]}", "linewidth": 1.5}
        ax.add_artist(AnnotationBbox(picture, points[image, :2], pad=0.05, bboxprops=frame))
ax.set(
    xlabel="coordinate 0", ylabel="coordinate 1", title="Images of digits, in the colours of their clusters"
)
ax.legend(loc="upper right")
plt.show()

# %%
# k-means on the coordinates, beside the search for clusters, which starts there and goes on:

labels = KMeans(10, n_init=10, random_state=0).fit_predict(points)
print(f"k-means on 9 coordinates: NMI {normalized_mutual_info_score(digits.target[:1400], labels):.3f}")
print(f"hc.cluster:               NMI {part.agreement(digits.target[:1400]).nmi:.3f}")
