"""
Clusters within clusters
========================

A tree answers "how many clusters?" with all numbers at once. Its leaves are many small clusters; each merger
joins the two that lose least of what the clusters tell. Cut it where you like with ``tree.cut(k)``.
"""

import matplotlib.pyplot as plt

import hyperclus as hc

plt.style.use("hyperclus.light")

zoo = hc.datasets.load("zoo")
tree = hc.tree(zoo.hypergraph, 9)

# Name each leaf by the classes of its animals, which the tree does not know.
kinds = "mammals birds reptiles fish amphibians insects invertebrates".split()
names = []
for leaf in range(tree.k):
    found = zoo.classes[tree.leaves.labels == leaf].astype(int)
    counts = sorted(((int(sum(found == kind)), kinds[kind - 1]) for kind in set(found)), reverse=True)
    names.append(", ".join(f"{kind} {number}" for number, kind in counts))

ax = tree.with_names(names).plot()
ax.figure.set_size_inches(8.5, 5)
plt.setp(ax.get_xticklabels(), rotation=35, ha="right", rotation_mode="anchor", fontsize=8)
plt.show()

# %%
# Labels at every number, a column each:

tree.labels_frame().head()
