"""How well walks with alpha = 0, 0.5 and 1 recover known classes: the tables of docs/research/two_sided.md.

Prints the NMI in Markdown, for gamma = 1 (members without weights) and for the three walks. Needs no network.
"""

import argparse
import importlib
import inspect
from collections.abc import Iterator
from itertools import combinations

import numpy as np
import scipy
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

import hyperclus as hc

ALPHAS = (0.0, 0.5, 1.0)
SEEDS = 5
SUBPACKAGES = ("interpolate", "linalg", "ndimage", "optimize", "signal", "special", "stats")
Case = tuple[hc.Hypergraph, np.ndarray]


def labels(h: hc.Hypergraph, k: int, alpha: float, seed: int) -> np.ndarray:
    """Return clusters with at least half of an equal share each, as the classes are of similar size."""
    return hc.cluster(h, k, objective="ncut", alpha=alpha, min_share=1 / (2 * k), seed=seed).labels


def scores(case: Case, seed: int) -> list[float]:
    """Return the NMI for gamma = 1, then for each alpha."""
    h, classes = case
    k = len(np.unique(classes))
    runs = [(hc.unit_weights(h), 0.0), *((h, alpha) for alpha in ALPHAS)]
    return [hc.agreement(classes, labels(weighted, k, alpha, seed)).nmi for weighted, alpha in runs]


def row(name: str, cases: list[Case]) -> str:
    """Return a table line of means over the cases, or over seeds for a single case."""
    k = len(np.unique(cases[0][1]))
    seeds = range(SEEDS if len(cases) == 1 else 1)
    figures = np.mean([scores(case, seed) for case in cases for seed in seeds], axis=0)
    return f"| {name} | {k} | " + " | ".join(f"{figure:.2f}" for figure in figures) + " |"


def digits(shown: tuple[int, ...]) -> Case:
    """Vertex = image, hyperedge = pixel, gamma = ink."""
    images, targets = load_digits(return_X_y=True)
    chosen = np.isin(targets, shown)
    return hc.Hypergraph.from_incidence(images[chosen], empty_edges="drop"), targets[chosen]


def docstrings() -> tuple[np.ndarray, np.ndarray]:
    """Return the docstrings of SciPy's public functions and classes, and the subpackage of each."""
    found: dict[str, str] = {}
    for name in SUBPACKAGES:
        module = importlib.import_module(f"scipy.{name}")
        for member in (getattr(module, public) for public in sorted(module.__all__)):
            text = inspect.getdoc(member) or ""
            if (inspect.isfunction(member) or inspect.isclass(member)) and len(text.split()) >= 30:
                found.setdefault(text, name)
    return np.array(list(found), dtype=object), np.array(list(found.values()))


def texts(kind: type[CountVectorizer], subpackages: tuple[str, ...]) -> Case:
    """Vertex = docstring, hyperedge = word (in 3 docstrings or more, at most half of them)."""
    documents, classes = docstrings()
    chosen = np.isin(classes, subpackages)
    counted = kind(stop_words="english", token_pattern="[A-Za-z]{3,}", min_df=3, max_df=0.5)
    matrix = counted.fit_transform(documents[chosen])
    used = matrix.getnnz(axis=1) > 0
    return hc.Hypergraph.from_incidence(matrix[used]), classes[chosen][used]


def planted(k: int, stray: float, home: float, spread: float, seed: int, keep: float = 1.0) -> Case:
    """4,000 vertices in k blocks, 4,000 hyperedges of 10 to 20 members, each with a home block.

    A member is from the home block or, with probability `stray`, from all vertices. gamma is `home` for
    vertices of the home block and 1 for others, times lognormal noise, clipped at the quantile `keep`.
    """
    n = 4_000
    rng = np.random.default_rng(seed)
    edge = np.repeat(np.arange(n), rng.integers(10, 21, n))
    block = rng.integers(k, size=n)[edge]
    vertex = np.where(
        rng.random(len(edge)) < stray,
        rng.integers(n, size=len(edge)),
        block + k * rng.integers(n // k, size=len(edge)),
    )
    gamma = np.where(vertex % k == block, home, 1.0) * rng.lognormal(sigma=spread, size=len(edge))
    gamma = np.minimum(gamma, np.quantile(gamma, keep))
    _, first = np.unique(edge * n + vertex, return_index=True)
    matrix = sp.coo_array((gamma[first], (vertex[first], edge[first])), shape=(n, n))
    return hc.Hypergraph.from_incidence(matrix.tocsr()), np.arange(n) % k


def real_rows() -> Iterator[str]:
    """Yield the rows of digits and docstrings."""
    yield row("digits 2 and 4 (the demo), ink", [digits((2, 4))])
    yield row("digits 3 and 8, ink", [digits((3, 8))])
    yield row("all ten digits, ink", [digits(tuple(range(10)))])
    for kind, name in ((TfidfVectorizer, "tf-idf"), (CountVectorizer, "word counts")):
        pairs = [texts(kind, pair) for pair in combinations(SUBPACKAGES, 2)]
        yield row(f"docstrings of two subpackages, {name} (mean of {len(pairs)} pairs)", pairs)
        yield row(f"docstrings of all seven, {name}", [texts(kind, SUBPACKAGES)])


def planted_rows() -> Iterator[str]:
    """Yield rows of means for weights with signal, with signal and noise, and with noise alone."""
    settings = {
        "home members weigh 4 times more": (0.7, 4.0, 0.0),
        "the same, with noise (sigma 0.5)": (0.7, 4.0, 0.5),
        "the same, with heavy-tailed noise (sigma 1)": (0.7, 4.0, 1.0),
        "the same, clipped at the 90th percentile": (0.7, 4.0, 1.0, 0.9),
        "gamma is noise alone (sigma 0.5)": (0.4, 1.0, 0.5),
        "gamma is heavy-tailed noise alone (sigma 1)": (0.4, 1.0, 1.0),
    }
    for name, (stray, home, spread, *keep) in settings.items():
        for k in (2, 4):
            yield row(name, [planted(k, stray, home, spread, seed, *keep) for seed in range(SEEDS)])


def main() -> None:
    """Print both tables."""
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    print(f"SciPy {scipy.__version__}: {len(docstrings()[0])} docstrings\n")
    for rows in (real_rows(), planted_rows()):
        print("| data, gamma | k | gamma = 1 | alpha = 0 | alpha = 0.5 | alpha = 1 |")
        print("| --- | ---: | ---: | ---: | ---: | ---: |")
        for line in rows:
            print(line, flush=True)
        print()


if __name__ == "__main__":
    main()
