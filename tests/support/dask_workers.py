"""A small cluster for tests: two workers, each a process of its own with one thread."""

import os
import signal

import pytest

from hyperclus.engines.dask.workers import WorkerPool, quiet

WORKERS = {
    "n_workers": 2,
    "threads_per_worker": 1,
    "processes": True,
    "memory_limit": "1GB",
    "dashboard_address": "127.0.0.1:0",  # a port of its own, as several may run at once
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
    """Kill one of the workers as the kernel does when memory is short."""
    pids = pool.client.run(os.getpid)
    os.kill(next(iter(pids.values())), signal.SIGKILL)
