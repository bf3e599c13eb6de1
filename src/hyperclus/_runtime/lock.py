"""A lock that keeps a second process out of a folder."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from hyperclus.errors import ClusterError


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder; raise a `ClusterError` if another process holds it.

    The lock is a file next to the folder, so the folder itself may be deleted. The system releases the lock
    when the process ends, however it ends. A file system without locks gets a file that names the host and
    the process that owns the folder; if that process ran on this host and has ended, the file is ignored.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f"{folder.name}.lock").open("a") as file:
        if _lock(file):
            yield
            return
    owner = folder.with_name(f"{folder.name}.owner")
    _claim(owner)
    try:
        yield
    finally:
        owner.unlink(missing_ok=True)


def _lock(file: Any) -> bool:
    """Lock an open file; return False if there are no locks here."""
    try:
        fcntl = import_module("fcntl")
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise ClusterError(
            "the same run is under way in another process; wait for it, or use another seed"
        ) from None
    except (ImportError, OSError):
        return False
    return True


def _claim(path: Path) -> None:
    """Create the file that names the owner, which only one process can do."""
    here = socket.gethostname()
    for _ in range(2):
        try:
            with path.open("x") as file:
                file.write(f"{here} {os.getpid()}")
            return
        except FileExistsError:
            host, _, pid = path.read_text().partition(" ")
            running = import_module("psutil").pid_exists  # psutil comes with Dask
            if host == here and pid.isdigit() and not running(int(pid)):
                path.unlink(missing_ok=True)
    raise ClusterError(
        f"the same run is under way in process {pid or '?'} on {host or 'another host'}; wait for it, or, if "
        f"it has ended, delete {path}"
    )
