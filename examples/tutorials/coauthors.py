"""
Co-authors: do papers that share authors share a subject?
=========================================================

A bibliography without texts: only which papers each author wrote. How far do the authors alone get you? This
tutorial is also about an answer that is weak, and how to see that it is.

.. code-block:: console

   $ pip install 'hyperclus[cli,pandas,plots]'
"""

# %%
# The data
# --------
#
# 2,388 papers on machine learning, from Cora, and 1,072 authors with two papers or more. The subject of each
# paper is known; it is not used until the end.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.sparse.csgraph import connected_components

import hyperclus as hc

# sphinx_gallery_thumbnail_number = 2
plt.style.use("hyperclus.light")  # C0, C1, ... are the colours of the clusters

data = hc.datasets.load("cora")
print(data.source.citation)

authors, papers = data.hypergraph.gamma.nonzero()
written = pd.DataFrame({"paper": papers, "author": authors}).sort_values(["paper", "author"])
written.to_csv("written.csv", index=False)
written.head()

# %%
# We cluster papers, so a paper is a vertex, and an author is a hyperedge that holds his or her papers. (For
# groups of authors, swap the columns.)

h = hc.Hypergraph.from_long(written, vertex="paper", edge="author", vertex_ids=range(len(data.classes)))
print(hc.summary(h))

# %%
# Look at the components first
# ----------------------------
#
# The summary warns: the papers fall into many separate pieces. Nothing in the data connects two pieces, so no
# method can say which small ones belong together. The same authors also appear with the same papers again and
# again. Keep the largest piece, about which the data say something:

_, component = connected_components(h.gamma.T @ h.gamma)
main = component == np.bincount(component).argmax()
largest = h.restrict(main)
subjects = data.classes[main].astype(int)
print(largest)

# %%
# Weights
# -------
#
# Clusters are found with a random walk: from a paper to one of its authors, and on to one of his or her
# papers. In good clusters, the cluster of a walker tells much about its next one. :doc:`The method
# </understand/method>` has the formulas; ``NCut`` below is the share of steps that leave their cluster,
# summed over the clusters.
#
# These data have no weights: an author wrote a paper or did not. Should an author of 40 papers count as much
# as one of two? In the walk, a step from a paper goes to each of its authors with the same probability.
# ``edge_weights`` would change that, if you trust specialists more:

specialists = largest.with_edge_weights(1 / np.sqrt(largest.edge_sizes))

# %%
# How many clusters, and are they more than chance?
# -------------------------------------------------
#
# Sparse data have low cuts by chance, too: with two authors per paper, even random papers fall into pieces
# that hardly anything connects. So compare with shuffles, for each number.

ks = [2, 4, 7, 10, 15, 20]
found = {k: hc.cluster(largest, k) for k in ks}
shuffled = [np.mean(part.chance.shuffled) for part in found.values()]

fig, ax = plt.subplots(figsize=(7, 3.8))
ax.plot(ks, [part.chance.value for part in found.values()], "o-", label="the papers")
ax.plot(ks, shuffled, "o--", color="grey", label="shuffled authors")
ax.plot(ks, np.log(ks), ":", color="grey", label="the most that is possible")
ax.set(xlabel="number of clusters", ylabel="information, in nats", title="Quick searches, the same in both")
ax.set_xticks(ks)
ax.legend()
plt.show()

# %%
# The clusters of the papers are far better than chance at every number, and no number stands out. Groups of
# co-authors are real; there are many, and of all sizes. We take seven, because there are seven subjects to
# compare with.

part = found[7]
print(part)

# %%
# A walker hardly ever leaves these clusters: a community of authors is nearly a world of its own.
#
# What is in them, and how sure is it?
# ------------------------------------
#
# The authors who hold a cluster together, and the papers in its middle:

print(part.describe(3))

# %%
labels = part.to_frame()
labels.drop(columns="margin").head().round(2)

# %%
# ``confidence`` says how clearly the authors of a paper favour its cluster. Three quarters of the papers have
# one or two authors, and from those little can be known.
#
# Were we right?
# --------------

print(part.agreement(subjects))
table = pd.crosstab(
    pd.Series(part.labels, name="cluster"), pd.Series(subjects, name="subject"), normalize="index"
)
print(f"papers with the main subject of their cluster: {part.agreement(subjects).purity:.0%}")
print(f"papers with the most frequent subject of all: {np.bincount(subjects).max() / len(subjects):.0%}")

# %%
fig, ax = plt.subplots(figsize=(8, 3.6))
left = np.zeros(part.k)
for subject in table.columns:
    ax.barh(
        np.arange(part.k),
        table[subject],
        left=left,
        label=f"subject {subject}",
        alpha=0.85,
        edgecolor="white",
    )
    left += table[subject].to_numpy()
ax.set_yticks(np.arange(part.k), [f"cluster {c}, {n} papers" for c, n in enumerate(part.sizes)])
ax.set(xlim=(0, 1), xlabel="share of the papers", title="Subjects in each cluster")
ax.invert_yaxis()
fig.legend(loc="outside right")
plt.show()

# %%
# That is weak. Some clusters are mostly about one subject, others are mixed: people write about several
# things, and one person with two interests connects two subjects. The weakness is in the data: other weights
# or another objective do not remove it.

rivals = {
    "as above": part,
    "specialists count more": hc.cluster(specialists, 7, chance=False),
    "lowest NCut": hc.cluster(largest, 7, objective="ncut", chance=False),
    "all papers, not the largest piece": hc.cluster(h, 7, chance=False),
}
for name, rival in rivals.items():
    classes = subjects if len(rival.labels) == len(subjects) else data.classes
    print(f"{name:35}NMI {rival.agreement(classes).nmi:.3f}, smallest cluster {rival.sizes.min()}")

# %%
# What *is* reliable here is small: the papers around one paper. Of all papers, how often do two have the same
# subject; and how often if they have an author in common?

pairs = (largest.gamma.T @ largest.gamma).tocoo()
together = pairs.row < pairs.col
same = subjects[pairs.row[together]] == subjects[pairs.col[together]]
print(f"two papers with a common author: {same.mean():.0%} have the same subject")
print(f"any two papers: {np.sum((np.bincount(subjects) / len(subjects)) ** 2):.0%}")

# %%
# So ask for the surroundings of a paper rather than for seven clusters, and read what is in doubt before you use
# them:

paper = largest.vertex_ids[part.confidence().values.argmax()]
around = hc.local_cluster(largest, [paper])
print(around)
inside = subjects[np.isin(largest.vertex_ids, around.members)]
print("subject of the paper:", subjects[largest.vertex_ids == paper][0])
print("subjects of all in its cluster:", inside.tolist())

# %%
# Thirteen of the 24 have the subject of the paper, which 15 % of all papers have.

# %%
# Keep the results, and label new papers
# --------------------------------------

labels.to_csv("papers.csv", index=False)
part.to_html("papers.html", title="Papers by their authors")
part.save("papers.hcm")

new = {"by two authors of one cluster": part.top_edges(1, 2).ids.tolist(), "by unknown authors": [5001, 5002]}
hc.load("papers.hcm").predict(new).to_frame().round(2)

# %%
# The same in one command
# -----------------------
#
# On all papers; the last line says what was done with the small pieces.
#
# .. code-block:: console
#
#    $ hyperclus cluster written.csv -k 7 --vertex paper --edge author --out papers.csv --report papers.html -q
#    Partition of 2,388 papers into 7 clusters
#      chance       more than chance: a quick search finds information 0.9806, and 0.117 to 0.3101 in 20 shuffled hypergraphs
#      information  1.635; proven: no 7 clusters have more than 1.946
#      NCut         0.2813
#      proven       no 7 clusters have less than 0 (gap unbounded)
#      conductance  0.0646034
#
#      cluster  size  volume  conductance  top authors (% of the cluster)
#            0   902  0.3341       0.0073  1065 (3.5 %); 683 (3.4 %); 376 (2.7 %)
#            1   317  0.1282       0.0342  83 (7.6 %); 1020 (6.3 %); 846 (6.0 %)
#            2   297  0.1298       0.0646  327 (9.1 %); 399 (8.4 %); 180 (8.1 %)
#            3   234  0.1197       0.0530  506 (11 %); 1068 (8.5 %); 653 (8.1 %)
#            4   224  0.0916       0.0357  80 (12 %); 614 (10 %); 504 (8.5 %)
#            5   210  0.0942       0.0299  995 (20 %); 1036 (10 %); 561 (7.1 %)
#            6   204  0.1023       0.0567  963 (10 %); 682 (9.8 %); 333 (9.3 %)
#      the hypergraph has 162 connected components; small ones, with 712 papers, are all in cluster 0
#
# What to do next
# ---------------
#
# - If the papers have titles or keywords, use them: alone, as in the tutorial on documents, or together with
#   the authors, by ``hc.cluster(h, 7, attributes=words)``. They say more about a subject than who wrote.
# - For communities of authors, cluster authors, and many of them: ``hc.tree(h, 50)``.
