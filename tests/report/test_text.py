"""The text form of a partition."""

from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np
import pytest

import hyperclus as hc
from hyperclus.clustering.partition import StoredPartition
from hyperclus.report.text import COLUMNS, partition_text
from support.strategies import random_hypergraph


@pytest.fixture(scope="module")
def part():
    return hc.cluster(random_hypergraph(60, 80, 5, seed=1), k=3)


def stored(part, n_vertices):
    """The same partition with its labels in files."""
    h = part.walk.hypergraph
    return StoredPartition(
        Path("labels"),
        n_vertices,
        h.n_edges,
        h.n_incidences,
        part.cut,
        part.eigenpairs,
        part.sizes,
        part.n_components,
        part.settings,
    )


def test_repr_and_notebook_have_the_same_text(part):
    text = partition_text(part)
    assert repr(part) == str(text)
    assert text.title == "Partition of 60 vertices into 3 clusters"
    html = part._repr_html_()
    for words in (text.title, text.ncut, text.bound, text.conductance, *COLUMNS, *chain(*text.rows)):
        assert words in repr(part)
        assert words in html


def test_rows_are_the_figures_of_the_clusters(part):
    rows = partition_text(part).rows
    assert [int(row[0]) for row in rows] == [0, 1, 2]
    assert [int(row[1]) for row in rows] == part.sizes.tolist()
    np.testing.assert_allclose([float(row[2]) for row in rows], part.cut.volumes, atol=5e-5)
    np.testing.assert_allclose([float(row[3]) for row in rows], part.cut.conductances, atol=5e-5)


def test_a_stored_partition_has_the_same_text(part):
    unknown = "not compared: hypergraphs in files are not shuffled; cluster a sample in memory"
    assert partition_text(stored(part, 60)) == replace(partition_text(part), chance=unknown, notes=[])
    assert "in no hyperedge, with label -1: 2 vertices" in partition_text(stored(part, 62)).notes
    assert "labels: labels" in stored(part, 60)._repr_html_()


def test_many_clusters_are_counted():
    text = partition_text(hc.evaluate(random_hypergraph(100, 80, 5, seed=2), np.arange(100) % 25))
    assert len(text.rows) == 20
    assert text.n_omitted == 5
    assert text.footer[0] == "... and 5 more"
    assert not any("more" in note for note in text.notes)


def test_notes_mention_isolated_vertices_components_and_small_clusters():
    edges = [["a", "b", "c"], ["b", "c", "d"], ["x", "y"], ["x", "y"]]
    h = hc.Hypergraph.from_edges(edges, vertex_ids=list("abcdxyz"), isolated="keep")
    assert partition_text(hc.cluster(h, k=2)).notes[-2:] == [
        "in no hyperedge, with label -1: 1 vertex",
        "the hypergraph has 2 connected components",
    ]
    labels = np.r_[0, np.ones(899, dtype=int)]
    small = hc.evaluate(random_hypergraph(900, 700, 5, seed=2), labels)
    (note,) = partition_text(small).notes
    assert note == "1 cluster holds less than 2.50 % of the volume; min_share rules such clusters out"
