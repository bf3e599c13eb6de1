"""Blocks of hyperedges: the incidences that one worker goes over, and the vertices that they touch.

The partitions of the preparation hold whole hyperedges, and so does a block of them. Its incidences are
sorted once for a number of workers (and kept for later runs) as the compiled products need them, by groups of
vertices. Where a worker has no room for them, they stay in files, and a product maps one group at a time.
"""

import json
import mmap
import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from hyperclus._runtime.arrays import read_only
from hyperclus._runtime.files import atomic_path
from hyperclus._runtime.jit import kernel, kernels
from hyperclus._runtime.progress import report_progress
from hyperclus.engines import cpu_kernels
from hyperclus.engines.cpu import RUNS_FROM, BlockProducts, Lists, SparseProducts, Tuning
from hyperclus.engines.dask.prepared import Prepared
from hyperclus.engines.dask.store import RunFiles, read_array, read_run_files, store_rows
from hyperclus.errors import ClusterError
from hyperclus.typing import Codes, Floats, Integers

HEADER = "block.json"
MAX_BLOCKS_EACH = 4  # blocks for each worker, where they exist from an earlier run


class Workers(Protocol):
    """What a layout needs of a worker pool."""

    def workers(self) -> list[Any]:
        """The workers, with their threads and memory."""
        ...

    def each(self, function: Any, tasks: Any) -> Iterable[tuple[int, Any]]:
        """The number and the result of each task, as they are finished."""
        ...


@dataclass(frozen=True, slots=True)
class Layout:
    """Blocks of hyperedges in a folder, and chunks of vertices; see `RunFiles`."""

    folder: Path
    ends: list[int]
    offsets: list[list[int]]
    memory: float

    def files(self, vectors: Path, alpha: float) -> RunFiles:
        """The files of a run that stores its vectors in a folder."""
        blocks = [block_path(self.folder, number) for number in range(len(self.offsets))]
        return RunFiles(vectors, blocks, self.ends, self.offsets, alpha, self.memory)


def lay_out(prepared: Prepared, pool: Workers) -> Layout:
    """Divide prepared data among the workers; a layout of an earlier run is used if it suits them."""
    workers = pool.workers()
    threads = min((worker.n_threads for worker in workers), default=1)
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 4e9
    memory = min((worker.memory_limit or total / len(workers) for worker in workers), default=total)
    wanted = max(min(len(workers), len(prepared.partitions)), 1)
    suitable = [count for count in _earlier(prepared) if wanted <= count <= MAX_BLOCKS_EACH * wanted]
    count = min(suitable, default=wanted)
    folder = prepared.folder / "layouts" / str(count)
    folder.mkdir(parents=True, exist_ok=True)
    chunks = min(count, prepared.n_vertices)
    ends = np.linspace(0, prepared.n_vertices, chunks + 1).astype(np.int64)[1:].tolist()
    tasks = [
        (prepared, own, block_path(folder, number), ends, Tuning(threads=threads))
        for number, own in enumerate(deal([size.n_incidences for size in prepared.partitions], count))
    ]
    offsets: list[list[int]] = [[]] * count
    for done, (number, own) in enumerate(pool.each(arrange, tasks)):
        offsets[number] = own
        report_progress("preparation", done + 1, "blocks", (done + 1) / count, f"{count} blocks")
    return Layout(folder, ends, offsets, float(memory))


def deal(sizes: list[int], count: int) -> list[list[int]]:
    """Assign partitions to blocks: the largest first, each to the block that has least."""
    own: list[list[int]] = [[] for _ in range(count)]
    loads = [0] * count
    for number in sorted(range(len(sizes)), key=lambda number: -sizes[number]):
        least = min(range(count), key=loads.__getitem__)
        own[least].append(number)
        loads[least] += sizes[number]
    return [sorted(some) for some in own]


def block_path(folder: Path, number: int) -> Path:
    return folder / f"block-{number:05}"


def _earlier(prepared: Prepared) -> Iterator[int]:
    """The numbers of blocks of complete layouts."""
    for folder in (prepared.folder / "layouts").glob("*"):
        if folder.name.isdigit() and len(list(folder.glob(f"block-*/{HEADER}"))) == int(folder.name):
            yield int(folder.name)


def arrange(
    prepared: Prepared, partitions: list[int], folder: Path, ends: list[int], tuning: Tuning
) -> list[int]:
    """Join the partitions of a block in a folder, unless that has been done; see `RunFiles.offsets`."""
    if not _is_complete(folder):
        if folder.exists():
            shutil.rmtree(folder, ignore_errors=True)
        with atomic_path(folder) as partial:
            partial.mkdir()
            facts = _write_arrays(prepared, partitions, partial, tuning)
            facts["files"] = {path.name: path.stat().st_size for path in partial.iterdir()}
            (partial / HEADER).write_text(json.dumps(facts))
    vertices = read_array(folder / "vertices.npy", "r")
    offsets: list[int] = np.searchsorted(vertices, [0, *ends]).tolist()
    return offsets


def _is_complete(folder: Path) -> bool:
    """Whether all files of a block are there, with the sizes that they had when they were written."""
    try:
        sizes: dict[str, int] = json.loads((folder / HEADER).read_text())["files"]
        return all((folder / name).stat().st_size == size for name, size in sizes.items())
    except (OSError, ValueError, KeyError):
        return False


def _write_arrays(prepared: Prepared, partitions: list[int], folder: Path, tuning: Tuning) -> dict[str, Any]:
    """Write the arrays of a block; hyperedges follow one another in the order of the partitions."""
    paths = [prepared.partition_path(number) for number in partitions]
    vertices = np.empty(0, dtype=np.int64)
    for path in paths:
        vertices = np.concatenate([vertices, read_array(path / "vertices.npy")])
        vertices.sort(kind="stable")  # merges two ascending runs
        vertices = vertices[np.append(True, vertices[1:] != vertices[:-1])[: len(vertices)]]
    if len(vertices) > np.iinfo(np.int32).max:
        raise ClusterError(
            f"the share of one worker touches {len(vertices):,} vertices, more than it can number; start "
            "more workers"
        )
    np.save(folder / "vertices.npy", vertices)
    indptrs = [read_array(path / "indptr.npy") for path in paths]
    n_edges = sum(len(indptr) - 1 for indptr in indptrs)
    n_incidences = sum(int(indptr[-1]) for indptr in indptrs)
    omega = [
        read_array(path / "edge_weights.npy") if prepared.edge_weighted else np.ones(len(indptr) - 1)
        for path, indptr in zip(paths, indptrs, strict=True)
    ]
    np.save(folder / "omega.npy", np.concatenate([*omega, np.empty(0)]))
    blocked = tuning.uses_blocks(n_incidences, len(vertices))
    (_write_blocked if blocked else _write_plain)(prepared, paths, indptrs, vertices, folder, tuning)
    sizes = {"n_edges": n_edges, "n_vertices": len(vertices), "n_incidences": n_incidences}
    return {**sizes, "blocked": blocked, "threads": tuning.threads}


def _members(path: Path, vertices: Integers) -> Any:
    """The vertices of a partition's incidences, numbered among those of the block."""
    own = read_array(path / "vertices.npy")
    members = read_array(path / "members.npy")
    if len(own) == len(vertices):
        return members
    return np.searchsorted(vertices, own).astype(np.int32)[members]


def _gamma(prepared: Prepared, path: Path) -> Floats:
    return read_array(path / "gamma.npy") if prepared.weighted else np.empty(0)


def _write_plain(
    prepared: Prepared,
    paths: list[Path],
    indptrs: list[Any],
    vertices: Integers,
    folder: Path,
    tuning: Tuning,
) -> None:
    """Write a small block by hyperedge."""
    empty = np.empty(0, dtype=np.int32)
    np.save(folder / "members.npy", np.concatenate([empty, *(_members(path, vertices) for path in paths)]))
    np.save(folder / "gamma.npy", np.concatenate([np.empty(0), *(_gamma(prepared, path) for path in paths)]))
    sizes = np.concatenate([np.empty(0, dtype=np.int64), *map(np.diff, indptrs)])
    np.save(folder / "indptr.npy", np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))


def _write_blocked(
    prepared: Prepared,
    paths: list[Path],
    indptrs: list[Any],
    vertices: Integers,
    folder: Path,
    tuning: Tuning,
) -> None:
    """Write a block sorted by groups of vertices, one partition at a time, into mapped files."""
    threads = tuning.threads
    n_incidences = sum(int(indptr[-1]) for indptr in indptrs)
    loops = kernels(cpu_kernels, n_incidences)
    firsts = np.concatenate([[0], np.cumsum([len(indptr) - 1 for indptr in indptrs])])
    cuts = np.linspace(0, firsts[-1], threads + 1).astype(np.int64)  # hyperedges of each thread
    spans = np.zeros((len(paths), threads, (len(vertices) >> cpu_kernels.SPAN) + 1), dtype=np.int64)

    def ranges(number: int) -> Iterator[tuple[int, int, int]]:
        """The hyperedges of a partition that each thread gets."""
        for thread, (low, high) in enumerate(pairwise(cuts)):
            first = max(low, firsts[number]) - firsts[number]
            last = min(high, firsts[number + 1]) - firsts[number]
            if first < last:
                yield thread, int(first), int(last)

    for number, path in enumerate(paths):
        members = read_only(_members(path, vertices))
        for thread, first, last in ranges(number):
            loops.count(read_only(indptrs[number]), members, first, last, spans[number, thread])
    block_of, count = tuning.blocks_of_vertices(spans.sum(axis=(0, 1)), len(vertices))
    counts = np.zeros((count, threads, len(paths)), dtype=np.int64)
    np.add.at(counts, block_of, spans.transpose(2, 1, 0))
    starts = np.concatenate([[0], np.cumsum(counts)])
    places = starts[:-1].reshape(counts.shape)
    np.save(folder / "bounds.npy", np.append(places[:, :, 0].ravel(), n_incidences))
    kept = [
        np.lib.format.open_memmap(folder / f"{name}.npy", "w+", kind, (length,))
        for name, kind, length in (
            ("edges", np.int32, n_incidences),
            ("members", np.int32, n_incidences),
            ("gamma", np.float64, n_incidences if prepared.weighted else 0),
        )
    ]
    for number, path in enumerate(paths):
        members, gamma = read_only(_members(path, vertices)), read_only(_gamma(prepared, path))
        for thread, first, last in ranges(number):
            own = places[:, thread, number].copy()
            shifted = np.zeros(firsts[number] + len(indptrs[number]), dtype=indptrs[number].dtype)
            shifted[firsts[number] :] = indptrs[number]  # numbers hyperedges within the block
            ends = int(firsts[number]) + first, int(firsts[number]) + last
            csr, filled = (read_only(shifted), members, gamma), tuple(map(np.asarray, kept))
            loops.fill(csr, block_of, *ends, own, filled)
        for array in kept:
            _release(array)


def _release(array: Any, first: int = 0, last: int | None = None) -> None:
    """Remove pages of a mapped file from the memory of this process; they stay in the page cache."""
    if not isinstance(array, np.memmap) or not len(array) or not hasattr(mmap, "MADV_DONTNEED"):
        return
    mapped: Any = array._mmap  # type: ignore[attr-defined]
    begin = array.offset + first * array.itemsize - array.offset // mmap.PAGESIZE * mmap.PAGESIZE
    end = begin + ((len(array) if last is None else last) - first) * array.itemsize
    begin -= begin % mmap.PAGESIZE
    mapped.madvise(mmap.MADV_DONTNEED, begin, min(end, len(mapped)) - begin)


@dataclass(frozen=True, slots=True, eq=False)
class MappedProducts(BlockProducts):
    """Products over incidences in mapped files, one group of vertices at a time; each is then released."""

    files: tuple[Any, ...] = ()

    def _run(self, loop: Any, *given: Any) -> Any:
        first, last = given[-2:]
        result = loop(*given)
        for file in self.files:
            _release(file, int(first), int(last))
        return result


@dataclass(frozen=True, eq=False)
class EdgeBlock:
    """A block of hyperedges in use: products over its incidences, and its part of the walk."""

    folder: Path
    n_edges: int
    n_vertices: int
    n_incidences: int
    products: Any
    bytes: int

    def method(self, name: str) -> Any:
        """A method of the block, or of its products."""
        return getattr(self if hasattr(type(self), name) else self.products, name)

    def omega(self) -> Floats:
        """The weights of its hyperedges."""
        return read_array(self.folder / "omega.npy")

    def has_constants(self) -> bool:
        """Whether gamma of each vertex is the same in all hyperedges of the block."""
        return self.products.constants() is not None

    def boundaries(self, labels: Floats, phi: Floats, degrees: Floats, shares: Floats, count: int) -> Floats:
        """The part of each cluster's boundary within these hyperedges."""
        return self.products.flows(labels, count, phi, degrees, shares, once=True)[1]


def open_block(folder: Path, alpha: float, limit: float) -> EdgeBlock:
    """Open the block in a folder: in memory if it takes at most `limit` bytes, else mapped."""
    facts = json.loads((folder / HEADER).read_text())
    size = facts["n_edges"], facts["n_vertices"], facts["n_incidences"]
    names = ["edges", "members", "gamma"] if facts["blocked"] else ["members", "gamma", "indptr"]
    taken = sum((folder / f"{name}.npy").stat().st_size for name in names)
    if not (facts["blocked"] and alpha in (0, 1)):
        return EdgeBlock(folder, *size, SparseProducts(Lists(_by_hyperedge(folder, facts), alpha)), 3 * taken)
    mapped = taken > limit
    files = [read_array(folder / f"{name}.npy", "r" if mapped else None) for name in names]
    arrays = [read_only(np.asarray(file)) for file in files]
    bounds = read_array(folder / "bounds.npy")
    given: list[Any] = [alpha, *arrays, bounds, size[:2], facts["threads"], RUNS_FROM]
    if not mapped:
        return EdgeBlock(folder, *size, BlockProducts(*given), taken)
    given.append(tuple(files))
    return EdgeBlock(folder, *size, MappedProducts(*given), 0)


def _incidences(folder: Path) -> Iterator[tuple[Any, Any]]:
    """The hyperedges and members of a block's incidences, some at a time."""
    facts = json.loads((folder / HEADER).read_text())
    members = read_array(folder / "members.npy", "r")
    if facts["blocked"]:
        edges = read_array(folder / "edges.npy", "r")
        bounds = read_array(folder / "bounds.npy")
        for first, last in pairwise(bounds.tolist()):
            if first < last:
                yield np.array(edges[first:last]), np.array(members[first:last])
    elif len(members):
        sizes = np.diff(read_array(folder / "indptr.npy"))
        yield np.repeat(np.arange(len(sizes), dtype=np.int32), sizes), np.array(members)


def _by_hyperedge(folder: Path, facts: dict[str, Any]) -> Any:
    """Gamma of a block as a matrix with a row for each hyperedge."""
    shape = facts["n_edges"], facts["n_vertices"]
    members, gamma = read_array(folder / "members.npy"), read_array(folder / "gamma.npy")
    gamma = gamma if len(gamma) else np.ones(len(members))
    if facts["blocked"]:
        rows = read_array(folder / "edges.npy")
        return sp.csr_array((gamma, (rows, members)), shape=shape)
    return sp.csr_array((gamma, members, read_array(folder / "indptr.npy").astype(np.int32)), shape=shape)


@kernel
def unite(edges: Codes, members: Codes, vertices: Integers, first: Integers, parent: Integers) -> None:
    """Union-find: join the members of each hyperedge; `first` is a member seen of each hyperedge, or -1."""
    for place in range(len(edges)):
        vertex, edge = vertices[members[place]], edges[place]
        if first[edge] < 0:
            first[edge] = vertex
        else:
            other = first[edge]
            while parent[vertex] != vertex:
                parent[vertex] = parent[parent[vertex]]
                vertex = parent[vertex]
            while parent[other] != other:
                parent[other] = parent[parent[other]]
                other = parent[other]
            parent[max(vertex, other)] = min(vertex, other)


@kernel
def point_to_roots(parent: Integers) -> None:
    """Let each vertex point to the root of its tree; parents have smaller numbers."""
    for vertex in range(np.int64(len(parent))):
        parent[vertex] = parent[parent[vertex]]


def find_components(path: Path) -> tuple[int, Any]:
    """Count the components, on one worker that holds a number for each vertex; store that of each vertex."""
    files, module = read_run_files(path), sys.modules[__name__]
    parent = np.arange(files.ends[-1])
    for folder in files.blocks:
        vertices = read_array(folder / "vertices.npy")
        first = np.full(len(read_array(folder / "omega.npy", "r")), -1)
        for edges, members in _incidences(folder):
            kernels(module, len(edges)).unite(edges, members, vertices, first, parent)
    kernels(module, len(parent)).point_to_roots(parent)
    is_root = parent == np.arange(len(parent))
    numbers = np.cumsum(is_root) - 1
    return int(is_root.sum()), store_rows(files, numbers[parent])
