"""Certificates of small hypergraphs with wild weights, beside all partitions: bounds, verdicts, mutations.

`python benchmarks/certificates.py 20000 --mutations 10000` draws the hypergraphs of `enumeration.py`, proves
the bound by eigenvalues and the tight one for each, verifies both certificates, and compares with every
partition in extended precision. Then it changes certificates, one number, label or array at a time, and asks
whether each changed one is refused or still true. `--ordinary` draws weights over 4 decades only.
"""

import argparse
import functools
import multiprocessing
import os
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import hyperclus as hc
from enumeration import all_ncuts, draw, partitions
from hyperclus.verification.certificate import Certificate, Leaf, read_certificate

FIGURES = ("bound", "ncut", "gap", "alpha")
ROUNDING = 1e-15  # relative, of the enumeration in extended precision
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


def certified(h: hc.Hypergraph, k: int, alpha: float, bound: Any) -> Certificate:
    """The certificate of the clusters that a quick search finds, through a file."""
    given: dict[str, Any] = {"objective": "ncut", "effort": "fast", "min_share": 0, "chance": False}
    part = hc.cluster(h, k, alpha=alpha, bound=bound, **given)
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
    """What happens with the two certificates of one hypergraph."""
    gamma, omega, alpha, k, h = case(number, decades)
    outcomes = []
    for bound in ("eigenvalues", "tight"):
        try:
            found = certified(h, k, alpha, bound)
        except (hc.InputError, hc.ConvergenceError) as error:
            return [f"no clusters: {str(error)[:25]}"]
        verdict = hc.verify(found, h)
        what = "a bound above 0" if found.bound > 0 else "the bound 0"
        if not is_true(found, gamma, omega):
            outcomes.append(f"{bound}: FALSE CLAIM in {number}")
        elif verdict.verified:
            outcomes.append(f"{bound}: {what} verified")
        else:
            outcomes.append(f"{bound}: TRUE CLAIM REFUSED in {number}: {verdict.refusals[0][:60]}")
    return outcomes


def mutated(found: Certificate, rng: np.random.Generator) -> tuple[Certificate, str]:
    """The certificate with one thing changed, and what that is."""
    leaf = found.leaves[0] if found.leaves else None
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
        place = rng.integers(len(phi))
        phi[place] = abs(changed(float(phi[place]), rng)) or 1e-9
        return replace(found, phi=phi), chosen
    assert leaf is not None
    if chosen == "shift":
        return replace(found, leaves=(replace(leaf, shift=changed(leaf.shift, rng)),)), chosen
    return replace(found, leaves=(with_change(leaf, chosen, len(found.phi), rng),)), chosen


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
        found = certified(h, k, alpha, rng.choice(["eigenvalues", "tight"]))
    except (hc.InputError, hc.ConvergenceError):
        return ["no clusters"]
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
            numbers = range(given.first, given.first + count)
            done = pool.imap_unordered(functools.partial(work, decades=decades), numbers, 20)
            found = Counter(outcome for outcomes in done for outcome in outcomes)
            print(f"{work.__name__}: {count} drawn")
            for outcome, times in sorted(found.items()):
                print(f"{times:>8}  {outcome}")


if __name__ == "__main__":
    main()
