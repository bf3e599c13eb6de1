"""Files and the mixture of a walk with attributes: kept by .npz, and never lost without a warning."""

from dataclasses import replace

import numpy as np
import pytest

import hyperclus as hc
from hyperclus.errors import InputError, LossWarning
from hyperclus.hypergraph.mixture import Mixture

LOST = "cannot hold .*the share beta of the steps by attributes"


@pytest.fixture
def mixed():
    h = hc.Hypergraph.from_edges([[0, 1], [1, 2], [3, 4], [4, 5], [2, 3]], vertex_ids=range(6))
    return hc.clustering.with_attributes(h, np.array([[0.0], [1.0], [2.0], [9.0], [8.0], [7.5]]), 0.25)


def test_an_archive_keeps_the_mixture(mixed, tmp_path):
    hc.write(mixed, tmp_path / "h.npz")
    again = hc.read(tmp_path / "h.npz")
    assert again.mixture == mixed.mixture == Mixture(6, 0.25)
    assert again.content_key() == mixed.content_key()
    assert again.edge_ids.tolist() == mixed.edge_ids.tolist()


@pytest.mark.parametrize("name", ["h.json", "h.csv", "h.tsv.gz", "h.parquet", "h.hgr", "h.mtx"])
def test_other_files_warn_that_it_is_lost(mixed, tmp_path, name):
    numbered = replace(mixed, edge_ids=np.arange(mixed.n_edges))
    with pytest.warns(LossWarning, match=LOST) as caught:
        hc.write(numbered, tmp_path / name)
    assert len(caught) == 1
    assert hc.read(tmp_path / name).mixture is None
    if name.endswith((".csv", ".parquet", ".json")):
        assert "write .npz to keep" in str(caught[0].message)


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.array([6.0]), "number of neighbourhoods and beta"),
        (np.array([6.0, np.nan]), "number of neighbourhoods and beta"),
        (np.array([np.inf, 0.5]), "number of neighbourhoods and beta"),
        (np.array([6, 1]), "must be one-dimensional and of type <f8"),
        (np.array([[6.0, 0.5]]), "must be one-dimensional"),
        (np.array([6.5, 0.5]), "n_neighborhoods must be"),
        (np.array([0.0, 0.5]), "n_neighborhoods must be"),
        (np.array([6.0, 1.0]), "beta must be between 0 and 1"),
        (np.array([11.0, 0.5]), "of 11 hyperedges, 11 cannot be neighbourhoods"),
        (np.array([1e300, 0.5]), "cannot be neighbourhoods"),
    ],
)
def test_a_forged_mixture_is_refused(mixed, tmp_path, array, words):
    path = tmp_path / "h.npz"
    hc.write(mixed, path)
    with np.load(path) as archive:
        arrays = dict(archive)
    np.savez(path, **{**arrays, "mixture": array})
    with pytest.raises(InputError, match=words):
        hc.read(path)
