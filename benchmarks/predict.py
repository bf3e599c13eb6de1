"""Labels of new vertices: how fast they are, and how well they agree with known classes.

`python benchmarks/predict.py speed` labels a million new vertices of 15 incidences each. `python
benchmarks/predict.py classes ../shared` clusters four fifths of each set, labels the last fifth by the model,
and compares with clustering all vertices, for the same vertices; clusters are matched with classes on the
vertices that were clustered. Figures are means over the five fifths. Prints Markdown.
"""

import argparse
import csv
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment

import hyperclus as hc

SETS = ("octis-bbc-news", "classic3", "sc-pbmc68k-700", "mushroom")
OBJECTIVES = ("information", "ncut")
FOLDS = 5


def speed(n_new: int, size: int, n_edges: int, clusters: tuple[int, ...]) -> None:
    """Print the seconds for new vertices as a matrix and as a hypergraph, for several numbers of clusters."""
    rng = np.random.default_rng(0)
    print("| k | new vertices | incidences | from a matrix (s) | from a hypergraph (s) |")
    print("| ---: | ---: | ---: | ---: | ---: |")
    for k in clusters:
        part = planted(20_000, size, n_edges, k, rng)
        model = part.model()
        more = planted_matrix(n_new, size, n_edges, k, rng)[0]
        h = hc.Hypergraph.from_incidence(more)
        seconds = []
        for given in (more, h):
            start = time.perf_counter()
            found = model.predict(given)
            seconds.append(time.perf_counter() - start)
        assert len(found.labels) == n_new
        print(f"| {k} | {n_new:,} | {more.nnz:,} | " + " | ".join(f"{one:.2f}" for one in seconds) + " |")


def planted_matrix(
    n: int, size: int, n_edges: int, k: int, rng: np.random.Generator
) -> tuple[sp.csr_array, np.ndarray]:
    """Return vertices of k blocks with hyperedges mostly of their block, and the blocks."""
    block = rng.integers(k, size=n)
    edges = rng.integers(n_edges // k, size=(n, size)) * k + block[:, None]
    strays = rng.random((n, size)) < 0.3
    edges[strays] = rng.integers(n_edges, size=int(strays.sum()))
    indptr = np.arange(n + 1) * size
    matrix = sp.csr_array((np.ones(n * size), edges.ravel(), indptr), shape=(n, n_edges))
    matrix.sum_duplicates()
    return matrix, block


def planted(n: int, size: int, n_edges: int, k: int, rng: np.random.Generator) -> hc.Partition:
    """Return the planted clusters as a partition."""
    matrix, block = planted_matrix(n, size, n_edges, k, rng)
    return hc.evaluate(hc.Hypergraph.from_incidence(matrix), block)


def load(name: str, shared: Path) -> tuple[hc.Hypergraph, np.ndarray]:
    """Return a set and the classes of its vertices."""
    if name == "mushroom":
        path = shared / "data" / "mushroom.csv"
        with path.open(newline="") as file:
            classes = [row["class"] for row in csv.DictReader(file)]
        return hc.io.read_rows(path, exclude=["class", "stalk-root"]), np.array(classes)
    h = hc.read(shared / "real" / name / "incidences.csv.gz")
    with (shared / "real" / name / "labels.csv").open(newline="") as file:
        known = {row["vertex"]: row["label"] for row in csv.DictReader(file)}
    return h, np.array([known[str(vertex)] for vertex in h.vertex_ids.tolist()])


def matched(labels: np.ndarray, classes: np.ndarray, k: int) -> np.ndarray:
    """Return the class of each cluster, one to one; label -1 has none."""
    counts = np.zeros((k, classes.max() + 1))
    np.add.at(counts, (labels[labels >= 0], classes[labels >= 0]), 1)
    of_cluster = np.full(k + 1, -1)
    rows, columns = linear_sum_assignment(-counts)
    of_cluster[rows] = columns
    return of_cluster


def folds(h: hc.Hypergraph, classes: np.ndarray, objective: str) -> list[float]:
    """Return the accuracies at once, by the model, and of its less and more confident halves."""
    k, order = classes.max() + 1, np.random.default_rng(0).permutation(h.n_vertices)
    whole = hc.cluster(h, k, objective=objective, chance=False).labels
    at_once = matched(whole, classes, k)[whole] == classes
    figures = []
    for fold in range(FOLDS):
        held = np.sort(order[fold::FOLDS])
        rest = np.setdiff1d(order, held)
        part = hc.cluster(h.restrict(rest), k, objective=objective, chance=False)
        found = part.predict(h.restrict(held))
        right = matched(part.labels, classes[rest], k)[found.labels] == classes[held]
        halves = np.array_split(right[np.argsort(found.confidence, kind="stable")], 2)
        figures.append([at_once[held].mean(), right.mean(), *(half.mean() for half in halves)])
    return np.mean(figures, axis=0).tolist()


def classes(shared: Path) -> None:
    """Print the accuracies of all sets."""
    print(
        "| set | objective | all at once | held-out fifths by the model | low confidence | high confidence |"
    )
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    for name in SETS:
        h, known = load(name, shared)
        codes = np.unique(known, return_inverse=True)[1]
        for objective in OBJECTIVES:
            figures = " | ".join(f"{figure:.3f}" for figure in folds(h, codes, objective))
            print(f"| {name} | {objective} | {figures} |", flush=True)


def main() -> None:
    """Run one of the two measurements."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("speed", "classes"))
    parser.add_argument("shared", type=Path, nargs="?", default=Path("../shared"))
    parser.add_argument("--new", type=int, default=1_000_000, help="number of new vertices")
    given = parser.parse_args()
    if given.what == "speed":
        speed(given.new, 15, 10_000, (2, 10, 50))
    else:
        classes(given.shared)


if __name__ == "__main__":
    main()
