"""
One partition out of several
============================

Different data about the same things give different clusters. :func:`hyperclus.consensus` combines them, and
:func:`hyperclus.stability` says which clusters would be found again. Here five observers look at the same
handwritten digits, each through a few pixels.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import hyperclus as hc

plt.style.use("hyperclus.light")

digits = load_digits()
h = hc.Hypergraph.from_incidence(digits.data, empty_edges="drop")
row, column = np.divmod(np.arange(64), 8)
views = {
    "upper half": row < 4,
    "lower half": row >= 4,
    "left half": column < 4,
    "right half": column >= 4,
    "centre": (abs(row - 3.5) < 3) & (abs(column - 3.5) < 3),
}
parts = {}
for name, seen in views.items():
    part = hc.cluster(digits.data[:, seen], 10, alpha=1, chance=False)
    parts[name] = part

one = hc.consensus(h, parts.values(), alpha=1)
every = hc.cluster(h, 10, alpha=1, chance=False)
nmis = {name: part.agreement(digits.target).nmi for name, part in parts.items()}
nmis |= {
    "consensus": one.agreement(digits.target).nmi,
    "all pixels at once": every.agreement(digits.target).nmi,
}

fig, ax = plt.subplots(figsize=(7.5, 3.4))
colours = ["silver"] * len(parts) + ["C0", "C1"]
bars = ax.barh(list(nmis), list(nmis.values()), color=colours)
ax.bar_label(bars, fmt="{:.2f}", padding=3)
ax.invert_yaxis()
ax.set(title="Agreement with the digits", xlabel="NMI", xlim=(0, 1))
plt.show()

# %%
# Ten seeds of the same search would differ little, and so would their consensus. It is for partitions that
# really differ.
#
# How much do the observers agree with each other?

names = list(parts)
table = np.array([[hc.compare(parts[a], parts[b]).nmi for b in names] for a in names])
fig, ax = plt.subplots(figsize=(5.2, 4))
image = ax.imshow(table, cmap="Greys", vmin=0, vmax=1)
for (y, x), value in np.ndenumerate(table):
    ax.text(x, y, f"{value:.2f}", ha="center", va="center", color="white" if value > 0.6 else "black")
ax.set_xticks(range(len(names)), names, rotation=30, ha="right")
ax.set_yticks(range(len(names)), names)
ax.set_title("NMI of two observers")
plt.show()

# %%
# Would the clusters be found again in other images?

stable = hc.stability(every, runs=5)
print(stable)
