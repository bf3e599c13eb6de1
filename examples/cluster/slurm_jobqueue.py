"""Clusters of Parquet files on SLURM: dask-jobqueue submits a job for each worker.

    pip install 'hyperclus[dask]' dask-jobqueue
    python slurm_jobqueue.py /scratch/project/data 2 16

The script itself is the client and the scheduler. It takes little memory, but lives as long as the run:
start it in a small job or in tmux on a login node. Ended too early, it is started again and goes on where it
was.
"""

import os
import sys

from dask_jobqueue import SLURMCluster
from distributed import Client

import hyperclus as hc

WORK = "/scratch/project/hyperclus-work"  # a folder that all nodes see under this name


def main(source: str, k: int, nodes: int) -> None:
    """One worker for each node, with all of its cores as threads."""
    os.environ["HYPERCLUS_WORK"] = WORK
    cluster = SLURMCluster(
        queue="standard",
        account="project",
        walltime="04:00:00",
        cores=16,
        processes=1,  # few fat workers: dask-jobqueue would make four of them
        memory="120GB",  # of the job, and the limit of its one worker
        interface="ib0",  # the fast network; see `ip address`
        local_directory="/tmp",
        log_directory="logs",
        job_extra_directives=["--exclusive"],
        job_script_prologue=["source $HOME/hyperclus/bin/activate"],
    )
    cluster.scale(jobs=nodes)
    with cluster, Client(cluster) as client:
        print(f"dashboard: {client.dashboard_link}")
        client.wait_for_workers(nodes)  # the data are divided among the workers that are there
        part = hc.cluster_files(source, k=k)
    print(part)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
