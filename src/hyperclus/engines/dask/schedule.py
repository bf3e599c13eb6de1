"""Rounds: from expressions to stages, and one stage on one chunk of vertices or one block of hyperedges.

A stage runs on all chunks of vertices, or on all blocks of hyperedges. Values go from chunks to blocks
(gathered: each block gets those of the vertices that it touches) and back (scattered: contributions are
added up). So a product of the walk is three stages: chunks, blocks, chunks. A round runs several stages, and
partial results of its reductions are fetched at its end.
"""

import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from hyperclus._runtime.threads import single_blas_thread
from hyperclus.engines.dask.blocks import EdgeBlock, open_block
from hyperclus.engines.dask.store import (
    VECTORS,
    Array,
    ArrayCache,
    RunFiles,
    StoredPart,
    file_fault,
    open_part,
    read_array,
    read_run_files,
    store,
    vector_path,
)
from hyperclus.engines.dask.vectors import Reduction, Side, Vector
from hyperclus.typing import Floats

MAX_WIDTH = 16  # vectors in a product
PAIRS_UP_TO = 5_000_000  # incidences up to which a product has at least two: a round costs more than a vector
ROWS = 1 << 13  # rows of a chunk that are computed together
BLOCK_SHARE = 0.25  # of a worker's memory: a block that needs more stays in files
BLOCKS = ArrayCache()


def width(wanted: int, n_incidences: int) -> int:
    """How many vectors a product has when this many eigenvectors are wanted."""
    return min(max(wanted, 2 if n_incidences < PAIRS_UP_TO else 1), MAX_WIDTH)


@dataclass(slots=True, eq=False)
class Stage:
    """Instructions for all chunks, or all blocks, and what happens with the results.

    Attributes
    ----------
    instructions : list of (operation, payload, references)
        A reference is ("at", number of an earlier instruction) or ("as", value).
    sends : list of numbers
        Values sent to the other side.
    combine : list of str
        In a stage of blocks: how the contributions to each value sent are combined.
    incoming : list of str
        The same for the values that the stage before sent.
    stores : list of (number, name)
        Values to be stored.
    reductions : list of (function, references, combine)
        Partial results for the host.
    dropped : list of str
        Names of vectors that are no longer needed.
    """

    level: int
    instructions: list[tuple[str, Any, tuple[Any, ...]]] = field(default_factory=list)
    sends: list[int] = field(default_factory=list)
    combine: list[str] = field(default_factory=list)
    incoming: list[str] = field(default_factory=list)
    stores: list[tuple[int, str]] = field(default_factory=list)
    reductions: list[tuple[Any, tuple[Any, ...], str]] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)

    @property
    def side(self) -> Side:
        """Chunks of vertices at even levels, blocks of hyperedges at odd ones."""
        return "edges" if self.level % 2 else "vertices"


@dataclass(slots=True, eq=False)
class Round:
    """The stages of one round, and which vectors they store under which names."""

    stages: list[Stage]
    stored: list[tuple[Vector, str]]
    asked: dict[int, list[Reduction]]  # by level, in the order of the stage's reductions


def plan(reductions: Sequence[Reduction], vectors: Sequence[Vector], names: Iterable[str]) -> Round:
    """Plan the stages that compute some reductions and store some vectors."""
    return _Planner(iter(names)).plan(reductions, vectors)


class _Planner:
    """Emits instructions, from the last stage back to the first."""

    def __init__(self, names: Iterator[str]) -> None:
        self.names = names
        self.stages: dict[int, Stage] = {}
        self.levels: dict[int, int] = {}
        self.alive: list[Vector] = []  # ids are those of living objects
        self.done: dict[tuple[int, int], int] = {}  # (level, id of a vector) -> instruction
        self.sent: dict[tuple[int, int, str | None], int] = {}
        self.stored: dict[int, tuple[Vector, str, int]] = {}
        self.present: set[int] = set()

    def plan(self, reductions: Sequence[Reduction], vectors: Sequence[Vector]) -> Round:
        """See the function `plan`."""
        asked: dict[int, list[Reduction]] = {}
        for reduction in reductions:
            asked.setdefault(self._level_of(reduction.side, reduction.args), []).append(reduction)
        last: dict[int, list[Vector]] = {}
        for vector in vectors:
            last.setdefault(self._level(vector), []).append(vector)
        self.present |= set(asked) | set(last)
        for level in range(max(self.present), -1, -1):
            for vector in last.get(level, ()):
                self._number(vector, level)
            for reduction in asked.get(level, ()):
                references = tuple(self._reference(value, level) for value in reduction.args)
                self._stage(level).reductions.append((reduction.function, references, reduction.combine))
            self._store(level)
        stages = [self.stages[level] for level in sorted(self.stages)]
        for before, stage in pairwise(stages):
            stage.incoming = before.combine
        return Round(stages, [(vector, name) for vector, name, _ in self.stored.values()], asked)

    def _store(self, level: int) -> None:
        """Add what is to be stored at a level; that may add more to store."""
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
        return max([self._level(value) for value in args if isinstance(value, Vector)] + [side == "edges"])

    def _level(self, vector: Vector) -> int:
        """How often values have changed sides until this vector is known."""
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
        if vector.persisted:
            self.present.add(level)
        self.levels[id(vector)] = level
        return level

    def _reference(self, value: Any, level: int) -> tuple[str, Any]:
        return ("at", self._number(value, level)) if isinstance(value, Vector) else ("as", value)

    def _number(self, vector: Vector, level: int) -> int:
        """The instruction that gives a vector at a level, which is its own or a later one."""
        key = (level, id(vector))
        if key not in self.done:
            self.done[key] = self._emit(vector, level)
        return self.done[key]

    def _emit(self, vector: Vector, level: int) -> int:
        own = self._level(vector)
        if vector.kind == "stored":
            return self._add(level, "load", vector.payload)
        if vector.persisted or (vector.kind in ("scatter", "local") and own < level):
            if id(vector) not in self.stored:
                self.stored[id(vector)] = vector, next(self.names), own
                self._stage(own)
            if own < level:
                return self._add(level, "load", self.stored[id(vector)][1])
        if vector.kind in ("gather", "scatter"):
            return self._add(level, "received", self._send(vector, level - 1))
        if vector.kind == "static":
            return self._add(level, "static", vector.args[0].payload)
        references = tuple(self._reference(value, level) for value in vector.args)
        return self._add(level, vector.kind, vector.payload, references)

    def _send(self, vector: Vector, level: int) -> int:
        """The position of a value among those that the stage before sends."""
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


@dataclass(slots=True)
class StageResult:
    """What a stage passes to the next one.

    Attributes
    ----------
    sends : list of arrays, or a dict of such lists by number
        An array for each value sent; one list for each block (or chunk), or one for all of them.
    partials : dict
        By (level, part), the partial results of this stage and of those before it.
    costs : dict
        By (level, part), the seconds spent and the bytes sent.
    """

    sends: Any = None
    partials: dict[tuple[int, int], list[Any]] = field(default_factory=dict)
    costs: dict[tuple[int, int], tuple[float, int]] = field(default_factory=dict)

    def __sizeof__(self) -> int:
        lists = list(self.sends.values()) if isinstance(self.sends, dict) else [self.sends or []]
        return sum(row.nbytes for rows in lists for row in rows)  # for Dask

    def bytes(self, receivers: int) -> int:
        """What all receivers get together."""
        return sys.getsizeof(self) * (1 if isinstance(self.sends, dict) else receivers)

    def rows(self, number: int) -> list[Array]:
        """What is sent to one block, or chunk."""
        rows: list[Array] = self.sends[number] if isinstance(self.sends, dict) else self.sends
        return rows


def result_for(result: StageResult, number: int) -> StageResult:
    """What one block, or chunk, needs of a result."""
    return StageResult({number: result.rows(number)}, result.partials, result.costs)


def run_stage(path: Path, stage: Stage, part: int, received: Sequence[StageResult]) -> StageResult:
    """Run a stage on one part: a chunk of vertices, or a block of hyperedges."""
    started = time.perf_counter()
    files = read_run_files(path)
    if stage.dropped:
        VECTORS.drop(set(stage.dropped))
    try:
        result = (_run_on_block if stage.side == "edges" else _run_on_chunk)(files, stage, part, received)
    except OSError as error:
        raise file_fault(error) from None
    for before in received:
        result.partials.update(before.partials)
        result.costs.update(before.costs)
    result.costs[stage.level, part] = time.perf_counter() - started, result.bytes(len(files.blocks))
    return result


@single_blas_thread
def _run_on_chunk(files: RunFiles, stage: Stage, chunk: int, received: Sequence[StageResult]) -> StageResult:
    totals = _totals(files, stage, chunk, received)
    with ExitStack() as to_close:
        stored = {}
        for operation, payload, _ in stage.instructions:
            if operation == "load":
                stored[payload] = open_part(files, payload, str(chunk))
                to_close.callback(stored[payload].close)
        return _run_by_rows(files, stage, chunk, stored, totals)


def _run_by_rows(
    files: RunFiles, stage: Stage, chunk: int, stored: dict[str, StoredPart], totals: list[Array]
) -> StageResult:
    """Run a stage on a chunk, some rows at a time."""
    start, end = files.span(chunk)
    count = end - start
    outputs = [*stage.sends, *(number for number, _ in stage.stores)]
    arrays: list[Any] = [None] * len(outputs)
    partials: list[Any] = [None] * len(stage.reductions)
    for first in range(0, count, ROWS):
        rows = slice(first, min(first + ROWS, count))
        values = _values(stage, rows, start, stored, totals)
        for position, number in enumerate(outputs):
            if first == 0:
                arrays[position] = np.empty(count, dtype=np.asarray(values[number]).dtype)
            arrays[position][rows] = values[number]
        for position, (function, references, how) in enumerate(stage.reductions):
            found = function(*_resolve(references, values))
            partials[position] = found if first == 0 else combine(how, partials[position], found)
    sends = arrays[: len(stage.sends)]
    for (_, name), array in zip(stage.stores, arrays[len(sends) :], strict=True):
        store(files, name, str(chunk), array)
    sent = _for_blocks(files, chunk, sends) if sends else None
    return StageResult(sent, {(stage.level, chunk): partials} if partials else {})


def _values(
    stage: Stage, rows: slice, start: int, stored: dict[str, StoredPart], totals: list[Array]
) -> list[Any]:
    """The value of each instruction for some rows of a chunk that starts with this vertex."""
    values: list[Any] = []
    for operation, payload, references in stage.instructions:
        if operation == "load":
            values.append(stored[payload].rows(rows.start, rows.stop))
        elif operation == "received":
            values.append(totals[payload][rows])
        elif operation == "rows":
            values.append(payload(start + rows.start, start + rows.stop))
        else:
            values.append(payload(*_resolve(references, values)))
    return values


def _totals(files: RunFiles, stage: Stage, chunk: int, received: Sequence[StageResult]) -> list[Array]:
    """The contributions of all blocks to the vertices of a chunk."""
    start, end = files.span(chunk)
    totals = [
        np.zeros(end - start) if how == "sum" else np.full(end - start, -np.inf) for how in stage.incoming
    ]
    for block, result in enumerate(received):
        touched = files.touched(block, chunk)
        rows: Any = slice(None) if touched is None else touched
        for total, how, contribution in zip(totals, stage.incoming, result.rows(chunk), strict=True):
            if how == "sum":
                total[rows] += contribution
            else:
                total[rows] = np.maximum(total[rows], contribution)
    return totals


def _for_blocks(files: RunFiles, chunk: int, sends: list[Array]) -> Any:
    """The values of the vertices that each block touches; one list if all blocks touch all vertices."""
    touched = [files.touched(block, chunk) for block in range(len(files.blocks))]
    if all(rows is None for rows in touched):
        return sends
    return {
        block: sends if rows is None else [values[rows] for values in sends]
        for block, rows in enumerate(touched)
    }


@single_blas_thread
def _run_on_block(files: RunFiles, stage: Stage, number: int, received: Sequence[StageResult]) -> StageResult:
    """Run a stage on all hyperedges of a block; values are released when they are no longer needed."""
    block = edge_block(files, number)
    last = _last_uses(stage)
    values: list[Any] = []
    for position, (operation, payload, references) in enumerate(stage.instructions):
        if operation == "load":
            with closing(open_part(files, payload, f"e{number}")) as part:
                values.append(part.rows(0, block.n_edges))
        elif operation == "received":
            values.append(np.concatenate([result.rows(number)[payload] for result in received]))
        elif operation == "static":
            values.append(_static(files, block, number, payload))
        elif operation == "local":
            values.append(block.method(payload)(*_resolve(references, values)))
        else:
            values.append(payload(*_resolve(references, values)))
        for done in last.get(position, ()):
            values[done] = None
    for place, name in stage.stores:
        store(files, name, f"e{number}", np.asarray(values[place]))
    partials = []
    for function, references, _ in stage.reductions:
        called = block.method(function) if isinstance(function, str) else function
        partials.append(called(*_resolve(references, values)))
    sends = None
    if images := [values[place] for place in stage.sends]:
        spans = enumerate(pairwise(files.offsets[number]))
        sends = {chunk: [image[first:last] for image in images] for chunk, (first, last) in spans}
    return StageResult(sends, {(stage.level, number): partials} if partials else {})


def edge_block(files: RunFiles, number: int) -> EdgeBlock:
    """A block, in memory where there is room for it."""
    key = ("block", str(files.blocks[number]), files.alpha)
    block: EdgeBlock | None = BLOCKS.get(key)
    if block is None:
        limit = files.memory * BLOCK_SHARE
        block = open_block(files.blocks[number], files.alpha, limit)
        BLOCKS.put(key, block, block.bytes, 2 * limit)  # room for the block of a worker that died
    return block


def _static(files: RunFiles, block: EdgeBlock, number: int, name: str) -> Floats:
    """The values of a stored vector at the vertices of a block, which keeps them."""
    key = (name, f"static {number}")
    values: Floats | None = VECTORS.get(key)
    if values is None:
        values = np.empty(block.n_vertices)
        for chunk, (first, last) in enumerate(pairwise(files.offsets[number])):
            whole = read_array(vector_path(files.vectors, name, str(chunk)))
            rows = files.touched(number, chunk)
            values[first:last] = whole if rows is None else whole[rows]
        VECTORS.put(key, values, values.nbytes, files.vector_memory)
    return values


def _last_uses(stage: Stage) -> dict[int, list[int]]:
    """By instruction, the values that no later one needs."""
    needed = {place for place, _ in stage.stores} | set(stage.sends)
    needed |= {value for _, references, _ in stage.reductions for how, value in references if how == "at"}
    last: dict[int, int] = {}
    for position, (_, _, references) in enumerate(stage.instructions):
        last.update({value: position for how, value in references if how == "at"})
    ends: dict[int, list[int]] = {}
    for value, position in last.items():
        if value not in needed:
            ends.setdefault(position, []).append(value)
    return ends


def _resolve(references: tuple[Any, ...], values: list[Any]) -> list[Any]:
    return [values[value] if how == "at" else value for how, value in references]


def combine(how: str, first: Any, second: Any) -> Any:
    """Combine two partial results."""
    if how == "sum":
        return first + second
    if how == "join":
        return np.concatenate([first, second])
    return np.maximum(first, second) if how == "max" else np.minimum(first, second)
