"""Rounds as graphs of Dask: a task for each part of each stage, on the worker that has it in memory."""

import queue
import time
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from secrets import token_hex
from typing import Any

from hyperclus.engines.dask.schedule import Stage
from hyperclus.engines.dask.stages import Outcome, piece, run_stage, site_at
from hyperclus.engines.dask.vectors import Side
from hyperclus.engines.dask.workers import LOOK, WorkerPool, dask
from hyperclus.errors import ClusterError

WHOLE = 4  # parts up to which outcomes travel whole, if they are small: to take them apart is a task more
SMALL = 2e7  # bytes of a vector
TRIES = 10  # of one round, from which workers vanish


class DaskRunner:
    """Runs rounds on a crew. A part goes to the same worker each time, while that one lives."""

    def __init__(self, pool: WorkerPool) -> None:
        self.pool = pool
        self._numbers, self._token = count(), token_hex(4)
        self._addresses: list[str] = []
        self._looked = -LOOK

    def round(self, site: Path, stages: Sequence[Stage], parts: dict[Side, int]) -> list[Outcome]:
        """The outcomes of the last stage; where a worker dies, the round is given again to the others."""
        for _ in range(TRIES):
            found = self._results(*self._graph(site, stages, parts))
            if found is not None:
                return found
            self._looked = -LOOK
        raise ClusterError(
            "workers die again and again; see their logs, and give the same command again, which goes on "
            "where it was"
        )

    def _graph(
        self, site: Path, stages: Sequence[Stage], parts: dict[Side, int]
    ) -> tuple[dict[str | None, dict[str, Any]], list[str]]:
        """The tasks of a round, by the worker that they are meant for, and the keys of the last ones."""
        name = f"{self._token}-{next(self._numbers)}"
        layers: dict[str | None, dict[str, Any]] = {}
        keys: list[str] = []
        for stage in stages:
            before = keys
            keys = [f"{stage.side}-{name}-{stage.level}-{part}" for part in range(parts[stage.side])]
            for part, key in enumerate(keys):
                given = before
                if before and self._apart(site, stage.side, parts):
                    given = [f"piece-{name}-{stage.level}-{number}-{part}" for number in range(len(before))]
                    taken = {own: (piece, whole, part) for own, whole in zip(given, before, strict=True)}
                    layers.setdefault(None, {}).update(taken)
                layers.setdefault(self._home(part), {})[key] = (run_stage, site, stage, part, given)
        return layers, keys

    def _apart(self, site: Path, side: Side, parts: dict[Side, int]) -> bool:
        """Whether outcomes are taken apart before they travel to this side."""
        facts = site_at(site)
        if side == "bundles" and facts.dense:
            return False
        return max(parts.values()) > WHOLE or 8 * facts.ends[-1] > SMALL

    def alone(self, function: Callable[..., Any], *args: Any) -> Any:
        """What a function returns that runs on one worker."""
        return next(iter(self.pool.each(function, [args])))[1]

    def _home(self, part: int) -> str:
        """The worker of a part, among those that were there a moment ago."""
        if time.monotonic() - self._looked > LOOK:
            self._addresses = sorted(worker.address for worker in self.pool.workers) or self._addresses
            self._looked = time.monotonic()
        return self._addresses[part % len(self._addresses)] if self._addresses else ""

    def _results(self, layers: dict[str | None, dict[str, Any]], keys: list[str]) -> list[Outcome] | None:
        """What the last tasks give; None where a worker is gone, for which Dask may wait for ever."""
        highlevel = dask("dask.highlevelgraph")
        pinned = {
            f"{keys[0]}-{number}": highlevel.MaterializedLayer(
                tasks, {"workers": [address], "allow_other_workers": True} if address else None
            )
            for number, (address, tasks) in enumerate(layers.items())
        }
        graph = highlevel.HighLevelGraph(pinned, {name: set() for name in pinned})
        homes = [address for address in layers if address]
        finished: queue.SimpleQueue[Any] = queue.SimpleQueue()
        with self.pool.faults():
            futures = self.pool.client.get(graph, keys, sync=False)
            for future in futures:
                future.add_done_callback(finished.put)
            waiting = len(futures)
            try:
                while waiting:
                    done = self.pool.done(finished, homes)
                    if not done:
                        return None
                    waiting -= len(done)
                found: list[Outcome] = self.pool.client.gather(futures)
            finally:
                if waiting:
                    self.pool.cancel(futures)
        return found
