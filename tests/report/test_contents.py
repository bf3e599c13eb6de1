"""The contents of the report: remarks, the call that reproduces it, vertices to look up."""

import re
from dataclasses import replace

import numpy as np
import pytest

import hyperclus as hc
from hyperclus.errors import InputError
from hyperclus.report.html.contents import Contents, python_call
from hyperclus.report.html.page import write
from support.report_pages import visible, written
from support.strategies import random_hypergraph


def test_remarks_follow_the_answer(tmp_path):
    edges = [["a", "b", "c"], ["b", "c", "d"], ["x", "y"], ["x", "y"]]
    h = hc.Hypergraph.from_edges(edges, vertex_ids=list("abcdxyz"), isolated="keep")
    given = ["no number of clusters stands out; there may be more than 10", "<b>bold</b> \u202e?"]
    _, text = written(hc.cluster(h, k=3), tmp_path, remarks=given)
    box = re.search(r'(?s)id="remarks">(.*?)</div>', text)[1]
    said = visible(box)
    assert "No number of clusters stands out; there may be more than 10." in said
    assert "<b>bold</b> \ufffd?" in said
    assert "In no hyperedge, with label -1: 1 vertex." in said
    assert "The hypergraph has 2 connected components." in said
    assert text.index('id="clusters"') < text.index('id="remarks"') < text.index('id="splits"')
    with pytest.raises(InputError, match="a list of sentences"):
        write(hc.cluster(h, k=3), tmp_path / "out.html", remarks="one text")


def test_small_clusters_are_mentioned_and_omitted_rows_are_not(planted, tmp_path):
    h = random_hypergraph(900, 700, 5, seed=2)
    labels = np.minimum(np.arange(900) // 2, 24)
    _, text = written(hc.evaluate(h, labels), tmp_path)
    said = visible(re.search(r'(?s)id="remarks">(.*?)</div>', text)[1])
    assert "clusters hold less than" in said
    assert "and 5 more" not in said
    _, text = written(planted[0], tmp_path)
    assert "hold less than" not in visible(text)


@pytest.mark.parametrize("method", ["cluster", "hyperclus_g", "refine", "evaluate", "star", "clique"])
def test_the_python_call_reproduces_the_partition(method):
    h = random_hypergraph(40, 30, 4, seed=5)
    labels = np.arange(40) % 3
    part = {
        "cluster": lambda: hc.cluster(h, k=3, effort="fast", min_share=0.1, alpha=1, seed=4),
        "hyperclus_g": lambda: hc.hyperclus_g(h, k=3, rounding="sweep", strategy="largest"),
        "refine": lambda: hc.refine(h, labels, effort="fast", seed=2),
        "evaluate": lambda: hc.evaluate(h, labels, alpha=0.5),
        "star": lambda: hc.research.baselines.star(h, 3),
        "clique": lambda: hc.research.baselines.clique(h, 3),
    }[method]()
    names = {"labels": labels}
    exec(python_call(part).replace("h = ...", "h = given"), names | {"given": h}, names)
    assert names["part"].labels.tolist() == part.labels.tolist()
    assert names["part"].ncut == part.ncut


def test_a_generator_has_no_python_call():
    h = hc.Hypergraph.from_edges([["a", "b"], ["b", "c"]])
    assert python_call(hc.cluster(h, seed=np.random.default_rng(0))) is None


def test_fallbacks_are_remarks_and_not_settings():
    h = hc.Hypergraph.from_edges([["a", "b"], ["b", "c"]])
    part = hc.cluster(h)
    part = replace(part, settings={**part.settings, "fallbacks": ("the sweep was used",)})
    contents = Contents(part)
    assert "The sweep was used." in contents.remarks
    assert [name for name, _ in contents.settings if "fallback" in name] == []
    assert "fallback" not in python_call(part)
