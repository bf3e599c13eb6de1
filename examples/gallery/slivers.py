"""
Two objectives: information and NCut
====================================

The NCut counts every cluster the same, however small. On many data its minimum therefore has clusters of a
handful of vertices that are nearly separate: slivers. The information of the walk, the default, does not have
them. Each bar is a data set, cut into the sizes of its clusters.
"""

import matplotlib.pyplot as plt
import numpy as np

import hyperclus as hc

plt.style.use("hyperclus.light")

names = ["southern-women", "zoo", "wine-567", "pbmc68k", "letter", "cora"]
fig, axes = plt.subplots(1, 2, figsize=(10, 3.8), sharey=True)
for row, name in enumerate(names):
    data = hc.datasets.load(name)
    for ax, objective in zip(axes, ("information", "ncut"), strict=True):
        part = hc.cluster(data.hypergraph, data.k, objective=objective, chance=False)
        ends = np.cumsum(part.sizes) / len(part.labels)
        for cluster, (start, end) in enumerate(zip([0, *ends[:-1]], ends, strict=True)):
            ax.barh(row, end - start, left=start, color=f"C{cluster}", edgecolor="white", linewidth=0.8)
        nmi = part.agreement(data.classes).nmi
        ax.text(1.02, row, f"{part.sizes.min():,}   {nmi:.2f}", va="center", fontsize=9)
for ax, title in zip(axes, ("most information (default)", "lowest NCut"), strict=True):
    ax.set(title=title, xlim=(0, 1.25), xlabel="share of the vertices")
    ax.text(1.02, len(names) - 0.4, "least\nsize  NMI", va="bottom", fontsize=8)
    ax.set_xticks([0, 0.5, 1])
axes[0].set_yticks(range(len(names)), names)
plt.show()

# %%
# The right column of figures is the agreement with known classes. Slivers are not errors: they *are* almost
# separate, and worth a look if you hunt for small groups. If you use the NCut, for its close proven bound,
# and want larger clusters, say how large:

wine = hc.datasets.load("wine-567")
for share in (0, 0.01, 1 / 6):
    part = hc.cluster(wine.hypergraph, 3, objective="ncut", min_share=share, chance=False)
    print(f"min_share {share:.2f}: sizes {part.sizes.tolist()}, NCut {part.ncut:.3f}")
