"""Compare hyperclus with its rivals and write RESULTS.md and two plots.

`python benchmarks/rivals/run.py` takes minutes (up to about 1e6 incidences, 30 s for each cell);
`--full` takes an hour or so (up to 1e7, 120 s). Every cell is a process of its own, one after the other.
Finished cells are kept: an interrupted run goes on where it stopped, and `--fresh` starts anew.
"""

import argparse
import datetime
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import environments
import page
import watch
from catalogue import METHODS, Method
from records import Records

HERE = Path(__file__).parent
CACHE = HERE / ".cache"
IMAGES = HERE.parent / "images"
SIZES = {
    "sparse": (10_000, 100_000, 1_000_000, 10_000_000),
    "binned": tuple(22 * n for n in (1_000, 4_000, 16_000, 64_000, 256_000, 454_545)),
}
TINY = {"sparse": 1_500, "binned": 2_200}
QUICK = 1_500_000
PHYSICAL = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def arguments() -> argparse.Namespace:
    """The command line; limits that are not given follow from --full."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--full", action="store_true", help="sizes up to 1e7 and 120 s for each cell")
    parser.add_argument("--fresh", action="store_true", help="forget the cells of earlier runs")
    parser.add_argument("--seconds", type=float, help="limit of wall time for each cell; at least 2")
    parser.add_argument("--gigabytes", type=float, default=10, help="limit of resident memory for each cell")
    parser.add_argument("--largest", type=float, help="the largest number of incidences")
    parser.add_argument("--only", nargs="+", metavar="MODULE", help="only these methods, and hyperclus")
    chosen = parser.parse_args()
    chosen.seconds = max(2.0, chosen.seconds or (120 if chosen.full else 30))
    chosen.largest = chosen.largest or (1e7 if chosen.full else QUICK)
    chosen.gigabytes = round(min(chosen.gigabytes, 0.8 * PHYSICAL / 1e9), 1)
    smallest = max(sizes[0] for sizes in SIZES.values())
    if chosen.largest < smallest:
        parser.error(f"--largest leaves a family without sizes; give {smallest} or more")
    unknown = set(chosen.only or ()) - {method.module for method in METHODS}
    if unknown:
        parser.error(
            f"no method {', '.join(sorted(unknown))}; there are {', '.join(m.module for m in METHODS)}"
        )
    return chosen


def machine() -> str:
    """The processor, cores, memory and system of this run."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    model = next(
        (line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.processor()
    )
    return f"{model}, {os.cpu_count()} cores, {PHYSICAL / 2**30:.0f} GiB, {platform.system()}"


def problem_file(family: str, size: int) -> Path:
    """The input of a cell, generated once."""
    path = CACHE / "problems" / f"{family}-{size}.npz"
    newest = max(file.stat().st_mtime for file in (HERE / "problem.py", HERE.parent / "families.py"))
    if not path.exists() or path.stat().st_mtime < newest:
        path.parent.mkdir(parents=True, exist_ok=True)
        command = [str(environments.own()), str(HERE / "problem.py"), family, str(size), str(path)]
        subprocess.run(command, check=True)
    return path


def score(problem: Path, labels: str) -> dict:
    """NMI and NCut, by hyperclus; not timed."""
    command = [str(environments.own()), str(HERE / "score.py"), str(problem), labels]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)[0]


def measure(method: Method, python: Path, family: str, size: int, chosen: argparse.Namespace) -> dict:
    """One cell in a fresh process, and how good its labels are."""
    folder = CACHE / "cell"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    problem, log = problem_file(family, size), folder / "log"
    inputs = [str(problem_file(family, TINY[family])), str(problem), str(folder)]
    command = [str(python), str(HERE / "cell.py"), method.module, *inputs]
    ended = watch.run(command, folder / "started", log, chosen.seconds, chosen.gigabytes * 1e9)
    result = folder / "cell.json"
    if ended == "ended" and result.exists():
        cell = json.loads(result.read_text())
    elif ended == "ended":
        lines = log.read_text().strip().splitlines() or ["the process ended without a word"]
        cell = {"status": "failed", "error": lines[-1][:160]}
    else:
        cell = {"status": ended}
    if cell["status"] == "done":
        cell |= score(problem, str(folder / "labels.npy"))
    return {
        **cell,
        "seconds": chosen.seconds,
        "gigabytes": chosen.gigabytes,
        "date": f"{datetime.datetime.now():%Y-%m-%d %H:%M}",
    }


def column(
    family: str, size: int, known: dict, chosen: argparse.Namespace, records: Records
) -> dict[str, dict]:
    """All methods at one size; those stopped at a smaller size are passed over."""
    cells: dict[str, dict] = {}
    for method in METHODS:
        python, stopped = known[method.name], known["stopped"]
        if python is None:
            continue
        if (method.name, family) in stopped:
            cells[method.name] = {"status": "skipped"}
            continue
        print(f"  {family} {size:,} {method.name} ...", end=" ", flush=True)
        cell = records.find(method, family, size, chosen.seconds, chosen.gigabytes)
        kept = cell is not None
        if cell is None:
            cell = measure(method, python, family, size, chosen)
            records.keep(method, family, size, cell)
        cells[method.name] = cell
        print(page.outcome(cell) + (" (kept)" if kept else ""), flush=True)
        if cell["status"] in ("time", "memory"):
            stopped.add((method.name, family))
    return cells


def interpreters(chosen: argparse.Namespace) -> dict:
    """The interpreter of each method, None where there is none; and an empty set of those stopped."""
    made: dict[str | None, Path | None] = {None: environments.own()}
    known: dict = {"stopped": set()}
    for method in METHODS:
        wanted = not chosen.only or method.environment is None or method.module in chosen.only
        if wanted and method.environment not in made:
            made[method.environment] = environments.rival(str(method.environment), CACHE / "environments")
        known[method.name] = made[method.environment] if wanted else None
    return known


def main() -> None:
    """Measure what is missing, then write the page and the plots."""
    chosen = arguments()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    CACHE.mkdir(exist_ok=True)
    file = CACHE / "cells.json"
    if chosen.fresh:
        file.unlink(missing_ok=True)
    records, start = Records(file, machine()), time.monotonic()
    try:
        known = interpreters(chosen)
        results: dict[str, dict[int, dict]] = {}
        for family, sizes in SIZES.items():
            results[family] = {}
            for size in (size for size in sizes if size <= chosen.largest):
                results[family][size] = column(family, size, known, chosen, records)
                results[family][size]["planted"] = score(problem_file(family, size), "planted")
    except KeyboardInterrupt:
        print(f"\ninterrupted; {len(records.cells)} cells are kept, run the same command to go on")
        sys.exit(130)
    missing = [m.name for m in METHODS if known[m.name] is None and not chosen.only]
    run = {
        "machine": machine(),
        "command": " ".join(["python benchmarks/rivals/run.py", *sys.argv[1:]]),
        "minutes": (time.monotonic() - start) / 60,
        "seconds": chosen.seconds,
        "gigabytes": chosen.gigabytes,
        "missing": missing,
        "results": results,
    }
    (CACHE / "run.json").write_text(json.dumps(run, indent=1))
    plots = [str(environments.own()), str(HERE / "plots.py"), str(CACHE / "run.json"), str(IMAGES)]
    subprocess.run(plots, check=True)
    (HERE / "RESULTS.md").write_text(page.markdown(run))
    print(f"wrote {HERE / 'RESULTS.md'} and {IMAGES}/rivals-*.png")


if __name__ == "__main__":
    main()
