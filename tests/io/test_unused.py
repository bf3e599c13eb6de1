"""Columns of numbers in long tables that nothing uses."""

import logging

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hyperclus as hc

SALES = {
    "customer": ["ann", "bob", "ann", "bob", "cy", "cy"],
    "shop": ["s", "s", "t", "t", "t", "s"],
    "amount": [3.5, 1, 2, 7, 5, 5],
    "age": [30, 40, 30, 40, 50, 50],
    "rent": [9, 9, 8, 8, 8, 9],
    "line": [1, 2, 3, 4, 5, 6],
    "change": [-1, 2, 3, -4, 5, 7],
    "note": ["3", "x", "y", "z", "3", "4"],
}
REMARK = "column 'amount' is not used; weight='amount' uses it"


def save_csv(table, path):
    pd.DataFrame(table).to_csv(path, index=False)


def save_parquet(table, path):
    pq.write_table(pa.table(table), path)


def save_records(table, path):
    pd.DataFrame(table).to_json(path, orient="records", lines=True)


@pytest.fixture(params=[("t.csv", save_csv), ("t.parquet", save_parquet), ("t.jsonl", save_records)])
def sales(request, tmp_path):
    name, save = request.param
    save(SALES, tmp_path / name)
    return tmp_path / name


def test_only_numbers_of_a_vertex_in_a_hyperedge_are_named(sales, caplog):
    h = hc.read(sales, vertex="customer", edge="shop")
    assert set(h.gamma.data) == {1.0}
    assert [record.getMessage() for record in caplog.records] == [f"{sales}: {REMARK}"]


@pytest.mark.parametrize("weight", ["amount", False])
def test_a_choice_is_not_questioned(sales, caplog, weight):
    hc.read(sales, vertex="customer", edge="shop", weight=weight)
    assert not caplog.records


def test_several(tmp_path, caplog):
    save_csv({**SALES, "tip": [1, 2, 3, 1, 2, 1]}, tmp_path / "t.csv")
    hc.read(tmp_path / "t.csv", vertex="customer", edge="shop", missing="drop")
    assert "columns 'amount', 'tip' are not used; weight='amount' uses the first as weights" in caplog.text


def test_missing_amounts_count_as_numbers(tmp_path, caplog):
    save_csv({**SALES, "amount": [3.5, 1, 2, 7, None, 5]}, tmp_path / "t.csv")
    hc.read(tmp_path / "t.csv", vertex="customer", edge="shop")
    assert REMARK in caplog.text


@pytest.mark.parametrize("made", [pd.DataFrame, pl.DataFrame, pa.table, dict])
def test_tables_in_memory(made, caplog):
    table = {"vertex": SALES["customer"], "edge": SALES["shop"], "amount": np.array(SALES["amount"])}
    hc.as_hypergraph(made(table))
    assert [record.getMessage() for record in caplog.records] == [f"{REMARK} in Hypergraph.from_long"]
    assert caplog.records[0].levelno == logging.WARNING
    caplog.clear()
    hc.as_hypergraph(made({**table, "weight": table["amount"]}))
    assert not caplog.records
