"""From expressions to rounds: what every chunk and every bundle does, stage after stage.

A stage runs on all chunks of vertices, or on all bundles of hyperedges. Values go from chunks to bundles
(gathered: each bundle gets those of the vertices that it touches) and back (scattered: contributions are
added up). So a product of the walk is three stages: chunks, bundles, chunks.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from hyperclus.engines.dask.vectors import Side, Small, Vector

WIDEST = 16  # vectors in a product
PAIRS_UP_TO = 5_000_000  # incidences up to which at least two are: a round costs more than a vector


def width(wanted: int, n_incidences: int) -> int:
    """How many vectors go into a product, where so many eigenvectors are wanted."""
    return min(max(wanted, 2 if n_incidences < PAIRS_UP_TO else 1), WIDEST)


@dataclass(slots=True, eq=False)
class Stage:
    """What all chunks, or all bundles, do at one level: a list of instructions, and what becomes of them.

    Attributes
    ----------
    instructions : list of (operation, payload, references)
        A reference is ("at", number of an earlier instruction) or ("as", value).
    sends : list of numbers
        Values that go on to the other side.
    combine : list of str
        Of a stage of bundles: how the contributions to each value sent are combined.
    incoming : list of str
        The same of the values that the stage before has sent.
    stores : list of (number, name)
    smalls : list of (function, references, combine)
        Partial results for the host.
    """

    level: int
    instructions: list[tuple[str, Any, tuple[Any, ...]]] = field(default_factory=list)
    sends: list[int] = field(default_factory=list)
    combine: list[str] = field(default_factory=list)
    incoming: list[str] = field(default_factory=list)
    stores: list[tuple[int, str]] = field(default_factory=list)
    smalls: list[tuple[Any, tuple[Any, ...], str]] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)

    @property
    def side(self) -> Side:
        """Chunks at even levels, bundles at odd ones."""
        return "bundles" if self.level % 2 else "vertices"


@dataclass(slots=True, eq=False)
class Plan:
    """The stages of one round, and which vectors they store under which names."""

    stages: list[Stage]
    stored: list[tuple[Vector, str]]
    asked: dict[int, list[Small]]  # by level, in the order of the stage's smalls


def plan(smalls: Sequence[Small], keeps: Sequence[Vector], names: Iterable[str]) -> Plan:
    """The stages that compute some small results and store some vectors."""
    return _Planner(iter(names)).planned(smalls, keeps)


class _Planner:
    """Emits instructions, from the last stage back to the first."""

    def __init__(self, names: Any) -> None:
        self.names = names
        self.stages: dict[int, Stage] = {}
        self.levels: dict[int, int] = {}
        self.alive: list[Vector] = []  # ids are those of living objects
        self.done: dict[tuple[int, int], int] = {}  # (level, id of a vector) -> instruction
        self.sent: dict[tuple[int, int, str | None], int] = {}
        self.stored: dict[int, tuple[Vector, str, int]] = {}
        self.present: set[int] = set()

    def planned(self, smalls: Sequence[Small], keeps: Sequence[Vector]) -> Plan:
        """See `plan`."""
        asked: dict[int, list[Small]] = {}
        for small in smalls:
            asked.setdefault(self._level_of(small.side, small.args), []).append(small)
        last: dict[int, list[Vector]] = {}
        for vector in keeps:
            last.setdefault(self._level(vector), []).append(vector)
        self.present |= set(asked) | set(last)
        for level in range(max(self.present), -1, -1):
            for vector in last.get(level, ()):
                self._number(vector, level)
            for small in asked.get(level, ()):
                references = tuple(self._reference(value, level) for value in small.args)
                self._stage(level).smalls.append((small.function, references, small.combine))
            self._store(level)
        stages = [self.stages[level] for level in sorted(self.stages)]
        for before, stage in pairwise(stages):
            stage.incoming = before.combine
        return Plan(stages, [(vector, name) for vector, name, _ in self.stored.values()], asked)

    def _store(self, level: int) -> None:
        """Have the stage store what is to be stored there; that may bring more to store."""
        stored: set[str] = set()
        while True:
            found = [one for one in self.stored.values() if one[2] == level and one[1] not in stored]
            if not found:
                return
            for vector, name, _ in found:
                self._stage(level).stores.append((self._number(vector, level), name))
                stored.add(name)

    def _stage(self, level: int) -> Stage:
        return self.stages.setdefault(level, Stage(level))

    def _level_of(self, side: Side, args: tuple[Any, ...]) -> int:
        return max([self._level(value) for value in args if isinstance(value, Vector)] + [side == "bundles"])

    def _level(self, vector: Vector) -> int:
        """How often values have changed sides until this one is known."""
        if id(vector) in self.levels:
            return self.levels[id(vector)]
        self.alive.append(vector)
        if vector.kind in ("gather", "scatter"):
            level = self._level(vector.args[0]) + 1
            self.present.add(level - 1)
        elif vector.kind == "static":
            level = 1
        else:
            level = self._level_of(vector.side, vector.args)
        self.present.add(level) if vector.kept else None
        self.levels[id(vector)] = level
        return level

    def _reference(self, value: Any, level: int) -> tuple[str, Any]:
        return ("at", self._number(value, level)) if isinstance(value, Vector) else ("as", value)

    def _number(self, vector: Vector, level: int) -> int:
        """The instruction that gives a vector at a level, which is its own or a later one."""
        key = (level, id(vector))
        if key not in self.done:
            self.done[key] = self._emitted(vector, level)
        return self.done[key]

    def _emitted(self, vector: Vector, level: int) -> int:
        own = self._level(vector)
        if vector.kind == "stored":
            return self._add(level, "load", vector.payload)
        if vector.kept or (vector.kind in ("scatter", "local") and own < level):
            if id(vector) not in self.stored:
                self.stored[id(vector)] = vector, next(self.names), own
                self._stage(own)
            if own < level:
                return self._add(level, "load", self.stored[id(vector)][1])
        if vector.kind in ("gather", "scatter"):
            return self._add(level, "received", self._sent(vector, level - 1))
        if vector.kind == "static":
            return self._add(level, "static", vector.args[0].payload)
        references = tuple(self._reference(value, level) for value in vector.args)
        return self._add(level, vector.kind, vector.payload, references)

    def _sent(self, vector: Vector, level: int) -> int:
        """The place of a value among those that the stage before sends."""
        source = vector.args[0]
        key = (level, id(source), vector.payload)
        if key not in self.sent:
            stage = self._stage(level)
            stage.sends.append(self._number(source, level))
            stage.combine.append(vector.payload or "")
            self.sent[key] = len(stage.sends) - 1
        return self.sent[key]

    def _add(self, level: int, operation: str, payload: Any, references: tuple[Any, ...] = ()) -> int:
        stage = self._stage(level)
        stage.instructions.append((operation, payload, references))
        return len(stage.instructions) - 1
