"""Whether the leaves of a proof cover every partition, and whether their multipliers may be what they are."""

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from hyperclus.typing import Integers
from hyperclus.verification.certificate import Leaf

NOT_NEGATIVE = ("pair_values", "triple_values", "type_values", "type_triple_values")


def covers_everything(paths: Sequence[Integers]) -> bool:
    """Whether each partition agrees with the assumptions of some leaf.

    That is so if there is a leaf without assumptions; or if all begin with the same pair, and both the leaves
    that take it as together and those that take it as apart cover everything after that row is removed.
    """
    waiting = [[path.tolist() for path in paths]]
    while waiting:
        some = waiting.pop()
        if any(not path for path in some):
            continue
        if not some or len({frozenset(path[0][:2]) for path in some}) != 1:
            return False
        waiting += [[path[1:] for path in some if path[0][2] == side] for side in (0, 1)]
    return True


def groups_of(path: Integers, n: int) -> Integers:
    """The components of the pairs taken as together, numbered by their first vertex."""
    joined = path[path[:, 2] == 1]
    places = (joined[:, 0], joined[:, 1])
    return connected_components(sp.coo_array((np.ones(len(joined)), places), shape=(n, n)))[1].astype(
        np.int64
    )


def wrong_multiplier(leaf: Leaf, n: int) -> str | None:
    """What is not allowed in a leaf, as a phrase; None if all is."""
    for name in NOT_NEGATIVE:
        if getattr(leaf, name).size and getattr(leaf, name).min() < 0:
            return f"a multiplier of an inequality is negative ({name})"
    found = groups_of(leaf.path, n)
    groups = leaf.groups if len(leaf.groups) else np.arange(n)
    if len(np.unique(np.column_stack([groups, found]), axis=0)) != len(np.unique(found)) or len(
        np.unique(groups)
    ) != len(np.unique(found)):
        return "the groups are not those of the pairs taken as together"
    split = leaf.path[leaf.path[:, 2] == 0]
    allowed = {frozenset(pair) for pair in groups[split[:, :2]].tolist()}
    if not all(frozenset(pair) in allowed for pair in leaf.apart.tolist()):
        return "a pair without an assumption has a multiplier of an equation (apart)"
    return None
