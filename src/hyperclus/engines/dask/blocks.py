"""Bundles of hyperedges: the incidences that one worker goes over, and the vertices that they touch.

The partitions of the preparation are complete in their hyperedges, and so is a bundle of them. Its
incidences are arranged once for the number of workers (and kept for later runs) as the compiled passes need
them, in blocks of vertices. Where a worker has no room for them, they stay in files, and a pass maps one
block after the other.
"""

import json
import mmap
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from secrets import token_hex
from typing import Any

import numpy as np
import scipy.sparse as sp

from hyperclus._runtime.arrays import read_only
from hyperclus._runtime.jit import kernels
from hyperclus.engines import cpu_kernels
from hyperclus.engines.cpu import (
    BLOCKED_FROM,
    NARROW,
    BlockProducts,
    Lists,
    SparseProducts,
    blocks_of_vertices,
)
from hyperclus.engines.dask.prepared import Prepared
from hyperclus.engines.dask.store import read_array
from hyperclus.errors import ClusterError
from hyperclus.typing import Floats, Integers

FORMAT = 1
ABOUT = "bundle.json"


@dataclass(frozen=True, slots=True)
class Shape:
    """The size of a bundle.

    Attributes
    ----------
    offsets : list of int
        The vertices that it touches ascend; those of chunk j are offsets[j] to offsets[j + 1] of them.
    """

    n_edges: int
    n_vertices: int
    n_incidences: int
    offsets: list[int]


def arrange(prepared: Prepared, partitions: list[int], folder: Path, ends: list[int], threads: int) -> Shape:
    """Put the partitions of a bundle together in a folder, unless that has been done; its size."""
    facts = _whole(folder)
    if facts is None:
        partial_folder = folder.with_name(f".{folder.name}.{token_hex(4)}.part")
        partial_folder.mkdir(parents=True)
        facts = _arranged(prepared, partitions, partial_folder, threads)
        facts["files"] = {path.name: path.stat().st_size for path in partial_folder.iterdir()}
        (partial_folder / ABOUT).write_text(json.dumps(facts))
        if folder.exists() and _whole(folder) is None:
            shutil.rmtree(folder, ignore_errors=True)
        try:
            os.rename(partial_folder, folder)
        except OSError:  # another one was faster
            shutil.rmtree(partial_folder)
    vertices = read_array(folder / "vertices.npy", "r")
    offsets = np.searchsorted(vertices, [0, *ends]).tolist()
    return Shape(facts["n_edges"], facts["n_vertices"], facts["n_incidences"], offsets)


def _whole(folder: Path) -> dict[str, Any] | None:
    """What is said of a bundle; None where a file is missing, or not as long as it was written."""
    try:
        facts: dict[str, Any] = json.loads((folder / ABOUT).read_text())
        sound = all((folder / name).stat().st_size == size for name, size in facts["files"].items())
    except (OSError, ValueError, KeyError):
        return None
    return facts if sound else None


def _arranged(prepared: Prepared, partitions: list[int], folder: Path, threads: int) -> dict[str, Any]:
    """Write the arrays of a bundle; in the order of the partitions, their hyperedges follow one another."""
    paths = [prepared.partition_path(number) for number in partitions]
    vertices = np.empty(0, dtype=np.int64)
    for path in paths:
        vertices = np.concatenate([vertices, read_array(path / "vertices.npy")])
        vertices.sort(kind="stable")  # two runs that ascend
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
    facts = {"n_edges": n_edges, "n_vertices": len(vertices), "n_incidences": n_incidences}
    omega = [
        read_array(path / "edge_weights.npy") if prepared.edge_weighted else np.ones(len(indptr) - 1)
        for path, indptr in zip(paths, indptrs, strict=True)
    ]
    np.save(folder / "omega.npy", np.concatenate([*omega, np.empty(0)]))
    blocked = n_incidences >= BLOCKED_FROM and len(vertices) >= 2 * NARROW
    (_blocked if blocked else _plain)(prepared, paths, indptrs, vertices, folder, threads)
    return {**facts, "blocked": blocked, "threads": threads}


def _members(path: Path, vertices: Integers) -> Any:
    """The vertices of a partition's incidences, counted among those of the bundle."""
    own = read_array(path / "vertices.npy")
    members = read_array(path / "members.npy")
    if len(own) == len(vertices):
        return members
    return np.searchsorted(vertices, own).astype(np.int32)[members]


def _gamma(prepared: Prepared, path: Path) -> Floats:
    return read_array(path / "gamma.npy") if prepared.weighted else np.empty(0)


def _plain(
    prepared: Prepared, paths: list[Path], indptrs: list[Any], vertices: Integers, folder: Path, threads: int
) -> None:
    """All of it by hyperedge, for a bundle that is small."""
    empty = np.empty(0, dtype=np.int32)
    np.save(folder / "members.npy", np.concatenate([empty, *(_members(path, vertices) for path in paths)]))
    np.save(folder / "gamma.npy", np.concatenate([np.empty(0), *(_gamma(prepared, path) for path in paths)]))
    sizes = np.concatenate([np.empty(0, dtype=np.int64), *map(np.diff, indptrs)])
    np.save(folder / "indptr.npy", np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))


def _blocked(
    prepared: Prepared, paths: list[Path], indptrs: list[Any], vertices: Integers, folder: Path, threads: int
) -> None:
    """Sorted into blocks of vertices, one partition after the other, into files that are never held whole."""
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
    block_of, count = blocks_of_vertices(spans.sum(axis=(0, 1)), len(vertices))
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
            shifted[firsts[number] :] = indptrs[number]  # so that hyperedges get their numbers in the bundle
            ends = int(firsts[number]) + first, int(firsts[number]) + last
            arrays = (np.asarray(array) for array in kept)
            loops.fill(read_only(shifted), members, gamma, block_of, *ends, own, *arrays)
        for array in kept:
            _release(array)


def _release(array: Any, first: int = 0, last: int | None = None) -> None:
    """Take pages of a mapped file out of the memory of this process; the system still has them."""
    if not isinstance(array, np.memmap) or not len(array) or not hasattr(mmap, "MADV_DONTNEED"):
        return
    mapped: Any = array._mmap  # type: ignore[attr-defined]
    begin = array.offset + first * array.itemsize - array.offset // mmap.PAGESIZE * mmap.PAGESIZE
    end = begin + ((len(array) if last is None else last) - first) * array.itemsize
    begin -= begin % mmap.PAGESIZE
    mapped.madvise(mmap.MADV_DONTNEED, begin, min(end, len(mapped)) - begin)


@dataclass(frozen=True, slots=True, eq=False)
class MappedProducts(BlockProducts):
    """Passes over incidences in mapped files, one block after the other; each block is let go of."""

    files: tuple[Any, ...] = ()

    def _run(self, loop: Any, *given: Any) -> Any:
        first, last = given[-2:]
        result = loop(*given)
        for file in self.files:
            _release(file, int(first), int(last))
        return result


@dataclass(frozen=True, eq=False)
class Bundle:
    """A bundle as it is used: passes over its incidences, and what it has of the walk."""

    folder: Path
    n_edges: int
    n_vertices: int
    n_incidences: int
    products: Any
    bytes: int

    @cached_property
    def vertices(self) -> Any:
        """The numbers of the vertices that it touches, ascending; not held in memory."""
        return read_array(self.folder / "vertices.npy", "r")

    def omega(self) -> Floats:
        """The weight of each of its hyperedges."""
        return read_array(self.folder / "omega.npy")

    def to_edges(self, values: Floats, weights: Any) -> Floats:
        """As in `IncidenceProducts`."""
        return self.products.to_edges(values, weights)

    def to_vertices(self, values: Floats, weights: Any) -> Floats:
        """As in `IncidenceProducts`."""
        return self.products.to_vertices(values, weights)

    def symmetrized(self, vector: Floats, left: Floats, right: Floats, middle: Floats) -> Floats:
        """As in `IncidenceProducts`."""
        return self.products.symmetrized(vector, left, right, middle)

    def vertex_squares(self, values: Floats) -> Floats:
        """As in `IncidenceProducts`."""
        return self.products.vertex_squares(values)

    def least_share(self, *given: Floats) -> float:
        """As in `IncidenceProducts`."""
        return self.products.least_share(*given)

    def has_constants(self) -> bool:
        """Whether gamma of each vertex is the same in all hyperedges of the bundle."""
        return self.products.constants() is not None

    def constants(self) -> Floats:
        """Gamma of each vertex, where that is so."""
        return self.products.constants()

    def boundaries(self, labels: Floats, phi: Floats, degrees: Floats, shares: Floats, count: int) -> Floats:
        """The part of each cluster's boundary within these hyperedges."""
        return self.products.flows(labels, count, phi, degrees, shares, once=True)[1]


def opened(folder: Path, alpha: float, limit: float) -> Bundle:
    """The bundle in a folder: in memory if it takes no more than so many bytes, else mapped."""
    facts = json.loads((folder / ABOUT).read_text())
    size = facts["n_edges"], facts["n_vertices"], facts["n_incidences"]
    names = ["edges", "members", "gamma"] if facts["blocked"] else ["members", "gamma", "indptr"]
    taken = sum((folder / f"{name}.npy").stat().st_size for name in names)
    if facts["blocked"] and alpha in (0, 1):
        mode: Any = None if taken <= limit else "r"
        files = [read_array(folder / f"{name}.npy", mode) for name in names]
        edges, members, gamma = (read_only(np.asarray(file)) for file in files)
        bounds, threads = read_array(folder / "bounds.npy"), facts["threads"]
        if mode is None:
            return Bundle(
                folder, *size, BlockProducts(alpha, edges, members, gamma, bounds, size[:2], threads), taken
            )
        mapped = MappedProducts(alpha, edges, members, gamma, bounds, size[:2], threads, tuple(files))
        return Bundle(folder, *size, mapped, 0)
    return Bundle(folder, *size, SparseProducts(Lists(_by_hyperedge(folder, facts), alpha)), 3 * taken)


def incidences_of(folder: Path) -> Iterator[tuple[Any, Any]]:
    """The hyperedges and members of a bundle's incidences, some at a time."""
    facts = json.loads((folder / ABOUT).read_text())
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
    """Gamma of a bundle as a matrix, a row for each hyperedge."""
    shape = facts["n_edges"], facts["n_vertices"]
    members, gamma = read_array(folder / "members.npy"), read_array(folder / "gamma.npy")
    gamma = gamma if len(gamma) else np.ones(len(members))
    if facts["blocked"]:
        rows = read_array(folder / "edges.npy")
        return sp.csr_array((gamma, (rows, members)), shape=shape)
    return sp.csr_array((gamma, members, read_array(folder / "indptr.npy").astype(np.int32)), shape=shape)
