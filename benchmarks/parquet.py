"""Time and memory to read a hypergraph from a Parquet file: `python benchmarks/parquet.py 1e8`.

The file has integer ids, m/15 hyperedges of 15 members each, m/15 vertices, and weights. Peak memory is that
of a separate process, beyond what it needs after its imports.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ROWS = 1_500_000  # to write at once
READ = """
import json, sys, time
import pyarrow.parquet, scipy.sparse
import hyperclus as hc
def peak():
    lines = open("/proc/self/status").read().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith("VmHWM")).split()[1])
before, start = peak(), time.perf_counter()
h = hc.read(sys.argv[1])
seconds = time.perf_counter() - start
arrays = (h.gamma.data, h.gamma.indices, h.gamma.indptr, h.edge_weights, h.vertex_ids, h.edge_ids)
size = sum(array.nbytes for array in arrays)
print(json.dumps({"incidences": h.n_incidences, "seconds": seconds, "peak": peak() - before, "size": size}))
"""


def write(path: Path, n_incidences: int) -> None:
    """Write hyperedges of distinct members that are far apart, with lognormal weights."""
    rng, n = np.random.default_rng(0), n_incidences // 15
    schema = pa.schema([("vertex", pa.int64()), ("edge", pa.int64()), ("weight", pa.float64())])
    with pq.ParquetWriter(path, schema) as file:
        for first in range(0, n_incidences, ROWS):
            rows = np.arange(first, min(first + ROWS, n_incidences))
            start = rng.integers(0, n, ROWS // 15 + 1)[(rows - first) // 15]
            columns = ((start + 7919 * (rows % 15)) % n, rows // 15, rng.lognormal(size=len(rows)))
            file.write_table(pa.table(dict(zip(schema.names, columns, strict=True)), schema=schema))


def main() -> None:
    """Write a file, read it, and print the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("size", type=float, help="number of incidences")
    size = int(parser.parse_args().size)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "long.parquet"
        start = time.perf_counter()
        write(path, size)
        print(f"{path.stat().st_size / 1e9:.2f} GB written in {time.perf_counter() - start:.0f} s")
        done = subprocess.run([sys.executable, "-c", READ, path], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    print(
        f"{found['incidences']:,} incidences in {found['seconds']:.1f} s; peak {found['peak'] / 1e9:.2f} GB, "
        f"{found['peak'] / found['size']:.2f} times the hypergraph's {found['size'] / 1e9:.2f} GB"
    )


if __name__ == "__main__":
    main()
