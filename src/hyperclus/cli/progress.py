"""A progress bar on stderr for runs that take a while."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn

import hyperclus
from hyperclus._runtime.progress import Step
from hyperclus.cli.app import Messages, errors

DELAY = 0.5  # seconds before the bar appears
NARROW = 70  # terminals below this width have no room for notes
WIDE = 110  # terminals from this width on have room for a second note
INTERVAL = 10.0  # seconds between lines if there is no terminal


@contextmanager
def progress(messages: Messages, status: Callable[[], str] | None = None) -> Iterator[None]:
    """Show the progress of the body in a bar, if stderr is a terminal and --quiet is not given.

    Parameters
    ----------
    status : function, optional
        Returns a further note. With it, --verbose prints the progress line by line if there is no terminal,
        as the log of a job needs it.
    """
    if errors.is_terminal and not messages.quiet:
        with _Bar(status) as bar, hyperclus.watching(bar.show):
            yield
    elif status is not None:
        with hyperclus.watching(_Lines(messages, status).show):
            yield
    else:
        yield


@dataclass(slots=True)
class _Lines:
    """A line for the first step of each stage, and then every few seconds."""

    messages: Messages
    status: Callable[[], str]
    stage: str = ""
    printed: float = 0.0

    def show(self, step: Step) -> None:
        """Print one step of the run, unless another one was printed a moment ago."""
        status, now = self.status(), time.monotonic()
        if step.stage != self.stage or now - self.printed > INTERVAL:
            self.stage, self.printed = step.stage, now
            share = "" if step.share is None else f"{100 * step.share:.0f} %"
            notes = [share, _round(step), step.note, status]
            self.messages.detail(f"{step.stage}: {', '.join(filter(None, notes))}")


@dataclass(slots=True)
class _Bar:
    """One line: the stage, a bar, the time, and a note."""

    status: Callable[[], str] | None = None
    start: float = field(default_factory=time.monotonic)
    bar: Progress = field(init=False)
    task: TaskID = field(init=False)
    last: Step | None = None

    def __enter__(self) -> "_Bar":
        columns = [
            TextColumn("{task.description}"),
            BarColumn(min(24, max(errors.width // 4, 8))),
            TimeRemainingColumn(compact=True),
            TextColumn("left"),
        ]
        if errors.width >= NARROW:
            note = TextColumn("elapsed  {task.fields[note]}", style="dim", markup=False)
            columns += [TimeElapsedColumn(), note]
        self.bar = Progress(*columns, console=errors, transient=True)
        self.task = self.bar.add_task("", total=None, note="")
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar.live.is_started:
            self.bar.stop()

    def show(self, step: Step) -> None:
        """Show one step of the run."""
        before, self.last = self.last, step
        if before is None or step.stage != before.stage or (step.share or 0.0) < (before.share or 0.0):
            self.bar.reset(self.task, description=step.stage, total=None)
        notes = [step.note]
        if self.status is not None:
            notes = [_round(step), step.note, self.status() if errors.width >= WIDE else ""]
        self.bar.update(
            self.task,
            total=None if step.share is None else 1.0,
            completed=step.share or 0.0,
            note=", ".join(filter(None, notes)),
        )
        if time.monotonic() - self.start > DELAY:
            self.bar.start()


def _round(step: Step) -> str:
    """The number of the round over all workers, of which each product takes one."""
    return f"round {step.done:.0f}" if step.unit == "products" else ""
