"""Agreement with known classes on real hypergraphs, beside other methods: writes benchmarks/REAL.md.

`make real` runs `python benchmarks/real.py ../shared/real`. The folder has a folder per set, with
incidences.csv.gz (vertex, edge, weight) and labels.csv (vertex, label). The number of clusters is given, the
classes are not; vertices in no hyperedge do not count. Each method runs on each set in a process of its own,
with one thread, over the seeds.

Finished cells are stored in real_data/.cache/cells.json, so that the same command resumes an interrupted run.
--fresh measures those asked for again: after a change, `--methods hyperclus --fresh` measures hyperclus
alone, and the page has its new figures beside the stored ones of the others.
"""

import argparse
import csv
import datetime
import json
import os
import shutil
import signal
import sys
from functools import cache
from pathlib import Path

import numpy as np
from scipy.optimize import linear_sum_assignment

import hyperclus as hc
from hyperclus.clustering.metrics import agreement
from real_data import page, picture
from real_data.methods import METHODS, Method
from rivals import environments, setting, watch

HERE = Path(__file__).parent
LEFT_OUT = "house-committees"  # parties are not clusters of committees: a negative example
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def arguments(words: list[str] | None = None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sets", nargs="+", default=[], help="only sets whose names begin with one of these")
    parser.add_argument("--methods", nargs="+", default=[], help="the same for methods, in any case")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=300.0, help="limit of wall time, all seeds together")
    parser.add_argument("--gigabytes", type=float, default=8.0, help="limit of resident memory")
    parser.add_argument("--fresh", action="store_true", help="measure these sets and methods again")
    parser.add_argument("--cache", type=Path, default=HERE / "real_data" / ".cache")
    parser.add_argument("--page", type=Path, default=HERE / "REAL.md")
    return parser.parse_args(words)


def main(words: list[str] | None = None) -> None:
    """Measure what is missing, then write the page and its picture from all that is stored."""
    chosen = arguments(words)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that the process of a cell ends, too
    os.environ.update(dict.fromkeys(THREADS, "1"))
    setting.freeze()
    chosen.cache.mkdir(parents=True, exist_ok=True)
    store = chosen.cache / "cells.json"
    cells = json.loads(store.read_text()) if store.exists() else {}
    sets = [name for name in sets_in(chosen.folder) if starts_with(name, chosen.sets)]
    methods = [method for method in METHODS if starts_with(method.name, chosen.methods)]
    if not sets or not methods:
        sys.exit("no set or no method has such a name; run with --help")
    for name in sets:
        for method in methods:
            key = f"{name} | {method.name}"
            if (python := interpreter(method.environment)) is None or (key in cells and not chosen.fresh):
                continue
            print(f"  {name}, {method.name} ...", end=" ", flush=True)
            cells[key] = {**measure(name, method, python, chosen), "set": name, "method": method.name}
            page.store(store, json.dumps(cells, indent=1))
            print(page.outcome(cells[key]), flush=True)
    write(cells, chosen)


def write(cells: dict[str, dict], chosen: argparse.Namespace) -> None:
    """Write the page and its picture, from the stored cells of the sets that are in the folder."""
    known = sets_in(chosen.folder)
    tables = page.Tables([cell for cell in cells.values() if cell["set"] in known])
    image = chosen.page.parent / "images" / "real.png"
    image.parent.mkdir(parents=True, exist_ok=True)
    picture.draw(tables, image)
    page.store(chosen.page, page.markdown(tables, setting.machine()))
    print(f"wrote {chosen.page} and {image}")


def sets_in(folder: Path) -> list[str]:
    """Names of the sets in a folder, in order."""
    names = sorted(path.parent.name for path in folder.glob("*/incidences.csv.gz"))
    return [name for name in names if name != LEFT_OUT]


def starts_with(name: str, beginnings: list[str]) -> bool:
    """Whether a name begins with one of these, in any case; all do if there are none."""
    return not beginnings or any(name.lower().startswith(words.lower()) for words in beginnings)


def measure(name: str, method: Method, python: Path, chosen: argparse.Namespace) -> dict:
    """Run a method on a set in a new process, and score the labels of the seeds that it finished."""
    problem, folder = problem_file(name, chosen), chosen.cache / "cell"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    script = HERE / "real_data" / "cell.py"
    words = [str(python), str(script), method.name, str(chosen.seeds), str(problem), str(folder)]
    ended = watch.run(words, folder / "started", folder / "log", chosen.seconds, chosen.gigabytes * 1e9)
    found = json.loads((folder / "cell.json").read_text()) if (folder / "cell.json").exists() else {}
    cell = {"status": "done" if ended == "ended" else ended, "seconds": chosen.seconds}
    cell |= {"date": f"{datetime.date.today()}", "peak_bytes": found.get("peak_bytes")}
    if method.environment is None:
        cell["code"] = setting.code()
    if ended == "ended" and ("error" in found or not found):
        lines = (folder / "log").read_text().strip().splitlines() or ["the process ended without a message"]
        cell |= {"status": "failed", "error": found.get("error", lines[-1][:160])}
    with np.load(problem) as arrays:
        classes, cell["k"] = arrays["classes"], int(arrays["k"])
    rows = np.load(folder / "labels.npy") if found.get("cpu") else []
    cell["seeds"] = [
        {**scores(classes, row), "cpu": cpu} for row, cpu in zip(rows, found.get("cpu", []), strict=False)
    ]
    return cell


@cache
def interpreter(environment: str | None) -> Path | None:
    """The interpreter of an environment; None if its libraries cannot be installed."""
    if environment is None:
        return environments.own()
    return environments.rival(environment, setting.CACHE / "environments")


def problem_file(name: str, chosen: argparse.Namespace) -> Path:
    """The incidences of a set as arrays (a row per vertex), the classes as numbers, and k; made once."""
    path, source = chosen.cache / f"{name}.npz", chosen.folder / name / "incidences.csv.gz"
    if path.exists() and path.stat().st_mtime > source.stat().st_mtime:
        return path
    h = hc.read(source)
    with open(source.with_name("labels.csv"), encoding="utf-8", newline="") as file:
        label = {row["vertex"]: row["label"] for row in csv.DictReader(file)}
    names, classes = np.unique([label[vertex] for vertex in h.vertex_ids.tolist()], return_inverse=True)
    rows = h.gamma.T.tocsr()
    parts = {"data": rows.data, "indices": rows.indices, "indptr": rows.indptr, "shape": rows.shape}
    np.savez(path, **parts, classes=classes, k=len(names))
    return path


def scores(classes: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    """NMI (arithmetic mean of the entropies), ARI, accuracy of the best matching, and sizes."""
    found = agreement(classes, labels)
    matched = found.counts[linear_sum_assignment(-found.counts)].sum()
    sizes = found.counts.sum(axis=0)
    return {
        "nmi": found.nmi,
        "ari": found.ari,
        "accuracy": float(matched / len(labels)),
        "smallest": int(sizes.min()),
        "clusters": len(sizes),
    }


if __name__ == "__main__":
    main()
