"""Sound checkpoint files with wrong content: they are computed again, and no figure comes from them."""

import logging
import math
import shutil
from functools import partial

import numpy as np
import pytest

import hyperclus as hc
from hyperclus._runtime.checkpoint import SUFFIX, Pace, _Folder, checkpoint_pace
from hyperclus.clustering.search_problem import EFFORTS, Effort
from hyperclus.spectral import stationary
from support.strategies import random_hypergraph

H, SMALL = random_hypergraph(40, 60, 5, 9), random_hypergraph(12, 10, 3, 8)
PACE = Pace(min_work=0.0, interval=0.0, max_share=math.inf)
THOROUGH = Effort(6, 8, 4, 5.0, 1e5, first=EFFORTS["default"])
IN_BATCHES = Effort(2, 2, 2, 5.0, 1e5, batched_from=(0, 0))
RUNS = {
    "by vertex": partial(hc.cluster, H, 3, effort=THOROUGH),
    "in batches": partial(hc.cluster, H, 3, effort=IN_BATCHES),
    "bound": partial(hc.cluster, SMALL, 2, effort="fast", bound="tight"),
    "number": partial(hc.suggest_k, SMALL, 3, shuffles=2),
}


class StopError(Exception):
    pass


@pytest.fixture(autouse=True)
def eager(monkeypatch):
    """Save at every opportunity; all solvers iterate."""
    monkeypatch.setattr(stationary, "ELIMINATION_UP_TO", 0)
    monkeypatch.setattr(stationary, "RESTART", 8)
    with checkpoint_pace(PACE):
        yield


def stops_at(number):
    left = iter(range(number - 1))

    def listener(step):
        if next(left, None) is None:
            raise StopError

    return listener


def stopped(run, folder, share):
    """Stop a run after a share of its steps; its checkpoints stay."""
    steps = []
    with hc.watching(steps.append):
        run()
    with pytest.raises(StopError), hc.watching(stops_at(int(share * len(steps)))), hc.checkpoints(folder):
        run()


def changed(value):
    """Values that this one may be replaced by, all of them wrong."""
    yield from (None, "x", [], -1e9, math.nan)
    if isinstance(value, np.ndarray):
        yield from (value[:-1], value.astype(complex), np.zeros(3), value[..., None])
        yield np.full_like(value, -7)
        yield (value + 50).astype(value.dtype)
        if value.dtype.kind == "f":
            yield np.full_like(value, np.nan)
        else:
            yield np.zeros_like(value)


def forgeries(path):
    """Change one value after the other, or leave it out; each file has the right digest."""
    opened, name = _Folder(path.parent, PACE, None), path.name.removesuffix(SUFFIX)
    values, rng_state = opened.load(name)
    rng = None
    if rng_state is not None:
        rng = np.random.default_rng()
        rng.bit_generator.state = rng_state
        opened.save(name, values, None)
        yield "no generator"
    for key, value in values.items():
        opened.save(name, {other: one for other, one in values.items() if other != key}, rng)
        yield f"no {key}"
        for number, wrong in enumerate(changed(value)):
            opened.save(name, {**values, key: wrong}, rng)
            yield f"{key}: {number}"
    opened.save(name, {**values, "more": 1}, rng)
    yield "one more"


def check(h, found, expected):
    """The NCut is that of the labels, and no bound is above an NCut that is known."""
    if isinstance(found, hc.Partition):
        assert found.ncut == pytest.approx(hc.evaluate(h, found.labels).ncut, rel=1e-6)
        assert 0 <= found.lower_bound <= expected.ncut * (1 + 1e-9)
        assert found.k == expected.k
        return
    for one, other in zip(found.candidates, expected.candidates, strict=True):
        assert 0 <= one.lower_bound <= other.ncut * (1 + 1e-9)
        assert one.ncut == pytest.approx(other.ncut, rel=0.1)


@pytest.mark.parametrize(
    ("name", "share", "files"),
    [
        ("by vertex", 0.1, "stationary*"),
        ("by vertex", 0.5, "*"),
        ("by vertex", 1.0, "*"),
        ("in batches", 0.5, "*"),
        ("in batches", 1.0, "search*"),
        ("bound", 1.0, "bound*"),
        ("number", 1.0, "search*"),
    ],
)
def test_a_forged_checkpoint_changes_no_figure(tmp_path, caplog, name, share, files):
    run = RUNS[name]
    expected, kept = run(), tmp_path / "kept"
    stopped(run, kept, share)
    for path in sorted(kept.glob(f"{files}{SUFFIX}"))[:4]:
        offset = len(path.name) % 7  # a seventh of them, because there are many
        for number, what in enumerate(forgeries(path)):
            if number % 7 == offset:
                work = shutil.copytree(kept, tmp_path / "work", dirs_exist_ok=False)
                try:
                    with hc.checkpoints(work):
                        found = run()
                    check(run.args[0], found, expected)
                except Exception as error:
                    error.add_note(f"{path.name}: {what}")
                    raise
                shutil.rmtree(work)
    assert "is damaged; it is deleted and computed again" in caplog.text
    assert not [record for record in caplog.records if record.levelno > logging.WARNING]
