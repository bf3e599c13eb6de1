"""
A graph: communities in a network
=================================

You have an ordinary graph, nodes and edges, from NetworkX or from a table of pairs. A graph is a hypergraph
whose hyperedges have two members, so everything here works on graphs: clusters with proven bounds, doubt
about single nodes, a comparison with chance.

.. code-block:: console

   $ pip install 'hyperclus[cli,networkx,pandas,plots]'
"""

# %%
# The data
# --------
#
# The characters of Victor Hugo's *Les Misérables*. Two are joined by an edge if they appear in the same
# chapter, and its weight is the number of such chapters. The graph comes with NetworkX.

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
import pandas as pd

import hyperclus as hc

plt.style.use("hyperclus.light")  # C0, C1, ... are the colours of the clusters

graph = nx.les_miserables_graph()
pairs = nx.to_pandas_edgelist(graph)
pairs.head()

# %%
# From a graph to a hypergraph
# ----------------------------
#
# Clusters are found with a random walk: from a character to one of its edges, and on to one of its two ends.
# In good clusters, the cluster of a walker tells much about its next one. :doc:`The method
# </understand/method>` has the formulas; ``NCut`` below is the share of steps that leave their cluster,
# summed over the clusters.
#
# :func:`hyperclus.cluster` takes the graph itself; :func:`hyperclus.as_hypergraph` converts it first, so that
# vertices and hyperedges can be called what they are. The weight of an edge becomes that of the hyperedge,
# omega: a walker at a character follows an edge in proportion to its weight, here to the number of common
# chapters.

h = hc.as_hypergraph(graph).with_nouns(vertex="character", edge="pair")
print(hc.summary(h))

# %%
# How many communities?
# ---------------------

suggestion = hc.suggest_k(h)
print(suggestion)

# %%
# No number, and "not clearly worse" is a careful answer: small sparse graphs with unequal degrees have low
# cuts by chance, too. Compare the columns ``NCut`` and ``shuffled``: at every number the novel has lower cuts
# than its shuffles, but not by enough to be sure of each. The same comparison is made for the information of
# the walk, whenever clusters are found:

rows = []
for k in range(2, 11):
    part = hc.cluster(h, k)
    rows.append((k, part.information, part.chance.value, max(part.chance.shuffled), part.chance.verdict))
pd.DataFrame(rows, columns=["k", "information", "quick search", "best shuffle", "verdict"]).round(3)

# %%
# Several numbers are more than chance, so none of them is *the* number: there are communities inside
# communities. Choose by what you need them for. Eight are few enough to look at.

part = hc.cluster(h, 8)
print(part)

# %%
# Who is in them?
# ---------------
#
# Name each by the character whom a walker visits most.

part = part.with_names([part.top_vertices(cluster, 1).ids[0] for cluster in range(part.k)])
for name in part.names:
    print(f"{name}: {', '.join(part.members(name))}")

# %%
# Those who know the novel recognise the bishop and his visitors, Fantine and the friends of her youth, the
# gang of Thénardier, the court at Arras, the house of Gillenormand with Marius and Cosette, and the
# barricade, in two parts. A picture:

places = nx.kamada_kawai_layout(graph, weight=None)
points = np.array([places[name] for name in h.vertex_ids])
degrees = np.array([graph.degree(name, weight="weight") for name in h.vertex_ids])

fig, ax = plt.subplots(figsize=(9, 6.5))
nx.draw_networkx_edges(graph, places, ax=ax, edge_color="grey", alpha=0.35, width=0.7)
for cluster, name in enumerate(part.names):
    chosen = part.labels == cluster
    ax.scatter(*points[chosen].T, s=20 + 4 * degrees[chosen], color=f"C{cluster}", label=name, zorder=2)
for vertex in np.flatnonzero(np.isin(h.vertex_ids, [*part.names, "Javert", "Cosette", "Eponine"])):
    ax.annotate(h.vertex_ids[vertex], points[vertex], (5, 5), textcoords="offset points", fontsize=8)
ax.set_axis_off()
fig.legend(loc="outside right upper", title="community of")
plt.show()

# %%
# How sure is each label?
# -----------------------

labels = part.to_frame()
labels.drop(columns="margin").sort_values("confidence").head(8).round(2)

# %%
# Valjean, the hero, meets everybody, so no community is his: "fits no cluster". The students are torn between
# the two halves of the barricade. "Few shared hyperedges" is said of those who appear only once or twice.
# Would the communities survive if some chapters had been lost?

print(hc.stability(part, "hyperedges"))

# %%
# A hard test of a small graph. The two halves of the barricade dissolve, so let them be one:

part = part.merge(["Enjolras", "Bossuet"])
part = part.with_names({part.names.index("Enjolras + Bossuet"): "barricade"})
labels = part.to_frame()
print(part)

# %%
# The circle of one character
# ---------------------------

print(hc.local_cluster(h, ["Gavroche"]))

# %%
# Keep the results, and a new character
# -------------------------------------

labels.to_csv("communities.csv", index=False)
part.to_html("communities.html", title="Les Misérables")
part.save("communities.hcm")
hc.write(h, "novel.npz")

# %%
# A model knows hyperedges, and a new node has new edges, which it cannot know. So for graphs, a new node
# joins where its neighbours are: its edges are found by their other ends.

neighbours = pd.Series({"Enjolras": 2, "Marius": 1, "Courfeyrac": 1})  # and the number of common chapters
communities = labels.set_index("character").loc[neighbours.index, "cluster"]
print(neighbours.groupby(communities).sum() / neighbours.sum())

# %%
# The same in one command
# -----------------------
#
# ``novel.npz`` was written above. These are the eight communities before the merger.
#
# .. code-block:: console
#
#    $ hyperclus cluster novel.npz -k 8 --out communities.csv --report communities.html -q
#    Partition of 77 characters into 8 clusters
#      chance       more than chance: a quick search finds information 1.313, and 0.9581 to 1.169 in 20 shuffled hypergraphs
#      information  1.314; proven: no 8 clusters have more than 1.744
#      NCut         1.4413
#      proven       no 8 clusters have less than 0.825366 (gap 74.63 %)
#      conductance  0.315126
#
#      cluster  size  volume  conductance  top pairs (% of the cluster)
#            0    12  0.1451       0.3151  22 (17 %); 21 (8.3 %); 23 (17 %)
#            1    11  0.1433       0.0532  71 (18 %); 47 (18 %); 48 (18 %)
#            2    11  0.1335       0.1347  83 (18 %); 101 (18 %); 243 (18 %)
#            3    10  0.0457       0.0733  2 (20 %); 1 (20 %); 10 (20 %)
#            4    10  0.1470       0.2261  110 (20 %); 176 (20 %); 21 (10 %)
#            5    10  0.2024       0.2470  203 (20 %); 200 (20 %); 212 (20 %)
#            6     7  0.1390       0.2807  237 (29 %); 225 (29 %); 226 (29 %)
#            7     6  0.0439       0.1111  132 (33 %); 126 (33 %); 127 (33 %)
#
# What to do next
# ---------------
#
# - If you have the chapters with *all* their characters, use these instead of pairs: a scene of five is one
#   hyperedge, not ten edges, and nothing is counted ten times.
# - If you want many small communities and have no idea how many, Leiden on the graph is a good rival;
#   :func:`hyperclus.evaluate` gives the figures of its communities, with the same bounds.
