"""Kernels run as plain Python or compiled, with the same result, from any thread."""

import importlib
import math
import sys
import threading
from pathlib import Path
from types import FunctionType

import numpy as np
import pytest

from hyperclus._runtime import jit
from hyperclus._runtime.jit import compile_from, kernels, specialized

MODULE = """
import numpy as np
from typing import NamedTuple
from hyperclus._runtime.jit import inner_kernel, kernel

executions.append(__name__)
FACTOR = 3.0
OFFSET = 0.0


class Pair(NamedTuple):
    values: np.ndarray
    total: np.ndarray


@inner_kernel
def square(value):
    return scaled(value) * value + OFFSET


@inner_kernel
def scaled(value, by=FACTOR):
    return by * value


@kernel
def add_squares(pair):
    for value in pair.values:
        pair.total[0] += square(value)


@kernel
def added(values):
    total = np.zeros(1)
    add_squares(Pair(values, total))
    return total[0]
"""


@pytest.fixture
def load(tmp_path, monkeypatch):
    """Write and import a module of kernels; returns it, and the list of executions."""
    executions = []
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr("builtins.executions", executions, raising=False)

    def loaded(name, text=MODULE):
        (tmp_path / f"{name}.py").write_text(text)
        importlib.invalidate_caches()
        return importlib.import_module(name), executions

    yield loaded
    for name in ("some_kernels", "other_kernels"):
        sys.modules.pop(name, None)
        jit._compiled.pop(name, None)
        jit._kernels.pop(name, None)


def test_plain_and_compiled_give_the_same_bits(load):
    module, executions = load("some_kernels")
    values = np.random.default_rng(0).random(100)
    plain, compiled = kernels(module, 10), kernels(module, math.inf)
    assert plain is module
    assert isinstance(plain.added, FunctionType)
    assert compiled.added(values) == plain.added(values)
    assert compiled.added.signatures  # it was really compiled
    assert executions == ["some_kernels"]
    assert isinstance(module.square, FunctionType)


PARTS = """
from hyperclus._runtime.jit import inner_kernel


@inner_kernel
def square(value):
    return 2.0 * value
"""


def test_loops_take_the_inner_kernels_of_another_module(load):
    loops, _ = load("some_kernels")
    parts, _ = load("other_kernels", PARTS)
    values = np.arange(5.0)
    before, made = loops.added(values), specialized(loops, parts)
    assert specialized(loops, parts) is made
    assert kernels(made, 1).added(values) == kernels(made, math.inf).added(values) == 20.0
    assert kernels(made, math.inf).added.signatures
    assert loops.added(values) == before == 90.0  # the loops themselves are as they were


def test_a_patched_constant_is_never_compiled(load, monkeypatch):
    """It would stay in the cache on disk."""
    module, _ = load("some_kernels")
    monkeypatch.setattr(module, "FACTOR", 0.0)
    monkeypatch.setattr(module, "OFFSET", 1.0)
    assert kernels(module, math.inf).added(np.ones(3)) == 9.0


def test_compiled_once_there_is_enough_work(load):
    module, _ = load("some_kernels")
    assert kernels(module, jit.COMPILE_FROM - 1) is module
    compiled = kernels(module, jit.COMPILE_FROM)
    assert compiled is not module
    assert kernels(module, 1) is compiled
    with compile_from(math.inf):
        assert kernels(module, 1e9) is module
        with compile_from(0):
            assert kernels(module, 0) is compiled
    assert kernels(module, 1) is compiled


def test_a_module_imported_by_another_thread_meanwhile_stays_plain(load, monkeypatch):
    import numba

    module, _ = load("some_kernels")
    imported, njit = [], numba.njit

    def slow_njit(*args, **options):
        thread = threading.Thread(target=lambda: imported.append(load("other_kernels")[0]))
        thread.start()
        thread.join()
        return njit(*args, **options)

    monkeypatch.setattr(numba, "njit", slow_njit)
    kernels(module, math.inf)
    assert all(isinstance(other.added, FunctionType) for other in imported)
    assert imported


def test_many_threads_compile_once(load):
    module, executions = load("some_kernels")
    values, found = np.arange(10.0), []
    barrier = threading.Barrier(8)

    def run():
        barrier.wait()
        loops = kernels(module, math.inf)
        found.append((id(loops), loops.added(values)))

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(found) == {(id(kernels(module, 0)), module.added(values))}
    assert len(found) == 8
    assert executions == ["some_kernels"]


def test_compiled_code_is_cached_on_disk(load):
    module, _ = load("some_kernels")
    added = kernels(module, math.inf).added
    added(np.ones(3))
    assert list(Path(added.stats.cache_path).glob("some_kernels.added*.nbi"))


def test_no_folder_for_the_cache_is_a_warning(load, monkeypatch, caplog):
    import numba

    module, _ = load("some_kernels")
    njit = numba.njit

    def uncached(*args, cache=False, **options):
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return njit(*args, **options)

    monkeypatch.setattr(numba, "njit", uncached)
    assert kernels(module, math.inf).added(np.ones(3)) == 9.0
    assert "NUMBA_CACHE_DIR" in caplog.text
