"""NCut, bounds and search against all partitions of small hypergraphs, in extended precision.

`python benchmarks/enumeration.py 100000` draws hypergraphs of up to 9 vertices with weights over up to 300
decades and compares with every partition into k clusters: wrong NCuts, bounds above the optimum, and how
often the search finds the optimum. `--ordinary` draws weights over 4 decades only; `--tight` tests the tight
bound and `--effort` sets the effort of the search.
"""

import argparse
import functools
import multiprocessing
import os
from collections import Counter

import numpy as np

import hyperclus as hc

Extended = np.longdouble


@functools.cache
def partitions(n: int, k: int) -> np.ndarray:
    """Indicators (partition, cluster, vertex) of all partitions of n vertices into k clusters."""
    labels = [[0]]
    for _ in range(n - 1):
        labels = [[*one, label] for one in labels for label in range(min(max(one) + 2, k))]
    found = np.array([one for one in labels if max(one) == k - 1])
    return (found[:, None, :] == np.arange(k)[:, None]).astype(Extended)


def stationary(transition: np.ndarray) -> np.ndarray:
    """The stationary distribution by the elimination of Grassmann, Taksar and Heyman, without subtraction."""
    chain, n = transition.copy(), len(transition)
    for state in range(n - 1, 0, -1):
        chain[:state, state] /= chain[state, :state].sum()
        chain[:state, :state] += np.outer(chain[:state, state], chain[state, :state])
    phi = np.ones(n, dtype=Extended)
    for state in range(1, n):
        phi[state] = phi[:state] @ chain[:state, state]
    return phi / phi.sum()


def chain(gamma: np.ndarray, omega: np.ndarray, alpha: float) -> tuple[np.ndarray, np.ndarray]:
    """The stationary distribution and the flow between vertices; gamma is an array (edge, vertex)."""
    gamma, omega = gamma.astype(Extended), omega.astype(Extended)
    powers = np.where(gamma > 0, gamma ** Extended(alpha), 0)
    leave = (omega[:, None] * powers).T
    leave /= leave.sum(axis=1, keepdims=True)
    transition = leave @ (gamma / gamma.sum(axis=1, keepdims=True))
    phi = stationary(transition)
    return phi, phi[:, None] * transition


def all_ncuts(gamma: np.ndarray, omega: np.ndarray, alpha: float, k: int) -> np.ndarray:
    """The NCut of every partition, from the definition."""
    phi, flow = chain(gamma, omega, alpha)
    sets = partitions(len(phi), k)
    boundary = ((sets @ flow) * (1 - sets)).sum(axis=2)
    return (boundary / (sets @ phi)).sum(axis=1)


def all_informations(gamma: np.ndarray, omega: np.ndarray, alpha: float, k: int) -> np.ndarray:
    """The information of every partition: the sum of F_ij ln(F_ij / (v_i v_j)) over the flows of clusters."""
    phi, flow = chain(gamma, omega, alpha)
    sets = partitions(len(phi), k)
    volumes = sets @ phi
    between = (sets @ flow) @ sets.transpose(0, 2, 1)
    ratios = between / (volumes[:, :, None] * volumes[:, None, :])
    return (between * np.log(np.where(between > 0, ratios, 1))).sum(axis=(1, 2))


def draw(rng: np.random.Generator, decades: float) -> tuple[np.ndarray, np.ndarray]:
    """Gamma and omega of a connected hypergraph."""
    while True:
        n, n_edges = int(rng.integers(2, 10)), int(rng.integers(1, 9))
        members = rng.random((n_edges, n)) < rng.uniform(0.2, 0.9)
        span = decades * rng.random() / 2
        gamma = np.where(members, 10.0 ** rng.uniform(-span, span, members.shape), 0.0)
        if rng.random() < 0.3:
            gamma = members.astype(float)
        omega = 10.0 ** (rng.uniform(-span, span, n_edges) * rng.integers(0, 2))
        reach = np.linalg.matrix_power(members.T.astype(float) @ members, n) > 0
        if reach.all() and members.any(axis=1).all():
            return gamma, omega


def one(number: int, decades: float, effort: str, tight: bool) -> str:
    """What happens with one hypergraph."""
    rng = np.random.default_rng(number)
    gamma, omega = draw(rng, decades)
    n, alpha = gamma.shape[1], float(rng.choice([0.0, 0.5, 1.0, 2.0]))
    k = int(rng.integers(2, n + 1))
    edges = [{v: float(row[v]) for v in np.flatnonzero(row)} for row in gamma]
    h = hc.Hypergraph.from_edges(edges, edge_weights=omega)
    bound = "tight" if tight else "eigenvalues"
    try:
        part = hc.cluster(h, k, objective="ncut", alpha=alpha, effort=effort, min_share=0, bound=bound)
    except (hc.InputError, hc.ConvergenceError) as error:
        return f"refused: {str(error)[:30]}"
    except Exception as error:  # every other exception is a finding
        return f"ERROR {type(error).__name__} in {number}"
    order = [list(part.vertex_ids).index(v) for v in range(n)]
    labels = part.labels[order]
    ncuts = all_ncuts(gamma, omega, alpha, k)
    sets = partitions(n, k)
    first = {label: position for position, label in reversed(list(enumerate(labels)))}
    rank = {label: place for place, label in enumerate(sorted(first, key=first.__getitem__))}
    wanted = np.array([rank[label] for label in labels])
    found = int(np.flatnonzero((sets == (wanted == np.arange(k)[:, None])).all(axis=(1, 2)))[0])
    true, best = float(ncuts[found]), float(ncuts.min())
    if not abs(part.ncut - true) <= 1e-9 * max(true, 1e-3):
        return f"WRONG NCUT in {number}: {part.ncut:.6g}, not {true:.6g}"
    if not part.lower_bound <= best * (1 + 1e-9) + 1e-12:
        return f"FALSE BOUND in {number}: {part.lower_bound:.6g} above {best:.6g}"
    return "optimal" if true <= best * (1 + 1e-6) + 1e-12 else "not optimal"


def main() -> None:
    """Draw, compare and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=2000)
    parser.add_argument("--first", type=int, default=0, help="number of the first hypergraph")
    parser.add_argument("--ordinary", action="store_true", help="weights over 4 decades")
    parser.add_argument("--effort", default="default")
    parser.add_argument("--tight", action="store_true")
    given = parser.parse_args()
    decades = 4.0 if given.ordinary else 300.0
    work = functools.partial(one, decades=decades, effort=given.effort, tight=given.tight)
    with multiprocessing.Pool(os.cpu_count()) as pool:
        found = Counter(pool.imap_unordered(work, range(given.first, given.first + given.count), 50))
    for outcome, count in found.most_common():
        print(f"{count:>8}  {outcome}")
    solved = found["optimal"] + found["not optimal"]
    print(f"the optimum was found in {100 * found['optimal'] / max(solved, 1):.2f} % of {solved} hypergraphs")


if __name__ == "__main__":
    main()
