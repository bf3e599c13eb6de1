"""
The cluster around one vertex
=============================

"Which papers are around this one?" does not need clusters of all papers. :func:`hyperclus.local_cluster`
starts a walk at the paper, and takes the vertices it visits most, up to a dip of the curve: where few steps
leave.
"""

import matplotlib.pyplot as plt

import hyperclus as hc

plt.style.use("hyperclus.light")

cora = hc.datasets.load("cora")
found = hc.local_cluster(cora.hypergraph, [0], max_size=80)
print(found)

ax = found.plot_sweep()
ax.figure.set_size_inches(8, 4)
ax.set_xlim(-2, 150)  # the dips are here
plt.show()

# %%
# The curve is the share of steps that leave the first 1, 2, 3, ... papers. Full is the chosen cluster, hollow
# are other dips: smaller or larger circles around the same paper. ``doubt`` says in words why the choice may
# be wrong:

print(found.doubt or "no doubt")

# %%
# How strongly each member belongs, and the authors who hold them together:

found.to_frame().head(8).round(3)

# %%
found.edges_frame().head().round(3)
