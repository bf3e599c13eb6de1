"""The commands datasets and reproduce."""

import json
import re
import signal
import subprocess
import sys
import time

import pytest
from rich.console import Console

import hyperclus as hc
from support import paper_data
from support.command_line import inside, process


def test_datasets_are_listed_and_checked():
    done = inside("datasets")
    assert done.returncode == 0
    assert done.stdout.count(" ok ") == 14
    assert "Apache-2.0" in done.stdout
    assert inside("datasets", "car", "cora").stdout.count(" ok ") == 2


def test_files_of_uci_are_listed_and_checked(tmp_path):
    (tmp_path / "zoo.data").write_bytes(paper_data.raw("zoo.data"))
    done = inside("datasets", "car", "zoo", "--data", tmp_path)
    assert done.returncode == 0
    assert done.stdout.count("ok") == 1
    assert done.stdout.count("missing") == 1
    assert inside("datasets", "--data", tmp_path).stdout.count("missing") == 11


def test_data_sets_are_saved_for_other_commands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = inside("datasets", "southern-women", "zoo", "--save", ".")
    assert done.returncode == 0
    assert "wrote zoo.npz and zoo.classes.csv" in done.stderr
    assert hc.read("zoo.npz").n_vertices == 101
    done = inside("cluster", "southern-women.npz", "-k", "2", "--classes", "southern-women.classes.csv")
    assert done.returncode == 0
    assert "ARI 1.0" in done.stdout
    missing = inside("datasets", "zoo", "--save", "nowhere")
    assert missing.returncode == 2
    assert "the folder does not exist" in missing.stderr


def test_tables_of_one_data_set(tmp_path, monkeypatch):
    command = ("reproduce", "ncut", "f1", "--dataset", "car", "--results", tmp_path)
    done = inside(*command, "--json")
    assert done.returncode == 0
    assert done.stderr == ""
    assert json.loads(done.stdout)["ncut"]["rows"]["HyperClus-G"]["car"]["verdict"] == "equal"
    shown = inside(*command)
    assert "0.8320 =" in shown.stdout
    figures = re.findall(r"[0-9.]{6,}", shown.stdout)
    monkeypatch.setattr("hyperclus.cli.paper.console", lambda: Console(width=60))
    narrow = inside(*command).stdout
    *lines, _ = narrow.splitlines()  # the last one has the name of a folder
    assert max(map(len, lines)) <= 60
    assert sorted(re.findall(r"[0-9.]{6,}", narrow)) == sorted(figures)  # none is cut
    assert "| HyperClus-G |" in inside(*command, "--markdown").stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("reproduce", "nothing"), "there is no table 'nothing'"),
        (("reproduce", "--dataset", "iris"), "there is no data set 'iris'"),
        (("datasets", "iris"), "'iris'"),
        (("reproduce", "--wrong"), "no such option"),
        (("reproduce", "--json", "--markdown"), "choose --json or --markdown"),
        (("fly",), "no such command"),
    ],
)
def test_bad_usage_has_exit_code_2(arguments, words):
    done = inside(*arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_a_failed_download_says_what_to_do(tmp_path):
    nowhere = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), "http://127.0.0.1:9")
    done = process(
        *("reproduce", "ncut", "--dataset", "car", "--from-source", "--results", tmp_path),
        HYPERCLUS_DATA=str(tmp_path / "empty"),
        **nowhere,
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "car.data" in done.stderr
    assert "empty" in done.stderr


def test_a_failed_download_does_not_stop_the_others(tmp_path):
    nowhere = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), "http://127.0.0.1:9")
    (tmp_path / "zoo.data").write_bytes(paper_data.raw("zoo.data"))
    done = process("datasets", "car", "zoo", "--fetch", "--data", tmp_path, **nowhere)
    assert done.returncode == 1
    assert "car.data" in done.stderr
    assert "Traceback" not in done.stderr
    assert "missing" in done.stdout
    assert "ok" in done.stdout


@pytest.mark.parametrize("place", ["file", "file/folder"])
def test_an_impossible_results_folder_is_refused_at_once(tmp_path, place):
    (tmp_path / "file").write_text("in the way")
    done = inside("reproduce", "ncut", "--dataset", "car", "--results", tmp_path / place)
    assert done.returncode == 2
    assert done.stdout == ""
    assert re.search(r"cannot be saved in .*(File exists|Not a directory); choose another", done.stderr)
    assert "Traceback" not in done.stderr


def test_a_missing_library_is_reported_before_the_first_measurement(tmp_path):
    (tmp_path / "gensim").mkdir()
    (tmp_path / "gensim" / "__init__.py").write_text("raise ModuleNotFoundError(name='gensim')")
    done = process(
        *("reproduce", "ncut", "--dataset", "car", "--method", "STAR++", "--method", "node2vec"),
        *("--results", tmp_path / "results"),
        PYTHONPATH=str(tmp_path),
    )
    assert done.returncode == 1
    assert "node2vec needs gensim: pip install 'hyperclus[embeddings]'" in done.stderr
    assert list((tmp_path / "results").iterdir()) == []


def test_ctrl_c_has_exit_code_130_and_the_next_run_resumes(tmp_path):
    command = [sys.executable, "-m", "hyperclus", "reproduce", "ncut"]
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
