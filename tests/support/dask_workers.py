"""A small Dask cluster for tests: two worker processes with one thread each."""

import os
import signal

import pytest

from hyperclus.engines.dask.workers import WorkerPool, quiet

WORKERS = {
    "n_workers": 2,
    "threads_per_worker": 1,
    "processes": True,
    "memory_limit": "1GB",
    "dashboard_address": "127.0.0.1:0",  # any free port, because several clusters may run at once
    "scheduler_kwargs": {"dashboard": False},
}


@pytest.fixture(scope="module")
def pool():
    distributed = pytest.importorskip("distributed")
    with (
        quiet(),
        distributed.LocalCluster(**WORKERS) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield WorkerPool(client)


def kill_one(pool):
    """Kill a worker, as the kernel does if memory runs out."""
    pids = pool.client.run(os.getpid)
    os.kill(next(iter(pids.values())), signal.SIGKILL)
