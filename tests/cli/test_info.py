"""The command info."""

import json

import pandas as pd
import pytest

from support.command_line import assert_refused, inside

PAPERS = "author,paper,share\nann,p1,3\nbob,p1,1\nbob,p2,1\ncy,p2,2\ncy,p3,1\ndee,p3,1\n"
COLUMNS = ("--vertex", "author", "--edge", "paper", "--weight", "share")


@pytest.fixture
def papers(tmp_path):
    (tmp_path / "papers.csv").write_text(PAPERS)
    return tmp_path / "papers.csv"


def test_info(papers):
    done = inside("info", papers, *COLUMNS)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("4 authors, 3 papers, 6 incidences\n1 connected component,")
    found = json.loads(inside("info", papers, *COLUMNS, "--json").stdout)
    assert found["n_incidences"] == 6
    assert found["gamma"] == [1, 1, 1, 1.75, 3]


def test_info_on_a_table_with_a_row_per_vertex(tmp_path):
    (tmp_path / "t.csv").write_text("colour,class\nred,1\nred,1\nblue,2\n")
    done = inside("info", tmp_path / "t.csv", "--label", "class")
    assert done.returncode == 0, done.stderr
    assert "\n3 vertices, 2 hyperedges, 3 incidences\n" in done.stdout
    assert done.stdout.splitlines()[:3] == [
        "  column  becomes     values  missing  remark",
        "  colour  categories       2        0",
        "  class   class",
    ]
    assert "row per vertex (3 rows, 1 column, 2 hyperedges)" in done.stderr
    assert inside("info", tmp_path / "t.csv", "--label", "class", "-q").stderr == ""


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a,b\n1,x\n2,\n", "line 3: column 'b': the value is missing; fill it, or use --missing category"),
        ("a,b\n1,x\n1,x\n", "add a feature, or use -o constant=keep"),
    ],
)
def test_info_shows_the_columns_if_they_make_no_hypergraph(tmp_path, text, why):
    (tmp_path / "t.csv").write_text(text)
    done = inside("info", tmp_path / "t.csv")
    assert done.returncode == 0
    assert done.stderr == ""
    assert done.stdout.splitlines()[1].startswith("  a       ")
    last = done.stdout.splitlines()[-1]
    assert last.startswith("no hypergraph: ")
    assert last.endswith(" (a row per vertex was assumed; for a row per incidence use --vertex and --edge)")
    assert why in done.stdout
    found = json.loads(inside("info", tmp_path / "t.csv", "--json").stdout)
    assert why in found["fault"]
    assert [one["column"] for one in found["columns"]] == ["a", "b"]


def test_info_as_json_has_columns_and_figures(tmp_path):
    (tmp_path / "t.csv").write_text("id;size\na;1,5\nb;2\n")
    found = json.loads(inside("info", tmp_path / "t.csv", "--id", "id", "--json").stdout)
    assert found["n_vertices"] == 2
    assert found["fault"] is None
    assert found["columns"] == [
        {"column": "id", "becomes": "vertex ids", "distinct": None, "missing": None, "remark": ""},
        {
            "column": "size",
            "becomes": "numbers as they are",
            "distinct": 2,
            "missing": 0,
            "remark": "decimal comma",
        },
    ]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("ann,p1\nbob,p2\ncy,p3\n", "'p1'"),  # like p2 and p3
        ("ann,bob\nbob,cy\ncy,dee\n", "'bob'"),  # is in the other column
        ("2020-01-01,x\n2020-01-02,y\n2020-02-01,y\n", "'2020-01-01'"),
        ("q1,q2\nyes,no\nno,no\n", None),
        ("name,paper\nbob,p2\ncy,p3\n", None),
        ("q1,q2\n1,2\n3,4\n", None),
    ],
)
def test_names_that_look_like_values_are_remarked_on(tmp_path, text, name):
    path = tmp_path / "t.csv"
    path.write_text(text)
    told = inside("info", path).stderr
    assert (f"the name {name} looks like a value of the table" in told) == (name is not None), told
    assert ("looks like a value" in told) == (name is not None)


MESSY = b"""author,paper,share
ann,p1,3
ann,p1,3
bob,p1,
cy,p1,"1,396"
cy,p2,"2,000"
dee,p2,few
eve,p2,-1
eve,p2
fay,P1 ,1
M\xfcller,p2,1
M\xfcller,p1,1
ann,p1,4
,p1,1
"""


class TestProblems:
    """All kinds of problems are counted, each with a remedy; the first bad row is not the end."""

    @pytest.mark.parametrize("options", [[], ["--vertex", "a", "--edge", "b", "--weight", "n"]])
    def test_points_that_may_separate_thousands(self, tmp_path, options):
        (tmp_path / "t.csv").write_text("a;b;n\nx;p;950\ny;p;1.234\nz;q;2.900\n")
        found = inside("info", tmp_path / "t.csv", *options).stdout
        counted = (
            "- 2 numbers have points that may separate thousands or decimals ('1.234'), first in line 3; "
        )
        assert f"{counted}use --thousands . or -o decimal=.\n" in found
        assert "thousands" not in inside("info", tmp_path / "t.csv", *options, "--thousands", ".").stdout

    def test_points_that_separate_thousands(self, papers):
        papers.write_text("author;paper;share\nann;p1;1.234,56\nbob;p1;2.000,5\n")
        told = inside("info", papers, *COLUMNS).stdout
        assert (
            "- 2 weights have separators of thousands ('1.234,56'), first in line 2; use --thousands ."
            in told
        )

    def test_every_kind(self, papers):
        papers.write_bytes(MESSY)
        done = inside("info", papers, *COLUMNS)
        assert (done.returncode, done.stderr) == (0, "")
        *problems, last = done.stdout.splitlines()
        for part in (
            "- 2 lines are not UTF-8 text, first in line 11; ",
            "- 1 line has another number of fields (2) than the header (3), first in line 9; ",
            "- 1 row has no vertex, first in line 14; fill it, or use --missing drop to leave such rows out",
            "- 1 row has no weight, first in line 4; ",
            "- 2 weights have separators of thousands ('1,396'), first in line 5; use ",
            "- 1 weight is below 0 ('-1'), first in line 8; ",
            "- 1 weight is not a finite number ('few'), first in line 7; ",
            "- 1 line is an exact copy of an earlier one, first in line 3; remove copies that are mistakes",
            "- 1 row repeats the vertex and hyperedge of an earlier row, first in line 13; use --duplicates",
            "- 1 hyperedge is spelled like another ('p1' and 'P1 '); ",
        ):
            assert problems.pop(0).startswith(part)
        assert problems == []
        assert last.startswith(f"no hypergraph: {papers}, line 11: ")
        found = json.loads(inside("info", papers, *COLUMNS, "--json").stdout)
        assert [(one["kind"], one["count"], one["line"]) for one in found["problems"]][:2] == [
            ("encoding", 2, 11),
            ("fields", 1, 9),
        ]

    def test_each_is_solved_by_its_remedy(self, papers):
        papers.write_text('author,paper,share\nann,p1,3\nann,p1,3\ncy,p1,"1,396"\n')
        assert "use --thousands ," in inside("info", papers, *COLUMNS).stdout
        done = inside("info", papers, *COLUMNS, "-o", "thousands=,", "--duplicates", "sum")
        assert "no hypergraph" not in done.stdout
        assert done.stdout.splitlines()[-1] == (
            "- 1 line is an exact copy of an earlier one, first in line 3; remove copies that are mistakes"
        )

    def test_a_row_per_vertex(self, papers):
        papers.write_text("name,size,kind\na,1,x\na,2,y\na,1,x\nb,2\n")
        done = inside("info", papers, "--id", "name")
        assert done.returncode == 0
        fields, copies, repeated, fault = done.stdout.splitlines()
        assert fields.startswith("- 1 line has another number of fields (2)")
        assert copies.startswith("- 1 line is an exact copy of an earlier one, first in line 4;")
        assert repeated.startswith("- 1 row repeats the vertex id of an earlier row, first in line 3; make")
        assert "line 5: 2 fields, but the header has 3" in fault
        assert "assumed" not in fault

    @pytest.mark.parametrize(
        ("name", "word", "first"), [("t.parquet", "row", 0), ("t.xlsx", "row", 2), ("t.jsonl", "line", 1)]
    )
    def test_tables_with_types(self, tmp_path, name, word, first):
        frame = pd.DataFrame(
            {
                "author": ["ann", "ann", "bob", None, "Ann"],
                "paper": ["p1", "p1", "p1", "p2", "p2"],
                "share": [1.5, 2.5, None, 1.5, -1.5],
            }
        )
        path = tmp_path / name
        if name == "t.parquet":
            frame.to_parquet(path)
        elif name == "t.xlsx":
            frame.to_excel(path, index=False)
        else:
            frame.to_json(path, orient="records", lines=True)
        done = inside("info", path, *COLUMNS)
        assert done.returncode == 0, done.stderr
        assert [line.partition(";")[0] for line in done.stdout.splitlines()[:-1]] == [
            f"- 1 row has no vertex, first in {word} {first + 3}",
            f"- 1 row has no weight, first in {word} {first + 2}",
            f"- 1 weight is below 0 ('-1.5'), first in {word} {first + 4}",
            f"- 1 row repeats the vertex and hyperedge of an earlier row, first in {word} {first + 1}",
            "- 1 vertex is spelled like another ('ann' and 'Ann')",
        ]
        with_missing = inside("info", path, *COLUMNS, "--missing", "drop").stdout
        assert "no weight" not in with_missing
        assert "below 0" in with_missing

    def test_a_row_per_vertex_is_not_called_assumed_where_it_is_known(self, papers):
        papers.write_text("vertex,edge\na,x\nb\n")
        assert "a row per vertex was assumed" not in inside("info", papers).stdout
        papers.write_text("author,paper\na,x\nb\n")
        assert "a row per vertex was assumed" in inside("info", papers).stdout
        assert "a row per vertex was assumed" not in inside("info", papers, "--from", "rows").stdout

    @pytest.mark.parametrize(
        ("text", "part"),
        [
            ('v,e\na,x\n"b,x\nc,x\n', "1 quote is wrong (unexpected end of data), first in line 3"),
            ('v,e\na,x\n"b"c,x\nc,x\nd\n', "1 quote is wrong ("),
            ("v;e\na;x\nb\n", "1 line has another number of fields (1) than the header (2), first in line 3"),
            (
                "v,e\n\n\na,x,1\n",
                "1 line has another number of fields (3) than the header (2), first in line 4",
            ),
        ],
    )
    def test_lines(self, papers, text, part):
        papers.write_text(text)
        assert f"- {part}" in inside("info", papers, "--vertex", "v", "--edge", "e").stdout

    @pytest.mark.parametrize("content", [b"", b"\0\0\0"])
    def test_without_rows_there_is_only_the_fault(self, papers, content):
        papers.write_bytes(content)
        assert_refused(inside("info", papers, *COLUMNS), "papers.csv")

    def test_wrong_columns_are_refused(self, papers):
        assert_refused(inside("info", papers, "--vertex", "x", "--edge", "paper"), "no column 'x'")


def test_heavy_tails_and_names_are_remarked_on(papers):
    rows = [f"v{i % 30},e{i % 7},{1 + i % 3}" for i in range(200)] + [
        "v1,f,5692",
        "v2,f,1",
        "V1,f,1",
        "V2,f,1",
    ]
    papers.write_text("author,paper,share\n" + "\n".join(rows) + "\n")
    told = inside("info", papers, *COLUMNS, "--duplicates", "max").stdout
    assert "95 % of the author weights are at most 3, but the largest is 5,692, in paper 'f'" in told
    assert "2 author ids differ from others only in case, spaces or type, as do 'v1' and 'V1'" in told


def test_info_on_records_with_several_lists(tmp_path):
    rows = [{"doi": f"p{i}", "authors": ["a", "b"], "keywords": ["x"]} for i in range(3)]
    (tmp_path / "papers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    wanted = (
        "columns 'authors' and 'keywords' hold lists; choose one with --vertex authors (and --edge doi to"
    )
    assert_refused(inside("info", tmp_path / "papers.jsonl"), wanted)


def test_a_column_that_may_be_weights_is_named(papers):
    done = inside("info", papers, *COLUMNS[:4])
    assert done.stderr == f"hyperclus: {papers}: column 'share' is not used; --weight share uses it\n"
    assert inside("info", papers, *COLUMNS).stderr == ""
    assert inside("info", papers, *COLUMNS[:4], "--quiet").stderr == ""
