"""Run all benchmarks and write their two sections of benchmarks/RESULTS.md.

`make bench` takes minutes: first hyperclus alone, then a comparison with other libraries (rivals/run.py).
`make bench-full` (--full) takes about an hour: the comparison goes up to 1e7 incidences.
Every case is measured in a separate process, one after the other; speed is given as a ratio within a run.

Results are stored in rivals/.cache and reused as long as the code does not change, so that the same command
resumes an interrupted run. `make bench FLAGS=--fresh` (or bench-full) deletes them first; to resume that run,
omit the flag.
"""

import argparse
import datetime
import json
import os
import platform
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

from rivals import section, setting

HERE = Path(__file__).parent
STORED = setting.CACHE / "cases.json"
SIZES = ("1e5", "1e6", "5e6", "2e7")
EFFORTS = ("fast", "default", "thorough")
NINE = ("mushroom", "rice", "car", "digit-24", "covertype", "zoo", "wine-567", "letter", "digit")


class Measurements:
    """Results on disk, with the time of measurement; those of other code are discarded."""

    def __init__(self) -> None:
        own = [HERE / "cases.py", HERE / "families.py", *setting.own_files()]
        self.stamp = setting.digest(own, setting.machine())
        found = json.loads(STORED.read_text()) if STORED.exists() else {}
        self.cases: dict[str, dict] = found["cases"] if found.get("stamp") == self.stamp else {}

    def keep(self, name: str, result: dict) -> None:
        """Add a result and write the file atomically."""
        self.cases[name] = result
        temporary = STORED.with_suffix(".new")
        temporary.write_text(json.dumps({"stamp": self.stamp, "cases": self.cases}, indent=1))
        temporary.replace(STORED)

    def measure(self, case: str, argument: str) -> dict:
        """Measure a case in a new process, unless its result is stored."""
        name = f"{case} {argument}"
        print(f"  {name} ...", end=" ", flush=True)
        kept = name in self.cases
        if not kept:
            began = clock()
            command = [sys.executable, str(HERE / "cases.py"), case, argument]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            self.keep(name, {**json.loads(done.stdout), "began": began, "ended": clock()})
        result = self.cases[name]
        print(f"{result['wall']:.3g} s{' (stored)' if kept else ''}", flush=True)
        return result

    def period(self) -> str:
        """Return the time of the first and the last measurement, in words."""
        cases = self.cases.values()
        return f"from {min(case['began'] for case in cases)} to {max(case['ended'] for case in cases)}"


def clock() -> str:
    """Return the date and time."""
    return f"{datetime.datetime.now():%Y-%m-%d %H:%M}"


def import_seconds() -> float:
    """Return the median time of nine imports, less that of nine bare interpreters."""

    def median(code: str) -> float:
        times = []
        for _ in range(9):
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True)
            times.append(time.perf_counter() - start)
        return sorted(times)[4]

    return median("import hyperclus") - median("pass")


def versions() -> str:
    """Name the versions of Python and the main libraries."""
    found = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy"))
    return f"Python {platform.python_version()}, {found}"


def table(header: list[str], rows: list[list[str]]) -> str:
    """Format a Markdown table with right-aligned figures."""
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def against_the_paper(figures: Measurements) -> str:
    """Compare the dense algorithm with hyperclus."""
    rows = []
    for name in ("mushroom", "covertype"):
        ours, rival = figures.measure("ours", name), figures.measure("rival", name)
        rows.append([
            name, f"{rival['wall']:.1f}", f"{ours['wall']:.3f}", f"**{rival['wall'] / ours['wall']:,.0f}**",
            f"{rival['peak_bytes'] / 2**20:,.0f}", f"{ours['peak_bytes'] / 2**20:,.0f}",
            f"{rival['ncut']:.4f}", f"{ours['ncut']:.4f}",
        ])  # fmt: skip
    header = ["data set", "as written (s)", "hyperclus (s)", "ratio", "as written (MB)", "hyperclus (MB)"]
    return table([*header, "NCut as written", "NCut"], rows)


def scaling(figures: Measurements, family: str) -> str:
    """Measure time and memory per incidence for several sizes."""
    rows, first = [], 0.0
    for size in SIZES:
        run = figures.measure(family, size)
        m = run["incidences"]
        each = 1e9 * run["wall"] / m
        first = first or each
        rows.append([
            f"{m:,}", f"{run['wall']:.3f}", f"{each:.0f}", f"{each / first:.2f}",
            f"{1e9 * run['cpu'] / m:.0f}", f"{run['peak_bytes'] / m:.0f}",
            f"{run['products']}", f"{run['agreement']:.3f}",
        ])  # fmt: skip
    header = ["incidences", "wall (s)", "ns per incidence", "relative to the first", "CPU ns per incidence"]
    return table([*header, "peak bytes per incidence", "products", "agreement"], rows)


def efforts(figures: Measurements) -> str:
    """Measure the cost and the NCut of each effort on the paper's data sets."""
    rows = []
    for name in NINE:
        run = figures.measure("effort", name)
        rows.append([
            name, *(f"{1000 * run[stage]:.1f}" for stage in ("distribution", "eigenvectors", *EFFORTS)),
            *(f"{run[effort] / run['eigenvectors']:.1f}" for effort in EFFORTS),
            *(f"{run[f'ncut {effort}']:.5f}" for effort in EFFORTS), f"{100 * run['gap']:.1f} %",
        ])  # fmt: skip
    header = [
        "data set",
        "stationary distribution",
        "eigenvectors",
        *EFFORTS,
        *(f"{e} / eigenvectors" for e in EFFORTS),
    ]
    return table([*header, *(f"NCut {effort}" for effort in EFFORTS), "gap"], rows)


def refinement(figures: Measurements) -> str:
    """Compare one pass over all vertices with ten operator products."""
    rows = []
    for family in ("sparse", "binned"):
        run = figures.measure(f"refine {family}", "1e7")
        m = run["incidences"]
        rows.append([
            family, f"{m:,}", f"{run['products']:.2f}", f"{run['wall']:.2f}",
            f"{run['wall'] / run['products']:.2f}", f"{run['ncut before']:.3f}", f"{run['ncut after']:.3f}",
            f"{run['sums_bytes'] / m:.1f}",
        ])  # fmt: skip
    header = [
        "family",
        "incidences",
        "ten products (s)",
        "one pass (s)",
        "ratio",
        "NCut before",
        "NCut after",
    ]
    return table([*header, "memory for the sums (bytes per incidence)"], rows)


def page(figures: Measurements, command: str, code: str) -> str:
    """Measure what is not stored, and write the section on hyperclus alone."""
    search, passes = efforts(figures), refinement(figures)
    paper = against_the_paper(figures)
    sparse, binned = scaling(figures, "sparse"), scaling(figures, "binned")
    return f"""Machine: {setting.machine()}; {versions()}.
Measured {figures.period()}. Command: `{command}`.
Code: {code}.
The machine is shared, so times vary; ratios are between runs of the same session.

## Against the algorithm as the paper writes it

From the table of features to two clusters, in one process each. *As written* is
`hyperclus/research/paper/as_written.py`: explicit P, power iteration, full dense eigen-decomposition.
*hyperclus* is `hc.hyperclus_g`, the same algorithm.

{paper}

## The cost of the search

Milliseconds from the hypergraph to the clusters for each effort, all stages included, with the compiled
kernels loaded; also those of the stationary distribution and the eigenvectors alone. The gap is to the
eigenvalue bound.

{search}

One pass of refinement with k = 10: it evaluates all moves of every vertex, then applies those that lower the
NCut, after another check of each. It starts from planted blocks with 30 % random labels:

{passes}

The sums need 16 k bytes for a hyperedge with at least k / 2 members and 24 bytes for each member of a smaller
one; beyond them the search needs only a few vectors.

## Linear in the data

Planted hypergraphs with two blocks, from long integer arrays (vertex, edge, weight) to two clusters.
Time includes building the hypergraph; memory is the peak of the process, including the generator, the input
and the interpreter. *Products* are products of L_sym with a vector.

*sparse*: as many hyperedges as vertices, 10 to 20 members each, lognormal gamma, omega in [0.5, 2].

{sparse}

*binned*: 22 features in 5 bins, so 110 hyperedges of about n/5 members, lognormal gamma.

{binned}

## Start-up

`import hyperclus` takes {import_seconds():.2f} s (median of nine, less the bare interpreter).
"""


def arguments() -> argparse.Namespace:
    """Parse the command line, which rivals/run.py accepts too."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--full", action="store_true", help="the other libraries up to 1e7 incidences")
    parser.add_argument("--fresh", action="store_true", help="delete stored results first")
    return parser.parse_args()


def by_itself(chosen: argparse.Namespace) -> None:
    """Measure hyperclus alone and write its section."""
    setting.freeze()
    code = setting.code()
    print(f"hyperclus by itself: {code}", flush=True)
    if chosen.fresh:
        STORED.unlink(missing_ok=True)
    figures = Measurements()
    try:
        text = page(figures, "make bench-full" if chosen.full else "make bench", code)
    except KeyboardInterrupt:
        print(f"\ninterrupted; {len(figures.cases)} results are stored, run the same command to resume")
        sys.exit(130)
    section.put(HERE / "RESULTS.md", "hyperclus by itself", text)


def main() -> None:
    """Measure hyperclus alone, then compare it with other libraries."""
    chosen = arguments()
    by_itself(chosen)
    sys.stdout.flush()
    rivals = str(HERE / "rivals" / "run.py")
    os.execv(
        sys.executable, [sys.executable, rivals, *sys.argv[1:]]
    )  # so that only this process receives Ctrl-C


if __name__ == "__main__":
    main()
