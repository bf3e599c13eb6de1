"""
A few labels help
=================

Sometimes the classes of a few vertices are known. ``constraints={"fixed": ...}`` keeps these labels, and the
search completes the rest. Here the known share grows from nothing to a tenth, on three data sets. Only
vertices whose class was *not* given are scored.
"""

import matplotlib.pyplot as plt
import numpy as np

import hyperclus as hc

plt.style.use("hyperclus.light")

shares = [0, 0.01, 0.02, 0.05, 0.1]
fig, ax = plt.subplots(figsize=(7, 4))
for name in ("pbmc68k", "letter", "cora"):
    data = hc.datasets.load(name)
    order = np.random.default_rng(0).permutation(len(data.classes))
    nmis = []
    for share in shares:
        known = order[: int(share * len(order))]
        fixed = {data.hypergraph.vertex_ids[i]: f"class {data.classes[i]}" for i in known}
        constraints = {"fixed": fixed} if fixed else None
        part = hc.cluster(data.hypergraph, data.k, alpha=1, constraints=constraints, chance=False)
        others = ~np.isin(np.arange(len(order)), known)
        nmis.append(hc.agreement(data.classes[others], part.labels[others]).nmi)
    ax.plot(shares, nmis, "o-", label=name)
ax.xaxis.set_major_formatter("{x:.0%}")
ax.set(
    xlabel="vertices of which the class is given",
    ylabel="NMI of the others",
    title="What a few labels do",
    ylim=(0, 0.8),
)
ax.set_xticks(shares)
fig.legend(loc="outside right upper")
plt.show()

# %%
# More labels need not help more: they only choose among partitions that the hyperedges support. Where the
# hyperedges say little about the classes, as for the co-authors of Cora, they help most. The clusters have
# the names that were given:

print(part)

# %%
# Other constraints are pairs that belong together or must not (``must_link``, ``cannot_link``), the largest
# share of a cluster, and seeds, typical vertices that may leave: see :class:`hyperclus.Constraints`.
