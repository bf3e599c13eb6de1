"""
What changed between two partitions?
====================================

Last month and this month, five clusters and seven, one method and another: :func:`hyperclus.compare` matches
the clusters, counts who moved, and names splits and mergers. Here cells of blood in clusters of most
information, and of lowest NCut.
"""

import matplotlib.pyplot as plt
import numpy as np

import hyperclus as hc

plt.style.use("hyperclus.light")

cells = hc.datasets.load("pbmc68k").hypergraph
a = hc.cluster(cells, 7, alpha=1, chance=False)
b = hc.cluster(cells, 7, alpha=1, objective="ncut", chance=False)
found = hc.compare(a, b)
print(found)

# %%
# Ribbons are cells: from their cluster on the left to that on the right. Matched clusters have the same
# colour.


def edges(sizes, gap=12):
    """Where each block begins, with gaps between them."""
    return np.concatenate([[0], np.cumsum(sizes + gap)[:-1]])


colours = {int(match): f"C{cluster}" for cluster, match in enumerate(found.matches) if match >= 0}
right = [int(match) for match in found.matches if match >= 0]
right += [cluster for cluster in range(b.k) if cluster not in right]

fig, ax = plt.subplots(figsize=(8, 5.5))
starts_a = edges(found.counts.sum(axis=1))
starts_b = dict(zip(right, edges(found.counts.sum(axis=0)[right]), strict=True))
t = np.linspace(0, 1, 50)
ease = 3 * t**2 - 2 * t**3
used_a, used_b = starts_a.astype(float), {c: float(s) for c, s in starts_b.items()}
for i in range(a.k):
    for j in right:
        count = found.counts[i, j]
        if count:
            low = used_a[i] + (used_b[j] - used_a[i]) * ease
            ax.fill_between(t, low, low + count, color=f"C{i}", alpha=0.45, linewidth=0)
            used_a[i] += count
            used_b[j] += count
for i in range(a.k):
    ax.bar(-0.02, a.sizes[i], 0.03, starts_a[i], color=f"C{i}")
    ax.text(
        -0.05,
        starts_a[i] + a.sizes[i] / 2,
        f"{i}: {' '.join(a.top_edges(i, 2).ids)}",
        ha="right",
        va="center",
    )
for j in right:
    ax.bar(1.02, b.sizes[j], 0.03, starts_b[j], color=colours.get(j, "silver"))
    ax.text(1.05, starts_b[j] + b.sizes[j] / 2, f"{j}: {' '.join(b.top_edges(j, 2).ids)}", va="center")
ax.invert_yaxis()
ax.set_axis_off()
ax.set(xlim=(-0.35, 1.35))
ax.text(-0.05, -15, "most information", ha="right")
ax.text(1.05, -15, "lowest NCut")
plt.show()

# %%
# The cells that moved, as a table:

frame = found.to_frame()
frame[frame["moved"]].head()
