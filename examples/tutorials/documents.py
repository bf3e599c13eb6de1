"""
Documents: what are these texts about?
======================================

You have a few hundred documents, nobody has read them all, and you want to know which subjects there are and
which documents belong to each. Here the documents are ones that you have installed: the docstrings of five
subpackages of SciPy, here of version 1.17; with another one the figures differ a little. We know the subpackage
of each, which is not used until the end.

.. code-block:: console

   $ pip install 'hyperclus[cli,pandas,plots,sklearn]'
"""

# %%
# The data
# --------
#
# One row per document, with its name, its text, and the subpackage that it comes from.

import importlib
import inspect

import matplotlib.pyplot as plt
import pandas as pd

import hyperclus as hc

# sphinx_gallery_thumbnail_number = 2
plt.style.use("hyperclus.light")  # C0, C1, ... are the colours of the clusters


def docstrings(*modules):
    """Return a row for each public function or class with 30 words or more."""
    rows = []
    for module in modules:
        package = importlib.import_module(module)
        for name in sorted(set(package.__all__)):
            text = inspect.getdoc(getattr(package, name)) or ""
            if len(text.split()) >= 30:
                topic = module.split(".")[-1]
                rows.append({"name": f"{topic}.{name}", "text": " ".join(text.split()), "topic": topic})
    return pd.DataFrame(rows)


SUBPACKAGES = ("scipy.linalg", "scipy.ndimage", "scipy.optimize", "scipy.signal", "scipy.stats")
documents = docstrings(*SUBPACKAGES)
documents.to_csv("documents.csv", index=False)
documents.assign(text=documents["text"].str.slice(0, 60) + " ...").head()

# %%
# From words to a hypergraph
# --------------------------
#
# A document is a vertex, a word is a hyperedge, and the members of a word are the documents that contain it.
# Any vectorizer makes such a matrix. We leave out words in fewer than 3 documents, which connect hardly
# anything, and words in more than a third of them, which say nothing about the subject.
#
# Clusters are found with a random walk: from a document to one of its words, and on to one of the documents
# that contain it. In good clusters, the cluster of a walker tells much about its next one. :doc:`The method
# </understand/method>` has the formulas; ``NCut`` below is the share of steps that leave their cluster,
# summed over the clusters.
#
# Which weights? A document that mentions "matrix" twenty times belongs to that word more than one that
# mentions it once, so tf-idf is a *strength of membership*. For such weights set ``alpha=1``: they then count
# in both directions of the walk, from a document to its words and from a word to its documents.
# ``sublinear_tf`` takes logarithms of the counts, so that one word repeated fifty times does not decide.

from sklearn.feature_extraction.text import TfidfVectorizer

vectorizer = TfidfVectorizer(
    stop_words="english", min_df=3, max_df=0.33, sublinear_tf=True, token_pattern="[a-z]{3,}"
)
matrix = vectorizer.fit_transform(documents["text"])
h = hc.Hypergraph.from_incidence(
    matrix, vertex_ids=documents["name"], edge_ids=vectorizer.get_feature_names_out()
).with_nouns(vertex="docstring", edge="word")
print(hc.summary(h))

# %%
# How many subjects?
# ------------------
#
# :func:`hyperclus.suggest_k` compares the clusters for each number with those of shuffled hypergraphs. (Three
# shuffles are few; they keep this page quick.)

suggestion = hc.suggest_k(h, 8, alpha=1, shuffles=3)
print(suggestion)

# %%
# Texts rarely have one right number, and the answer says so: there is structure, at every number of clusters.
# Then the number is your choice. A tree shows what a choice means: which subjects part first, and which only
# later.

tree = hc.tree(h, 8, alpha=1)
tree = tree.with_names([", ".join(tree.leaves.top_edges(leaf, 3).ids) for leaf in range(tree.k)])
ax = tree.plot()
ax.figure.set_size_inches(7.5, 4.5)
plt.setp(ax.get_xticklabels(), rotation=40, ha="right", rotation_mode="anchor")
plt.show()

# %%
# Clusters
# --------
#
# Six is a number that we can look at. The first line of the answer is the most important one: is this more
# than chance?

part = hc.cluster(h, 6, alpha=1)
print(part)

# %%
# What is each cluster about?
# ---------------------------
#
# The most distinctive words: frequent in the cluster *and* rare elsewhere. "of it" is the share of the
# cluster's docstrings that contain the word, "of all" that of all docstrings.

print(part.describe(4))

# %%
# The words give the names; choose your own after reading the list above. (Clusters are numbered by size.)

names = [" ".join(part.top_edges(cluster, 2).ids) for cluster in range(part.k)]
part = part.with_names(names)
print(names)

# %%
# How sure is each label?
# -----------------------
#
# Near 1 a label is clear, near one half the document stands between two subjects, and below that the label is
# hardly better than a guess. ``next_cluster`` is the second choice, and ``outlier`` says why a document may
# belong nowhere. These are the ones to read yourself.

labels = part.to_frame()
labels.drop(columns="margin").sort_values("confidence").head(8).round(2)

# %%
# A picture: each document is a point, placed by eigenvectors of the walk.

fig, axes = plt.subplots(1, 2, figsize=(10, 4.6))
for ax, pair in zip(axes, ((2, 3), (4, 5)), strict=True):
    part.plot_embedding(ax, axes=pair, alpha=0.75)
    ax.set_title(f"eigenvectors {pair[0]} and {pair[1]}")
    ax.get_legend().remove()
fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
plt.show()

# %%
# Were we right?
# --------------
#
# Now the subpackages, which the method has not seen.

print(part.agreement(documents["topic"]))
pd.crosstab(documents["topic"], pd.Categorical(part.named_labels, categories=names))

# %%
# The clusters follow vocabulary, not the folder a function is in: ``stats`` has two vocabularies, one of its
# probability distributions and one of its tests, and a docstring about filters reads the same in ``signal``
# and in ``ndimage``. Whether that is an error depends on your question. Clusters are a reading aid, not a
# classifier.
#
# Keep the results
# ----------------

labels.to_csv("labels.csv", index=False)
part.to_html("documents.html", title="Docstrings of SciPy")  # one file, to open or to send
part.save("documents.hcm")  # the model, without the documents

# %%
# New documents
# -------------
#
# Label documents that were not there before: the docstrings of ``numpy.linalg`` and ``numpy.fft``. Use
# ``transform`` of the *fitted* vectorizer, so that they have the same words in the same columns.

new = docstrings("numpy.linalg", "numpy.fft")
found = hc.load("documents.hcm").predict(vectorizer.transform(new["text"]))
print(found)
counts = pd.crosstab(new["topic"], pd.Categorical(found.named_labels, categories=names))
counts

# %%
# ``linalg`` goes to linear algebra, and ``fft``, a subject that no document of the model was taken from, to
# the signals. The confidence shows where the model is out of its depth:

new.assign(cluster=found.named_labels, confidence=found.confidence.round(2)).drop(columns="text").sample(
    6, random_state=1
)

# %%
# The same in one command
# -----------------------
#
# The command line makes the words itself: those in 3 documents or more and in at most a third of them. It
# counts words a little differently, so a few documents may have other labels.
#
# .. code-block:: console
#
#    $ hyperclus cluster documents.csv -k 6 --text text --id name --label topic --alpha 1 -o max_df=0.33 --out labels.csv --report documents.html -q
#    Partition of 704 vertices into 6 clusters
#      chance       more than chance: a quick search in a sample of 507 vertices finds information 0.5156, and 0.05675 to 0.0584 in 3 shuffled hypergraphs
#      information  0.5405; proven: no 6 clusters have more than 0.8551
#      NCut         2.26048
#      proven       no 6 clusters have less than 1.90088 (gap 18.92 %)
#      conductance  0.458255
#      agreement    F1 0.8026, NMI 0.7551, ARI 0.6181
#
#      cluster  size  volume  conductance  top hyperedges (% of the cluster)
#            0   170  0.2647       0.3797  statistic (60 %); test (40 %); nan (51 %)
#            1   132  0.1725       0.2608  loc (100 %); scale (84 %); pdf (87 %)
#            2   120  0.1653       0.3661  signal (91 %); filter (63 %); frequency (63 %)
#            3   109  0.1409       0.3969  mode (52 %); labels (14 %); ndimage (67 %)
#            4   104  0.1355       0.3987  batch (79 %); matrix (86 %); linalg (91 %)
#            5    69  0.1212       0.4583  root (30 %); optimize (81 %); jacobian (33 %)
#
#      class in cluster    0    1    2   3   4   5
#      stats             166  132    .   .   1   2
#      signal              1    .  118  33   5   1
#      ndimage             .    .    .  75   .   .
#      linalg              3    .    2   1  94   1
#      optimize            .    .    .   .   4  65
#
# What to do next
# ---------------
#
# - Read the twenty least sure documents of the cluster that you care about.
# - Try ``hc.unit_weights(h)``, and another ``max_df``: subjects that stay are real, see
#   :func:`hyperclus.compare`.
# - If the meaning is not in shared words (very short texts, several languages), use sentence embeddings and
#   k-means instead.
