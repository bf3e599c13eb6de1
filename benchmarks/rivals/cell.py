"""Measure one cell: `python cell.py MODULE TINY PROBLEM FOLDER`.

Libraries are imported and a tiny problem is clustered first, so that compiled code is loaded. Time is
measured from arrays in memory to labels. FOLDER receives `started` when the clock starts, then `labels.npy`
and `cell.json`.
"""

import contextlib
import gc
import importlib
import json
import platform
import resource
import sys
import time
import warnings
from importlib.metadata import version
from pathlib import Path

import numpy as np
from catalogue import METHODS
from problem import Problem

sys.path.append(str(Path(__file__).parents[1]))  # for methods that are those of real_data

REPEATS = 5
SHORT = 1.0  # seconds; a method is repeated for that long, and the least CPU time counts


def cpu_seconds() -> float:
    """Return user and system time of this process, its threads and its finished children."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def peak_bytes() -> int:
    """Return the peak resident memory of this process, including interpreter, libraries and input."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def measure(module: str, tiny: Path, problem: Path, folder: Path) -> dict[str, object]:
    """Warm up, then time a method on a problem, and store its labels."""
    method = importlib.import_module(f"methods.{module}")
    with contextlib.suppress(Exception):  # a failure shows below, at the size asked for
        method.labels(Problem.load(tiny))
    data = Problem.load(problem)
    gc.collect()
    input_bytes = peak_bytes()
    (folder / "started").touch()
    runs, labels, peak = [], None, 0
    for repeat in range(getattr(method, "REPEATS", REPEATS)):
        wall, cpu = time.perf_counter(), cpu_seconds()
        found = np.asarray(method.labels(data))
        runs.append((cpu_seconds() - cpu, time.perf_counter() - wall))
        if repeat == 0:
            labels, peak = found, peak_bytes()
        if sum(wall for _, wall in runs) > SHORT:
            break
    np.save(folder / "labels.npy", labels.astype(np.int64))
    cpu, wall = min(runs)
    return {
        "status": "done",
        "cpu": cpu,
        "wall": wall,
        "repeats": len(runs),
        "peak_bytes": peak,
        "input_bytes": input_bytes,
        "incidences": len(data.edge),
        "vertices": data.n_vertices,
    }


def main() -> None:
    """Measure and write what came of it, errors included."""
    module, tiny, problem, folder = sys.argv[1], *map(Path, sys.argv[2:])
    warnings.simplefilter("ignore")
    try:
        result = measure(module, tiny, problem, folder)
    except MemoryError:
        result = {"status": "memory"}
    except Exception as error:
        lines = str(error).strip().splitlines() or [""]
        result = {"status": "failed", "error": f"{type(error).__name__}: {lines[0][:160]}"}
    packages = next(method.packages for method in METHODS if method.module == module)
    result["versions"] = {
        "Python": platform.python_version(),
        **{package: version(package) for package in packages},
    }
    (folder / "cell.json").write_text(json.dumps(result))


if __name__ == "__main__":
    main()
