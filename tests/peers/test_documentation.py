"""The examples of docs/how_to/other_libraries.md run."""

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "how_to" / "other_libraries.md").read_text()

for name in ("hypernetx", "xgi", "networkx"):
    pytest.importorskip(name, reason=f"{name} is not installed; see docs/how_to/other_libraries.md")


def test_examples_run():
    names = {}
    blocks = re.findall(r"```python\n(.*?)```", PAGE, flags=re.S)
    for block in blocks:
        exec(block, names)
    assert names["again"].edge_weights.tolist() == [2, 1]
    assert set(names["places"]) == set(names["graph"])
    clusters = [names["graph"].nodes["vertex", v]["cluster"] for v in names["h"].vertex_ids]
    assert clusters == names["part"].labels.tolist()
