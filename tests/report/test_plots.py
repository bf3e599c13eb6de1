"""What the plots draw, and where."""

import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")

from matplotlib import pyplot as plt

import hyperclus as hc
from hyperclus.clustering.n_clusters import Candidate, Suggestion
from hyperclus.report import colours
from support.paper_data import paper_hypergraph

KINDS = ("embedding", "spectrum", "sweep", "incidence")


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def zoo():
    return hc.cluster(paper_hypergraph("zoo")[0], k=3)


def draw(part, kind, *arguments, **options):
    return getattr(part, f"plot_{kind}")(*arguments, **options)


@pytest.mark.parametrize("kind", KINDS)
def test_plots_return_the_given_axes(zoo, kind):
    _, ax = plt.subplots()
    assert draw(zoo, kind, ax) is ax
    assert ax.get_title()
    assert ax.get_xlabel()
    ax.figure.canvas.draw()


@pytest.mark.parametrize("kind", KINDS)
def test_without_axes_a_new_figure_is_made(zoo, kind):
    before = plt.figure()
    assert draw(zoo, kind).figure is not before


def test_vertices_have_the_colour_of_their_cluster(zoo):
    ax = zoo.plot_embedding()
    groups = ax.collections
    assert [len(group.get_offsets()) for group in groups] == zoo.sizes.tolist()
    assert len({tuple(group.get_facecolor()[0]) for group in groups}) == 3
    expected = zoo.eigenpairs.vectors[zoo.labels == 0, 1] / np.sqrt(zoo.walk.stationary[zoo.labels == 0])
    np.testing.assert_allclose(groups[0].get_offsets()[:, 0], expected, atol=1e-9)


def test_axes_choose_eigenvectors(zoo):
    ax = zoo.plot_embedding(axes=(3, 2))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("eigenvector 3", "eigenvector 2")
    for wrong in (1, 99, "two", True):
        with pytest.raises(hc.InputError, match="must be eigenvectors from 2 to"):
            zoo.plot_embedding(axes=(2, wrong))


def test_options_reach_matplotlib(zoo):
    assert zoo.plot_embedding(marker="x", s=3, color="k").collections[0].get_sizes().tolist() == [3]
    assert zoo.plot_sweep(linewidth=7).lines[0].get_linewidth() == 7
    assert zoo.plot_spectrum(marker="s").lines[0].get_marker() == "s"
    assert zoo.plot_incidence(cmap="Reds").collections[0].get_cmap().name == "Reds"


def test_the_sweep_marks_the_lowest_ncut_and_that_of_two_clusters():
    part = hc.cluster(paper_hypergraph("zoo")[0], k=2)
    ax = part.plot_sweep()
    ncut, _, lowest, answer = ax.lines
    assert lowest.get_ydata()[0] == min(ncut.get_ydata())
    assert set(answer.get_ydata()) == {part.ncut}


def test_the_spectrum_has_the_converged_eigenvalues(zoo):
    np.testing.assert_array_equal(zoo.plot_spectrum().lines[0].get_ydata(), zoo.eigenvalues)


@pytest.fixture(scope="module", params=[1, 2, 13])
def ring(request):
    """20 vertices in a ring, cut into 1, 2 or 13 clusters."""
    edges = [[i, i + 1, (i + 7) % 20] for i in range(19)]
    return hc.cluster(hc.Hypergraph.from_edges(edges), k=request.param, effort="fast")


def test_the_embedding_has_a_group_of_points_for_each_cluster(ring):
    ax = ring.plot_embedding()
    assert [len(group.get_offsets()) for group in ax.collections] == ring.sizes.tolist()
    numbered = [text.get_text() for text in ax.get_legend().get_texts()]
    assert numbered == [f"cluster {cluster}" for cluster in range(ring.k)]
    ax.figure.canvas.draw()


def test_the_spectrum_marks_the_gap_after_k(ring):
    ax = ring.plot_spectrum()
    values = np.concatenate([line.get_ydata() for line in ax.lines])
    assert len(values) >= max(ring.k, 2)
    (band,) = ax.collections or (None,)
    if len(values) > ring.k:
        (path,) = band.get_paths()
        assert (path.vertices[:, 0].min(), path.vertices[:, 0].max()) == (ring.k, ring.k + 1)
        assert f"the gap after {ring.k} is" in ax.get_title()
    else:
        assert band is None
        assert ax.get_title() == "eigenvalues"
    ax.figure.canvas.draw()


def test_the_sweep_has_a_cut_after_each_vertex_but_the_last(ring):
    ax = ring.plot_sweep()
    assert len(ax.lines) == (4 if ring.k == 2 else 3)
    for line in ax.lines[:2]:
        assert line.get_xdata().tolist() == list(range(1, 20))
    assert (ax.lines[0].get_ydata() >= ax.lines[1].get_ydata() - 1e-12).all()  # NCut is at least conductance
    ax.figure.canvas.draw()


def test_the_incidence_matrix_has_lines_between_clusters(ring):
    ax = ring.plot_incidence()
    cells = ax.collections[0].get_array().reshape(19, 20)
    assert np.count_nonzero(cells) == ring.walk.hypergraph.n_incidences
    upright = sorted(line.get_xdata()[0] for line in ax.lines if len(set(line.get_xdata())) == 1)
    assert upright == np.cumsum(ring.sizes)[:-1].tolist()
    ax.figure.canvas.draw()


def test_isolated_vertices_are_not_plotted():
    h = hc.Hypergraph.from_edges([["a", "b"], ["c", "d"]], vertex_ids=list("abcdx"), isolated="keep")
    part = hc.cluster(h)
    embedding = part.plot_embedding()
    assert [len(group.get_offsets()) for group in embedding.collections] == [2, 2]
    assert embedding.get_title() == "spectral embedding of 4 vertices"
    np.testing.assert_allclose(part.plot_spectrum().lines[0].get_ydata(), 0, atol=1e-9)
    sweep = part.plot_sweep()
    assert sweep.lines[0].get_xdata().tolist() == [1, 2, 3]
    assert sweep.lines[2].get_ydata()[0] == pytest.approx(0, abs=1e-9)
    incidence = part.plot_incidence()
    assert incidence.collections[0].get_array().reshape(2, 4).tolist() == [[1, 1, 0, 0], [0, 0, 1, 1]]
    for ax in (embedding, sweep, incidence):
        ax.figure.canvas.draw()


def test_few_vertices_and_hyperedges_are_named():
    names = ["ann", "$x_", "bob\u202e", "c" * 100]
    h = hc.Hypergraph.from_edges({("met", i): [names[i], names[(i + 1) % 4]] for i in range(3)})
    part = hc.cluster(h)
    drawn = ", ".join(text.get_text() for text in part.plot_embedding().texts).split(", ")
    assert sorted(drawn) == sorted(["ann", "$x_", "bob\ufffd", "c" * 17 + "\u2026" + "c" * 6])
    ax = part.plot_incidence()
    assert sorted(text.get_text() for text in ax.get_xticklabels()) == sorted(drawn)
    assert sorted(text.get_text() for text in ax.get_yticklabels()) == ["met = 0", "met = 1", "met = 2"]
    ax.figure.canvas.draw()


def test_points_at_the_same_position_share_a_label():
    h = hc.Hypergraph.from_edges([["a", "b", "c"], ["c", "d"], ["d", "e", "f"]])
    ax = hc.cluster(h).plot_embedding()
    assert {"a, b", "e, f"} <= {text.get_text() for text in ax.texts}


def test_many_vertices_are_not_named(zoo):
    assert not zoo.plot_embedding().texts
    ax = zoo.plot_incidence()
    assert [text.get_text() for text in ax.get_xticklabels()] == ["0", "1", "2"]
    assert not ax.get_yticklabels()


def test_ticks_of_the_sweep_are_whole_numbers():
    ax = hc.cluster(hc.Hypergraph.from_edges([["a", "b"], ["b", "c"], ["c", "d"]])).plot_sweep()
    assert all(place == round(place) for place in ax.get_xticks())


def test_eigenvalues_that_are_close_fill_the_picture(zoo):
    ax = zoo.plot_spectrum()
    low, high = ax.get_ylim()
    shown = np.concatenate([line.get_ydata() for line in ax.lines])[1:]
    assert low < shown.min() <= shown.max() < high
    assert np.ptp(shown) > 0.6 * (high - low)
    assert [text.get_text() for text in ax.texts] == ["eigenvalue 1 is 0"]


def test_the_marker_at_eigenvalue_0_is_not_cut_off_where_the_others_are_near():
    path = hc.cluster(hc.Hypergraph.from_edges([[i, i + 1] for i in range(30)]), k=3, chance=False)
    ax = path.plot_spectrum()
    assert ax.get_ylim()[0] < 0
    assert not ax.texts
    pieces = hc.Hypergraph.from_edges([["a", "b"], ["c", "d"], ["e", "f", "g"]])
    assert hc.cluster(pieces, k=2, chance=False).plot_spectrum().get_ylim()[0] < 0


def planted(k):
    """Clusters of three vertices each, and hyperedges of all."""
    edges = {f"inside {c}": [3 * c, 3 * c + 1, 3 * c + 2] for c in range(k)}
    edges |= {("all", i): range(i, 3 * k, 2) for i in range(2)}
    return hc.evaluate(hc.Hypergraph.from_edges(edges), np.repeat(np.arange(k), 3))


def test_clusters_have_the_colours_and_shapes_of_the_page():
    part = planted(31)
    for style, dark in (("default", False), ("dark_background", True)):
        with plt.style.context(style):
            groups = part.plot_embedding().collections
        faces = [mpl.colors.to_hex(group.get_facecolor()[0]) for group in groups]
        assert faces == [colours.colour(c, dark=dark) for c in range(31)]
    corners = [len(group.get_paths()[0].vertices) for group in groups]
    assert len({*corners}) == 3
    looks = [*zip(faces, corners, strict=True)]
    assert len({*looks[:30]}) == 30
    assert looks[30] == looks[0]


def test_a_legend_of_many_clusters_is_beside_the_axes():
    ax = planted(31).plot_embedding()
    legend = ax.get_legend()
    assert len(legend.get_texts()) == 30
    assert legend.get_title().get_text() == "30 of 31 clusters"
    ax.figure.canvas.draw()
    box, frame = legend.get_window_extent(), ax.figure.bbox
    assert box.x0 >= ax.get_window_extent().x1 - 1
    assert box.x1 <= frame.x1
    assert box.y0 >= frame.y0


def test_names_in_a_legend_are_no_formulas():
    part = planted(2).with_names(["$x_", "$\\frac$"])
    ax = part.plot_embedding()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["cluster $x_", "cluster $\\frac$"]
    ax.figure.canvas.draw()


def test_strips_of_the_incidence_matrix_are_grey_for_no_cluster():
    part = planted(4)
    strips = part.plot_incidence().patches
    columns, rows = strips[:4], strips[4:]
    fills = [mpl.colors.to_hex(strip.get_facecolor()) for strip in columns]
    assert fills == [colours.colour(c) for c in range(4)]
    assert [mpl.colors.to_hex(strip.get_facecolor()) for strip in rows] == [*fills, colours.colour(-1)]
    assert [strip.get_width() for strip in columns] == [3, 3, 3, 3]
    assert [strip.get_height() for strip in rows] == [1, 1, 1, 1, 2]


def test_leaves_of_a_tree_have_the_marks_of_their_clusters():
    part = planted(12)
    ax = part.tree().plot()
    names = [text.get_text() for text in ax.get_xticklabels()]
    marks = [one for one in ax.collections if isinstance(one, mpl.collections.PathCollection)]
    faces = [mpl.colors.to_hex(mark.get_facecolor()[0]) for mark in marks]
    places = [mark.get_offsets()[0, 0] for mark in marks]
    assert faces == [colours.colour(int(name)) for name in names]
    assert places == ax.get_xticks().tolist()
    assert len(part.tree().plot(orientation="left").collections) < 12
    ax.figure.canvas.draw()


class TestSuggestion:
    def candidate(self, k, ncut):
        return Candidate(k, ncut, 0.9 * ncut, 0.1, 0.2, 1.5 * ncut, 0.1, 0.5, 1.0, 0.5, True, "why")

    def test_the_suggested_number_is_marked(self):
        found = Suggestion(3, True, True, "why", tuple(self.candidate(k, k / 4) for k in (3, 2, 4)))
        ax = found.plot()
        chance, ncut, bound, ring = ax.lines
        assert ncut.get_xdata().tolist() == [2, 3, 4]
        np.testing.assert_allclose(ncut.get_ydata(), [0.5, 0.375, 1 / 3])
        np.testing.assert_allclose(chance.get_ydata(), 1.5 * ncut.get_ydata())
        np.testing.assert_allclose(bound.get_ydata(), 0.9 * ncut.get_ydata())
        assert (ring.get_xdata(), ring.get_ydata()) == ([3], [0.375])
        assert ax.get_title() == "suggestion: k = 3"
        ax.figure.canvas.draw()

    def test_without_a_number_nothing_is_marked(self):
        ax = Suggestion(None, False, False, "why", (self.candidate(2, 1.0),)).plot(linewidth=7)
        assert len(ax.lines) == 3
        assert ax.lines[1].get_linewidth() == 7
        assert ax.get_title() == "suggestion: no clear structure"

    def test_without_candidates_there_is_nothing_to_draw(self):
        found = hc.suggest_k(hc.Hypergraph.from_edges([["a", "b"]]))
        with pytest.raises(hc.InputError, match="no candidates to draw: Fewer than three"):
            found.plot()


def test_a_single_vertex_has_no_sweep_but_other_plots():
    part = hc.cluster(hc.Hypergraph.from_edges([["a"]]), k=1)
    with pytest.raises(hc.InputError, match="single vertex"):
        part.plot_sweep()
    assert part.plot_embedding().collections[0].get_offsets().shape == (1, 2)
    assert part.plot_spectrum().lines[0].get_ydata().tolist() == [0]
    assert part.plot_incidence().collections[0].get_array().tolist() == [[1]]


def test_missing_matplotlib_is_one_sentence():
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
