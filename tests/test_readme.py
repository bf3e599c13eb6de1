"""What the README shows is what happens."""

import re
from pathlib import Path

README = (Path(__file__).parents[1] / "README.md").read_text()


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.S)


def test_three_lines(capsys):
    names = {}
    example, variants = blocks("python")
    exec(example, names)
    assert capsys.readouterr().out == blocks("text")[0]
    names["h"] = names["hc"].Hypergraph.from_edges([[i, i + 1, i + 3] for i in range(9)])
    exec(variants, names)


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (Path(__file__).parents[1] / target).exists(), target
