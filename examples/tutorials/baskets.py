"""
Baskets: which customers buy alike?
===================================

A shop knows who bought what and how often. You want segments of customers: groups that you can name, whose
taste you can describe, and into which new customers can be sorted.

.. code-block:: console

   $ pip install 'hyperclus[cli,pandas,plots]'
"""

# %%
# The data
# --------
#
# One row for each customer and item, with the number bought. We found no baskets with a clear licence and
# known segments, so these are **simulated**: 1,200 customers of four kinds, who all buy everyday things, and
# some things of their own kind. A few orders are huge, as in every shop. ``kinds`` is the truth, which we
# look at only at the end.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import hyperclus as hc

# sphinx_gallery_thumbnail_number = 2
plt.style.use("hyperclus.light")  # C0, C1, ... are the colours of the clusters

everyday = "milk bread eggs butter apples coffee water bags pasta cheese bananas soap".split()
tastes = {
    "family": "nappies wipes juice cereal yoghurt crayons fish_fingers ketchup".split(),
    "pets": "cat_food dog_food litter chew_toys leash bird_seed hay treats".split(),
    "student": "noodles energy_drink frozen_pizza beer crisps instant_coffee chocolate cola".split(),
    "cook": "saffron tahini truffle_oil fresh_herbs lamb_shoulder anchovies white_wine shallots".split(),
}

rng = np.random.default_rng(1)
kinds = rng.choice(list(tastes), 1200, p=[0.4, 0.15, 0.25, 0.2])
rows = []
for number, kind in enumerate(kinds):
    others = [item for taste in tastes.values() for item in taste]
    items = {*rng.choice(everyday, 5), *rng.choice(tastes[kind], 4), *rng.choice(others, 2)}
    amounts = np.ceil(rng.lognormal(0.7, 1.0, len(items))).astype(int)
    rows += [(f"K{number:04}", item, amount) for item, amount in zip(sorted(items), amounts, strict=True)]
baskets = pd.DataFrame(rows, columns=["customer", "item", "quantity"])
baskets.to_csv("baskets.csv", index=False)
baskets.head()

# %%
# The hypergraph, and its weights
# -------------------------------
#
# Clusters are found with a random walk: from a customer to one of its items, and on to one of those who
# bought it. In good clusters, the cluster of a walker tells much about its next one. :doc:`The method
# </understand/method>` has the formulas; ``NCut`` below is the share of steps that leave their cluster,
# summed over the clusters.
#
# We want clusters of customers, so a customer is a vertex, and an item is a hyperedge that holds those who
# bought it. (For clusters of *items*, swap the two columns.) The quantity is the weight of the customer in
# the item. Look at it before you use it:

print(baskets["quantity"].describe(percentiles=[0.5, 0.9, 0.99]).astype(int).to_string())

# %%
# Half of the quantities are small, and some are enormous. Unchanged, a single order of 100 bags would count
# as much as fifty customers. The logarithm keeps the order and takes away the power of the few.

baskets["weight"] = np.log1p(baskets["quantity"])
h = hc.Hypergraph.from_long(baskets, vertex="customer", edge="item", weight="weight")
print(hc.summary(h))

# %%
# How many segments?
# ------------------

suggestion = hc.suggest_k(h)
print(suggestion)

ax = suggestion.plot()
ax.figure.set_size_inches(7, 4)
plt.show()

# %%
# Both lines rise with the number of clusters, because more clusters cut more. What counts is the distance to
# the dashed line, what the same search finds in shuffled baskets: where every customer buys as many things as
# before, but random ones.
#
# The segments
# ------------

part = hc.cluster(h, suggestion.k)
print(part)

# %%
# The first line says whether this is more than chance. The NCut looks bad at first sight: most steps leave
# their cluster, because everybody buys milk. A large NCut means that segments overlap, not that they are
# wrong; ``gap`` says that no four segments could be much better.
#
# What each segment buys
# ----------------------

print(part.describe(4))

# %%
# Milk and bread are nowhere in this list, although everybody buys them: only what sets a segment apart is
# listed. Give the segments names, from what you have read:


def name(cluster):
    """Name a segment after the taste that most of its top items belong to."""
    top = part.top_edges(cluster, 5).ids
    return max(tastes, key=lambda taste: sum(item in tastes[taste] for item in top))


part = part.with_names([name(cluster) for cluster in range(part.k)])
print(part.names)

# %%
# As a picture: how much more often than anybody a segment buys each item. ``lift`` is 1 for an item that the
# segment buys as often as all customers.

frame = part.edges_frame()
rank = {name: cluster for cluster, name in enumerate(part.names)}
frame = frame.sort_values("lift", ascending=False).sort_values(
    "cluster", key=lambda column: column.map(rank).fillna(part.k), kind="stable"
)  # -1, an item of no segment, comes last
shares = frame[[f"share_{name}" for name in part.names]].to_numpy() / part.cut.volumes

fig, ax = plt.subplots(figsize=(10, 3.4))
for cluster, label in enumerate(part.cluster_names):
    ax.scatter(np.arange(len(frame)), np.maximum(shares[:, cluster], 0.05), color=f"C{cluster}", label=label)
ax.axhline(1, color="grey", linewidth=0.8)
ax.set_yscale("log", base=2)
ax.set_yticks([0.25, 0.5, 1, 2, 4], ["1/4", "1/2", "1", "2", "4"])
ax.set_xticks(np.arange(len(frame)), frame["item"], rotation=90, fontsize=8)
ax.set(ylabel="times as often as all", title="What the segments buy")
ax.margins(x=0.01)
fig.legend(loc="outside right upper")
plt.show()

# %%
# How sure, and how stable?
# -------------------------
#
# ``confidence`` is about single customers, :func:`hyperclus.stability` about the segments: would we find them
# again with other customers?

labels = part.to_frame()
print(labels["confidence"].describe(percentiles=[0.05, 0.25, 0.5]).round(2).to_string())
print(hc.stability(part, runs=10))

# %%
# For a mailing, take the sure ones, and leave out those who fit nowhere:

sure = labels[(labels["confidence"] > 0.6) & labels["outlier"].isna()]
print(f"{len(sure):,} of {len(labels):,} customers")
sure["cluster"].value_counts().to_frame()

# %%
# Keep the results
# ----------------

labels.to_csv("segments.csv", index=False)
part.to_html("baskets.html", title="Segments of customers")  # one file, to open or to send
part.save("baskets.hcm")  # the model, without the customers

# %%
# New customers
# -------------
#
# The model labels them by what they bought, without clustering again. Weights are made as before.

new = {
    "Ann": {"nappies": np.log1p(2), "milk": np.log1p(4), "crayons": np.log1p(1)},
    "Bob": {"beer": np.log1p(6), "noodles": np.log1p(3), "bread": np.log1p(1)},
    "Cy": {"milk": np.log1p(1), "bags": np.log1p(1)},
    "Dee": {"kimchi": np.log1p(1)},
}
found = hc.load("baskets.hcm").predict(new)
print(found)
found.to_frame().round(2)

# %%
# ``share`` is the part of the steps that leads to the segment, ``unknown`` the number of items that the model
# does not know. Nobody can say much about Cy, who bought what everybody buys, and the confidence says so.
# Nobody has bought what Dee bought, so she has no label.
#
# Were we right?
# --------------
#
# Only because the data are simulated do we know:

print(part.agreement(kinds))

# %%
# And what did the weights do? The same with the raw quantities, and without weights. Simulated amounts mean
# nothing here, so no weights do even better than logarithms; raw quantities, with their few huge orders, do
# worse.

raw = hc.Hypergraph.from_long(baskets, vertex="customer", edge="item", weight="quantity")
for what, one in {"raw": raw, "raw, alpha=1": raw, "logarithms": h, "none": hc.unit_weights(h)}.items():
    other = hc.cluster(one, part.k, alpha=1 if "alpha" in what else 0, chance=False)
    print(f"{what:14}NMI {other.agreement(kinds).nmi:.3f}")

# %%
# The same in one command
# -----------------------
#
# .. code-block:: console
#
#    $ hyperclus cluster baskets.csv -k 4 --vertex customer --edge item --weight quantity --weight-transform log1p --out segments.csv --report baskets.html -q
#    Partition of 1,200 customers into 4 clusters
#      chance       more than chance: a quick search finds information 0.05558, and 0.007645 to 0.008606 in 4 shuffled hypergraphs
#      information  0.05558; proven: no 4 clusters have more than 0.09416
#      NCut         2.3886
#      proven       no 4 clusters have less than 2.25185 (gap 6.07 %)
#      conductance  0.695147
#
#      cluster  size  volume  conductance  top items (% of the cluster)
#            0   477  0.4004       0.4671  wipes (49 %); fish_fingers (48 %); ketchup (45 %)
#            1   282  0.2365       0.6042  beer (47 %); frozen_pizza (44 %); cola (43 %)
#            2   262  0.2153       0.6222  lamb_shoulder (49 %); shallots (48 %); fresh_herbs (46 %)
#            3   179  0.1477       0.6951  cat_food (49 %); litter (51 %); chew_toys (49 %)
#
# What to do next
# ---------------
#
# - Look at the report: it has a slider for the number of segments, and the customers of each.
# - Next month, cluster again and use :func:`hyperclus.compare` to see who moved.
# - If some customers must be in one segment, say so with :class:`hyperclus.Constraints`.
