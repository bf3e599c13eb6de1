"""Labels that keep constraints: greedily, or by an integer program if that fails and there are few groups.

The integer program has x(g, c) = 1 if group g is in cluster c. It keeps as much volume as possible where it
was, and it proves that there are no such labels if that is so.
"""

import heapq
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from hyperclus.clustering.rules import TOLERANCE, Rules
from hyperclus.errors import Argument, InputError
from hyperclus.typing import Floats, Integers

MAX_VARIABLES = 20_000  # of an integer program
NODES = 20_000  # that it may visit
GAP = 0.05  # relative, at which it ends
INFEASIBLE = 2  # status of `milp`


def with_volumes(rules: Rules, phi: Floats, min_share: float, max_share: float | None) -> Rules:
    """The rules with volumes and their limits; an `InputError` if nothing keeps them."""
    k, masses = rules.k, np.bincount(rules.groups, weights=phi).astype(np.float64)
    if max_share is not None and max_share < (1 - TOLERANCE) / k:
        raise InputError(Argument("max_share"), f" must be at least 1/k = {1 / k:.4g}; got {max_share!r}")
    rules = replace(
        rules, masses=masses, min_volume=min_share, max_volume=np.inf if max_share is None else max_share
    )
    _refuse_simple(rules)
    order = np.argsort(-masses, kind="stable")
    start = np.empty(rules.n_groups, dtype=np.int64)
    turns = np.arange(rules.n_groups) % (2 * k)
    start[order] = np.minimum(turns, 2 * k - 1 - turns)  # nearly equal volumes
    labels, proven = _search(rules, start)
    if labels is None:
        raise InputError(_conflict(rules, proven))
    return replace(rules, example=labels)


def nearest(rules: Rules, labels: Integers) -> Integers:
    """Labels of the groups that keep the rules, most of them as given."""
    found, _ = _search(rules, labels)
    return rules.example if found is None else found


def _search(rules: Rules, labels: Integers) -> tuple[Integers | None, bool]:
    """Labels that keep the rules; or None, and whether it is proven that there are none."""
    labels = np.where(rules.pinned >= 0, rules.pinned, labels)
    if rules.kept(labels):
        return labels, True
    greedy = _coloured(rules, labels)
    if greedy is not None:
        greedy = _balanced(rules, _filled(rules, greedy))
        if rules.kept(greedy):
            return greedy, True
    if rules.n_groups * rules.k <= MAX_VARIABLES:
        return _program(rules, labels, np.arange(rules.n_groups))
    linked = np.unique(rules.apart)
    if greedy is not None or len(linked) * rules.k > MAX_VARIABLES:
        return None, False
    exact, proven = _program(rules, labels, linked)
    if exact is not None:
        exact = _balanced(rules, _filled(rules, exact))
    return (exact, True) if exact is not None and rules.kept(exact) else (None, proven and exact is None)


def _coloured(rules: Rules, labels: Integers) -> Integers | None:
    """Keep groups apart, those with the fewest possible clusters first; None if one has none left."""
    labels, partners = labels.copy(), rules.partners
    taken: dict[int, set[int]] = {group: set() for group in partners}
    queue = [(0 if rules.pinned[group] >= 0 else 1, -len(partners[group]), group) for group in partners]
    heapq.heapify(queue)
    placed: set[int] = set()
    volumes = rules.volumes(labels)
    while queue:
        *_, group = heapq.heappop(queue)
        if group in placed:
            continue
        placed.add(group)
        if labels[group] in taken[group]:
            free = [cluster for cluster in range(rules.k) if cluster not in taken[group]]
            if rules.pinned[group] >= 0 or not free:
                return None
            volumes[labels[group]] -= rules.masses[group]
            labels[group] = min(free, key=volumes.__getitem__)
            volumes[labels[group]] += rules.masses[group]
        for other in partners[group]:
            if other not in placed:
                taken[other].add(int(labels[group]))
                rank = 1 if rules.pinned[other] < 0 else 0
                heapq.heappush(queue, (rank, -rules.k * len(taken[other]) - len(partners[other]), other))
    return labels


def _filled(rules: Rules, labels: Integers) -> Integers:
    """Give each empty cluster a group that may move, of a cluster with others."""
    labels, sizes = labels.copy(), np.bincount(labels, minlength=rules.k)
    for cluster in np.flatnonzero(sizes == 0):
        movable = np.flatnonzero((rules.pinned < 0) & (sizes[labels] > 1))
        if not len(movable):
            return labels
        group = movable[np.argmax(rules.masses[movable])]
        sizes[labels[group]] -= 1
        labels[group], sizes[cluster] = cluster, 1
    return labels


def _balanced(rules: Rules, labels: Integers) -> Integers:
    """Move groups out of clusters that are too large, and into those that are too small."""
    labels, volumes = labels.copy(), rules.volumes(labels)
    if rules.room(volumes):
        return labels
    free = np.flatnonzero(~rules.still)
    for group in free[np.argsort(-rules.masses[free], kind="stable")]:
        mass, home = rules.masses[group], labels[group]
        target = int(np.argmin(volumes))
        crowded = volumes[home] > rules.max_volume or volumes[target] < rules.min_volume
        fits = volumes[home] - mass >= rules.min_volume and volumes[target] + mass <= rules.max_volume
        if target != home and crowded and fits:
            labels[group] = target
            volumes[home] -= mass
            volumes[target] += mass
            if rules.room(volumes):
                break
    return labels


def _program(rules: Rules, labels: Integers, chosen: Integers) -> tuple[Integers | None, bool]:
    """Solve the integer program for some groups; volumes count only if these are all."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    k, count = rules.k, len(chosen)
    masses, pinned = rules.masses[chosen], rules.pinned[chosen]
    place = np.full(rules.n_groups, -1)
    place[chosen] = np.arange(count)
    pairs = place[rules.apart]
    one = sp.eye_array(k, format="csr")
    once = LinearConstraint(sp.kron(sp.eye_array(count), np.ones((1, k))).tocsr(), 1, 1)
    conditions = [once]
    if len(pairs):
        rows = np.repeat(np.arange(len(pairs)), 2)
        both = sp.coo_array((np.ones(2 * len(pairs)), (rows, pairs.ravel())), shape=(len(pairs), count))
        conditions.append(LinearConstraint(sp.kron(both, one).tocsr(), -np.inf, 1))
    if count == rules.n_groups:
        conditions.append(LinearConstraint(sp.kron(np.ones((1, count)), one).tocsr(), 1, np.inf))
        if rules.limited:
            volumes = sp.kron(masses[None], one).tocsr()
            conditions.append(LinearConstraint(volumes, rules.min_volume, min(rules.max_volume, 1.0)))
    table = pinned[:, None] == np.arange(k)
    low, high = table, table | (pinned < 0)[:, None]
    costs = np.where(labels[chosen][:, None] == np.arange(k), 0.0, masses[:, None] / masses.mean())
    options: Any = {"node_limit": NODES, "mip_rel_gap": GAP}
    bounds = Bounds(low.ravel().astype(float), high.ravel().astype(float))
    found = milp(
        costs.ravel(),
        integrality=np.ones(count * k, dtype=np.int64),
        bounds=bounds,
        constraints=conditions,
        options=options,
    )
    if found.x is None:
        return None, bool(found.status == INFEASIBLE)
    after = labels.copy()
    after[chosen] = found.x.reshape(count, k).argmax(axis=1)
    return (after, True) if count < rules.n_groups or rules.kept(after) else (None, False)


def _refuse_simple(rules: Rules) -> None:
    """Refuse what a single sentence explains."""
    k, filled = rules.k, len(np.unique(rules.pinned[rules.pinned >= 0]))
    if np.count_nonzero(rules.pinned < 0) < k - filled:
        raise InputError(
            f"fixed and must_link leave {rules.n_groups} groups of vertices, which cannot fill {k} clusters; "
            "use fewer clusters or free some vertices"
        )
    heaviest = int(np.argmax(rules.masses))
    most = min(rules.max_volume, 1.0 - (k - 1) * rules.min_volume) * (1 + TOLERANCE)
    if rules.masses[heaviest] > most:
        limit = "max_share" if rules.max_volume * (1 + TOLERANCE) <= most else "min_share"
        alone = np.count_nonzero(rules.groups == heaviest) == 1
        name, share = rules.names_of([heaviest]), f"{rules.masses[heaviest]:.4g} of the volume"
        whose = f"vertex {name} has" if alone else f"the vertices that are joined with {name} have"
        raise InputError(
            f"{whose} {share}, and {limit} allows {most:.4g} for a cluster; change {limit} or the constraints"
        )
    clique = _clique(rules)
    if len(clique) > k:
        raise InputError(
            f"vertices {rules.names_of(clique)} must all be apart, which takes {len(clique)} clusters; "
            f"there are {k}, so drop some of cannot_link or use more clusters"
        )


def _clique(rules: Rules) -> list[int]:
    """A large set of groups of which any two must be apart, found greedily from each of them."""
    best: list[int] = []
    neighbors = {group: set(others) for group, others in rules.partners.items()}
    for group in sorted(neighbors, key=lambda one: -len(neighbors[one]))[:200]:
        clique, left = [group], set(neighbors[group])
        while left:
            chosen = max(left, key=lambda one: (len(neighbors[one] & left), -one))
            clique.append(chosen)
            left &= neighbors[chosen]
        best = max(best, clique, key=len)
    return best


def _conflict(rules: Rules, proven: bool) -> str:
    """Say what cannot be kept."""
    free = replace(rules, min_volume=0.0, max_volume=np.inf)
    without = None
    if rules.limited and len(rules.apart):
        without, _ = _search(free, np.zeros(rules.n_groups, dtype=np.int64))
    shares = (
        "min_share and max_share" if rules.limited and (without is not None or not len(rules.apart)) else ""
    )
    what = shares or f"the cannot-links of vertices {rules.names_of(np.unique(rules.apart).tolist())}"
    verb = "cannot be kept" if proven else "could not be kept by any partition that was found"
    others = " together with the other constraints" if shares else ""
    return f"{what} {verb} with {rules.k} clusters{others}; drop some constraints or change k"
