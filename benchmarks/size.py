"""Time and memory from a Parquet file to labels: `python benchmarks/size.py 1e6 1e7 1e8`, or `-k 10 1e7`.

The files hold planted sparse hypergraphs (see families.py) with integer ids, or with --text text ids, written
in pieces to a temporary folder. Each is clustered in a separate process. Prints wall time, CPU time and peak
memory of every stage and of the report, and the growth relative to a linear extrapolation from the
previous size.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

import numpy as np

EDGES = 100_000  # to write at once
NOISE = 0.2


def write(path: Path, n_incidences: int, blocks: int, text: bool = False) -> None:
    """Write hyperedges of 10 to 20 members from the home block or, one in five, from all vertices."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    rng, n = np.random.default_rng(0), n_incidences // 15
    names = rng.permutation(n)
    ids = pa.string() if text else pa.int64()
    columns = {"vertex": ids, "edge": ids, "weight": pa.float64(), "edge_weight": pa.float64()}
    schema = pa.schema(list(columns.items()))
    with pq.ParquetWriter(path, schema) as file:
        for first in range(0, n, EDGES):
            count = min(EDGES, n - first)
            edge = np.repeat(np.arange(count), rng.integers(10, 21, count))
            home = rng.integers(0, blocks, count)[edge]
            vertex = home * (n // blocks) + rng.integers(0, n // blocks, len(edge))
            vertex = np.where(rng.random(len(edge)) < NOISE, rng.integers(0, n, len(edge)), vertex)
            edge, vertex = np.divmod(np.unique(edge * n + vertex), n)
            omega = rng.uniform(0.5, 2.0, count)[edge]
            rows = (names[vertex], edge + first, rng.lognormal(size=len(edge)), omega)
            table = dict(zip(columns, map(pa.array, rows), strict=True))
            for name in ("vertex", "edge") if text else ():  # v123, e45
                table[name] = pc.binary_join_element_wise(name[0], table[name].cast(pa.string()), "")
            file.write_table(pa.table(table, schema=schema))


class Stages:
    """Listener that adds up time and memory of each stage."""

    def __init__(self) -> None:
        self.rows: dict[str, list[float]] = {}
        self.stage = ""
        self.begin()

    def begin(self) -> None:
        """Reset the clocks and the peak memory."""
        Path("/proc/self/clear_refs").write_text("5")
        self.start = time.perf_counter(), time.process_time()

    def to(self, stage: str) -> None:
        """Add what was spent since the last call to the current stage, and change the stage."""
        if stage != self.stage:
            row = self.rows.setdefault(self.stage, [0.0, 0.0, 0.0])
            row[0] += time.perf_counter() - self.start[0]
            row[1] += time.process_time() - self.start[1]
            row[2] = max(row[2], peak())
            self.stage = stage
            self.begin()


def peak(process: int | str = "self") -> float:
    """Return the peak memory of a process in GB since its last reset."""
    return memory("VmHWM", process)


def memory(what: str, process: int | str = "self") -> float:
    """Return a figure of the memory of a process in GB."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return 1024e-9 * int(next(line for line in lines if line.startswith(what)).split()[1])


def measure(path: str, k: int, effort: str) -> dict:
    """Read and cluster; return the figures of every stage."""
    stages = Stages()
    stages.stage = "import"
    import hyperclus as hc

    with hc.watching(lambda step: stages.to(step.stage)):
        stages.to("reading")
        h = hc.read(path)
        stages.to("building the walk")
        part = hc.cluster(h, k, effort=effort, engine="cpu")
        stages.to("")
    finished, before = {name: row for name, row in stages.rows.items() if name}, memory("VmRSS")
    stages.stage = "report"
    stages.begin()
    with tempfile.TemporaryDirectory() as folder:
        part.to_html(Path(folder) / "report.html")
    stages.to("")
    return {
        "stages": finished,
        "report": stages.rows["report"],
        "report_memory": stages.rows["report"][2] - before,
        "incidences": h.n_incidences,
        "k": k,
        "ncut": part.ncut,
        "bound": part.lower_bound,
        "products": part.eigenpairs.steps,
        "distribution": part.walk.distribution.steps,
        "peak": max(row[2] for row in finished.values()),
    }


def table(figures: list[dict]) -> str:
    """Format a table with a row for each stage and a column for each size."""
    names = list(dict.fromkeys(name for found in figures for name in found["stages"]))
    head = [f"m = {found['incidences']:,}, k = {found['k']}" for found in figures]
    lines = [f"| stage | {' | '.join(head)} |", "| --- |" + " ---: |" * len(figures)]
    for name in [*names, "file to labels", "report"]:
        cells = []
        for found in figures:
            account = {"file to labels": totals(found), "report": found["report"], **found["stages"]}
            wall, cpu, high = account.get(name, (0, 0, 0))
            cells.append(f"{wall:.1f} s, {cpu:.1f} s CPU, {high:.2f} GB")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    for before, after in pairwise(figures):
        if before["k"] == after["k"]:
            growth = totals(after)[0] / totals(before)[0] / (after["incidences"] / before["incidences"])
            lines.append(
                f"\n{after['incidences']:,}: {growth:.2f} times linear from {before['incidences']:,}"
            )
    lines += [
        f"\n{found['incidences']:,}: NCut {found['ncut']:.6f}, bound {found['bound']:.6f}, "
        f"{found['distribution']} steps for the stationary distribution, {found['products']} products; "
        f"peak {found['peak']:.2f} GB; the report takes {found['report_memory']:.2f} GB more than the "
        "partition"
        for found in figures
    ]
    return "\n".join(lines)


def totals(found: dict) -> tuple[float, float, float]:
    """Return wall time, CPU time and peak memory of all stages."""
    rows = list(found["stages"].values())
    return sum(row[0] for row in rows), sum(row[1] for row in rows), max(row[2] for row in rows)


def main() -> None:
    """Write the files, measure each in a separate process, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sizes", nargs="+", help="numbers of incidences, such as 1e7")
    parser.add_argument("-k", type=int, default=2, help="clusters, and planted blocks")
    parser.add_argument("--text", action="store_true", help="ids such as v123 instead of integers")
    parser.add_argument("--effort", default="default", help="effort of the search")
    parser.add_argument("--folder", type=Path, help="write the files here and reuse them")
    parser.add_argument("--inner", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.inner:
        print(json.dumps(measure(chosen.sizes[0], chosen.k, chosen.effort)))
        return
    figures = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = chosen.folder or Path(temporary)
        for size in chosen.sizes:
            path = folder / f"sparse-{chosen.k}-{size}{'-text' * chosen.text}.parquet"
            if not path.exists():
                write(path, int(float(size)), chosen.k, chosen.text)
            command = [sys.executable, __file__, str(path), "-k", str(chosen.k), "--effort", chosen.effort]
            done = subprocess.run([*command, "--inner"], capture_output=True, text=True, check=True)
            figures.append(json.loads(done.stdout))
            print(table(figures[-1:]), flush=True)
    print(table(figures))


if __name__ == "__main__":
    main()
