"""Time one call of a method: `python timed.py METHOD WARM-UP PROBLEM FOLDER`, with benchmarks/ on the path.

A call on the small problem WARM-UP, which is not counted, loads what is loaded on first use. FOLDER receives
`started` when the clock starts, then `labels.npy` and `cell.json`. Threads are not limited.
"""

import contextlib
import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from scipy import sparse

from by_k.methods import METHODS


def load(path: str) -> tuple[sparse.csr_array, int]:
    """Load the incidences, a row per vertex, and the number of clusters."""
    with np.load(path) as arrays:
        entries = (arrays["data"], arrays["indices"], arrays["indptr"])
        return sparse.csr_array(entries, shape=tuple(arrays["shape"].tolist())), int(arrays["k"])


def peak_bytes() -> int | None:
    """Peak resident memory since this program began; ru_maxrss would begin with that of its parent."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM")), None)


def measure(name: str, small: str, problem: str, folder: Path) -> dict[str, object]:
    """Warm up, then time one call, and store its labels."""
    method = next(method for method in METHODS if method.name == name)
    with contextlib.suppress(Exception):  # a failure shows below, at the size asked for
        method.labels(*load(small), 0)
    incidences, k = load(problem)
    (folder / "started").touch()
    wall, busy = time.perf_counter(), time.process_time()
    labels = method.labels(incidences, k, 0)
    cpu, seconds = time.process_time() - busy, time.perf_counter() - wall  # CPU time is that of all threads
    np.save(folder / "labels.npy", np.unique(labels, return_inverse=True)[1])
    return {"status": "done", "cpu": cpu, "wall": seconds, "peak_bytes": peak_bytes()}


def main() -> None:
    """Measure and write what came of it, errors included."""
    name, small, problem, folder = *sys.argv[1:4], Path(sys.argv[4])
    warnings.simplefilter("ignore")
    try:
        result = measure(name, small, problem, folder)
    except Exception as error:  # a method that fails is a result, too
        lines = str(error).strip().splitlines() or [""]
        result = {"status": "failed", "error": f"{type(error).__name__}: {lines[0][:160]}"}
    (folder / "cell.json").write_text(json.dumps(result))


if __name__ == "__main__":
    main()
