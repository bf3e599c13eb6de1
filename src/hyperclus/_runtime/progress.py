"""What a long run is doing: it tells, and whoever wants to know listens."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal, TypeAlias

Stage: TypeAlias = Literal["reading", "preparation", "stationary law", "eigenvectors", "search", "bound"]


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a run.

    Attributes
    ----------
    stage : {"reading", "preparation", "stationary law", "eigenvectors", "search", "bound"}
        What the run is at. A stage may come more than once, as for each shuffle of `suggest_k`.
    done : float
        The work done in this stage, in `unit`; work that a checkpoint saved is counted too.
    unit : str
        "bytes", "rows", "products" (passes of the walk over all incidences), "incidences" or "evaluations".
    share : float or None
        An estimate, from 0 to 1, of how much of the stage is done; None where there is none. It falls
        only where the stage begins again, and 1 ends the stage.
    note : str
        A few words, such as "residual 3e-06" or "NCut 0.6412".
    """

    stage: Stage
    done: float
    unit: str
    share: float | None
    note: str


Listener: TypeAlias = Callable[[Step], None]

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)
_topic: ContextVar[str] = ContextVar("topic", default="")


@contextmanager
def watching(listener: Listener) -> Iterator[None]:
    """Within it, `listener` gets every `Step` of the runs of this thread.

    It cannot change a result. An error that it raises ends the run, which is a way to stop one.

    Examples
    --------
    >>> import hyperclus as hc
    >>> steps = []
    >>> with hc.watching(steps.append):
    ...     part = hc.cluster(hc.Hypergraph.from_edges([["a", "b"], ["b", "c"], ["c", "d"]]))
    >>> sorted({step.stage for step in steps})
    ['eigenvectors', 'search', 'stationary law']
    """
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def topic(words: str) -> Iterator[None]:
    """Put these words before the notes of all steps within, such as "shuffle 3 of 20"."""
    token = _topic.set(words)
    try:
        yield
    finally:
        _topic.reset(token)


def listening() -> bool:
    """Whether anyone listens, for what takes time to put together."""
    return _listener.get() is not None


def report_progress(stage: Stage, done: float, unit: str, share: float | None = None, note: str = "") -> None:
    """Tell the listener of a step, if there is one. Never called from threads or compiled loops."""
    listener = _listener.get()
    if listener is not None:
        listener(Step(stage, done, unit, share, ", ".join(filter(None, [_topic.get(), note]))))


@dataclass(slots=True)
class ResidualProgress:
    """A residual on its way down to a goal: the share is how far it has come, in digits.

    Attributes
    ----------
    stage : str
    goal : float
        The tolerance.
    low, high : float
        Where in the stage it begins and ends.
    before, done : float
        Products before it, and its own.
    first, lowest : float
        The residual at the start and the lowest so far, infinite before they are known.
    """

    stage: Stage
    goal: float
    low: float = 0.0
    high: float = 1.0
    before: float = 0.0
    done: float = 0.0
    first: float = math.inf
    lowest: float = math.inf

    def report(self, done: float, residual: float | None = None) -> None:
        """Tell of so many products, and of the residual where it has been looked at."""
        self.done = done
        if residual is not None:
            self.first = residual if math.isinf(self.first) else self.first
            self.lowest = min(self.lowest, residual)
        note = "" if math.isinf(self.lowest) else f"residual {self.lowest:.0e}"
        report_progress(self.stage, self.before + done, "products", self.share, note)

    def then(self, goal: float) -> "ResidualProgress":
        """The next residual of the same stage, which takes half of what is left of it."""
        return ResidualProgress(self.stage, goal, self.high, (self.high + 1.0) / 2, self.before + self.done)

    @property
    def share(self) -> float:
        """From `low` to `high`."""
        if self.lowest <= self.goal:
            return self.high
        if math.isinf(self.first) or math.isinf(self.lowest):
            return self.low
        way = math.log(self.first / self.lowest) / math.log(self.first / self.goal)
        return self.low + (self.high - self.low) * min(max(way, 0.0), 1.0)


@dataclass(slots=True)
class WorkProgress:
    """Work of about a known amount, in one or more parts: the share is what is done of it.

    Attributes
    ----------
    stage, unit : str
    done : float
        What is finished, in all parts.
    piece : float
        The amount of the piece under way, which is not finished.
    low, high : float
        Where in the stage the part begins and ends.
    """

    stage: Stage
    unit: str
    done: float = 0.0
    piece: float = 0.0
    low: float = 0.0
    high: float = 0.0
    _start: float = 0.0
    _total: float = 1.0

    def begin(self, total: float, high: float) -> None:
        """A part of this amount, up to this share of the stage."""
        self.low, self.high, self._start, self._total = self.high, high, self.done, total

    def report(self, more: float, note: str) -> None:
        """Tell of what is finished and so much of the piece under way."""
        done = self.done + min(more, self.piece)
        way = min((done - self._start) / self._total, 1.0)
        report_progress(self.stage, done, self.unit, self.low + (self.high - self.low) * way, note)

    def finish(self, note: str) -> None:
        """Tell that the piece is finished."""
        self.done, self.piece = self.done + self.piece, 0.0
        self.report(0.0, note)

    def end(self, note: str) -> None:
        """Tell that the part is finished."""
        self.done = max(self.done, self._start + self._total)
        self.report(0.0, note)
