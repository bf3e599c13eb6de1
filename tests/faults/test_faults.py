"""Runs on Dask when processes die, files are damaged, or two runs meet; with real processes.

Every test waits for events and files, never for a time; limits only end runs that hang.
"""

import logging
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hyperclus as hc
from hyperclus._runtime.checkpoint import Pace, checkpoint_pace
from hyperclus.engines.dask.workers import Timeouts, WorkerPool
from hyperclus.errors import ClusterError, HyperclusError, InputError

distributed = pytest.importorskip("distributed")
sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from faults import PHASES, clustered, killer, labels_of, workers  # noqa: E402
from size import write  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")  # sockets that distributed leaves open

SIZE = 500_000  # incidences, enough for a search on all workers
PATIENCE = 600.0  # seconds after which a run that hangs is ended


def slow(value):
    return pytest.param(value, marks=pytest.mark.slow)


class StoppedError(Exception):
    """Ends a run at a progress event; the files that it has written stay."""


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "planted.parquet"
    write(path, SIZE, 2)
    return path


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    with workers(tmp_path_factory.mktemp("cluster") / "here", nanny=True) as address:
        yield address


@pytest.fixture(scope="module")
def calm(data, address, tmp_path_factory):
    """The result of an undisturbed run, and its folder."""
    folder = tmp_path_factory.mktemp("calm")
    return clustered(data, address, folder), folder


@pytest.fixture
def kept():
    """Save a checkpoint at every opportunity."""
    with checkpoint_pace(Pace(min_work=0.0, interval=0.0, max_share=float("inf"))):
        yield


def check_same(found, calm):
    expected = calm[0]
    assert found.ncut == pytest.approx(expected.ncut, rel=1e-9)
    np.testing.assert_array_equal(labels_of(found), labels_of(expected))


def wait_for(condition):
    """Wait until something is true."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def ready(address, count=2):
    """Wait for the nannies to restart workers that an earlier test has killed."""
    with distributed.Client(address, set_as_default=False) as client:
        client.wait_for_workers(count, timeout=PATIENCE)


def pids(address):
    """Process ids of the workers and of the scheduler."""
    with distributed.Client(address, set_as_default=False) as client:
        return list(client.run(os.getpid).values()), client.run_on_scheduler(os.getpid)


def impatient(address, **timeouts):
    """Connect with short timeouts."""
    return WorkerPool.connect(address, timeouts=Timeouts(**{"connect": 120.0, **timeouts}))


@contextmanager
def bounded(address):
    """Kill the scheduler if the body hangs, so that the run fails."""
    _, scheduler = pids(address)
    ending = threading.Timer(PATIENCE, os.kill, (scheduler, signal.SIGKILL))
    ending.start()
    try:
        yield
    finally:
        ending.cancel()


def at(stage, share, act):
    """A listener that acts once, when this share of a stage is done."""
    done = []

    def listen(step):
        if not done and step.stage == stage and (step.share or 0.0) >= share:
            done.append(step)
            act()

    return listen


def stop():
    raise StoppedError


def stopped(data, address, folder, stage="eigenvectors", share=0.6):
    with hc.watching(at(stage, share, stop)), pytest.raises(StoppedError):
        clustered(data, address, folder)


def steps_of(data, address, folder):
    """The result and the progress events by stage."""
    steps = []
    with hc.watching(steps.append):
        found = clustered(data, address, folder)
    stages = {step.stage for step in steps}
    return found, {stage: [step for step in steps if step.stage == stage] for stage in stages}


@pytest.mark.parametrize(
    "phase", ["preparation: partitions", "stationary distribution", "eigenvectors", "search"]
)
def test_a_run_survives_a_killed_worker(data, address, calm, tmp_path, phase):
    ready(address)
    listen, when = killer(address, phase, tmp_path)
    with hc.watching(listen):
        found = clustered(data, address, tmp_path)
    wait_for(lambda: when)
    check_same(found, calm)


@pytest.mark.slow
@pytest.mark.parametrize("nanny", [True, False])
@pytest.mark.parametrize("phase", PHASES)
def test_a_run_survives_a_killed_worker_in_any_phase(data, calm, tmp_path, phase, nanny):
    with workers(tmp_path / "cluster", nanny) as address:
        listen, when = killer(address, phase, tmp_path / "work")
        with hc.watching(listen):
            found = clustered(data, address, tmp_path / "work")
    wait_for(lambda: when)
    check_same(found, calm)


def test_a_run_survives_when_all_workers_are_killed_at_once(data, calm, tmp_path):
    with workers(tmp_path / "cluster", nanny=True) as address, bounded(address):
        processes, _ = pids(address)
        strike = at(
            "stationary distribution", 0.3, lambda: [os.kill(pid, signal.SIGKILL) for pid in processes]
        )
        with hc.watching(strike):
            found = clustered(data, address, tmp_path / "work")
    check_same(found, calm)


CLIENT = """
import os, signal, sys
import hyperclus as hc
from hyperclus._runtime.checkpoint import Pace, checkpoint_pace
sys.path.insert(0, sys.argv[1])
from faults import clustered
source, address, folder, stage, share = sys.argv[2:]

def listen(step):
    if step.stage == stage and (step.share or 0.0) >= float(share):
        os.kill(os.getpid(), signal.SIGKILL)

with checkpoint_pace(Pace(min_work=0.0, interval=0.0, max_share=float("inf"))), hc.watching(listen):
    clustered(source, address, folder)
"""


def kill_client(data, address, folder, stage, share):
    """Run a client that kills itself when this share of a stage is done."""
    benchmarks = str(Path(__file__).parents[2] / "benchmarks")
    command = [sys.executable, "-c", CLIENT, benchmarks, *map(str, (data, address, folder, stage, share))]
    assert subprocess.run(command, timeout=PATIENCE, check=False).returncode == -signal.SIGKILL


def test_a_killed_client_resumes_in_the_middle_of_the_eigenvectors(data, address, calm, tmp_path, kept):
    ready(address)
    kill_client(data, address, tmp_path, "eigenvectors", 0.5)
    found, steps = steps_of(data, address, tmp_path)
    check_same(found, calm)
    assert len(steps["stationary distribution"]) == 1  # loaded from the checkpoint
    assert min(step.done for step in steps["eigenvectors"]) > 3
    assert not [step for step in steps["preparation"] if step.unit == "rows"]


@pytest.mark.parametrize("share", [0.3, slow(1.0)])  # after the initial partitions, and at the end
def test_a_killed_client_resumes_in_the_middle_of_the_search(
    data, address, calm, tmp_path, kept, caplog, share
):
    ready(address)
    kill_client(data, address, tmp_path, "search", share)
    with caplog.at_level(logging.INFO, logger="hyperclus._runtime.checkpoint"):
        found, steps = steps_of(data, address, tmp_path)
    check_same(found, calm)
    assert len(steps["stationary distribution"]) == len(steps["eigenvectors"]) == 1
    loaded = [
        message for message in map(logging.LogRecord.getMessage, caplog.records) if "search-" in message
    ]
    assert any(".starts: loaded from the checkpoint" in message for message in loaded)
    assert len(steps["search"]) < 4  # of 6 in an undisturbed run


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.5, 0.7, 0.92, 0.98, 1.0])
def test_a_client_killed_in_the_preparation_resumes(data, address, calm, tmp_path, share):
    kill_client(data, address, tmp_path, "preparation", share)
    check_same(clustered(data, address, tmp_path), calm)


@pytest.mark.slow
def test_a_killed_client_resumes_in_the_middle_of_the_stationary_distribution(
    data, address, calm, tmp_path, kept
):
    kill_client(data, address, tmp_path, "stationary distribution", 0.5)
    found, steps = steps_of(data, address, tmp_path)
    check_same(found, calm)
    assert min(step.done for step in steps["stationary distribution"]) > 0  # it does not start over


def test_a_killed_scheduler_is_one_sentence_and_a_run_with_another_one_resumes(data, calm, tmp_path, kept):
    work = tmp_path / "work"
    with workers(tmp_path / "first", nanny=False) as address:
        _, scheduler = pids(address)
        strike = at("eigenvectors", 0.3, lambda: os.kill(scheduler, signal.SIGKILL))
        with (
            impatient(address) as pool,
            hc.watching(strike),
            pytest.raises(ClusterError, match=r"the scheduler at .* is gone; start it") as error,
        ):
            clustered(data, pool, work)
    assert "\n" not in str(error.value)
    with workers(tmp_path / "second", nanny=False) as address:
        found, steps = steps_of(data, address, work)
    check_same(found, calm)
    assert len(steps["stationary distribution"]) == 1


def test_a_scheduler_that_no_longer_answers(data, tmp_path):
    with workers(tmp_path / "cluster", nanny=False) as address:
        _, scheduler = pids(address)
        waking = threading.Timer(PATIENCE, os.kill, (scheduler, signal.SIGCONT))
        waking.start()
        strike = at("stationary distribution", 0.3, lambda: os.kill(scheduler, signal.SIGSTOP))
        with impatient(address, scheduler=3.0) as pool, hc.watching(strike):
            with pytest.raises(ClusterError, match="is gone"):
                clustered(data, pool, tmp_path / "work")
            waking.cancel()
            os.kill(scheduler, signal.SIGCONT)


def test_a_run_without_workers_waits_for_some_and_then_fails(data, tmp_path):
    with workers(tmp_path / "cluster", nanny=False) as address:
        processes, _ = pids(address)
        strike = at(
            "stationary distribution", 0.3, lambda: [os.kill(pid, signal.SIGKILL) for pid in processes]
        )
        with (
            impatient(address, workers=3.0) as pool,
            hc.watching(strike),
            pytest.raises(ClusterError, match="has had no workers for 3 s; start some"),
        ):
            clustered(data, pool, tmp_path / "work")


@pytest.mark.parametrize("damage", ["a byte short", *map(slow, ["half", "empty", "gone"])])
def test_a_damaged_vector_is_recomputed(data, address, calm, tmp_path, kept, damage):
    ready(address)
    stopped(data, address, tmp_path)
    files = sorted(tmp_path.glob("*/layouts/*/runs/*/vectors/*.npy"))
    assert files
    for path in files:
        size = path.stat().st_size
        if damage == "gone":
            path.unlink()
        else:
            os.truncate(path, {"half": size // 2, "empty": 0, "a byte short": size - 1}[damage])
    check_same(clustered(data, address, tmp_path), calm)


@pytest.mark.parametrize(
    "name", ["members.npy", *map(slow, ["vertices.npy", "omega.npy", "edges.npy", "block.json"])]
)
def test_a_damaged_block_is_recreated(data, address, calm, tmp_path, name):
    ready(address)
    stopped(data, address, tmp_path, "stationary distribution", 0.0)
    path = next(tmp_path.glob(f"*/layouts/*/block-00000/{name}"))
    os.truncate(path, path.stat().st_size // 2)
    with distributed.Client(address, set_as_default=False) as client:
        client.restart(timeout=PATIENCE)  # so that no worker has it in memory
    check_same(clustered(data, address, tmp_path), calm)


def test_a_second_run_of_the_same_is_refused(data, address, calm, tmp_path):
    ready(address)
    told = []

    def second():
        with pytest.raises(ClusterError, match="the same run is under way") as error:
            clustered(data, address, tmp_path)
        told.append(error)

    with hc.watching(at("eigenvectors", 0.3, second)):
        found = clustered(data, address, tmp_path)
    assert told
    check_same(found, calm)


def test_two_preparations_at_once(data, address, calm, tmp_path):
    ready(address)
    found = []

    def second():
        found.append(hc.prepare(data, tmp_path, scheduler=address))

    with hc.watching(at("preparation", 0.6, second)):
        part = clustered(data, address, tmp_path)
    assert found[0].n_incidences == part.n_incidences
    check_same(part, calm)


def rows(**changed):
    columns = {
        "vertex": ["a", "b", "c", "d"],
        "edge": [1, 1, 2, 2],
        "weight": [1.0, 1.0, 2.0, 1.0],
        **changed,
    }
    return pa.table({name: values for name, values in columns.items() if values is not None})


FILES = {
    "corrupt": (b"PAR1 and then nothing of the kind PAR1", r"part-1\.parquet: "),
    "no column": (rows(edge=None), r"part-1\.parquet: .*'edge'"),
    "null weight": (rows(weight=[1.0, None, 2.0, 1.0]), r"part-1\.parquet: row 1, column 'weight'"),
    "null vertex": (rows(vertex=["a", "b", None, "d"]), r"part-1\.parquet: row 2, column 'vertex'"),
}


@pytest.mark.parametrize("fault", FILES)
def test_a_bad_file_is_one_sentence(address, tmp_path, monkeypatch, fault):
    content, words = FILES[fault]
    ready(address, 1)
    folder = tmp_path / "data"
    folder.mkdir()
    pq.write_table(rows(), folder / "part-0.parquet")
    if isinstance(content, bytes):
        (folder / "part-1.parquet").write_bytes(content)
    else:
        pq.write_table(content, folder / "part-1.parquet")
    monkeypatch.setenv("HYPERCLUS_WORK", str(tmp_path / "work"))
    with distributed.Client(address, set_as_default=True), pytest.raises(InputError, match=words) as error:
        hc.cluster_files(folder, 2)
    assert "\n" not in str(error.value)


def test_a_file_added_during_the_preparation_is_named(data, address, tmp_path):
    ready(address)
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "part-0.parquet").symlink_to(data)
    added = at("preparation", 0.5, lambda: pq.write_table(rows(), folder / "part-1.parquet"))
    with hc.watching(added), pytest.raises(InputError, match=r"part-1\.parquet"):
        clustered(folder, address, tmp_path / "work")
    assert not list((tmp_path / "work").glob("*/manifest.json"))


@pytest.mark.slow
@pytest.mark.parametrize(("size", "memory"), [(1e6, "180MB"), (1e6, "300MB"), (1e7, "300MB")])
def test_too_little_memory_ends(tmp_path, size, memory):
    """A run ends with labels or with one sentence, never in a loop of restarts."""
    write(tmp_path / "data.parquet", int(size), 2)
    with workers(tmp_path / "cluster", nanny=True, memory=memory) as address, bounded(address):
        try:
            found = clustered(tmp_path / "data.parquet", address, tmp_path / "work")
        except HyperclusError as error:
            assert "memory" in str(error)  # noqa: PT017
            assert "\n" not in str(error)  # noqa: PT017
        else:
            assert found.sizes.sum() == found.n_vertices
