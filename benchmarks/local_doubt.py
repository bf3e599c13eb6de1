"""Local clusters of ordinary data, and whether their doubt is justified: a table of docs/how_to/local.md.

Papers by people in planted groups. Each paper has two to six authors of a random home group; with
probability `noise` an author is from anywhere instead. Seeds are random members of a random group, and every
draw is another hypergraph. `python benchmarks/local_doubt.py` takes a few minutes;
`python benchmarks/local_doubt.py groups nested --draws 20` runs only these families.
"""

import argparse
import logging
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

import hyperclus as hc

DRAWS, SEEDS = 100, (1, 2, 3, 5)
GOOD = 0.85  # F1 from which an answer is called right


class Family(NamedTuple):
    """How the papers are drawn."""

    sizes: tuple[int, ...] = (50,) * 12  # of the groups
    papers: float = 2.5  # per person
    noise: float = 0.15
    activity: float = 0.0  # standard deviation of the logarithm of how often a person writes
    departments: int = 0  # of neighbouring groups; an author is from the home department with probability 0.2
    authors: tuple[int, int] = (2, 6)


FAMILIES = {
    "groups": Family(),  # that of a review by a new user
    "clear": Family(noise=0.05),
    "noisy": Family(noise=0.25),
    "very noisy": Family(noise=0.4),
    "no groups": Family(noise=1.0),
    "unequal": Family(sizes=(20, 20, 20, 30, 30, 40, 50, 60, 70, 80, 90, 90)),
    "active": Family(activity=1.0),
    "few papers": Family(papers=1.0),
    "many papers": Family(papers=8.0),
    "pairs": Family(authors=(2, 2), papers=6.0),
    "large papers": Family(authors=(8, 20), papers=0.8),
    "two groups": Family(sizes=(100, 100)),
    "four groups": Family(sizes=(150,) * 4),
    "small groups": Family(sizes=(12,) * 30),
    "many groups": Family(sizes=(50,) * 80),
    "departments": Family(noise=0.05, departments=4),
}


class Draw(NamedTuple):
    """A hypergraph, and the group and the department of each vertex."""

    hypergraph: hc.Hypergraph
    groups: np.ndarray
    departments: np.ndarray


def draw(family: Family, rng: np.random.Generator) -> Draw:
    """Draw the papers of a family; people without papers are left out."""
    groups = np.repeat(np.arange(len(family.sizes)), family.sizes)
    n = len(groups)
    activity = np.exp(family.activity * rng.standard_normal(n))
    departments = groups * max(family.departments, 1) // len(family.sizes)

    def weighted(chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return chosen, np.cumsum(activity[chosen]) / activity[chosen].sum()

    anywhere = weighted(np.arange(n))
    at_home = [weighted(np.flatnonzero(groups == group)) for group in range(len(family.sizes))]
    nearby = [weighted(np.flatnonzero(departments == one)) for one in range(max(family.departments, 1))]
    papers = []
    for home in groups[rng.integers(0, n, int(family.papers * n))]:
        department = home * max(family.departments, 1) // len(family.sizes)
        names: set[int] = set()
        size = rng.integers(family.authors[0], family.authors[1] + 1)
        while len(names) < size:
            luck = rng.random()
            near = luck < family.noise + 0.2 * (family.departments > 0)
            chosen, shares = (
                anywhere if luck < family.noise else nearby[department] if near else at_home[home]
            )
            names.add(int(chosen[np.searchsorted(shares, rng.random())]))
        papers.append(sorted(names))
    h = hc.Hypergraph.from_edges(papers)
    people = np.asarray(h.vertex_ids)
    return Draw(h, groups[people], departments[people])


def f1(found: np.ndarray, inside: np.ndarray) -> float:
    """2 |S and T| / (|S| + |T|)."""
    return 2 * len(np.intersect1d(found, inside)) / (len(found) + len(inside))


def answers(family: Family, draws: int, seeds: int, random_seed: int = 0) -> Iterator[tuple[float, Any]]:
    """Yield the F1 of each answer, and the answer; in departments, both levels are right."""
    rng = np.random.default_rng(random_seed)
    for _ in range(draws):
        h, groups, departments = draw(family, rng)
        inside = np.flatnonzero(groups == groups[rng.integers(len(groups))])
        found = hc.local_cluster(h, h.vertex_ids[rng.choice(inside, min(seeds, len(inside)), replace=False)])
        score = f1(found.positions, inside)
        if family.departments:
            score = max(score, f1(found.positions, np.flatnonzero(departments == departments[inside[0]])))
        yield score, found


def row(name: str, draws: int, seeds: int, random_seed: int) -> str:
    """Return the figures of a family."""
    scores, found = zip(*answers(FAMILIES[name], draws, seeds, random_seed), strict=True)
    f1s, doubts = np.array(scores), np.array([bool(one.doubt) for one in found])
    sure = f"{f1s[~doubts].mean():.3f}" if not doubts.all() else ""
    wrong = (f1s < GOOD) & ~doubts
    size = np.median([len(one) for one in found])
    return (
        f"| {name} | {seeds} | {size:.0f} | {f1s.mean():.3f} | {100 * (f1s >= GOOD).mean():.0f} % "
        f"| {100 * doubts.mean():.0f} % | {sure} | {100 * wrong.mean():.0f} % "
        f"| {100 * ((f1s >= GOOD) & doubts).mean():.0f} % |"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("families", nargs="*", choices=[*FAMILIES, []], default=[])
    parser.add_argument("--draws", type=int, default=DRAWS)
    parser.add_argument("--seeds", type=int, nargs="*", default=list(SEEDS))
    parser.add_argument("--random-seed", type=int, default=0)
    given = parser.parse_args()
    logging.disable(logging.WARNING)
    print(
        f"| family | seeds | median size | F1 | F1 from {GOOD} | in doubt | F1 without doubt "
        "| wrong without doubt | right in doubt |"
    )
    print("| --- " + "| ---: " * 8 + "|")
    for name in given.families or FAMILIES:
        for seeds in given.seeds:
            print(row(name, given.draws, seeds, given.random_seed), flush=True)


if __name__ == "__main__":
    main()
