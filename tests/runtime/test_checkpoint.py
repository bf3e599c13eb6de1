"""Interrupted runs resume from checkpoints: the same bits, and less work."""

import errno
import logging
import logging.handlers
import math
import os
import subprocess
import sys
import textwrap
import time
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hyperclus as hc
from hyperclus._runtime.checkpoint import SUFFIX, Pace, checkpoint_pace, open_checkpoint, vector_references
from hyperclus.clustering.search_problem import EFFORTS, Effort
from hyperclus.spectral import stationary
from support.strategies import build, copies_around_a_hub, hypergraphs, random_edges, random_hypergraph

lanczos = sys.modules["hyperclus.spectral.eigen.lanczos"]
solve = sys.modules["hyperclus.spectral.eigen.choose"]


class StopError(Exception):
    pass


@pytest.fixture
def eager():
    """Save every result, and a state at every opportunity."""
    with checkpoint_pace(Pace(min_work=0.0, interval=0.0, max_share=math.inf)):
        yield


@pytest.fixture
def krylov(monkeypatch):
    """Compute the stationary distribution by GMRES in short cycles."""
    monkeypatch.setattr(stationary, "ELIMINATION_UP_TO", 0)
    monkeypatch.setattr(stationary, "RESTART", 8)


@pytest.fixture
def restarts(monkeypatch):
    """Use a Lanczos basis so small that it is restarted often."""
    monkeypatch.setattr(lanczos, "EXTRA_BASIS", 6)


def stops_at(number):
    """A listener that stops the run at step `number`, counted from 1."""
    left = iter(range(number - 1))

    def listener(step):
        if next(left, None) is None:
            raise StopError

    return listener


def counted(run):
    """Return the result of a run and its steps."""
    steps = []
    with hc.watching(steps.append):
        return run(), steps


def bits(found):
    """Everything that must be the same after a resumed run."""
    if isinstance(found, hc.Partition):
        pairs, distribution = found.eigenpairs, found.walk.distribution
        arrays = (
            found.labels,
            distribution.vertices,
            distribution.edges,
            pairs.values,
            pairs.vectors,
            pairs.spare,
        )
        figures = (
            found.ncut,
            found.lower_bound,
            distribution.residual,
            distribution.steps,
            distribution.method,
            pairs.steps,
        )
        return [array.tobytes() for array in arrays], figures, pairs.method
    if isinstance(found, hc.RandomWalk):
        return (
            found.stationary.tobytes(),
            found.distribution.steps,
            found.distribution.residual,
            found.distribution.method,
        )
    if isinstance(found, hc.Eigenpairs):
        return found.values.tobytes(), found.vectors.tobytes(), found.spare.tobytes(), found.steps
    return found


@contextmanager
def believed():
    """Check that no checkpoint is refused inside."""
    log, handler = logging.getLogger("hyperclus._runtime.checkpoint"), logging.handlers.BufferingHandler(1000)
    handler.setLevel(logging.WARNING)
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)
    assert [record.getMessage() for record in handler.buffer] == []


def check_every_stop(run, folder, most=25):
    """Stop a run at each of its steps, or at `most` of them, and resume it."""
    whole, steps = counted(run)
    places = np.unique(np.linspace(1, len(steps), min(most, len(steps))).astype(int))
    saved = 0
    for place in places.tolist():
        inside = folder / str(place)
        with pytest.raises(StopError), hc.watching(stops_at(place)), hc.checkpoints(inside):
            run()
        with hc.checkpoints(inside), believed():
            again, rest = counted(run)
        assert bits(again) == bits(whole)
        saved += len(steps) - len(rest)
    assert saved > 0
    return whole


def check_many_stops(run, folder, each):
    """Stop a run repeatedly after `each` steps, in one folder, until it finishes."""
    whole, steps = counted(run)
    for tries in range(len(steps) + 1):  # noqa: B007
        with hc.checkpoints(folder):
            try:
                with hc.watching(stops_at(each)):
                    again = run()
            except StopError:
                continue
        break
    assert bits(again) == bits(whole)
    assert tries > 1


def weakly_joined(seed):
    """Two weakly connected blocks whose masses GMRES alone would get wrong."""
    rng = np.random.default_rng(seed)
    edges = [
        {v + shift: g for v, g in edge.items()}
        for shift in (0, 60)
        for edge in random_edges(rng, 60, 50, 12, 1.0)
    ]
    edges.append({0: 1.0, 60: 50.0})
    return build(edges, [*[1.0] * 100, 1e-7], 120)


# ---- every stage, stopped anywhere ----------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.0, 0.5])
@pytest.mark.parametrize(
    "h", [random_hypergraph(90, 60, 4, 1), random_hypergraph(60, 90, 4, 2), weakly_joined(0)]
)
def test_stationary_distribution(eager, krylov, tmp_path, h, alpha):
    walk = check_every_stop(partial(hc.RandomWalk, h, alpha=alpha), tmp_path)
    assert walk.distribution.method == "krylov"
    check_many_stops(partial(hc.RandomWalk, h, alpha=alpha), tmp_path, 15)


@pytest.mark.parametrize("k", [2, 5])
@pytest.mark.parametrize("method", ["lanczos", "shift-invert"])
def test_eigenvectors(eager, restarts, tmp_path, k, method):
    laplacian = hc.NormalizedLaplacian(hc.RandomWalk(random_hypergraph(150, 100, 4, 3)))
    run = partial(hc.smallest_eigenpairs, laplacian, k, method=method, spare=2)
    pairs = check_every_stop(run, tmp_path)
    assert pairs.steps > lanczos.EXTRA_BASIS + k
    check_many_stops(run, tmp_path, 3)


def test_repeated_eigenvalues(eager, restarts, tmp_path):
    """Some are missed at first, so that there are several probing rounds."""
    h = copies_around_a_hub(random_hypergraph(15, 12, 4, 0), 6, 0.01)
    run = partial(hc.smallest_eigenpairs, hc.NormalizedLaplacian(hc.RandomWalk(h)), 5, method="lanczos")
    check_every_stop(run, tmp_path)
    check_many_stops(run, tmp_path, 5)


@pytest.mark.parametrize("thin", [True, False])
def test_fallback_methods(eager, restarts, monkeypatch, tmp_path, thin):
    monkeypatch.setattr(solve, "PATIENCE", 10)
    monkeypatch.setattr(solve, "cheapest", lambda *_: "lanczos")
    monkeypatch.setattr(solve, "is_thin", lambda _: thin)
    laplacian = hc.NormalizedLaplacian(hc.RandomWalk(random_hypergraph(150, 100, 4, 3)))
    pairs = check_every_stop(partial(hc.smallest_eigenpairs, laplacian, 2), tmp_path)
    assert pairs.method == ("shift-invert" if thin else "lanczos")


@pytest.mark.parametrize("effort", ["fast", "default"])
@pytest.mark.parametrize("k", [2, 3])
def test_search_in_batches(eager, tmp_path, k, effort):
    in_batches = replace(EFFORTS[effort], batched_from=(0, 0), min_progress=0.0)
    check_every_stop(partial(hc.cluster, H, k, effort=in_batches), tmp_path)


@pytest.mark.parametrize("effort", ["fast", "default", "thorough"])
@pytest.mark.parametrize("k", [2, 3])
def test_search(eager, tmp_path, k, effort):
    if effort == "thorough":
        effort = Effort(6, 8, 4, 5.0, 1e5, first=EFFORTS["default"])
    h = random_hypergraph(60, 40, 5, 4)
    check_every_stop(partial(hc.cluster, h, k, effort=effort, seed=1), tmp_path, 12)


def test_search_stopped_every_few_steps(eager, tmp_path):
    effort = Effort(6, 8, 4, 5.0, 1e6, first=EFFORTS["default"])
    check_many_stops(partial(hc.cluster, random_hypergraph(60, 40, 5, 4), 3, effort=effort), tmp_path, 150)


@pytest.mark.parametrize("strategy", ["best", "largest"])
def test_bisection(eager, krylov, restarts, tmp_path, strategy):
    run = partial(hc.hyperclus_g, random_hypergraph(80, 60, 4, 5), 4, strategy=strategy)
    check_every_stop(run, tmp_path, 15)


def test_refine_and_evaluate(eager, krylov, tmp_path):
    h = random_hypergraph(60, 40, 5, 6)
    labels = np.arange(60) % 3
    check_every_stop(partial(hc.evaluate, h, labels), tmp_path / "evaluate", 15)
    check_every_stop(partial(hc.refine, h, labels, effort="default"), tmp_path / "refine", 15)


def test_suggest_k(eager, krylov, tmp_path):
    check_every_stop(partial(hc.suggest_k, random_hypergraph(60, 40, 5, 7), 4, shuffles=2), tmp_path, 15)


def test_tight_bound(eager, tmp_path):
    h = random_hypergraph(12, 10, 3, 8)
    run = partial(hc.cluster, h, 2, bound="tight", effort="fast")
    part = check_every_stop(run, tmp_path, 10)
    assert part.tight is not None


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    h=hypergraphs(min_n=3),
    alpha=st.sampled_from([0.0, 0.5, 1.0]),
    stop=st.integers(1, 30),
    seed=st.integers(0, 3),
)
def test_any_hypergraph(eager, krylov, restarts, tmp_path_factory, h, alpha, stop, seed):
    folder = tmp_path_factory.mktemp("any")
    run = partial(hc.cluster, h, 2, alpha=alpha, seed=seed)
    whole = run()
    with hc.checkpoints(folder):
        try:
            with hc.watching(stops_at(stop)):
                run()
        except StopError:
            pass
        assert bits(run()) == bits(whole)
        assert bits(run()) == bits(whole)


# ---- what is saved and what is not ---------------------------------------------------------------

H = random_hypergraph(60, 40, 5, 9)


def files(folder):
    return sorted(file.name for file in folder.iterdir() if file.suffix == SUFFIX)


def test_small_runs_write_nothing(tmp_path):
    with hc.checkpoints(tmp_path):
        hc.cluster(H, 3, objective="ncut")
    assert [file.name for file in tmp_path.iterdir()] == ["HYPERCLUS.txt"]


def test_finished_stages_leave_one_file_each(eager, tmp_path):
    with hc.checkpoints(tmp_path):
        hc.cluster(H, 3)
    assert [name.rpartition("-")[0] for name in files(tmp_path)] == [
        "eigenvectors",
        "search",
        "stationary-distribution",
    ]
    before = {name: (tmp_path / name).stat().st_mtime_ns for name in files(tmp_path)}
    with hc.checkpoints(tmp_path):
        hc.cluster(H, 3)
    assert before == {name: (tmp_path / name).stat().st_mtime_ns for name in files(tmp_path)}


def test_another_k_reuses_the_stationary_distribution(eager, krylov, tmp_path, caplog):
    with hc.checkpoints(tmp_path):
        hc.cluster(H, 3)
        with caplog.at_level(logging.INFO, "hyperclus._runtime.checkpoint"):
            _, steps = counted(partial(hc.cluster, H, 2))
    assert [step.stage for step in steps].count("stationary distribution") == 1
    assert [step.stage for step in steps].count("eigenvectors") > 1
    (message,) = [record.getMessage() for record in caplog.records]
    assert message.startswith("stationary-distribution")
    assert "loaded from the checkpoint" in message


@pytest.mark.parametrize(
    "change",
    [
        lambda: hc.cluster(H.with_gamma(H.gamma.data * (1 + 1e-15 * (np.arange(H.n_incidences) == 5))), 3),
        lambda: hc.cluster(H.with_edge_weights(H.edge_weights * 2), 3),
        lambda: hc.cluster(H, 3, alpha=0.5),
        lambda: hc.cluster(H, 3, seed=1),
        lambda: hc.cluster(H, 3, tolerance=1e-9),
        lambda: hc.cluster(H, 3, min_share=0.1),
        lambda: hc.cluster(H, 3, effort="fast"),
        lambda: hc.refine(H, np.arange(60) % 3, effort="default"),
    ],
    ids=["gamma", "omega", "alpha", "seed", "tolerance", "min_share", "effort", "start"],
)
def test_checkpoints_of_another_run_are_not_used(eager, krylov, tmp_path, change):
    alone = change()
    with hc.checkpoints(tmp_path):
        hc.cluster(H, 3)
        before = len(files(tmp_path))
        assert bits(change()) == bits(alone)
    assert len(files(tmp_path)) > before


def test_another_version_starts_over(eager, tmp_path, monkeypatch):
    with hc.checkpoints(tmp_path):
        hc.cluster(H, 3)
        before = len(files(tmp_path))
        monkeypatch.setattr(hc, "__version__", "99.0.0")
        hc.cluster(H, 3)
    assert len(files(tmp_path)) == 2 * before


def test_ids_do_not_matter(eager, tmp_path):
    renamed = hc.Hypergraph(H.gamma.copy(), H.edge_weights, np.arange(60) + 1000, H.edge_ids)
    with hc.checkpoints(tmp_path):
        hc.cluster(H, 3)
        before = files(tmp_path)
        hc.cluster(renamed, 3)
    assert files(tmp_path) == before


def test_an_inner_folder_replaces_the_outer(eager, tmp_path):
    with hc.checkpoints(tmp_path / "outer"):
        with hc.checkpoints(tmp_path / "inner"):
            hc.RandomWalk(H)
        hc.RandomWalk(H, alpha=0.5)
    hc.cluster(H, 3)
    assert len(files(tmp_path / "inner")) == len(files(tmp_path / "outer")) == 1


# ---- seeds --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64"])
def test_the_state_of_a_generator_is_restored(eager, restarts, tmp_path, kind):
    def run():
        rng = np.random.Generator(getattr(np.random, kind)(5))
        rng.integers(10, dtype=np.uint32)  # buffers half of a draw
        laplacian = hc.NormalizedLaplacian(hc.RandomWalk(H))
        pairs = hc.smallest_eigenpairs(laplacian, 3, method="lanczos", seed=rng)
        return bits(pairs), rng.random(3).tolist(), rng.integers(10, size=3, dtype=np.uint32).tolist()

    check_every_stop(run, tmp_path, 12)


def test_seed_none_is_rejected(tmp_path):
    calls = (
        partial(hc.cluster, H),
        partial(hc.refine, H, np.arange(60) % 2),
        partial(hc.evaluate, H, np.arange(60) % 2),
        partial(hc.suggest_k, H, 3),
        partial(hc.smallest_eigenpairs, hc.NormalizedLaplacian(hc.RandomWalk(H)), 2),
    )
    for call in calls:
        with hc.checkpoints(tmp_path), pytest.raises(hc.InputError, match="seed=None draws a new seed"):
            call(seed=None)
    hc.cluster(H, seed=None)


# ---- faults -------------------------------------------------------------------------------------


def test_damaged_files_are_computed_again(eager, krylov, restarts, tmp_path, caplog):
    run = partial(hc.cluster, H, 3)
    whole = run()
    with hc.checkpoints(tmp_path):
        run()
        contents = {tmp_path / name: (tmp_path / name).read_bytes() for name in files(tmp_path)}
        rng = np.random.default_rng(0)
        for path, content in contents.items():
            for attempt in range(40):
                at = int(rng.integers(len(content)))
                flipped = bytes([content[at] ^ (1 << int(rng.integers(8)))])
                damaged = content[:at] if attempt % 2 else content[:at] + flipped + content[at + 1 :]
                path.write_bytes(damaged)
                assert bits(run()) == bits(whole)
                path.write_bytes(content)
    messages = {record.getMessage() for record in caplog.records if record.levelno == logging.WARNING}
    assert len(messages) == 3
    assert all("is damaged; it is deleted and computed again" in message for message in messages)


def test_every_flipped_bit_is_detected(eager, tmp_path):
    """A flipped bit anywhere in the file is detected."""
    whole = hc.RandomWalk(random_hypergraph(6, 5, 3, 0))
    with hc.checkpoints(tmp_path):
        run = partial(hc.RandomWalk, whole.hypergraph)
        run()
        (path,) = [tmp_path / name for name in files(tmp_path)]
        content = path.read_bytes()
        rng = np.random.default_rng(0)
        for at in [*rng.integers(len(content), size=100), *range(len(content) - 120, len(content))]:
            damaged = bytearray(content)
            damaged[at] ^= 1 << int(rng.integers(8))
            path.write_bytes(damaged)
            assert bits(run()) == bits(whole)


def test_a_foreign_file_is_computed_again(eager, tmp_path, caplog):
    whole = hc.RandomWalk(random_hypergraph(6, 5, 3, 0))
    with hc.checkpoints(tmp_path):
        hc.RandomWalk(whole.hypergraph)
        (path,) = [tmp_path / name for name in files(tmp_path)]
        for content in (b"", b"short", bytes(1000)):
            path.write_bytes(content)
            assert bits(hc.RandomWalk(whole.hypergraph)) == bits(whole)
    assert caplog.text.count("damaged") == 3


def test_a_file_that_cannot_be_read_is_kept(eager, krylov, monkeypatch, tmp_path):
    """A transient error of the file system must not destroy hours of work."""
    run = partial(hc.RandomWalk, H)
    whole, steps = counted(run)
    with pytest.raises(StopError), hc.watching(stops_at(12)), hc.checkpoints(tmp_path):
        run()
    (state,) = [tmp_path / name for name in files(tmp_path) if "state" in name]
    content, plain = state.read_bytes(), Path.open

    def stale(path, mode="r", **options):
        if path == state and mode == "rb":
            raise OSError(errno.ESTALE, "Stale file handle")
        return plain(path, mode, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", stale)
        message = r"state.*cannot be read \(Stale file handle\); try again"
        with hc.checkpoints(tmp_path), pytest.raises(hc.InputError, match=message):
            run()
    assert state.read_bytes() == content
    with hc.checkpoints(tmp_path):
        again, rest = counted(run)
    assert bits(again) == bits(whole)
    assert len(rest) < len(steps)


@dataclass
class StoredVector:
    name: str

    def reference(self):
        return self.name

    def content_key(self):
        return self.name.encode()


class VectorStore:
    """Stores nothing, and restores vectors by name or raises an error."""

    def __init__(self, error=None):
        self.error, self.pins = error, {}

    def store(self, values):
        pass

    def restore(self, reference):
        if self.error is not None:
            raise self.error
        return StoredVector(reference)

    def pin(self, file, references):
        self.pins[file] = references

    def unpin(self, file):
        del self.pins[file]


def save_vector(folder):
    with hc.checkpoints(folder, VectorStore()):
        open_checkpoint("stage", 1).finish(vector=StoredVector("a"), number=2)
    (name,) = files(folder)
    return folder / name


@pytest.mark.parametrize("error", [AttributeError("bug"), TypeError("bug"), RuntimeError("bug")])
def test_a_bug_does_not_delete_a_checkpoint(eager, tmp_path, error):
    path = save_vector(tmp_path)
    with hc.checkpoints(tmp_path, VectorStore(error)), pytest.raises(type(error), match="bug"):
        open_checkpoint("stage", 1).result(bool)
    assert path.exists()


@pytest.mark.parametrize("error", [FileNotFoundError("gone"), EOFError("empty"), ValueError("truncated")])
def test_a_checkpoint_whose_vector_is_damaged_is_deleted(eager, tmp_path, caplog, error):
    path = save_vector(tmp_path)
    with hc.checkpoints(tmp_path, VectorStore(error)):
        assert open_checkpoint("stage", 1).result(bool) is None
    assert not path.exists()
    assert "damaged" in caplog.text


def test_an_unreadable_vector_does_not_delete_its_checkpoint(eager, tmp_path):
    path = save_vector(tmp_path)
    error = OSError(errno.ESTALE, "Stale file handle")
    with hc.checkpoints(tmp_path, VectorStore(error)), pytest.raises(hc.InputError, match="cannot be read"):
        open_checkpoint("stage", 1).result(bool)
    assert path.exists()


def test_references_of_a_folder(eager, tmp_path):
    path = save_vector(tmp_path)
    assert vector_references(tmp_path) == {path.name: ["a"]}
    path.write_bytes(path.read_bytes()[:-1])
    assert vector_references(tmp_path) == {}


# ---- keys ---------------------------------------------------------------------------------------


class Keyed:
    def __init__(self, key):
        self.key = key

    def content_key(self):
        return self.key


def key_of(*inputs):
    return open_checkpoint("stage", *inputs)._name


def test_keys_depend_on_content_only(tmp_path):
    with hc.checkpoints(tmp_path):
        assert key_of(Keyed(b"a")) == key_of(Keyed(b"a"))
        assert key_of(np.float64(2), [np.int64(1)]) == key_of(2.0, [1])
        assert key_of({"a": (1, None)}) == key_of({"a": (1, None)})


def test_keys_of_different_inputs_differ(tmp_path):
    block = np.arange(6.0).reshape(2, 3)
    inputs = [
        *(None, 0, 1, True, 1.0, "1", b"1", "", "None", [], (), {}, [1], (1,), [[1]], {"a": 1}, {"a": 2}),
        *(block, block.astype(np.float32), block.reshape(3, 2), np.asfortranarray(block)),
        *(block[:1], block[:0]),
        *(Keyed(b"a"), Keyed(b"b"), np.random.default_rng(0), np.random.default_rng(1)),
    ]
    with hc.checkpoints(tmp_path):
        keys = [key_of(value) for value in inputs] + [key_of(), key_of(1, 2), key_of((1, 2)), key_of("12")]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("value", [object(), {1, 2}, [object()], np.array([object()]), print, 1j])
def test_values_of_other_types_are_rejected(tmp_path, value):
    with hc.checkpoints(tmp_path), pytest.raises(TypeError, match="key of a checkpoint cannot contain"):
        open_checkpoint("stage", value)


def test_a_state_of_another_type_is_rejected(eager, tmp_path):
    with hc.checkpoints(tmp_path), pytest.raises(TypeError, match="a checkpoint cannot hold a object"):
        open_checkpoint("stage").keep(value=object())


def test_a_damaged_state_is_computed_again(eager, krylov, tmp_path, caplog):
    run = partial(hc.RandomWalk, H)
    whole = run()
    with pytest.raises(StopError), hc.watching(stops_at(12)), hc.checkpoints(tmp_path):
        run()
    (state,) = [tmp_path / name for name in files(tmp_path) if "state" in name]
    state.write_bytes(b"no archive")
    with hc.checkpoints(tmp_path):
        assert bits(run()) == bits(whole)
    assert "damaged" in caplog.text


@pytest.mark.parametrize("where", ["a file", "below a file"])
def test_a_path_that_is_not_a_folder_is_rejected_before_any_work(tmp_path, where):
    taken = tmp_path / "taken"
    taken.write_text("")
    place = taken if where == "a file" else taken / "below"
    message = r"taken.*cannot be used as a folder for checkpoints \("
    with pytest.raises(hc.InputError, match=message), hc.checkpoints(place):
        pytest.fail("the body ran")


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_rejected(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(hc.InputError, match="cannot be written"), hc.checkpoints(tmp_path):
        pytest.fail("the body ran")


def test_a_full_disk_is_a_warning(eager, krylov, monkeypatch, tmp_path, caplog):
    whole = hc.cluster(H, 3)

    def full(file, array, **options):
        file.write(b"some of it")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(np, "save", full)
    with hc.checkpoints(tmp_path):
        assert bits(hc.cluster(H, 3)) == bits(whole)
    assert "No space left on device" in caplog.text
    assert [file.name for file in tmp_path.iterdir()] == ["HYPERCLUS.txt"]


def test_partial_files_of_killed_runs_are_deleted_later(tmp_path):
    old, new = tmp_path / ".hyperclus-0123456789abcdef.part", tmp_path / ".hyperclus-fedcba9876543210.part"
    for file in (old, new):
        file.write_bytes(b"half")
    long_ago = time.time() - 3600
    os.utime(old, (long_ago, long_ago))
    with hc.checkpoints(tmp_path):
        assert not old.exists()
        assert new.exists()  # another process may be writing it
    os.utime(new, (long_ago, long_ago))
    with hc.checkpoints(tmp_path):
        pass
    assert not new.exists()


def test_files_of_the_user_are_left_alone(tmp_path):
    notes, download = tmp_path / "README.txt", tmp_path / ".thesis.part"
    for file in (notes, download):
        file.write_text("three years of notes")
        os.utime(file, (0, 0))
    with hc.checkpoints(tmp_path):
        hc.cluster(H, 3)
    assert notes.read_text() == download.read_text() == "three years of notes"


# ---- real processes -----------------------------------------------------------------------------

TESTS = Path(__file__).parents[1]

PROGRAM = """
import hashlib, os, sys
import hyperclus as hc
from hyperclus._runtime.checkpoint import Pace, checkpoint_pace
from hyperclus.clustering.search_problem import EFFORTS, Effort
from support.strategies import random_hypergraph

eager = checkpoint_pace(Pace(0.0, 0.0, float("inf")))
in_lockstep, fsync = sys.argv[2] == "in lockstep", os.fsync

def say(word):
    print(word, flush=True)
    if in_lockstep:
        sys.stdin.readline()

os.fsync = lambda handle: (say("saving"), fsync(handle))
effort = Effort(6, 8, 4, 5.0, 5e5, first=EFFORTS["default"])
h = random_hypergraph(400, 300, 8, 0)
with eager, hc.watching(lambda step: say("step")), hc.checkpoints(sys.argv[1]):
    part = hc.cluster(h, 3, effort=effort)
print("done", part.ncut.hex(), hashlib.sha256(part.labels.tobytes()).hexdigest(), flush=True)
"""


def started(folder, how="freely"):
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(str, (TESTS, os.environ.get("PYTHONPATH", "")))),
    }
    command = [sys.executable, "-c", textwrap.dedent(PROGRAM), str(folder), how]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, **pipes, env=environment)


def finished(process):
    """Return the last line of a process and its number of steps."""
    with process:
        lines = process.stdout.read().splitlines()
    assert process.returncode == 0
    return lines[-1], lines.count("step")


def killed(process, word, number):
    """Kill a process with signal 9 at the n-th line that is this word; False if it finished before.

    The process waits for an answer to each line, so it is killed exactly there.
    """
    with process:
        for line in process.stdout:
            number -= line == f"{word}\n"
            if not number:
                process.kill()
                return True
            if not line.startswith("done"):
                process.stdin.write("\n")
                process.stdin.flush()
    assert process.returncode == 0
    return False


@pytest.mark.parametrize("word", ["step", "saving"])
def test_killed_repeatedly(tmp_path, word):
    answer, steps = finished(started(tmp_path / "undisturbed"))
    rng = np.random.default_rng(0)
    kills = 0
    for _ in range(4):
        number = int(rng.integers(steps // 4, steps // 2)) if word == "step" else int(rng.integers(15, 35))
        kills += killed(started(tmp_path / "killed", "in lockstep"), word, number)
    again, rest = finished(started(tmp_path / "killed"))
    assert kills > 1
    assert again == answer
    assert rest < 0.9 * steps
    if word == "saving":
        assert any(".part" in file.name for file in (tmp_path / "killed").iterdir())


def test_two_processes_share_a_folder(tmp_path):
    answer, _ = finished(started(tmp_path / "alone"))
    both = [started(tmp_path / "shared") for _ in range(2)]
    assert [finished(process)[0] for process in both] == [answer, answer]
    assert files(tmp_path / "shared") == files(tmp_path / "alone")
