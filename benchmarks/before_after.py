"""Compare the time and memory of two checkouts: `python benchmarks/before_after.py ../old [CASE ...]`.

Each case runs in a process of its own, alternately with the old and the new checkout, so that a busy machine
disturbs both alike. The table has the least CPU time of all turns (user and system, both cores), the least
peak memory, and the ratios of new to old. A first turn, not counted, fills the cache of compiled kernels.
Checkouts whose package has no data read UCI's files from the folder HYPERCLUS_DATA.
"""

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def planted(n_incidences: int, blocks: int) -> object:
    """A planted sparse hypergraph."""
    import numpy as np

    import families
    import hyperclus as hc

    table, omega, _ = families.sparse(n_incidences, blocks, 0.2, 0)
    return hc.Hypergraph.from_long(table, edge_ids=np.arange(len(omega)), edge_weights=omega, isolated="drop")


def clustering(n_incidences: int, k: int, **settings: object) -> Callable[[Path], Callable[[], object]]:
    """Cluster a planted hypergraph."""

    def prepare(folder: Path) -> Callable[[], object]:
        import hyperclus as hc

        h = planted(n_incidences, k)
        return lambda: hc.cluster(h, k, **settings)

    return prepare


def nine_data_sets(folder: Path) -> Callable[[], object]:
    """The default search on the paper's data sets."""
    import hyperclus as hc

    try:
        from hyperclus.research import datasets
    except ImportError:  # before the rooms
        from hyperclus import datasets
    loaded = [datasets.load(name) for name in datasets.names()]
    return lambda: [hc.cluster(data.hypergraph, data.k) for data in loaded]


def reading(name: str, n_incidences: int) -> Callable[[Path], Callable[[], object]]:
    """Read a planted hypergraph from a file."""

    def prepare(folder: Path) -> Callable[[], object]:
        import hyperclus as hc

        path = folder / name
        if not path.exists():
            hc.write(planted(n_incidences, 2), path)
        small = path.with_name(f"small-{name}")
        hc.write(planted(1000, 2), small)
        hc.read(small)  # loads the libraries, which is not what is compared
        return lambda: hc.read(path)

    return prepare


def page(folder: Path) -> Callable[[], object]:
    """Write the report of a partition."""
    import hyperclus as hc

    part = hc.cluster(planted(300_000, 5), 5)
    return lambda: part.to_html(folder / "page.html")


def importing(folder: Path) -> Callable[[], object]:
    """Import the package."""
    return lambda: __import__("hyperclus")


CASES: dict[str, Callable[[Path], Callable[[], object]]] = {
    "import": importing,
    "nine data sets, default": nine_data_sets,
    "m = 1e5, k = 5, default": clustering(100_000, 5),
    "m = 1e6, k = 2, default": clustering(1_000_000, 2),
    "m = 1e6, k = 10, default": clustering(1_000_000, 10),
    "m = 1e7, k = 2, default": clustering(10_000_000, 2),
    "read CSV, m = 1e6": reading("table.csv", 1_000_000),
    "read Parquet, m = 1e7": reading("table.parquet", 10_000_000),
    "read HIF, m = 3e5": reading("table.hif.json", 300_000),
    "read hMETIS, m = 1e6": reading("table.hgr", 1_000_000),
    "report, m = 3e5": page,
}


def measure(case: str, folder: Path) -> None:
    """Run one case in this process, and print its CPU time and peak memory."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    call = CASES[case](folder)
    reset = Path("/proc/self/clear_refs")
    if reset.exists():
        reset.write_text("5")
    start = time.process_time()
    call()
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    status = Path("/proc/self/status")
    if status.exists():  # the peak since the reset, not that of the preparation
        peak = (
            next(int(row.split()[1]) for row in status.read_text().splitlines() if row.startswith("VmHWM"))
            / 1e3
        )
    print(json.dumps({"seconds": seconds, "peak": peak}))


def turn(checkout: Path, case: str, folder: Path) -> dict[str, float]:
    """Run one case with one checkout in a new process."""
    environment = {**os.environ, "PYTHONPATH": str(checkout / "src")}
    command = [sys.executable, __file__, "--measure", case, "--folder", str(folder)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{case} with {checkout}: {done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def commit(checkout: Path) -> str:
    """The commit that is checked out."""
    command = ["git", "-C", str(checkout), "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def main() -> None:
    """Read the arguments and print a table in Markdown."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("old", type=Path, nargs="?", help="the checkout to compare with")
    parser.add_argument("cases", nargs="*", help="text that the names of the cases contain; all by default")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        measure(given.measure, given.folder)
        return
    checkouts = {"old": given.old.resolve(), "new": ROOT}
    names = [name for name in CASES if not given.cases or any(text in name for text in given.cases)]
    print(
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, {date.today()};"
    )
    print(f"old {commit(checkouts['old'])}, new {commit(ROOT)}; least of {given.repeat} turns\n")
    print("| case | CPU s, old | new | ratio | peak MB, old | new | ratio |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            turns: dict[str, list[dict[str, float]]] = {"old": [], "new": []}
            for _ in range(given.repeat + 1):
                for which, checkout in checkouts.items():
                    turns[which].append(turn(checkout, name, Path(folder)))
        row = [name]
        for field, digits in (("seconds", 3), ("peak", 0)):
            old, new = (min(one[field] for one in turns[which][1:]) for which in ("old", "new"))
            row += [f"{old:.{digits}f}", f"{new:.{digits}f}", f"{new / old:.2f}"]
        print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
