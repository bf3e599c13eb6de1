"""
How far from the best?
======================

No search can promise the best clusters, but a bound can promise that nobody finds much better ones. For each
data set: the NCut that was found, the bound from the eigenvalues, which every answer has, and the tight
bound, which takes a few seconds more.
"""

import matplotlib.pyplot as plt

import hyperclus as hc

plt.style.use("hyperclus.light")

rows = [("southern-women", 2), ("car", 2), ("car", 3), *(("zoo", k) for k in (2, 7))]
fig, ax = plt.subplots(figsize=(8, 4))
for row, (name, k) in enumerate(rows):
    h = hc.datasets.load(name).hypergraph
    quick = hc.cluster(h, k, objective="ncut", chance=False)
    part = hc.cluster(h, k, bound="tight", effort="default", chance=False)
    scale = 100 / part.ncut
    ax.plot([quick.lower_bound * scale, 100], [row, row], color="silver", linewidth=2, zorder=0)
    ax.plot(quick.lower_bound * scale, row, "o", color="C1", label="proven by the eigenvalues")
    ax.plot(part.lower_bound * scale, row, "D", color="C2", markersize=8, label="proven by the tight bound")
    ax.plot(100, row, "o", color="C0", label="found")
    ax.text(100.7, row, f"NCut {part.ncut:.4f}, gap {part.gap:.3%}", va="center")
    if row == 0:
        fig.legend(loc="outside lower center", ncols=3)
ax.set_yticks(range(len(rows)), [f"{name}, k = {k}" for name, k in rows])
ax.set(
    xlim=(None, 106),
    xlabel="% of the NCut that was found",
    title="No clusters are to the left of the proven points",
)
ax.invert_yaxis()
plt.show()

# %%
# A large gap is usually a loose bound and not a bad partition: the tight bound leaves the same partition and
# moves up to it. It is a proof for the NCut only. Whether the clusters *mean* something is another question,
# which the comparison with chance is for.
#
# ``part.certificate("zoo.cert")`` writes the proof to a file, and :func:`hyperclus.verify` checks it without
# trusting the search.
