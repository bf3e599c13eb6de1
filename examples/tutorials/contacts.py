"""
Contacts: who belongs to which group?
=====================================

People and the meetings they went to: pupils and lessons, staff and projects, guests and parties. Which groups
do they form, and who stands between them?

.. code-block:: console

   $ pip install 'hyperclus[cli,pandas,plots]'
"""

# %%
# The data
# --------
#
# The best known data of this kind: 18 women in a town in the south of the United States in the 1930s, and the
# 14 social events that they went to. Everything is small enough to be checked by eye.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import hyperclus as hc

plt.style.use("hyperclus.light")  # C0, C1, ... are the colours of the clusters

data = hc.datasets.load("southern-women")
print(data.source.citation)

edges, guests = data.hypergraph.gamma.nonzero()
visits = pd.DataFrame({"guest": data.hypergraph.vertex_ids[guests], "event": data.hypergraph.edge_ids[edges]})
visits.to_csv("visits.csv", index=False)
visits.head()

# %%
# A guest is a vertex, an event is a hyperedge
# --------------------------------------------
#
# Clusters are found with a random walk: from a guest to one of its events, and on to one of its guests. In
# good clusters, the cluster of a walker tells much about its next one. :doc:`The method </understand/method>`
# has the formulas; ``NCut`` below is the share of steps that leave their cluster, summed over the clusters.
#
# A list of who was where is all that is needed. An ordinary graph of "who met whom" would lose something:
# three people at one party are not the same as three pairs at three.

h = hc.Hypergraph.from_long(visits, vertex="guest", edge="event")
print(hc.summary(h))

# %%
# There are no weights: one was there or not. If you know how long somebody stayed, give it:
# ``weight="minutes"``. A large party says less about friendship than a small one, and the walk knows that by
# itself: a step through a party of 14 leads to any one of them.
#
# How many groups?
# ----------------

suggestion = hc.suggest_k(h, 5)
print(suggestion)

# %%
# Two groups
# ----------

part = hc.cluster(h, 2)
print(part)

# %%
# With so few people we can prove that nothing better exists: no two clusters have a lower NCut than these.

proven = hc.cluster(h, 2, bound="optimal")
print(f"NCut {proven.ncut:.6f}, and no two clusters have less than {proven.lower_bound:.6f}")
print(hc.compare(part, proven))

# %%
# What makes the groups what they are? The events of mostly one group:

print(part.describe(4))

# %%
# Who stands between?
# -------------------
#
# :meth:`hyperclus.Partition.membership` has the share of the steps of each guest that lead to either group.

labels = part.to_frame()
shares = part.membership().toarray()
order = np.argsort(shares[:, 0])

fig, ax = plt.subplots(figsize=(8, 5))
ax.barh(np.arange(18), shares[order, 0], color="C0", label="group 0")
ax.barh(np.arange(18), shares[order, 1], left=shares[order, 0], color="C1", label="group 1")
ax.set_yticks(np.arange(18), h.vertex_ids[order])
for place, vertex in enumerate(order):
    ax.text(0.012, place, f"{labels['confidence'][vertex]:.2f}", color="white", va="center", fontsize=8)
ax.axvline(part.cut.volumes[0], color="white", linestyle="--")
ax.set(
    title="With whom does she meet? In the bars: how sure her label is",
    xlabel="share of her steps",
    xlim=(0, 1),
)
fig.legend(loc="outside lower center", ncols=2)
plt.show()

# %%
# Everybody meets both groups, at the large events. What counts is the distance from the dashed line, the
# share that one would expect. The least sure:

labels.drop(columns="margin").sort_values("confidence").head(4).round(2)

# %%
# These are also the women on whom published analyses of the data differ (L. C. Freeman compares 21 of them in
# "Finding social groups: a meta-analysis of the Southern Women data", 2003).
#
# Does it hang on single events? Draw the events at random, again and again, and cluster each time:

stable = hc.stability(part, "hyperedges")
print(stable)
stable.to_frame().sort_values("stability").head(5).round(2)

# %%
# The circle of one person
# ------------------------
#
# "Who belongs with Nora Fayette and Helen Lloyd?" needs no clusters of everybody. In a large data set this
# looks at their surroundings only.

found = hc.local_cluster(h, ["Nora Fayette", "Helen Lloyd"])
print(found)

# %%
# Keep the results, and a newcomer
# --------------------------------

part = part.with_names(["Evelyn's circle", "Nora's circle"])
part.to_frame().to_csv("groups.csv", index=False)
part.to_html("groups.html", title="Eighteen women, fourteen events")
part.save("groups.hcm")

found = hc.load("groups.hcm").predict({"Ada": ["E9", "E10"], "Bea": ["E8"]})
found.to_frame().round(2)

# %%
# ``share`` is the part of her steps that leads to the group. Bea came to the one event where nearly everybody was. Her label is hardly better than the toss of a coin,
# and her confidence shows it.
#
# Were we right?
# --------------
#
# Those who interviewed the women at the time saw two circles:

print(part.agreement(data.classes))

# %%
# Expect less from larger data, and not every list of meetings has groups. The next data set in the package
# shows a case: members of the US House of Representatives, and their committees. Are its clusters the
# parties?

house = hc.datasets.load("house-committees")
found = hc.cluster(house.hypergraph, 2)
print(found)
print(found.agreement(house.classes))

# %%
# There are clusters, by far more than chance, but they are not the parties: each committee has members of
# both. What clusters mean is written in their hyperedges, not in the classes you had in mind.
#
# The same in one command
# -----------------------
#
# .. code-block:: console
#
#    $ hyperclus cluster visits.csv -k 2 --vertex guest --edge event --out groups.csv --report groups.html -q
#    Partition of 18 guests into 2 clusters
#      chance       more than chance: a quick search finds information 0.1747, and 0.03515 to 0.04914 in 4 shuffled hypergraphs
#      information  0.1747; proven: no 2 clusters have more than 0.2123
#      NCut         0.425485
#      proven       no 2 clusters have less than 0.372692 (gap 14.17 %)
#      conductance  0.234256
#
#      cluster  size  volume  conductance  top events (% of the cluster)
#            0     9  0.5506       0.2343  E5 (89 %); E3 (67 %); E6 (78 %)
#            1     9  0.4494       0.2343  E12 (67 %); E10 (56 %); E11 (44 %)
#    $ hyperclus local visits.csv --vertex guest --edge event --around "Nora Fayette" -q
#    Cluster of 9 vertices out of 18
#      seeds        Nora Fayette
#      conductance  0.234256
#      volume       0.4494
#      restart      0.25
#      visited      89 incidences, 100 % of all
#
#      member             score  staying
#      Nora Fayette        3.92     0.77
#      Katherina Rogers    1.13     0.85
#      Olivia Carleton     1.07     0.83
#      Flora Price         1.07     0.83
#      Sylvia Avondale     1.07     0.79
#      Helen Lloyd        0.979     0.77
#      Myra Liddel        0.925     0.77
#      Verne Sanderson    0.809     0.62
#      Dorothy Murchison  0.678     0.55
#
#      held together by  inside    part
#      E12                100 %  26.1 %
#      E10                100 %  21.8 %
#      E11                100 %  17.4 %
#      E9                66.7 %  13.7 %
#      E13                100 %  13.1 %
#
# What to do next
# ---------------
#
# - With known friends or enemies, use :class:`hyperclus.Constraints`.
# - With more people, ``hc.tree(h, 10)`` shows groups within groups.
