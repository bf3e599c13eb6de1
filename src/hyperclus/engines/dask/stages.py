"""What runs on the workers: one stage of a round on one chunk of vertices, or on one bundle of hyperedges."""

import pickle
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from secrets import token_hex
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperclus._runtime.threads import single_blas_thread
from hyperclus.engines.dask.blocks import Bundle, opened
from hyperclus.engines.dask.schedule import Stage
from hyperclus.engines.dask.store import (
    MEMORY,
    Memory,
    Stored,
    file_fault,
    loaded,
    read_array,
    store,
    vector_path,
)
from hyperclus.typing import Floats

Array = NDArray[Any]

ROWS = 1 << 13  # of a chunk, that are computed together
BUNDLE_SHARE = 0.25  # of a worker's memory: a bundle that takes more stays in files
VECTOR_SHARE = 0.2  # of a worker's memory, for stored vectors
BUNDLES = Memory()


@dataclass(frozen=True, slots=True)
class RunFiles:
    """Where everything of a run lies, and how it is divided.

    Attributes
    ----------
    vectors : Path
        The folder of stored vectors.
    bundles : list of Path
    ends : list of int
        Chunk j holds the vertices from ends[j - 1] to ends[j].
    offsets : list of lists of int
        Of each bundle, where the vertices of each chunk begin among those that it touches.
    memory : float
        Bytes that a worker has.
    """

    vectors: Path
    bundles: list[Path]
    ends: list[int]
    offsets: list[list[int]]
    alpha: float
    memory: float

    def span(self, chunk: int) -> tuple[int, int]:
        """The first vertex of a chunk, and the first one after it."""
        return (self.ends[chunk - 1] if chunk else 0), self.ends[chunk]

    def touched(self, bundle: int, chunk: int) -> Array | None:
        """The rows of a chunk that a bundle touches; None where these are all."""
        first, last = self.offsets[bundle][chunk : chunk + 2]
        start, end = self.span(chunk)
        if last - first == end - start:
            return None
        key = ("rows", bundle, chunk, str(self.bundles[bundle]))
        rows = MEMORY.get(key)
        if rows is None:
            vertices = read_array(self.bundles[bundle] / "vertices.npy", "r")
            rows = (vertices[first:last] - start).astype(np.int32)
            MEMORY.put(key, rows, rows.nbytes, self.memory * VECTOR_SHARE)
        return rows

    @property
    def dense(self) -> bool:
        """Whether every bundle touches every vertex, so that all take chunks as they are."""
        return all(offsets[-1] == self.ends[-1] for offsets in self.offsets)

    @property
    def room(self) -> float:
        """Bytes for stored vectors in the memory of a worker."""
        return self.memory * VECTOR_SHARE


@lru_cache(maxsize=8)
def site_at(path: Path) -> RunFiles:
    """The site that a file describes."""
    site: RunFiles = pickle.loads(path.read_bytes())
    return site


@dataclass(slots=True)
class Outcome:
    """What a stage hands on.

    Attributes
    ----------
    sends : list of arrays, or such lists by number
        An array for each value sent; for every bundle (or chunk) its own, or one that all take whole.
    smalls : dict
        By (level, part), the partial results of this stage and of those before it.
    ledger : dict
        By (level, part), the seconds spent and the bytes sent.
    """

    sends: Any = None
    smalls: dict[tuple[int, int], list[Any]] = field(default_factory=dict)
    ledger: dict[tuple[int, int], tuple[float, int]] = field(default_factory=dict)

    def __sizeof__(self) -> int:
        return sum(row.nbytes for rows in self._lists for row in rows)  # for Dask

    @property
    def _lists(self) -> list[list[Array]]:
        return list(self.sends.values()) if isinstance(self.sends, dict) else [self.sends or []]

    def bytes(self, receivers: int) -> int:
        """What all receivers get together."""
        return sys.getsizeof(self) * (1 if isinstance(self.sends, dict) else receivers)

    def rows(self, number: int) -> list[Array]:
        """What is sent to one bundle, or chunk."""
        rows: list[Array] = self.sends[number] if isinstance(self.sends, dict) else self.sends
        return rows


def piece(outcome: Outcome, number: int) -> Outcome:
    """What one bundle, or chunk, needs of an outcome."""
    return Outcome({number: outcome.rows(number)}, outcome.smalls, outcome.ledger)


def run_stage(place: Path, stage: Stage, part: int, received: Sequence[Outcome]) -> Outcome:
    """Run a stage on one part: a chunk at even levels, a bundle at odd ones."""
    started = time.perf_counter()
    site = site_at(place)
    if stage.dropped:
        MEMORY.drop(set(stage.dropped))
    try:
        outcome = (_on_bundle if stage.side == "bundles" else _on_chunk)(site, stage, part, received)
    except OSError as error:
        raise file_fault(error) from None
    for before in received:
        outcome.smalls.update(before.smalls)
        outcome.ledger.update(before.ledger)
    spent = time.perf_counter() - started
    outcome.ledger[stage.level, part] = spent, outcome.bytes(len(site.bundles))
    return outcome


@single_blas_thread
def _on_chunk(site: RunFiles, stage: Stage, chunk: int, received: Sequence[Outcome]) -> Outcome:
    """Some rows after the other."""
    totals = _totals(site, stage, chunk, received)
    with ExitStack() as opened_ones:
        stored = {}
        for operation, payload, _ in stage.instructions:
            if operation == "load":
                stored[payload] = loaded(site.vectors, payload, str(chunk), site.room)
                opened_ones.callback(stored[payload].close)
        return _by_rows(site, stage, chunk, stored, totals)


def _by_rows(
    site: RunFiles, stage: Stage, chunk: int, stored: dict[str, Stored], totals: list[Array]
) -> Outcome:
    """The stage on all rows of a chunk."""
    start, end = site.span(chunk)
    count = end - start
    sends: list[Any] = [None] * len(stage.sends)
    kept: list[Any] = [None] * len(stage.stores)
    partials: list[Any] = [None] * len(stage.smalls)
    for first in range(0, count, ROWS):
        rows = slice(first, min(first + ROWS, count))
        values = _rows_of(stage, rows, start, stored, totals)
        for place, number in enumerate(stage.sends):
            if first == 0:
                sends[place] = np.empty(count, dtype=np.asarray(values[number]).dtype)
            sends[place][rows] = values[number]
        for place, (number, _) in enumerate(stage.stores):
            if first == 0:
                kept[place] = np.empty(count, dtype=np.asarray(values[number]).dtype)
            kept[place][rows] = values[number]
        for place, (function, references, combine) in enumerate(stage.smalls):
            found = function(*_resolved(references, values))
            partials[place] = found if first == 0 else joined(combine, partials[place], found)
    for (_, name), array in zip(stage.stores, kept, strict=True):
        store(site.vectors, name, str(chunk), array, site.room)
    parted = _for_bundles(site, chunk, sends) if stage.sends else None
    return Outcome(parted, {(stage.level, chunk): partials} if partials else {})


def _rows_of(
    stage: Stage, rows: slice, start: int, stored: dict[str, Stored], totals: list[Array]
) -> list[Any]:
    """What the instructions of a stage give for some rows of a chunk that starts with this vertex."""
    values: list[Any] = []
    for operation, payload, references in stage.instructions:
        if operation == "load":
            values.append(stored[payload].rows(rows.start, rows.stop))
        elif operation == "received":
            values.append(totals[payload][rows])
        elif operation == "rows":
            values.append(payload(start + rows.start, start + rows.stop))
        else:
            values.append(payload(*_resolved(references, values)))
    return values


def _totals(site: RunFiles, stage: Stage, chunk: int, received: Sequence[Outcome]) -> list[Array]:
    """The contributions of all bundles to the vertices of a chunk."""
    start, end = site.span(chunk)
    count = end - start
    combine = stage.incoming
    totals = [np.zeros(count) if how == "sum" else np.full(count, -np.inf) for how in combine]
    for bundle, outcome in enumerate(received):
        rows = site.touched(bundle, chunk)
        for place, contribution in enumerate(outcome.rows(chunk)):
            if combine[place] == "sum" and rows is None:
                totals[place] += contribution
            elif combine[place] == "sum":
                totals[place][rows] += contribution
            else:
                at = slice(None) if rows is None else rows
                totals[place][at] = np.maximum(totals[place][at], contribution)
    return totals


def _for_bundles(site: RunFiles, chunk: int, sends: list[Array]) -> Any:
    """The values of the vertices that each bundle touches; one list where all touch all."""
    touched = [site.touched(bundle, chunk) for bundle in range(len(site.bundles))]
    if all(rows is None for rows in touched):
        return sends
    return {
        bundle: sends if rows is None else [values[rows] for values in sends]
        for bundle, rows in enumerate(touched)
    }


@single_blas_thread
def _on_bundle(site: RunFiles, stage: Stage, number: int, received: Sequence[Outcome]) -> Outcome:
    """All at once; values are let go of when they are no longer needed."""
    bundle = bundle_of(site, number)
    last = _last_uses(stage)
    values: list[Any] = []
    for position, (operation, payload, references) in enumerate(stage.instructions):
        if operation == "load":
            values.append(_whole(site, payload, f"e{number}", bundle.n_edges))
        elif operation == "received":
            values.append(np.concatenate([outcome.rows(number)[payload] for outcome in received]))
        elif operation == "static":
            values.append(_static(site, bundle, number, payload))
        elif operation == "local":
            values.append(getattr(bundle, payload)(*_resolved(references, values)))
        else:
            values.append(payload(*_resolved(references, values)))
        for done in last.get(position, ()):
            values[done] = None
    for place, name in stage.stores:
        store(site.vectors, name, f"e{number}", np.asarray(values[place]), site.room)
    partials = []
    for function, references, _ in stage.smalls:
        called = getattr(bundle, function) if isinstance(function, str) else function
        partials.append(called(*_resolved(references, values)))
    images = [values[place] for place in stage.sends]
    sends = _for_chunks(site, number, images) if images else None
    return Outcome(sends, {(stage.level, number): partials} if partials else {})


def _for_chunks(site: RunFiles, number: int, images: list[Array]) -> dict[int, list[Array]]:
    """What a bundle has for the vertices of each chunk."""
    spans = enumerate(pairwise(site.offsets[number]))
    return {chunk: [image[first:last] for image in images] for chunk, (first, last) in spans}


def _whole(site: RunFiles, name: str, part: str, count: int) -> Array:
    """All rows of a part of a stored vector."""
    with closing(loaded(site.vectors, name, part, site.room)) as found:
        return found.rows(0, count)


def bundle_of(site: RunFiles, number: int) -> Bundle:
    """A bundle, held in memory where there is room for it."""
    key = ("bundle", str(site.bundles[number]), site.alpha)
    bundle = BUNDLES.get(key)
    if bundle is None:
        limit = site.memory * BUNDLE_SHARE
        bundle = opened(site.bundles[number], site.alpha, limit)
        BUNDLES.put(key, bundle, bundle.bytes, 2 * limit)  # and that of a worker that died
    found: Bundle = bundle
    return found


def _static(site: RunFiles, bundle: Bundle, number: int, name: str) -> Floats:
    """The values of a stored vector at the vertices of a bundle, which stay with it."""
    key = (name, f"static {number}")
    values = MEMORY.get(key)
    if values is None:
        values = np.empty(bundle.n_vertices)
        for chunk, (first, last) in enumerate(pairwise(site.offsets[number])):
            whole = read_array(vector_path(site.vectors, name, str(chunk)))
            rows = site.touched(number, chunk)
            values[first:last] = whole if rows is None else whole[rows]
        MEMORY.put(key, values, values.nbytes, site.room)
    found: Floats = values
    return found


def _last_uses(stage: Stage) -> dict[int, list[int]]:
    """By instruction, the values that none after it needs."""
    needed = {place for place, _ in stage.stores} | set(stage.sends)
    needed |= {value for _, references, _ in stage.smalls for how, value in references if how == "at"}
    last: dict[int, int] = {}
    for position, (_, _, references) in enumerate(stage.instructions):
        last.update({value: position for how, value in references if how == "at"})
    ends: dict[int, list[int]] = {}
    for value, position in last.items():
        if value not in needed:
            ends.setdefault(position, []).append(value)
    return ends


def _resolved(references: tuple[Any, ...], values: list[Any]) -> list[Any]:
    return [values[value] if how == "at" else value for how, value in references]


def joined(combine: str, first: Any, second: Any) -> Any:
    """Two partial results as one."""
    if combine == "sum":
        return first + second
    if combine == "join":
        return np.concatenate([first, second])
    return np.maximum(first, second) if combine == "max" else np.minimum(first, second)


def store_whole(site: RunFiles, values: Any) -> Any:
    """An array with a row for each vertex becomes a stored vector, or a block of them; how it is named."""
    if values.ndim == 2:
        return [store_whole(site, column) for column in values.T]
    name = token_hex(6)
    for chunk, (first, last) in enumerate(pairwise([0, *site.ends])):
        store(site.vectors, name, str(chunk), np.ascontiguousarray(values[first:last]), site.room)
    return {"name": name, "side": "vertices", "dtype": values.dtype.str}
