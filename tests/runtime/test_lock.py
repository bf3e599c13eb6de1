"""Only one process at a time holds the lock of a folder, with and without locks of the file system."""

import errno
import signal
import socket
import subprocess
import sys

import pytest

from hyperclus._runtime import lock
from hyperclus._runtime.lock import lock_folder
from hyperclus.errors import ClusterError

HOLDER = """
import sys
from pathlib import Path
from hyperclus._runtime import lock
if sys.argv[2] == "without":
    lock._lock = lambda file: False
with lock.lock_folder(Path(sys.argv[1])):
    print("locked", flush=True)
    sys.stdin.read()
"""


@pytest.fixture(params=["with", "without"])
def locks(request, monkeypatch):
    """A file system with or without locks."""
    if request.param == "without":
        fcntl = pytest.importorskip("fcntl")

        def no_locks(file, operation):
            raise OSError(errno.ENOLCK, "No locks available")

        monkeypatch.setattr(fcntl, "flock", no_locks)
    return request.param


@pytest.fixture
def holder(locks, tmp_path):
    """Another process that holds the lock."""
    command = [sys.executable, "-c", HOLDER, str(tmp_path / "run"), locks]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "locked\n"
        yield process
        process.kill()


def test_a_lock_is_released(locks, tmp_path):
    for _ in range(2):
        with lock_folder(tmp_path / "run"):
            pass
    with pytest.raises(ZeroDivisionError), lock_folder(tmp_path / "run"):
        raise ZeroDivisionError
    with lock_folder(tmp_path / "run"):
        pass


def test_the_same_process_cannot_lock_twice(locks, tmp_path):
    with (
        lock_folder(tmp_path / "run"),
        pytest.raises(ClusterError, match="the same run is under way"),
        lock_folder(tmp_path / "run"),
    ):
        pass
    with lock_folder(tmp_path / "run"), lock_folder(tmp_path / "other"):
        pass


def test_another_process_is_refused_until_the_first_is_killed(holder, tmp_path):
    with pytest.raises(ClusterError, match="the same run is under way"), lock_folder(tmp_path / "run"):
        pass
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    with lock_folder(tmp_path / "run"):
        pass


@pytest.mark.parametrize("content", ["elsewhere 17", "elsewhere 17\n", "", f"{socket.gethostname()} 1"])
def test_an_owner_that_may_be_alive_is_named(monkeypatch, tmp_path, content):
    monkeypatch.setattr(lock, "_lock", lambda file: False)
    (tmp_path / "run.owner").write_text(content)
    message = r"on .*; wait for it, or, if it has ended, delete .*run\.owner"
    with pytest.raises(ClusterError, match=message), lock_folder(tmp_path / "run"):
        pass
    assert (tmp_path / "run.owner").read_text() == content
