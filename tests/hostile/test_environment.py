"""Environments: variables, closed and full streams, missing folders. Each line is a process of its own."""

import os
import subprocess
import sys

import pytest

from hostile.csv import GOOD
from support.hostile import sentences

INFO, CLUSTER, CONVERT = "info t.csv", "cluster t.csv -k 2 --csv --no-chance", "convert t.csv out.csv"
SOUND = {INFO: "3 vertices, 2 hyperedges", CLUSTER: "next_cluster,outlier\na,", CONVERT: ""}


def closed(number):
    return lambda: os.close(number)


def full(number):
    """Connect a stream to a device that is always full."""
    return lambda: os.dup2(os.open("/dev/full", os.O_WRONLY), number)


# (command, variables, what happens in the process before, exit code, a part of the sentence)
LINES = [
    (CLUSTER, {"OMP_NUM_THREADS": "x", "OPENBLAS_NUM_THREADS": "-1"}, None, 0, ""),
    (CLUSTER, {"HOME": None}, None, 0, ""),
    (CLUSTER, {"HOME": "/no/where", "XDG_CACHE_HOME": "/no/where", "TMPDIR": "/no/where"}, None, 0, ""),
    (INFO, {"PATH": "", "USER": ""}, None, 0, ""),
    (INFO, {"LC_ALL": "C"}, None, 0, ""),
    (INFO, {"LANG": None, "LC_ALL": None, "LC_CTYPE": None}, None, 0, ""),
    (INFO, {"LC_ALL": "xx_YY.nonsense"}, None, 0, ""),
    (CLUSTER, {"PYTHONUTF8": "0", "LC_ALL": "POSIX"}, None, 0, ""),
    (INFO, {"PYTHONIOENCODING": "ascii"}, None, 0, ""),
    (INFO, {"PYTHONIOENCODING": "utf-16"}, None, 0, None),
    (INFO, {"TERM": "dumb"}, None, 0, ""),
    (INFO, {"TERM": "nonsense", "COLORTERM": "nonsense", "FORCE_COLOR": "1", "NO_COLOR": "1"}, None, 0, ""),
    (INFO, {"COLUMNS": "1", "LINES": "1"}, None, 0, ""),
    (INFO, {"COLUMNS": "-5"}, None, 0, ""),
    (INFO, {"COLUMNS": "x"}, None, 0, ""),
    (INFO, {"COLUMNS": "99999999999"}, None, 0, ""),
    (INFO, {"PYTHONWARNINGS": "error", "PYTHONOPTIMIZE": "2"}, None, 0, ""),
    (INFO, {}, closed(0), 0, ""),
    (INFO, {}, closed(1), 1, "the output cannot be written"),
    (INFO, {}, closed(2), 0, None),
    (INFO, {}, full(1), 1, "the output cannot be written: No space left on device"),
    (CLUSTER, {}, full(1), 1, "the output cannot be written: No space left on device"),
    (INFO, {}, full(2), 0, None),
    (CONVERT, {}, lambda: os.umask(0o777), 0, ""),
]


@pytest.mark.parametrize("line", LINES, ids=lambda line: f"{line[0].split()[0]}-{LINES.index(line)}")
def test_a_line(tmp_path, line):
    command, variables, before, code, wanted = line
    (tmp_path / "t.csv").write_text(GOOD)
    given = {**os.environ, "COLUMNS": "120", **variables}
    done = subprocess.run(
        [sys.executable, "-m", "hyperclus", *command.split(), "-q"],
        cwd=tmp_path,
        env={name: value for name, value in given.items() if value is not None},
        preexec_fn=before,
        capture_output=True,
        timeout=600,
    )
    out, error = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
    assert done.returncode == code, (out, error)
    assert "Traceback" not in out + error
    assert (tmp_path / "t.csv").read_text() == GOOD
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".part")]
    if code:
        (sentence,) = sentences(error)
        assert wanted in sentence
    elif wanted is not None:  # None: a stream cannot be compared
        assert error == wanted
        assert SOUND[command] in out
