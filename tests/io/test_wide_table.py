"""Tables in files with one row per vertex: the same result as in memory, and errors that name the line."""

import gzip
from dataclasses import astuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hyperclus as hc
from hyperclus.io.tables import open_table
from hyperclus.io.tables.csv import CsvTable
from hyperclus.io.tables.schema import read_columns
from hyperclus.io.tables.table import Tuning, missing_words
from hyperclus.io.tables.wide import WideOptions, infer_schema, read_rows
from support.command_line import inside
from support.contracts import refused

ANIMALS = "name,legs,milk,class\nfrog,4,no,a\nhen,2,no,b\ncow,4,yes,m\nowl,2,no,b\n"


@pytest.fixture
def animals(tmp_path):
    path = tmp_path / "animals.csv"
    path.write_text(ANIMALS)
    return path


def written(tmp_path, text, name="t.csv"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def schema_of(path, **options):
    return infer_schema(open_table(path), WideOptions(**options))


def same(first, second):
    assert first.vertex_ids.tolist() == second.vertex_ids.tolist()
    assert first.edge_ids.tolist() == second.edge_ids.tolist()
    assert (first.gamma != second.gamma).nnz == 0


class TestReading:
    def test_as_from_table(self, animals):
        table = {
            "legs": [4, 2, 4, 2],
            "milk": ["no", "no", "yes", "no"],
            "name": ["frog", "hen", "cow", "owl"],
        }
        wanted = hc.Hypergraph.from_table(table, vertex="name")
        same(hc.read(animals, format="rows", vertex="name", exclude=["class"]), wanted)
        same(read_rows(animals, vertex="name", features=["legs", "milk"]), wanted)

    def test_rows_are_numbered_without_ids(self, animals):
        assert read_rows(animals, features=["milk"]).vertex_ids.tolist() == [0, 1, 2, 3]

    def test_the_command_line_opens_a_table_once(self, animals, monkeypatch):
        opened, honest = [], CsvTable.__init__

        def counted(self, path, *arguments):
            opened.append(path)
            honest(self, path, *arguments)

        monkeypatch.setattr(CsvTable, "__init__", counted)
        done = inside("cluster", animals, "-k", 2, "--id", "name", "--label", "class")
        assert done.returncode == 0, done.stderr
        assert opened == [str(animals)]

    @pytest.mark.parametrize("name", ["t.tsv", "t.csv.gz", "t.data", "t", "t.parquet", "u"])
    def test_every_kind_of_file(self, tmp_path, animals, name):
        path = tmp_path / name
        if name == "t.csv.gz":
            path.write_bytes(gzip.compress(ANIMALS.encode()))
        elif name in ("t.parquet", "u"):
            lines = [line.split(",") for line in ANIMALS.split()]
            columns = dict(zip(lines[0], map(list, zip(*lines[1:], strict=True)), strict=True))
            columns["legs"] = [int(legs) for legs in columns["legs"]]
            pq.write_table(pa.table(columns), path)
        else:
            path.write_text(ANIMALS.replace(",", "\t") if name in ("t.tsv", "t") else ANIMALS)
        same(read_rows(path), read_rows(animals))

    def test_a_first_column_without_a_name_has_the_ids(self, tmp_path):
        h = read_rows(written(tmp_path, ',x\nann,1\nbob,2\n"cy",1\n'))
        assert h.vertex_ids.tolist() == ["ann", "bob", "cy"]
        assert h.edge_ids.tolist() == [("x", 1), ("x", 2)]

    def test_ids_that_look_like_integers_are_integers_unless_text_is_asked_for(self, tmp_path):
        path = written(tmp_path, "id,x\n7,a\n8,b\n")
        assert read_rows(path, vertex="id").vertex_ids.tolist() == [7, 8]
        assert read_rows(path, vertex="id", ids="text").vertex_ids.tolist() == ["7", "8"]


class TestDelimiters:
    @pytest.mark.parametrize("sign", [";", "|", "\t"])
    @pytest.mark.parametrize("name", ["t.csv", "t.txt", "t.csv.gz"])
    def test_detected_by_the_header(self, tmp_path, animals, sign, name):
        text = ANIMALS.replace(",", sign).encode()
        path = written(tmp_path, gzip.compress(text) if name.endswith("gz") else text, name)
        same(read_rows(path), read_rows(animals))
        same(hc.read(path, format="rows"), read_rows(animals))

    def test_quotes_are_respected(self, tmp_path):
        path = written(tmp_path, '"acid, fixed";"a;b"\n1;x\n2;y\n')
        assert schema_of(path).source.names == ["acid, fixed", "a;b"]
        assert schema_of(written(tmp_path, "x;y,z\n1,2\n2,3\n")).source.names == ["x;y", "z"]

    @pytest.mark.parametrize(
        ("text", "names"),
        [
            ("width, cm;kind\n1,5;a\n2,5;b\n", ["width, cm", "kind"]),
            ("width, cm;height, cm\n1,5;2,5\n2,5;3,5\n", ["width, cm", "height, cm"]),
            ("width, cm;kind\n1;a\n2;b\n", ["width, cm", "kind"]),
            ("size, cm;kind;code\n1, 2;a;x\n3, 4;b;y\n", ["size, cm", "kind", "code"]),
            ("x;y,kind\n1;2,a\n3;4,b\n", ["x;y", "kind"]),
            ('"a;b",c\n"1,5",x\n"2;5",y\n', ["a;b", "c"]),
            ("a,b;c\n1,2\n3,4\n5\n", ["a", "b;c"]),
        ],
    )
    def test_the_first_records_decide_between_several_delimiters(self, tmp_path, text, names):
        path = written(tmp_path, text)
        assert open_table(path).names == names

    def test_a_single_column(self, tmp_path):
        assert schema_of(written(tmp_path, "colour\nred\nblue\n")).source.names == ["colour"]


class TestDecimalCommas:
    TEXT = "name;size;code\na;18,6;1,2\nb;7;x\nc;-0,5e1;3\n"

    def values(self, path, **options):
        h = read_rows(path, vertex="name", features=["size"], **options)
        return [value for _, value in h.edge_ids.tolist()]

    def test_detected_if_the_delimiter_is_not_a_comma(self, tmp_path):
        path = written(tmp_path, self.TEXT)
        assert self.values(path) == [18.6, 7.0, -5.0]
        assert [c.name for c in schema_of(path, vertex="name").columns if c.decimal_comma] == ["size"]

    def test_a_column_with_other_values_stays_text(self, tmp_path):
        h = read_rows(written(tmp_path, self.TEXT), features=["code"])
        assert [value for _, value in h.edge_ids.tolist()] == ["1,2", "x", "3"]

    def test_forced_and_forbidden(self, tmp_path):
        path = written(tmp_path, self.TEXT)
        assert self.values(path, decimal=".") == ["18,6", "7", "-0,5e1"]
        quoted = written(tmp_path, 'name,size\na,"1,5"\nb,2\nc,3\n')
        assert self.values(quoted) == ["1,5", "2", "3"]
        assert self.values(quoted, decimal=",") == [1.5, 2.0, 3.0]
        points = written(tmp_path, "name,size\na,1.5\nb,2\n")
        assert self.values(points, decimal=",") == ["1.5", "2"]


class TestRepeatedIds:
    def test_repeated_ids_get_a_number(self, tmp_path):
        path = written(tmp_path, "name,x\nfrog,1\nhen,2\nfrog,3\nfrog (2),4\nfrog,5\n")
        h = read_rows(path, vertex="name", repeated="number")
        assert h.vertex_ids.tolist() == ["frog", "hen", "frog (3)", "frog (2)", "frog (4)"]
        refused(lambda: read_rows(path, vertex="name"), "line 4", "'frog'", "repeated='number'")

    def test_integers_become_text_if_one_is_repeated(self, tmp_path):
        path = written(tmp_path, "id,x\n7,1\n8,2\n7,3\n")
        assert read_rows(path, vertex="id", repeated="number").vertex_ids.tolist() == ["7", "8", "7 (2)"]
        path = written(tmp_path, "id,x\n7,1\n8,2\n")
        assert read_rows(path, vertex="id", repeated="number").vertex_ids.tolist() == [7, 8]


class TestNumbers:
    def column(self, tmp_path, values, **options):
        path = written(tmp_path, "x\n" + "\n".join(values) + "\n")
        return [value for _, value in read_rows(path, **options).edge_ids.tolist()]

    def test_few_numbers_stay_as_they_are(self, tmp_path):
        assert self.column(tmp_path, [str(i % 10) for i in range(40)]) == list(range(10))
        assert self.column(tmp_path, ["0.5", "1.0", "1e1"]) == [0.5, 1.0, 10.0]

    def test_many_numbers_get_five_bins(self, tmp_path):
        found = self.column(tmp_path, [str(i) for i in range(11)])
        assert found == ["0 to 1", "2 to 3", "4 to 5", "6 to 7", "8 to 10"]
        assert len(self.column(tmp_path, [str(i / 7) for i in range(100)])) == 5

    def test_bins_on_request(self, tmp_path):
        many = [str(i) for i in range(100)]
        assert len(self.column(tmp_path, many, bins=3)) == 3
        assert len(self.column(tmp_path, many, bins=hc.Bins("quantile", 4))) == 4
        assert len(self.column(tmp_path, many, bins={"x": 7})) == 7
        assert len(self.column(tmp_path, many, bins=False)) == 100
        assert len(self.column(tmp_path, ["1", "2", "3", "4"], bins={"x": 2})) == 2
        assert len(self.column(tmp_path, ["1", "2", "3", "4"], bins=2)) == 4

    def test_a_mapping_leaves_other_columns_their_five_bins(self, tmp_path):
        path = written(tmp_path, "x,y\n" + "".join(f"{i},{i}\n" for i in range(100)))
        schema = schema_of(path, bins={"x": 3})
        assert schema.edge_counts(schema.hypergraph()) == {"x": 3, "y": 5}
        assert list(schema.bins) == ["x", "y"]

    @pytest.mark.parametrize("values", [["007", "1"], ["1", "a"], ["1_000", "2"], ["0x1", "2"], ["inf", "1"]])
    def test_text_stays_text(self, tmp_path, values):
        assert self.column(tmp_path, values) == values

    def test_words_for_missing_values_among_numbers(self, tmp_path):
        for word in ("NA", "NaN", "?", "null", ""):
            path = written(tmp_path, f"x,y\n1,a\n2,b\n{word},b\n")
            assert read_rows(path, missing="category").edge_ids.tolist()[:3] == [
                ("x", 1),
                ("x", 2),
                ("x", None),
            ]
            refused(lambda path=path: read_rows(path), "t.csv, line 4", "'x'", "missing='category'")
        assert self.column(tmp_path, ["a", "NA", "?"]) == ["a", "NA", "?"]

    @pytest.mark.parametrize(
        "values",
        [
            ["9223372036854775808", "9223372036854775809"],
            ["9007199254740993", "9007199254740992", "1.5"],
            ["-9007199254740993", "-9007199254740992", "1.5"],
            ["1e301", "1e3010", "14e3014"],
            [f"{i}{'0' * 30}" for i in range(1, 40)],
        ],
    )
    def test_numbers_that_floats_cannot_distinguish_stay_text(self, tmp_path, values):
        assert self.column(tmp_path, values) == values

    def test_integers_of_64_bits_and_large_floats_are_numbers(self, tmp_path):
        assert self.column(tmp_path, ["9007199254740993", "9007199254740992"]) == [2**53 + 1, 2**53]
        assert self.column(tmp_path, ["9007199254740991", "1.5", "1e300"]) == [2.0**53 - 1, 1.5, 1e300]

    def test_an_empty_field_in_quotes_is_missing_among_numbers(self, tmp_path):
        found = self.column(tmp_path, ['"1"', '""', '"2.5"'], missing="category")
        assert found == [1.0, 2.5, None]
        path = written(tmp_path, 'x,y\n"1","a"\n"","b"\n')
        refused(lambda: read_rows(path), "t.csv, line 3", "'x'", "the value is missing")
        assert self.column(tmp_path, ['"a"', '""']) == ["a", ""]

    @settings(deadline=None, max_examples=50)
    @given(
        values=st.lists(
            st.floats(allow_nan=False, allow_infinity=False), min_size=12, max_size=40, unique=True
        )
    )
    def test_as_from_table_with_bins(self, tmp_path_factory, values):
        path = tmp_path_factory.mktemp("rows") / "t.csv"
        path.write_text("x\n" + "\n".join(map(repr, values)) + "\n")
        wanted = hc.Hypergraph.from_table({"x": np.array(values)}, bins=5, constant="keep")
        same(read_rows(path, constant="keep"), wanted)

    def test_parquet_keeps_its_types(self, tmp_path):
        table = {
            "t": ["1", "2", "1"],
            "b": [True, False, True],
            "f": [0.5, None, float("nan")],
            "n": [1, 2, 3],
        }
        pq.write_table(pa.table(table), tmp_path / "t.parquet")
        found = read_rows(tmp_path / "t.parquet", missing="drop").edge_ids.tolist()
        assert found[:4] == [("t", "1"), ("t", "2"), ("b", True), ("b", False)]
        refused(lambda: read_rows(tmp_path / "t.parquet"), "t.parquet: row 1", "'f'", "the value is missing")


class TestSchema:
    def test_what_becomes_of_columns(self, tmp_path):
        lines = "".join(f"{i % 6},{i * 0.7},one,{'ab'[i % 2]}\n" for i in range(30))
        schema = schema_of(written(tmp_path, "legs,size,same,kind\n" + lines))
        assert schema.n_rows == 30
        counts = schema.edge_counts(schema.hypergraph())
        assert counts == {"legs": 6, "size": 5, "same": 0, "kind": 2}
        assert [column.name for column in schema.columns if column.numbers] == ["legs", "size"]
        assert (list(schema.bins), list(schema.remarks())) == (["size"], [])

    @pytest.mark.parametrize(
        ("column", "words"),
        [
            ([f"name {i}" for i in range(30)], "connects nothing; leave it out, or use it as the vertex ids"),
            ([f"name {i % 20}" for i in range(30)], "connects almost nothing; leave it out"),
            ([str(i + 5) for i in range(30)], "numbers the rows"),
            ([*map(str, range(29)), "unknown"], "holds 'unknown' among numbers"),
        ],
    )
    def test_remarks_on_unusual_columns(self, tmp_path, column, words):
        lines = "".join(f"{value},{i % 2}\n" for i, value in enumerate(column))
        (remark,) = schema_of(written(tmp_path, "odd,x\n" + lines)).remarks()
        assert words in str(remark)
        assert "'odd'" in str(remark)
        assert ("vertex ids" in str(remark)) == (len(set(column)) == 30 and "unknown" not in column)

    def test_remark_on_a_missing_header(self, tmp_path):
        data = "5.1,3.5,1.4,a\n4.9,3.0,1.4,a\n7.0,3.2,4.7,b\n"
        (remark,) = schema_of(written(tmp_path, data)).remarks()
        assert "add a line with names" in str(remark)
        years = schema_of(written(tmp_path, "name,2019,2020,2021\na,1,2,3\nb,3,2,1\n"))
        assert not list(years.remarks())

    def test_every_column_is_described(self, tmp_path):
        lines = "".join(
            f"n{i};{i % 3};{i}{',5' * (i > 3)};same;{'xy'[i % 2] * (i > 1)};c\n" for i in range(20)
        )
        path = written(tmp_path, "name;legs;size;one;kind;class\n" + lines)
        notes = [
            (note.column, note.becomes, note.distinct, note.missing, note.remark)
            for note in schema_of(path, exclude=["class"]).column_infos()
        ]
        assert notes == [
            ("name", "categories", 20, 0, "every value different"),
            ("legs", "numbers as they are", 3, 0, ""),
            ("size", "5 bins", 20, 0, "decimal comma"),
            ("one", "left out", 1, 0, "one value"),
            ("kind", "categories", 2, 2, ""),
            ("class", "left out", None, None, ""),
        ]


class TestFaults:
    @pytest.mark.parametrize(
        ("text", "options", "words"),
        [
            ("", {}, ["the file is empty"]),
            ("a,b\n", {}, ["no rows under its header"]),
            ("a,a\n1,2\n", {}, ["more than one column 'a'", "the first line must name the columns"]),
            ("a,,c\n1,2,3\n", {}, ["column 2 has no name"]),
            ("a,b\n1,2\n3\n", {}, ["line 3: 1 fields, but the header has 2"]),
            ("a,b\n1,\n", {}, ["line 2: column 'b': the value is missing", "missing='category'"]),
            (b"a,b\n1,\xff\n", {}, ["line 2", "UTF-8"]),
            ('a,b\n1,"2\n', {}, ["t.csv"]),
            ("a;b\n1;2\n", {"delimiter": ","}, ["one column, 'a;b'", "delimiter=';'"]),
            ("a,b\n1,2\n", {"vertex": "b,a"}, ["no column 'b,a'", "name each one separately"]),
            ("type,b\n1,2\n", {"vertex": "tpye"}, ["no column 'tpye'", "did you mean 'type'?"]),
            ("Type,b\n1,2\n", {"exclude": ["type"]}, ["did you mean 'Type'?"]),
            ("a,b\n1,2\n", {"vertex": "c"}, ["no column 'c'; its columns are 'a', 'b'"]),
            ("a,b\n1,2\n", {"exclude": ["c"]}, ["no column 'c'"]),
            ("a,b\n1,2\n", {"features": ["c"]}, ["no column 'c'"]),
            ("a,b\n1,2\n", {"features": ["a"], "exclude": ["b"]}, ["features or exclude, not both"]),
            ("a,b\n1,2\n", {"vertex": "a", "exclude": ["b"]}, ["no column is left"]),
            ("a,b\n1,2\n1,3\n", {"vertex": "a"}, ["line 3: column 'a': the vertex id 1", "an earlier row"]),
            ("a,b\n1,2\n,3\n", {"vertex": "a"}, ["line 3: column 'a': the value is missing"]),
            ("a,b\n1,2\n1,2\n", {}, ["t.csv: no feature has two different values"]),
            ("a,b\nx,2\ny,2\n", {"constant": "error"}, ["t.csv: column 'b' has the single value 2"]),
            (
                "a,b\nx,2\ny,2\n",
                {"bins": {"a": 2}},
                ["t.csv, line 2: column 'a' cannot have bins: 'x' is no"],
            ),
            (
                "a,b\n1,2\n,2\nNA,2\nx,2\n",
                {"bins": {"a": 2}, "missing": "drop"},
                ["line 5", "'x' is not a number"],
            ),
            ("a,b\nx,2\ny,2\n", {"bins": {"c": 2}}, ["bins names 'c'"]),
            ("a,b\nx,2\ny,2\n", {"bins": {"b": 2}, "exclude": ["b"]}, ["not among the columns used"]),
            ("a,b\nx,2\ny,2\n", {"bins": 1}, ["from 2"]),
            ("a,b\nx,2\ny,2\n", {"missing": "fill"}, ["missing must be"]),
            ("a,b\nx,2\ny,2\n", {"ids": "odd"}, ["ids must be"]),
            ("a\n1e999\n2\n3\n", {"bins": {"a": 2}}, ["t.csv, line 2", "'1e999' is too large a number"]),
            ("a;b\n1,5;2\n1e999;2\n", {"bins": {"a": 2}}, ["t.csv, line 3", "'1e999' is too large"]),
            ("a,b\n1,2\n", {"decimal": "x"}, ["decimal must be"]),
            ("a,b\n1,2\n", {"repeated": "x"}, ["repeated must be"]),
            ("a,b\nx,\ny,\nz,\n", {"missing": "drop", "features": ["b"]}, ["t.csv"]),
        ],
    )
    def test_errors_name_the_file(self, tmp_path, text, options, words):
        path = written(tmp_path, text)
        refused(lambda: hc.read(path, format="rows", **options), *words)

    def test_infinite_numbers_have_no_bins(self, tmp_path):
        pq.write_table(pa.table({"a": [1.0, float("inf"), 2.0]}), tmp_path / "t.parquet")
        words = "row 1, column 'a': the number is infinite"
        refused(lambda: read_rows(tmp_path / "t.parquet", bins={"a": 2}), words)

    def test_parquet_without_rows(self, tmp_path):
        pq.write_table(
            pa.table({"a": pa.array([], pa.int64()), "b": pa.array([], pa.string())}), tmp_path / "t.pq"
        )
        refused(lambda: read_rows(tmp_path / "t.pq"), "t.pq", "the table has no rows")

    def test_read_explains_how_to_read_a_table_that_is_not_long(self, animals):
        refused(lambda: hc.read(animals), "no column 'vertex'", "'legs'", "format='rows'")
        refused(lambda: hc.read(animals, edge="legs"), "no column 'vertex'", "format='rows'")
        refused(lambda: hc.read(animals, vertex="who", edge="legs"), "no column 'who'")

    def test_it_cannot_be_written(self, tmp_path, animals):
        h = hc.read(animals, format="rows")
        refused(
            lambda: hc.write(h, tmp_path / "out.csv", format="rows"), "out.csv", "can be read, not written"
        )
        assert not (tmp_path / "out.csv").exists()

    def test_unknown_options_are_named(self, animals):
        refused(lambda: hc.read(animals, format="rows", colour=1), "the format rows has no option 'colour'")


class TestOneColumn:
    @pytest.mark.parametrize(
        ("end", "block"), [("\n", 16), ("\r\n", 16), ("\n", 1 << 24), ("\r\n", 1 << 24), ("\r", 1 << 24)]
    )
    def test_a_blank_line_is_a_missing_value(self, tmp_path, end, block):
        path = written(tmp_path, end.join(["", "", "colour", "red", "", "blue", "red", "", "", ""]))
        source = open_table(path, tuning=Tuning(text_block=block))
        refused(
            lambda: infer_schema(source, WideOptions()).hypergraph(), "t.csv, line 5:", "the value is missing"
        )
        source = open_table(path, tuning=Tuning(text_block=block))
        h = infer_schema(source, WideOptions(missing="category")).hypergraph()
        assert h.edge_ids.tolist() == [("colour", "red"), ("colour", "blue"), ("colour", None)]
        assert h.gamma.toarray().tolist() == [[1, 0, 0, 1], [0, 0, 1, 0], [0, 1, 0, 0]]

    def test_without_blank_lines(self, tmp_path):
        for text in ("colour\nred\nblue\n", "\n\ncolour\nred\nblue\n\n\n", "colour\nred\nblue"):
            assert read_rows(written(tmp_path, text)).n_vertices == 2


class TestSigns:
    def test_thousands(self, tmp_path):
        path = written(tmp_path, 'a,b\nx,"1,396"\ny,"2,000.5"\nz,7\n')
        assert read_rows(path, thousands=",").edge_ids.tolist()[3:] == [("b", 1396), ("b", 2000.5), ("b", 7)]
        path = written(tmp_path, "a;b;c\nx;1.396;2,5\ny;2.000;1.000,25\n")
        columns = schema_of(path, thousands=".").columns
        assert [column.values.to_pylist() for column in columns[1:]] == [[1396, 2000], [2.5, 1000.25]]

    @pytest.mark.parametrize("text", ['a,b\nx,7\ny,"1,396"\n', "a;b\nx;?\ny;12,000\nz;1,500\n"])
    def test_ambiguous_commas_are_refused(self, tmp_path, text):
        path = written(tmp_path, text)
        refused(lambda: read_rows(path, missing="drop"), "t.csv, line 3: column 'b'", "thousands or decimals")
        for options in ({"thousands": ","}, {"decimal": ","}, {"decimal": "."}):
            assert read_rows(path, missing="drop", isolated="keep", **options).n_edges >= 4

    @pytest.mark.parametrize("few_rows", [0, 1000])
    @pytest.mark.parametrize(
        ("text", "is_refused"),
        [
            ("a;b\nx;950\ny;1.234\n", True),
            ("a\tb\nx\t950\ny\t1.234\n", True),
            ("a;b\nx;NA\ny;1.234\nz;2\n", True),
            ("a;b\nx;2.500\ny;1.234\n", True),
            ("a\tb\nx\t2.500\ny\t1.234\n", False),  # three decimals, as far as one can tell
            ("a;b\nx;950\ny;0.125\n", False),
            ("a;b\nx;950\ny;1.234\nz;1.5\n", False),
            ("a;b;c\nx;950;0.5\ny;1.234;2\n", False),  # another column has decimal points
            ("a,b\nx,950\ny,1.234\n", False),
            ("a;b\nx;v\ny;1.234\n", False),
        ],
    )
    def test_ambiguous_points_are_refused(self, tmp_path, few_rows, text, is_refused):
        path = written(tmp_path, text)
        names = open_table(path).names

        def numbers(**options):
            return read_columns(open_table(path), names, few_rows=few_rows, **options)[1].values.to_pylist()

        if is_refused:
            refused(numbers, ": column 'b': the point of ", "thousands='.'", "decimal='.'")
            assert 1234 in numbers(thousands=".")
            assert 1.234 in numbers(decimal=".")
        else:
            assert "thousands" not in str(numbers())

    def test_points_beside_decimal_commas_are_refused(self, tmp_path):
        path = written(tmp_path, "a;b\n1.500;2,5\n2.000;1,25\n")
        refused(lambda: read_rows(path), "line 2: column 'a': '1.500' has a point", "column 'b'")
        assert schema_of(path, thousands=".").columns[0].values.to_pylist() == [1500, 2000]


def test_many_columns_take_linear_time(tmp_path):
    """Looking a name up in a list for each of 100,000 columns would take minutes."""
    path = written(tmp_path, ",".join(f"c{i}" for i in range(100_000)) + "\n" + "0," * 99_999 + "1\n")
    source = open_table(path)
    source.names = CountedNames(source.names)
    assert source.column("c99999") == "c99999"
    (values,) = next(source.batches(["c99999"]))
    assert values.to_pylist() == ["1"]
    for i in range(50):
        source.column(f"c{i}")
    assert source.names.searched == 0


cells = st.sampled_from(
    [
        "",
        *[
            "1",
            "2",
            "1.0",
            "1.5",
            "-0",
            "0",
            "007",
            "a",
            "b",
            "NA",
            "?",
            "1,5",
            "1,500",
            "1e999",
            "+5",
            ".5",
            "-3",
            "1e-400",
            "9007199254740993",
            "9e99",
        ],
    ]
)


@settings(deadline=None, max_examples=150)
@given(data=st.data(), delimiter=st.sampled_from(",;"))
def test_columns_of_a_short_table_are_inferred_like_those_of_a_long_one(tmp_path_factory, data, delimiter):
    pools = data.draw(st.lists(st.lists(cells, min_size=1, max_size=3), min_size=1, max_size=4))
    rows = data.draw(st.lists(st.tuples(*map(st.sampled_from, pools)), min_size=1, max_size=6))
    names = [f"c{number}" for number in range(len(pools))]
    lines = [names, *([f'"{cell}"' if "," in cell else cell for cell in row] for row in rows)]
    path = tmp_path_factory.mktemp("t") / "t.csv"
    path.write_text("".join(delimiter.join(line) + "\n" for line in lines))
    found = []
    for few_rows in (0, 1000):
        try:
            columns = read_columns(open_table(path), names, few_rows=few_rows)
            found.append([repr((*astuple(one)[2:], one.values.to_pylist())) for one in columns])
        except hc.InputError as error:
            found.append([str(error)])
    assert found[0] == found[1]


class CountedNames(list):
    """Column names that count linear searches."""

    searched = 0

    def count(self, *args):
        self.searched += 1
        return super().count(*args)

    def index(self, *args):
        self.searched += 1
        return super().index(*args)


def test_words_for_missing_numbers_in_slices():
    """Also with old versions of PyArrow, whose choice between slices of text is invalid."""
    pa = pytest.importorskip("pyarrow")
    array = pa.array(["0", "1", "3", "NA", "2"]).slice(1, 3)
    chunked = pa.chunked_array([["0", "1"], ["3", "NA", "2"]]).slice(1, 3)
    for text in (array, chunked):
        found = missing_words(text)
        found.validate(full=True)
        assert found.to_pylist() == ["1", "3", None]
