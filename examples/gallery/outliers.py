"""
Who fits nowhere?
=================

Some vertices belong to no cluster: errors in the data, or simply the odd ones. ``part.confidence()`` has a
number for that, ``fits``, and a reason for those it calls outliers. To see whether it works, we spoil forty
rows of a table of 3,044 letters: each of their 16 measurements is replaced by that of another, random letter,
so that every value is possible and only the combination is not.
"""

import matplotlib.pyplot as plt
import numpy as np

import hyperclus as hc

plt.style.use("hyperclus.light")

letters = hc.datasets.load("letter")
rng = np.random.default_rng(0)
n_letters = len(letters.classes)
spoiled = rng.choice(n_letters, 40, replace=False)
table = {name: column.copy() for name, column in letters.table.items()}
for column in table.values():
    column[spoiled] = rng.choice(column, len(spoiled))

part = hc.cluster(hc.Hypergraph.from_table(table, bins=None), letters.k)
sure = part.confidence()
is_spoiled = np.isin(np.arange(n_letters), spoiled)

fig, ax = plt.subplots(figsize=(8, 3.2))
bins = np.linspace(sure.fits.min(), sure.fits.max(), 60)
ax.hist(sure.fits[~is_spoiled], bins, color="silver", label="letters")
ax.hist(sure.fits[is_spoiled], bins, color="C7", alpha=0.8, label="spoiled rows")
ax.set_yscale("log")
ax.set(xlabel="fits: negative is like a random row", ylabel="rows", title="How well each row fits")
fig.legend(loc="outside right upper")
plt.show()

# %%
# If somebody looks through the rows in this order, the worst first, how many are found?

order = np.argsort(sure.fits)
for first in (20, 40, 80, 160):
    print(f"among the first {first:3}: {is_spoiled[order[:first]].sum()} of {len(spoiled)} spoiled rows")

# %%
# Those with a reason of their own, which is a stricter rule:

frame = part.to_frame()
flagged = frame[frame["outlier"].notna()]
print(f"{len(flagged)} outliers, of which {is_spoiled[flagged.index].sum()} are spoiled")
flagged["outlier"].value_counts().to_frame()

# %%
# What it cannot see: weights play no part in half of the rule. Shuffle the pixels of an image, where every
# vertex is in nearly every hyperedge, and only the weights would show it.
