"""What is unusual about columns, and the remedies."""

import itertools

import openpyxl
import pytest

from hyperclus.cli.app import shell_message
from hyperclus.io.tables import open_table
from hyperclus.io.tables.wide import WideOptions, infer_schema
from support.command_line import inside

COLORS = ("red", "blue", "green", "gray", "pink", "teal")


def remark_on(path, values, delimiter=";", **options):
    """The only remark on a table with these values in a column, as the command line prints it."""
    lines = [f'"{value}"{delimiter}{i % 2}' for i, value in enumerate(values)]
    path.write_text("\n".join([f"odd{delimiter}x", *lines]))
    remarks = list(infer_schema(open_table(path), WideOptions(**options)).remarks())
    return "".join(map(shell_message, remarks))


class TestNumbers:
    @pytest.mark.parametrize("few", [1, 30])  # different values
    @pytest.mark.parametrize(
        ("number", "delimiter", "remedy"),
        [
            ("1.2{:02},56", ";", "looks like numbers with thousands, .* use --thousands ."),
            ("1.000.2{:02}", ";", "looks like numbers with thousands, .* use --thousands ."),
            ("{:02},5", ",", "looks like numbers, .* use -o decimal=,"),
        ],
    )
    def test_the_option_that_reads_them_is_named(self, tmp_path, number, delimiter, remedy, few):
        values = ["", *(number.format(10 + i % few) for i in range(30))]
        said = remark_on(tmp_path / "t.csv", values, delimiter, missing="drop")
        first, last = remedy.split(" .* ")
        assert said.startswith(f"column 'odd' {first}")
        assert said.endswith(last)
        name, sign = ("decimal", ",") if "decimal" in last else ("thousands", last[-1])
        read = infer_schema(open_table(tmp_path / "t.csv"), WideOptions(**{name: sign}))
        assert read.columns[0].numbers

    @pytest.mark.parametrize("number", ["01.02.20{:02}", "1.2.{}", "00{}", "v1,{}", "1.23,{}"])
    def test_other_texts_are_not_numbers(self, tmp_path, number):
        said = remark_on(tmp_path / "t.csv", [number.format(10 + i) for i in range(30)])
        assert "looks like" not in said

    def test_text_in_a_workbook(self, tmp_path):
        book = openpyxl.Workbook()
        rows = [("name", "price"), *((f"n{i % 3}", f"{i},5") for i in range(30))]
        for row in rows:
            book.active.append(row)
        book.save(tmp_path / "t.xlsx")
        told = inside("info", tmp_path / "t.xlsx")
        assert (
            "column 'price' looks like numbers, but is read as 30 categories; use -o decimal=,\n"
            in told.stderr
        )
        told = inside("info", tmp_path / "t.xlsx", "-o", "decimal=,")
        assert "looks like" not in told.stderr + told.stdout
        assert "price   5 bins" in told.stdout


class TestTexts:
    LISTS = tuple(itertools.islice(itertools.permutations(COLORS, 3), 30))

    @pytest.mark.parametrize("sign", ["; ", ", ", "|"])
    def test_lists(self, tmp_path, sign):
        path = tmp_path / "t.csv"
        said = remark_on(path, [sign.join(items) for items in self.LISTS])
        option = f"odd={sign.strip()}"
        assert "looks like lists" in said
        assert ("--split odd=," if "," in sign else f"--split '{option}'") + " and --edge odd" in said
        done = inside("info", path, "--split", option, "--edge", "odd")
        assert "30 vertices, 6 odds, 90 incidences" in done.stdout.replace("odd,", "odds,")

    def test_lists_beside_vertex_ids(self, tmp_path):
        path = tmp_path / "t.csv"
        path.write_text("id,tags\n" + "".join(f"v{i},{'|'.join(one)}\n" for i, one in enumerate(self.LISTS)))
        assert "use --split 'tags=|' and --vertex id" in inside("info", path, "--id", "id").stderr
        done = inside("info", path, "--split", "tags=|", "--vertex", "id")
        assert "30 ids, 6 tags, 90 incidences" in done.stdout

    def test_documents(self, tmp_path):
        said = remark_on(
            tmp_path / "t.csv",
            [f"the {i}th house, of {i + 3} that are {COLORS[i % 6]}, is small" for i in range(30)],
        )
        assert "it looks like texts: use --text odd" in said

    def test_names(self, tmp_path):
        said = remark_on(tmp_path / "t.csv", [f"Smith{i}, Ann{i}" for i in range(30)])
        assert said.endswith("connects nothing; leave it out, or use it as the vertex ids")
