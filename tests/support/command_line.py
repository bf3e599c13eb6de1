"""Run the command line in a process of its own, or, faster, in this one."""

import io
import os
import subprocess
import sys
from dataclasses import dataclass

from hyperclus import cli


@dataclass
class Done:
    returncode: int
    stdout: str
    stderr: str


def process(*arguments, **environment):
    """Run a command in a process, as a shell does."""
    return subprocess.run(
        [sys.executable, "-m", "hyperclus", *map(str, arguments)],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=120,
        env={**os.environ, "COLUMNS": "120", **environment},
    )


def inside(*arguments):
    """Run a command in this process, which saves a second: without a terminal and signals."""
    streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2)]
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = streams
    try:
        code = cli.run([*map(str, arguments)])
    finally:
        sys.stdout, sys.stderr = before
    return Done(code, *(stream.buffer.getvalue().decode() for stream in streams))


def assert_refused(done, *parts):
    """Check that input was refused: exit code 2, one line on stderr with these parts, nothing on stdout."""
    assert done.returncode == 2, done
    assert done.stdout == ""
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    for part in parts:
        assert part in lines[0], lines[0]
