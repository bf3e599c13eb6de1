"""The package as a whole: what importing it costs and brings."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import hyperclus as hc


def test_import_brings_no_optional_library():
    heavy = (
        "gensim sklearn pandas matplotlib polars pyarrow narwhals pooch tqdm typer rich scipy.sparse.linalg"
    )
    code = f"import sys, hyperclus; print([m for m in {heavy.split()!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_clustering_needs_neither_pandas_nor_scikit_learn():
    code = """
import sys
for name in ("gensim", "pandas", "sklearn", "matplotlib", "polars", "pyarrow"):
    sys.modules[name] = None
import hyperclus as hc
part = hc.cluster(hc.Hypergraph.from_table({"a": ["x", "x", "y", "y"], "b": [1, 1, 2, 1]}))
print(part.labels.tolist())
try:
    part.to_frame()
except hc.MissingLibraryError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "[0, 0, 1, 1]",
        "to_frame needs pandas: pip install 'hyperclus[pandas]'",
    ]


def test_public_names_exist_and_are_documented():
    for name in hc.__all__:
        assert getattr(hc, name).__doc__, name
    assert hc.__version__.count(".") == 2


def test_every_public_name_is_in_the_documentation():
    pages = [*(Path(__file__).parents[1] / "docs").rglob("*.md")]
    words = {word for page in pages for word in re.findall(r"\w+", page.read_text(encoding="utf-8"))}
    assert not {*hc.__all__, *hc.io.__all__} - words


def test_functions_have_the_names_of_their_package():
    for name in hc.io.__all__:
        assert not inspect.ismodule(getattr(hc.io, name)), name


def test_only_public_names_are_listed():
    assert dir(hc) == sorted(hc.__all__)
    assert len(hc.__all__) <= 48
    assert not [name for name in dir(hc) if name.startswith("_")]
    for internal in ("engines", "lazy_names", "TYPE_CHECKING", "typing", "_runtime", "report", "cli"):
        assert internal not in dir(hc)
    for room in (hc.spectral, hc.clustering, hc.research):
        assert all(getattr(room, name).__doc__ for name in dir(room))
    with pytest.raises(AttributeError, match="module 'hyperclus' has no attribute 'law'"):
        hc.law  # noqa: B018


def test_a_call_loads_only_what_it_uses():
    code = """
import sys, hyperclus as hc
hc.cluster([["a", "b"], ["b", "c"], ["c", "d"]])
others = "clustering.certificates clustering.model clustering.n_clusters io.tables io.attributes verification"
print([name for name in others.split() if f"hyperclus.{name}" in sys.modules], "scipy.special" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["[]", "False"]


def test_only_engines_in_use_are_loaded():
    code = """
import sys, hyperclus as hc
print([name for name in sys.modules if name.startswith("hyperclus.") and "engines" in name])
part = hc.cluster(hc.Hypergraph.from_edges([["a", "b"], ["b", "c"], ["c", "d"]]))
hc.hyperclus_g(part.walk.hypergraph), hc.suggest_k(part.walk.hypergraph), hc.local_cluster(part.walk, ["a"])
print([name for name in sys.modules if name.startswith(("hyperclus.engines.dask", "dask", "distributed"))])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "[]"]
