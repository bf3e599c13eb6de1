"""
Links and words together
========================

Vertices often have attributes besides their hyperedges: papers have words, people have ages. ``attributes=``
lets the walk use both, and beta is the share of its steps by attributes. Here the functions of four
subpackages of SciPy are the vertices. The section "See Also" of each docstring is a hyperedge: it holds the
function and those it refers to. The attributes are the words of the docstring.
"""

import importlib
import inspect
import re

import matplotlib.pyplot as plt
from sklearn.feature_extraction.text import TfidfVectorizer

import hyperclus as hc

plt.style.use("hyperclus.light")

texts = {}
for topic in ("linalg", "ndimage", "optimize", "signal"):
    module = importlib.import_module(f"scipy.{topic}")
    texts |= {
        f"{topic}.{name}": inspect.getdoc(getattr(module, name)) or "" for name in sorted(set(module.__all__))
    }
topics = [name.split(".")[0] for name in texts]

links = {}
for name, text in texts.items():
    section = re.search(r"See Also\n-+\n(.*?)(\n\n\n|\Z)", text, flags=re.DOTALL)
    mentioned = re.findall(r"`(\w+)`", section[1]) if section else []
    known = {f"{name.split('.')[0]}.{other}" for other in mentioned} & set(texts)
    if known - {name}:
        links[name] = sorted(known | {name})
h = hc.Hypergraph.from_edges(links, vertex_ids=list(texts))
print(h)

vectorizer = TfidfVectorizer(stop_words="english", min_df=3, max_df=0.33, sublinear_tf=True)
words = vectorizer.fit_transform(texts.values())

# %%
# Many functions refer to no other, so links alone leave them without a cluster (label -1, left out of the
# NMI). Words alone know nothing of who refers to whom.

betas = [0, 0.2, 0.4, 0.6, 0.8, 1]
nmis, placed = [], []
for beta in betas:
    part = hc.cluster(h, 4, attributes=words, beta=beta, chance=False)
    nmis.append(part.agreement(topics).nmi)
    placed.append((part.labels >= 0).mean())

auto = hc.cluster(h, 4, attributes=words)
print(auto)
print(f"beta = {auto.settings['beta']}: {auto.settings['beta_reason']}")

fig, ax = plt.subplots(figsize=(7, 3.6))
ax.plot(betas, nmis, "o-", label="NMI with the subpackages")
ax.plot(betas, placed, "o--", color="grey", label="share of functions with a label")
ax.plot(
    auto.settings["beta"],
    auto.agreement(topics).nmi,
    "o",
    color="C1",
    markersize=10,
    label="the beta chosen without labels",
)
ax.set(xlabel="beta: 0 is links alone, 1 is words alone", ylim=(0, 1.05), title="Links, words, or both")
ax.legend(loc="lower right")
plt.show()

# %%
# Links alone are the weakest, because functions refer to each other inside small families only. Words alone
# are as good as both here. Nobody knows that without the classes, so beta is chosen by another rule: do
# clusters of one side say something about the other side? Then both are used. If you know which side matters,
# give beta yourself.
