"""The cost of checkpoints, and what they save if a run is killed after half of its time.

`python benchmarks/resume.py` prints the table of docs/how_to/long_runs.md in Markdown, in ten minutes. Each
run is a separate process on the sparse family. Times are those of `cluster`, without building the hypergraph.
CPU times, which other work on the machine affects less, are in brackets.
"""

import argparse
import hashlib
import subprocess
import sys
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path

import families
import hyperclus as hc

CASES = ((10**7, 3, 0.3, "default"), (10**6, 3, 0.3, "thorough"))
REPEATS = 2  # the fastest run counts


def clustered(n_incidences: str, blocks: str, noise: str, effort: str, folder: str) -> None:
    """Run once; print a line at the start, then wall seconds, CPU seconds and a hash of the result."""
    table, omega, _ = families.sparse(int(n_incidences), int(blocks), float(noise))
    h = families.build(table, omega)
    del table
    print("started", flush=True)
    start, busy = time.perf_counter(), time.process_time()
    with hc.checkpoints(folder) if folder else nullcontext():
        part = hc.cluster(h, int(blocks), effort=effort)
    print(time.perf_counter() - start, time.process_time() - busy, end=" ")
    print(hashlib.sha256(part.labels.tobytes() + part.ncut.hex().encode()).hexdigest())


def run(case: tuple, folder: str = "", kill_after: float | None = None) -> tuple[float, float, str]:
    """Return wall seconds, CPU seconds and hash of a run; zeros if it is killed."""
    command = [sys.executable, __file__, *map(str, case), folder]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "started\n"
        if kill_after is not None:
            time.sleep(kill_after)
            process.kill()
            return 0.0, 0.0, ""
        seconds, busy, answer = process.stdout.read().split()
    return float(seconds), float(busy), answer


def main() -> None:
    """Print a line for each case."""
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    print("| incidences | effort | without | with | ratio | killed after | rest | same labels | on disk |")
    print("|---|---|---|---|---|---|---|---|---|")
    for case in CASES:
        run(case)  # fills the cache of compiled code
        without, kept = [], []
        for _ in range(REPEATS):  # in turn, because other work on the machine varies
            without.append(run(case))
            with tempfile.TemporaryDirectory() as folder:
                kept.append(run(case, folder))
        alone, watched = min(without), min(kept)
        with tempfile.TemporaryDirectory() as folder:
            run(case, folder, alone[0] / 2)
            size = sum(file.stat().st_size for file in Path(folder).iterdir())
            rest = run(case, folder)
        same = len({answer for _, _, answer in [*without, *kept, rest]}) == 1
        cells = [f"{seconds:.1f} s ({busy:.1f} s)" for seconds, busy, _ in (alone, watched, rest)]
        cells.insert(2, f"{watched[0] / alone[0]:.2f} ({watched[1] / alone[1]:.2f})")
        cells.insert(3, f"{alone[0] / 2:.1f} s")
        cells += ["yes" if same else "no", f"{size / 1e6:.0f} MB"]
        print(f"| {case[0]:.0e} | {case[3]} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    clustered(*sys.argv[1:]) if len(sys.argv) == 6 else main()
