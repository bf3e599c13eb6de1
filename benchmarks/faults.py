"""Measure what the death of a worker costs in each phase of a run: `python benchmarks/faults.py 1e6`.

A Dask scheduler and two workers, each a process with one thread, cluster a planted sparse hypergraph (see
size.py). In each phase, one worker is killed with SIGKILL in the middle of a task, with a nanny that restarts
it and without one. The table has the seconds added to an undisturbed run made just before, and whether labels
and NCut are the same. One worker may be faster than two that share cores; then the added time is negative.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import numpy as np

import hyperclus as hc
from hyperclus.clustering.cluster_files import cluster_files
from hyperclus.clustering.partition import StoredPartition
from hyperclus.engines.dask.workers import Timeouts, WorkerPool
from size import write

PHASES = {  # stage, start of the note, and share of the stage at which a worker is killed
    "preparation: pieces": ("preparation", "", -1.0),  # when its file appears
    "preparation: partitions": ("preparation", "partitions 1", 0.0),
    "preparation: vertices": ("preparation", "vertices 1", 0.0),
    "preparation: numbers": ("preparation", "numbers 1", 0.0),
    "layout": ("preparation", "numbers", 1.0),  # the stage after it
    "stationary distribution": ("stationary distribution", "residual", 0.3),
    "eigenvectors": ("eigenvectors", "residual", 0.3),
    "search": ("search", "NCut", 0.4),
    "labels": ("search", "NCut", 1.0),
}
SIGNS = {  # files that mark the beginning of phases without progress events
    "preparation: pieces": "*/*/division.json",
    "labels": "*/labels/*",
}
PATIENT = Timeouts(connect=120.0, scheduler=120.0, workers=300.0)
SOON = 0.03  # seconds from the event to the kill, so that it comes in the middle of a task


@contextmanager
def workers(folder: Path, nanny: bool, number: int = 2, memory: str = "2GB") -> Iterator[str]:
    """Start a scheduler and workers, which end with the body, and yield the address."""
    folder.mkdir(parents=True)
    file = folder / "scheduler.json"
    module = [sys.executable, "-m", "distributed.cli."]
    scheduler = [*module[:2], f"{module[2]}dask_scheduler", "--port", "0", "--no-dashboard"]
    worker = [*module[:2], f"{module[2]}dask_worker", "--nthreads", "1", "--memory-limit", memory]
    worker += ["--no-dashboard", "--local-directory", str(folder), "--nanny" if nanny else "--no-nanny"]
    started = []
    try:
        for place, command in enumerate([scheduler, *[worker] * number]):
            with (folder / f"{place}.log").open("wb") as log:  # says why a worker died that was not killed
                options = {"stdout": log, "stderr": log, "start_new_session": True}
                started.append(subprocess.Popen([*command, "--scheduler-file", str(file)], **options))
        from distributed import Client

        while not file.exists():
            time.sleep(0.05)
        with Client(scheduler_file=str(file), set_as_default=False) as client:
            client.wait_for_workers(number)
            yield client.scheduler.address
    finally:
        for process in started:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def clustered(source: Path, scheduler: str | WorkerPool, work: Path, k: int = 2) -> StoredPartition:
    """Cluster on the workers of a scheduler; however busy the machine is, nothing times out."""
    with WorkerPool.connect(scheduler, timeouts=PATIENT) as pool:
        settings = {
            "objective": "ncut",
            "tolerance": 1e-6,
        }  # its search is in batches at this size, and has many steps
        return cluster_files(source, k, **settings, scheduler=pool, folder=work)


def labels_of(part: StoredPartition) -> np.ndarray:
    """Return the labels in the order of the vertices."""
    return part.to_arrow().sort_by("vertex")["cluster"].to_numpy()


def killer(address: str, phase: str, work: Path) -> tuple[Callable[[hc.Step], None], list[float]]:
    """Return a listener that kills a worker in a phase, once, and a list with the time when it did.

    The kill comes shortly after a progress event, in the middle of a task, and before the next event; in
    phases without events, shortly after a file appears.
    """
    from distributed import Client

    with Client(address, set_as_default=False) as client:
        pids = client.run(os.getpid)
    pid, when = pids[min(pids)], list[float]()
    threads: list[threading.Thread] = []
    stage, note, share = PHASES[phase]

    def strike() -> None:
        while phase in SIGNS and not list(work.glob(SIGNS[phase])):
            time.sleep(0.001)
        time.sleep(SOON)
        os.kill(pid, signal.SIGKILL)
        when.append(time.perf_counter())

    def start() -> None:
        threads.append(threading.Thread(target=strike, daemon=True))
        threads[0].start()

    def listen(step: hc.Step) -> None:
        if threads and phase not in SIGNS:
            threads[0].join()
        if (
            not threads
            and step.stage == stage
            and step.note.startswith(note)
            and (step.share or 0.0) >= share
        ):
            start()

    if share < 0:
        start()
    return listen, when


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """Seconds, NCut and labels of a run."""

    seconds: float
    ncut: float
    labels: np.ndarray

    def same(self, other: "Run") -> bool:
        """Whether another run has the same labels and NCut."""
        return abs(self.ncut - other.ncut) <= 1e-9 * other.ncut and np.array_equal(self.labels, other.labels)


def run(source: Path, folder: Path, phase: str | None, nanny: bool, k: int) -> Run:
    """Run on new workers; kill one of them in the phase, if there is one."""
    with workers(folder / "cluster", nanny) as address:
        listen, when = killer(address, phase, folder / "work") if phase else (lambda step: None, [])
        began = time.perf_counter()
        with hc.watching(listen):
            part = clustered(source, address, folder / "work", k)
        ended = time.perf_counter()
    if phase and not (when and when[0] < ended):
        raise SystemExit(f"no worker was killed in {phase}")
    return Run(ended - began, part.ncut, labels_of(part))


def main() -> None:
    """Print a row for each phase."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("size", nargs="?", default="1e6", help="number of incidences")
    parser.add_argument("-k", type=int, default=2, help="clusters, and planted blocks")
    parser.add_argument("--repeat", type=int, default=1, help="pairs of runs; the median is printed")
    parser.add_argument("--phases", nargs="*", default=list(PHASES), metavar="PHASE")
    chosen = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # ends the workers too
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        write(folder / "data.parquet", int(float(chosen.size)), chosen.k)
        numbers = count()

        def measured(phase: str | None, nanny: bool) -> Run:
            return run(folder / "data.parquet", folder / str(next(numbers)), phase, nanny, chosen.k)

        first = measured(None, True)  # fills the caches for all others
        print(f"m = {float(chosen.size):,.0f}, k = {chosen.k}\n")
        print("| a worker killed in | | undisturbed | killed | added | labels and NCut |")
        print("| --- | --- | ---: | ---: | ---: | --- |", flush=True)
        for phase in chosen.phases:
            for nanny, words in ((True, "with a nanny"), (False, "one worker stays")):
                pairs = [(measured(None, nanny), measured(phase, nanny)) for _ in range(chosen.repeat)]
                calm, killed = (np.median([pair[side].seconds for pair in pairs]) for side in (0, 1))
                added = np.median([after.seconds - before.seconds for before, after in pairs])
                same = all(one.same(first) for pair in pairs for one in pair)
                cells = f"{calm:.1f} s | {killed:.1f} s | {added:+.1f} s"
                print(f"| {phase} | {words} | {cells} | {'the same' if same else 'differ'} |", flush=True)


if __name__ == "__main__":
    main()
