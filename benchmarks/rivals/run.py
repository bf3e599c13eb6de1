"""Compare hyperclus with its rivals: the section on other libraries in benchmarks/RESULTS.md, and two plots.

`make bench` takes minutes for it (up to about 1e6 incidences, 30 s per cell), `make bench-full` about an hour
(--full: up to 1e7, 120 s). Every cell is a separate process, one after the other.

Finished cells are stored in .cache/cells.json and reused as long as the code that they measure does not
change, so that the same command resumes an interrupted run. --fresh deletes them first; to resume that run,
omit it.

With --seconds, --gigabytes, --largest or --only, the page and the plots are written to .cache/ instead.
"""

import argparse
import datetime
import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import environments
import page
import section
import setting
import watch
from catalogue import METHODS, Method
from records import Records
from setting import CACHE, PHYSICAL

HERE = Path(__file__).parent
FOLDER = CACHE / "cell"
SIZES = {
    "sparse": (10_000, 30_000, 100_000, 300_000, 500_000, 1_000_000, 3_000_000, 10_000_000),
    "binned": tuple(22 * n for n in (1_000, 4_000, 8_000, 16_000, 32_000, 64_000, 256_000, 454_545)),
}
TINY = {"sparse": 1_500, "binned": 2_200}
QUICK = 1_500_000


def arguments() -> argparse.Namespace:
    """The command line; limits that are not given follow from --full."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--full", action="store_true", help="sizes up to 1e7 and 120 s for each cell")
    parser.add_argument("--fresh", action="store_true", help="delete the cells of earlier runs first")
    parser.add_argument("--seconds", type=float, help="limit of wall time for each cell; at least 2")
    parser.add_argument("--gigabytes", type=float, help="limit of resident memory for each cell; 10")
    parser.add_argument("--largest", type=float, help="the largest number of incidences")
    parser.add_argument("--only", nargs="+", metavar="MODULE", help="only these methods, and hyperclus")
    chosen = parser.parse_args()
    chosen.partial = any((chosen.seconds, chosen.gigabytes, chosen.largest, chosen.only))
    chosen.seconds = max(2.0, chosen.seconds or (120 if chosen.full else 30))
    chosen.largest = chosen.largest or (1e7 if chosen.full else QUICK)
    chosen.gigabytes = round(min(chosen.gigabytes or 10, 0.8 * PHYSICAL / 1e9), 1)
    smallest = max(sizes[0] for sizes in SIZES.values())
    if chosen.largest < smallest:
        parser.error(f"--largest leaves a family without sizes; give {smallest} or more")
    unknown = set(chosen.only or ()) - {method.module for method in METHODS}
    if unknown:
        parser.error(
            f"no method {', '.join(sorted(unknown))}; there are {', '.join(m.module for m in METHODS)}"
        )
    return chosen


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


def cell_process(method: Method, python: Path, family: str, size: int, seconds: float, n_bytes: float) -> str:
    """Run one cell in an empty folder, and say how it ended."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    inputs = [str(problem_file(family, TINY[family])), str(problem_file(family, size)), str(FOLDER)]
    command = [str(python), str(HERE / "cell.py"), method.module, *inputs]
    return watch.run(command, FOLDER / "started", FOLDER / "log", seconds, n_bytes)


def measure(method: Method, python: Path, family: str, size: int, chosen: argparse.Namespace) -> dict:
    """One cell in a fresh process, and how good its labels are."""
    began = clock()
    ended = cell_process(method, python, family, size, chosen.seconds, chosen.gigabytes * 1e9)
    result = FOLDER / "cell.json"
    if ended == "ended" and result.exists():
        cell = json.loads(result.read_text())
    elif ended == "ended":
        lines = (FOLDER / "log").read_text().strip().splitlines() or ["the process ended without a word"]
        cell = {"status": "failed", "error": lines[-1][:160]}
    elif ended == "start-up":
        cell = {"status": "failed", "error": f"no start within {watch.START_UP:g} s"}
    else:
        cell = {"status": ended}
    if cell["status"] == "done":
        cell |= score(problem_file(family, size), str(FOLDER / "labels.npy"))
    limits = {"seconds": chosen.seconds, "gigabytes": chosen.gigabytes}
    return {**cell, **limits, "began": began, "ended": clock()}


def clock() -> str:
    """Date and time."""
    return f"{datetime.datetime.now():%Y-%m-%d %H:%M}"


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
            cells[method.name] = {"status": "skipped", "after": stopped[method.name, family]}
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
            stopped[method.name, family] = f"{page.stopped(cell)} at {size:,}"
    return cells


def interpreters(chosen: argparse.Namespace) -> dict:
    """The interpreter of each method, None where there is none; and no note yet of those stopped."""
    made: dict[str | None, Path | None] = {None: environments.own()}
    known: dict = {"stopped": {}}
    for method in METHODS:
        wanted = not chosen.only or method.environment is None or method.module in chosen.only
        if wanted and method.environment not in made:
            made[method.environment] = environments.rival(str(method.environment), CACHE / "environments")
        known[method.name] = made[method.environment] if wanted else None
    return known


def measure_all(chosen: argparse.Namespace, records: Records) -> dict:
    """Every cell, measured or kept, and all that the page says about them."""
    known = interpreters(chosen)
    results: dict[str, dict[int, dict]] = {}
    for family, sizes in SIZES.items():
        results[family] = {}
        for size in (size for size in sizes if size <= chosen.largest):
            results[family][size] = column(family, size, known, chosen, records)
            results[family][size]["planted"] = score(problem_file(family, size), "planted")
    command = " ".join(["python benchmarks/rivals/run.py", *sys.argv[1:]])
    standing = "make bench-full" if chosen.full else "make bench"
    return {
        "machine": setting.machine(),
        "command": command if chosen.partial else standing,
        "seconds": chosen.seconds,
        "gigabytes": chosen.gigabytes,
        "missing": [m.name for m in METHODS if known[m.name] is None and not chosen.only],
        "results": results,
    }


def main() -> None:
    """Measure what is missing, then write the page and the plots."""
    chosen = arguments()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    CACHE.mkdir(exist_ok=True)
    setting.freeze()
    code, file = setting.code(), CACHE / "cells.json"
    print(f"rivals: {code}", flush=True)
    if chosen.fresh:
        file.unlink(missing_ok=True)
    records = Records(file)
    try:
        run = {**measure_all(chosen, records), "code": code}
    except KeyboardInterrupt:
        print(f"\ninterrupted; {len(records.cells)} cells are stored, run the same command to resume")
        sys.exit(130)
    write(run, CACHE if chosen.partial else HERE.parent)


def write(run: dict, home: Path) -> None:
    """The plots and the page; a run that is not one of the two standing ones gets a page of its own."""
    (CACHE / "run.json").write_text(json.dumps(run, indent=1))
    plots = [str(environments.own()), str(HERE / "plots.py"), str(CACHE / "run.json"), str(home / "images")]
    subprocess.run(plots, check=True)
    results = home / "RESULTS.md"
    if home == CACHE:
        results.write_text(page.markdown(run))
    else:
        section.put(results, "rivals", page.markdown(run))
    print(f"wrote {results} and {home}/images/rivals-*.png")


if __name__ == "__main__":
    main()
