"""The captions of the report."""

import numpy as np
import pytest

import hyperclus as hc
from support.report_pages import page_data, visible, written
from support.strategies import random_hypergraph


def test_captions_mention_limits(tmp_path):
    h = random_hypergraph(900, 700, 5, seed=2)
    part = hc.evaluate(h, np.arange(900) % 250)
    _, text = written(part, tmp_path, classes=np.arange(900) % 70)
    said = visible(text)
    assert "The 200 largest of 250 groups are listed." in said
    assert "The 40 largest of 250 groups are described." in said
    assert "The 200 largest of 250 groups are shown." in said
    assert "The 40 largest of 70 classes are shown." in said
    assert len(text) < 3_500_000


def test_hyperedges_of_no_cluster_are_the_last_rows_of_the_matrix(tmp_path):
    rng, side = np.random.default_rng(0), np.arange(200) < 90
    table = {"side": side.tolist(), "other": (~side).tolist(), "noise": rng.integers(0, 3, 200).tolist()}
    part = hc.evaluate(hc.Hypergraph.from_table(table), side)
    _, text = written(part, tmp_path)
    data = page_data(text)["charts"]["matrix"]["data"]
    homes = data["homes"][page_data(text)["main"]]
    assert sorted(homes[:4]) == [0, 0, 1, 1]
    assert homes[4:] == [-1, -1, -1]
    assert all(row[1].startswith("noise") for row in data["rows"][4:])
    sentence = "that no group has clearly more than others."
    assert sentence in visible(text)
    _, text = written(hc.evaluate(hc.Hypergraph.from_edges([["a", "b"], ["c", "d"]]), [0, 0, 1, 1]), tmp_path)
    assert sentence not in visible(text)


def test_captions_mention_samples_and_groups(tmp_path):
    part = hc.cluster(random_hypergraph(5000, 3000, 5, seed=3), k=2)
    _, text = written(part, tmp_path)
    data = page_data(text)["charts"]
    said = visible(text)
    shown = len(data["embedding"]["data"]["leaves"])
    assert f"A random sample of {shown:,} of 5,000 vertices is shown, with some of each group." in said
    rows, columns = len(data["matrix"]["data"]["rows"]), len(data["matrix"]["data"]["columns"])
    assert f"3,000 hyperedges in {rows} lines and 5,000 vertices in {columns} columns" in said
    assert f"{len(data['sweep']['data']['sizes'])} of 4,999 cuts are shown" in said


def test_the_caption_of_a_table_lists_its_columns(table, planted, tmp_path):
    said = visible(written(table, tmp_path)[1])
    assert "A row is a row of a table" in said
    assert "7 columns, with the number of values in each" in said
    assert "column 0 (2) column 1 (2)" in said
    assert "size (5)" in said
    assert "is a row of a table;" not in visible(written(planted[0], tmp_path)[1])


def test_only_a_high_ncut_is_explained(table, planted, tmp_path):
    assert "A high NCut alone does not mean poor clusters" in visible(written(table, tmp_path)[1])
    assert "A high NCut alone does not mean poor clusters" not in visible(written(planted[0], tmp_path)[1])


@pytest.mark.parametrize(("rows", "every"), [(48, 1), (61, 2), (100, 2), (130, 0)])
def test_names_of_matrix_rows(rows, every, tmp_path):
    _, text = written(hc.cluster(random_hypergraph(60, rows, 5, seed=4), k=2), tmp_path)
    data = page_data(text)["charts"]["matrix"]["data"]
    assert data["nameStep"] == every
    assert (data["nameWidth"] > 0) == (every > 0)
    assert ("Every second line is labelled." in visible(text)) == (every == 2)
