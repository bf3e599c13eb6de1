"""What the fuzzer runs: a function of bytes for each reader, and one that checks `cluster` by enumeration.

A `HyperclusError` is an answer. Anything else that a target raises is a finding.
"""

import bz2
import gzip
import io
import lzma
import re
import struct
import zipfile
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq

import hyperclus as hc
from hostile import binary, csv, hif, json_text, lines, numeric_text, rows
from hyperclus.errors import HyperclusError
from hyperclus.io.tables import open_table
from hyperclus.io.tables.problems import UsedColumns, find_problems, find_typed_problems
from support.hostile import Group
from support.oracles import min_ncut, ncut, stationary, transition

LARGEST = 1 << 16  # bytes of an input
KINDS = ("<f8", "<f4", "<f2", "<i8", "<i4", "|u1", "<u8", ">f8", "|b1", "<c16", "|S3", "<U2", "|O")
ARROW = (
    pa.string(),
    pa.int64(),
    pa.float64(),
    pa.bool_(),
    pa.binary(),
    pa.uint64(),
    pa.date32(),
    pa.float16(),
)


class Draw:
    """Values drawn from bytes, zeros when there are no more."""

    def __init__(self, data):
        self.data, self.place = data, 0

    def number(self, most):
        """An integer from 0 to `most`."""
        size = max((most.bit_length() + 7) // 8, 1)
        taken = self.data[self.place : self.place + size]
        self.place += size
        return int.from_bytes(taken, "little") % (most + 1)

    def choice(self, values):
        return values[self.number(len(values) - 1)]

    def float(self):
        (value,) = struct.unpack("<d", bytes(self.number(255) for _ in range(8)))
        return self.choice([0.0, 1.0, 2.5, value])

    def text(self):
        return bytes(self.number(255) for _ in range(self.number(4))).decode("utf-8", "replace")

    def rest(self):
        return self.data[self.place :]


def read(path, content, **options):
    """Read a file with this content; a refusal by hyperclus is fine."""
    path.write_bytes(content)
    try:
        return hc.read(path, **options)
    except HyperclusError:
        return None


def read_text(folder, data, name, formats, choices):
    """Read text, with options that the first bytes choose."""
    draw = Draw(data)
    options = drawn(draw, choices)
    chosen = draw.choice(formats) if len(formats) > 1 else formats[0]
    read(folder / name, draw.rest(), format=chosen, **options)


def drawn(draw, choices):
    """Draw options; None leaves one out."""
    options = {key: draw.choice(values) for key, values in choices.items()}
    return {key: value for key, value in options.items() if value is not None}


POLICY = (None, "error", "drop", "keep")
DUPLICATES = (None, "sum", "max")
LONG = {"delimiter": (None, ",", ";"), "decimal": (None, ","), "ids": (None, "text"), "isolated": POLICY}
WIDE = {
    "missing": (None, "category", "drop"),
    "constant": POLICY,
    "repeated": (None, "number"),
    "bins": (None, 3, False),
    "decimal": (None, ","),
}
NUMERIC = {"duplicates": DUPLICATES, "isolated": POLICY, "empty_edges": POLICY}
LINES = {"delimiter": (None, ";", " ", "|"), "ids": (None, "text")} | NUMERIC
MISSING = (None, "drop", 1.0)
SPLIT = {
    "split": (None, {"edge": ";"}, {"vertex": ", "}, {"edge": " "}),
    "vertex": (None, None, "vertex", "edge"),
    "missing": MISSING,
    "duplicates": DUPLICATES,
}
ENCODINGS = {"encoding": (None, "utf-16", "cp1252", "utf-32", "utf-7", "shift_jis", "utf-8", "utf-16-le")}
PACKERS = (
    partial(gzip.compress, compresslevel=1),
    partial(bz2.compress, compresslevel=1),
    partial(lzma.compress, preset=0),
    lambda content: pa.compress(content, "zstd", asbytes=True),
)
ENDINGS = ("t.csv", "t.json", "t.hgr", "t.mtx", "t.jsonl", "t.txt", "t.parquet", "t.npz", "t.xlsx")


def read_archive(folder, data):
    """Read a NumPy archive: the bytes as they are, or arrays of random types, shapes and values."""
    draw = Draw(data)
    if draw.number(3) == 0:
        read(folder / "t.npz", draw.rest())
        return
    names = draw.choice([tuple(arrays(binary.NPZ)), tuple(arrays(binary.CSR))])
    sound = arrays(binary.NPZ) if "hyperclus" in names else arrays(binary.CSR)
    for _ in range(1 + draw.number(2)):
        name = draw.choice(names)
        sound[name] = random_array(draw, sound[name])
    file = io.BytesIO()
    np.savez(file, **{name: value for name, value in sound.items() if value is not None})
    read(folder / "t.npz", file.getvalue())


def arrays(content):
    with np.load(io.BytesIO(content)) as archive:
        return dict(archive)


def random_array(draw, before):
    """Another array, or none."""
    how = draw.number(4)
    if how == 0 or before is None:
        return None
    if how == 1:  # another value at one place
        flat = before.reshape(-1).copy()
        if flat.size and flat.dtype.kind in "iuf":
            bounds = {"i": 2**31 - 1, "u": 255}.get(flat.dtype.kind)
            value = draw.float() if bounds is None else draw.choice([-1, 0, 1, 2, 9, bounds])
            flat[draw.number(flat.size - 1)] = value if flat.dtype.kind != "u" else abs(value) % 256
        return flat.reshape(before.shape)
    shape = tuple(draw.number(4) for _ in range(draw.number(3)))
    kind = np.dtype(draw.choice(KINDS))
    if how == 2 or kind.kind == "O":
        return np.zeros(shape, kind)
    size = int(np.prod(shape)) * kind.itemsize
    content = bytes(draw.number(255) for _ in range(size))
    content = bytes(byte & 1 for byte in content) if kind.kind == "b" else content
    content = content if kind.kind != "U" else np.zeros(shape, kind).tobytes()
    return np.frombuffer(content, kind).reshape(shape)


def read_table(folder, data):
    """Read Parquet: the bytes as they are, or columns of random types and values, damaged or not."""
    draw = Draw(data)
    if draw.number(3) == 0:
        read(folder / "t.parquet", draw.rest())
        return
    n_rows, columns = draw.number(6), {}
    for name in draw.choice(
        [("vertex", "edge"), ("vertex", "edge", "weight"), ("vertex", "edge_weight", "edge"), "ab"]
    ):
        columns[name] = random_column(draw, n_rows)
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file, compression=draw.choice(["none", "snappy", "zstd"]))
    content = bytearray(file.getvalue())
    for _ in range(draw.number(2)):
        content[draw.number(len(content) - 1)] ^= 1 << draw.number(7)
    chosen = draw.choice([None, "parquet", "rows"])
    options = drawn(draw, {"missing": MISSING, "weight_transform": (None, "log1p", "clip:50%")})
    read(folder / "t.parquet", bytes(content), format=chosen, **options)


def random_column(draw, n_rows):
    kind = draw.choice(ARROW)
    makers = {
        pa.string(): draw.text,
        pa.int64(): lambda: draw.choice([0, 1, -1, 2**63 - 1]),
        pa.float64(): draw.float,
        pa.float16(): lambda: np.float16(draw.number(3)),
        pa.bool_(): lambda: bool(draw.number(1)),
        pa.binary(): lambda: bytes([draw.number(255)]),
        pa.uint64(): lambda: draw.choice([0, 1, 2**64 - 1]),
        pa.date32(): lambda: draw.number(9),
    }
    values = [makers[kind]() if draw.number(15) else None for _ in range(n_rows)]
    column = pa.array(values, kind)
    return column.dictionary_encode() if kind == pa.string() and draw.number(1) else column


def read_packed(folder, data):
    """Read compressed text, damaged or not, or any bytes after the first ones of compressed text."""
    draw = Draw(data)
    name, pack = draw.choice(ENDINGS), draw.choice(PACKERS)
    damage = [(draw.number(1 << 16), draw.number(255)) for _ in range(draw.number(2))]
    is_raw, rest = draw.number(3) == 0, draw.rest()
    content = bytearray(pack(b"")[:6] + rest if is_raw else pack(rest))
    for place, value in damage:
        content[place % len(content)] ^= value
    read(folder / name, bytes(content), **({"format": "lines"} if name == "t.txt" else {}))


def read_records(folder, data):
    """Read JSON Lines; the same records as a JSON list are the same hypergraph."""
    draw = Draw(data)
    options = drawn(draw, SPLIT) | {"format": "records"}
    options = options if draw.number(2) < 2 else {"format": "rows"}
    content = draw.rest()
    found = read(folder / "t.jsonl", content, **options)
    lines = [line for line in content.removeprefix(b"\xef\xbb\xbf").split(b"\n") if line.strip()]
    if found is not None and lines[0].lstrip()[:1] == b"{":
        again = read(folder / "u.jsonl", b"[" + b",".join(lines) + b"]", **options)
        assert again is not None, "a JSON list is refused, and its records as JSON Lines are not"
        assert found.content_key() == again.content_key(), (
            "JSON Lines and a JSON list of the same records differ"
        )


def read_workbook(folder, data):
    """Read Excel: the bytes as they are, random cells, or the bytes as one part of a sound workbook."""
    draw = Draw(data)
    how, name = draw.number(3), draw.choice([None, "rows", "excel"])
    options = {} if name is None else {"format": name}
    if how == 0:
        read(folder / "t.xlsx", draw.rest(), **options)
        return
    book = openpyxl.Workbook()
    book.active.append(["vertex", "edge", "weight"][: draw.number(3)])
    for _ in range(draw.number(5)):
        book.active.append([random_cell(draw) for _ in range(draw.number(4))])
    file = io.BytesIO()
    book.save(file)
    if how == 1:
        with zipfile.ZipFile(file) as archive:
            parts = {one: archive.read(one) for one in archive.namelist()}
        changed = draw.choice(sorted(parts))
        parts[changed] = draw.rest()
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            for one, content in parts.items():
                archive.writestr(one, content)
    read(folder / "t.xlsx", file.getvalue(), **options)


def random_cell(draw):
    text = re.sub("[\\x00-\\x1f\\ufffe\\uffff]", "?", draw.text())
    number = draw.float()
    number = number if np.isfinite(number) else 0.0
    words = ["vertex", "edge", "weight", "#N/A", "=1/0", text]
    return draw.choice([None, *words, number, draw.number(1 << 60), True, datetime(2020, 1, 1)])


def count_problems(folder, data):
    """Count the problems of a table in text or JSON, as `hyperclus info` does."""
    draw = Draw(data)
    columns = UsedColumns("vertex", draw.choice(["edge", None]), draw.choice(["weight", None]))
    path, delimiter = folder / draw.choice(["t.csv", "t.jsonl"]), draw.choice([None, ";"])
    path.write_bytes(draw.rest())
    with suppress(HyperclusError):
        if path.suffix == ".csv":
            find_problems(path, columns, delimiter)
        else:
            find_typed_problems(open_table(path), columns)


def compare_with_enumeration(folder, data):
    """Cluster a random hypergraph: the NCut is that of the labels, and no partition is below the bound."""
    draw = Draw(data)
    n, n_edges = 2 + draw.number(4), 1 + draw.number(5)
    edges = [
        {v: 10.0 ** (draw.number(24) / 2 - 6) for v in range(n) if draw.number(1)} for _ in range(n_edges)
    ]
    omega = [10.0 ** (draw.number(16) / 2 - 4) for _ in edges]
    alpha, bound = draw.choice([0.0, 0.5, 1.0, 2.0]), draw.choice(["eigenvalues", "tight"])
    try:
        h = hc.Hypergraph.from_edges(edges, edge_weights=omega, empty_edges="drop")
        k = 1 + draw.number(max(h.n_vertices - 1, 0))  # an empty hypergraph is refused
        part = hc.cluster(
            h, k, objective=draw.choice(["ncut", "information"]), alpha=alpha, bound=bound, min_share=0
        )
    except HyperclusError:
        return
    p, phi = transition(h, alpha), stationary(h, alpha)
    groups = [set(np.flatnonzero(part.labels == label).tolist()) for label in range(k)]
    true, best = ncut(p, phi, groups), min_ncut(p, phi, k)
    assert abs(part.ncut - true) <= 1e-9 + 1e-6 * true, f"NCut {part.ncut!r} of {h!r}, but it is {true!r}"
    assert part.lower_bound <= best * (1 + 1e-6) + 1e-9, f"bound {part.lower_bound!r}, optimum {best!r}"


TARGETS = {
    "csv": partial(read_text, name="t.csv", formats=["csv"], choices=LONG),
    "rows": partial(read_text, name="t.csv", formats=["rows"], choices=WIDE),
    "hif": partial(read_text, name="t.json", formats=["hif"], choices=NUMERIC),
    "hmetis": partial(read_text, name="t.hgr", formats=["hmetis"], choices=NUMERIC),
    "mtx": partial(read_text, name="t.mtx", formats=["mtx"], choices=NUMERIC | {"transpose": (None, True)}),
    "npz": read_archive,
    "parquet": read_table,
    "packed": read_packed,
    "json": partial(read_text, name="t.json", formats=["json", None], choices=NUMERIC),
    "records": read_records,
    "lines": partial(read_text, name="t.txt", formats=["lines"], choices=LINES),
    "split": partial(read_text, name="t.csv", formats=["csv"], choices=SPLIT),
    "excel": read_workbook,
    "encoding": partial(read_text, name="t", formats=["csv", "lines", "records", None], choices=ENCODINGS),
    "problems": count_problems,
    "cluster": compare_with_enumeration,
}
TABLES = {
    "csv": (csv, 4),
    "rows": (rows, 5),
    "hif": (hif, 3),
    "hmetis": (numeric_text, 3),
    "mtx": (numeric_text, 4),
    "npz": (binary, 1),
    "parquet": (binary, 1),
    "packed": (csv, 4),
    "json": (json_text, 4),
    "records": (json_text, 5),
    "lines": (lines, 5),
    "split": (csv, 4),
    "problems": (csv, 4),
}  # the module, and how many bytes choose options before the content


def seeds(target):
    """Where to start: the files in the corpus, and the contents in the tables of hostile files."""
    found = [path.read_bytes() for path in sorted((Path(__file__).parent / "corpus").glob(f"{target}-*"))]
    module, n_choices = TABLES.get(target, (None, 0))
    for group in vars(module).values() if module else ():
        if isinstance(group, Group):
            for content, *_ in group.lines:
                if isinstance(content, str):
                    content = (group.before + content + group.after).encode("utf-8", "surrogateescape")
                if isinstance(content, bytes) and len(content) < LARGEST:
                    found.append(bytes(n_choices) + content)
    return found or [bytes(range(64)), bytes(40)]
