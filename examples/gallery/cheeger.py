"""
A sweep along an eigenvector
============================

The simplest spectral method: sort the vertices by the second eigenvector, cut the order in two at the best
place. Cheeger's inequality says how good that is: no cut of the hypergraph has a conductance below half of
the second eigenvalue, and the best one of the sweep is at most the root of twice the eigenvalue. Here 3,810
grains of rice of two varieties.
"""

import matplotlib.pyplot as plt
import numpy as np

import hyperclus as hc

plt.style.use("hyperclus.light")

rice = hc.datasets.load("rice")
h = hc.Hypergraph.from_table(rice.table, bins=10)  # seven measurements, ten bins each
walk = hc.RandomWalk(h)
pairs = hc.smallest_eigenpairs(hc.NormalizedLaplacian(walk), 2)
scores = pairs.vectors[:, 1] / np.sqrt(walk.stationary)
found = hc.sweep(walk, scores)

part = hc.cluster(h, 2, objective="ncut", chance=False)
low, high = part.cheeger
classes = rice.classes[np.argsort(scores, kind="stable")]

fig, (ax, strip) = plt.subplots(2, 1, figsize=(8, 5), height_ratios=[12, 1], sharex=True)
sizes = np.arange(1, len(found.conductances) + 1)
ax.fill_between(sizes, low, high, color="silver", alpha=0.35, label="Cheeger: the best cut is in here")
ax.plot(sizes, found.conductances, color="C0", label="conductance of the first vertices")
best = int(np.argmin(found.conductances))
ax.plot(
    sizes[best],
    found.conductances[best],
    "o",
    color="C1",
    markersize=9,
    label=f"lowest, {found.conductances[best]:.4f}",
)
ax.set(
    ylabel="conductance", ylim=(0, 1.02), title=f"between {low:.4f} and {high:.4f} by Cheeger's inequality"
)
ax.legend(loc="upper center")
strip.imshow(
    (classes == np.unique(classes)[1])[None],
    aspect="auto",
    extent=(0, len(sizes), 0, 1),
    cmap="Greys",
    interpolation="nearest",
)
strip.set_yticks([])
strip.set_xlabel("grains in the order of the eigenvector, and below their variety")
plt.show()

# %%
# ``hc.cluster`` starts from such a cut, and moves single vertices to lower the NCut:

print(f"NCut of the best cut of the sweep: {found.ncuts.min():.4f}")
print(f"NCut that hc.cluster finds:        {part.ncut:.4f}, proven: at least {part.lower_bound:.4f}")
