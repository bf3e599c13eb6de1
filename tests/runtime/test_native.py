"""Kernels refuse what they would misread, run beside other threads, and are missing with one sentence."""

import os
import shutil
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hyperclus
from hyperclus._runtime.native import INDICES, Kernel, Record
from hyperclus.engines.dask.blocks import point_to_roots, unite
from hyperclus.errors import HyperclusError
from support.hostile import sentences

dips = Kernel("dips", "floats", "int", "float", "integers", returns="int")
sums = Kernel(
    *("sums", "indices", "indices", "floats", "floats", "floats", "bool", "bool"),
    *("integers", "int", "int", "int"),
)


@dataclass(frozen=True, eq=False)
class Rows(Record):
    KINDS: ClassVar = ("indices", "indices", "floats", "int")
    indptr: np.ndarray
    indices: np.ndarray
    values: np.ndarray
    count: int


RECORD = {"indptr": np.arange(3), "indices": np.arange(2), "values": np.ones(2), "count": 2}


class TestArguments:
    @pytest.mark.parametrize(
        "levels",
        [
            np.ones(4, dtype=np.float32),
            np.ones(4, dtype=np.int64),
            np.ones(8)[::2],
            np.ones((2, 4), order="F"),
            np.ones(4, dtype=">f8"),
            np.ones(4, dtype=complex),
        ],
    )
    def test_other_arrays_are_refused(self, levels):
        with pytest.raises(TypeError, match="contiguous floats"):
            dips(levels, 4, 1.05, np.zeros(4, dtype=np.int64))

    def test_other_scalars_are_refused(self):
        places = np.zeros(4, dtype=np.int64)
        for given_values in ((np.ones(4), 4.0, 1.05, places), (np.ones(4), 4, "1", places)):
            with pytest.raises(Exception, match=r"argument|type"):
                dips(*given_values)
        with pytest.raises(ValueError, match="shorter"):
            dips(np.ones(4), 4, 1.05)

    def test_short_integers_are_not_integers(self):
        with pytest.raises(TypeError, match="contiguous integers"):
            point_to_roots(np.arange(4, dtype=np.int32), 4)
        with pytest.raises(TypeError, match="contiguous codes"):
            unite(np.arange(4), np.arange(4), 4, *(np.arange(4),) * 3)

    def test_indices_of_two_types_are_refused(self):
        given_values = (np.ones(3), np.ones(3), np.ones(3), True, True, np.array([0, 3]), 0, 1, 1)
        with pytest.raises(TypeError, match="sums needs indices of one type"):
            sums(np.arange(3), np.arange(3, dtype=np.int32), *given_values)
        with pytest.raises(TypeError, match="contiguous indices"):
            sums(np.arange(3.0), np.arange(3), *given_values)

    @pytest.mark.parametrize(
        ("changed", "message"),
        [
            ({"indices": np.arange(2, dtype=np.int32)}, "Rows needs indices of one type"),
            ({"indices": np.arange(2, dtype=np.uint64)}, "contiguous indices"),
            ({"values": np.ones(4)[::2]}, "contiguous floats"),
            ({"values": np.ones(2, dtype=int)}, "contiguous floats"),
        ],
    )
    def test_of_records(self, changed, message):
        Rows(**RECORD)
        with pytest.raises(TypeError, match=message):
            Rows(**{**RECORD, **changed})

    def test_records_of_two_types_are_refused(self):
        short = {name: np.arange(2, dtype=np.int32) for name in ("indptr", "indices")}
        with pytest.raises(TypeError, match="push needs indices of one type"):
            Kernel("push", "record", "record")(Rows(**RECORD), Rows(**{**RECORD, **short}))


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 7)), min_size=1), st.booleans(), st.booleans())
def test_both_types_of_indices_give_the_definition(pairs, weighted, in_runs):
    to, of = np.array(pairs).T.copy()
    gamma, values = 1.0 + np.arange(len(to)), 1.0 / (1 + np.arange(8))
    expected = np.zeros(6)
    np.add.at(expected, to, (gamma if weighted else 1.0) * values[of])
    found = []
    for kind in INDICES:
        out = np.zeros(6)
        indices = to.astype(kind), of.astype(kind)
        sums(*indices, gamma, values, out, weighted, in_runs, np.array([0, len(to)]), 0, 1, 1)
        found.append(out.tolist())
    assert found[0] == found[1]
    np.testing.assert_allclose(found[0], expected, rtol=1e-12)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9)), min_size=1))
def test_union_find_is_the_definition(pairs):
    edges, members = np.array(pairs, dtype=np.int32).T.copy()
    parent = np.arange(10)
    unite(edges, members, len(edges), np.arange(10), np.full(6, -1), parent)
    point_to_roots(parent, 10)
    smallest = list(range(10))  # of the component of each vertex
    for _ in range(10):
        for edge in range(6):
            inside = members[edges == edge].tolist()
            for vertex in inside:
                smallest[vertex] = min(smallest[other] for other in inside)
    assert parent.tolist() == smallest


def test_other_threads_run_meanwhile():
    """Threads do not take turns here, so this one runs during the kernel only if that releases the lock."""
    parent, interval = np.arange(1 << 21), sys.getswitchinterval()
    sys.setswitchinterval(1e6)
    try:
        assert any(_ran_during_kernel(parent) for _ in range(200))
    finally:
        sys.setswitchinterval(interval)


def _ran_during_kernel(parent):
    began, ended = threading.Event(), []

    def work():
        began.set()
        point_to_roots(parent, len(parent))
        ended.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    began.wait()
    ran = not ended
    thread.join()
    return ran


class TestMissing:
    def test_a_kernel_of_another_version(self):
        with pytest.raises(HyperclusError, match=r"no_such_kernel.*hatch_build\.py") as caught:
            Kernel("no_such_kernel", "int")(1)
        assert isinstance(caught.value, ImportError)

    @pytest.mark.parametrize("content", [None, b"", b"not a library\n" * 1000])
    def test_the_command_line_says_one_sentence(self, tmp_path, content):
        package = Path(hyperclus.__file__).parent
        copy = shutil.copytree(package, tmp_path / "hyperclus", ignore=shutil.ignore_patterns("__pycache__"))
        library = copy / "_native" / "kernels.lib"
        library.unlink()
        if content is not None:
            library.write_bytes(content)
        (tmp_path / "t.csv").write_text("vertex,edge\na,1\nb,1\nb,2\nc,2\n")
        environment = {**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(
            [sys.executable, "-m", "hyperclus", "local", "t.csv", "--seed", "a", "-q"],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == 1
        assert done.stdout == ""
        (sentence,) = sentences(done.stderr)
        assert "the compiled part of hyperclus cannot be loaded" in sentence
        assert "pip install --force-reinstall" in sentence


class TestBuild:
    """What `python hatch_build.py` says where it cannot compile; the library stays as it was."""

    @pytest.mark.parametrize(
        ("variables", "message"),
        [
            ({"CXX": "no-such-compiler -O2"}, "CXX is 'no-such-compiler', which is not found"),
            ({"CXX": "false"}, "hyperclus cannot be compiled: false -x c++"),
            ({"PATH": "", "CXX": ""}, "there is no C++ compiler; install one, or 'pip install ziglang'"),
        ],
    )
    def test_it_cannot(self, tmp_path, variables, message):
        root = Path(hyperclus.__file__).parents[2]
        for path in ("hatch_build.py", "src/hyperclus/_native/library.cc"):
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / path, tmp_path / path)
        native = tmp_path / "src" / "hyperclus" / "_native"
        (native / "kernels.lib").write_text("earlier")
        done = subprocess.run(
            [sys.executable, "-S", str(tmp_path / "hatch_build.py")],
            env={**os.environ, "PYTHONPATH": "", **variables},
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == 1
        assert message in done.stderr
        assert "Traceback" not in done.stderr
        assert sorted(path.name for path in native.iterdir()) == ["kernels.lib", "library.cc"]
        assert (native / "kernels.lib").read_text() == "earlier"
