"""The workers of a Dask cluster; everything that touches Dask's API.

Dask repeats a task whose worker died, up to three times. It sets no limit to waiting for a scheduler that is
gone or for workers that never come; here both waits end with an error.
"""

import logging
import os
import queue
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from hyperclus._runtime.optional import library
from hyperclus.engines.dask.schedule import Stage, StageResult, result_for, run_stage
from hyperclus.engines.dask.store import file_fault, read_run_files
from hyperclus.engines.dask.vectors import Side
from hyperclus.errors import ClusterError, HyperclusError, InputError
from hyperclus.hypergraph.messages import shown

POLL = 1.0  # seconds between checks of the scheduler and the workers
QUEUED = 2  # tasks per thread that the scheduler has at a time, so that no worker waits for the client
MAX_RESTARTS = 3  # of paused workers, in one run
MAX_ATTEMPTS = 10  # at one round
MEMORY_SHARE = 0.8  # of the machine's memory, for the workers of a local cluster
WHOLE_PARTS = 4  # results are not split for so few parts, because splitting costs more tasks,
WHOLE_BYTES = 2e7  # unless a vector is larger than this
AGAIN = "run the same command again; it resumes where it was"


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds to connect to a scheduler, to wait for a lost one, for workers, and for a paused worker."""

    connect: float = 8.0
    scheduler: float = 15.0
    workers: float = 60.0
    paused: float = 10.0


class WorkerState(NamedTuple):
    """A connected worker; `memory_limit` in bytes is 0 if there is no limit."""

    address: str
    memory_limit: int
    n_threads: int


def memory_per_thread(workers: Sequence[WorkerState]) -> int:
    """Return the smallest memory limit of a worker per thread, in bytes; 0 if there is no limit."""
    return min((one.memory_limit // one.n_threads for one in workers if one.memory_limit), default=0)


def dask(module: str = "distributed") -> Any:
    """Import Dask's scheduler or one of its modules."""
    return library(module, "Dask", "clustering on Dask workers", "dask")


class WorkerPool:
    """The workers that a Dask client can use; `address` is that of the scheduler.

    A part of a round stays with the same worker while that one lives.
    """

    def __init__(self, client: Any, timeouts: Timeouts = Timeouts()) -> None:  # noqa: B008
        self.client, self.timeouts = client, timeouts
        self.address = str(client.scheduler.address)
        self._present: dict[str, Any] = {}
        self._asked, self._restarts = -POLL, 0

    @classmethod
    @contextmanager
    def connect(
        cls,
        scheduler: "str | WorkerPool | None" = None,
        workers: int | None = None,
        memory: str | None = None,
        timeouts: Timeouts = Timeouts(),  # noqa: B008
    ) -> Iterator["WorkerPool"]:
        """Connect to a scheduler, or use the current client, or start workers on this machine.

        `workers` and `memory` (of each, such as "2GB") are for new workers, which end with the body: by
        default one per core, with equal shares of the machine's memory.
        """
        distributed = dask()
        if isinstance(scheduler, WorkerPool):
            yield scheduler
            return
        current = None
        with suppress(ValueError):  # there is no client
            current = distributed.default_client()
        if scheduler is None and current is not None and current.status == "running":
            yield cls(current, timeouts)
            return
        with quiet(), ExitStack() as stack:
            target = scheduler or stack.enter_context(_local_cluster(workers or os.cpu_count() or 1, memory))
            try:
                client = distributed.Client(target, timeout=timeouts.connect, set_as_default=False)
            except (OSError, ValueError) as error:
                why = " ".join(str(error).split())[:200]
                raise InputError(
                    f"no scheduler answers at {shown(scheduler)} ({why}); check the address and that it is "
                    "running"
                ) from None
            stack.callback(_close, client, timeouts.connect)
            yield cls(client, timeouts)

    def workers(self) -> list[WorkerState]:
        return [
            WorkerState(address, int(worker["memory_limit"] or 0), worker["nthreads"])
            for address, worker in self.present(0.0).items()
        ]

    def present(self, max_age: float = POLL) -> dict[str, Any]:
        """Ask the scheduler for its workers, unless the last answer is at most `max_age` seconds old.

        Unlike `scheduler_info`, this fails if the scheduler is gone.
        """
        if time.monotonic() - self._asked > max_age:
            if self.client.status != "running":
                raise self._scheduler_gone()
            try:
                ask, timeout = self.client.scheduler.identity, self.timeouts.scheduler
                found = self.client.sync(ask, n_workers=-1, callback_timeout=timeout)
            except (OSError, RuntimeError, CancelledError):
                raise self._scheduler_gone() from None
            self._present, self._asked = found["workers"], time.monotonic()
        return self._present

    def each(
        self, function: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]
    ) -> Iterator[tuple[int, Any]]:
        """Yield (index, result) of a function for each tuple of arguments, as the results arrive.

        The scheduler has only a few tasks per worker at any time. A task may run more than once if workers
        die. The first error of a task is raised when the others that the scheduler has are done, so that none
        writes to a folder which the caller deletes.
        """
        finished: queue.SimpleQueue[Any] = queue.SimpleQueue()
        running: dict[Any, int] = {}
        waiting = iter(enumerate(arguments))
        name = getattr(function, "__name__", "task")  # shown on Dask's dashboard
        try:
            while True:
                threads = sum(worker["nthreads"] for worker in self.present().values())
                room = QUEUED * max(threads, 1) - len(running)
                with self.dask_errors():
                    for place, given in islice(waiting, max(room, 0)):
                        key = f"{name}-{place}-{token_hex(8)}"
                        future = self.client.submit(_catch_errors, function, given, key=key)
                        running[future] = place
                        future.add_done_callback(finished.put)
                if not running:
                    return
                done = self.wait(finished)
                for future in done:
                    with self.dask_errors():
                        result, error = future.result()
                    if error is not None:
                        self._wait_for_others(finished, running, done)
                        raise error
                    yield running.pop(future), result
        finally:
            self.cancel(list(running))

    def _wait_for_others(self, finished: Any, running: dict[Any, int], done: list[Any]) -> None:
        """Wait until no task is running, whatever the results are; `done` are those that have ended."""
        with suppress(ClusterError):
            while True:
                for future in done:
                    running.pop(future, None)
                if not running:
                    return
                done = self.wait(finished)

    def round(self, path: Path, stages: Sequence[Stage], parts: dict[Side, int]) -> list[StageResult]:
        """Return the results of the last stage; if a worker dies, the others repeat the round."""
        for attempt in range(MAX_ATTEMPTS):
            addresses = sorted(self.present(0.0 if attempt else POLL))
            found = self._results(*self._graph(path, stages, parts, addresses))
            if found is not None:
                return found
        raise ClusterError(f"workers keep dying; see their logs, then {AGAIN}")

    def alone(self, function: Callable[..., Any], *args: Any) -> Any:
        """Run a function on one worker and return its result."""
        return next(iter(self.each(function, [args])))[1]

    def _graph(
        self, path: Path, stages: Sequence[Stage], parts: dict[Side, int], addresses: list[str]
    ) -> tuple[dict[str | None, dict[str, Any]], list[str]]:
        """Return the tasks of a round by the worker that should run them, and the keys of the last stage."""
        name, files = token_hex(6), read_run_files(path)
        dense = all(offsets[-1] == files.ends[-1] for offsets in files.offsets)  # blocks take whole chunks
        large = max(parts.values()) > WHOLE_PARTS or 8 * files.ends[-1] > WHOLE_BYTES
        layers: dict[str | None, dict[str, Any]] = defaultdict(dict)
        keys: list[str] = []
        for stage in stages:
            before = keys
            keys = [f"{stage.side}-{name}-{stage.level}-{part}" for part in range(parts[stage.side])]
            for part, key in enumerate(keys):
                given = before
                if large and not (dense and stage.side == "edges"):
                    given = [f"piece-{name}-{stage.level}-{number}-{part}" for number in range(len(before))]
                    tasks = {own: (result_for, whole, part) for own, whole in zip(given, before, strict=True)}
                    layers[None].update(tasks)
                worker = addresses[part % len(addresses)] if addresses else None
                layers[worker][key] = (run_stage, path, stage, part, given)
        return layers, keys

    def _results(self, layers: dict[str | None, dict[str, Any]], keys: list[str]) -> list[StageResult] | None:
        """Return the results of the last tasks; None if a worker is gone, as Dask may wait for it."""
        highlevel = dask("dask.highlevelgraph")
        pinned = {
            f"{keys[0]}-{number}": highlevel.MaterializedLayer(
                tasks, {"workers": [address], "allow_other_workers": True} if address else None
            )
            for number, (address, tasks) in enumerate(layers.items())
        }
        graph = highlevel.HighLevelGraph(pinned, {name: set() for name in pinned})
        finished: queue.SimpleQueue[Any] = queue.SimpleQueue()
        with self.dask_errors():
            futures = self.client.get(graph, keys, sync=False)
            for future in futures:
                future.add_done_callback(finished.put)
            waiting = len(futures)
            try:
                while waiting:
                    done = self.wait(finished, [address for address in layers if address])
                    if not done:
                        return None
                    waiting -= len(done)
                found: list[StageResult] = self.client.gather(futures)
            finally:
                if waiting:
                    self.cancel(futures)
        return found

    def wait(self, finished: Any, needed: Collection[str] = ()) -> list[Any]:
        """Wait for futures; return those that are done, or [] if a needed worker is gone.

        Raises a `ClusterError` if there is no scheduler, or no worker, for too long.
        """
        lost = alone = 0.0
        paused: dict[str, float] = {}
        while True:
            with suppress(queue.Empty):
                first = finished.get(timeout=POLL)
                return [first, *(finished.get() for _ in range(finished.qsize()))]
            now = time.monotonic()
            lost = 0.0 if self.client.status == "running" else lost or now
            if self.client.status == "closed" or (lost and now - lost > self.timeouts.scheduler):
                raise self._scheduler_gone()
            present = {} if lost else self.present(0.0)
            alone = 0.0 if lost or present else alone or now
            if alone and now - alone > self.timeouts.workers:
                raise ClusterError(
                    f"the scheduler at {self.address} has had no workers for {self.timeouts.workers:.0f} s; "
                    f"start some, then {AGAIN}"
                )
            paused = self._restart_paused(present, paused)
            if present and not all(address in present for address in needed):
                return []

    def cancel(self, futures: list[Any]) -> None:
        if futures and self.client.status == "running":
            with suppress(OSError, RuntimeError, CancelledError):
                self.client.cancel(futures, force=True)

    @contextmanager
    def dask_errors(self) -> Iterator[None]:
        """Turn each error of Dask into one sentence."""
        scheduler, closed = dask("distributed.scheduler"), dask("distributed.comm").CommClosedError
        try:
            yield
        except HyperclusError:
            raise
        except scheduler.KilledWorker as error:
            times, limit = error.allowed_failures + 1, error.last_worker.memory_limit
            size = f" (the limit is {limit / 1e9:.1f} GB)" if limit else ""
            raise ClusterError(
                f"workers died {times} times in the same task, most likely from lack of memory{size}; give "
                "each worker more memory, or start more workers"
            ) from None
        except scheduler.NoValidWorkerError:
            raise ClusterError(
                f"the scheduler at {self.address} has no worker for a task; start some"
            ) from None
        except (closed, CancelledError):
            raise self._scheduler_gone() from None
        except (OSError, RuntimeError) as error:
            if str(error).startswith("Error during deserialization"):
                raise ClusterError(
                    f"the scheduler or the workers at {self.address} cannot load the tasks; install the same "
                    "versions of hyperclus and its libraries there as here"
                ) from None
            if self.client.status == "running":  # the task raised it
                raise
            raise self._scheduler_gone() from None

    def _restart_paused(self, present: dict[str, Any], paused: dict[str, float]) -> dict[str, float]:
        """Restart idle workers that are paused for lack of memory, which Dask would never do.

        They hold nothing that is not on disk. Returns since when each worker has been paused.
        """
        now = time.monotonic()
        paused = {
            address: paused.get(address, now)
            for address, worker in present.items()
            if worker["status"] == "paused" and not worker["metrics"].get("task_counts", {}).get("executing")
        }
        for address in [one for one, since in paused.items() if now - since > self.timeouts.paused]:
            self._restarts += 1
            if self._restarts > MAX_RESTARTS or not present[address]["nanny"]:
                limit = present[address]["memory_limit"] / 1e9
                raise ClusterError(
                    f"a worker is out of memory (the limit is {limit:.1f} GB); give each worker more memory, "
                    "or start more workers"
                )
            with self.dask_errors():
                timeout = self.timeouts.scheduler
                self.client.restart_workers([address], timeout=timeout, raise_for_error=False)
            paused.pop(address)
        return paused

    def _scheduler_gone(self) -> ClusterError:
        return ClusterError(f"the scheduler at {self.address} is gone; start it again and {AGAIN}")


@contextmanager
def quiet() -> Iterator[None]:
    """Hide Dask's log messages about workers that die and connections that end."""
    names = [f"distributed{part}" for part in ("", ".nanny", ".scheduler", ".client", ".core", ".batched")]
    levels = {logger: logger.level for logger in map(logging.getLogger, names)}
    for logger in levels:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in levels.items():
            logger.setLevel(level)


def _catch_errors(function: Any, arguments: tuple[Any, ...]) -> tuple[Any, HyperclusError | None]:
    """Run a task; return errors in the data as results, because Dask logs what is raised."""
    try:
        return function(*arguments), None
    except HyperclusError as error:
        return None, error
    except OSError as error:
        return None, file_fault(error)


def _close(client: Any, timeout: float) -> None:
    with suppress(OSError, RuntimeError, CancelledError):
        client.close(timeout=timeout)


@contextmanager
def _local_cluster(n_workers: int, memory: str | None) -> Iterator[Any]:
    """Start workers on this machine that only this process can use.

    Dask runs whatever a client sends, so connections need the certificate of this run, which is only in
    memory. There are no web pages, because they have no such check. What workers move out of memory is
    unpickled later; it goes to a folder that other users cannot write.
    """
    distributed = dask()
    library("cryptography", "cryptography", "starting Dask workers on this machine", "dask")
    no_pages: dict[str, Any] = {f"distributed.{role}.http.routes": [] for role in ("scheduler", "worker")}
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory(prefix="hyperclus-", ignore_cleanup_errors=True))
        try:
            with dask("dask").config.set(no_pages):
                cluster = distributed.LocalCluster(
                    n_workers=n_workers,
                    threads_per_worker=1,
                    processes=True,
                    memory_limit=memory or int(MEMORY_SHARE * distributed.system.MEMORY_LIMIT / n_workers),
                    security=distributed.Security.temporary(),
                    dashboard_address="127.0.0.1:0",  # without one, a fixed port would be taken
                    scheduler_kwargs={"dashboard": False},
                    local_directory=folder,
                    silence_logs=logging.CRITICAL,
                )
        except ValueError as error:
            raise InputError(f"no workers with memory {shown(memory)} can be started: {error}") from None
        except RuntimeError as error:  # in a script, whose workers import it and come here again
            raise ClusterError(
                "no worker could be started on this machine; a script must call hyperclus below "
                f'`if __name__ == "__main__":`, because every worker imports the script ({error})'
            ) from None
        yield stack.enter_context(cluster)
