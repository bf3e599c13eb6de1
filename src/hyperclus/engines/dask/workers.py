"""The workers of a Dask cluster, and all that touches Dask's API.

Dask runs a task again where its worker died, three times. What Dask does not bound is the wait for a
scheduler that is gone, or for workers that never come; here both end with a sentence.
"""

import logging
import os
import queue
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from itertools import islice
from secrets import token_hex
from typing import Any, NamedTuple

from hyperclus._runtime.optional import library
from hyperclus.engines.dask.store import file_fault
from hyperclus.errors import Argument, ClusterError, HyperclusError, InputError
from hyperclus.hypergraph.messages import shown

CONNECT = 8.0  # seconds to reach a scheduler
GONE = 15.0  # seconds without a scheduler after which it is given up
IDLE = 60.0  # seconds without any worker, for a cluster that is just starting
LOOK = 1.0  # seconds between looks at whether there still are a scheduler and workers
PAUSED = 10.0  # seconds after which a worker that waits for memory is started anew,
RESTARTS = 3  # and how often, in a run
AHEAD = 2  # tasks for each thread of a worker: the next one is there when the last is done
FREE = 0.8  # of the machine's memory, for the workers of a local cluster
AGAIN = "start it again and give the same command, which goes on where it was"


class WorkerState(NamedTuple):
    """A worker that is there; memory_limit is in bytes, 0 if it has none."""

    address: str
    memory_limit: int
    n_threads: int


def dask(module: str = "distributed") -> Any:
    """Dask's scheduler or one of its modules."""
    return library(module, "Dask", Argument("engine", "dask"), "dask")


class WorkerPool:
    """The workers of a client of Dask.

    Attributes
    ----------
    client : distributed.Client
    address : str
        Of the scheduler.
    """

    def __init__(self, client: Any) -> None:
        self.client = client
        self.address = str(client.scheduler.address)
        self._counted = (-LOOK, 0)
        self._restarts = 0

    @classmethod
    @contextmanager
    def gathered(
        cls, scheduler: str | None = None, workers: int | None = None, memory: str | None = None
    ) -> Iterator["WorkerPool"]:
        """The workers of a scheduler at an address; without one, of the client there is, or new ones here.

        `workers` and `memory` (of each, such as "2GB") are for new ones, which end with the body: by default
        as many as cores, with an even share of the machine's memory.
        """
        distributed = dask()
        if scheduler is not None:
            with quiet(), _connected(distributed, scheduler) as client:
                yield cls(client)
            return
        client = _default_client(distributed)
        if client is not None:
            yield cls(client)
            return
        with quiet(), _local(distributed, workers or os.cpu_count() or 1, memory) as client:
            yield cls(client)

    @property
    def workers(self) -> list[WorkerState]:
        """The workers that are there now."""
        return [
            WorkerState(address, int(worker["memory_limit"] or 0), worker["nthreads"])
            for address, worker in self._identity(-1)["workers"].items()
        ]

    @property
    def memory(self) -> int:
        """The smallest limit of a worker's memory, per thread, in bytes; 0 if there is none."""
        limits = [worker.memory_limit // worker.n_threads for worker in self.workers if worker.memory_limit]
        return min(limits, default=0)

    @property
    def dashboard(self) -> str | None:
        """The address of Dask's dashboard, where it is on."""
        with suppress(KeyError):  # a scheduler without one
            link = self.client.dashboard_link
            return str(link) if link else None
        return None

    def each(
        self, function: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]
    ) -> Iterator[tuple[int, Any]]:
        """The results of a function for each tuple of arguments, with its place, as they come.

        Only a few tasks for each worker are with the scheduler at any time. A task may run more than once,
        where workers die. The first error ends them all, and is raised.
        """
        finished: queue.SimpleQueue[Any] = queue.SimpleQueue()
        running: dict[Any, int] = {}
        waiting = iter(enumerate(arguments))
        try:
            while True:
                room = AHEAD * max(self._threads(), 1) - len(running)
                with self.faults():
                    self._submit(function, islice(waiting, max(room, 0)), running, finished)
                if not running:
                    return
                for future in self.done(finished):
                    yield running.pop(future), self._result(future)
        finally:
            self.cancel(list(running))

    def _threads(self) -> int:
        """Of all workers, as of a moment ago."""
        now = time.monotonic()
        if now - self._counted[0] > LOOK:
            self._counted = now, int(self._identity(0)["total_threads"])
        return self._counted[1]

    def _identity(self, n_workers: int) -> Any:
        """What the scheduler says of itself and its workers; `scheduler_info` would hide that it is gone."""
        if self.client.status != "running":
            raise self._gone()
        with self.faults():
            try:
                asked = self.client.scheduler.identity
                return self.client.sync(asked, n_workers=n_workers, callback_timeout=GONE)
            except OSError:
                raise self._gone() from None

    def _submit(self, function: Any, some: Any, running: dict[Any, int], finished: Any) -> None:
        name = getattr(function, "__name__", "task")  # as the dashboard shows it
        for place, arguments in some:
            future = self.client.submit(_outcome, function, arguments, key=f"{name}-{place}-{token_hex(8)}")
            running[future] = place
            future.add_done_callback(finished.put)

    def done(self, finished: Any, homes: Collection[str] = ()) -> list[Any]:
        """The futures that are done, or an error if none ever will be; [] if a worker of `homes` is gone."""
        lost = alone = 0.0
        paused: dict[str, float] = {}
        while True:
            with suppress(queue.Empty):
                first = finished.get(timeout=LOOK)
                return [first, *(finished.get() for _ in range(finished.qsize()))]
            now = time.monotonic()
            lost = 0.0 if self.client.status == "running" else lost or now
            if self.client.status == "closed" or (lost and now - lost > GONE):
                raise self._gone()
            alone = 0.0 if lost or self._threads() else alone or now
            if alone and now - alone > IDLE:
                raise ClusterError(
                    f"the scheduler at {self.address} has had no workers for {IDLE:.0f} s; start some and "
                    "give the same command again, which goes on where it was"
                )
            if not (lost or alone):
                there = self._identity(-1)["workers"]
                paused = self._woken(there, paused)
                if there and not all(address in there for address in homes):
                    return []

    def _woken(self, there: dict[str, Any], paused: dict[str, float]) -> dict[str, float]:
        """Start workers anew that wait for memory and do nothing, which Dask would leave so for ever.

        They hold nothing that is not on disk. Returns since when workers wait.
        """
        now = time.monotonic()
        waiting = [
            address
            for address, worker in there.items()
            if worker["status"] == "paused" and not worker["metrics"].get("task_counts", {}).get("executing")
        ]
        paused = {address: paused.get(address, now) for address in waiting}
        for address in [address for address, since in paused.items() if now - since > PAUSED]:
            self._restarts += 1
            if self._restarts > RESTARTS or not there[address]["nanny"]:
                limit = there[address]["memory_limit"] / 1e9
                raise ClusterError(
                    f"a worker waits for memory (the limit is {limit:.1f} GB); give each worker more, or "
                    "start more workers"
                )
            with self.faults():
                self.client.restart_workers([address], timeout=GONE, raise_for_error=False)
            paused.pop(address)
        return paused

    def _result(self, future: Any) -> Any:
        with self.faults():
            result, error = future.result()
        if error is not None:
            raise error
        return result

    def cancel(self, futures: list[Any]) -> None:
        """Give up tasks."""
        if futures and self.client.status == "running":
            with suppress(OSError, RuntimeError, CancelledError):
                self.client.cancel(futures, force=True)

    @contextmanager
    def faults(self) -> Iterator[None]:
        """Turns the errors of Dask into one sentence each."""
        scheduler, closed = dask("distributed.scheduler"), dask("distributed.comm").CommClosedError
        try:
            yield
        except HyperclusError:
            raise
        except scheduler.KilledWorker as error:
            times, limit = error.allowed_failures + 1, error.last_worker.memory_limit
            size = f" (the limit is {limit / 1e9:.1f} GB)" if limit else ""
            raise ClusterError(
                f"workers died {times} times in the same task, most likely for want of memory{size}; give "
                "each worker more memory, or start more workers"
            ) from None
        except scheduler.NoValidWorkerError:
            raise ClusterError(
                f"the scheduler at {self.address} has no worker for a task; start some"
            ) from None
        except (closed, CancelledError):
            raise self._gone() from None
        except (OSError, RuntimeError) as error:
            if str(error).startswith("Error during deserialization"):
                raise ClusterError(
                    f"the scheduler or the workers at {self.address} cannot load the tasks; install the same "
                    "versions of hyperclus and its libraries there as here"
                ) from None
            if self.client.status == "running":  # an error of the task
                raise
            raise self._gone() from None

    def _gone(self) -> ClusterError:
        return ClusterError(f"the scheduler at {self.address} is gone; {AGAIN}")


def _outcome(function: Any, arguments: tuple[Any, ...]) -> tuple[Any, HyperclusError | None]:
    """What a task gives; an error in the data comes back as a result, which Dask does not log."""
    try:
        return function(*arguments), None
    except HyperclusError as error:
        return None, error
    except OSError as error:
        return None, file_fault(error)


def _default_client(distributed: Any) -> Any:
    with suppress(ValueError):
        client = distributed.default_client()
        return client if client.status == "running" else None
    return None


@contextmanager
def _local(distributed: Any, count: int, memory: str | None) -> Iterator[Any]:
    """A client of new workers on this machine."""
    limit = memory or int(FREE * distributed.system.MEMORY_LIMIT / count)
    try:
        cluster = distributed.LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            processes=True,
            memory_limit=limit,
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
        )
    except ValueError as error:
        raise InputError(f"no workers with memory {shown(memory)} can be started: {error}") from None
    with cluster, distributed.Client(cluster, timeout=CONNECT, set_as_default=False) as client:
        yield client


@contextmanager
def _connected(distributed: Any, address: str) -> Iterator[Any]:
    """A client of a scheduler that runs elsewhere."""
    try:
        client = distributed.Client(address, timeout=CONNECT, set_as_default=False)
    except (OSError, ValueError) as error:
        why = " ".join(str(error).split())[:200]
        raise InputError(
            f"no scheduler answers at {shown(address)} ({why}); check the address and that it runs"
        ) from None
    try:
        yield client
    finally:
        with suppress(OSError, RuntimeError, CancelledError):
            client.close(timeout=CONNECT)


@contextmanager
def quiet() -> Iterator[None]:
    """Keeps Dask's log of workers that die and connections that end from the terminal."""
    names = [f"distributed{part}" for part in ("", ".nanny", ".scheduler", ".client", ".core", ".batched")]
    loggers = [logging.getLogger(name) for name in names]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)
