"""
Twos and fours
==============

Tell handwritten twos from fours without being told what a two is. An image is a vertex, a pixel is a
hyperedge, and the weight of an image in a pixel is its ink. The images come with scikit-learn; ``hyperclus
demo`` does the same on the command line.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from sklearn.datasets import load_digits

import hyperclus as hc

plt.style.use("hyperclus.light")

digits = load_digits()
chosen = np.isin(digits.target, (2, 4))
images, classes = digits.data[chosen], digits.target[chosen]

h = hc.Hypergraph.from_incidence(images, empty_edges="drop").with_nouns(vertex="image", edge="pixel")
part = hc.cluster(h, k=2, alpha=1)
print(part)
print(part.agreement(classes))  # the digits were hidden from the method until now

# %%
# Where is the ink of each cluster? ``share_0`` is the part of cluster 0 in the ink of a pixel, beside its
# volume, its part of all ink. A pixel in the colour of a cluster is inked mostly by its images.

frame = part.edges_frame()
lean = np.full(64, np.nan)
lean[frame["pixel"]] = frame["share_0"] - part.cut.volumes[0]

fig, axes = plt.subplots(1, 3, figsize=(9, 3.2))
for cluster in range(2):
    axes[cluster].imshow(images[part.labels == cluster].mean(axis=0).reshape(8, 8), cmap="Greys")
    axes[cluster].set_title(f"cluster {cluster}: mean of {part.sizes[cluster]} images", color=f"C{cluster}")
shown = axes[2].imshow(
    lean.reshape(8, 8), cmap=LinearSegmentedColormap.from_list("", ["C1", "white", "C0"]), vmin=-0.5, vmax=0.5
)
axes[2].set_title("pixels of either cluster")
for ax in axes:
    ax.set_axis_off()
plt.show()
