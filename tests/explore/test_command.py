"""The command `explore`: its start, its end, and what it refuses."""

import os
import signal
import socket
import subprocess
import sys
import urllib.request

import pytest
import typer

from hyperclus.cli.app import command
from hyperclus.cli.explore import _form
from hyperclus.cli.explore_runs import Explorer
from hyperclus.cli.inputs import LabelledSource
from support.command_line import assert_refused, inside
from support.explorers import wait_until

CALL = [sys.executable, "-m", "hyperclus", "explore"]


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("name,a,b\n" + "".join(f"v{i},{i % 2},{i // 9}\n" for i in range(18)))
    return path


def descendants(pid):
    """The child processes of a process, and theirs."""
    listed = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    parents = {int(one): int(parent) for one, parent in map(str.split, listed.splitlines())}
    found = {pid}
    while more := {one for one, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {pid}


def left_over(pids):
    listed = subprocess.run(["ps", "-eo", "pid=,stat="], capture_output=True, text=True, check=True).stdout
    alive = {int(one) for one, state in map(str.split, listed.splitlines()) if not state.startswith("Z")}
    return alive & pids


def started(*arguments, **settings):
    return subprocess.Popen(
        [*CALL, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **settings
    )


@pytest.mark.parametrize(
    ("how", "code", "message"), [(signal.SIGINT, 130, "interrupted\n"), (signal.SIGTERM, 143, "")]
)
def test_a_signal_ends_it_and_nothing_is_left(table, tmp_path, how, code, message):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    environment = {**os.environ, "TMPDIR": str(scratch)}
    with started(table.name, "--no-browser", cwd=tmp_path, env=environment) as running:
        address = running.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:")
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with opener.open(address, timeout=60) as reply:
            assert reply.url == address.partition("?")[0]
            assert b"table.csv" in reply.read()
        wait_until(lambda: b'"running":false' in opener.open(reply.url + "state", timeout=60).read())
        children = descendants(running.pid)
        assert children
        running.send_signal(how)
        out, err = running.communicate(timeout=60)
    assert (running.returncode, out) == (code, "")
    first, *rest = err.splitlines(keepends=True)
    assert first.startswith("hyperclus: open this address")
    assert "".join(rest) == (message and f"hyperclus: {message}")
    wait_until(lambda: not left_over(children))
    assert sorted(tmp_path.rglob("*")) == [scratch, table]


def test_the_browser_gets_a_ticket_that_is_valid_once(table, tmp_path):
    """A browser that writes down its address; other users may see it, so it is not the printed one."""
    seen, browser = tmp_path / "seen", tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {seen}.part\nmv {seen}.part {seen}\n')
    browser.chmod(0o755)
    with started(table, env={**os.environ, "BROWSER": str(browser)}) as running:
        printed = running.stdout.readline().strip()
        wait_until(seen.exists)
        opened = seen.read_text().strip()
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=60)
    assert opened.partition("?")[0] == printed.partition("?")[0]
    assert opened != printed


@pytest.mark.parametrize("name", ["missing.csv", "empty.csv", "odd.bin", "Vertex.csv"])
def test_files_that_cluster_refuses_are_refused(tmp_path, name):
    contents = {"empty.csv": b"", "odd.bin": b"\0\1\2", "Vertex.csv": b"Vertex,Edge\na,b\n"}
    if name in contents:
        (tmp_path / name).write_bytes(contents[name])
    wanted = inside("cluster", tmp_path / name, "-k", "2")
    done = inside("explore", tmp_path / name, "--no-browser")
    assert wanted.returncode == 2
    assert (done.returncode, done.stdout, done.stderr) == (2, "", wanted.stderr)


def test_standard_input_is_refused():
    assert_refused(inside("explore", "-"), "save standard input to a file")


def test_ports(table):
    assert_refused(inside("explore", table, "--port", "x"), "--port must be a whole number from 1")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        for port, why in ((taken.getsockname()[1], "in use"), (70_000, "65535")):
            done = inside("explore", table, "--port", port, "--no-browser")
            assert (done.returncode, done.stdout) == (1, "")
            assert f"--port {port} cannot be used" in done.stderr
            assert why in done.stderr


def test_without_the_libraries_it_says_what_to_install(table, monkeypatch):
    for module, name in (("uvicorn", "uvicorn"), ("starlette.routing", "Starlette")):
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, module, None)
            done = inside("explore", table, "--no-browser")
        assert done.returncode == 1
        assert f"hyperclus explore needs {name}: pip install 'hyperclus[explore]'" in done.stderr


# The form for a file and options

probe = typer.Typer()


@command(within=probe)
def form_of(*, context: typer.Context, source: LabelledSource):
    return _form(source, context)


def form(*arguments):
    return probe([*map(str, arguments)], standalone_mode=False)


def test_a_table_with_a_row_per_vertex(table):
    options = ["--id", "name", "--exclude", "b", "--bins", "5", "--order", "a=0,1", "--missing", "drop"]
    found = form(table, *options)
    assert (found.columns, found.rows, found.format) == (("name", "a", "b"), True, None)
    assert found.values == {"id": ["name"], "exclude": ["b"], "bins": ["5"]}
    assert sorted(found.fixed) == ["--missing=drop", "--order=a=0,1"]
    assert found.file == str(table)


def test_a_table_with_a_row_per_incidence(tmp_path):
    path = tmp_path / "papers.txt"
    path.write_bytes("author;paper;größe\nann;p1;3\nbob;p1;1\n".encode("latin-1"))
    options = ["--from", "csv", "--vertex", "author", "--edge", "paper", "--encoding", "latin-1"]
    found = form(path, *options, "--delimiter", ";")
    assert (found.columns, found.rows, found.format) == (("author", "paper", "größe"), False, "csv")
    assert found.values == {"vertex": ["author"], "edge": ["paper"]}
    assert sorted(found.fixed) == ["--delimiter=;", "--encoding=latin-1"]
    assert Explorer()(found.first_arguments()).heading == "2 authors, 1 paper, 2 incidences"


@pytest.mark.parametrize(
    ("name", "content", "options"),
    [
        ("lines.txt", "a b\nb c\n", ["--from", "lines"]),
        ("split.csv", "paper,authors\np1,ann;bob\np2,bob;cy\n", ["--split", "authors=;", "--edge", "paper"]),
        ("graph.hgr", "2 4\n1 2\n2 3\n", []),
    ],
)
def test_files_without_columns_to_choose(tmp_path, name, content, options):
    (tmp_path / name).write_text(content)
    found = form(tmp_path / name, *options, "--weight-transform", "log1p")
    assert found.columns == ()
    assert found.values == {"weight_transform": ["log1p"]}
    assert Explorer()(found.first_arguments()).heading.endswith("incidences")
