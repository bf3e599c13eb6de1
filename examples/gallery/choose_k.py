"""
How many clusters?
==================

A search finds clusters in anything, for every number you ask for. :func:`hyperclus.suggest_k` therefore does
the same search in shuffled data, and only suggests a number at which the real data are better, and the next
cluster is not.

On the left are the 101 animals of UCI's zoo. On the right the same table, each column shuffled: the same
values, but nothing left to find.
"""

import matplotlib.pyplot as plt
import numpy as np

import hyperclus as hc

plt.style.use("hyperclus.light")

zoo = hc.datasets.load("zoo")
rng = np.random.default_rng(0)
shuffled = {name: rng.permutation(column) for name, column in zoo.table.items()}

suggestion = hc.suggest_k(zoo.hypergraph, 8)
nothing = hc.suggest_k(hc.Hypergraph.from_table(shuffled, bins=None), 8)

fig, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True)
suggestion.plot(axes[0])
nothing.plot(axes[1])
axes[0].set_title(f"the zoo: k = {suggestion.k}")
axes[1].set_title("columns shuffled: " + nothing.answer)
axes[1].get_legend().remove()
plt.show()

# %%
# Each candidate has a reason:

print(suggestion)

# %%
# And of the shuffled table:

print(nothing.reason)
