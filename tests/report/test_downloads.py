"""The report in a browser: the files that it writes."""

import csv
import io
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import hyperclus as hc
from hyperclus.report.html.about import About
from hyperclus.report.html.contents import Contents
from hyperclus.report.html.levels import levels_of
from hyperclus.report.html.lookup import full_name
from hyperclus.report.html.page import render
from hyperclus.report.views import Limits, Views
from support.browser import opened
from support.report_pages import HOSTILE, hostile_partition, written
from support.strategies import random_hypergraph

FORMULAS = ["=1+1", "+1", "-1", "@sum", "\tx", "\rx", 'quo"te', "com,ma", "new\nline", "plain"]


def download(page, selector):
    """Select a button; return the suggested name and the bytes of the file."""
    with page.expect_download() as waiting:
        page.locator(selector).first.click()
    with open(waiting.value.path(), "rb") as file:
        return waiting.value.suggested_filename, file.read()


def table(page, key):
    """Return the name of a file, its columns and its rows."""
    name, content = download(page, f"[data-download={key}]")
    assert content.startswith("\ufeff".encode())
    rows = list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline="")))
    return name, rows


def test_groups_equal_the_data_frame(browser, planted, tmp_path):
    part, _ = planted
    levels, frame = levels_of(part, 5), part.to_frame()
    path, _ = written(part, tmp_path, levels=5)
    with opened(browser, path) as seen:
        name, rows = table(seen.page, "labels")
    assert name.endswith("-groups.csv")
    assert [row["vertex"] for row in rows] == frame["vertex"].tolist()
    names = [group.name for group in levels.levels[levels.main].groups]
    assert [row["group"] for row in rows] == [names[label] for label in part.labels]
    assert np.allclose([float(row["confidence"]) for row in rows], frame["confidence"], atol=1e-4)
    assert [row["next_group"] for row in rows] == [names[label] for label in frame["next_cluster"]]
    assert [bool(row["outlier"]) for row in rows] == frame["outlier"].notna().tolist()
    for level in levels.levels:
        expected = level.ids[level.part.labels]
        assert [int(row[f"k{level.k}"]) for row in rows] == expected.tolist()


def test_hyperedges_equal_the_data_frame(browser, planted, tmp_path):
    part, _ = planted
    frame, n = part.edges_frame(), len(part.walk_labels)
    path, _ = written(part, tmp_path, levels=4)
    with opened(browser, path) as seen:
        _, rows = table(seen.page, "edges")
    assert [row["edge"] for row in rows] == frame["edge"].tolist()
    assert [row["group"] for row in rows] == [
        "" if cluster == -1 else f"Group {cluster}" for cluster in frame["cluster"]
    ]
    for column in ("share", "lift", "coverage"):
        assert np.allclose([float(row[column]) for row in rows], frame[column], rtol=1e-4), column
    nearest = frame[[f"share_{c}" for c in range(part.k)]].to_numpy()
    for row, covered, everywhere, shares, share in zip(
        rows, frame["coverage"], frame["coverage_all"], nearest, frame["share"], strict=True
    ):
        size = part.sizes[int(np.argmin(np.abs(shares - share)))]
        rest = (everywhere * n - covered * size) / (n - size)
        assert float(row["coverage_rest"]) == pytest.approx(rest, abs=1e-5)


def test_the_profile_equals_the_data_frame(browser, tmp_path):
    rng = np.random.default_rng(0)
    side = np.arange(200) < 80
    columns = {
        "kind": np.where(side, "old", "new").tolist(),
        "age": np.where(side, rng.normal(70, 2, 200), rng.normal(30, 2, 200)).tolist(),
        "missing": [None if i % 7 == 0 else "yes" for i in range(200)],
    }
    part = hc.evaluate(hc.Hypergraph.from_table(columns, missing="category"), side, chance=False)
    frame = part.profile().to_frame()
    path, _ = written(part, tmp_path, levels=2)
    with opened(browser, path) as seen:
        _, rows = table(seen.page, "profile")
    assert len(rows) == len(frame)
    for row, (_, expected) in zip(rows, frame.iterrows(), strict=True):
        assert row["column"] == expected["column"]
        assert row["group"] == f"Group {expected['cluster']}"
        assert row["value"] == ("" if expected["value"] is None else str(expected["value"]))
        assert float(row["coverage"]) == pytest.approx(expected["coverage"], abs=1e-5)
        if np.isnan(expected["mean"]):
            assert row["mean"] == ""
        else:
            assert float(row["mean"]) == pytest.approx(expected["mean"], rel=1e-5)


def test_new_names_of_groups_are_in_the_files(browser, report):
    with opened(browser, report) as seen:
        page = seen.page
        page.locator("[data-rename]").first.click()
        page.locator("input.rename").fill("=cmd|' /C calc'!A0")
        page.keyboard.press("Enter")
        _, rows = table(page, "labels")
    assert {row["group"] for row in rows} == {"'=cmd|' /C calc'!A0", "Group 1", "Group 2"}


def test_cells_are_no_formulas(browser, tmp_path):
    edges = {name: [FORMULAS[i], FORMULAS[(i + 1) % len(FORMULAS)]] for i, name in enumerate(FORMULAS)}
    part = hc.cluster(hc.Hypergraph.from_edges(edges), k=2, chance=False)
    path, _ = written(part, tmp_path, levels=2)
    with opened(browser, path) as seen:
        for key, ids in (("labels", part.vertex_ids), ("edges", part.walk.hypergraph.edge_ids)):
            _, rows = table(seen.page, key)
            found = [row["vertex" if key == "labels" else "edge"] for row in rows]
            assert found == [f"'{name}" if name[0] in "=+-@\t\r" else name for name in ids.tolist()]


def test_hostile_names_are_written_as_they_are(browser, tmp_path):
    part, classes = hostile_partition()
    path, _ = written(part, tmp_path, classes=classes, title=HOSTILE[0], levels=2)
    with opened(browser, path) as seen:
        name, rows = table(seen.page, "labels")
        assert not set(name) & set('<>:"/\\|?*')
        expected = [full_name(vertex).replace("\ud800", "\ufffd") for vertex in part.vertex_ids.tolist()]
        assert [row["vertex"] for row in rows] == expected
        table(seen.page, "edges")
        assert seen.page.evaluate("window.hacked") is None


def test_pictures_can_be_saved(browser, report):
    with opened(browser, report) as seen:
        page = seen.page
        for name in ("embedding", "matrix"):
            file, content = download(page, f'[data-picture="{name} svg"]')
            assert file.endswith(f"-{name}.svg")
            root = ET.fromstring(content.decode())
            assert root.tag == "{http://www.w3.org/2000/svg}svg"
            assert len(list(root.iter("{http://www.w3.org/2000/svg}path"))) > 10
            file, content = download(page, f'[data-picture="{name} png"]')
            assert file.endswith(f"-{name}.png")
            assert content.startswith(b"\x89PNG")
        _, content = download(page, '[data-picture="splits svg"]')
        root = ET.fromstring(content.decode())
        assert not [item for item in root.iter() if "class" in item.attrib]
        _, content = download(page, '[data-picture="splits png"]')
        assert content.startswith(b"\x89PNG")


def test_some_vertices_of_large_data_are_written(browser, tmp_path):
    part = hc.cluster(random_hypergraph(400, 300, 6, seed=4), k=3, effort="fast", chance=False)
    contents = Contents(part, levels=3)
    contents.main.__dict__["views"] = Views(part, Limits(embedding_vertices=20, lookup_vertices=30))
    number = len(About(contents).lookup.vertices)
    path = tmp_path / "large.html"
    path.write_text(render(contents), encoding="utf-8")
    with opened(browser, path) as seen:  # the labels of all vertices are small enough
        name, rows = table(seen.page, "labels")
        assert "-of-" not in name
        assert [row["vertex"] for row in rows] == [str(v) for v in part.vertex_ids.tolist()]
        page = seen.page
        page.locator("#find").fill("1")
        page.wait_for_selector("#found li")
        assert f"{number} of {len(part.labels)}" in page.locator("#find-section").inner_text()
        page.locator("#found .go").first.click()
        page.wait_for_selector("#why:not([hidden])")


def test_no_button_appears_without_data(browser, report):
    with opened(browser, report) as seen:
        keys = seen.page.locator("[data-download]").evaluate_all("all => all.map(e => e.dataset.download)")
        assert keys == ["labels", "edges"]
