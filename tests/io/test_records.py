"""Tables of records in JSON, and lists in cells of any table."""

import json
import logging
import zipfile
from decimal import Decimal

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hyperclus as hc
from hyperclus.hypergraph.incidence import Policies
from hyperclus.io.tables import open_table
from hyperclus.io.tables.long import long_table, read_incidences
from hyperclus.io.tables.table import Tuning
from support.contracts import refused

PAPERS = [
    {"doi": "p1", "year": 2001, "authors": ["ann", "bob"]},
    {"doi": "p2", "year": 2002, "authors": ["bob", "cy", "dee"]},
    {"doi": "p3", "year": 2002, "authors": ["dee"]},
]


def saved(folder, name, rows=PAPERS):
    """Save records in the format that the name says; lists become text in CSV and Excel."""
    path, names = folder / name, list(rows[0])
    cells = [["; ".join(one) if isinstance(one, list) else one for one in row.values()] for row in rows]
    if name.endswith(".jsonl"):
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif name.endswith(".json"):
        path.write_text(json.dumps(rows, indent=1))
    elif name.endswith(".parquet"):
        pq.write_table(pa.Table.from_pylist(rows), path)
    elif name.endswith(".xlsx"):
        book = openpyxl.Workbook()
        for row in [names, *cells]:
            book.active.append(row)
        book.save(path)
    else:
        path.write_text("\n".join("|".join(map(str, row)) for row in [names, *cells]))
    return path


NAMES = ["t.jsonl", "t.json", "t.parquet", "t.xlsx", "t.csv"]


@pytest.fixture(params=NAMES)
def papers(request, tmp_path):
    """A file, and the option that splits its lists if they are text."""
    options = {"split": {"authors": ";"}} if request.param in ("t.xlsx", "t.csv") else {}
    return saved(tmp_path, request.param), options


def incidences(h):
    rows, columns = h.gamma.nonzero()
    return set(zip(h.vertex_ids[columns].tolist(), h.edge_ids[rows].tolist(), strict=True))


class TestLists:
    def test_rows_are_hyperedges(self, papers):
        path, options = papers
        numbered = {(author, row) for row, one in enumerate(PAPERS) for author in one["authors"]}
        assert incidences(hc.read(path, **options)) == numbered
        named = {(author, one["doi"]) for one in PAPERS for author in one["authors"]}
        for more in ({"edge": "doi"}, {"edge": "doi", "vertex": "authors"}):
            assert incidences(hc.read(path, **options, **more)) == named

    def test_rows_are_vertices(self, papers):
        path, options = papers
        named = {(one["doi"], author) for one in PAPERS for author in one["authors"]}
        for more in ({"vertex": "doi"}, {"vertex": "doi", "edge": "authors"}):
            assert incidences(hc.read(path, **options, **more)) == named
        h = hc.read(path, **options, edge="authors")
        assert h.vertex_ids.tolist() == [0, 1, 2]

    def test_other_columns_are_repeated(self, papers):
        path, options = papers
        h = hc.read(path, **options, edge="doi", weight="year")
        assert h.gamma.data.tolist() == [2001, 2001, 2002, 2002, 2002, 2002]

    def test_faults_name_the_row(self, tmp_path):
        for name, place in (
            ("t.jsonl", "line 3"),
            ("t.json", "record 2"),
            ("t.xlsx", "row 4"),
            ("t.csv", "line 4"),
        ):
            rows = [*PAPERS[:2], {"doi": "p3", "year": -5, "authors": ["dee"]}]
            options = {"split": {"authors": ";"}} if name in ("t.xlsx", "t.csv") else {}
            path = saved(tmp_path, name, rows)
            refused(lambda p=path, o=options: hc.read(p, **o, weight="year"), place, "column 'year'", "-5")
            rows[2] = {"doi": "p3", "year": 5, "authors": []}
            path = saved(tmp_path, name, rows)
            refused(lambda p=path, o=options: hc.read(p, **o), place, "'authors'", "missing='drop'")
            assert hc.read(path, **options, missing="drop").n_edges == 2

    def test_batches_do_not_matter(self, tmp_path):
        rows = [{"e": f"e{row}", "v": [f"v{row % 7}", f"v{row % 5 + 7}"]} for row in range(500)]
        path = saved(tmp_path, "t.csv", rows)
        table, columns = long_table(
            open_table(path, tuning=Tuning(text_block=256)), ("v", "e", None, None), {"v": ";"}
        )
        small = read_incidences(table, columns, Policies())
        assert incidences(small) == incidences(hc.read(path, edge="e", split={"v": ";"}))
        fault = table.fault("wrong", 777)
        assert str(fault).endswith("line 390: wrong")

    def test_what_is_refused(self, tmp_path):
        path = saved(tmp_path, "t.csv")
        for split in (
            {},
            {"authors": ""},
            {"authors": ";", "doi": ";"},
            "authors",
            ["authors"],
            {"authors": 1},
            {"authors": "\ud800"},
        ):
            refused(
                lambda s=split: hc.read(path, split=s, edge="doi", vertex="authors"),
                "split must name one column",
            )
        refused(lambda: hc.read(path, split={"author": ";"}), "no column 'author'", "did you mean 'authors'?")
        refused(
            lambda: hc.read(path, split={"authors": ";"}, vertex="doi", edge="year"),
            "the lists are in column",
        )
        path = saved(tmp_path, "t.parquet")
        refused(lambda: hc.read(path, split={"authors": ";"}), "holds lists, which need no delimiter")
        refused(lambda: hc.read(path, split={"year": ";"}), "not lists or text to split")

    def test_a_table_with_both_columns_is_not_split(self, tmp_path):
        rows = [{"vertex": "a", "edge": "e", "tags": ["x", "y"]}, {"vertex": "b", "edge": "e", "tags": []}]
        assert incidences(hc.read(saved(tmp_path, "t.jsonl", rows))) == {("a", "e"), ("b", "e")}


class TestRecords:
    def test_types_and_missing_keys(self, tmp_path):
        rows = [{"vertex": 1, "edge": "e"}, {"vertex": 2, "edge": "e", "weight": 2.5}]
        path = saved(tmp_path, "t.json", rows)
        refused(lambda: hc.read(path), "record 0", "the weight is missing", "missing='drop'")
        assert hc.read(path, missing=1).gamma.data.tolist() == [1, 2.5]
        assert hc.read(path, weight=False).vertex_ids.tolist() == [1, 2]

    def test_rows(self, tmp_path):
        rows = [{"name": f"n{i}", "colour": "red" if i % 2 else "blue", "size": i / 2} for i in range(12)]
        h = hc.read(saved(tmp_path, "t.jsonl", rows), format="rows", vertex="name")
        assert h.n_vertices == 12
        assert h.n_edges == 7

    @pytest.mark.parametrize(
        ("text", "parts"),
        [
            ('{"vertex": "a", "edge": "e"}\n{"vertex": \n', ["line 2: column", "not one JSON value"]),
            ('{"vertex": "a", "edge": "e"}\n\n[1]\n', ["line 3", "expected an object"]),
            ('{"vertex": "a", "edge": "e"}\n{"vertex": 5, "edge": "e"}\n', ["line 2", "5 and 'a'", "types"]),
            ('{"vertex": {"n": "a"}, "edge": "e"}\n', ["line 1", "an id must be an integer or text"]),
            ('{"vertex": 1.5, "edge": "e"}\n', ["line 1", "an id must be an integer or text"]),
            ('[{"vertex": "a", "edge": "e"},\n {"vertex": }]', ["line 2", "this is not JSON"]),
            ('[{"vertex": "a", "vertex": "b", "edge": "e"}]', ["the key 'vertex' is repeated"]),
        ],
    )
    def test_faults(self, tmp_path, text, parts):
        (tmp_path / "t.jsonl").write_text(text)
        refused(lambda: hc.read(tmp_path / "t.jsonl"), "t.jsonl", *parts)

    def test_options_of_text_are_refused(self, tmp_path):
        path = saved(tmp_path, "t.jsonl")
        refused(lambda: hc.read(path, delimiter=";"), "delimiter is for text, and this is JSON")
        refused(lambda: hc.read(path, sheet="a"), "sheet is for Excel, and this is records")


class TestMissing:
    TEXT = "vertex,edge,weight\na,e,2\nb,e,NA\n,e,1\nc,f,\nd,f,3\n"

    def read(self, folder, missing, text=TEXT):
        (folder / "t.csv").write_text(text)
        return hc.read(folder / "t.csv", missing=missing)

    def test_rows_are_dropped_and_counted(self, tmp_path, caplog):
        with caplog.at_level(logging.WARNING, "hyperclus"):
            h = self.read(tmp_path, "drop")
        assert incidences(h) == {("a", "e"), ("d", "f")}
        assert [record.getMessage() for record in caplog.records] == [
            f"{tmp_path / 't.csv'}: 1 of 5 rows have no 'vertex', 2 of 5 rows have no 'weight'; "
            "3 rows dropped"
        ]

    def test_weights_are_filled(self, tmp_path, caplog):
        refused(lambda: self.read(tmp_path, 0.5), "line 4", "column 'vertex'", "missing='drop'")
        with caplog.at_level(logging.WARNING, "hyperclus"):
            h = self.read(tmp_path, 0.5, self.TEXT.replace("\n,e,1", ""))
        assert h.gamma.data.tolist() == [2, 0.5, 0.5, 3]
        assert caplog.records[-1].getMessage().endswith("2 of 4 rows have no 'weight'; 0.5 is used")

    def test_parquet(self, tmp_path):
        columns = {"vertex": ["a", None, "c"], "edge": ["e", "e", "e"], "weight": [1.0, 2.0, float("nan")]}
        pq.write_table(pa.table(columns), tmp_path / "t.parquet")
        assert hc.read(tmp_path / "t.parquet", missing="drop").vertex_ids.tolist() == ["a"]

    @pytest.mark.parametrize(
        "weights",
        [
            pa.array([Decimal("1.5"), None]),
            pa.array(np.array([1.5, 0], np.float16), mask=np.array([False, True])),
            pa.array([1.5, None], pa.float32()),
        ],
    )
    def test_weights_of_any_numeric_type_are_filled_exactly(self, tmp_path, weights):
        pq.write_table(
            pa.table({"vertex": [1, 2], "edge": [1, 1], "weight": weights}), tmp_path / "t.parquet"
        )
        assert hc.read(tmp_path / "t.parquet", missing=0.1).gamma.data.tolist() == [1.5, 0.1]

    @pytest.mark.parametrize("value", ['"x"', "[1]", '{"x": 1}'])
    def test_what_is_no_weight_is_not_filled(self, tmp_path, value):
        record = '{"vertex": "a", "edge": 1, "weight": null}\n{"vertex": "b", "edge": 1, "weight": '
        (tmp_path / "t.jsonl").write_text(f"{record}{value}}}\n")
        refused(lambda: hc.read(tmp_path / "t.jsonl", missing=2.5), "weights must be numbers, not")

    def test_booleans_and_large_integers_are_filled(self, tmp_path):
        for weight, wanted in (("true", 1.0), ("9007199254740993", 2.0**53)):
            text = f'{{"vertex": "a", "edge": 1, "weight": {weight}}}\n{{"vertex": "b", "edge": 1}}\n'
            (tmp_path / "t.jsonl").write_text(text)
            assert hc.read(tmp_path / "t.jsonl", missing=2.5).gamma.data.tolist() == [wanted, 2.5]

    def test_the_decimal_sign_of_the_file_does_not_matter(self, tmp_path):
        (tmp_path / "t.csv").write_text("vertex;edge;weight\na;e;1.001,5\nb;e;\n")
        h = hc.read(tmp_path / "t.csv", missing=0.25, decimal=",", thousands=".")
        assert h.gamma.data.tolist() == [1001.5, 0.25]

    def test_lines_in_faults_count_dropped_rows(self, tmp_path):
        text = self.TEXT + "d,f,-1\n"
        refused(lambda: self.read(tmp_path, "drop", text), "line 7", "'-1'")

    def test_what_is_refused(self, tmp_path):
        for missing in ("category", "", None, -1, float("nan"), True):
            refused(lambda m=missing: self.read(tmp_path, m), "missing must be")
        refused(
            lambda: self.read(tmp_path, "error", self.TEXT[:32]),
            "line 3",
            "'NA' is not a number; fill it",
        )


class TestExcel:
    def test_sheets_and_cells(self, tmp_path):
        book = openpyxl.Workbook()
        book.active.append(["vertex", "edge"])
        other = book.create_sheet("data")
        for row in ([], ["vertex", "edge", "weight", None], [1.0, "e", 2], [2, "e", 0.5], [None, None, None]):
            other.append(row)
        book.save(tmp_path / "t.xlsx")
        refused(lambda: hc.read(tmp_path / "t.xlsx"), "the sheets 'Sheet', 'data'; choose one with sheet")
        refused(lambda: hc.read(tmp_path / "t.xlsx", sheet="x"), "there is no sheet 'x'")
        h = hc.read(tmp_path / "t.xlsx", sheet="data")
        assert h.vertex_ids.tolist() == [1, 2]
        assert h.gamma.data.tolist() == [2, 0.5]
        assert hc.read(tmp_path / "t.xlsx", sheet="Sheet").n_incidences == 0

    def test_error_values_are_named(self, tmp_path):
        path = saved(tmp_path, "t.xlsx", [{"vertex": "a", "edge": "e"}, {"vertex": "#N/A", "edge": "e"}])
        refused(lambda: hc.read(path), "row 3", "column 'vertex'", "#N/A", "correct it in Excel")

    def test_error_values_in_unused_columns_do_not_matter(self, tmp_path):
        rows = [{"vertex": "a", "edge": "e", "note": "#REF!"}, {"vertex": "b", "edge": "e", "note": 1}]
        assert hc.read(saved(tmp_path, "t.xlsx", rows)).n_incidences == 2

    def test_bombs_are_refused(self, tmp_path):
        with zipfile.ZipFile(tmp_path / "t.xlsx", "w", zipfile.ZIP_DEFLATED) as book:
            book.writestr("xl/workbook.xml", bytes(50_000_000))
        refused(lambda: hc.read(tmp_path / "t.xlsx"), "unpacks to more than 200 times")


class TestSeveralLists:
    """Papers with authors and keywords, both of them lists."""

    ROWS = tuple(
        {"year": 2001, "doi": f"10.1/{i}", "authors": [f"a{i}", "b"], "keywords": ["x", f"y{i}"]}
        for i in range(3)
    )

    @pytest.mark.parametrize("name", ["p.jsonl", "p.json", "p.parquet"])
    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({}, ["choose one with vertex='authors' (and edge='doi' to name the rows)"]),
            (
                {"edge": "doi"},
                ["columns 'authors' and 'keywords' hold lists; choose one with vertex='authors',"],
            ),
            (
                {"vertex": "doi"},
                ["columns 'authors' and 'keywords' hold lists; choose one with edge='authors',"],
            ),
            ({"vertex": "authr"}, ["no column 'authr'", "did you mean 'authors'?"]),
        ],
    )
    def test_one_must_be_chosen(self, tmp_path, name, options, words):
        path = saved(tmp_path, name, list(self.ROWS))
        refused(lambda: hc.read(path, **options), *words)

    def test_the_choice_is_read(self, tmp_path):
        path = saved(tmp_path, "p.jsonl", list(self.ROWS))
        assert hc.read(path, vertex="keywords", edge="doi").edge_ids.tolist() == [
            "10.1/0",
            "10.1/1",
            "10.1/2",
        ]
        rows = hc.read(path, format="rows", vertex="doi", exclude=["authors", "keywords"], constant="keep")
        assert rows.n_vertices == 3

    def test_the_usual_names_choose(self, tmp_path):
        rows = [{"edge": i, "vertex": ["a", "b"], "tags": ["x"]} for i in range(2)]
        assert hc.read(saved(tmp_path, "p.jsonl", rows)).n_incidences == 4

    def test_the_row_number_is_no_column_of_the_file(self, tmp_path):
        path = saved(
            tmp_path, "p.jsonl", [{"doi": row["doi"], "authors": row["authors"]} for row in self.ROWS]
        )
        refused(lambda: hc.read(path, edge="zzz"), "its columns are 'doi', 'authors';")
