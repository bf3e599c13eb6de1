"""Blocks of hyperedges: the incidences that one worker goes over, and the vertices that they touch.

The partitions of the preparation hold whole hyperedges, and so does a block of them. Its incidences are
sorted once for a number of workers (and kept for later runs) as the compiled products need them, by groups of
vertices. Where a worker has no room for them, they stay in files, and a product maps one group at a time.
"""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from hyperclus._runtime.arrays import read_only
from hyperclus._runtime.files import atomic_path
from hyperclus._runtime.native import Kernel
from hyperclus._runtime.progress import report_progress
from hyperclus.engines import cpu_blocks
from hyperclus.engines.cpu import RUNS_FROM, Lists, SparseProducts, Tuning
from hyperclus.engines.cpu_blocks import BlockProducts
from hyperclus.engines.dask.prepared import Prepared
from hyperclus.engines.dask.store import (
    DamagedError,
    RunFiles,
    checksum,
    read_array,
    read_checked,
    read_run_files,
    release,
    store_rows,
    write_checked,
)
from hyperclus.errors import ClusterError
from hyperclus.typing import Floats, Integers

if TYPE_CHECKING:
    from hyperclus.engines.dask.workers import WorkerPool

HEADER = "block.json"
MAX_BLOCKS_EACH = 4  # blocks for each worker, where they exist from an earlier run


def lay_out(prepared: Prepared, pool: "WorkerPool", run: str, alpha: float) -> RunFiles:
    """Divide prepared data among the workers, for the files of a run in a folder of this name.

    Blocks of an earlier run are used if they suit the workers.
    """
    workers = pool.workers()
    threads = min((worker.n_threads for worker in workers), default=1)
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 4e9
    memory = min((worker.memory_limit or total / len(workers) for worker in workers), default=total)
    wanted = max(min(len(workers), len(prepared.partitions)), 1)
    suitable = [count for count in _earlier(prepared) if wanted <= count <= MAX_BLOCKS_EACH * wanted]
    count = min(suitable, default=wanted)
    folder = _layout(prepared, count)
    folder.mkdir(parents=True, exist_ok=True)
    chunks = min(count, prepared.n_vertices)
    ends = np.linspace(0, prepared.n_vertices, chunks + 1).astype(np.int64)[1:].tolist()
    blocks = [folder / f"block-{number:05}" for number in range(count)]
    dealt = deal([size.n_incidences for size in prepared.partitions], count)
    tasks = [(prepared, *own, ends, Tuning(threads=threads)) for own in zip(dealt, blocks, strict=True)]
    offsets: list[list[int]] = [[]] * count
    for done, (number, own) in enumerate(pool.each(arrange, tasks)):
        offsets[number] = own
        report_progress("preparation", done + 1, "blocks", (done + 1) / count, f"{count} blocks")
    return RunFiles(folder / "runs" / run / "vectors", blocks, ends, offsets, alpha, float(memory))


def deal(sizes: list[int], count: int) -> list[list[int]]:
    """Assign partitions to blocks: the largest first, each to the block that has least."""
    own: list[list[int]] = [[] for _ in range(count)]
    loads = [0] * count
    for number in sorted(range(len(sizes)), key=lambda number: -sizes[number]):
        least = min(range(count), key=loads.__getitem__)
        own[least].append(number)
        loads[least] += sizes[number]
    return [sorted(some) for some in own]


def _layout(prepared: Prepared, count: int) -> Path:
    """The folder of a layout; vertices are numbered by partitions, so their number is part of the name."""
    return prepared.folder / "layouts" / f"{len(prepared.partitions)}-{count}"


def _earlier(prepared: Prepared) -> Iterator[int]:
    """The numbers of blocks of complete layouts."""
    for folder in (prepared.folder / "layouts").glob(f"{len(prepared.partitions)}-*"):
        count = folder.name.partition("-")[2]
        if count.isdigit() and len(list(folder.glob(f"block-*/{HEADER}"))) == int(count):
            yield int(count)


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
            facts["files"] = {path.name: checksum(path) for path in sorted(partial.iterdir())}
            write_checked(partial / HEADER, facts)
    vertices = read_array(folder / "vertices.npy", "r")
    return list(np.searchsorted(vertices, [0, *ends]).tolist())


def _is_complete(folder: Path) -> bool:
    """Whether all files of a block are as they were written."""
    try:
        files: dict[str, list[int]] = read_checked(folder / HEADER)["files"]
        return all(checksum(folder / name) == expected for name, expected in files.items())
    except (OSError, DamagedError):
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
    sizes = [prepared.partitions[number] for number in partitions]
    n_edges, n_incidences = sum(one.n_edges for one in sizes), sum(one.n_incidences for one in sizes)
    omega = [read_array(path / "edge_weights.npy") for path in paths if prepared.edge_weighted]
    np.save(folder / "omega.npy", np.concatenate([np.empty(0), *omega]) if omega else np.ones(n_edges))
    blocked = tuning.uses_blocks(n_incidences, len(vertices))
    parts = _write_incidences(paths, vertices, folder, prepared.weighted, tuning if blocked else None)
    return {"n_edges": n_edges, "n_vertices": len(vertices), "blocked": blocked, "parts": parts}


def _write_incidences(
    paths: list[Path], vertices: Integers, folder: Path, weighted: bool, tuning: Tuning | None
) -> int:
    """Write incidences by groups of vertices, one partition at a time, into mapped files.

    Each thread gets some of the partitions; returns their number. Without tuning there is one group of all
    vertices, so that incidences stay sorted by hyperedge.
    """
    sizes = [np.diff(read_array(path / "indptr.npy")) for path in paths]
    firsts = np.cumsum([0] + [len(own) for own in sizes])
    spans = np.zeros((len(paths), (len(vertices) >> cpu_blocks.SPAN) + 1), dtype=np.int64)

    def members_of(path: Path) -> Any:
        """The vertices of the incidences of a partition, numbered among those of the block."""
        own, members = read_array(path / "vertices.npy"), read_array(path / "members.npy")
        return (
            members if len(own) == len(vertices) else np.searchsorted(vertices, own).astype(np.int32)[members]
        )

    for number, path in enumerate(paths):
        spans[number] = np.bincount(members_of(path) >> cpu_blocks.SPAN, minlength=spans.shape[1])
    group_of, count = np.zeros(spans.shape[1], dtype=np.int64), 1
    if tuning:
        group_of, count = tuning.blocks_of_vertices(spans.sum(axis=0), len(vertices))
    counts = np.zeros((count, len(paths)), dtype=np.int64)
    np.add.at(counts, group_of, spans.T)
    ends = np.cumsum(counts).reshape(counts.shape)
    threads = min(tuning.threads if tuning else 1, len(paths))
    cuts = np.linspace(0, len(paths), threads, endpoint=False).astype(np.int64)
    np.save(folder / "bounds.npy", np.append((ends - counts)[:, cuts], counts.sum()))
    np.save(folder / "gamma.npy", np.empty(0))  # if all are 1
    kinds = {"edges": np.int32, "members": np.int32} | ({"gamma": np.float64} if weighted else {})
    files = {
        name: np.lib.format.open_memmap(folder / f"{name}.npy", "w+", kind, (int(counts.sum()),))
        for name, kind in kinds.items()
    }
    for number, path in enumerate(paths):
        edges = np.repeat(np.arange(*firsts[number : number + 2], dtype=np.int32), sizes[number])
        values = {"edges": edges, "members": members_of(path)}
        groups = group_of[values["members"] >> cpu_blocks.SPAN]
        order = np.argsort(groups.astype(np.uint16), kind="stable")  # 16 bits, so by a radix sort
        if weighted:
            values["gamma"] = read_array(path / "gamma.npy")
        for name, file in files.items():
            parts = np.split(values[name][order], np.cumsum(counts[:, number])[:-1])
            for end, part in zip(ends[:, number].tolist(), parts, strict=True):
                file[end - len(part) : end] = part
            release(file)
    return threads


@dataclass(frozen=True, slots=True, eq=False)
class MappedProducts(BlockProducts):
    """Products over incidences in mapped files, one group of vertices at a time; each is then released."""

    files: tuple[Any, ...] = ()

    def _run(self, loop: Kernel, given: tuple[Any, ...], ranges: tuple[int, int, int]) -> list[Any]:
        results = []
        for number in range(*ranges):
            results += BlockProducts._run(self, loop, given, (number, number + 1, 1))
            for file in self.files:
                release(file, int(self.bounds[number]), int(self.bounds[number + 1]))
        return results


@dataclass(frozen=True, eq=False)
class EdgeBlock:
    """A block of hyperedges in use: products over its incidences, and its part of the walk."""

    folder: Path
    n_edges: int
    n_vertices: int
    products: Any
    bytes: int

    def method(self, name: str) -> Any:
        """A method of the block, or of its products."""
        return getattr(self if hasattr(type(self), name) else self.products, name)

    def omega(self) -> Floats:
        return read_array(self.folder / "omega.npy")

    def has_constants(self) -> bool:
        return self.products.constants() is not None

    def boundaries(self, labels: Floats, phi: Floats, degrees: Floats, shares: Floats, count: int) -> Floats:
        """The part of each cluster's boundary within these hyperedges."""
        return self.products.flows(labels, count, phi, degrees, shares, once=True)[1]


def open_block(folder: Path, alpha: float, limit: float) -> EdgeBlock:
    """Open the block in a folder: in memory if it takes at most `limit` bytes, else mapped."""
    facts = read_checked(folder / HEADER)
    shape = facts["n_edges"], facts["n_vertices"]
    paths = [folder / f"{name}.npy" for name in ("edges", "members", "gamma")]
    taken = sum(path.stat().st_size for path in paths)
    blocked = facts["blocked"] and alpha in (0, 1)
    mapped = blocked and taken > limit
    files = [read_array(path, "r" if mapped else None) for path in paths]
    if not blocked:
        edges, members, gamma = files
        gamma = gamma if len(gamma) else np.ones(len(members))
        lists = Lists(sp.csr_array((gamma, (edges, members)), shape=shape), alpha)
        return EdgeBlock(folder, *shape, SparseProducts(lists), 3 * taken)
    arrays = [read_only(np.asarray(file)) for file in files]
    given: list[Any] = [alpha, *arrays, read_array(folder / "bounds.npy"), shape, facts["parts"]]
    if mapped:
        given += [RUNS_FROM, None, tuple(files)]
    products = (MappedProducts if mapped else BlockProducts)(*given)
    return EdgeBlock(folder, *shape, products, 0 if mapped else taken)


unite = Kernel("unite", "codes", "codes", "int", "integers", "integers", "integers")
point_to_roots = Kernel("point_to_roots", "integers", "int")


def find_components(path: Path) -> tuple[int, Any]:
    """Count the components, on one worker that holds a number for each vertex; store that of each vertex."""
    files = read_run_files(path)
    parent = np.arange(files.ends[-1])
    for folder in files.blocks:
        edges, members = (read_array(folder / f"{name}.npy", "r") for name in ("edges", "members"))
        vertices = read_array(folder / "vertices.npy")
        seen = np.full(len(read_array(folder / "omega.npy", "r")), -1)
        for first, last in pairwise(read_array(folder / "bounds.npy").tolist()):
            group = np.array(edges[first:last]), np.array(members[first:last])
            unite(*group, last - first, vertices, seen, parent)
    point_to_roots(parent, len(parent))
    is_root = parent == np.arange(len(parent))
    numbers = np.cumsum(is_root) - 1
    return int(is_root.sum()), store_rows(files, numbers[parent])
