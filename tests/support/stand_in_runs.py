"""Runs for the worker of `explore` that compute nothing; its child process imports little for them."""

import os
import signal
import time

from hyperclus._runtime.progress import report_progress
from hyperclus.explore.worker import RefusedError, Result


def stand_in():
    """A run that does what its first argument says."""
    return _run


def _run(arguments):
    match arguments:
        case ["answer", *words]:
            report_progress("search", 1, "evaluations", 0.5, "half")
            return Result(" ".join(words), ("a note",), {"a": "categories"}, b"<p>page", b"table\n")
        case ["refuse"]:
            raise RefusedError("that cannot be done")
        case ["defect"]:
            raise ZeroDivisionError
        case ["die"]:
            os.kill(os.getpid(), signal.SIGKILL)
        case ["report"]:
            while True:
                report_progress("search", 1, "evaluations", 0.25, "a quarter")
                time.sleep(0.01)
        case ["deaf"]:
            time.sleep(600)
    return None
