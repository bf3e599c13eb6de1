"""Wrong types and values in Python calls: one clear sentence, never a raw exception of a library inside."""

import threading
import warnings

import numpy as np
import pytest

import hyperclus as hc

H = hc.Hypergraph.from_edges([["a", "b", "c"], ["a", "b"], ["c", "d"], ["d", "e", "f"], ["e", "f"]])
WALK = hc.RandomWalk(H)
LAPLACIAN = hc.NormalizedLaplacian(WALK)


def checkpointed():
    with hc.checkpoints(None):
        pass


def watched():
    with hc.watching(5):
        pass


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: hc.read("x\0.csv"), "expected the name of a file"),
        (lambda: hc.read("x.csv", format=[]), "there is no format []"),
        (lambda: hc.write(H, "x.json", format=[]), "there is no format []"),
        (checkpointed, "expected the name of a file or folder, not None"),
        (watched, "listener must be a function"),
        (lambda: hc.hyperclus_g(H, 3, reweigh=3), "reweigh must be a function"),
        (lambda: hc.cluster(H).to_html("x.html", remarks=5), "remarks"),
        (lambda: hc.agreement([], []), "no classes to compare"),
        (lambda: hc.spectral.tight_bound(5, 2), "a RandomWalk is needed, not int"),
        (lambda: hc.spectral.tight_bound(WALK, 2, tolerance="x"), "tolerance must be a number above 0"),
        (lambda: hc.spectral.tight_bound(WALK, 2, upper="x"), "upper must be a number"),
        (lambda: hc.spectral.tight_bound(WALK, 2, max_rounds="x"), "max_rounds must be a whole number"),
        (lambda: hc.cut(5, [0], 1), "a RandomWalk is needed, not int"),
        (lambda: hc.sweep(5, [0]), "a RandomWalk is needed, not int"),
        (lambda: hc.smallest_eigenpairs(5, 2), "a NormalizedLaplacian of a walk is needed, not int"),
        (lambda: hc.smallest_eigenpairs(LAPLACIAN, "x"), "k must be a whole number from 1"),
        (lambda: hc.smallest_eigenpairs(LAPLACIAN, 2, tolerance="x"), "tolerance must be a number above 0"),
        (lambda: hc.NormalizedLaplacian(None), "a RandomWalk is needed, not NoneType"),
    ],
)
def test_one_sentence(call, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(hc.InputError) as error:
        call()
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)


def test_half_a_surrogate_in_an_id_reaches_a_data_frame():
    part = hc.cluster(hc.Hypergraph.from_edges([["a\ud800", "b"], ["b", "c"]]))
    assert next(iter(part.to_frame()["vertex"])) == "a\ud800"


def test_edges_of_a_networkx_graph_are_pairs():
    networkx = pytest.importorskip("networkx")
    graph = networkx.karate_club_graph()
    h = hc.Hypergraph.from_edges(graph.edges())
    assert (h.n_vertices, h.n_edges, h.n_incidences) == (34, 78, 156)


class TestAgreement:
    def test_a_series_goes_by_id_in_a_partition(self):
        pandas = pytest.importorskip("pandas")
        part = hc.cluster(H)
        classes = pandas.Series(part.labels, index=part.vertex_ids).iloc[::-1]
        assert part.agreement(classes).nmi == 1.0
        with pytest.raises(hc.InputError, match="by position"):
            hc.agreement(classes, part.labels)
        assert hc.agreement(classes, classes).nmi == 1.0
        assert hc.agreement(classes.to_numpy()[::-1], part.labels).nmi == 1.0


def test_a_dense_table_in_the_estimator_is_a_warning():
    from hyperclus.sklearn import HypergraphClustering

    table = np.random.default_rng(0).uniform(1, 2, (30, 4))
    with pytest.warns(UserWarning, match="bin the columns"):
        HypergraphClustering(3).fit(table)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        HypergraphClustering(3, alpha=1.0).fit(table)


def test_threads_leave_blas_as_it_was():
    from threadpoolctl import threadpool_info, threadpool_limits

    def blas():
        return [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]

    with threadpool_limits(2, "blas"):
        before = blas()
        threads = [threading.Thread(target=hc.cluster, args=(H, 2)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert blas() == before
