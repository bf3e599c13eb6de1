"""What the death of a worker costs, phase by phase: `python benchmarks/faults.py 1e6`.

A scheduler and two workers of Dask, processes of their own with one thread each, cluster a planted sparse
hypergraph (size.py says which). In every phase of a run one worker is killed with SIGKILL in the middle of a
task: the seconds added, with a nanny that starts the worker anew and without one, and whether labels and NCut
are those of the run that nobody disturbed.
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
from pathlib import Path

import numpy as np

import hyperclus as hc
from hyperclus.far import cluster_far
from hyperclus.stored import StoredPartition
from size import write

PHASES = {  # stage, how the note begins, share of the stage from which on the kill comes
    "preparation: pieces": ("preparation", "", -1.0),  # from the start on
    "preparation: partitions": ("preparation", "partitions 1", 0.0),
    "preparation: vertices": ("preparation", "vertices 1", 0.0),
    "preparation: numbers": ("preparation", "numbers 1", 0.0),
    "layout": ("preparation", "numbers", 1.0),  # what comes next
    "stationary law": ("stationary law", "residual", 0.3),
    "eigenvectors": ("eigenvectors", "residual", 0.3),
    "search": ("search", "NCut", 0.4),
    "labels": ("search", "NCut", 1.0),
}
SIGNS = {
    "preparation: pieces": "*/work/plan",
    "labels": "*/labels/*",
}  # where no step tells: what is there then
SOON = 0.03  # seconds from a step to the kill, so that it comes within a task


@contextmanager
def workers(folder: Path, nanny: bool, count: int = 2, memory: str = "2GB") -> Iterator[str]:
    """A scheduler and workers, which end with the body; the address."""
    folder.mkdir(parents=True)
    place = folder / "scheduler.json"
    module = [sys.executable, "-m", "distributed.cli."]
    scheduler = [*module[:2], f"{module[2]}dask_scheduler", "--port", "0", "--no-dashboard"]
    worker = [*module[:2], f"{module[2]}dask_worker", "--nthreads", "1", "--memory-limit", memory]
    worker += ["--no-dashboard", "--local-directory", str(folder), "--nanny" if nanny else "--no-nanny"]
    started = []
    try:
        for command in [scheduler, *[worker] * count]:
            options = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "start_new_session": True}
            started.append(subprocess.Popen([*command, "--scheduler-file", str(place)], **options))
        from distributed import Client

        while not place.exists():
            time.sleep(0.05)
        with Client(scheduler_file=str(place), set_as_default=False) as client:
            client.wait_for_workers(count)
            yield client.scheduler.address
    finally:
        for process in started:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def clustered(source: Path, address: str, work: Path, k: int = 2) -> StoredPartition:
    """The clusters of the hypergraph, found by the workers at an address."""
    given = {"effort": "default", "min_share": None, "alpha": 0.0, "tolerance": 1e-6, "seed": 0}
    return cluster_far(source, k, **given, scheduler=address, folder=work)


def labels_of(part: StoredPartition) -> np.ndarray:
    """The labels by vertex."""
    return part.to_table().sort_by("vertex")["cluster"].to_numpy()


def killer(address: str, phase: str, work: Path) -> tuple[Callable[[hc.Step], None], list[float]]:
    """A listener that has a worker killed in a phase, once; and when it was."""
    from distributed import Client

    with Client(address, set_as_default=False) as client:
        pids = client.run(os.getpid)
    pid, armed, when = pids[min(pids)], threading.Event(), list[float]()
    stage, note, share = PHASES[phase]

    def strike() -> None:
        while phase in SIGNS and not list(work.glob(SIGNS[phase])):
            time.sleep(0.001)
        time.sleep(SOON)
        os.kill(pid, signal.SIGKILL)
        when.append(time.perf_counter())

    def listen(step: hc.Step) -> None:
        here = step.stage == stage and step.note.startswith(note) and (step.share or 0.0) >= share
        if here and not armed.is_set():
            arm()

    def arm() -> None:
        armed.set()
        threading.Thread(target=strike, daemon=True).start()

    if share < 0:
        arm()
    return listen, when


def run(
    source: Path, folder: Path, phase: str | None, nanny: bool, k: int
) -> tuple[float, float, np.ndarray]:
    """Seconds, NCut, and the labels by vertex; in the phase, if there is one, a worker is killed."""
    work = folder / "work"
    with workers(folder / "cluster", nanny) as address:
        listen, when = killer(address, phase, work) if phase else (lambda step: None, [0.0])
        began = time.perf_counter()
        with hc.watching(listen):
            part = clustered(source, address, work, k)
        seconds = time.perf_counter() - began
    if not when:
        raise SystemExit(f"no worker was killed in {phase}")
    return seconds, part.ncut, labels_of(part)


def main() -> None:
    """Print a row for each phase."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("size", nargs="?", default="1e6", help="number of incidences")
    parser.add_argument("-k", type=int, default=2, help="clusters, and planted blocks")
    parser.add_argument("--repeat", type=int, default=3, help="undisturbed runs, of which the median counts")
    parser.add_argument("--phases", nargs="*", default=list(PHASES), metavar="PHASE")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        write(folder / "data.parquet", int(float(chosen.size)), chosen.k)

        def measured(name: str, phase: str | None, nanny: bool) -> tuple[float, float, np.ndarray]:
            return run(folder / "data.parquet", folder / name, phase, nanny, chosen.k)

        calm = [measured(f"calm-{number}", None, True) for number in range(chosen.repeat)]
        usual, (_, ncut, labels) = float(np.median([row[0] for row in calm])), calm[0]
        spread = ", ".join(f"{row[0]:.1f}" for row in calm)
        print(f"m = {float(chosen.size):,.0f}, k = {chosen.k}: {usual:.1f} s undisturbed ({spread})\n")
        print("| a worker killed in | with a nanny | added | one worker stays | added | labels and NCut |")
        print("| --- | ---: | ---: | ---: | ---: | --- |", flush=True)
        for number, phase in enumerate(chosen.phases):
            found = [measured(f"{number}-{nanny}", phase, nanny) for nanny in (True, False)]
            same = all(
                abs(other - ncut) <= 1e-9 * ncut and np.array_equal(others, labels)
                for _, other, others in found
            )
            cells = [f"{row[0]:.1f} s | {row[0] - usual:+.1f} s" for row in found]
            print(f"| {phase} | {' | '.join(cells)} | {'the same' if same else 'differ'} |", flush=True)


if __name__ == "__main__":
    main()
