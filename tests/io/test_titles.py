"""Tables with a title above the column names, as spreadsheets have them."""

import openpyxl
import pytest

from hyperclus.io.tables.table import TITLE_HINT
from support.command_line import inside


@pytest.mark.parametrize(
    "title", ["Sales 2024;;\n", "Sales 2024\n\n", "Sales 2024\n", "Sales 2024;;\n\n", "Sales;2024;\n"]
)
@pytest.mark.parametrize("options", [[], ["--id", "name"], ["--vertex", "name", "--edge", "town"]])
def test_a_title_in_text(tmp_path, title, options):
    (tmp_path / "t.csv").write_text(f"{title}name;size;town\na;1;x\nb;2;y\nc;2;x\n")
    done = inside("cluster", tmp_path / "t.csv", "-k", "2", *options)
    assert TITLE_HINT in done.stderr


@pytest.mark.parametrize("options", [[], ["--id", "name"]])
def test_a_title_in_a_workbook(tmp_path, options):
    book = openpyxl.Workbook()
    for row in [("Sales 2024",), (), ("name", "size", "town"), ("a", 1.5, "x"), ("b", 2.5, "y")]:
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    assert TITLE_HINT in inside("cluster", tmp_path / "t.xlsx", "-k", "2", *options).stderr


def test_ordinary_tables_have_no_such_hint(tmp_path):
    (tmp_path / "t.csv").write_text("name;size\na;1\nb\n")
    assert TITLE_HINT not in inside("cluster", tmp_path / "t.csv", "-k", "2").stderr
    assert TITLE_HINT not in inside("cluster", tmp_path / "t.csv", "-k", "2", "--id", "who").stderr


def test_a_row_per_vertex_is_called_assumed(tmp_path):
    (tmp_path / "t.csv").write_text("who,what,n\na,x,1\nb,x,\n")
    assumed = " (a row per vertex was assumed; for a row per incidence use --vertex and --edge)\n"
    assert inside("cluster", tmp_path / "t.csv", "-k", "2").stderr.endswith(assumed)
    for options in (["--id", "who"], ["--from", "rows"], ["--exclude", "what"]):
        done = inside("cluster", tmp_path / "t.csv", "-k", "2", *options)
        assert done.returncode == 2
        assert "assumed" not in done.stderr
