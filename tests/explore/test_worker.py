"""The child process: progress, cancelling, crashes, and its end."""

import os
import signal
import subprocess
import sys
from contextlib import closing
from functools import partial

import pytest

from hyperclus.cli.explore_runs import Explorer
from hyperclus.explore.worker import RefusedError, Worker
from support.explorers import ended, held_at, wait_until
from support.stand_in_runs import stand_in


@pytest.fixture
def worker():
    with closing(Worker(stand_in, grace=0.3)) as found:
        yield found


@pytest.fixture
def papers(tmp_path):
    path = tmp_path / "papers.csv"
    rows = [f"v{i},e{(i + 5 * j) % 17}\n" for i in range(40) for j in (1, 2)]
    path.write_text("vertex,edge\n" + "".join(rows))
    return path


def is_there(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_result_and_the_next_ones(worker):
    assert worker.run(["answer", "first"])
    status = ended(worker)
    assert (status.number, status.error, status.result.heading) == (1, None, "first")
    pid = worker.pid
    worker.run(["refuse"])
    status = ended(worker)
    assert (status.number, status.error) == (2, "that cannot be done")
    assert (status.result.heading, status.result_number) == ("first", 1)  # is still there
    worker.run(["answer", "third"])
    assert ended(worker).result_number == 3
    assert worker.pid == pid


def test_progress_arrives_and_a_cancel_keeps_the_child(worker):
    worker.run(["report"])
    wait_until(lambda: worker.status.stage == "search")
    status, pid = worker.status, worker.pid
    assert (status.share, status.note, status.running) == (0.25, "a quarter", True)
    assert not worker.run(["answer"])  # one at a time
    worker.cancel(status.number + 1)
    assert not worker.status.cancelling  # not this run
    worker.cancel(status.number)
    status = ended(worker)
    assert (status.cancelled, status.error) == (True, None)
    assert worker.pid == pid
    worker.cancel(status.number)  # too late
    worker.run(["answer", "again"])
    assert ended(worker).result.heading == "again"


def test_a_child_that_does_not_react_is_replaced(worker):
    worker.run(["answer", "kept"])
    ended(worker)
    worker.run(["deaf"])
    pid = worker.pid
    worker.cancel(2)
    status = ended(worker)
    assert (status.cancelled, status.error, status.result.heading) == (True, None, "kept")
    wait_until(lambda: not is_there(pid))
    worker.run(["answer", "next"])
    assert ended(worker).result.heading == "next"


def test_a_crash_is_a_sentence_and_the_next_run_works(worker):
    worker.run(["die"])
    status = ended(worker)
    assert status.error.startswith("the computation ended unexpectedly (signal 9); run it again")
    assert not status.cancelled
    worker.run(["answer", "next"])
    assert ended(worker).result.heading == "next"


def test_a_defect_is_a_sentence_and_its_details_are_on_stderr(worker, capfd):
    worker.run(["defect"])
    assert ended(worker).error.startswith("the computation failed: ZeroDivisionError; the terminal has")
    assert "Traceback" in capfd.readouterr().err


@pytest.mark.parametrize("stage", ["reading", "search"])
def test_reading_and_search_can_be_cancelled(papers, stage):
    with closing(Worker(partial(held_at, stage), grace=600)) as worker:
        worker.run(["cluster", "--clusters=2", "--", str(papers)])
        wait_until(lambda: worker.status.stage == stage or not worker.status.running)
        assert worker.status.running, worker.status.error
        pid = worker.pid
        worker.cancel(1)
        assert ended(worker).cancelled
        assert worker.pid == pid


def test_the_file_is_read_again_only_for_other_columns(papers):
    explorer = Explorer()
    explorer(["read", "--", str(papers)])
    papers.unlink()
    assert explorer(["cluster", "--clusters=2", "--", str(papers)]).heading == "2 groups in papers.csv"
    with pytest.raises(RefusedError, match=r"papers\.csv: there is no such file"):
        explorer(["cluster", "--clusters=2", "--vertex=edge", "--edge=vertex", "--", str(papers)])


def test_close_ends_the_child(worker):
    worker.run(["deaf"])
    pid = worker.pid
    worker.close()
    assert not is_there(pid)


def test_the_child_ends_with_its_parent():
    code = """
import sys
from hyperclus.explore.worker import RefusedError, Worker
from support.stand_in_runs import stand_in
if __name__ == "__main__":
    worker = Worker(stand_in)
    worker.run(["deaf"])
    print(worker.pid, flush=True)
    sys.stdin.read()
"""
    path = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", code], env=path, **pipes) as parent:
        child = int(parent.stdout.readline())
        parent.send_signal(signal.SIGKILL)
        parent.wait()
        wait_until(lambda: not is_there(child))
