"""First calls, and the size of an installation: `python benchmarks/first_call.py [--checkout ../old]`.

Installs this checkout, the other one if given, and scikit-network into new virtual environments in a
temporary folder, and prints two tables in Markdown: the seconds of the import (`scipy.sparse` and `from
hyperclus import cluster`, which loads all that a call needs of hyperclus) and of `cluster(X, 3)` on planted
hypergraphs, and the disk space of each. The call is timed

- in the first process after the installation: NUMBA_CACHE_DIR names an empty folder, so that code which
  caches what it compiles finds nothing;
- in the next process;
- again in that process.

The libraries take turns, and the median of the turns counts. Wall time is what a user waits for; CPU time, of
all threads, is in brackets. Peak memory is that of the second process up to the end of its first call.
"""

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import venv
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np
from scipy import sparse

import families
from one_first_call import K
from rivals import section, setting
from rivals.environments import REQUIREMENTS

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
SIZES = (10_000, 100_000, 1_000_000)
UNUSED = shutil.ignore_patterns(".git", ".venv*", "__pycache__", ".cache", ".*_cache", "build", "dist")


@dataclass(frozen=True, slots=True)
class Installation:
    """A library in a virtual environment of its own, and the disk space that this takes."""

    name: str
    library: str
    python: Path
    megabytes: float


def megabytes(folder: Path) -> float:
    """Disk space of a folder, as `du` counts it, without following links."""
    files = [path for path in folder.rglob("*") if not path.is_symlink()]
    return sum(512 * path.lstat().st_blocks for path in files) / 1e6


def install(name: str, library: str, home: Path, words: list[str]) -> Installation:
    """Install something with pip into a new environment; its size includes pip and setuptools."""
    print(f"  installing {name} ...", file=sys.stderr, flush=True)
    venv.create(home, with_pip=True)
    python = home / "bin" / "python"
    command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{name} cannot be installed:\n{done.stderr}")
    return Installation(name, library, python, megabytes(home))


def checkout(folder: Path, home: Path) -> Installation:
    """Install a checkout from a copy, so that a build leaves nothing in it."""
    source = home / "source"
    shutil.copytree(folder, source, ignore=UNUSED)
    words = [str(source), "--constraint", str(source / "constraints.txt")]
    return install(f"hyperclus {commit(folder)}", "hyperclus", home / "environment", words)


def scikit_network(folder: Path) -> list[Installation]:
    """Install scikit-network with scikit-learn, whose k-means it needs for k clusters, and without."""
    pins = REQUIREMENTS / "scikit-network.txt"
    needed = [line for line in pins.read_text().splitlines() if line.startswith(("numpy", "sci"))]
    alone = [line for line in needed if not line.startswith("scikit-learn")]
    names = {"scikit-network, scikit-learn": ["-r", str(pins)], "scikit-network": alone}
    return [install(name, "scikit-network", folder / name, words) for name, words in names.items()]


def commit(folder: Path) -> str:
    """The commit that is checked out, and whether the package has been changed since."""

    def git(*words: str) -> str:
        command = ["git", "-C", str(folder), *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    changed = git("status", "--porcelain", "--", "src", "pyproject.toml")
    return git("rev-parse", "--short", "HEAD") + (" with changes" if changed else "")


def problem(n_incidences: int, folder: Path) -> Path:
    """Write a planted hypergraph with three blocks as the parts of a CSR matrix."""
    path = folder / f"{n_incidences}.npz"
    table, omega, planted = families.sparse(n_incidences, K)
    used = np.bincount(table["vertex"], minlength=len(planted)) > 0
    shape = (len(planted), len(omega))
    rows = sparse.csr_array((table["weight"], (table["vertex"], table["edge"])), shape=shape)[used]
    np.savez(path, data=rows.data, indices=rows.indices, indptr=rows.indptr, shape=rows.shape)
    return path


def processes(one: Installation, problem: Path) -> list[dict]:
    """Run two processes one after the other, the first with nothing cached."""
    command = [str(one.python), str(HERE / "one_first_call.py"), one.library, str(problem)]
    found = []
    with tempfile.TemporaryDirectory() as empty:
        given = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        for _ in range(2):
            words = {"env": {**given, "NUMBA_CACHE_DIR": empty}, "cwd": problem.parent}
            done = subprocess.run(command, capture_output=True, text=True, check=False, **words)
            if done.returncode:
                sys.exit(f"{one.name}: {done.stderr}")
            found.append(json.loads(done.stdout.splitlines()[-1]))
    return found


def line(turns: list[list[dict]]) -> list[str]:
    """The medians of the turns of one library at one size."""

    def median(process: int, stage: str) -> str:
        wall, cpu = (
            statistics.median(turn[process][stage][field] for turn in turns) for field in ("wall", "cpu")
        )
        return f"{wall:.3f} ({cpu:.3f})"

    stages = [median(1, "import"), median(0, "first"), median(1, "first"), median(1, "second")]
    return [*stages, f"{statistics.median(turn[1]['peak'] for turn in turns):,.0f}"]


def table(header: list[str], rows: list[list[str]], words: int) -> str:
    """A table in Markdown, the first columns of which are words."""
    marks = ["---"] * words + ["---:"] * (len(header) - words)
    return "\n".join("| " + " | ".join(row) + " |" for row in [header, marks, *rows])


def calls(found: list[Installation], sizes: list[int], turns: int, folder: Path) -> str:
    """Measure all libraries at all sizes, in turns."""
    rows = []
    for size in sizes:
        path = problem(size, folder)
        taken: dict[str, list[list[dict]]] = {one.name: [] for one in found}
        for _ in range(turns):
            for one in found:
                print(f"  {size:,}, {one.name} ...", file=sys.stderr, flush=True)
                taken[one.name].append(processes(one, path))
        rows += [[f"{size:,}", one.name, *line(taken[one.name])] for one in found]
    header = ["m", "", "import s", "first call after installing", "in the next process", "second call"]
    return table([*header, "peak MB"], rows, 2)


def markdown(found: list[Installation], bare: float, figures: str, turns: int) -> str:
    """The whole section."""
    sizes = [[one.name, f"{one.megabytes:,.0f}", f"{one.megabytes - bare:,.0f}"] for one in found]
    words = " ".join(["python benchmarks/first_call.py", *sys.argv[1:]])
    return f"""## First calls

`{words}` ({date.today()}; {setting.machine()}; Python {platform.python_version()}): wall seconds, in
brackets CPU seconds of all threads, medians of {turns} turns. A new process imports the library and makes two
calls with three clusters on a planted sparse hypergraph that is in memory as a sparse matrix. *Import*:
`scipy.sparse` and `from hyperclus import cluster`, or scikit-network and the k-means of scikit-learn. *First
call after installing*: nothing that an earlier process has compiled is there. Peak memory: the next process,
after its first call, with the input.

{figures}

Disk space of a new virtual environment in MB, with pip, and without what an empty one takes ({bare:,.0f} MB):

{table(["", "environment", "without pip"], sizes, 1)}
"""


def arguments() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--checkout", type=Path, help="another checkout to measure as well")
    parser.add_argument("--sizes", type=lambda word: int(float(word)), nargs="+", default=list(SIZES))
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="write to RESULTS.md instead of printing")
    return parser.parse_args()


def main() -> None:
    """Install, measure, and print or write the section."""
    chosen = arguments()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        checkouts = [path.resolve() for path in (chosen.checkout, ROOT) if path]
        found = [checkout(path, folder / str(place)) for place, path in enumerate(checkouts)]
        rivals = scikit_network(folder)
        venv.create(folder / "bare", with_pip=True)
        figures = calls([*found, rivals[0]], chosen.sizes, chosen.turns, folder)
        text = markdown([*found, *rivals], megabytes(folder / "bare"), figures, chosen.turns)
    if chosen.write:
        section.put(HERE / "RESULTS.md", "first calls", text, "`python benchmarks/first_call.py`")
    else:
        print(text)


if __name__ == "__main__":
    main()
