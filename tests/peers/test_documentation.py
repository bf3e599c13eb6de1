"""The examples of the pages on other libraries run."""

import re
from pathlib import Path

import pytest

import hyperclus as hc

DOCS = Path(__file__).parents[2] / "docs"

for name in ("hypernetx", "xgi", "networkx", "igraph"):
    pytest.importorskip(name, reason=f"{name} is not installed; see docs/how_to/other_libraries.md")


def run(page):
    """The names that the blocks of a page leave."""
    names = {"__name__": "page"}
    for block in re.findall(r"^```python\n(.*?)^```", (DOCS / page).read_text(), flags=re.S | re.M):
        exec(block, names)
    return names


def test_examples_run():
    names = run("how_to/other_libraries.md")
    assert names["again"].edge_weights.tolist() == [2, 1]
    assert set(names["places"]) == set(names["graph"])
    clusters = [names["graph"].nodes["vertex", v]["cluster"] for v in names["h"].vertex_ids]
    assert clusters == names["part"].labels.tolist()


def test_a_graph():
    names = run("how_to/graph.md")
    assert {names["G"].nodes[vertex]["cluster"] for vertex in names["G"]} == set(range(5))
    assert names["h"].n_edges == 4


@pytest.mark.parametrize("page", ["hypernetx", "xgi"])
def test_both_sides_of_a_comparison(page):
    names = run(f"from_other_tools/{page}.md")
    theirs, ours, data = names["theirs"], names["ours"], names["data"]
    women = data.hypergraph.vertex_ids
    assert set(theirs) == set(ours) == set(women)
    assert hc.agreement(data.classes, [ours[woman] for woman in women]).nmi == 1
    assert hc.agreement(data.classes, [theirs[woman] for woman in women]).nmi > 0.7


def test_leiden_on_three_graphs(capsys):
    run("from_other_tools/leiden.md")
    plain, weighted, bipartite, ours = re.findall(r"NMI (\S+)", capsys.readouterr().out)
    assert float(plain) < 0.3 < float(bipartite)
    assert min(float(weighted), float(ours)) > 0.8
