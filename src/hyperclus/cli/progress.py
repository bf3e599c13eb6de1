"""A progress bar on stderr for runs that take a while."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

import hyperclus
from hyperclus._runtime.progress import Step
from hyperclus.cli.app import Messages, errors

DELAY = 0.5  # seconds before the bar appears
NARROW = 70  # terminals below this width have no room for notes
WIDE = 110  # terminals from this width on have room for a second note
INTERVAL = 10.0  # seconds between lines if there is no terminal

Listener = Callable[[Step], None]
Status = Callable[[], str]


@contextmanager
def progress(messages: Messages, status: Status | None = None) -> Iterator[None]:
    """Show the progress of the body in a bar, if stderr is a terminal and --quiet is not given.

    `status` returns a further note. With it, --verbose prints the progress line by line if there is no
    terminal, as the log of a job needs it.
    """
    if errors.is_terminal and not messages.quiet:
        with _bar(status) as show, hyperclus.watching(show):
            yield
    elif status is not None:
        with hyperclus.watching(_lines(messages, status)):
            yield
    else:
        yield


def _lines(messages: Messages, status: Status) -> Listener:
    """Print a line for the first step of each stage, and then every few seconds."""
    stage, printed = "", 0.0

    def show(step: Step) -> None:
        nonlocal stage, printed
        words, now = status(), time.monotonic()
        if step.stage != stage or now - printed > INTERVAL:
            stage, printed = step.stage, now
            share = "" if step.share is None else f"{100 * step.share:.0f} %"
            notes = [share, _round(step), step.note, words]
            messages.detail(f"{stage}: {', '.join(filter(None, notes))}")

    return show


@contextmanager
def _bar(status: Status | None) -> Iterator[Listener]:
    """Show one line: the stage, a bar, the time, and a note."""
    columns = [
        *(TextColumn("{task.description}"), BarColumn(min(24, max(errors.width // 4, 8)))),
        *(TimeRemainingColumn(compact=True), TextColumn("left")),
    ]
    if errors.width >= NARROW:
        note = TextColumn("elapsed  {task.fields[note]}", style="dim", markup=False)
        columns += [TimeElapsedColumn(), note]
    bar = Progress(*columns, console=errors, transient=True)
    task, start, reached = bar.add_task("", total=None, note=""), time.monotonic(), ("", 0.0)

    def show(step: Step) -> None:
        nonlocal reached
        if step.stage != reached[0] or (step.share or 0.0) < reached[1]:
            bar.reset(task, description=step.stage, total=None)
        reached = step.stage, step.share or 0.0
        notes = [step.note]
        if status is not None:
            notes = [_round(step), step.note, status() if errors.width >= WIDE else ""]
        total = None if step.share is None else 1.0
        bar.update(task, total=total, completed=reached[1], note=", ".join(filter(None, notes)))
        if time.monotonic() - start > DELAY:
            bar.start()

    try:
        yield show
    finally:
        bar.stop()


def _round(step: Step) -> str:
    """The number of the round over all workers, of which each product takes one."""
    return f"round {step.done:.0f}" if step.unit == "products" else ""
