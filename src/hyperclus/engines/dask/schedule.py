"""Rounds: from expressions to stages, and one stage on one chunk of vertices or one block of hyperedges.

A stage runs on all chunks of vertices, or on all blocks of hyperedges. Values go from chunks to blocks
(gathered: each block gets those of the vertices that it touches) and back (scattered: contributions are
added up). So a product of the walk is three stages: chunks, blocks, chunks. A round runs several stages, and
partial results of its reductions are fetched at its end.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hyperclus._runtime.threads import single_blas_thread
from hyperclus.engines.dask import store
from hyperclus.engines.dask.blocks import EdgeBlock, open_block
from hyperclus.engines.dask.store import Array, RunFiles, read_part, rows_of, write_part
from hyperclus.engines.dask.vectors import Reduction, Side, Vector

MAX_WIDTH = 16  # vectors in a product
PAIRS_UP_TO = 5_000_000  # incidences up to which a product has at least two: a round costs more than a vector
ROWS = 1 << 13  # rows of a chunk that are computed together
BLOCK_SHARE = 0.25  # of a worker's memory: a block that needs more stays in files
BLOCKS = store.ArrayCache()
COMBINE: dict[str, Callable[[Any, Any], Any]] = {
    "sum": np.add,
    "max": np.maximum,
    "min": np.minimum,
    "join": lambda first, second: np.concatenate([first, second]),
}


def width(wanted: int, n_incidences: int) -> int:
    """How many vectors a product has when this many eigenvectors are wanted."""
    return min(max(wanted, 2 if n_incidences < PAIRS_UP_TO else 1), MAX_WIDTH)


class At(NamedTuple):
    """The value of an earlier instruction of a stage."""

    number: int


@dataclass(slots=True, eq=False)
class Stage:
    """Instructions for all chunks, or all blocks, and what happens with the results.

    Instructions are (kind, payload, args): kinds are those of `Vector`, and "received"; arguments are values,
    or `At` an earlier instruction. Values may be sent to the other side, with how the contributions of blocks
    are combined (`incoming`: how those that the stage before sent are combined), be stored under a name, or
    be reduced to partial results for the host: (function, args, how). `dropped` are the names of vectors that
    are no longer needed.
    """

    level: int
    instructions: list[tuple[str, Any, tuple[Any, ...]]] = field(default_factory=list)
    sends: list[tuple[At, str]] = field(default_factory=list)
    incoming: list[str] = field(default_factory=list)
    stores: list[tuple[At, str]] = field(default_factory=list)
    reductions: list[tuple[Any, tuple[Any, ...], str]] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)

    @property
    def side(self) -> Side:
        """Chunks of vertices at even levels, blocks of hyperedges at odd ones."""
        return "edges" if self.level % 2 else "vertices"

    def last_uses(self) -> dict[int, list[int]]:
        """By instruction, the values that neither a later one nor a result needs."""
        last: dict[int, int] = {}
        for position, (_, _, args) in enumerate(self.instructions):
            last.update({arg.number: position for arg in args if isinstance(arg, At)})
        results = [*self.sends, *self.stores, *(args for _, args, _ in self.reductions)]
        for arg in (arg for args in results for arg in args if isinstance(arg, At)):
            last.pop(arg.number, None)
        ends = defaultdict(list)
        for number, position in last.items():
            ends[position].append(number)
        return ends


class Plan:
    """The `stages` that compute some reductions and store some vectors, planned from the last to the first.

    `stored` are vectors with names, and `asked` by level the reductions in the order of those of the stage.
    """

    def __init__(
        self, reductions: Sequence[Reduction], vectors: Sequence[Vector], names: Iterator[str]
    ) -> None:
        self._names, self._levels = names, dict[int, int]()
        self._stages: dict[int, Stage] = {}
        self._done: dict[tuple[int, int], At] = {}  # by level and id of a vector
        self._sent: dict[tuple[int, int, str | None], int] = {}
        self._kept: dict[int, str] = {}  # names, by id of a vector
        self._to_store: dict[int, list[tuple[Vector, str]]] = defaultdict(list)  # by level
        self.asked: dict[int, list[Reduction]] = defaultdict(list)
        for reduction in reductions:
            self.asked[self._highest(reduction.side, reduction.args)].append(reduction)
        for vector in vectors:
            self._keep(vector)
        for level in range(max([*self.asked, *self._to_store]), -1, -1):
            for reduction in self.asked.get(level, ()):
                args = self._arguments(reduction.args, level)
                self._stage(level).reductions.append((reduction.function, args, reduction.how))
            for vector, name in self._to_store[level]:  # may grow
                self._stage(level).stores.append((self._at(vector, level), name))
        self.stages = [self._stages[level] for level in sorted(self._stages)]
        for before, stage in pairwise(self.stages):
            stage.incoming = [how for _, how in before.sends]
        self.stored = [pair for pairs in self._to_store.values() for pair in pairs]

    def _stage(self, level: int) -> Stage:
        return self._stages.setdefault(level, Stage(level))

    def _highest(self, side: Side, args: tuple[Any, ...]) -> int:
        return max(
            [self._level(value) for value in args if isinstance(value, Vector)] + [int(side == "edges")]
        )

    def _level(self, vector: Vector) -> int:
        """How often values have changed sides until this vector is known."""
        if id(vector) not in self._levels:
            if vector.kind in ("gather", "scatter"):
                level = self._level(vector.args[0]) + 1
            else:
                args = () if vector.kind == "static" else vector.args
                level = self._highest(vector.side, args)
            self._levels[id(vector)] = level
        return self._levels[id(vector)]

    def _keep(self, vector: Vector) -> str:
        """The name under which its own stage stores a vector."""
        if id(vector) not in self._kept:
            self._kept[id(vector)] = next(self._names)
            self._to_store[self._level(vector)].append((vector, self._kept[id(vector)]))
        return self._kept[id(vector)]

    def _arguments(self, args: tuple[Any, ...], level: int) -> tuple[Any, ...]:
        return tuple(self._at(value, level) if isinstance(value, Vector) else value for value in args)

    def _at(self, vector: Vector, level: int) -> At:
        """The instruction that gives a vector at a level, which is its own or a later one."""
        key = (level, id(vector))
        if key not in self._done:
            instruction = self._instruction(vector, level)
            self._done[key] = At(len(self._stage(level).instructions))
            self._stage(level).instructions.append(instruction)
        return self._done[key]

    def _instruction(self, vector: Vector, level: int) -> tuple[str, Any, tuple[Any, ...]]:
        kind, own = vector.kind, self._level(vector)
        if kind == "stored":
            return kind, vector.payload, ()
        if vector.persisted or (kind in ("scatter", "local") and own < level):
            name = self._keep(vector)
            if own < level:
                return "stored", name, ()
        if kind in ("gather", "scatter"):
            return "received", self._send(vector, level - 1), ()
        if kind == "static":
            return kind, vector.args[0].payload, ()
        return kind, vector.payload, self._arguments(vector.args, level)

    def _send(self, vector: Vector, level: int) -> int:
        """The position of a value among those that the stage before sends."""
        source = vector.args[0]
        key = (level, id(source), vector.payload)
        if key not in self._sent:
            place = self._at(source, level)
            self._sent[key] = len(self._stage(level).sends)
            self._stage(level).sends.append((place, vector.payload or ""))
        return self._sent[key]


class Report(NamedTuple):
    """What one part of a stage tells the client: partial results, seconds spent and bytes sent."""

    partials: list[Any]
    seconds: float
    bytes: int


@dataclass(slots=True)
class StageResult:
    """What a stage passes to the next one: arrays by block (or chunk) that gets them, and all reports so far.

    Reports are by (level, part). A list of arrays may be the same for several receivers.
    """

    sends: dict[int, list[Array]]
    reports: dict[tuple[int, int], Report]

    def __sizeof__(self) -> int:
        return sum({id(row): row.nbytes for rows in self.sends.values() for row in rows}.values())  # for Dask


def result_for(result: StageResult, number: int) -> StageResult:
    """What one block, or chunk, needs of a result."""
    return StageResult({number: result.sends[number]} if result.sends else {}, result.reports)


@single_blas_thread
def run_stage(path: Path, stage: Stage, part: int, received: Sequence[StageResult]) -> StageResult:
    """Run a stage on one part: a chunk of vertices, or a block of hyperedges."""
    started = time.perf_counter()
    files = store.read_run_files(path)
    store.VECTORS.drop(set(stage.dropped))
    try:
        run = _run_on_block if stage.side == "edges" else _run_on_chunk
        sends, partials = run(files, stage, part, received)
    except OSError as error:
        raise store.file_fault(error) from None
    reports = {key: report for before in received for key, report in before.reports.items()}
    sent = sum(row.nbytes for rows in sends.values() for row in rows)
    reports[stage.level, part] = Report(partials, time.perf_counter() - started, sent)
    return StageResult(sends, reports)


Results = tuple[dict[int, list[Array]], list[Any]]


def _run_on_chunk(files: RunFiles, stage: Stage, chunk: int, received: Sequence[StageResult]) -> Results:
    """Run a stage on a chunk, some rows at a time."""
    start, end = files.spans[chunk]
    names = [payload for kind, payload, _ in stage.instructions if kind == "stored"]
    stored = {name: read_part(files, name, str(chunk)) for name in names}
    totals, ends = _totals(files, stage, chunk, received), stage.last_uses()
    outputs = [place for place, _ in (*stage.sends, *stage.stores)]
    arrays: list[Any] = [None] * len(outputs)
    partials: list[Any] = [None] * len(stage.reductions)
    for first in range(0, end - start, ROWS):
        last = min(first + ROWS, end - start)
        sources: dict[str, Any] = {
            "stored": lambda name: rows_of(stored[name], first, last),  # noqa: B023
            "received": lambda number: totals[number][first:last],  # noqa: B023
            "rows": lambda function: function(start + first, start + last),  # noqa: B023
        }
        values = _evaluate(stage, ends, sources)
        for position, place in enumerate(outputs):
            found = np.asarray(values[place.number])
            if first == 0:
                arrays[position] = np.empty(end - start, dtype=found.dtype)
            arrays[position][first:last] = found
        for position, (function, args, how) in enumerate(stage.reductions):
            found = function(*_resolve(args, values))
            partials[position] = found if first == 0 else COMBINE[how](partials[position], found)
    for (_, name), array in zip(stage.stores, arrays[len(stage.sends) :], strict=True):
        write_part(files, name, str(chunk), array)
    sends = arrays[: len(stage.sends)]
    touched = enumerate(files.touched(block, chunk) for block in range(len(files.blocks) if sends else 0))
    return {n: sends if rows is None else [values[rows] for values in sends] for n, rows in touched}, partials


def _totals(files: RunFiles, stage: Stage, chunk: int, received: Sequence[StageResult]) -> list[Array]:
    """The contributions of all blocks to the vertices of a chunk."""
    start, end = files.spans[chunk]
    totals = [np.full(end - start, 0.0 if how == "sum" else -np.inf) for how in stage.incoming]
    for block, result in enumerate(received if totals else ()):
        touched = files.touched(block, chunk)
        rows: Any = slice(None) if touched is None else touched
        for total, how, contribution in zip(totals, stage.incoming, result.sends[chunk], strict=True):
            total[rows] = COMBINE[how](total[rows], contribution)
    return totals


def _run_on_block(files: RunFiles, stage: Stage, number: int, received: Sequence[StageResult]) -> Results:
    """Run a stage on all hyperedges of a block."""
    block = edge_block(files, number)
    sources = {
        "stored": lambda name: rows_of(read_part(files, name, f"e{number}"), 0, block.n_edges),
        "received": lambda place: np.concatenate([result.sends[number][place] for result in received]),
        "static": lambda name: files.static(number, name),
    }
    values = _evaluate(stage, stage.last_uses(), sources, block)
    for place, name in stage.stores:
        write_part(files, name, f"e{number}", np.asarray(values[place.number]))
    partials = [
        (block.method(function) if isinstance(function, str) else function)(*_resolve(args, values))
        for function, args, _ in stage.reductions
    ]
    images = [values[place.number] for place, _ in stage.sends]
    spans = enumerate(pairwise(files.offsets[number] if images else ()))
    return {chunk: [image[first:last] for image in images] for chunk, (first, last) in spans}, partials


def _evaluate(
    stage: Stage, ends: dict[int, list[int]], sources: dict[str, Any], block: EdgeBlock | None = None
) -> list[Any]:
    """The value of each instruction; values are released when they are no longer needed."""
    values: list[Any] = []
    for position, (kind, payload, args) in enumerate(stage.instructions):
        if kind in sources:
            values.append(sources[kind](payload))
        else:
            function = block.method(payload) if block and kind == "local" else payload
            values.append(function(*_resolve(args, values)))
        for done in ends.get(position, ()):
            values[done] = None
    return values


def _resolve(args: tuple[Any, ...], values: list[Any]) -> list[Any]:
    return [values[arg.number] if isinstance(arg, At) else arg for arg in args]


def edge_block(files: RunFiles, number: int) -> EdgeBlock:
    """A block, in memory where there is room for it."""
    key = ("block", str(files.blocks[number]), files.alpha)
    block: EdgeBlock | None = BLOCKS.get(key)
    if block is None:
        limit = files.memory * BLOCK_SHARE
        block = open_block(files.blocks[number], files.alpha, limit)
        BLOCKS.put(key, block, block.bytes, 2 * limit)  # room for the block of a worker that died
    return block
