"""The command cluster with --engine dask."""

import datetime
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from hyperclus.cli.cluster_files import Memory
from hyperclus.cli.output import as_text, batch_as_text
from support.command_line import assert_refused, inside, process
from support.dask_workers import WORKERS

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
distributed = pytest.importorskip("distributed")


def planted(text=False):
    """Two groups of 40 vertices, with a few hyperedges between them."""
    rng = np.random.default_rng(0)
    pairs = set()
    for edge in range(120):
        group = rng.integers(2)
        members = rng.choice(40, 5, replace=False) + 40 * group
        if edge % 15 == 0:
            members[0] = rng.integers(80)
        pairs |= {(int(v), edge) for v in members}
    vertices, edges = zip(*sorted(pairs), strict=True)
    names = [f'a "{v}", b' if v % 2 else f"v{v}" for v in vertices] if text else list(vertices)
    weights = rng.integers(1, 4, len(edges)).astype(float)
    return pa.table({"author": names, "paper": list(edges), "share": weights})


@pytest.fixture(scope="module")
def scheduler():
    with distributed.LocalCluster(**WORKERS) as cluster:
        yield cluster.scheduler_address


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HYPERCLUS_WORK", raising=False)
    (tmp_path / "data").mkdir()
    table = planted()
    half = len(table) // 2
    parquet.write_table(table.slice(0, half), "data/0.parquet")
    parquet.write_table(table.slice(half), "data/1.parquet")
    return tmp_path


NAMED = ("--vertex", "author", "--edge", "paper", "--weight", "share")


def clustered(*arguments):
    return inside("cluster", "data/", "-k", 2, "--engine", "dask", *NAMED, *arguments)


class TestResults:
    def test_the_same_result_as_in_memory(self, data, scheduler):
        done = clustered("--scheduler", scheduler, "--out", "labels.csv")
        assert done.returncode == 0, done.stderr
        assert "2 workers at tcp://" in done.stderr
        assert "written to labels.csv" in done.stderr
        parquet.write_table(planted(), "all.parquet")
        here = inside("cluster", "all.parquet", "-k", 2, *NAMED, "--out", "here.csv")
        for line in ("NCut ", "proven ", "conductance "):
            (found,) = (one for one in done.stdout.splitlines() if one.strip().startswith(line))
            assert found in here.stdout
        assert labels(data / "labels.csv") == labels(data / "here.csv")
        assert "labels       " + str(data / "hyperclus-work") in done.stdout
        for stage in ("preparation", "stationary distribution", "eigenvectors", "search", "total"):
            assert stage in done.stdout

    @pytest.mark.parametrize("suffix", [".csv.gz", ".parquet"])
    def test_files_of_labels(self, data, scheduler, suffix):
        parquet.write_table(planted(text=True), "text.parquet")
        out = data / f"labels{suffix}"
        done = inside(
            *("cluster", "text.parquet", "-k", 2, "--engine", "dask", *NAMED),
            *("--scheduler", scheduler, "--out", out, "-q"),
        )
        assert (done.returncode, done.stderr) == (0, "")
        here = inside("cluster", "text.parquet", "-k", 2, *NAMED, "--out", f"here{suffix}")
        assert here.returncode == 0, here.stderr
        both = [labels(path) for path in (out, data / f"here{suffix}")]
        assert both[0] == both[1]
        assert len(both[0]) == 80
        assert not list(data.glob(".*"))  # nothing half written

    def test_json(self, data, scheduler):
        done = clustered("--scheduler", scheduler, "--json", "--work", "there")
        assert done.returncode == 0, done.stderr
        record = json.loads(done.stdout)
        assert (record["vertices"], record["k"], record["settings"]["engine"]) == (80, 2, "dask")
        assert [one["size"] for one in record["clusters"]] == [40, 40]
        assert record["labels"].startswith(str(data / "there"))
        assert sum(parquet.read_metadata(file).num_rows for file in (data / record["labels"]).iterdir()) == 80
        assert "--scheduler" in record["command"]
        for stage in ("stationary distribution", "eigenvectors"):
            spent = record["rounds"][stage]
            assert (
                0 < spent["bytes"] <= 1.1 * spent["products"] * 32 * 2 * 80
            )  # two vectors there and back, 2 workers

    def test_local_workers(self, data):
        local = ("--workers", 1, "--memory", "2GB")
        done = process("cluster", "data/", "-k", 2, "--engine", "dask", *NAMED, *local, "-v")
        assert done.returncode == 0, done.stderr
        assert "1 worker on this machine with 2.0 GB each" in done.stderr
        assert "dashboard" not in done.stderr  # other users could read it
        assert "hyperclus: preparation: " in done.stderr
        assert "Partition of 80 vertices into 2 clusters" in done.stdout


@pytest.mark.parametrize("delimiter", [",", "\t"])
@pytest.mark.parametrize(
    "ids",
    [
        [7, -3],
        ["a", "b c"],
        ["", " x "],
        ['a "b"', "c"],
        ["a,b", "c\td"],
        ["two\nlines", "é"],
        [datetime.date(2020, 2, 29), datetime.date(1970, 1, 1)],
        [b"\x00\xff", b"ab"],
        [True, False],
        [0.5, 1e300],
    ],
)
def test_batches_are_written_like_other_tables(ids, delimiter):
    batch = pa.record_batch({"id": pa.array(ids), "cluster": pa.array([0, 1], pa.int8())})
    wanted = as_text(None, zip(ids, [0, 1], strict=True), delimiter)
    assert batch_as_text(batch, delimiter).decode() == wanted


def labels(path):
    """A file of labels as a set of pairs of text."""
    if path.suffix == ".parquet":
        table = parquet.read_table(path)
    else:
        from pyarrow import csv

        delimiter = "\t" if path.suffix == ".tsv" else ","
        table = csv.read_csv(path, parse_options=csv.ParseOptions(delimiter=delimiter))
    assert table.column_names[:2] == ["vertex", "cluster"]
    return set(zip(map(str, table["vertex"].to_pylist()), table["cluster"].to_pylist(), strict=True))


class TestRefused:
    @pytest.mark.parametrize(
        ("options", "words"),
        [
            (("--bound", "tight"), "--bound does not apply to --engine dask"),
            (("--method", "hyperclus-g"), "--method does not apply to --engine dask"),
            (("--precision", "float32"), "--precision float32 needs --engine cuda"),
            (("--report", "r.html"), "--report does not apply to --engine dask"),
            (("--edges", "e.csv"), "--edges does not apply to --engine dask"),
            (("--csv",), "--out FILE.csv writes the labels"),
            (("--out", "labels.json"), "labels.json: --engine dask writes labels as .csv, .tsv or .parquet"),
            (("--out", "no/labels.csv"), "the folder does not exist"),
            (("--checkpoint", "c"), "keeps checkpoints in --work and always resumes"),
            (("--classes", "c.csv"), "--classes does not apply to --engine dask"),
            (("--label", "c"), "--label does not apply to --engine dask"),
            (("--id", "c"), "a row per incidence"),
            (("--bins", "3"), "a row per incidence"),
            (("--from", "csv"), "it reads Parquet"),
            (("--encoding", "cp1252"), "--encoding does not apply to --engine dask"),
            (("--missing", "drop"), "--missing does not apply to --engine dask"),
            (("--split", "a=;"), "--split does not apply to --engine dask"),
            (("--weight-transform", "sqrt"), "--weight-transform does not apply to --engine dask"),
            (("--text", "a"), "--text does not apply to --engine dask"),
            (("--order", "a=b,c"), "--order does not apply to --engine dask"),
            (("--max-k", "3"), "--max-k is for -k auto"),
            (("--memory", "16"), "--memory must be a size with a unit, such as 16GB; got '16'"),
            (("--memory", "2GB", "--scheduler", "tcp://x:1"), "leave them out with --scheduler"),
            (("-o", "isolated=keep"), "-o isolated does not apply to --engine dask"),
            (("--duplicates", "min"), "--duplicates must be"),
            (("--min-share", "0.7"), "--min-share must be between 0 and 1/k"),
            (("--tolerance", "0"), "--tolerance must be a positive number"),
            (("--tolerance", "nan"), "--tolerance must be a number; got 'nan'"),
        ],
    )
    def test_options_that_do_not_apply(self, data, options, words):
        assert_refused(clustered(*options), words)

    def test_a_number_of_clusters_is_needed(self, data):
        done = inside("cluster", "data/", "-k", "auto", "--engine", "dask", *NAMED)
        assert_refused(done, "--engine dask needs a number for -k")

    def test_options_of_dask_need_the_engine(self, data):
        for option in ("--scheduler", "--work", "--memory"):
            done = inside("cluster", "data/0.parquet", "-k", 2, "--engine", "cpu", option, "x", *NAMED)
            assert_refused(done, f"{option} needs --engine dask, not --engine cpu")
        done = inside("report", "data/0.parquet", "l.csv", "r.html", "--engine", "dask")
        assert done.returncode == 2
        assert "--engine must be auto, cpu or cuda; got 'dask'" in done.stderr

    def test_files_that_are_not_parquet(self, data):
        (data / "t.csv").write_text("vertex,edge\n1,2\n")
        done = inside("cluster", "t.csv", "-k", 2, "--engine", "dask")
        assert_refused(done, "t.csv: --engine dask reads Parquet; convert the file with hyperclus convert")
        assert_refused(inside("cluster", "none/", "-k", 2, "--engine", "dask"), "there is no such file")

    def test_no_scheduler_answers(self, data):
        assert_refused(clustered("--scheduler", "tcp://127.0.0.1:1"), "no scheduler answers")

    def test_bad_data(self, data, scheduler):
        done = inside("cluster", "data/", "-k", 2, "--engine", "dask", "--scheduler", scheduler, "-q")
        assert_refused(done, "'vertex'", "0.parquet")
        bad = planted().set_column(2, "share", pa.array([None] * len(planted()), pa.float64()))
        parquet.write_table(bad, "data/1.parquet")
        assert_refused(clustered("--scheduler", scheduler, "-q"), "1.parquet", "'share'")
        (data / "data" / "1.parquet").write_bytes(b"PAR1 damaged")
        assert_refused(clustered("--scheduler", scheduler, "-q"), "1.parquet")
        done = inside(
            "cluster", "data/0.parquet", "-k", 999, "--engine", "dask", *NAMED, "--scheduler", scheduler, "-q"
        )
        assert_refused(done, "999 clusters need at least 999 vertices")


@pytest.mark.parametrize(("how", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_stopped_run_ends_its_workers_and_says_how_to_resume(data, how, code):
    command = [sys.executable, "-m", "hyperclus", "cluster", "data/", "-k", "2", "--engine", "dask", *NAMED]
    running = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    group = running.pid
    try:
        line = [running.stderr.readline()]  # the workers are there
        os.killpg(group, how) if how == signal.SIGINT else running.send_signal(how)  # as a terminal does
        out, rest = running.communicate(timeout=60)
        assert running.returncode == code, (line, rest)
        assert "Traceback" not in rest
        assert "hyperclus-work keeps the checkpoints; repeat the command to resume" in rest
        assert out == ""
        assert not alive(group)
    finally:
        if running.poll() is None:
            running.kill()


def alive(group):
    """Whether any process of a group is left after some seconds."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return False
        time.sleep(0.1)
    return True


class TestMemory:
    class Client:
        status = "running"
        asked = 0

        def scheduler_info(self, n_workers):
            self.asked += 1
            full = {"metrics": {"memory": self.asked * 10**9}, "memory_limit": 4 * 10**9}
            return {"workers": {"a": full, "b": {"metrics": {"memory": 5}, "memory_limit": 4 * 10**9}}}

    def test_queried_once_a_second(self):
        now = [0.0]
        memory = Memory(self.Client(), clock=lambda: now[0])
        assert (memory.status(), memory.status()) == ("a worker uses 1.0 GB", "a worker uses 1.0 GB")
        now[0] = 1.5
        assert memory.status() == "a worker uses 2.0 GB"
        assert memory.client.asked == 2
        assert memory.summary == "2.00 of 4.0 GB at most in one worker"

    def test_a_failed_query_is_ignored(self):
        client = self.Client()
        client.scheduler_info = lambda n_workers: 1 / 0
        assert Memory(client).status() == ""
