"""The commands cluster, suggest-k, report and demo."""

import csv
import json
import shlex
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hyperclus as hc
from hyperclus.clustering.frames import LABEL_COLUMNS
from hyperclus.engines import cuda
from hyperclus.io.tables import open_table
from hyperclus.io.tables.schema import read_columns
from support import stand_in_device
from support.command_line import Done, assert_refused, inside

ANIMALS = "name,size,milk,eggs,class\n" + "".join(
    f"{kind}{i},{10 * i + j * 120},{'yn'[j]},{'ny'[j]},{kind}\n"
    for j, kind in enumerate(("cow", "hen"))
    for i in range(12)
)
PAPERS = "author,paper,share,field\nann,p1,3,x\nbob,p1,1,x\nbob,p2,1,x\ncy,p2,2,y\ncy,p3,1,y\ndee,p3,1,y\n"
LONG = ("--vertex", "author", "--edge", "paper", "--weight", "share")


@pytest.fixture
def animals(tmp_path):
    path = tmp_path / "animals.csv"
    path.write_text(ANIMALS)
    return path


@pytest.fixture
def papers(tmp_path):
    path = tmp_path / "papers.csv"
    path.write_text(PAPERS)
    return path


def labels(done):
    assert done.returncode == 0, done.stderr
    return {row["vertex"]: int(row["cluster"]) for row in csv.DictReader(done.stdout.splitlines())}


class TestReading:
    def test_a_note_says_that_a_table_has_a_row_per_vertex(self, animals):
        done = inside("cluster", animals, "-k", 2, "--id", "name", "--label", "class")
        assert done.returncode == 0, done.stderr
        assert done.stderr.count("\n") == 1
        assert "row per vertex (24 rows, 3 columns, 9 hyperedges; size: 5 bins)" in done.stderr
        assert "give --vertex and --edge" in done.stderr
        assert "F1 1.0000, NMI 1.0000, ARI 1.0000" in done.stdout

    def test_given_formats_need_no_note(self, animals, papers):
        assert "give --vertex" not in inside("cluster", animals, "-k", 2, "--from", "rows").stderr
        assert inside("cluster", papers, "-k", 2, *LONG).stderr == ""

    @pytest.mark.parametrize(("sign", "words"), [(";", "';'"), ("|", "'|'"), ("\t", "tabs")])
    def test_other_delimiters_are_detected_and_named(self, animals, papers, sign, words):
        wanted = inside("cluster", animals, "-k", 2, "--id", "name", "--label", "class", "--json").stdout
        animals.write_text(ANIMALS.replace(",", sign))
        options = ("-k", 2, "--id", "name", "--label", "class", "--json")
        done = inside("cluster", animals, *options)
        assert f"row per vertex, separated by {words} (24 rows, 3 columns" in done.stderr
        assert json.loads(done.stdout)["agreement"] == json.loads(wanted)["agreement"]
        given = inside("cluster", animals, *options, "--delimiter", {"\t": r"\t"}.get(sign, sign))
        assert given.returncode == 0, given.stderr
        assert "separated by" not in given.stderr
        papers.write_text(PAPERS.replace(",", sign))
        assert labels(inside("cluster", papers, "-k", 2, *LONG, "--label", "field", "--csv"))["ann"] == 0

    def test_a_wrong_delimiter_names_the_right_option(self, animals):
        animals.write_text(ANIMALS.replace(",", ";"))
        assert_refused(inside("cluster", animals, "-k", 2, "--delimiter", ","), "use --delimiter ';'")

    def test_decimal_commas_are_mentioned(self, animals):
        text = ANIMALS.replace(",", ";").replace("0;", "0,5;")
        animals.write_text(text)
        options = ("-k", 2, "--id", "name", "--label", "class")
        assert "size: 5 bins; size: decimal commas)" in inside("cluster", animals, *options).stderr
        assert (
            "size" not in inside("cluster", animals, *options, "-o", "decimal=.").stderr.split("column 's")[0]
        )

    def test_one_column_is_a_table_with_a_row_per_vertex(self, tmp_path):
        (tmp_path / "t.csv").write_text("colour\nred\nblue\nred\n")
        done = inside("cluster", tmp_path / "t.csv", "-k", 2, "--csv")
        assert labels(done).keys() == {"0", "1", "2"}

    def test_repeated_ids_get_a_number(self, animals):
        animals.write_text(ANIMALS.replace("cow3", "cow2"))
        options = ("-k", 2, "--id", "name", "--label", "class", "--csv", "-q")
        assert_refused(inside("cluster", animals, *options), "line 5", "'cow2'", "-o repeated=number")
        found = labels(inside("cluster", animals, *options, "-o", "repeated=number"))
        assert found["cow2"] == found["cow2 (2)"] != found["hen2"]

    def test_the_same_as_in_python(self, animals, papers):
        h = hc.read(animals, format="rows", vertex="name", exclude=["class"])
        part = hc.cluster(h, k=3, seed=4)
        found = labels(
            inside("cluster", animals, "-k", 3, "--id", "name", "--exclude", "class", "--seed", 4, "--csv")
        )
        assert list(found) == h.vertex_ids.tolist()
        assert list(found.values()) == part.labels.tolist()
        done = inside("cluster", papers, "-k", 2, *LONG, "--json", "--alpha", 1, "--method", "hyperclus-g")
        h = hc.read(papers, vertex="author", edge="paper", weight="share")
        record = json.loads(done.stdout)
        assert record["ncut"] == hc.hyperclus_g(h, k=2, alpha=1).ncut
        assert (record["settings"]["method"], record["settings"]["alpha"]) == ("hyperclus_g", 1.0)
        for option in (("--effort", "fast"), ("--min-share", 0.1)):
            done = inside("cluster", papers, "-k", 2, *LONG, "--method", "hyperclus-g", *option)
            assert done.returncode == 2
            assert f"{option[0]} does not apply to --method hyperclus-g" in done.stderr

    def test_the_label_is_not_used_for_clustering(self, tmp_path):
        rng = np.random.default_rng(0)
        lines = [f"{rng.integers(3)},{rng.integers(3)},{i % 2}" for i in range(40)]
        path = tmp_path / "t.csv"
        path.write_text("a,b,c\n" + "\n".join(lines) + "\n")
        with_label = labels(inside("cluster", path, "-k", 2, "--label", "c", "--csv"))
        assert with_label == labels(inside("cluster", path, "-k", 2, "--exclude", "c", "--csv"))
        assert with_label != labels(inside("cluster", path, "-k", 2, "--csv"))

    def test_bins(self, animals):
        def edges(*options):
            done = inside("info", animals, "--exclude", "name", "--exclude", "class", "--json", *options)
            return json.loads(done.stdout)["n_edges"] - 4

        assert edges() == 5
        assert edges("--bins", 3) == 3
        assert edges("--bins", "quantile:4") == 4
        assert edges("--bins", "none") == 24
        assert edges("--bins", "size=quantile:6") == 6

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            (("-k", "2", "--vertex", "name"), ["--vertex is for a table with a row per incidence"]),
            (("-k", "2", "--weight", "size"), ["--weight is for"]),
            (("-k", "2", "--label", "kind"), ["animals.csv", "no column 'kind'"]),
            (("-k", "2", "--exclude", "kind"), ["animals.csv", "no column 'kind'"]),
            (("-k", "2", "--exclude", "milk,eggs"), ["no column 'milk,eggs'", "name each one separately"]),
            (("-k", "2", "--label", "clas"), ["no column 'clas'", "did you mean 'class'?"]),
            (("-k", "2", "--id", "Name"), ["no column 'Name'", "did you mean 'name'?"]),
            (("-k", "2", "--vertex", "nam", "--edge", "milk"), ["no column 'nam'", "did you mean 'name'?"]),
            (("-k", "2", "--bins", "sise=3"), ["'sise'", "did you mean 'size'?"]),
            (("-k", "2", "--max-k", "3"), ["--max-k is for -k auto"]),
            (("-k", "2", "--id", "milk"), ["animals.csv, line 3", "the vertex id 'y'", "earlier row"]),
            (("-k", "2", "--bins", "odd"), ["--bins odd", "'quantile'"]),
            (
                ("-k", "2", "--bins", "milk=3"),
                ["line 2", "column 'milk' cannot have bins", "'y' is not a number"],
            ),
            (("-k", "2", "--bins", "3", "--bins", "size=4"), ["given once for all columns"]),
            (("-k", "2", "--from", "odd"), ["no format 'odd'"]),
            (("-k", "2", "--from", "csv"), ["no column 'vertex'"]),
            (("-k", "2", "-o", "colour=red"), ["no option 'colour'"]),
            (("-k", "2", "-o", "colour"), ["NAME=VALUE"]),
            (("-k", "2", "--label", "class", "--classes", "animals.csv"), ["choose one"]),
            (("-k", "two"), ["whole number from 1, or auto", "'two'"]),
            (("-k", "0"), ["whole number from 1"]),
            ((), ["-k 3"]),
            (("-k", "2", "--json", "--csv"), ["choose --json or --csv"]),
            (("-k", "2", "--quiet", "--verbose"), ["choose --quiet or --verbose"]),
        ],
    )
    def test_refused(self, animals, monkeypatch, options, words):
        monkeypatch.chdir(animals.parent)
        quiet = () if "--quiet" in options else ("--quiet",)
        assert_refused(inside("cluster", animals, *options, *quiet), *words)


class TestClasses:
    def test_of_a_long_table(self, papers):
        done = inside("cluster", papers, "-k", 2, *LONG, "--label", "field", "--json")
        assert json.loads(done.stdout)["agreement"]["classes"] == ["x", "y"]

    @pytest.mark.parametrize("ids", [(), ("--id", "name")])
    def test_dropped_rows_have_no_class(self, tmp_path, ids):
        path = tmp_path / "t.csv"
        path.write_text("name,a,b,class\np,1,x,1\nq,,,9\nr,1,x,1\ns,2,y,2\nt,2,y,2\n")
        options = ("-o", "missing=drop", "-o", "isolated=drop")
        options = (*options, *(ids or ("--exclude", "name")))
        done = inside("cluster", path, "-k", 2, "--label", "class", *options, "--json")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["agreement"]["classes"] == [1, 2]

    def test_a_vertex_has_one_class(self, papers):
        papers.write_text(PAPERS.replace("cy,p3,1,y", "cy,p3,1,z"))
        done = inside("cluster", papers, "-k", 2, *LONG, "--label", "field")
        assert_refused(
            done, "papers.csv, line 6", "'field'", "vertex 'cy' has 'z', but 'y' in an earlier row"
        )

    @pytest.mark.parametrize("name", ["c.csv", "c.tsv", "c.parquet"])
    def test_in_a_separate_file(self, papers, tmp_path, name):
        classes = tmp_path / name
        if name == "c.parquet":
            pq.write_table(pa.table({"who": ["dee", "cy", "bob", "ann"], "what": [2, 2, 1, 1]}), classes)
        else:
            text = "who,what\ndee,2\ncy,2\nbob,1\nann,1\n"
            classes.write_text(text.replace(",", "\t") if name == "c.tsv" else text)
        for options in (LONG, ()):
            source = papers
            if not options:
                source = tmp_path / "papers.json"
                assert inside("convert", papers, source, *LONG).returncode == 0
            done = inside("cluster", source, "-k", 2, *options, "--classes", classes, "--json")
            assert done.returncode == 0, done.stderr
            assert json.loads(done.stdout)["agreement"]["counts"] == [[2, 0], [0, 2]]

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("who,what\nann,1\n", ["3 vertices have no class: 'bob', 'cy', 'dee'; give"]),
            ("who,what\nann,1\nbob,1\ncy,\ndee,2\n", ["line 4", "the class is missing"]),
            ("who,what\nann,1\nbob,1\ncy,1\ndee,2\ndee,3\n", ["line 6", "vertex 'dee' has 3, but 2"]),
            ("who\nann\n", ["two columns"]),
            ("a,b,c\n1,2,3\n", ["two columns", "it has 3"]),
            ("", ["the file is empty"]),
        ],
    )
    def test_bad_classes_are_one_line(self, papers, tmp_path, text, words):
        (tmp_path / "c.csv").write_text(text)
        assert_refused(
            inside("cluster", papers, "-k", 2, *LONG, "--classes", tmp_path / "c.csv"), "c.csv", *words
        )

    def test_classes_of_other_vertices_are_left_out_and_counted(self, papers, tmp_path):
        (tmp_path / "c.csv").write_text("who,what\nzoe,1\nann,1\nbob,1\ncy,2\ndee,2\neve,3\n")
        done = inside("cluster", papers, "-k", 2, *LONG, "--classes", tmp_path / "c.csv", "--json")
        assert json.loads(done.stdout)["agreement"]["counts"] == [[2, 0], [0, 2]]
        assert "2 rows name no vertex of the hypergraph: 'eve', 'zoe'; left out" in done.stderr

    def test_formats_without_columns_refer_to_the_option_for_a_file(self, papers, tmp_path):
        inside("convert", papers, tmp_path / "p.json", *LONG)
        assert_refused(inside("cluster", tmp_path / "p.json", "-k", 2, "--label", "field"), "--classes")


class TestOutputs:
    def test_terminal_output(self, animals):
        done = inside("cluster", animals, "-k", 2, "--id", "name", "--label", "class")
        lines = done.stdout.splitlines()
        assert lines[0] == "Partition of 24 vertices into 2 clusters"
        assert any(line.startswith("  proven       no 2 clusters have less than") for line in lines)
        (first,) = (line for line in lines if line.startswith("        0    12"))
        assert "milk = " in first
        assert "\x1b" not in done.stdout

    @pytest.mark.parametrize("name", ["out.csv", "out.tsv", "out.json", "out.parquet", "out.csv.gz"])
    def test_labels_in_files(self, animals, tmp_path, name):
        out = tmp_path / name
        done = inside("cluster", animals, "-k", 2, "--id", "name", "--label", "class", "--out", out, "--csv")
        wanted = labels(done)
        assert f"written to {out}" in done.stderr
        if name == "out.json":
            found = {row["vertex"]: row["cluster"] for row in json.loads(out.read_text())}
        else:
            vertices, clusters = read_columns(open_table(out), ["vertex", "cluster"])
            found = dict(zip(vertices.values.to_pylist(), clusters.values.to_pylist(), strict=True))
        assert found == wanted
        assert sorted(file.name for file in tmp_path.iterdir()) == ["animals.csv", name]

    @pytest.mark.parametrize("name", ["out.csv", "out.tsv", "out.parquet"])
    def test_labels_in_files_say_how_sure_they_are(self, animals, tmp_path, name):
        out, options = tmp_path / name, ("--id", "name", "--label", "class")
        done = inside("cluster", animals, "-k", 2, *options, "--out", out, "--json")
        rows, columns = json.loads(done.stdout)["labels"], list(LABEL_COLUMNS)
        assert list(rows[0]) == columns
        assert all(0 <= row["confidence"] <= 1 and row["margin"] >= -1e-12 for row in rows)
        assert {row["outlier"] for row in rows} == {None}
        found = [column.values.to_pylist() for column in read_columns(open_table(out), columns)]
        assert found[1] == [row["cluster"] for row in rows]
        assert found[2] == [row["confidence"] for row in rows]
        assert found[4] == [row["next_cluster"] for row in rows] == [1 - one for one in found[1]]
        options = "--id", "name", "--exclude", "class"
        assert inside("report", animals, out, tmp_path / "out.html", *options).returncode == 0
        assert "F1 1.0000" in inside("cluster", animals, "-k", 2, *options, "--classes", out).stdout

    def test_a_vertex_without_figures_in_files(self, tmp_path):
        (tmp_path / "h.json").write_text('[["a", "b", "c"], ["d"]]')
        done = inside("cluster", tmp_path / "h.json", "-k", 2, "--csv", "-q")
        assert done.stdout.splitlines()[-1] == "d,1,0.5,,-1,few shared hyperedges"

    def test_hyperedges_in_a_file(self, animals, tmp_path):
        done = inside(
            "cluster",
            animals,
            "-k",
            2,
            "--label",
            "class",
            "--exclude",
            "name",
            "--edges",
            tmp_path / "e.csv",
        )
        assert done.returncode == 0, done.stderr
        rows = list(csv.DictReader((tmp_path / "e.csv").read_text().splitlines()))
        edges = {row["edge"] for row in rows}
        assert edges >= {"milk = y", "eggs = n"}
        assert sum(edge.startswith("size = 0 to ") for edge in edges) == 1
        assert sum(float(row["information"]) for row in rows) == pytest.approx(1)
        clusters = {row["edge"]: row["cluster"] for row in rows}
        assert {clusters["milk = y"], clusters["milk = n"]} == {"0", "1"}
        assert "-1" in {row["cluster"] for row in rows if row["edge"].startswith("size")}
        assert {row["coverage"] for row in rows if row["edge"] == "milk = y"} == {"1.0"}
        assert "milk = y (100 %)" in done.stdout

    def test_json_has_all_results(self, animals):
        done = inside("cluster", animals, "-k", "auto", "--id", "name", "--label", "class", "--json", "-q")
        assert done.stderr == ""
        record = json.loads(done.stdout)
        assert (record["k"], record["vertices"], record["source"]) == (2, 24, "animals.csv")
        assert record["suggestion"]["k"] == 2
        assert record["lower_bound"] <= record["ncut"]
        assert record["labels"][0]["vertex"] == "cow0"
        assert record["agreement"]["ari"] == 1
        assert record["timings"].keys() >= {"reading", "eigenvectors"}
        assert [cluster["size"] for cluster in record["clusters"]] == [12, 12]
        first = record["clusters"][0]
        assert {"milk = y", "eggs = n"} <= set(first["top_hyperedges"])
        assert len(first["top_coverage"]) == len(first["top_coverage_all"]) == len(first["top_hyperedges"])
        assert first["top_coverage"][0] == 1.0

    def test_infinite_figures_are_null(self, tmp_path):
        (tmp_path / "t.csv").write_text("vertex,edge\na,1\nb,1\nc,2\nd,2\n")
        record = json.loads(inside("cluster", tmp_path / "t.csv", "-k", 2, "--json").stdout)
        assert record["ncut"] == 0
        assert record["components"] == 2

    def test_max_k(self, animals):
        options = ("-k", "auto", "--id", "name", "--label", "class", "--json", "-q")
        record = json.loads(inside("cluster", animals, *options, "--max-k", 3).stdout)
        assert [one["k"] for one in record["suggestion"]["candidates"]] == [2, 3]

    @pytest.mark.parametrize("options", [(), ("--csv",), ("--json",)])
    def test_clusters_that_mean_nothing_are_called_so_even_if_quiet(self, tmp_path, options):
        path = tmp_path / "texts.csv"
        path.write_text("text\n" + "".join(f"a text {'x' * i}\n" for i in range(30)))
        done = inside("cluster", path, "-k", 2, "-q", *options)
        assert done.returncode == 0
        said = done.stderr if options else done.stdout
        assert "no hyperedge connects two vertices, so these clusters mean nothing" in said
        assert done.stderr == "" or options

    def test_a_binding_minimum_share_is_mentioned(self, tmp_path):
        path = tmp_path / "t.csv"
        lines = [f"{v},{i}{j}" for j in range(8) for i in range(j) for v in (i, j)]
        path.write_text("vertex,edge\n" + "\n".join(lines) + "\n")
        done = inside("cluster", path, "-k", 2, "--min-share", 0.5)
        assert "a smaller --min-share may give a lower NCut" in done.stdout
        assert "minimum share" not in inside("cluster", path, "-k", 2).stdout

    def test_auto_fails_with_the_reason_if_there_is_no_structure(self, tmp_path):
        rng = np.random.default_rng(1)
        lines = [",".join(map(str, rng.integers(0, 3, 4))) for _ in range(120)]
        (tmp_path / "t.csv").write_text("a,b,c,d\n" + "\n".join(lines) + "\n")
        done = inside("cluster", tmp_path / "t.csv", "-k", "auto", "-q", "--out", tmp_path / "o.csv")
        assert done.returncode == 1
        assert done.stdout == ""
        assert "no number of clusters can be suggested: Shuffled hypergraphs have clusters" in done.stderr
        assert not (tmp_path / "o.csv").exists()

    def test_the_command_gives_the_same_result(self, animals, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        animals.rename("my animals.csv")
        done = inside(
            *("cluster", "my animals.csv", "-k", "auto", "--label", "class", "--exclude", "name", "--json"),
            *("--seed", 3, "--bins", "size=4", "--out", "o.csv", "-v"),
        )
        record = json.loads(done.stdout)
        command = shlex.split(record["command"])
        assert command[:3] == ["hyperclus", "cluster", "my animals.csv"]
        assert "o.csv" not in command
        again = json.loads(inside(*command[1:], "--json").stdout)
        for name in ("ncut", "labels", "clusters", "agreement", "settings", "command"):
            assert again[name] == record[name]

    def test_verbose_prints_log_messages_and_timings(self, animals):
        done = inside("cluster", animals, "-k", 2, "--label", "class", "-v")
        assert "eigenvectors by" in done.stderr
        assert "reading: 0." in done.stderr
        assert "eigenvectors by" not in inside("cluster", animals, "-k", 2, "--label", "class").stderr

    def test_checkpoints_change_nothing(self, animals, tmp_path):
        plain = inside("cluster", animals, "-k", 3, "--csv", "-q").stdout
        for _ in range(2):
            done = inside("cluster", animals, "-k", 3, "--csv", "-q", "--checkpoint", tmp_path / "kept")
            assert done.stdout == plain, done.stderr
        assert (tmp_path / "kept").is_dir()


class TestRefusedBeforeClustering:
    @pytest.fixture(autouse=True)
    def no_work(self, monkeypatch):
        def work(*_, **__):
            raise AssertionError("clustering started")

        monkeypatch.setattr(hc, "cluster", work)

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            (("--out", "no/out.csv"), ["no/out.csv", "create it first"]),
            (("--report", "no/out.html"), ["no/out.html", "create it first"]),
            (("--out", "out.xls"), ["out.xls", ".csv, .tsv, .parquet or .json"]),
            (("--out", "out"), ["the name must end with"]),
            (("--out", "out.parquet.gz"), ["leave .gz out"]),
            (("--report", "out.pdf"), ["out.pdf", ".html or .htm"]),
            (("--out", "animals.csv"), ["this is the file to read"]),
            (("--out", "link.csv"), ["this is the file to read"]),
            (("--out", "a.csv", "--edges", "./a.csv"), ["what --out writes", "another name for --edges"]),
            (("--out", "folder.csv"), ["this is a folder"]),
            (("--checkpoint", "animals.csv"), ["animals.csv"]),
        ],
    )
    def test_refused(self, animals, tmp_path, monkeypatch, options, words):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "link.csv").symlink_to(animals)
        (tmp_path / "folder.csv").mkdir()
        assert_refused(inside("cluster", "animals.csv", "-k", 2, *options), *words)
        assert animals.read_text() == ANIMALS

    def test_a_missing_library(self, animals, monkeypatch):
        monkeypatch.setitem(sys.modules, "vl_convert", None)
        done = inside("cluster", animals, "-k", 2, "--report", animals.with_name("out.html"))
        assert done.returncode == 1
        assert "pip install 'hyperclus[report]'" in done.stderr


class TestSuggest:
    def test_with_reasons(self, animals):
        done = inside("suggest-k", animals, "--label", "class", "--exclude", "name", "--max-k", 3, "-q")
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("Suggestion: k = 2")
        found = json.loads(
            inside("suggest-k", animals, "--max-k", 3, "--label", "class", "--json", "-q").stdout
        )
        assert [one["k"] for one in found["candidates"]] == [2, 3]


class TestReport:
    def test_given_clusters_are_evaluated(self, animals, tmp_path):
        given = tmp_path / "given.csv"
        found = labels(inside("cluster", animals, "-k", 2, "--id", "name", "--label", "class", "--csv"))
        given.write_text("cluster,vertex\n" + "".join(f"c{one},{name}\n" for name, one in found.items()))
        page = tmp_path / "out.html"
        done = inside("report", animals, given, page, "--id", "name", "--label", "class")
        assert done.returncode == 0, done.stderr
        assert "F1 1.0000" in done.stdout
        text = page.read_text()
        assert text.lstrip().lower().startswith("<!doctype html>")
        assert "animals.csv" in text
        assert "hyperclus report" in text

    def test_ids_of_every_type_are_found_again_in_text(self, tmp_path):
        """1 and "1" are two vertices in HIF, but the same text in a table."""
        path = tmp_path / "h.json"
        for ids in ([1, 2, 3, 4], ["1", "2", "x", "y"], ["007", "7", "a b", "c,d"]):
            members = [
                {"edge": edge, "node": node} for edge in (0, 1) for node in ids[2 * edge : 2 * edge + 2]
            ]
            path.write_text(json.dumps({"incidences": members}))
            for name in ("c.csv", "c.tsv", "c.parquet"):
                assert inside("cluster", path, "-k", 2, "--out", tmp_path / name).returncode == 0
                done = inside("cluster", path, "-k", 2, "--classes", tmp_path / name, "--json")
                assert done.returncode == 0, done.stderr
                assert json.loads(done.stdout)["agreement"]["counts"] == [[2, 0], [0, 2]]
        path.write_text(path.read_text().replace('"007"', "7").replace('"a b"', '"7"'))
        (tmp_path / "c.csv").write_text("vertex,cluster\n7,0\n")
        assert_refused(
            inside("report", path, tmp_path / "c.csv", tmp_path / "o.html"), "have the same text, '7'"
        )

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("vertex,cluster\n0,1\n", ["23 vertices have no cluster: '1', '2', '3' and 20 more"]),
            ("a,b\n0,1\n", ["no column 'vertex'"]),
            ("vertex,cluster\n0,\n", ["line 2", "the cluster is missing"]),
            ("", ["the file is empty"]),
        ],
    )
    def test_bad_clusters_are_one_line(self, animals, tmp_path, text, words):
        (tmp_path / "given.csv").write_text(text)
        done = inside("report", animals, tmp_path / "given.csv", tmp_path / "out.html", "-q")
        assert_refused(done, "given.csv", *words)
        assert not (tmp_path / "out.html").exists()


class TestEngines:
    GPU = ("--engine", "cuda")

    def test_missing_cupy_is_reported_before_the_file_is_read(self, papers, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "cupy", None)
        for path in (papers, tmp_path / "not there.csv"):
            for command in (("cluster", path, "-k", 2), ("report", path, papers, tmp_path / "out.html")):
                done = inside(*command, *self.GPU)
                assert (done.returncode, done.stdout) == (1, "")
                assert done.stderr == "hyperclus: --engine cuda needs CuPy: pip install 'hyperclus[cuda]'\n"

    def test_a_missing_gpu_is_reported(self, papers, monkeypatch):
        monkeypatch.setattr(cuda, "missing", lambda: "no driver")
        done = inside("cluster", papers, "-k", "auto", *LONG, *self.GPU, "--precision", "float32")
        assert_refused(done, "--engine cuda needs an NVIDIA GPU (no driver); use --engine cpu")

    def test_settings_that_contradict_each_other(self, papers):
        done = inside("cluster", papers, "-k", 2, *LONG, "--precision", "float32")
        assert_refused(done, "--precision float32 needs --engine cuda")
        done = inside("cluster", papers, "-k", 2, *LONG, "--engine", "gpu")
        assert done.returncode == 2
        assert "--engine must be auto, cpu, cuda or dask" in done.stderr

    def test_the_cpu_is_not_mentioned(self, papers):
        done = inside("cluster", papers, "-k", 2, *LONG)
        assert done.returncode == 0, done.stderr
        assert "engine" not in done.stdout
        assert inside("cluster", papers, "-k", 2, *LONG, "--engine", "cpu").stdout == done.stdout
        settings = json.loads(inside("cluster", papers, "-k", 2, *LONG, "--json").stdout)["settings"]
        assert (settings["engine"], settings["precision"]) == ("cpu", "float64")

    @pytest.mark.parametrize("precision", ["float64", "float32"])
    def test_another_engine_is_named(self, papers, tmp_path, monkeypatch, precision):
        monkeypatch.setattr(cuda, "DEVICE", stand_in_device.StandIn)
        monkeypatch.setattr(cuda, "missing", lambda: None)
        monkeypatch.setattr(cuda, "fits", lambda *_: True)
        page, kept = tmp_path / "out.html", tmp_path / "kept.csv"
        options = (*LONG, *self.GPU, "--precision", precision)
        done = inside("cluster", papers, "-k", 2, *options, "--out", kept, "--report", page)
        assert done.returncode == 0, done.stderr
        line = f"\n  engine       cuda, {precision}\n"
        assert line in done.stdout
        if precision == "float64":
            assert done.stdout.replace(line, "\n") == inside("cluster", papers, "-k", 2, *LONG).stdout
        assert f"--precision {precision} --engine cuda" in page.read_text()
        assert line in inside("report", papers, kept, page, *options).stdout


def test_example_files_replace_nothing(tmp_path):
    assert inside("demo", "--files", tmp_path, "-q") == Done(0, "", "")
    names = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert set(names) == {"animals.csv", "papers.csv"}
    (tmp_path / "animals.csv").unlink()
    assert_refused(
        inside("demo", "--files", tmp_path), "papers.csv: this file exists already; choose another"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["papers.csv"]
    assert_refused(inside("demo", "--files", tmp_path / "none"), "the folder does not exist")


def test_demo():
    done = inside("demo")
    assert done.returncode == 0, done.stderr
    assert "358 images" in done.stdout
    assert "proven, not estimated" in done.stdout


class TestOddNamesAndNumbers:
    def test_arguments_of_python_are_refused_as_options(self, animals):
        for name, option in (("exclude", "--exclude"), ("bins", "--bins"), ("features", "--exclude")):
            done = inside("cluster", animals, "-k", 2, "--id", "name", "-o", f"{name}=size")
            assert_refused(done, f"-o {name}", option)

    def test_half_a_surrogate_pair_is_refused_before_clustering(self, tmp_path):
        path = tmp_path / "h.npz"
        hc.write(hc.Hypergraph.from_edges([["\ud800", "a"], ["a", "b"]]), path)
        for options in (("--csv",), ("--out", tmp_path / "o.csv"), ("--out", tmp_path / "o.parquet")):
            assert_refused(inside("cluster", path, "-k", 2, *options), "half a surrogate pair", "JSON")
        assert inside("cluster", path, "-k", 2, "--out", tmp_path / "o.json").returncode == 0

    def test_integers_beyond_64_bits_are_text_in_parquet(self, tmp_path):
        hc.write(hc.Hypergraph.from_edges([[2**70, 1], [1, 2]]), tmp_path / "h.json")
        done = inside("cluster", tmp_path / "h.json", "-k", 2, "--out", tmp_path / "o.parquet")
        assert done.returncode == 0, done.stderr
        assert str(2**70) in pq.read_table(tmp_path / "o.parquet")["vertex"].to_pylist()

    def test_numbers_and_names_of_any_length(self, animals, tmp_path):
        assert_refused(inside("cluster", animals, "-k", "9" * 5000), "-k must be a whole number")
        assert_refused(inside("cluster", animals, "-k", 2, "--bins", "9" * 5000), "is not a number of bins")
        assert_refused(
            inside("cluster", animals, "-k", 2, "--out", tmp_path / f"{'a' * 300}.csv"), "File name too long"
        )


def test_names_of_clusters_and_nouns_are_in_the_report(tmp_path):
    (tmp_path / "b.csv").write_text("customer,item\na,x\nb,x\na,y\nb,y\nc,y\nc,z\nd,z\nd,w\ne,w\n")
    (tmp_path / "l.csv").write_text("vertex,cluster\na,Jung\nb,Jung\nc,Alt\nd,Alt\ne,Alt\n")
    files, long = (tmp_path / "b.csv", tmp_path / "l.csv"), ("--vertex", "customer", "--edge", "item")
    done = inside("report", *files, tmp_path / "out.html", *long)
    assert "Partition of 5 customers into 2 clusters" in done.stdout
    assert "Jung" in done.stdout
    page = (tmp_path / "out.html").read_text()
    for part in (
        '"names":["Alt","Jung"]',
        "5 customers fall into 2 groups",
        "Find a customer",
        "Typical customers",
    ):
        assert part in page
    done = inside("cluster", files[0], *long, "-k", "2", "--vertex-name", "Buyer", "--edge-name", "article")
    assert "Partition of 5 Buyers" in done.stdout
    assert "top articles" in done.stdout
