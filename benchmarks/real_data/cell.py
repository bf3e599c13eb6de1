"""Measure one method on one set: `python cell.py METHOD SEEDS PROBLEM FOLDER`.

FOLDER receives `started` when the clock starts, and after each seed `labels.npy` (a row per seed) and
`cell.json` (CPU seconds of each seed, the peak memory, and the error that ended it).
"""

import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from methods import METHODS
from scipy import sparse


def main() -> None:
    """Run the seeds one after the other, and store what there is after each."""
    name, seeds, problem, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3], Path(sys.argv[4])
    warnings.simplefilter("ignore")
    method = next(method for method in METHODS if method.name == name)
    with np.load(problem) as arrays:
        entries, k = (arrays["data"], arrays["indices"], arrays["indptr"]), int(arrays["k"])
        shape = tuple(arrays["shape"].tolist())
    result: dict = {"cpu": []}
    rows: list[np.ndarray] = []
    (folder / "started").touch()
    for seed in range(seeds):
        incidences = sparse.csr_array(tuple(part.copy() for part in entries), shape=shape)
        began = time.process_time()
        try:
            labels = method.labels(incidences, k, seed)
        except Exception as error:  # a method that fails is a result, too
            lines = str(error).strip().splitlines() or [""]
            result["error"] = f"{type(error).__name__}: {lines[0][:160]}"
        else:
            result["cpu"].append(time.process_time() - began)
            rows.append(np.unique(labels, return_inverse=True)[1])
        result["peak_bytes"] = peak_bytes()
        write(folder, result, rows)
        if "error" in result:
            break


def peak_bytes() -> int | None:
    """Peak resident memory since this program began; ru_maxrss would begin with that of its parent."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM")), None)


def write(folder: Path, result: dict, rows: list[np.ndarray]) -> None:
    """Store both files so that a process that is killed leaves complete ones; labels first."""
    np.save(folder / "new.npy", np.array(rows))
    (folder / "new.npy").replace(folder / "labels.npy")
    (folder / "new.json").write_text(json.dumps(result))
    (folder / "new.json").replace(folder / "cell.json")


if __name__ == "__main__":
    main()
