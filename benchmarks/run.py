"""Run all benchmarks and write their two sections of benchmarks/RESULTS.md.

`make bench` takes minutes: hyperclus by itself, then beside other libraries (rivals/run.py).
`make bench-full` (--full) takes an hour or so: the same, with the other libraries up to 1e7 incidences.
Every figure is measured in a process of its own, one after the other; speed is given as a ratio within a run.

Finished figures are kept in rivals/.cache as long as the code stays the same: the same command goes on where
an interrupted one stopped. `make bench FLAGS=--fresh` (or bench-full) forgets them and starts anew; if that
run is interrupted too, go on without it.
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
DATA = setting.ROOT.parent / "shared" / "data"  # where tests/paper_data.py looks
KEPT = setting.CACHE / "cases.json"
SIZES = ("1e5", "1e6", "5e6", "2e7")
EFFORTS = ("fast", "default", "thorough")
NINE = ("mushroom", "rice", "car", "digit-24", "covertype", "zoo", "wine-567", "letter", "digit")


class PartitionQuality:
    """Finished figures on disk, with when they were measured; those of other code are forgotten."""

    def __init__(self) -> None:
        own = [HERE / "cases.py", HERE / "families.py", *setting.own_files()]
        self.stamp = setting.digest(own, setting.machine())
        found = json.loads(KEPT.read_text()) if KEPT.exists() else {}
        self.cases: dict[str, dict] = found["cases"] if found.get("stamp") == self.stamp else {}

    def keep(self, name: str, result: dict) -> None:
        """Add a figure and write the file, whole or not at all."""
        self.cases[name] = result
        temporary = KEPT.with_suffix(".new")
        temporary.write_text(json.dumps({"stamp": self.stamp, "cases": self.cases}, indent=1))
        temporary.replace(KEPT)

    def measure(self, case: str, argument: str) -> dict:
        """One case in a fresh process, unless it is kept."""
        name = f"{case} {argument}"
        print(f"  {name} ...", end=" ", flush=True)
        kept = name in self.cases
        if not kept:
            began = clock()
            command = [sys.executable, str(HERE / "cases.py"), case, argument]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            self.keep(name, {**json.loads(done.stdout), "began": began, "ended": clock()})
        result = self.cases[name]
        print(f"{result['wall']:.3g} s{' (kept)' if kept else ''}", flush=True)
        return result

    def period(self) -> str:
        """From the first to the last."""
        cases = self.cases.values()
        return f"from {min(case['began'] for case in cases)} to {max(case['ended'] for case in cases)}"


def clock() -> str:
    """Date and time."""
    return f"{datetime.datetime.now():%Y-%m-%d %H:%M}"


def import_seconds() -> float:
    """The median of nine imports, less that of nine bare interpreters."""

    def median(code: str) -> float:
        times = []
        for _ in range(9):
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True)
            times.append(time.perf_counter() - start)
        return sorted(times)[4]

    return median("import hyperclus") - median("pass")


def versions() -> str:
    """Python and the libraries that count."""
    found = ", ".join(f"{name} {version(name)}" for name in ("numba", "numpy", "scipy"))
    return f"Python {platform.python_version()}, {found}"


def table(header: list[str], rows: list[list[str]]) -> str:
    """A Markdown table, figures to the right."""
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def against_the_paper(figures: PartitionQuality) -> str:
    """The algorithm with dense matrices beside ours."""
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


def scaling(figures: PartitionQuality, family: str) -> str:
    """Time and memory per incidence at growing sizes."""
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


def efforts(figures: PartitionQuality) -> str:
    """What the search costs on the paper's data sets, and what it finds."""
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


def refinement(figures: PartitionQuality) -> str:
    """One pass over all vertices beside ten operator products."""
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
    return table([*header, "memory of the sums (bytes per incidence)"], rows)


def page(figures: PartitionQuality, command: str, code: str) -> str:
    """Measure everything that is not kept; the section on hyperclus by itself."""
    search, passes = efforts(figures), refinement(figures)
    paper = against_the_paper(figures)
    sparse, binned = scaling(figures, "sparse"), scaling(figures, "binned")
    return f"""Machine: {setting.machine()}; {versions()}.
Measured {figures.period()}. Command: `{command}`.
Code: {code}.
The machine is shared, so times vary; ratios are between runs of the same session.

## Against the algorithm as the paper writes it

From the table of features to two clusters, in one process each. *As written* is
`hyperclus/paper/as_written.py`: explicit P, power iteration, full dense eigen-decomposition.
*hyperclus* is `hc.hyperclus_g`, the same algorithm.

{paper}

## What the search costs

Milliseconds from the hypergraph to the answer for each effort, all stages included, with the compiled
loops loaded; beside them the stationary law and the eigenvectors alone. The gap is to the eigenvalue bound.

{search}

One pass of refinement with k = 10: a look at every vertex and all of its moves, then the moves that help,
each checked again. It starts from planted blocks with three labels in ten redrawn at random:

{passes}

The sums take 16 k bytes per hyperedge, and are all that the search adds beside a few vectors. Loading
Numba adds about 100 MB to the process. The first compilation on a machine takes about seven seconds,
later processes load it from a cache in half a second; inputs with little work never load it.

## Linear in the data

Planted hypergraphs with two blocks, from long integer arrays (vertex, edge, weight) to two clusters.
Time includes building the hypergraph; memory is the peak of the whole process, with the generator
of the input, the input, and the interpreter. *Products* are those of L_sym with a vector.

*sparse*: as many hyperedges as vertices, 10 to 20 members each, lognormal gamma, omega in [0.5, 2].

{sparse}

*binned*: 22 features in 5 bins, so 110 hyperedges of about n/5 members, lognormal gamma.

{binned}

## Start-up

`import hyperclus` takes {import_seconds():.2f} s (median of nine, less the bare interpreter).
"""


def arguments() -> argparse.Namespace:
    """The command line, which rivals/run.py understands too."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--full", action="store_true", help="the other libraries up to 1e7 incidences")
    parser.add_argument("--fresh", action="store_true", help="forget all finished figures, start anew")
    return parser.parse_args()


def by_itself(chosen: argparse.Namespace) -> None:
    """Measure hyperclus by itself and write its section."""
    setting.freeze()
    code = setting.code()
    print(f"hyperclus by itself: {code}", flush=True)
    if chosen.fresh:
        KEPT.unlink(missing_ok=True)
    figures = PartitionQuality()
    try:
        text = page(figures, "make bench-full" if chosen.full else "make bench", code)
    except KeyboardInterrupt:
        print(f"\ninterrupted; {len(figures.cases)} figures are kept, run the same command to go on")
        sys.exit(130)
    section.put(HERE / "RESULTS.md", "hyperclus by itself", text)


def main() -> None:
    """First hyperclus by itself, where the paper's data sets are; then beside other libraries."""
    chosen = arguments()
    if DATA.is_dir():
        by_itself(chosen)
    else:
        print(f"the paper's data sets are not in {DATA}: the section on hyperclus by itself stays as it is")
    sys.stdout.flush()
    rivals = str(HERE / "rivals" / "run.py")
    os.execv(sys.executable, [sys.executable, rivals, *sys.argv[1:]])  # so that Ctrl-C reaches it alone


if __name__ == "__main__":
    main()
