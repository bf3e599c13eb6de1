"""Certificates of small hypergraphs with wild weights, beside all partitions: bounds, verdicts, mutations.

`python benchmarks/certificates.py 20000 --mutations 10000` draws the hypergraphs of `enumeration.py` until
20,000 have clusters in double precision. For each it proves the bound by eigenvalues, the tight one, and that
of a branch and bound, verifies the three certificates, and compares them and the bounds on the information
with every partition in extended precision. Then it changes 10,000 certificates, one number, label or array at
a time, and asks whether each changed one is refused or still true. `--ordinary` draws weights over 4 decades
only.
"""

import argparse
import functools
import multiprocessing
import os
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import hyperclus as hc
from enumeration import all_informations, all_ncuts, draw, partitions
from hyperclus.verification.certificate import Certificate, Leaf, read_certificate

BOUNDS = ("eigenvalues", "tight", "optimal")
FIGURES = ("bound", "ncut", "gap", "alpha")
ROUNDING = 1e-15  # relative, of the enumeration in extended precision
COMPUTED = 1e-9  # of the bounds of the partition, which take phi as computed
REFUSED = "no clusters"
Case = tuple[np.ndarray, np.ndarray, float, int, hc.Hypergraph]


def case(number: int, decades: float) -> Case:
    """Gamma, omega, alpha, k and the hypergraph of a number."""
    rng = np.random.default_rng(number)
    gamma, omega = draw(rng, decades)
    n, alpha = gamma.shape[1], float(rng.choice([0.0, 0.5, 1.0, 2.0]))
    k = int(rng.integers(2, n + 1))
    edges = [{v: float(row[v]) for v in np.flatnonzero(row)} for row in gamma]
    h = hc.Hypergraph.from_edges(edges, edge_weights=omega, vertex_ids=range(n))
    return gamma, omega, alpha, k, h


def clustered(h: hc.Hypergraph, k: int, alpha: float, bound: Any) -> hc.Partition:
    """The clusters that a quick search finds."""
    given: dict[str, Any] = {"objective": "ncut", "effort": "fast", "min_share": 0, "chance": False}
    return hc.cluster(h, k, alpha=alpha, bound=bound, **given)


def certified(part: hc.Partition) -> Certificate:
    """The certificate of clusters, through a file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "one.cert")
        part.certificate(path)
        return read_certificate(path)


def is_true(found: Certificate, gamma: np.ndarray, omega: np.ndarray) -> bool:
    """Whether the claims hold, by all partitions in extended precision."""
    n, k = gamma.shape[1], found.k
    ncuts = all_ncuts(gamma, omega, found.alpha, k)
    labels = np.empty(n, dtype=int)
    labels[found.vertex_ids] = found.labels
    first = {label: place for place, label in reversed(list(enumerate(labels)))}
    rank = {label: place for place, label in enumerate(sorted(first, key=first.__getitem__))}
    wanted = np.array([rank[label] for label in labels])
    same = (partitions(n, k) == (wanted == np.arange(k)[:, None])).all(axis=(1, 2))
    own, best = ncuts[np.flatnonzero(same)[0]], ncuts.min()
    below = found.bound <= best * (1 + ROUNDING)
    gap = 0 if own == 0 else (own - best) / best if best > 0 else np.inf
    return bool(below and own * (1 - ROUNDING) <= found.ncut and gap <= found.gap * (1 + 1e-9) + 1e-12)


def one(number: int, decades: float) -> list[str]:
    """What happens with the certificates of one hypergraph."""
    gamma, omega, alpha, k, h = case(number, decades)
    outcomes = []
    for bound in BOUNDS:
        try:
            part = clustered(h, k, alpha, bound)
        except (hc.InputError, hc.ConvergenceError) as error:
            return [f"{REFUSED}: {str(error)[:25]}"]
        found = certified(part)
        if bound == BOUNDS[0]:
            least = float(all_ncuts(gamma, omega, alpha, k).min())
            most = float(all_informations(gamma, omega, alpha, k).max())
        if part.lower_bound > least * (1 + COMPUTED) + COMPUTED / 1000:
            outcomes.append(f"{bound}: FALSE BOUND in {number}")
        false = part.information_bound < most - COMPUTED
        outcomes.append(f"{bound}: information, {f'FALSE BOUND in {number}' if false else 'bound holds'}")
        verdict = hc.verify(found, h)
        what = "a bound above 0" if found.bound > 0 else "the bound 0"
        what += f", {'one case' if len(found.leaves) < 2 else 'several cases'}," * (bound == "optimal")
        if not is_true(found, gamma, omega):
            outcomes.append(f"{bound}: FALSE CLAIM in {number}")
        elif verdict.verified:
            outcomes.append(f"{bound}: {what} verified")
        else:
            outcomes.append(f"{bound}: TRUE CLAIM REFUSED in {number}: {verdict.refusals[0][:60]}")
    return outcomes


def mutated(found: Certificate, rng: np.random.Generator) -> tuple[Certificate, str]:
    """The certificate with one thing changed, and what that is."""
    place = int(rng.integers(max(len(found.leaves), 1)))
    leaf = found.leaves[place] if found.leaves else None
    names = [name for name, array in leaf.arrays.items() if array.size] if leaf else []
    chosen = str(rng.choice([*FIGURES, "labels", "phi", *(["shift", *names] if leaf else [])]))
    if chosen in FIGURES:
        return replace(found, **{chosen: changed(getattr(found, chosen), rng)}), chosen
    if chosen == "labels":
        labels = found.labels.copy()
        labels[rng.integers(len(labels))] = rng.integers(found.k)
        return replace(found, labels=labels), chosen
    if chosen == "phi":
        phi = found.phi.copy()
        vertex = rng.integers(len(phi))
        phi[vertex] = abs(changed(float(phi[vertex]), rng)) or 1e-9
        return replace(found, phi=phi), chosen
    assert leaf is not None
    if chosen == "shift":
        other = replace(leaf, shift=changed(leaf.shift, rng))
    else:
        other = with_change(leaf, chosen, len(found.phi), rng)
    return replace(found, leaves=(*found.leaves[:place], other, *found.leaves[place + 1 :])), chosen


def with_change(leaf: Leaf, name: str, n: int, rng: np.random.Generator) -> Leaf:
    """A leaf with one entry of an array changed."""
    array = getattr(leaf, name).copy()
    place = tuple(rng.integers(size) for size in array.shape)
    array[place] = changed(float(array[place]), rng) if array.dtype.kind == "f" else rng.integers(n)
    return replace(leaf, **{name: array})


def changed(value: float, rng: np.random.Generator) -> float:
    """Another number: the last digit, some per cent, the sign, or anything."""
    ways = (
        float(np.nextafter(value, np.inf if rng.random() < 0.5 else -np.inf)),
        value * float(1 + 10.0 ** rng.uniform(-14, 0) * rng.choice([-1, 1])),
        -value,
        float(rng.normal() * 10.0 ** rng.uniform(-12, 2)),
    )
    return ways[rng.integers(len(ways))]


def one_mutation(number: int, decades: float) -> list[str]:
    """What happens with a changed certificate."""
    gamma, omega, alpha, k, h = case(number, decades)
    rng = np.random.default_rng([number, 1])
    try:
        found = certified(clustered(h, k, alpha, rng.choice(BOUNDS)))
    except (hc.InputError, hc.ConvergenceError):
        return [REFUSED]
    other, what = mutated(found, rng)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "other.cert")
        hc.verification.certificate.write_certificate(other, path)
        try:
            verdict = hc.verify(path, h)
        except hc.InputError:
            return [f"{what}: not a certificate"]
    if not verdict.verified:
        return [f"{what}: refused"]
    return [f"{what}: still true" if is_true(other, gamma, omega) else f"FALSE {what} VERIFIED in {number}"]


def accepted(work: Callable[[int], list[str]], count: int, first: int, pool: Any) -> tuple[int, Counter[str]]:
    """How many hypergraphs were drawn until enough had clusters, and what became of them."""
    found: Counter[str] = Counter()
    drawn = missing = 0
    while drawn == 0 or missing:
        numbers = range(first + drawn, first + drawn + (missing or count))
        done = list(pool.imap_unordered(work, numbers, 20))
        drawn += len(done)
        missing = sum(outcomes[0].startswith(REFUSED) for outcomes in done)
        found.update(outcome for outcomes in done for outcome in outcomes)
    return drawn, found


def main() -> None:
    """Draw, verify, change and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=200)
    parser.add_argument("--first", type=int, default=0, help="number of the first hypergraph")
    parser.add_argument("--mutations", type=int, default=200)
    parser.add_argument("--ordinary", action="store_true", help="weights over 4 decades")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    given = parser.parse_args()
    decades = 4.0 if given.ordinary else 300.0
    with multiprocessing.Pool(given.processes) as pool:
        for work, count in ((one, given.count), (one_mutation, given.mutations)):
            drawn, found = accepted(functools.partial(work, decades=decades), count, given.first, pool)
            print(f"{work.__name__}: {drawn} drawn, {count} with clusters", flush=True)
            for outcome, times in sorted(found.items()):
                print(f"{times:>8}  {outcome}", flush=True)


if __name__ == "__main__":
    main()
