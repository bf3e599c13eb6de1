"""CPU time, memory and NMI with many clusters, beside other methods; CPU time against k.

`python benchmarks/many_clusters.py ../shared/real/news20` measures all cases and prints the section of
benchmarks/RESULTS.md; --write puts it there and draws images/time_against_k.png. The folder
has incidences.csv.gz and labels.csv, as for `make real`; without it, the planted cases are measured alone.
The other methods get environments of their own, as for `make bench-full`.

Finished turns are stored in by_k/.cache/cells.json, so that the same command resumes an interrupted run;
--fresh measures those asked for again. --checkout DIR adds hyperclus of another checkout, which runs in
DIR/.venv if that exists.
"""

import argparse
import datetime
import json
import os
import platform
import shlex
import shutil
import signal
import sys
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import numpy as np
from scipy import sparse

import families
import real
from by_k import page, picture
from by_k.methods import METHODS, OWN
from hyperclus.clustering.metrics import agreement
from real_data.methods import Method
from rivals import environments, section, setting, watch

HERE = Path(__file__).resolve().parent
CACHE = HERE / "by_k" / ".cache"
ALL = tuple(method.name for method in METHODS)
LARGE = (OWN, "hyperclus fast", "scikit-network Spectral")
KS = (2, 10, 50, 200, 500)
WARM = ("sparse", 20_000, 3)
ONCE = 60.0  # seconds of wall time; a method that takes longer has one turn
EARLIER = ", other checkout"


@dataclass(frozen=True, slots=True)
class Case:
    """A problem and the methods that are measured on it; `planted` is a family, incidences and blocks."""

    name: str
    planted: tuple[str, int, int] | None
    methods: tuple[str, ...] = ALL


def cases(folder: Path | None) -> list[Case]:
    """All cases, the real set first if its folder is given."""
    found = [Case(f"{folder.resolve().name}", None)] if folder else []
    found.append(Case("texts, n = 2,500, k = 89", ("texts", 20_000, 89)))
    found += [Case(f"sparse, m = 1e6, k = {k}", ("sparse", 1_000_000, k)) for k in KS]
    found += [Case(f"sparse, m = 1e7, k = {k}", ("sparse", 10_000_000, k), LARGE) for k in (2, 10)]
    return found


def arguments() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, nargs="?", help="the folder of a real set with known classes")
    parser.add_argument("--cases", nargs="+", default=[], help="only cases like these, such as '*1e6, k = 2'")
    parser.add_argument("--methods", nargs="+", default=[], help="only methods that begin with one of these")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=360.0, help="limit of wall time for each call")
    parser.add_argument("--gigabytes", type=float, default=10.0, help="limit of resident memory")
    parser.add_argument("--checkout", type=Path, help="another checkout of hyperclus to measure as well")
    parser.add_argument("--fresh", action="store_true", help="measure these cases and methods again")
    parser.add_argument("--write", action="store_true", help="write to RESULTS.md, and the picture")
    return parser.parse_args()


def npz(case: Case, folder: Path | None) -> Path:
    """The incidences (a row per vertex), the classes and k of a case; made once."""
    if case.planted is None:
        CACHE.mkdir(parents=True, exist_ok=True)
        return real.problem_file(case.name, argparse.Namespace(cache=CACHE, folder=folder.resolve().parent))
    family, n_incidences, k = case.planted
    path = CACHE / f"{family}-{n_incidences}-{k}.npz"
    if path.exists() and path.stat().st_mtime > (HERE / "families.py").stat().st_mtime:
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    table, omega, planted = getattr(families, family)(n_incidences, k)
    used = np.bincount(table["vertex"], minlength=len(planted)) > 0
    shape = (len(planted), len(omega))
    rows = sparse.csr_array((table["weight"], (table["vertex"], table["edge"])), shape=shape)[used]
    parts = {"data": rows.data, "indices": rows.indices, "indptr": rows.indptr, "shape": rows.shape}
    np.savez(path, **parts, classes=planted[used], k=k)
    return path


@cache
def interpreter(environment: str | None, checkout: Path | None) -> Path | None:
    """The interpreter of a method; None if its libraries cannot be installed."""
    if environment is not None:
        return environments.rival(environment, setting.CACHE / "environments")
    own = checkout / ".venv" / "bin" / "python" if checkout else None
    return own if own and own.exists() else environments.own()


@cache
def stamp(method: Method, checkout: Path | None) -> str:
    """Hash the machine and the code that a figure depends on."""
    files = [HERE / "by_k" / "methods.py", HERE / "by_k" / "timed.py", HERE / "real_data" / "methods.py"]
    if method.environment:
        files.append(environments.REQUIREMENTS / f"{method.environment}.txt")
    else:
        files += setting.files(checkout / "src" / "hyperclus" if checkout else setting.FROZEN)
    return setting.digest([*files, HERE / "families.py"], setting.machine())


def measure(method: Method, checkout: Path | None, problem: Path, chosen: argparse.Namespace) -> dict:
    """One call in a new process, and how well its labels agree with the classes."""
    folder = CACHE / "cell"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    source = checkout / "src" if checkout else setting.FROZEN.parent
    os.environ["PYTHONPATH"] = f"{source}{os.pathsep}{HERE}"
    python = interpreter(method.environment, checkout)
    small = npz(Case("warm", WARM), None)
    words = [str(python), str(HERE / "by_k" / "timed.py"), method.name, str(small), str(problem), str(folder)]
    ended = watch.run(words, folder / "started", folder / "log", chosen.seconds, chosen.gigabytes * 1e9)
    if ended != "ended":
        return {"status": ended, "seconds": chosen.seconds, "gigabytes": chosen.gigabytes}
    if not (folder / "cell.json").exists():
        lines = (folder / "log").read_text().strip().splitlines() or ["the process ended without a message"]
        return {"status": "failed", "error": lines[-1][:160]}
    cell = json.loads((folder / "cell.json").read_text())
    if cell["status"] == "done":
        with np.load(problem) as arrays:
            found = agreement(arrays["classes"], np.load(folder / "labels.npy"))
        cell |= {"nmi": found.nmi, "clusters": found.counts.shape[1]}
    return cell


def rows(case: Case, chosen: argparse.Namespace) -> list[tuple[Method, Path | None]]:
    """The methods of a case, with the checkout of hyperclus that they run."""
    methods = [m for m in METHODS if m.name in case.methods and real.starts_with(m.name, chosen.methods)]
    found: list[tuple[Method, Path | None]] = [(method, None) for method in methods]
    if chosen.checkout:
        home = chosen.checkout.resolve()
        found += [(method, home) for method in methods if method.environment is None]
    return [(method, home) for method, home in found if interpreter(method.environment, home) is not None]


def take_turns(case: Case, chosen: argparse.Namespace, stored: dict[str, dict]) -> dict[str, dict]:
    """Measure the turns of a case that are not stored, the methods one after the other in each turn."""
    problem, found = npz(case, chosen.folder), {}
    for turn in range(chosen.turns):
        for method, checkout in rows(case, chosen):
            name = method.name + (EARLIER if checkout else "")
            turns = found.setdefault(name, [])
            if turns and (turns[0]["status"] != "done" or turns[0]["wall"] > ONCE):
                continue
            key = f"{case.name} | {name} | {turn}"
            cell = stored.get(key, {})
            if cell.get("stamp") != stamp(method, checkout) or not conclusive(cell, chosen):
                print(f"  {key} ...", end=" ", flush=True, file=sys.stderr)
                cell = measure(method, checkout, problem, chosen)
                cell |= {"stamp": stamp(method, checkout), "when": f"{datetime.datetime.now():%Y-%m-%d}"}
                stored[key] = cell
                real.page.store(CACHE / "cells.json", json.dumps(stored, indent=1))
                words = f"{cell['cpu']:.3g} s, NMI {cell['nmi']:.3f}" if "nmi" in cell else page.stopped(cell)
                print(words, flush=True, file=sys.stderr)
            turns.append(cell)
    return {name: page.row(turns) for name, turns in found.items()}


def conclusive(cell: dict, chosen: argparse.Namespace) -> bool:
    """Whether a stored turn finished, or passed a limit that is not lower than the one given now."""
    if cell["status"] in ("time", "memory"):
        return cell["seconds"] >= chosen.seconds and cell["gigabytes"] >= chosen.gigabytes
    return cell["status"] == "done"


def main() -> None:
    """Measure what is missing, then print or write the section."""
    chosen = arguments()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that the process of a cell ends, too
    setting.freeze()
    CACHE.mkdir(parents=True, exist_ok=True)
    file = CACHE / "cells.json"
    stored = json.loads(file.read_text()) if file.exists() else {}
    wanted = [case for case in cases(chosen.folder) if named(case.name, chosen.cases)]
    if chosen.fresh:
        stored = {key: cell for key, cell in stored.items() if not asked(key, wanted, chosen)}
    results = {case.name: take_turns(case, chosen, stored) for case in wanted}
    series = {k: results[name] for k in KS if (name := f"sparse, m = 1e6, k = {k}") in results}
    days = sorted({cell["when"] for cells in results.values() for cell in cells.values()})
    words = f"`python benchmarks/many_clusters.py {shlex.join(shown(sys.argv[1:]))}`"
    head = f"{words} ({' to '.join(dict.fromkeys((days[0], days[-1])))}; {setting.machine()}; "
    text = page.markdown(results, series, f"{head}Python {platform.python_version()}; {setting.code()})")
    if not chosen.write:
        print(text)
        return
    picture.draw(series, "planted, 1e6 incidences", HERE / "images" / "time_against_k.png")
    section.put(HERE / "RESULTS.md", "many clusters", text, "`python benchmarks/many_clusters.py`")


def named(name: str, patterns: list[str]) -> bool:
    """Whether a name matches one of these patterns; all do if there are none."""
    return not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)


def asked(key: str, wanted: list[Case], chosen: argparse.Namespace) -> bool:
    """Whether a stored turn belongs to the cases and methods that were asked for."""
    case, method, _ = key.split(" | ")
    return case in {one.name for one in wanted} and real.starts_with(method, chosen.methods)


def shown(words: list[str]) -> list[str]:
    """The arguments, with the last part of a path instead of the whole."""
    return [Path(word).name if word.startswith("/") else word for word in words]


if __name__ == "__main__":
    main()
