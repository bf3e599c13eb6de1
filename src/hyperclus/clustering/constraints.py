"""What is known about the clusters: fixed vertices, links, the largest share, and seeds."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from hyperclus._runtime.arrays import python_scalar
from hyperclus.errors import Argument, InputError, is_number
from hyperclus.hypergraph.ids import is_missing
from hyperclus.hypergraph.messages import count, shown


@dataclass(frozen=True, slots=True, eq=False)
class Constraints:
    """What the clusters must keep, and what is known about them.

    Parameters
    ----------
    fixed : mapping from vertex to cluster, optional
        The cluster of some vertices, which they never leave. Clusters are any hashable labels, at most k
        different ones; text becomes the names of these clusters. A vertex whose cluster is missing (None or
        NaN) is free. A pandas Series with the vertices as index works, too.
    must_link : list of pairs or groups of vertices, optional
        The vertices of each are in one cluster.
    cannot_link : list of pairs or groups of vertices, optional
        Any two vertices of each are in different clusters.
    max_share : float, optional
        The largest share of the volume of each cluster.
    seeds : mapping from cluster to vertices, optional
        Typical vertices of some clusters. The search starts from them, but they may leave, unlike `fixed`.

    Examples
    --------
    >>> from hyperclus import Hypergraph, cluster
    >>> h = Hypergraph.from_edges([["a", "b", "c"], ["a", "b"], ["c", "d"], ["d", "e", "f"], ["d", "e"]])
    >>> known = Constraints(fixed={"a": "left"}, must_link=[("c", "d")])
    >>> cluster(h, 2, constraints=known).members("left").tolist()
    ['a', 'b']
    """

    fixed: Mapping[Any, Hashable] = field(default_factory=dict)
    must_link: Sequence[Sequence[Any]] = ()
    cannot_link: Sequence[Sequence[Any]] = ()
    max_share: float | None = None
    seeds: Mapping[Hashable, Iterable[Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        fixed = {
            vertex: cluster for vertex, cluster in _items("fixed", self.fixed) if not is_missing(cluster)
        }
        seeds = {cluster: _members("seeds", group, 1) for cluster, group in _items("seeds", self.seeds)}
        values = fixed, _groups("must_link", self.must_link), _groups("cannot_link", self.cannot_link), seeds
        for name, value in zip(("fixed", "must_link", "cannot_link", "seeds"), values, strict=True):
            object.__setattr__(self, name, value)
        for cluster in fixed.values():
            if not isinstance(cluster, Hashable):
                raise InputError(
                    f"{shown(cluster)} in fixed cannot be a cluster; use text, numbers or tuples"
                )
        limit = self.max_share
        if limit is not None and not (is_number(limit) and 0 < limit <= 1):
            raise InputError(Argument("max_share"), f" must be above 0 and at most 1; got {limit!r}")

    @classmethod
    def of(cls, given: "Constraints | Mapping[str, Any] | None") -> "Constraints | None":
        """The constraints that a user gave, also as a mapping from their names; None if there are none."""
        if given is None or isinstance(given, Constraints):
            return given if given else None
        names = [one.name for one in fields(cls)]
        if not isinstance(given, Mapping):
            raise InputError(
                Argument("constraints"), f" must be Constraints or a mapping; got {shown(given)}"
            )
        unknown = [name for name in given if name not in names]
        if unknown:
            raise InputError(f"there is no constraint {shown(unknown[0])}; there are {', '.join(names)}")
        return cls.of(cls(**given))

    def __bool__(self) -> bool:
        return any(getattr(self, one.name) for one in fields(self))

    @property
    def summary(self) -> str:
        """What is constrained, in a few words.

        >>> Constraints(fixed={"a": 0}, max_share=0.5).summary
        '1 fixed vertex, max_share 0.5'
        """
        seeds = sum(map(len, self.seeds.values()))  # type: ignore[arg-type]
        counts = (
            (len(self.fixed), "fixed vertex", "fixed vertices"),
            (len(self.must_link), "must-link", None),
            (len(self.cannot_link), "cannot-link", None),
            (seeds, "seed", None),
        )
        found = [count(number, one, many) for number, one, many in counts if number]
        return ", ".join([*found, *([] if self.max_share is None else [f"max_share {self.max_share:g}"])])


def _items(name: str, given: Any) -> list[tuple[Any, Any]]:
    """The items of a mapping, or of a pandas Series."""
    if not (isinstance(given, Mapping) or hasattr(given, "items")):
        raise InputError(f"{name} must be a mapping, not {shown(given)}")
    items = [(python_scalar(key), python_scalar(value)) for key, value in given.items()]
    if len({key for key, _ in items}) < len(items):
        raise InputError(f"{name} has the same key more than once; keep one of each")
    return items


def _groups(name: str, given: Any) -> tuple[tuple[Any, ...], ...]:
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise InputError(f"{name} must be a list of pairs of vertices, not {shown(given)}")
    return tuple(_members(name, group, 2) for group in given)


def _members(name: str, given: Any, least: int) -> tuple[Any, ...]:
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise InputError(f"{name} must have lists of vertices; got {shown(given)}")
    members = tuple(map(python_scalar, given))
    if len(members) < least:
        raise InputError(f"{name} must have {least} vertices or more in each; got {shown(members)}")
    return members
