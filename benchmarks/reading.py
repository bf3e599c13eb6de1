"""Reading long tables beside polars and pandas: `python benchmarks/reading.py 1e7`.

Each contender makes the same `Hypergraph` of the same file in a process of its own. Polars and pandas read
the table, number the ids in order of first appearance, and pass a matrix to `Hypergraph.from_incidence`.
Peak memory is what the process needs beyond its imports. The files are CSV and Parquet with integer ids,
and CSV with text ids. --csv-module adds what `hc.read` could do without PyArrow: Python's csv module.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import polars as pl

import families

START = """
import json, sys, time
import numpy as np, scipy.sparse as sp, pyarrow.parquet, pyarrow.csv, pyarrow.compute
import hyperclus as hc
def peak():
    lines = open("/proc/self/status").read().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith("VmHWM")).split()[1])
def build(vertices, edges, weights, vertex_ids, edge_ids):
    shape = len(vertex_ids), len(edge_ids)
    matrix = sp.csr_array((weights, (vertices, edges)), shape=shape)
    return hc.Hypergraph.from_incidence(matrix, vertex_ids=vertex_ids, edge_ids=edge_ids)
"""
CONTENDERS = {
    "hyperclus": "def read(path): return hc.read(path)",
    "polars": """
import polars as pl
def read(path):
    table = (pl.read_parquet if path.endswith("parquet") else pl.read_csv)(path)
    columns = []
    for name in ("vertex", "edge"):
        ids = table[name].unique(maintain_order=True)
        codes = pl.DataFrame({name: ids, "code": range(len(ids))})
        found = table.select(name).join(codes, on=name, how="left", maintain_order="left")["code"]
        columns.append((found.to_numpy(), ids.to_list()))
    (vertices, vertex_ids), (edges, edge_ids) = columns
    return build(vertices, edges, table["weight"].to_numpy(), vertex_ids, edge_ids)
""",
    "pandas": """
import pandas as pd
def read(path):
    table = pd.read_parquet(path) if path.endswith("parquet") else pd.read_csv(path, engine="pyarrow")
    vertices, vertex_ids = pd.factorize(table["vertex"])
    edges, edge_ids = pd.factorize(table["edge"])
    return build(vertices, edges, table["weight"].to_numpy(), vertex_ids.tolist(), edge_ids.tolist())
""",
}
CSV_MODULE = """
import csv
def read(path):
    with open(path, newline="") as file:
        names, *records = csv.reader(file)
    columns = dict(zip(names, map(list, zip(*records))))
    columns["weight"] = np.array(columns["weight"], dtype=float)
    return hc.Hypergraph.from_long(columns)
"""
END = """
before, start, cpu = peak(), time.perf_counter(), time.process_time()
h = read(sys.argv[1])
found = {"seconds": time.perf_counter() - start, "cpu": time.process_time() - cpu, "peak": peak() - before}
print(json.dumps(found | {"incidences": h.n_incidences, "sum": float(h.gamma.data.sum())}))
"""


def write(folder: Path, n_incidences: int) -> dict[str, Path]:
    """Write the files, the hyperedges one after the other."""
    table = pl.DataFrame(families.sparse(n_incidences)[0])
    names = {"CSV": "integers.csv", "CSV, text ids": "text.csv", "Parquet": "integers.parquet"}
    paths = {kind: folder / name for kind, name in names.items()}
    table.write_csv(paths["CSV"])
    table.write_parquet(paths["Parquet"])
    named = {name: pl.format(name[0] + "{}", pl.col(name)) for name in ("vertex", "edge")}
    table.with_columns(**named).write_csv(paths["CSV, text ids"])
    return paths


def main() -> None:
    """Print a line per kind of file and contender, the best of several turns."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("incidences", type=float, nargs="?", default=1e6)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--csv-module", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print("file            reader      seconds    CPU s    peak MB")
        for kind, path in write(Path(folder), int(given.incidences)).items():
            contenders = dict(CONTENDERS)
            if given.csv_module and path.suffix == ".csv":
                contenders["csv module"] = CSV_MODULE
            runs: dict[str, list[dict[str, float]]] = {name: [] for name in contenders}
            for _ in range(given.turns):  # in turn, so that a busy minute meets all
                for name, code in contenders.items():
                    command = [sys.executable, "-c", START + code + END, str(path)]
                    runs[name].append(json.loads(subprocess.check_output(command)))
            for name, found in runs.items():
                best = {key: min(run[key] for run in found) for key in found[0]}
                assert abs(best["sum"] / runs["pandas"][0]["sum"] - 1) < 1e-12, name
                line = f"{kind:<15} {name:<10} {best['seconds']:>8.2f} {best['cpu']:>8.2f}"
                print(f"{line} {best['peak'] / 1e6:>10,.0f}", flush=True)


if __name__ == "__main__":
    main()
