"""The process: exit codes, streams, signals, pipes, terminals and completion."""

import io
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time

import pytest
from rich.console import Console

import hyperclus as hc
from hyperclus.cli import terminal
from hyperclus.cli.app import Messages
from hyperclus.cli.cluster import resumable
from hyperclus.report import colours
from support.command_line import inside, process

CALL = [sys.executable, "-m", "hyperclus"]
HOSTILE = "\x1b[31mred\x07[bold]x[/]"


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(
        "name,a,b,class\n" + "".join(f"v{i},{i % 2},{i % 2 + i // 18},{i % 2}\n" for i in range(20))
    )
    return path


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A table that takes many seconds to cluster."""
    path = tmp_path_factory.mktemp("large") / "large.csv"
    lines = (
        ",".join(str((i * p) % q) for p, q in ((7, 23), (11, 29), (13, 31), (17, 37), (19, 41)))
        for i in range(40_000)
    )
    path.write_text("a,b,c,d,e\n" + "\n".join(lines) + "\n")
    return path


def test_streams_and_exit_codes(table):
    done = process("cluster", table, "-k", 2, "--label", "class", "--id", "name", "--csv")
    assert done.returncode == 0
    assert done.stdout.startswith("vertex,cluster,confidence,margin,next_cluster,outlier\nv0,")
    assert done.stderr.startswith(f"hyperclus: {table}: read as a table with a row per vertex")
    assert process("cluster", table, "-k", 2, "--label", "class", "-q").stderr == ""
    bad = process("cluster", table, "-k", 99, "-q")
    assert (bad.returncode, bad.stdout) == (2, "")
    assert bad.stderr.startswith("hyperclus: 99 clusters need")


def test_version_and_usage():
    assert process("--version").stdout == f"hyperclus {hc.__version__}\n"
    done = inside("cluster", "x.csv", "--odd")
    assert done.returncode == 2
    assert "no such option" in done.stderr
    assert inside("cluster", "-h").stdout == inside("cluster", "--help").stdout != ""


@pytest.mark.parametrize(("how", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_stopped_run_leaves_no_file_and_names_the_checkpoints(large, tmp_path, how, code):
    kept = tmp_path / "kept"
    options = ["--out", "out.csv", "--report", "out.html", "--checkpoint", "kept", "--effort", "thorough"]
    running = subprocess.Popen(
        [*CALL, "cluster", str(large), "-k", "6", "--bins", "none", *options],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not list(kept.glob("*.checkpoint")) and time.monotonic() < deadline:  # the work has begun
        time.sleep(0.02)
    running.send_signal(how)
    out, err = running.communicate(timeout=60)
    assert running.returncode == code, (out, err)
    assert out == ""
    assert "Traceback" not in err
    assert "kept keeps the checkpoints; repeat the command to resume" in err
    assert [file.name for file in tmp_path.iterdir()] == ["kept"]


@pytest.mark.parametrize("seconds", [0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.2])
def test_an_interrupt_at_any_time_of_the_start_is_no_traceback(large, seconds):
    # The process is up when it has set its first signal handler, so that Python itself has started.
    code = f"""
import signal, sys
set_handler = signal.signal
def announce(*given):
    signal.signal = set_handler
    set_handler(*given)
    print("up", flush=True)
signal.signal = announce
sys.argv = ["hyperclus", "cluster", {str(large)!r}, "-k", "6", "--bins", "none", "--effort", "thorough", "-q"]
import hyperclus.__main__
hyperclus.__main__.main()
"""
    running = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert running.stdout.readline() == "up\n"
    time.sleep(seconds)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=120)
    assert (running.returncode, out) == (130, "")
    assert err in ("", "hyperclus: interrupted\n")


def test_an_interrupt_that_a_library_swallows_is_repeated():
    code = """
import os, signal, time
import hyperclus.cli.app as cli
def swallows(*_, **__):
    try:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(60)
    except KeyboardInterrupt:
        time.sleep(1)  # cleanup is not disturbed
        print("cleaned", flush=True)
    time.sleep(60)
    print("went on", flush=True)
cli.app = swallows
cli.main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=50)
    assert (done.returncode, done.stdout, done.stderr) == (130, "cleaned\n", "hyperclus: interrupted\n")


def test_a_broken_pipe_is_silent(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("vertex,edge\n" + "".join(f"v{i},e{i // 7}\nv{i},f{i // 11}\n" for i in range(9000)))
    command = f"{sys.executable} -m hyperclus cluster {path} -k 1 --csv | head -n 2"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=120)
    assert done.stdout.count("\n") == 2
    assert done.stderr == ""


def test_control_characters_in_ids_do_not_reach_the_terminal(tmp_path):
    path = tmp_path / "t.json"
    path.write_text(
        json.dumps(
            {
                "incidences": [
                    {"edge": f"{HOSTILE}{i}", "node": f"{HOSTILE}{j}"} for i in range(4) for j in (i, i + 1)
                ]
            }
        )
    )
    (tmp_path / "c.csv").write_text("v,c\n" + "".join(f"{HOSTILE}{j},{HOSTILE}{j % 2}\n" for j in range(5)))
    for options in (("--classes", tmp_path / "c.csv"), ("--json",), ("-v",)):
        done = inside("cluster", path, "-k", 2, *options)
        assert done.returncode == 0, done.stderr
        assert "\x1b" not in done.stdout + done.stderr
        assert "\x07" not in done.stdout + done.stderr
    assert "\ufffd[31mred\ufffd[bold]x[/]" in inside("cluster", path, "-k", 2).stdout
    assert HOSTILE in inside("cluster", path, "-k", 2, "--csv").stdout  # data, for another program
    text, _ = on_terminal("cluster", str(path), "-k", "2", "--csv")
    assert "\x1b[31mred" not in text
    assert "\x07" not in text


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_other_encodings(tmp_path, encoding):
    path = tmp_path / "t.csv"
    path.write_text("naïve,класс\nü,1\nü,1\nß,2\nß,2\n", encoding="utf-8")
    environment = {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    done = process("cluster", path, "-k", 2, **environment)
    assert done.returncode == 0, done.stderr
    assert "Partition of 4 vertices" in done.stdout
    assert process("cluster", path, "--help", **environment).returncode == 0


class TestFailingStreams:
    def run(self, table, streams, *options):
        command = (
            f"{sys.executable} -m hyperclus cluster {table} -k 2 --id name {' '.join(options)} {streams}"
        )
        return subprocess.run(command, shell=True, capture_output=True, text=True, timeout=120)

    @pytest.mark.parametrize("options", [("-q",), ("-q", "--csv"), ("-q", "--json"), ("--help",)])
    @pytest.mark.parametrize(
        ("streams", "why"), [("> /dev/full", "No space left on device"), (">&-", "stdout is closed")]
    )
    def test_stdout_that_cannot_be_written(self, table, streams, why, options):
        done = self.run(table, streams, *options)
        assert done.returncode == 1
        assert done.stderr == f"hyperclus: the output cannot be written: {why}\n"

    @pytest.mark.parametrize("streams", ["2> /dev/full", "2>&-"])
    def test_stderr_that_cannot_be_written(self, table, streams):
        done = self.run(table, streams, "--csv")
        assert done.returncode == 0
        assert done.stdout.startswith("vertex,cluster,confidence,margin,next_cluster,outlier\nv0,")
        assert self.run(table, streams, "--label", "nothing").returncode == 2
        assert self.run(table, streams, "--odd").returncode == 2


def test_a_stopped_long_run_mentions_checkpoints(table, monkeypatch, capsys):
    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(hc, "cluster", stopped)
    done = inside("cluster", table, "-k", 2, "-q")
    assert (done.returncode, done.stderr) == (130, "hyperclus: interrupted\n")
    with pytest.raises(KeyboardInterrupt), resumable(Messages(), None, long_run=0.0):
        stopped()
    assert "no checkpoint was written; use --checkpoint FOLDER" in capsys.readouterr().err


def on_terminal(*arguments, columns=80, **more):
    """Run a command on a pseudo-terminal and return its output and exit code."""
    leader, follower = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": str(columns), "LINES": "40", **more}
    running = subprocess.Popen(
        [*CALL, *arguments], stdout=follower, stderr=follower, stdin=follower, env=environment
    )
    os.close(follower)
    seen = b""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        if not select.select([leader], [], [], 1)[0]:
            continue
        try:
            piece = os.read(leader, 65536)
        except OSError:  # it has ended
            break
        if not piece:
            break
        seen += piece
    os.close(leader)
    return seen.decode(errors="replace"), running.wait(timeout=60)


class TestProgress:
    def test_a_bar_for_a_long_run(self, large):
        options = ["-k", "6", "--bins", "none", "--effort", "fast", "--no-chance"]
        seen, code = on_terminal("cluster", str(large), *options)
        assert code == 0, seen
        stages = re.compile("reading|stationary distribution|eigenvectors|search")
        assert stages.search(seen)
        assert not stages.search(seen[seen.rindex("\x1b[2K") :])  # it is wiped away
        assert "Partition of 40,000 vertices" in seen

    def test_no_bar_if_quiet_or_quick(self, table, large):
        seen, code = on_terminal("cluster", str(table), "-k", "2", "-q")
        assert code == 0
        assert "\x1b[2K" not in seen
        seen, _ = on_terminal("info", str(large), "-q")
        assert "\x1b[2K" not in seen

    def test_no_line_is_wider_than_the_terminal(self, table):
        seen, _ = on_terminal("cluster", str(table), "-k", "2", "--label", "class", columns=50)
        plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", seen.replace("\r", "\n"))
        assert "agreement" in plain
        assert "\n  cluster  top hyperedges" in plain  # in a table of its own
        assert all(len(line) <= 50 for line in plain.splitlines()), plain


@pytest.mark.parametrize("options", [("-k", "2"), ("-k", "2", "--label", "no"), ("--help",)])
def test_no_color_means_no_escapes(table, options):
    bar = re.compile(r"\x1b\[(\?25[lh]|2K|[0-9]*A)")  # a slow run has one, which moves the cursor
    seen, _ = on_terminal("cluster", str(table), *options, NO_COLOR="1")
    assert "\x1b" not in bar.sub("", seen)
    seen, _ = on_terminal("cluster", str(table), *options, NO_COLOR="")
    assert "\x1b" in bar.sub("", seen)


class TestMarks:
    """The colours of clusters on a terminal, before their names."""

    def seen(self, table, *options, **environment):
        options = ["-k", "2", "--no-chance", "-q", *options]
        return on_terminal(
            "cluster", str(table), *options, COLORTERM="truecolor", NO_COLOR="", **environment
        )[0]

    def mark(self, cluster, *, dark):
        rgb = ";".join(str(int(colours.colour(cluster, dark=dark)[i : i + 2], 16)) for i in (1, 3, 5))
        return f"38;2;{rgb}m\u25cf"

    def test_clusters_have_their_mark(self, table):
        seen = self.seen(table, "--label", "class")
        for cluster in (0, 1):
            assert seen.count(self.mark(cluster, dark=True)) == 2, seen  # in both tables

    def test_a_terminal_that_says_that_it_is_light(self, table):
        seen = self.seen(table, COLORFGBG="0;15")
        assert self.mark(1, dark=False) in seen
        assert self.mark(1, dark=True) not in seen

    def test_the_mark_of_a_name_is_that_of_its_cluster(self, monkeypatch):
        page = Console(file=io.StringIO(), force_terminal=True, color_system="truecolor", width=100)
        monkeypatch.setattr(terminal, "console", lambda: page)
        h = hc.Hypergraph.from_edges([["a", "b"], ["b", "c"], ["c", "d"]])
        part = hc.evaluate(h, ["z", "z", "y", "y"])
        (grid,) = terminal._classes(part.agreement([1, 1, 2, 2]), part.cluster_names)
        heads = [column.header for column in grid.columns[1:]]
        assert [str(head) for head in heads] == ["\u25cf y", "\u25cf z"]
        cluster = {head.plain[-1]: colours.DARK.index(str(head.spans[0].style)) for head in heads}
        assert cluster == {"z": 0, "y": 1}

    def test_only_terminals_with_colours_and_unicode_have_marks(self, table):
        assert "\u25cf" not in process("cluster", table, "-k", 2, "-q").stdout
        plain = on_terminal("cluster", str(table), "-k", "2", "-q", NO_COLOR="1")[0]
        assert "\u25cf" not in plain
        ascii_only = self.seen(table, PYTHONIOENCODING="ascii")
        assert "25cf" not in ascii_only
        assert "Partition of" in ascii_only


class TestCompletion:
    def complete(self, words, place):
        environment = {"_HYPERCLUS_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(place)}
        return process(**environment).stdout.split()

    def test_commands_options_and_choices(self):
        assert {"cluster", "suggest-k", "report", "demo", "info"} <= set(self.complete("hyperclus ", 1))
        assert self.complete("hyperclus cluster --eff", 2) == ["--effort"]
        assert self.complete("hyperclus cluster --effort th", 3) == ["thorough"]
        assert "mushroom" in self.complete("hyperclus datasets mu", 2)

    def test_the_script_for_a_shell(self):
        done = process("--show-completion", "bash", _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
        assert done.returncode == 0, done.stderr
        assert "_HYPERCLUS_COMPLETE=complete_bash" in done.stdout


class TestExit:
    """The process ends as any Python program does, and a second Ctrl-C ends it at once."""

    def start(self, code):
        return subprocess.Popen(
            [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def test_functions_registered_with_atexit_run(self):
        code = (
            "import atexit, sys; atexit.register(print, 'at exit'); sys.argv = ['hyperclus', '--version']; "
        )
        out, err = self.start(code + "import hyperclus.cli; hyperclus.cli.main()").communicate(timeout=60)
        assert out == f"hyperclus {hc.__version__}\nat exit\n", err

    def test_a_second_interrupt_does_not_wait_for_cleanup(self, table):
        code = f"""
import sys, time, hyperclus, hyperclus.cli
def slow(*_, **__):
    try:
        print("working", flush=True)
        time.sleep(60)
    finally:
        print("cleaning up", flush=True)
        time.sleep(60)
hyperclus.cluster = slow
sys.argv = ["hyperclus", "cluster", {str(table)!r}, "-k", "2"]
hyperclus.cli.main()
"""
        running = self.start(code)
        assert running.stdout.readline() == "working\n"
        running.send_signal(signal.SIGINT)
        assert running.stdout.readline() == "cleaning up\n"
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=30)
        assert running.returncode == 130
