"""
A matrix, put in order
======================

Eighteen women and fourteen events, in Davis's order by name, and the same matrix with rows and columns sorted
by cluster. For larger data ``part.plot_incidence()`` draws means of groups of rows.
"""

import matplotlib.pyplot as plt
import numpy as np

import hyperclus as hc

plt.style.use("hyperclus.light")

data = hc.datasets.load("southern-women")
h = data.hypergraph
part = hc.cluster(h, 2)

frame = part.edges_frame().set_index("event").loc[h.edge_ids]
shares = part.membership().toarray()[:, 0]
rows = np.argsort(-shares)  # from those who mostly meet cluster 0 to those who mostly meet cluster 1
columns = np.argsort(-frame["share_0"].to_numpy(), kind="stable")
alphabetical = np.argsort(h.vertex_ids)


def draw(ax, rows, columns, coloured):
    """Draw a dot for each visit, coloured where guest and event are of one cluster."""
    for y, guest in enumerate(rows):
        for x, event in enumerate(columns):
            if h.gamma[event, guest]:
                same = coloured and part.labels[guest] == frame["cluster"].iloc[event]
                ax.scatter(x, y, s=70, marker="s", color=f"C{part.labels[guest]}" if same else "darkgrey")
    ax.set_yticks(range(18), h.vertex_ids[rows])
    ax.set_xticks(range(14), h.edge_ids[columns], rotation=90)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.invert_yaxis()


fig, axes = plt.subplots(1, 2, figsize=(10, 4.8))
draw(axes[0], alphabetical, np.arange(14), coloured=False)
draw(axes[1], rows, columns, coloured=True)
axes[0].set_title("by name")
axes[1].set_title("by cluster")
plt.show()

# %%
# Grey on the right are visits to events of the other cluster, or of none (``cluster`` is -1: everybody went
# there).

frame.reset_index().iloc[columns][["event", "cluster", "share_0", "share_1"]].round(2)
