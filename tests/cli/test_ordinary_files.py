"""Files as people have them: each is clustered with one command, as docs/ordinary_files.md shows."""

import csv
import gzip
import io
import json
import os
import random
import re
import shlex
import sys
from collections import defaultdict
from pathlib import Path

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.command_line import inside

SHARED = Path(__file__).parents[3] / "shared"
PAGE = Path(__file__).parents[2] / "docs" / "ordinary_files.md"


def rows_of(*parts):
    """The rows of a CSV file of real data, as dictionaries."""
    path = SHARED.joinpath(*parts)
    if not path.exists():
        reason = f"there is no {path}"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return list(csv.DictReader(io.StringIO(content.decode())))


def groups(name, n_edges=None):
    """The members of each hyperedge of a real hypergraph."""
    edges = defaultdict(list)
    for row in rows_of("real", name, "incidences.csv.gz"):
        edges[row["edge"]].append(row["vertex"])
    return dict(list(edges.items())[:n_edges])


def delimited(rows, delimiter=","):
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter)
    writer.writerow(rows[0])
    writer.writerows(row.values() for row in rows)
    return text.getvalue()


def excel_export(folder):
    rows = [*rows_of("data", "rice.csv")[:200], *rows_of("data", "rice.csv")[-200:]]
    text = delimited(rows, ";").replace(".", ",")
    (folder / "rice.csv").write_text(text, encoding="cp1252")


def workbook(folder):
    book = openpyxl.Workbook()
    book.active.title = "notes"
    sheet = book.create_sheet("animals")
    rows = rows_of("data", "zoo.csv")
    sheet.append(list(rows[0]))
    for row in rows:
        sheet.append([int(value) for value in row.values()])
    book.save(folder / "zoo.xlsx")


def unicode_text(folder):
    (folder / "zoo.txt").write_bytes(delimited(rows_of("data", "zoo.csv"), "\t").encode("utf-16"))


def papers(folder):
    lines = [
        json.dumps({"paper": edge, "year": 2000, "authors": members})
        for edge, members in groups("cora-ca").items()
    ]
    (folder / "papers.jsonl").write_text("\n".join(lines))


def committees(folder):
    (folder / "committees.json").write_text(json.dumps(groups("house-committees", 80)))


def baskets(folder):
    edges = groups("contact-high-school-classes", 1500)
    (folder / "contacts.txt").write_text("".join(" ".join(members) + "\n" for members in edges.values()))


def cells(folder):
    edges = groups("contact-primary-school-classes", 3000)
    rows = [{"meeting": edge, "pupils": "; ".join(members)} for edge, members in edges.items()]
    (folder / "meetings.csv").write_text(delimited(rows))


def documents(folder):
    words, topics = defaultdict(list), {}
    for row in rows_of("real", "octis-bbc-news", "incidences.csv.gz"):
        words[row["vertex"]] += [row["edge"]] * int(row["weight"])
    for row in rows_of("real", "octis-bbc-news", "labels.csv"):
        topics[row["vertex"]] = row["label"]
    names = random.Random(0).sample(sorted(words), 300)
    rows = [{"id": name, "topic": topics[name], "article": " ".join(words[name])} for name in names]
    (folder / "news.csv").write_text(delimited(rows))


def packed(folder):
    rows = rows_of("real", "cstr", "incidences.csv.gz")
    (folder / "words.csv.gz").write_bytes(gzip.compress(delimited(rows).encode()))


def with_nulls(folder):
    rows = rows_of("real", "cstr", "incidences.csv.gz")
    columns = {name: [row[name] for row in rows] for name in ("vertex", "edge")}
    weights = [None if place % 40 == 0 else float(row["weight"]) for place, row in enumerate(rows)]
    pq.write_table(pa.table(columns | {"weight": weights}), folder / "words.parquet")


def survey(folder):
    rows = rows_of("data", "car.csv")
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
    "contacts.txt": (baskets, ["into 5 clusters"]),
    "meetings.csv": (cells, ["into 5 clusters"]),
    "news.csv": (documents, ["Partition of 300 vertices", "agreement"]),
    "words.csv.gz": (packed, ["Partition of 475 vertices"]),
    "words.parquet": (with_nulls, ["404 of 16,157 rows have no 'weight'; 404 rows dropped"]),
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
