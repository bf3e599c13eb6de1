"""Time and memory to read a hypergraph from a Parquet file: `python benchmarks/parquet.py 1e8`.

The file has m/15 hyperedges of 15 members each, m/15 vertices, and weights. A second file has the same ids as
text, such as v123. Peak memory is that of a separate process, beyond what it needs after its imports.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

ROWS = 1_500_000  # to write at once
READ = """
import json, sys, time
import pyarrow.parquet, scipy.sparse
import hyperclus as hc
def peak():
    lines = open("/proc/self/status").read().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith("VmHWM")).split()[1])
before, start, cpu = peak(), time.perf_counter(), time.process_time()
h = hc.read(sys.argv[1])
seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
arrays = (h.gamma.data, h.gamma.indices, h.gamma.indptr, h.edge_weights, h.vertex_ids, h.edge_ids)
size = sum(array.nbytes for array in arrays)
found = {"incidences": h.n_incidences, "seconds": seconds, "cpu": cpu, "peak": peak() - before, "size": size}
print(json.dumps(found))
"""


def write(path: Path, n_incidences: int, text: bool) -> None:
    """Write hyperedges of distinct members that are far apart, with lognormal weights."""
    rng, n = np.random.default_rng(0), n_incidences // 15
    ids = pa.string() if text else pa.int64()
    schema = pa.schema([("vertex", ids), ("edge", ids), ("weight", pa.float64())])
    with pq.ParquetWriter(path, schema) as file:
        for first in range(0, n_incidences, ROWS):
            rows = np.arange(first, min(first + ROWS, n_incidences))
            start = rng.integers(0, n, ROWS // 15 + 1)[(rows - first) // 15]
            columns = ((start + 7919 * (rows % 15)) % n, rows // 15, rng.lognormal(size=len(rows)))
            table = dict(zip(schema.names, map(pa.array, columns), strict=True))
            for name in schema.names[: 2 * text]:
                table[name] = pc.binary_join_element_wise(name[0], table[name].cast(pa.string()), "")
            file.write_table(pa.table(table, schema=schema))


def main() -> None:
    """Write a file, read it, and print the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("size", type=float, help="number of incidences")
    size = int(parser.parse_args().size)
    peaks = []
    for text in (False, True):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "long.parquet"
            write(path, size, text)
            call = [sys.executable, "-c", READ, path]
            found = json.loads(subprocess.run(call, capture_output=True, text=True, check=True).stdout)
            print(
                f"{'text' if text else 'integers'}, a file of {path.stat().st_size / 1e9:.2f} GB: "
                f"{found['incidences']:,} incidences in {found['seconds']:.1f} s ({found['cpu']:.1f} s CPU); "
                f"peak {found['peak'] / 1e9:.2f} GB, {found['peak'] / found['size']:.2f} times the arrays of "
                f"the hypergraph ({found['size'] / 1e9:.2f} GB)",
                flush=True,
            )
            peaks.append(found["peak"])
    print(f"text takes {peaks[1] / peaks[0]:.2f} times the memory of integers")


if __name__ == "__main__":
    main()
