"""A child process that holds the data: it reads once and clusters many times.

The parent sends requests through a pipe, and the child replies with progress and results. A run is cancelled
by its progress listener; a child that does not react is killed, and the next run starts another one.
"""

import multiprocessing
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection, wait
from typing import Any, TypeAlias

from hyperclus._runtime.progress import Step, watching

GRACE = 2.0  # seconds that a child has to react to a cancel
INTERVAL = 0.1  # seconds between reports of progress

CRASHED = "the computation ended unexpectedly ({}); run it again, with less data if memory is short"
DEFECT = "the computation failed: {}; the terminal has the details, please report them"


@dataclass(frozen=True, slots=True)
class Result:
    """What a run found."""

    heading: str
    notes: tuple[str, ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)  # what becomes of each column
    page: bytes = b""  # HTML
    table: bytes = b""  # CSV


class RefusedError(Exception):
    """A run cannot be done; the message is a sentence for the user."""


class _CancelledError(BaseException):
    """Ends a run; not an `Exception`, so that no code on the way handles it."""


Run: TypeAlias = Callable[[list[str]], Result]


@dataclass(frozen=True, slots=True)
class Status:
    """The state of the last run, and the last result."""

    number: int = 0  # of the run; 0 before the first
    running: bool = False
    cancelling: bool = False
    cancelled: bool = False
    stage: str = ""
    share: float | None = None
    note: str = ""
    error: str | None = None
    started: float = 0.0
    ended: float = 0.0
    result: Result | None = None  # of the last run that had one
    result_number: int = 0

    @property
    def seconds(self) -> float:
        """How long the run took, or takes so far."""
        return (time.monotonic() if self.running else self.ended) - self.started


class Worker:
    """Runs in a child process, one at a time; all methods return at once.

    `make` is called in the child, so it must be importable there; it returns the function that does a run.
    """

    def __init__(self, make: Callable[[], Run], grace: float = GRACE) -> None:
        self._make, self._grace = make, grace
        self._lock = threading.RLock()
        self._child: _Child | None = None
        self.status = Status()

    @property
    def pid(self) -> int | None:
        """The process id of the child, if there is one."""
        return None if self._child is None else self._child.process.pid

    def run(self, arguments: list[str]) -> bool:
        """Start a run, unless there is one; returns whether it was started."""
        with self._lock:
            if self.status.running:
                return False
            before, now = self.status, time.monotonic()
            self.status = Status(
                before.number + 1,
                running=True,
                stage="starting",
                started=now,
                result=before.result,
                result_number=before.result_number,
            )
            if self._child is None:
                self._child = _Child(self._make)
                threading.Thread(target=self._listen, args=(self._child,), daemon=True).start()
            self._child.send("run", self.status.number, arguments)
            return True

    def cancel(self, number: int) -> None:
        """Cancel a run, if it is still running."""
        with self._lock:
            if not self._is_running(number) or self._child is None:
                return
            self.status = replace(self.status, cancelling=True)
            self._child.send("cancel", number)
            timer = threading.Timer(self._grace, self._kill, (number, self._child))
            timer.daemon = True
            timer.start()

    def close(self) -> None:
        """End the child process."""
        with self._lock:
            child, self._child = self._child, None
        if child is not None:
            child.process.kill()
            child.process.join()

    def _is_running(self, number: int) -> bool:
        return self.status.running and self.status.number == number

    def _kill(self, number: int, child: "_Child") -> None:
        with self._lock:
            if self._is_running(number):
                child.process.kill()  # its pipe ends, which `_listen` notices

    def _listen(self, child: "_Child") -> None:
        while True:
            try:
                number, what, value = child.connection.recv()
            except (EOFError, OSError):
                break
            with self._lock:
                if self._is_running(number):
                    self._receive(what, value)
        child.process.join()
        child.connection.close()
        with self._lock:
            if self._child is child:
                self._child = None
                if self.status.running:
                    crashed = None if self.status.cancelling else CRASHED.format(_ending(child.process))
                    self._end(error=crashed, cancelled=self.status.cancelling)

    def _receive(self, what: str, value: Any) -> None:
        if what == "progress":
            stage, share, note = value
            self.status = replace(self.status, stage=stage, share=share, note=note)
        elif what == "result":
            self._end(result=value, result_number=self.status.number)
        else:
            self._end(error=value, cancelled=what == "cancelled")

    def _end(self, **found: Any) -> None:
        now = time.monotonic()
        self.status = replace(self.status, running=False, cancelling=False, ended=now, **found)


class _Child:
    """A process, and the end of its pipe."""

    def __init__(self, make: Callable[[], Run]) -> None:
        spawn = multiprocessing.get_context("spawn")
        self.connection, other = spawn.Pipe()
        self.process = spawn.Process(target=_serve, args=(other, make), daemon=True)
        self.process.start()
        other.close()

    def send(self, *message: Any) -> None:
        with suppress(OSError):  # the child has just ended, and `_listen` says so
            self.connection.send(message)


def _ending(process: Any) -> str:
    code = process.exitcode
    return f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"


# In the child


def _serve(connection: Connection, make: Callable[[], Run]) -> None:
    """Do the runs that are asked for, until the pipe ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends this process
    threading.Thread(target=_end_with_parent, daemon=True).start()
    run = make()
    while True:
        try:
            what, number, *given = connection.recv()
            if what == "run":
                connection.send((number, *_outcome(run, given[0], _Listener(connection, number))))
        except (EOFError, OSError):
            return


def _end_with_parent() -> None:
    """End this process when the parent has ended, whatever is running."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)


def _outcome(run: Run, arguments: list[str], listener: "_Listener") -> tuple[str, Any]:
    try:
        with watching(listener):
            return "result", run(arguments)
    except _CancelledError:
        return "cancelled", None
    except RefusedError as error:
        return "error", str(error)
    except Exception as error:
        traceback.print_exc(file=sys.stderr)
        return "error", DEFECT.format(type(error).__name__)


@dataclass(slots=True)
class _Listener:
    """Sends progress to the parent, and looks whether the run is to be cancelled."""

    connection: Connection
    number: int
    sent: float = -INTERVAL
    stage: str = ""

    def __call__(self, step: Step) -> None:
        now = time.monotonic()
        if step.stage == self.stage and now - self.sent < INTERVAL:
            return
        self.stage, self.sent = step.stage, now
        self.connection.send((self.number, "progress", (step.stage, step.share, step.note)))
        while self.connection.poll():
            if self.connection.recv()[:2] == ("cancel", self.number):
                raise _CancelledError
