"""Partitions, a report and a browser that several tests share."""

import numpy as np
import pytest

import hyperclus as hc
from hyperclus.report.html.page import write
from support.browser import chromium


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def planted():
    """60 people in three teams, and who is in which of 45 meetings; the teams are the classes."""
    rng = np.random.default_rng(0)
    edges = {}
    for number in range(45):
        team = number % 3
        members = rng.choice(20, 9, replace=False) + 20 * team
        strays = rng.choice(60, 1)
        edges[f"meeting {number}"] = {f"person {v}": float(rng.uniform(1, 3)) for v in {*members, *strays}}
    people = [f"person {v}" for v in range(60)]
    h = hc.Hypergraph.from_edges(edges, vertex_ids=people)
    teams = {f"person {v}": ("red team", "green team", "blue team")[v // 20] for v in range(60)}
    return hc.cluster(h, k=3), teams


@pytest.fixture(scope="module")
def report(planted, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "out.html"
    part, teams = planted
    write(part, path, title="Meetings", source="meetings.csv", classes=teams, command="hyperclus cluster x")
    return path


@pytest.fixture(scope="module")
def table():
    """A complete table without weights, so that phi is uniform."""
    rng = np.random.default_rng(3)
    side = np.arange(400) < 137
    columns = {f"column {i}": np.where(rng.random(400) < 0.8, side, ~side).tolist() for i in range(6)}
    return hc.evaluate(hc.Hypergraph.from_table({**columns, "size": (np.arange(400) % 5).tolist()}), side)
