"""The pictures for notebooks: what is drawn where, and text from the data that does no harm."""

import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")

from matplotlib import pyplot as plt

import hyperclus as hc
from support.paper_data import paper_hypergraph

KINDS = ("embedding", "spectrum", "sweep", "incidence")


@pytest.fixture(autouse=True)
def no_figure_is_left():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def zoo():
    return hc.cluster(paper_hypergraph("zoo")[0], k=3)


def draw(part, kind, *arguments, **options):
    return getattr(part, f"plot_{kind}")(*arguments, **options)


@pytest.mark.parametrize("kind", KINDS)
def test_axes_in_and_out(zoo, kind):
    _, ax = plt.subplots()
    assert draw(zoo, kind, ax) is ax
    assert ax.get_title()
    assert ax.get_xlabel()
    ax.figure.canvas.draw()


@pytest.mark.parametrize("kind", KINDS)
def test_without_axes_there_is_a_new_figure(zoo, kind):
    before = plt.figure()
    assert draw(zoo, kind).figure is not before


def test_every_vertex_is_a_point_in_the_colour_of_its_cluster(zoo):
    ax = zoo.plot_embedding()
    groups = ax.collections
    assert [len(group.get_offsets()) for group in groups] == zoo.sizes.tolist()
    assert len({tuple(group.get_facecolor()[0]) for group in groups}) == 3
    expected = zoo.eigenpairs.vectors[zoo.labels == 0, 1] / np.sqrt(zoo.walk.stationary[zoo.labels == 0])
    np.testing.assert_allclose(groups[0].get_offsets()[:, 0], expected, atol=1e-9)


def test_other_eigenvectors_may_be_drawn(zoo):
    ax = zoo.plot_embedding(axes=(3, 2))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("eigenvector 3", "eigenvector 2")
    for wrong in (1, 99, "two", True):
        with pytest.raises(hc.InputError, match="eigenvectors from 2 to"):
            zoo.plot_embedding(axes=(2, wrong))


def test_options_reach_matplotlib(zoo):
    assert zoo.plot_embedding(marker="x", s=3, color="k").collections[0].get_sizes().tolist() == [3]
    assert zoo.plot_sweep(linewidth=7).lines[0].get_linewidth() == 7
    assert zoo.plot_spectrum(marker="s").lines[0].get_marker() == "s"
    assert zoo.plot_incidence(cmap="Reds").collections[0].get_cmap().name == "Reds"


def test_the_sweep_marks_its_lowest_cut_and_the_clusters_of_two():
    part = hc.cluster(paper_hypergraph("zoo")[0], k=2)
    ax = part.plot_sweep()
    ncut, _, lowest, answer = ax.lines
    assert lowest.get_ydata()[0] == min(ncut.get_ydata())
    assert set(answer.get_ydata()) == {part.ncut}


def test_the_spectrum_has_all_known_eigenvalues(zoo):
    np.testing.assert_array_equal(zoo.plot_spectrum().lines[0].get_ydata(), zoo.eigenvalues)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [1, 2, 13])
def test_any_number_of_clusters(kind, k):
    edges = [[i, i + 1, (i + 7) % 20] for i in range(19)]
    ax = draw(hc.cluster(hc.Hypergraph.from_edges(edges), k=k, effort="fast"), kind)
    ax.figure.canvas.draw()


@pytest.mark.parametrize("kind", KINDS)
def test_components_and_isolated_vertices(kind):
    h = hc.Hypergraph.from_edges([["a", "b"], ["c", "d"]], vertex_ids=list("abcdx"), isolated="keep")
    draw(hc.cluster(h), kind).figure.canvas.draw()


def test_few_vertices_and_hyperedges_have_their_names():
    names = ["ann", "$x_", "bob\u202e", "c" * 100]
    h = hc.Hypergraph.from_edges({("met", i): [names[i], names[(i + 1) % 4]] for i in range(3)})
    part = hc.cluster(h)
    drawn = ", ".join(text.get_text() for text in part.plot_embedding().texts).split(", ")
    assert sorted(drawn) == sorted(["ann", "$x_", "bob\ufffd", "c" * 17 + "\u2026" + "c" * 6])
    ax = part.plot_incidence()
    assert sorted(text.get_text() for text in ax.get_xticklabels()) == sorted(drawn)
    assert sorted(text.get_text() for text in ax.get_yticklabels()) == ["met = 0", "met = 1", "met = 2"]
    ax.figure.canvas.draw()


def test_names_at_one_place_stand_in_a_row():
    h = hc.Hypergraph.from_edges([["a", "b", "c"], ["c", "d"], ["d", "e", "f"]])
    ax = hc.cluster(h).plot_embedding()
    assert {"a, b", "e, f"} <= {text.get_text() for text in ax.texts}


def test_many_have_none(zoo):
    assert not zoo.plot_embedding().texts
    ax = zoo.plot_incidence()
    assert [text.get_text() for text in ax.get_xticklabels()] == ["0", "1", "2"]
    assert not ax.get_yticklabels()


def test_a_cut_is_after_a_whole_number_of_vertices():
    ax = hc.cluster(hc.Hypergraph.from_edges([["a", "b"], ["b", "c"], ["c", "d"]])).plot_sweep()
    assert all(place == round(place) for place in ax.get_xticks())


def test_the_eigenvalue_0_is_drawn_whole(zoo):
    ax = zoo.plot_spectrum()
    assert ax.get_ylim()[0] < 0 <= zoo.eigenvalues[0] + 1e-9


def test_a_single_vertex_has_no_sweep():
    part = hc.cluster(hc.Hypergraph.from_edges([["a"]]), k=1)
    with pytest.raises(hc.InputError, match="single vertex"):
        part.plot_sweep()
    for kind in ("embedding", "spectrum", "incidence"):
        draw(part, kind).figure.canvas.draw()


def test_without_matplotlib_one_sentence_says_so():
    code = """
import sys
sys.modules["matplotlib"] = None
import hyperclus as hc
try:
    hc.cluster(hc.Hypergraph.from_edges([["a", "b"], ["b", "c"]])).plot_spectrum()
except hc.MissingLibraryError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "a plot needs Matplotlib: pip install 'hyperclus[plots]'"


def test_notebooks_show_tables(zoo):
    shown = zoo._repr_html_()
    assert shown.count("<tr>") == 1 + zoo.k
    assert f"{zoo.ncut:.6g}" in shown
    hypergraph = paper_hypergraph("zoo")[0]._repr_html_()
    assert "hair = 1" in hypergraph
    assert "and 31 more hyperedges" in hypergraph


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", '"onload=', "\ud800", "\u202e", "x" * 10_000])
def test_names_in_notebooks_are_only_text(name):
    h = hc.Hypergraph.from_edges({name: [name, "b"], (name, 1): ["b", "c"]})
    shown = h._repr_html_()
    assert "<script" not in shown
    assert len(shown) < 5000
    shown.encode()
    assert shown.count("<bdi>") == shown.count("</bdi>")
