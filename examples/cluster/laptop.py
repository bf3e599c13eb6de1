"""Clusters of Parquet files on one machine, with a limit on the memory of each worker.

    python laptop.py data/ 2

For data that are larger than the memory, or to try things out before they go to a cluster.
"""

import sys

from distributed import Client, LocalCluster

import hyperclus as hc


def main(source: str, k: int) -> None:
    """Two workers of two threads with 4 GB each; their number times the limit must fit the machine.

    `security=True` keeps other users of the machine out.
    """
    with (
        LocalCluster(n_workers=2, threads_per_worker=2, memory_limit="4GB", security=True) as workers,
        Client(workers) as client,
    ):
        print(f"dashboard: {client.dashboard_link}")
        part = hc.cluster_files(source, k=k)
    print(part)
    print(f"proven: no NCut below {part.lower_bound:.6g}; labels in {part.folder}")


if __name__ == "__main__":  # workers are new processes, which import this file
    main(sys.argv[1], int(sys.argv[2]))
