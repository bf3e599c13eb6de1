"""Whether confidence can be trusted: agreement with classes by decile, and outliers planted at random.

`python benchmarks/confidence.py ../shared/real` prints the tables of RESULTS.md in Markdown and draws
images/confidence.png, in about three minutes. The folder is that of real.py; the confidence was not chosen
on the paper's tables. A vertex agrees if its class is the
majority class of its cluster. Planted outliers are 5 % of the vertices, whose incidences are moved to random
hyperedges: each is that of a random incidence, so that large hyperedges are drawn more often. Where vertices
have few hyperedges, the table has the AUC of outlier_oracle.py as well, which takes some minutes more.
"""

import argparse
import csv
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array
from scipy.stats import rankdata

import families
import hyperclus as hc
from hyperclus.research import datasets
from outlier_oracle import oracle

FEW = 5  # hyperedges per vertex up to which the oracle is asked
LEFT_OUT = "house-committees"  # parties are not clusters of committees: a negative example
PLANTED = {
    "planted, 4 blocks, noise 0.2": ("sparse", 60_000, 4, 0.2),
    "planted, 20 blocks, noise 0.2": ("sparse", 60_000, 20, 0.2),
    "planted, 4 blocks, noise 0.4": ("sparse", 60_000, 4, 0.4),
    "planted, 20 blocks, noise 0.4": ("sparse", 60_000, 20, 0.4),
    "planted, 4 blocks, noise 0.5": ("sparse", 60_000, 4, 0.5),
    "planted table, 4 blocks": ("binned", 110_000, 4),
}


def load(folder: Path) -> tuple[hc.Hypergraph, np.ndarray]:
    """Read a set, and the class of each vertex as a number."""
    h = hc.read(folder / "incidences.csv.gz")
    with open(folder / "labels.csv", encoding="utf-8", newline="") as file:
        classes = {row["vertex"]: row["label"] for row in csv.DictReader(file)}
    return h, np.unique([classes[vertex] for vertex in h.vertex_ids.tolist()], return_inverse=True)[1]


def clusters(h: hc.Hypergraph, k: int) -> hc.Partition:
    """Cluster for the information of the walk."""
    return hc.cluster(h, k, objective="information", chance=False)


def auc(scores: np.ndarray, positive: np.ndarray) -> float:
    """The probability that a positive has a higher score than another; ties count half."""
    count = int(positive.sum())
    ranks = rankdata(scores)[positive].sum() - count * (count + 1) / 2
    return float(ranks / (count * (len(scores) - count)))


def calibration(h: hc.Hypergraph, classes: np.ndarray) -> tuple[np.ndarray, float, float]:
    """Agreement with the classes in each decile of confidence, its AUC, and the mean confidence."""
    part = clusters(h, int(classes.max()) + 1)
    counts = np.zeros((classes.max() + 1, part.k))
    np.add.at(counts, (classes, part.labels), 1)
    agrees, sure = classes == counts.argmax(axis=0)[part.labels], part.confidence().values
    deciles = np.array_split(np.argsort(sure, kind="stable"), 10)
    return np.array([agrees[some].mean() for some in deciles]), auc(sure, agrees), float(sure.mean())


def rewired(h: hc.Hypergraph, share: float, rng: np.random.Generator) -> tuple[hc.Hypergraph, np.ndarray]:
    """Move the incidences of some vertices to random hyperedges; returns which vertices these are."""
    rows = h.gamma.T.tocsr()
    pool, edges = rows.indices.copy(), rows.indices.copy()
    chosen = rng.permutation(h.n_vertices)[: max(1, int(share * h.n_vertices))]
    for vertex in chosen:
        first, last = rows.indptr[vertex : vertex + 2]
        drawn: dict[int, None] = {}
        while len(drawn) < last - first:
            drawn[int(pool[rng.integers(len(pool))])] = None
        edges[first:last] = list(drawn)
    incidences = csr_array((rows.data, edges, rows.indptr), shape=rows.shape)
    moved = hc.Hypergraph.from_incidence(incidences, edge_weights=h.edge_weights)
    return moved, np.isin(np.arange(h.n_vertices), chosen)


def outliers(h: hc.Hypergraph, k: int) -> tuple[float, float, float, float, float]:
    """Median degree; AUC of low fit for planted outliers; shares flagged of these, others and clean data."""
    moved, planted = rewired(h, 0.05, np.random.default_rng(0))
    sure = clusters(moved, k).confidence()
    flagged = sure.outliers == "fits no cluster"
    degree = np.median(np.bincount(h.gamma.indices, minlength=h.n_vertices))
    clean = (clusters(h, k).confidence().outliers == "fits no cluster").mean()
    return float(degree), auc(-sure.fits, planted), flagged[planted].mean(), flagged[~planted].mean(), clean


def reachable(h: hc.Hypergraph, classes: np.ndarray) -> float:
    """The AUC of the oracle for planted outliers; nan if vertices have many hyperedges."""
    if np.median(np.bincount(h.gamma.indices, minlength=h.n_vertices)) > FEW:
        return np.nan
    labellings = [classes, clusters(h, int(classes.max()) + 1).labels]
    return oracle(h, labellings, lambda rng: rewired(h, 0.05, rng), auc)


def measured(sets: Iterable[tuple[str, hc.Hypergraph, np.ndarray]]) -> tuple[dict, dict]:
    """Print the table of agreement; returns its deciles, and what `outliers` finds, by set."""
    deciles, found = {}, {}
    print("| set | vertices | k | " + " | ".join(map(str, range(1, 11))) + " | AUC | mean confidence |")
    print("| --- |" + " ---: |" * 14)
    for name, h, classes in sets:
        k = int(classes.max()) + 1
        rates, area, mean = calibration(h, classes)
        deciles[name], found[name] = rates, (*outliers(h, k), reachable(h, classes))
        cells = [f"{rate:.2f}" for rate in (*rates, area, mean)]
        print(f"| {name} | {h.n_vertices:,} | {k} | " + " | ".join(cells) + " |", flush=True)
    means = np.mean(list(deciles.values()), axis=0)
    print("| mean | | | " + " | ".join(f"{rate:.2f}" for rate in means) + " | | |\n")
    return deciles, found


def real_sets(folder: Path) -> Iterator[tuple[str, hc.Hypergraph, np.ndarray]]:
    """The sets of a folder, with their classes."""
    for path in sorted(folder.glob("*/incidences.csv.gz")):
        if path.parent.name != LEFT_OUT:
            yield path.parent.name, *load(path.parent)


def paper_sets() -> Iterator[tuple[str, hc.Hypergraph, np.ndarray]]:
    """The tables of the paper without their weights, which would tell the classes."""
    for name in datasets.names():
        given = datasets.load(name)
        yield name, hc.unit_weights(given.hypergraph), np.unique(given.classes, return_inverse=True)[1]


def planted_sets() -> Iterator[tuple[str, hc.Hypergraph, int]]:
    """Hypergraphs with planted blocks, and the number of these."""
    for name, (family, size, blocks, *noise) in PLANTED.items():
        table, omega, _ = getattr(families, family)(size, blocks, *noise, seed=1)
        yield name, families.build(table, omega), blocks


def draw(deciles: dict[str, np.ndarray], groups: dict[str, dict[str, tuple]], path: Path) -> None:
    """Draw agreement by decile, and the AUC of planted outliers by the number of hyperedges."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    numbers = np.arange(1, 11)
    for rates in deciles.values():
        left.plot(numbers, rates, color="0.75", linewidth=1)
    left.plot(numbers, np.mean(list(deciles.values()), axis=0), color="C0", linewidth=3, marker="o")
    left.set(xlabel="decile of confidence", ylabel="share in the majority class", ylim=(0, 1.02))
    left.set_xticks(numbers)
    left.set_title(f"Agreement with classes: {len(deciles)} sets (grey) and their mean")
    for name, found in groups.items():
        rows = list(found.values())
        right.plot([row[0] for row in rows], [row[1] for row in rows], "o", label=name)
    right.axhline(0.9, color="0.6", linewidth=1, linestyle="--")
    right.set(xscale="log", xlabel="hyperedges of a vertex (median)", ylabel="AUC", ylim=(0.5, 1.02))
    right.set_xticks([1, 3, 10, 30, 100, 300, 1000], ["1", "3", "10", "30", "100", "300", "1000"])
    right.set_title("Planted outliers, found by their fit")
    right.legend(loc="lower right", frameon=False)
    figure.savefig(path, dpi=120)


def main() -> None:
    """Measure, print and draw."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    deciles, real = measured(real_sets(parser.parse_args().folder))
    _, paper = measured(paper_sets())
    blocks = {name: (*outliers(h, k), np.nan) for name, h, k in planted_sets()}
    print("| set | hyperedges of a vertex | AUC | oracle | planted, flagged | others | without planted |")
    print("| --- |" + " ---: |" * 6)
    for name, (degree, area, *flagged, known) in (real | blocks | paper).items():
        shares = " | ".join(f"{100 * share:.1f} %" for share in flagged)
        print(f"| {name} | {degree:.0f} | {area:.3f} | {known:.3f} | {shares} |".replace("nan", ""))
    groups = {"real sets": real, "planted blocks": blocks, "tables of the paper": paper}
    draw(deciles, groups, Path(__file__).parent / "images" / "confidence.png")


if __name__ == "__main__":
    main()
