"""Excel workbooks, of which some parts are written by hand."""

import io
import zipfile

import openpyxl

from support.hostile import Group

NAMESPACE = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
HEAD = ["vertex", "edge", "weight"]


def workbook(*rows):
    """A sound workbook with these rows."""
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def with_sheet(rows, before=""):
    """A workbook whose sheet has these rows of XML after a header, and `before` at the start of the file."""
    header = "".join(f'<c t="inlineStr"><is><t>{name}</t></is></c>' for name in HEAD)
    data = f'<sheetData><row r="1">{header}</row>{rows}</sheetData>'
    text = f'{before}<worksheet xmlns="{NAMESPACE}">{data}</worksheet>'
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(workbook())) as old, zipfile.ZipFile(file, "w", 8) as new:
        for name in old.namelist():
            new.writestr(name, text if name.endswith("sheet1.xml") else old.read(name))
    return file.getvalue()


ROW = '<row r="2"><c><v>1</v></c><c><v>2</v></c><c><v>0.5</v></c></row>'
CORNER = '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
ENTITIES = "".join(f'<!ENTITY e{n + 1} "{f"&e{n};" * 10}">' for n in range(9))

EXCEL = Group(
    "t.xlsx",
    [
        (workbook(HEAD, ["a", 1.0, 2], ["b", 1, 0.5]), "= a,1,2.0 b,1,0.5"),
        (workbook([], [None], HEAD, ["a", 1, 2], [None, ""]), "= a,1,2.0"),
        (workbook(HEAD, ["a", 1, 2], ["b", 1]), "row 3: column 'weight': the weight is missing;"),
        (workbook(HEAD, ["a", 1, 2], [], ["b", 1, 2]), "row 3: column 'edge': the value is missing;"),
        (workbook(HEAD, [1, 1, 2], ["1", 1, 2]), "row 3: column 'vertex': '1' and 1 in an earlier row"),
        (workbook(HEAD, [1, 1, 2], [1.5, 1, 2]), "row 2: column 'vertex': an id must be an integer or text"),
        (
            workbook(HEAD, [True, 1, 2]),
            "row 2: column 'vertex': an id must be an integer or text, not 'bool'",
        ),
        (workbook(HEAD, [1e20, 1, 2]), "row 2: column 'vertex': the integer 100000000000000000000 is too"),
        (workbook(HEAD, ["#N/A", 1, 2]), "row 2: column 'vertex': the cell holds the error #N/A;"),
        (workbook([*HEAD, "x"], ["a", 1, 2, "#N/A"]), "= a,1,2.0"),
        (workbook(HEAD, ["a", 1, -2]), "row 2: column 'weight': the weight -2 is negative, and weights"),
        (workbook(), "the sheet is empty; choose another one with --sheet"),
        (workbook(HEAD)[:-30], "this is not a sound Excel file (.xlsx); save it again"),
        (with_sheet(ROW), "= 1,2,0.5"),
        (with_sheet(ROW + CORNER), "row 3: column 'edge': the value is missing;"),
        (with_sheet(ROW + CORNER), "--from rows --missing drop", "column 4 has no name; name or exclude it"),
        (with_sheet(ROW + '<row r="1000000000"/>'), "this is not a sound Excel file (.xlsx); save it again"),
        (with_sheet(ROW + " " * 30_000_000), "the content unpacks to more than 200 times its size;"),
        (
            with_sheet(ROW.replace("1", "&e9;"), f'<!DOCTYPE x [<!ENTITY e0 "1">{ENTITIES}]>'),
            "this is not a sound Excel file (.xlsx); save it again",
        ),
    ],
)
