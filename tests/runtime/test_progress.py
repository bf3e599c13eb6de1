"""Progress events: every stage reports, shares never decrease, and results do not change."""

import gzip
import sys
import threading
from dataclasses import replace
from functools import partial
from itertools import groupby, pairwise
from typing import get_args

import numpy as np
import pytest

import hyperclus as hc
from hyperclus._runtime import progress
from hyperclus.clustering.search_problem import EFFORTS
from hyperclus.engines import cpu
from hyperclus.hypergraph.incidence import Policies
from hyperclus.io.tables import open_table
from hyperclus.io.tables.long import LongColumns, read_incidences
from hyperclus.io.tables.table import Tuning
from hyperclus.spectral import stationary
from support.strategies import random_hypergraph

lanczos = sys.modules["hyperclus.spectral.eigen.lanczos"]
solve = sys.modules["hyperclus.spectral.eigen.choose"]

H = random_hypergraph(200, 150, 5, 1)


def with_steps(run):
    """Return the result of a run and its steps, after checking the form of each step."""
    steps = []
    with hc.watching(steps.append):
        found = run()
    for step in steps:
        assert step.stage in get_args(progress.Stage)
        assert step.done >= 0
        assert step.share is None or 0 <= step.share <= 1
        assert isinstance(step.unit, str)
        assert isinstance(step.note, str)
    return found, steps


def check_shares(steps):
    """Shares and work never decrease within a stage, and the share ends at 1."""
    for stage, group in groupby(steps, key=lambda step: step.stage):
        inside = list(group)
        for before, after in pairwise(inside):
            assert before.share <= after.share, stage
            assert before.done <= after.done, stage
        assert inside[-1].share == 1.0, stage


@pytest.fixture
def iterative(monkeypatch):
    """Use GMRES and Lanczos with many restarts, even where elimination and LAPACK would be faster."""
    monkeypatch.setattr(stationary, "ELIMINATION_UP_TO", 0)
    monkeypatch.setattr(stationary, "RESTART", 8)
    monkeypatch.setattr(lanczos, "EXTRA_BASIS", 6)
    monkeypatch.setattr(solve, "cheapest", lambda *_: "lanczos")


@pytest.mark.parametrize("k", [2, 4])
def test_clustering_in_batches(k):
    effort = replace(EFFORTS["default"], batched_from=(0, 0))
    _, steps = with_steps(lambda: hc.cluster(H, k, effort=effort))
    check_shares(steps)
    assert sum(step.stage == "search" for step in steps) > 3


@pytest.mark.parametrize("iterations", [True, False])
@pytest.mark.parametrize("effort", ["fast", "default", "thorough"])
@pytest.mark.parametrize("k", [1, 2, 4])
def test_clustering(request, k, effort, iterations):
    if iterations:
        request.getfixturevalue("iterative")
    alone = hc.cluster(H, k, effort=effort)
    part, steps = with_steps(lambda: hc.cluster(H, k, effort=effort))
    np.testing.assert_array_equal(part.labels, alone.labels)
    assert part.ncut == alone.ncut
    stages = [stage for stage, _ in groupby(step.stage for step in steps)]
    assert stages == ["stationary distribution", "eigenvectors", "search", *["chance"] * (k > 1)]
    check_shares(steps)
    last = [step for step in steps if step.stage == "search"][-1]
    assert last.note.startswith("information ")
    assert last.unit == "incidences"


def test_every_product_of_an_iteration_is_reported(iterative):
    part, steps = with_steps(lambda: hc.cluster(H, 3))
    counts = {
        stage: sum(step.stage == stage for step in steps)
        for stage in ("stationary distribution", "eigenvectors")
    }
    assert counts["eigenvectors"] >= part.eigenpairs.steps > 20
    assert counts["stationary distribution"] >= part.walk.distribution.steps / 2 > 5
    residuals = [
        float(step.note.removeprefix("residual ")) for step in steps if step.note.startswith("residual")
    ]
    assert min(residuals) < 1e-8 < max(residuals)


def test_shuffles_and_clusters_are_named(iterative):
    found, steps = with_steps(lambda: hc.suggest_k(H, 3, shuffles=2))
    assert found == hc.suggest_k(H, 3, shuffles=2)
    for words in ("shuffle 1 of 2, residual", "shuffle 2 of 2, residual", "k = 2, NCut", "k = 3, NCut"):
        assert any(step.note.startswith(words) for step in steps), words
    _, steps = with_steps(lambda: hc.hyperclus_g(H, 3))
    assert any(step.note.startswith("a cluster of ") for step in steps)
    check_shares(steps)


def test_the_tight_bound_is_reported():
    part, steps = with_steps(
        lambda: hc.cluster(random_hypergraph(12, 10, 3, 8), 2, bound="tight", effort="fast")
    )
    bound = [step for step in steps if step.stage == "bound"]
    assert bound[-1].share == 1.0
    assert bound[-1].note == f"NCut at least {part.tight.value:.4f}"


@pytest.mark.parametrize("name", ["table.csv", "table.csv.gz", "table.parquet"])
def test_reading(tmp_path, name):
    pytest.importorskip("pyarrow")
    path = tmp_path / name
    rows = H.gamma.tocoo()
    h = hc.Hypergraph.from_long({"vertex": rows.col, "edge": rows.row, "weight": rows.data})
    hc.write(h, path)
    source = open_table(path, tuning=Tuning(text_block=1 << 10, rows=100))
    columns = LongColumns("vertex", "edge", "weight", None)
    again, steps = with_steps(lambda: read_incidences(source, columns, Policies()))
    assert (again.gamma != h.gamma).nnz == 0
    check_shares(steps)
    assert len(steps) > 10
    assert len({step.share for step in steps}) > 5
    size = path.stat().st_size if name != "table.parquet" else H.n_incidences
    assert steps[-1].done == size
    assert {step.unit for step in steps} == {"rows" if name == "table.parquet" else "bytes"}


def test_a_file_of_two_gzip_members_is_reported_to_its_end(tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "table.csv.gz"
    rows = "".join(f"a,{edge}\nb,{edge}\n" for edge in range(50))
    path.write_bytes(gzip.compress(b"vertex,edge\n") + gzip.compress(rows.encode()))
    _, steps = with_steps(lambda: hc.read(path))
    check_shares(steps)


def test_only_the_thread_of_the_run_reports(monkeypatch):
    monkeypatch.setattr(cpu, "Tuning", partial(cpu.Tuning, incidences_each=1))
    threads = set()
    with hc.watching(lambda _: threads.add(threading.get_ident())):
        hc.cluster(H, 3, effort=replace(EFFORTS["default"], parallel_from=0))
    assert threads == {threading.get_ident()}


def test_an_error_of_the_listener_stops_the_run_and_nothing_else():
    def listener(step):
        if step.stage == "search":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), hc.watching(listener):
        hc.cluster(H, 3)
    _, steps = with_steps(lambda: hc.cluster(H, 3))
    check_shares(steps)


def test_the_inner_listener_replaces_the_outer_until_it_ends():
    outer, inner = [], []
    with hc.watching(outer.append):
        with hc.watching(inner.append):
            hc.RandomWalk(H)
        heard = len(outer)
        hc.RandomWalk(H)
    hc.RandomWalk(H)
    assert heard == 0
    assert len(inner) == len(outer) > 0


def test_the_share_counts_digits():
    descent = progress.ResidualProgress("eigenvectors", 1e-8, 0.2, 1.0)
    shares = []
    for residual in (1e-0, 1e-4, 1e-2, 1e-8):
        descent.report(1, residual)
        shares.append(descent.share)
    assert shares == pytest.approx([0.2, 0.6, 0.6, 1.0])
    after = descent.then(1e-4)
    assert after.share == after.low == 1.0
