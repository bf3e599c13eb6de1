"""Files as people have them: each is clustered with one command, as docs/how_to/ordinary_files.md shows."""

import csv
import gzip
import io
import json
import random
import re
import shlex
import sys
from pathlib import Path

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hyperclus as hc
from support import paper_data
from support.command_line import inside

PAGE = Path(__file__).parents[2] / "docs" / "how_to" / "ordinary_files.md"


def rows_of(name):
    """The rows of a table of the package, as dictionaries."""
    columns = paper_data.columns_of(name)
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def groups(name, n_edges=None):
    """The members of each hyperedge of a hypergraph of the package."""
    h = hc.datasets.load(name).hypergraph
    members = [h.vertex_ids[h.gamma[[edge]].indices].tolist() for edge in range(h.n_edges)]
    return dict(list(zip(map(str, h.edge_ids.tolist()), members, strict=True))[:n_edges])


def titles(n_titles):
    """The classes and the words of titles, repeated as often as they are there."""
    data = hc.datasets.load("dblp-titles")
    words = data.hypergraph.gamma.T.tocsr()
    for number in random.Random(0).sample(range(data.hypergraph.n_vertices), n_titles):
        row = words[[number]]
        counts = zip(data.hypergraph.edge_ids[row.indices], row.data, strict=True)
        yield number, data.classes[number], [word for word, count in counts for _ in range(int(count))]


def expressions():
    """A row for each cell and each tenth gene, with the expression."""
    h = hc.datasets.load("pbmc68k").hypergraph
    entries = h.gamma[::10].tocoo()
    names = h.edge_ids[::10]
    for edge, vertex, weight in zip(entries.row, entries.col, entries.data, strict=True):
        yield {"cell": f"c{vertex}", "gene": names[edge], "expression": weight}


def delimited(rows, delimiter=","):
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter)
    writer.writerow(rows[0])
    writer.writerows(row.values() for row in rows)
    return text.getvalue()


def excel_export(folder):
    rows = [*rows_of("rice")[:200], *rows_of("rice")[-200:]]
    text = delimited(rows, ";").replace(".", ",")
    (folder / "rice.csv").write_text(text, encoding="cp1252")


def workbook(folder):
    book = openpyxl.Workbook()
    book.active.title = "notes"
    sheet = book.create_sheet("animals")
    rows = rows_of("zoo")
    sheet.append(list(rows[0]))
    for row in rows:
        sheet.append([int(value) for value in row.values()])
    book.save(folder / "zoo.xlsx")


def unicode_text(folder):
    (folder / "zoo.txt").write_bytes(delimited(rows_of("zoo"), "\t").encode("utf-16"))


def papers(folder):
    lines = [
        json.dumps({"paper": edge, "year": 2000, "authors": members})
        for edge, members in groups("cora").items()
    ]
    (folder / "papers.jsonl").write_text("\n".join(lines))


def committees(folder):
    (folder / "committees.json").write_text(json.dumps(groups("house-committees", 80)))


def word_lists(folder):
    lines = [" ".join(words) + "\n" for _, _, words in titles(1500)]
    (folder / "titles.txt").write_text("".join(lines))


def cells(folder):
    edges = groups("southern-women")
    rows = [{"event": edge, "guests": "; ".join(members)} for edge, members in edges.items()]
    (folder / "events.csv").write_text(delimited(rows))


def documents(folder):
    rows = [{"id": number, "area": area, "title": " ".join(words)} for number, area, words in titles(1000)]
    (folder / "titles.csv").write_text(delimited(rows))


def packed(folder):
    (folder / "genes.csv.gz").write_bytes(gzip.compress(delimited(list(expressions())).encode()))


def with_nulls(folder):
    rows = list(expressions())
    for row in rows[::40]:
        row["expression"] = None
    pq.write_table(pa.Table.from_pylist(rows), folder / "genes.parquet")


def survey(folder):
    rows = rows_of("car")
    for place, row in enumerate(rows):
        row["zip"] = str(10_115 + place % 15)
        row["safety"] = "" if place % 30 == 0 else row["safety"]
    (folder / "survey.csv").write_text(delimited(rows))


FILES = {  # the maker of each file, and what the command says
    "rice.csv": (excel_export, ["separated by ';'", "decimal commas", "agreement"]),
    "zoo.xlsx": (workbook, ["101 vertices", "agreement"]),
    "zoo.txt": (unicode_text, ["101 vertices", "agreement"]),
    "papers.jsonl": (papers, ["Partition of 2,388 authors"]),
    "committees.json": (committees, ["into 3 clusters"]),
    "titles.txt": (word_lists, ["into 5 clusters"]),
    "events.csv": (cells, ["Partition of 18 guests", "into 2 clusters"]),
    "titles.csv": (documents, ["Partition of 1,000 vertices", "agreement"]),
    "genes.csv.gz": (packed, ["Partition of 700 cells"]),
    "genes.parquet": (with_nulls, ["rows have no 'expression'; ", "rows dropped"]),
    "survey.csv": (survey, ["Partition of 134 vertices", "zip: 15 values", "agreement"]),
}


def commands():
    """The commands of the page, by the file that each reads."""
    found = {}
    for line in re.findall(r"^\$ (.*)", PAGE.read_text(), re.MULTILINE):
        found[next(name for name in FILES if name in line)] = line
    return found


def test_the_page_has_a_command_for_every_file():
    assert set(commands()) == set(FILES)


@pytest.mark.parametrize("name", FILES)
def test_one_command_clusters_it(tmp_path, monkeypatch, name):
    make, parts = FILES[name]
    make(tmp_path)
    monkeypatch.chdir(tmp_path)
    line = commands()[name]
    piped, line = line.split("|") if "|" in line else ("", line)
    if piped:
        content = io.BytesIO((tmp_path / piped.split()[-1]).read_bytes())
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(content))
    program, *arguments = shlex.split(line)
    assert program == "hyperclus"
    done = inside(*arguments, "--effort", "fast")
    assert done.returncode == 0, done.stderr
    for part in parts:
        assert part in done.stdout + done.stderr
