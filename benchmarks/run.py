"""Run the benchmarks and write the first part of `benchmarks/RESULTS.md`: `make bench`.

Every figure is measured in a process of its own, one after the other, in one run; speed is given as
a ratio within that run.
"""

import datetime
import json
import os
import platform
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).parent
SIZES = ("1e5", "1e6", "5e6", "2e7")
EFFORTS = ("fast", "default", "thorough")
KEPT = "<!-- What follows was measured"  # by other scripts, and stays as it is
NINE = ("mushroom", "rice", "car", "digit-24", "covertype", "zoo", "wine-567", "letter", "digit")


def measure(case: str, argument: str) -> dict[str, float]:
    """One case in a fresh process."""
    print(f"  {case} {argument} ...", end=" ", flush=True)
    done = subprocess.run(
        [sys.executable, str(HERE / "cases.py"), case, argument], capture_output=True, text=True, check=True
    )
    result = json.loads(done.stdout)
    print(f"{result['wall']:.3g} s", flush=True)
    return result


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


def machine() -> str:
    """The processor, cores, memory and versions of this run."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    model = next(
        (line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.processor()
    )
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    versions = ", ".join(f"{name} {version(name)}" for name in ("hyperclus", "numba", "numpy", "scipy"))
    return (
        f"{model}, {os.cpu_count()} cores, {memory:.0f} GiB; Python {platform.python_version()}, {versions}"
    )


def table(header: list[str], rows: list[list[str]]) -> str:
    """A Markdown table, figures to the right."""
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def against_the_paper() -> str:
    """The algorithm with dense matrices beside ours."""
    rows = []
    for name in ("mushroom", "covertype"):
        ours, rival = measure("ours", name), measure("rival", name)
        rows.append([
            name, f"{rival['wall']:.1f}", f"{ours['wall']:.3f}", f"**{rival['wall'] / ours['wall']:,.0f}**",
            f"{rival['peak_bytes'] / 2**20:,.0f}", f"{ours['peak_bytes'] / 2**20:,.0f}",
            f"{rival['ncut']:.4f}", f"{ours['ncut']:.4f}",
        ])  # fmt: skip
    header = ["data set", "as written (s)", "hyperclus (s)", "ratio", "as written (MB)", "hyperclus (MB)"]
    return table([*header, "NCut as written", "NCut"], rows)


def scaling(family: str) -> str:
    """Time and memory per incidence at growing sizes."""
    rows, first = [], 0.0
    for size in SIZES:
        run = measure(family, size)
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


def efforts() -> str:
    """What the search costs on the paper's data sets, and what it finds."""
    rows = []
    for name in NINE:
        run = measure("effort", name)
        rows.append([
            name, *(f"{1000 * run[stage]:.1f}" for stage in ("law", "eigenvectors", *EFFORTS)),
            *(f"{run[effort] / run['eigenvectors']:.1f}" for effort in EFFORTS),
            *(f"{run[f'ncut {effort}']:.5f}" for effort in EFFORTS), f"{100 * run['gap']:.1f} %",
        ])  # fmt: skip
    header = [
        "data set",
        "stationary law",
        "eigenvectors",
        *EFFORTS,
        *(f"{e} / eigenvectors" for e in EFFORTS),
    ]
    return table([*header, *(f"NCut {effort}" for effort in EFFORTS), "gap"], rows)


def refinement() -> str:
    """One pass over all vertices beside ten operator products."""
    rows = []
    for family in ("sparse", "binned"):
        run = measure(f"refine {family}", "1e7")
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


def main() -> None:
    """Measure everything, then write the page."""
    start = time.perf_counter()
    search, passes = efforts(), refinement()
    paper, sparse, binned = against_the_paper(), scaling("sparse"), scaling("binned")
    minutes = (time.perf_counter() - start) / 60
    page = f"""# Benchmark results

Machine: {machine()}.
Date: {datetime.date.today():%Y-%m-%d}. Command: `make bench`, {minutes:.0f} minutes.
The machine is shared, so times vary; ratios are between runs of the same session.

## Against the algorithm as the paper writes it

From the table of features to two clusters, in one process each. *As written* is
`hyperclus/paper/as_written.py`: explicit P, power iteration, full dense eigen-decomposition.
*hyperclus* is `method="hyperclus-g"`, the same algorithm.

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
    temporary, results = HERE / "RESULTS.md.new", HERE / "RESULTS.md"
    temporary.write_text(page + "".join(results.read_text().partition(KEPT)[1:]))
    temporary.replace(results)
    print(page)


if __name__ == "__main__":
    main()
