"""A bar on the error stream for runs that take a while."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TextColumn
from rich.text import Text

import hyperclus
from hyperclus._runtime.progress import Step
from hyperclus.cli.app import Voice, errors

AFTER = 0.5  # seconds: what is done sooner needs no bar
NARROW = 70  # columns: below it the note is left out
WIDE = 110  # columns from which there is room for an aside
SILENCE = 10.0  # seconds between lines where there is no terminal
SINCE = 1.0  # seconds of a stage from which a rate says something


@contextmanager
def progress(voice: Voice, first: str = "reading", aside: Callable[[], str] | None = None) -> Iterator[None]:
    """A bar for what runs inside, if the error stream is a terminal and it is not to be quiet.

    Parameters
    ----------
    first : str
        The stage until there is word of one.
    aside : function, optional
        Asked at every step for more words. With it a run without a terminal that is to be verbose tells
        how far it is too, line by line, as the log of a cluster's job should.
    """
    if errors.is_terminal and not voice.quiet:
        with _Bar(first, aside) as bar, hyperclus.watching(bar.show):
            yield
    elif aside is not None:
        with hyperclus.watching(_Lines(voice, aside).show):
            yield
    else:
        yield


@dataclass(slots=True)
class _Lines:
    """A line for a step now and then, and for the first one of each stage."""

    voice: Voice
    aside: Callable[[], str]
    stage: str = ""
    said: float = 0.0

    def show(self, step: Step) -> None:
        """Say one step of the run, unless one was said a moment ago."""
        words, now = self.aside(), time.monotonic()
        if step.stage != self.stage or now - self.said > SILENCE:
            self.stage, self.said = step.stage, now
            done = "" if step.share is None else f"{100 * step.share:.0f} %"
            told = [done, _round(step), step.note, words]
            self.voice.detail(f"{step.stage}: {', '.join(filter(None, told))}")


@dataclass(slots=True)
class _Bar:
    """One line: the stage, a bar where the share is known, rate, time gone or left, a note."""

    name: str
    aside: Callable[[], str] | None = None
    progress: Progress = field(init=False)
    task: TaskID = field(init=False)
    stage: str = ""
    done: float = 0.0
    share: float = 0.0
    began: float = 0.0
    first: tuple[float, float] = (0.0, 0.0)  # done and share when it began
    timer: threading.Timer = field(init=False)
    lock: threading.Lock = field(default_factory=threading.Lock)
    over: bool = False

    def __enter__(self) -> "_Bar":
        columns: list[ProgressColumn] = [
            TextColumn("{task.description}", markup=False),
            BarColumn(24),
            _Pace(),
        ]
        if errors.width >= NARROW:
            columns.append(TextColumn("{task.fields[note]}", style="dim", markup=False))
        self.progress = Progress(*columns, console=errors, transient=True)
        self.task = self.progress.add_task(self.name, total=None, note="", pace="")
        self.began = time.monotonic()
        self.timer = threading.Timer(AFTER, self._start)
        self.timer.daemon = True
        self.timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.timer.cancel()
        with self.lock:
            self.over = True
            self.progress.stop()

    def _start(self) -> None:
        with self.lock:
            if not self.over:
                self.progress.start()

    def show(self, step: Step) -> None:
        """Show one step of the run."""
        begins = step.stage != self.stage or step.done < self.done or (step.share or 0.0) < self.share
        if begins:
            self.began, self.first = time.monotonic(), (step.done, step.share or 0.0)
            self.progress.reset(self.task, total=None)
        self.stage, self.done, self.share = step.stage, step.done, step.share or 0.0
        note = [step.note]
        if self.aside is not None:
            words = self.aside()
            note = [_round(step), step.note, words if errors.width >= WIDE else ""]
        self.progress.update(
            self.task,
            description=step.stage,
            total=None if step.share is None else 1.0,
            completed=0 if step.share is None else step.share,
            note=", ".join(filter(None, note)),
            pace=self._pace(step),
        )

    def _pace(self, step: Step) -> str:
        """The rate since the stage began, and the time left at this rate."""
        gone = time.monotonic() - self.began
        done, share = step.done - self.first[0], (step.share or 0.0) - self.first[1]
        rate = f"{_short(done / gone)} {step.unit}/s" if gone >= SINCE and done > 0 else ""
        if self.aside is not None and _round(step):
            rate = ""  # the note has the round, and there is no room for both
        left = ""
        if gone >= SINCE and share > 0 and step.share is not None and step.share < 1:
            left = f"{_clock(gone * (1 - step.share) / share)} left"
        return ", ".join(filter(None, [rate, left]))


def _round(step: Step) -> str:
    """Which round over the workers this is, where a product of the walk takes one."""
    return f"round {step.done:.0f}" if step.unit == "products" else ""


class _Pace(ProgressColumn):
    """The rate, and the time left where it can be told, else the time gone."""

    def render(self, task: Task) -> Text:
        """One cell, drawn ten times a second."""
        pace = task.fields["pace"]
        return Text(pace if "left" in pace else ", ".join(filter(None, [pace, _clock(task.elapsed or 0.0)])))


def _clock(seconds: float) -> str:
    """Time in words: 0:07, 12:30, 1:02:03.

    >>> _clock(7), _clock(750), _clock(3723)
    ('0:07', '12:30', '1:02:03')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _short(number: float) -> str:
    """A number with two digits and a unit: 3.4 k, 12 M.

    >>> _short(3421), _short(12e6), _short(0.5)
    ('3.4 k', '12 M', '0.5')
    """
    for size, name in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if number >= size:
            return f"{number / size:.{0 if number >= 10 * size else 1}f}{name}"
    return f"{number:.{0 if number >= 10 else 1}f}"
