"""Run a process with limits of wall time and resident memory, and kill it when it exceeds one.

Resident memory is watched, not limited by the kernel: RLIMIT_AS counts address space, which BLAS
and TBB reserve by the gigabyte without using it.
"""

import os
import signal
import subprocess
import time
from pathlib import Path

INTERVAL = 0.05  # seconds between checks
START_UP = 300.0  # seconds for imports, the tiny problem, and reading the input


def run(command: list[str], started: Path, log: Path, seconds: float, n_bytes: float) -> str:
    """Return how it ended: "ended", "time", "memory" or "start-up"; time counts once `started` exists."""
    with log.open("w") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, start_new_session=True)
        try:
            return _watch(process, started, seconds, n_bytes)
        finally:
            _end(process)


def _watch(process: subprocess.Popen, started: Path, seconds: float, n_bytes: float) -> str:
    deadline, running = time.monotonic() + START_UP, False
    while process.poll() is None:
        if not running and started.exists():
            deadline, running = time.monotonic() + seconds, True
        if time.monotonic() > deadline:
            return "time" if running else "start-up"
        if resident_bytes(process.pid) > n_bytes:
            return "memory"
        time.sleep(INTERVAL)
    return "ended"


def _end(process: subprocess.Popen) -> None:
    """Kill the process and all its children, which are in a session of their own."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def resident_bytes(pid: int) -> int:
    """Return the resident memory of a process; 0 without /proc, so that the limit works on Linux only."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError, ValueError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
