"""Compare `cluster_files` with `cluster`: `python benchmarks/cluster_engine.py 1e7`, or `1e8 --memory 2GB`.

Starts a Dask scheduler and workers on this machine, and clusters a Parquet file (written as in
benchmarks/size.py) in a client process. Prints the seconds of each stage for both, the time per round for
computing, transfer and scheduling, the bytes moved and the formula of docs/how_to/cluster.md, the peak memory
of every process, and the differences in labels, eigenvalues and NCut. `--scaling` runs one worker and two;
`--ring` uses a walk that mixes slowly.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from contextlib import contextmanager
from pathlib import Path

import numpy as np

import hyperclus as hc
from size import peak, write

HERE = Path(__file__).resolve()


@contextmanager
def workers(count: int, memory: str):
    """Start a scheduler and `count` workers as processes; yield the address."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "scheduler.json")
        run = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
        processes = [subprocess.Popen([*run, "--scheduler-file", str(file)], **quiet)]
        while not file.exists():
            time.sleep(0.1)
        address = json.loads(file.read_text())["address"]
        run = [
            sys.executable,
            "-m",
            "distributed.cli.dask_worker",
            address,
            "--nthreads",
            "1",
            "--no-dashboard",
        ]
        processes += [subprocess.Popen([*run, "--memory-limit", memory], **quiet) for _ in range(count)]
        try:
            yield address, processes[0].pid
        finally:
            for process in processes:
                process.terminate()
            for process in processes:
                process.wait()


def on_dask(path: str, k: int, address: str, count: int, work: str, scheduler: int) -> dict:
    """Cluster twice in this process: with the preparation, and with its stored result."""
    from distributed import Client, get_task_stream

    found: dict = {}
    with Client(address) as client:
        client.wait_for_workers(count)
        for turn in ("first", "again"):
            start = time.perf_counter()
            with get_task_stream(client) as stream:
                part = hc.cluster_files(path, k, folder=work)
            found[turn] = {"seconds": time.perf_counter() - start, "stages": dict(part.timings)}
        found |= {
            "rounds": dict(part.rounds),
            "spent": split(stream.data),
            "memory": {
                "client": peak(),
                "scheduler": peak(scheduler),
                "workers": [peak(pid) for pid in client.run(os.getpid).values()],
            },
            "values": part.eigenvalues.tolist(),
            "steps": part.eigenpairs.steps,
            "ncut": part.ncut,
            "labels": str(part.folder),
            "n": part.n_vertices,
        }
    return found


def split(tasks: list) -> dict[str, float]:
    """Return the seconds of the busiest worker for each kind of work, over all tasks of rounds."""
    spent: dict = defaultdict(lambda: defaultdict(float))
    for task in tasks:
        if str(task["key"]).startswith(("vertices-", "edges-", "piece-")):
            for part in task["startstops"]:
                spent[part["action"]][task["worker"]] += part["stop"] - part["start"]
    return {action: max(by_worker.values()) for action, by_worker in spent.items()}


def on_cpu(path: str, k: int) -> dict:
    """Read and cluster in this process."""
    start = time.perf_counter()
    h = hc.read(path)
    read = time.perf_counter() - start
    part = hc.cluster(h, k, engine="cpu")
    with tempfile.NamedTemporaryFile(suffix=".npz", delete=False) as file:
        np.savez(file, ids=part.vertex_ids, labels=part.labels)
    return {
        "seconds": time.perf_counter() - start,
        "stages": {"reading": read, **part.timings},
        "values": part.eigenvalues.tolist(),
        "ncut": part.ncut,
        "memory": peak(),
        "labels": file.name,
        "products": part.walk.distribution.steps + part.eigenpairs.steps,
    }


def apart(task: str, *args: object) -> dict:
    """Run a function of this file in a new process and return its result."""
    command = [sys.executable, str(HERE), "--task", task, json.dumps(args)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr[-3000:])
    return json.loads(done.stdout.splitlines()[-1])


def agreement(cpu: dict, dask: dict, vertex: str = "vertex") -> str:
    """Describe the differences between the results."""
    import pyarrow.parquet as pq

    table = pq.read_table(dask["labels"])
    ids, labels = table[vertex].to_numpy(), table["cluster"].to_numpy()
    with np.load(cpu["labels"]) as there:
        mine = there["labels"][np.argsort(there["ids"])]
    os.unlink(cpu["labels"])
    k = int(mine.max()) + 1
    together = np.bincount(mine.astype(np.int64) * k + labels[np.argsort(ids)], minlength=k * k).reshape(k, k)
    differ = len(mine) - together.max(axis=1).sum()
    values = np.abs(np.subtract(cpu["values"], dask["values"])).max()
    return (
        f"labels that differ {differ} of {len(mine):,}; eigenvalues by {values:.1e}; "
        f"NCut by {abs(cpu['ncut'] - dask['ncut']):.1e} of {cpu['ncut']:.6f}"
    )


def show(name: str, found: dict) -> None:
    """Print the seconds of every stage."""
    stages = ", ".join(f"{stage} {seconds:.1f}" for stage, seconds in found["stages"].items())
    print(f"{name:>28}: {found['seconds']:6.1f} s ({stages})")


def compare(path: Path, k: int, count: int, memory: str, against_cpu: bool) -> dict:
    """Measure one size with both engines, and print the cost of the rounds."""
    print(f"\n{path.name}, k = {k}, {count} workers of {memory}")
    cpu = apart("on_cpu", str(path), k) if against_cpu else None
    with tempfile.TemporaryDirectory(dir=path.parent) as work, workers(count, memory) as (address, scheduler):
        dask = apart("on_dask", str(path), k, address, count, work, scheduler)
        show("dask", dask["first"])
        show("dask, data prepared", dask["again"])
        if cpu:
            show("cpu", cpu)
            solving = sum(s for stage, s in cpu["stages"].items() if stage != "reading")
            again = sum(
                s for stage, s in dask["again"]["stages"].items() if stage not in ("preparation", "layout")
            )
            print(
                f"{'ratio':>28}: {dask['first']['seconds'] / cpu['seconds']:.2f} from the files, "
                f"{again / solving:.2f} without reading and preparation"
            )
            print(f"{'agreement':>28}: {agreement(cpu, dask)}")
    rounds = {stage: found for stage, found in dask["rounds"].items() if found["rounds"]}
    total = sum(found["rounds"] for found in rounds.values())
    seconds = sum(found["seconds"] for found in rounds.values())
    spent = dask["spent"]
    computing, moving = spent.get("compute", 0.0), spent.get("transfer", 0.0)
    print(
        f"{'a round':>28}: {1e3 * seconds / total:.0f} ms = {1e3 * computing / total:.0f} computing + "
        f"{1e3 * moving / total:.0f} transfer + "
        f"{1e3 * (seconds - computing - moving) / total:.0f} scheduling and others"
    )
    for stage, found in rounds.items():
        print(
            f"{stage:>28}: {found['rounds']:.0f} rounds, {found['products']:.0f} over the incidences, "
            f"{found['bytes'] / 1e6:.0f} MB sent"
        )
    distribution, formula = rounds["stationary distribution"], 16 * count * dask["n"]
    moved = distribution["bytes"] / distribution["products"]
    print(f"{'eigenvectors':>28}: {dask['steps']} products of blocks")
    print(f"{'bytes per product':>28}: {moved / 1e6:.1f} MB, at most 16 W n = {formula / 1e6:.1f} MB")
    own = dask["memory"]
    print(
        f"{'peak memory':>28}: workers {', '.join(f'{x:.2f}' for x in own['workers'])}, scheduler "
        f"{own['scheduler']:.2f}, client {own['client']:.2f} GB"
        + (f"; CPU engine {cpu['memory']:.2f} GB" if cpu else "")
    )
    return dask


def write_ring(path: Path, n: int = 20_000) -> None:
    """Write vertices on a circle, and hyperedges of 15 members from a sixteenth of it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    edge = np.repeat(np.arange(n), 15)
    vertex = (edge + rng.integers(0, n // 16, len(edge))) % n
    edge, vertex = np.divmod(np.unique(edge * n + vertex), n)
    columns = {"vertex": vertex, "edge": edge, "weight": rng.lognormal(size=len(edge))}
    pq.write_table(pa.table(columns), path)


def main() -> None:
    """Measure the given sizes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sizes", nargs="*", type=float, help="numbers of incidences")
    parser.add_argument("-k", type=int, default=2, help="clusters, and planted blocks")
    parser.add_argument("--workers", type=int, default=2, help="number of workers")
    parser.add_argument("--memory", default="4GB", help="memory limit of a worker")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--scaling", action="store_true", help="compare one worker with two")
    parser.add_argument("--ring", action="store_true", help="also cluster a slowly mixing ring")
    parser.add_argument("--task", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.task:
        print(json.dumps(globals()[given.task[0]](*json.loads(given.task[1]))))
        return
    for size in given.sizes:
        path = given.folder / f"sparse-{given.k}-{size:.0e}.parquet".replace("e+0", "e")
        if not path.exists():
            write(path, int(size), given.k)
        for count in (1, 2) if given.scaling else (given.workers,):
            compare(path, given.k, count, given.memory, against_cpu=not given.scaling)
    if given.ring:
        path = given.folder / "ring.parquet"
        write_ring(path)
        for k in (2, 3, 5):
            compare(path, k, given.workers, given.memory, against_cpu=True)


if __name__ == "__main__":
    main()
