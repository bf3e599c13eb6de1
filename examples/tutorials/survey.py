"""
A survey: what types of respondents are there?
==============================================

A questionnaire with answers on a scale, an age, some categories, and missing answers. You want types of
respondents, and which questions tell them apart.

.. code-block:: console

   $ pip install 'hyperclus[cli,pandas,plots]'
"""

# %%
# The data
# --------
#
# The answers are **simulated**: 600 people of three types, who answer ten questions about work, five of them
# in the manner of their type and five at random. Some answers are missing, as always.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import hyperclus as hc

# sphinx_gallery_thumbnail_number = 2
plt.style.use("hyperclus.light")  # C0, C1, ... are the colours of the clusters

scale = ["disagree", "rather disagree", "neutral", "rather agree", "agree"]
about = "home_office fixed_hours teamwork career overtime canteen parking dress_code music meetings".split()
typical = {  # answers to the first five questions, 1 to 5, and age
    "settled": ([2, 5, 4, 2, 1], 52),
    "climber": ([3, 1, 4, 5, 5], 34),
    "remote": ([5, 2, 1, 3, 2], 41),
}

rng = np.random.default_rng(3)
types = rng.choice(list(typical), 600, p=[0.45, 0.3, 0.25])
rows = []
for number, kind in enumerate(types):
    means, age = typical[kind]
    answers = [*np.rint(rng.normal(means, 0.9)).clip(1, 5).astype(int), *rng.integers(1, 6, 5)]
    row = {name: scale[answer - 1] for name, answer in zip(about, answers, strict=True)}
    row = {name: None if rng.random() < 0.04 else answer for name, answer in row.items()}
    rows.append({"person": f"P{number:03}", "age": int(rng.normal(age, 8)), **row})
survey = pd.DataFrame(rows)
survey.to_csv("survey.csv", index=False)
survey.head()

# %%
# From rows to a hypergraph
# -------------------------
#
# Clusters are found with a random walk: from a person to one of its answers, and on to one of those who gave
# it. In good clusters, the cluster of a walker tells much about its next one. :doc:`The method
# </understand/method>` has the formulas; ``NCut`` below is the share of steps that leave their cluster,
# summed over the clusters.
#
# A person is a vertex. Each *answer* is a hyperedge, such as ``teamwork = agree``, that holds those who gave
# it. Three decisions:
#
# - **Numbers** need bins; people of 41 and 42 would otherwise have nothing in common. Soft bins overlap:
#   somebody between two of them belongs partly to both, with weights that sum to 1.
# - **Missing answers.** ``missing="drop"`` means that a missing answer says nothing. Choose ``"category"``
#   where not answering is an answer.
# - **Weights.** Those of the soft bins say how strongly a person belongs to an age. For strengths of
#   membership set ``alpha=1``, so that they count in both directions of the walk. All answers have the weight
#   1.

h = hc.Hypergraph.from_table(survey, vertex="person", bins=hc.Bins("soft", 4), missing="drop")
print(h)
print(h.edge_ids[:7].tolist())

# %%
# How many types?
# ---------------

suggestion = hc.suggest_k(h, 6, alpha=1)
print(suggestion)

# %%
# The types
# ---------

part = hc.cluster(h, 3, alpha=1)
print(part)

# %%
# Which questions tell the types apart?
# -------------------------------------
#
# :meth:`hyperclus.Partition.profile` compares the columns. The importance of a column is its part of the
# information that all of them have about the types; what chance would give is subtracted.

profile = part.profile()
importance = {column.column: column.importance for column in profile.columns}

fig, ax = plt.subplots(figsize=(7, 3.6))
names = sorted(importance, key=importance.get)
ax.barh(names, [importance[name] for name in names], color="grey")
ax.xaxis.set_major_formatter("{x:.0%}")
ax.set(title="What tells the types apart", xlabel="part of the information")
plt.show()

# %%
# Five questions and the age matter; the canteen, the car park and the music do not. What do the types say?

numbers = survey[about[:5]].replace({answer: number for number, answer in enumerate(scale, 1)}).astype(float)
fig, ax = plt.subplots(figsize=(8, 3.6))
for cluster in range(part.k):
    mean = numbers[part.labels == cluster].mean()
    ax.plot(
        mean, np.arange(5), "o-", color=f"C{cluster}", label=f"type {cluster}, {part.sizes[cluster]} people"
    )
ax.set_yticks(np.arange(5), [name.replace("_", " ") for name in about[:5]])
ax.set_xticks([1, 2, 3, 4, 5], ["1\ndisagree", "2", "3", "4", "5\nagree"])
ax.set(title="Mean answers", ylim=(4.4, -0.4))
fig.legend(loc="outside right upper")
plt.show()

# %%
# The same as a table, of which these are the three most important columns:

profile.to_frame().head(9)

# %%
# How sure is each label, and would others say the same?
# ------------------------------------------------------

labels = part.to_frame()
labels.drop(columns="margin").sort_values("confidence").head().round(2)

# %%
# :func:`hyperclus.stability` clusters again with other people, drawn at random from these:

print(hc.stability(part, runs=10))

# %%
# Keep the results, and label new people
# --------------------------------------

part = part.with_names({0: "type A", 1: "type B", 2: "type C"})  # better: your own names
labels.to_csv("types.csv", index=False)
part.to_html("survey.html", title="Types of respondents")
part.save("survey.hcm")

new = pd.DataFrame(
    [
        {"age": 29, "career": "agree", "overtime": "agree", "fixed_hours": "disagree"},
        {"age": 58, "career": "disagree", "overtime": "disagree", "fixed_hours": "agree"},
        {"age": 45, "music": "agree"},
    ],
    index=["Gus", "Hal", "Ivy"],
).reindex(columns=["age", *about])  # the model expects all columns; what is missing stays missing
found = hc.load("survey.hcm").predict(new)
found.to_frame().round(2)

# %%
# ``share`` is the part of the steps that leads to the cluster, ``unknown`` the number of answers that nobody
# gave before. Ivy told us her age and a taste in music, which is not enough, and her confidence says so.
#
# Were we right?
# --------------

print(part.agreement(types))

# %%
# So far "agree" is as different from "rather agree" as from "disagree". If the order of the answers is known,
# bins put neighbours together. Here each question then has three hyperedges, such as "agree" with "rather
# agree":

ordered = hc.Hypergraph.from_table(
    survey,
    vertex="person",
    order=dict.fromkeys(about, scale),
    bins={"age": hc.Bins("soft", 4), **dict.fromkeys(about, 3)},
    missing="drop",
)
print([edge for edge in ordered.edge_ids.tolist() if edge[0] == "career"])
print(hc.cluster(ordered, 3, alpha=1).agreement(types))

# %%
# That is a choice to try, not a rule: bins throw away the difference inside them.
#
# The same in one command
# -----------------------
#
# .. code-block:: console
#
#    $ hyperclus cluster survey.csv -k 3 --id person --bins soft:4 --missing drop --alpha 1 --out types.csv --report survey.html -q
#    Partition of 600 persons into 3 clusters
#      chance       more than chance: a quick search finds information 0.04009, and 0.005873 to 0.006391 in 4 shuffled hypergraphs
#      information  0.04814; proven: no 3 clusters have more than 0.06554
#      NCut         1.55617
#      proven       no 3 clusters have less than 1.49307 (gap 4.23 %)
#      conductance  0.628958
#
#      cluster  size  volume  conductance  top hyperedges (% of the cluster)
#            0   271  0.4514       0.4101  fixed_hours = agree (66 %); overtime = disagree (61 %); career = rather disagree (43 %)
#            1   191  0.3217       0.5172  career = agree (71 %); overtime = agree (66 %); fixed_hours = disagree (62 %)
#            2   138  0.2270       0.6290  teamwork = disagree (67 %); home_office = agree (66 %); career = neutral (39 %)
#
# What to do next
# ---------------
#
# - Leave out questions that are not about what you want types of: ``exclude=["canteen", "parking"]``.
# - Ask the persons in the middle: :meth:`hyperclus.Partition.confidence` finds them.
# - Compare with k-means on numbers from 1 to 5. If all questions have an order and nothing is missing, that
#   is a good rival.
