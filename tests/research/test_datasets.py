"""The data sets of the paper: its weights, and how clusters are rebuilt."""

from functools import cache

import numpy as np
import pytest

import hyperclus as hc
from hyperclus.research import datasets
from support import paper_data
from support.paper_data import SIZES

loaded = cache(datasets.load)


def test_names_are_the_papers():
    assert datasets.names() == tuple(SIZES)


@pytest.mark.parametrize("name", SIZES)
def test_sizes_are_the_papers(name):
    data = loaded(name)
    h = data.hypergraph
    assert (h.n_vertices, h.n_edges, h.n_incidences) == SIZES[name]
    assert data.k == len(set(data.classes.tolist()))
    assert {len(values) for values in data.table.values()} == {len(data.classes)} == {h.n_vertices}
    assert f"Dataset('{name}', k={data.k}, Hypergraph(" in repr(data)


@pytest.mark.parametrize("name", SIZES)
def test_hypergraphs_equal_those_from_the_extracts(name):
    ours = loaded(name).hypergraph
    theirs, _, _ = paper_data.paper_hypergraph(name)
    assert np.array_equal(ours.gamma.indptr, theirs.gamma.indptr)
    assert np.array_equal(ours.gamma.indices, theirs.gamma.indices)
    assert np.array_equal(ours.gamma.data, theirs.gamma.data)
    assert [str(value) for _, value in ours.edge_ids] == [str(value) for _, value in theirs.edge_ids]


@pytest.mark.parametrize("name", ["zoo", "letter", "digit"])
def test_reweigh_rebuilds_the_hypergraph_of_a_cluster(name):
    data = loaded(name)
    vertices = np.flatnonzero(np.arange(len(data.classes)) % 7 < 2)
    inside = {column: values[vertices] for column, values in data.table.items()}
    rebuilt = hc.class_counts(hc.Hypergraph.from_table(inside, bins=None), data.classes[vertices])
    ours = data.reweigh(data.hypergraph.restrict(vertices), vertices)
    order = np.array([rebuilt.edge_ids.tolist().index(edge) for edge in ours.edge_ids.tolist()])
    assert ours.n_edges == rebuilt.n_edges
    assert (rebuilt.gamma[order] != ours.gamma).nnz == 0


def test_reweigh_leaves_equal_rows_together():
    data = loaded("zoo")
    rows = np.stack(list(data.table.values()), axis=1)
    twins = np.flatnonzero((rows == rows[0]).all(axis=1))
    assert len(twins) > 1
    assert data.reweigh(data.hypergraph.restrict(twins), twins) is None


def test_a_data_set_has_all_that_cluster_needs():
    data = loaded("zoo")
    part = hc.hyperclus_g(data.hypergraph, data.k, strategy=data.strategy, reweigh=data.reweigh)
    assert part.ncut == pytest.approx(5.1386, abs=1e-4)


def test_other_data_sets_are_not_of_the_paper():
    with pytest.raises(hc.InputError, match=r"name must be 'mushroom', .* or 'digit', not 'cora'"):
        datasets.load("cora")
