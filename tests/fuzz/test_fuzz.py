"""The fuzzer itself: its targets on their corpus, and what it takes for a finding."""

import random
import resource
from types import SimpleNamespace

import pytest

import hyperclus as hc
from fuzz import run
from fuzz.targets import TARGETS, seeds


@pytest.mark.filterwarnings("ignore::hyperclus.errors.LossWarning")
@pytest.mark.parametrize("name", TARGETS)
def test_a_target_on_its_corpus_and_a_few_changes(tmp_path, name):
    rng, pool = random.Random(7), seeds(name)
    for data in [*rng.sample(pool, min(len(pool), 30)), *(run.mutated(rng, pool) for _ in range(30))]:
        TARGETS[name](tmp_path, data)


def test_an_exception_that_is_not_of_hyperclus_is_a_finding(tmp_path, monkeypatch):
    def fail(*_, **__):
        raise KeyError("inside a reader")

    monkeypatch.setattr(hc, "read", fail)
    with pytest.raises(KeyError):
        run.guarded(TARGETS["hif"], tmp_path, b"0123{}")
    assert (tmp_path / "input").read_bytes() == b"0123{}"


def test_a_refusal_is_no_finding(tmp_path):
    run.guarded(TARGETS["hif"], tmp_path, b"0123{}")


def test_memory_beyond_the_limit_is_a_finding(tmp_path, monkeypatch):
    usage = iter([0, 2 << 20])  # kilobytes, as Linux counts
    monkeypatch.setattr(resource, "getrusage", lambda _: SimpleNamespace(ru_maxrss=next(usage)))
    with pytest.raises(run.Finding, match="GB of memory"):
        run.guarded(lambda *_: None, tmp_path, b"")


def test_a_wrong_bound_is_a_finding(tmp_path, monkeypatch):
    found = hc.cluster

    def wrong(*args, **options):
        part = found(*args, **options)
        return SimpleNamespace(labels=part.labels, ncut=part.ncut, lower_bound=99.0)

    monkeypatch.setattr(hc, "cluster", wrong)
    with pytest.raises(AssertionError, match="optimum"):
        TARGETS["cluster"](tmp_path, seeds("cluster")[0])
