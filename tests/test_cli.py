"""The command line as a user meets it: in a process of its own."""

import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

from paper_data import raw_folder


def hyperclus(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "hyperclus", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "COLUMNS": "120", **environment},
    )


def test_version():
    done = hyperclus("--version")
    assert done.returncode == 0
    assert done.stdout.startswith("hyperclus 0.")


def test_help_names_the_commands():
    done = hyperclus("--help")
    assert done.returncode == 0
    assert "reproduce" in done.stdout
    assert "datasets" in done.stdout


def test_datasets_are_listed_and_checked():
    done = hyperclus("datasets", "car", "zoo", "--data", raw_folder())
    assert done.returncode == 0
    assert done.stdout.count("ok") == 2


def test_tables_of_one_data_set(tmp_path):
    command = ("reproduce", "ncut", "f1", "--dataset", "car", "--data", raw_folder(), "--results", tmp_path)
    done = hyperclus(*command, "--json")
    assert done.returncode == 0
    assert done.stderr == ""
    assert json.loads(done.stdout)["ncut"]["rows"]["HyperClus-G"]["car"]["verdict"] == "equal"
    shown = hyperclus(*command)
    assert "0.8320 =" in shown.stdout
    assert "| HyperClus-G |" in hyperclus(*command, "--markdown").stdout
    assert hyperclus(*command, "--html").stdout.startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("reproduce", "nothing"), "there is no table 'nothing'"),
        (("reproduce", "--dataset", "iris"), "there is no data set 'iris'"),
        (("datasets", "iris"), "'iris'"),
        (("reproduce", "--wrong"), "No such option"),
        (("reproduce", "--json", "--html"), "choose one of"),
        (("fly",), "No such command"),
    ],
)
def test_bad_usage_gets_one_sentence_and_code_2(arguments, words):
    done = hyperclus(*arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_no_network_and_nothing_cached_says_what_to_do(tmp_path):
    nowhere = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), "http://127.0.0.1:9")
    done = hyperclus(
        "reproduce",
        "ncut",
        "--dataset",
        "car",
        "--results",
        tmp_path,
        HYPERCLUS_DATA=str(tmp_path / "empty"),
        **nowhere,
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "car.data" in done.stderr
    assert "empty" in done.stderr


def test_fetching_goes_on_after_a_failure_and_ends_with_1(tmp_path):
    nowhere = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), "http://127.0.0.1:9")
    (tmp_path / "zoo.data").write_bytes((raw_folder() / "zoo.data").read_bytes())
    done = hyperclus("datasets", "car", "zoo", "--fetch", "--data", tmp_path, **nowhere)
    assert done.returncode == 1
    assert "car.data" in done.stderr
    assert "Traceback" not in done.stderr
    assert "missing" in done.stdout
    assert "ok" in done.stdout


@pytest.mark.parametrize("place", ["file", "file/folder"])
def test_a_results_folder_that_cannot_be_is_refused_at_once(tmp_path, place):
    (tmp_path / "file").write_text("in the way")
    done = hyperclus(
        "reproduce", "ncut", "--dataset", "car", "--data", raw_folder(), "--results", tmp_path / place
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert re.search(r"cannot be kept in .*(File exists|Not a directory); choose another", done.stderr)
    assert "Traceback" not in done.stderr


def test_a_missing_library_is_missed_before_the_first_measurement(tmp_path):
    (tmp_path / "gensim").mkdir()
    (tmp_path / "gensim" / "__init__.py").write_text("raise ModuleNotFoundError(name='gensim')")
    done = hyperclus(
        *("reproduce", "ncut", "--dataset", "car", "--method", "STAR++", "--method", "node2vec"),
        *("--data", raw_folder(), "--results", tmp_path / "results"),
        PYTHONPATH=str(tmp_path),
    )
    assert done.returncode == 1
    assert "node2vec needs gensim: pip install 'hyperclus[embeddings]'" in done.stderr
    assert list((tmp_path / "results").iterdir()) == []


def test_ctrl_c_stops_with_130_and_the_next_run_goes_on(tmp_path):
    command = [sys.executable, "-m", "hyperclus", "reproduce", "ncut", "--data", str(raw_folder())]
    command += ["--results", str(tmp_path), "--json"]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob("*.json")) and time.monotonic() < deadline:
        time.sleep(0.02)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert running.returncode == 130, (out, err)
    assert out == ""
    assert "Traceback" not in err
    finished = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*.json")}
    assert 0 < len(finished) < 45
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["ncut"]["rows"]["HyperClus-G"]["digit"]["verdict"] == "equal"
    assert all(path.stat().st_mtime_ns == when for path, when in finished.items())
    assert len(list(tmp_path.glob("*.json"))) == 45


PAPERS = "author,paper,share\nann,p1,3\nbob,p1,1\nbob,p2,1\ncy,p2,2\ncy,p3,1\ndee,p3,1\n"
COLUMNS = ("--vertex", "author", "--edge", "paper", "--weight", "share")


@pytest.fixture
def papers(tmp_path):
    (tmp_path / "papers.csv").write_text(PAPERS)
    return tmp_path / "papers.csv"


def test_info(papers):
    done = hyperclus("info", papers, *COLUMNS)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("4 vertices, 3 hyperedges, 6 incidences\n1 connected component,")
    found = json.loads(hyperclus("info", papers, *COLUMNS, "--json").stdout)
    assert found["n_incidences"] == 6
    assert found["gamma"] == [1, 1, 1, 1.75, 3]


def test_convert_through_every_format(papers, tmp_path):
    source, columns = papers, COLUMNS
    for name in ("a.json", "b.npz", "c.parquet", "d.tsv.gz", "e.hif.json.gz", "f.csv"):
        done = hyperclus("convert", source, tmp_path / name, *columns)
        assert done.returncode == 0, done.stderr
        assert done.stdout == ""
        source, columns = tmp_path / name, ()
    wanted = re.sub(r"([0-9])$", r"\1.0", PAPERS, flags=re.M).replace(
        "author,paper,share", "vertex,edge,weight"
    )
    assert (tmp_path / "f.csv").read_text() == wanted


def test_convert_names_what_is_lost(papers, tmp_path):
    done = hyperclus("convert", papers, tmp_path / "papers.hgr", *COLUMNS)
    assert done.returncode == 0
    assert "ids" in done.stderr
    assert "Traceback" not in done.stderr


def test_hif_to_hif_keeps_everything(tmp_path):
    text = '{"network-type": "directed", "metadata": {"by": "me"}, "incidences": [{"edge": 1, "node": "a", '
    text += '"direction": "head", "attrs": {"x": [1]}}], "nodes": [{"node": "b", "weight": 2}]}'
    (tmp_path / "a.json").write_text(text)
    done = hyperclus("convert", tmp_path / "a.json", tmp_path / "b.json.gz")
    assert done.returncode == 0, done.stderr
    assert json.loads(gzip.decompress((tmp_path / "b.json.gz").read_bytes())) == json.loads(text)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("author,paper,share\nann,p1,-3\n", r"papers.csv, line 2: .*'-3' is not a finite number from 0"),
        ("author,paper,share\nann,p1,x\n", r"papers.csv, line 2"),
        ("author,paper\nann,p1\n", r"papers.csv.*share"),
        ("", "the file is empty"),
    ],
)
def test_bad_files_get_one_sentence(papers, content, message):
    papers.write_text(content)
    for command in (("info", papers), ("convert", papers, papers.with_name("out.json"))):
        done = hyperclus(*command, *COLUMNS)
        assert done.returncode == 2
        assert re.search(message, done.stderr), done.stderr
        assert len(done.stderr.strip().splitlines()) == 1
        assert not papers.with_name("out.json").exists()


def test_an_option_for_writing_is_never_passed_over(tmp_path):
    (tmp_path / "a.json").write_text('{"incidences": [{"edge": 1, "node": "a"}]}')
    done = hyperclus("convert", tmp_path / "a.json", tmp_path / "b.json", "-w", "colour=red")
    assert done.returncode == 2
    assert "has no option 'colour'" in done.stderr
