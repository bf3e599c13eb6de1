"""Progress events and the listener that receives them."""

import math
from collections.abc import Callable
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal, TypeAlias

from hyperclus._runtime.context import using
from hyperclus.errors import check_callable

Stage: TypeAlias = Literal[
    "reading",
    "preparation",
    "neighbours",
    "stationary distribution",
    "eigenvectors",
    "search",
    "bound",
    "chance",
    "stability",
    "report",
]


@dataclass(frozen=True, slots=True)
class Step:
    """A progress event.

    Attributes
    ----------
    stage : {"reading", "preparation", "stationary distribution", "eigenvectors", "search", "bound",
        "chance", "stability", "report"}
        The current stage. A stage may run more than once, as for each shuffle of `suggest_k`.
    done : float
        Work done in this stage, in `unit`, including work that a checkpoint saved.
    unit : {"bytes", "rows", "products", "incidences", "evaluations", "blocks", "shuffles", "runs", "pages"}
        A product is one pass of the walk over all incidences.
    share : float or None
        Estimated fraction of the stage that is done, from 0 to 1; None if unknown. It decreases only when
        the stage starts again, and 1 means that the stage is finished.
    note : str
        A short description, such as "residual 3e-06" or "NCut 0.6412".
    """

    stage: Stage
    done: float
    unit: str
    share: float | None
    note: str


Listener: TypeAlias = Callable[[Step], None]

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)
_topic: ContextVar[str] = ContextVar("topic", default="")


def watching(listener: Listener) -> AbstractContextManager[None]:
    """Call `listener` with every `Step` of the runs that this thread starts inside the context.

    A listener cannot change a result. An exception that it raises stops the run.

    Examples
    --------
    >>> import hyperclus as hc
    >>> steps = []
    >>> with hc.watching(steps.append):
    ...     part = hc.cluster(hc.Hypergraph.from_edges([["a", "b"], ["b", "c"], ["c", "d"]]))
    >>> sorted({step.stage for step in steps})
    ['eigenvectors', 'search', 'stationary distribution']
    """
    check_callable("listener", listener)
    return using(_listener, listener)


def unwatched() -> AbstractContextManager[None]:
    """Report nothing inside the context, for a stage that consists of others and reports by itself."""
    return using(_listener, None)


def topic(words: str) -> AbstractContextManager[None]:
    """Prefix the notes of all steps inside the context, for example with "shuffle 3 of 20"."""
    return using(_topic, words)


def listening() -> bool:
    """Whether there is a listener; ask before computing something only for a report."""
    return _listener.get() is not None


def report_progress(stage: Stage, done: float, unit: str, share: float | None = None, note: str = "") -> None:
    """Send a `Step` to the listener, if there is one; not for worker threads or compiled code."""
    if (listener := _listener.get()) is not None:
        listener(Step(stage, done, unit, share, ", ".join(filter(None, [_topic.get(), note]))))


@dataclass(slots=True)
class ResidualProgress:
    """Progress of an iteration: how many digits the residual has come down towards the tolerance.

    It covers the part of the stage from `low` to `high`, after `before` products of other iterations.
    """

    stage: Stage
    goal: float
    low: float = 0.0
    high: float = 1.0
    before: float = 0.0
    done: float = 0.0
    first: float = math.inf  # residual at the start; infinite until it is known, like the lowest
    lowest: float = math.inf

    def report(self, done: float, residual: float | None = None) -> None:
        """Report the number of products, and the residual if it was computed."""
        self.done = done
        if residual is not None:
            self.first = residual if math.isinf(self.first) else self.first
            self.lowest = min(self.lowest, residual)
        note = "" if math.isinf(self.lowest) else f"residual {self.lowest:.0e}"
        report_progress(self.stage, self.before + done, "products", self.share, note)

    def then(self, goal: float) -> "ResidualProgress":
        """Progress of the next iteration in the same stage, which takes half of the remaining share."""
        return ResidualProgress(self.stage, goal, self.high, (self.high + 1.0) / 2, self.before + self.done)

    @property
    def share(self) -> float:
        """Fraction of the stage that is done."""
        if self.lowest <= self.goal:
            return self.high
        if math.isinf(self.first) or math.isinf(self.lowest):
            return self.low
        digits = math.log(self.first / self.lowest) / math.log(self.first / self.goal)
        return self.low + (self.high - self.low) * min(max(digits, 0.0), 1.0)


@dataclass(slots=True)
class WorkProgress:
    """Progress of a stage that consists of parts with a known amount of work, done piece by piece."""

    stage: Stage
    unit: str
    done: float = 0.0  # finished work of all parts
    piece: float = 0.0  # amount of the current piece
    low: float = 0.0  # the current part covers the stage from here
    high: float = 0.0  # to here
    _start: float = 0.0
    _total: float = 1.0

    def begin(self, total: float, high: float) -> None:
        """Start a part with this amount of work, which ends at this share of the stage."""
        self.low, self.high, self._start, self._total = self.high, high, self.done, total

    def report(self, more: float, note: str) -> None:
        """Report the finished work and this much of the current piece."""
        done = self.done + min(more, self.piece)
        fraction = min((done - self._start) / self._total, 1.0)
        report_progress(self.stage, done, self.unit, self.low + (self.high - self.low) * fraction, note)

    def finish(self, note: str) -> None:
        """Report that the current piece is finished."""
        self.done, self.piece = self.done + self.piece, 0.0
        self.report(0.0, note)

    def end(self, note: str) -> None:
        """Report that the part is finished."""
        self.done = max(self.done, self._start + self._total)
        self.report(0.0, note)
