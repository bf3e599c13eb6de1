"""How prepared data are divided among workers: a bundle of hyperedges and a chunk of vertices for each."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hyperclus._runtime.progress import report_progress
from hyperclus.engines.dask.blocks import arrange
from hyperclus.engines.dask.prepared import Prepared
from hyperclus.engines.dask.stages import RunFiles
from hyperclus.engines.dask.workers import WorkerPool

MORE = 4  # bundles for each worker, at most, where they are there from an earlier run


@dataclass(frozen=True, slots=True)
class Layout:
    """Bundles that are arranged in a folder, and the chunks of vertices."""

    folder: Path
    ends: list[int]
    offsets: list[list[int]]
    memory: float

    def site(self, vectors: Path, alpha: float) -> RunFiles:
        """Where everything of a run lies."""
        folders = [bundle_path(self.folder, number) for number in range(len(self.offsets))]
        return RunFiles(vectors, folders, self.ends, self.offsets, alpha, self.memory)


def laid_out(prepared: Prepared, pool: WorkerPool) -> Layout:
    """The layout for the workers that are there; one of an earlier run, if it suits them."""
    workers = pool.workers()
    threads = min((worker.n_threads for worker in workers), default=1)
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 4e9
    memory = min((worker.memory_limit or total / len(workers) for worker in workers), default=total)
    wanted = max(min(len(workers), len(prepared.partitions)), 1)
    fitting = [count for count in _earlier(prepared) if wanted <= count <= MORE * wanted]
    count = min(fitting, default=wanted)
    folder = prepared.folder / "layouts" / str(count)
    folder.mkdir(parents=True, exist_ok=True)
    chunks = min(count, prepared.n_vertices)
    ends = np.linspace(0, prepared.n_vertices, chunks + 1).astype(np.int64)[1:].tolist()
    tasks = [
        (prepared, own, bundle_path(folder, number), ends, threads)
        for number, own in enumerate(dealt([size.n_incidences for size in prepared.partitions], count))
    ]
    offsets: list[list[int]] = [[]] * count
    for done, (number, shape) in enumerate(pool.each(arrange, tasks)):
        offsets[number] = shape.offsets
        report_progress("preparation", done + 1, "bundles", (done + 1) / count, f"{count} bundles")
    return Layout(folder, ends, offsets, float(memory))


def dealt(sizes: list[int], count: int) -> list[list[int]]:
    """The partitions of each bundle: the largest first, each to the bundle that has least."""
    own: list[list[int]] = [[] for _ in range(count)]
    loads = [0] * count
    for number in sorted(range(len(sizes)), key=lambda number: -sizes[number]):
        least = min(range(count), key=loads.__getitem__)
        own[least].append(number)
        loads[least] += sizes[number]
    return [sorted(some) for some in own]


def bundle_path(folder: Path, number: int) -> Path:
    """The folder of a bundle."""
    return folder / f"bundle-{number:05}"


def _earlier(prepared: Prepared) -> Iterator[int]:
    for folder in (prepared.folder / "layouts").glob("*"):
        if folder.name.isdigit() and len(list(folder.glob("bundle-*/bundle.json"))) == int(folder.name):
            yield int(folder.name)
