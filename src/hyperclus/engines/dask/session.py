"""The client of the Dask engine: runs rounds, and holds only names of vectors and small results."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from hashlib import blake2b
from itertools import count
from pathlib import Path
from secrets import token_hex
from typing import Any
from weakref import ref

import numpy as np

from hyperclus._runtime.checkpoint import vector_references
from hyperclus.engines.dask.schedule import COMBINE, Plan
from hyperclus.engines.dask.store import RunFiles, load_array, vector_path
from hyperclus.engines.dask.vectors import Columns, Reduction, Side, Vector, persist
from hyperclus.engines.dask.workers import WorkerPool


@dataclass(slots=True)
class Spent:
    """What rounds have cost so far: their number, seconds and bytes."""

    rounds: int = 0
    products: int = 0
    seconds: float = 0.0
    computing: float = 0.0
    bytes: int = 0


@dataclass(eq=False)
class DaskSession:
    """The vectors of one run, and the rounds that compute new ones."""

    files: RunFiles
    pool: WorkerPool
    path: Path = field(init=False)  # where the workers read `files`
    spent: Spent = field(default_factory=Spent)
    pins: dict[str, set[str]] = field(default_factory=dict)  # by checkpoint file, the vectors it refers to
    _users: dict[tuple[str, Side], list[ref[Vector]]] = field(default_factory=dict)  # of stored vectors
    _dropped: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        key = blake2b(repr(self.files).encode(), digest_size=8).hexdigest()
        self.path, self.n_vertices = self.files.vectors / f"run-{key}.json", self.files.ends[-1]
        self.files.write(self.path)

    def compute(self, reductions: Sequence[Reduction], vectors: Sequence[Vector] = ()) -> None:
        prefix, spent = token_hex(6), self.spent
        plan = Plan(reductions, vectors, (f"{prefix}-{number}" for number in count()))
        for stage in plan.stages:
            stage.dropped = self._dropped
        parts: dict[Side, int] = {"vertices": len(self.files.ends), "edges": len(self.files.blocks)}
        started = time.perf_counter()
        results = self.pool.round(self.path, plan.stages, parts)
        spent.seconds += time.perf_counter() - started
        spent.rounds += 1
        spent.products += any(stage.side == "edges" for stage in plan.stages)
        self._dropped = []
        for vector, name in plan.stored:
            vector.set_stored(name)
            self._register(vector)
        reports = {key: report for result in results for key, report in result.reports.items()}
        for stage in plan.stages:
            found = [reports[key] for key in sorted(reports) if key[0] == stage.level]
            spent.computing += max(report.seconds for report in found)
            spent.bytes += sum(report.bytes for report in found)
            for position, reduction in enumerate(plan.asked.get(stage.level, ())):
                partials = [report.partials[position] for report in found]
                reduction.set_total(reduce(COMBINE[reduction.how], partials))
        self.delete_unused()

    def ensure_stored(self, *vectors: Vector) -> None:
        """Store vectors that are not stored yet, in one round."""
        missing = [persist(vector) for vector in vectors if vector.kind != "stored"]
        if missing:
            self.compute([], missing)

    def stored(self, name: str, side: Side = "vertices", dtype: Any = np.float64) -> Vector:
        """A vector that is stored already."""
        vector = Vector(self, side, "stored", name, dtype=dtype)
        self._register(vector)
        return vector

    def from_rows(self, function: Callable[[int, int], Any], dtype: Any = np.float64) -> Vector:
        """A vector whose entries are a function of the first and last row."""
        return Vector(self, "vertices", "rows", function, dtype=dtype)

    def delete_unused(self) -> None:
        """Delete stored vectors that neither an expression nor a checkpoint refers to."""
        pinned = set().union(*self.pins.values())
        for (name, side), users in list(self._users.items()):
            if name not in pinned and all(user() is None for user in users):
                del self._users[name, side]
                self._dropped.append(name)
                for path in self.vector_files(name, side):
                    path.unlink(missing_ok=True)

    def store(self, values: list[Any]) -> None:
        """Store all vectors, also those of blocks, in one round."""
        self.ensure_stored(*(vector for value in values for vector in getattr(value, "vectors", [value])))

    def restore(self, reference: Any) -> Any:
        """The vector, or the block, that a checkpoint names."""
        if isinstance(reference, list):
            return Columns([self.restore(one) for one in reference], self)
        name, side = reference["name"], reference["side"]
        lengths = [len(load_array(path, "r")) for path in self.vector_files(name, side)]
        if side == "vertices" and lengths != [last - first for first, last in self.files.spans]:
            raise ValueError("a part of a stored vector is incomplete")
        return self.stored(name, side, reference["dtype"])

    def pin(self, file: str, references: list[Any]) -> None:
        """Keep the vectors of a checkpoint until it is deleted."""
        self.pins[file] = {
            one["name"] for given in references for one in (given if isinstance(given, list) else [given])
        }

    def unpin(self, file: str) -> None:
        self.pins.pop(file, None)

    def clean(self, folder: Path) -> None:
        """Delete the vectors of killed runs that no checkpoint in a folder refers to."""
        for file, references in vector_references(folder).items():
            self.pin(file, references)
        pinned = set().union(*self.pins.values())
        for path in [*self.files.vectors.glob("*.npy"), *self.files.vectors.glob(".*.part")]:
            if path.name.partition(".")[0] not in pinned:
                path.unlink(missing_ok=True)

    def vector_files(self, name: str, side: Side) -> list[Path]:
        parts, mark = (self.files.ends, "") if side == "vertices" else (self.files.blocks, "e")
        return [vector_path(self.files.vectors, name, f"{mark}{part}") for part in range(len(parts))]

    def _register(self, vector: Vector) -> None:
        self._users.setdefault((vector.payload, vector.side), []).append(ref(vector))
