"""Parquet, NumPy archives and gzipped files."""

import gzip
import io
import struct
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp

from hostile.csv import GOOD
from support.hostile import Group

COLUMNS = {"vertex": ["a", "b", "b", "c"], "edge": ["e", "e", "f", "f"], "weight": [1.0, 1.0, 1.0, 1.0]}
GZIPPED = gzip.compress(GOOD.encode(), mtime=0)


def parquet(**columns):
    """The bytes of a long table; columns replace those of the sound one, None removes them."""
    file = io.BytesIO()
    chosen = {name: values for name, values in (COLUMNS | columns).items() if values is not None}
    pq.write_table(pa.table(chosen), file)
    return file.getvalue()


def flipped(data, place):
    """The data with one byte changed; places from the end are negative."""
    return data[:place] + bytes([data[place] ^ 0xFF]) + data[place:][1:]


def weights(*values, kind=None):
    return parquet(weight=pa.array(values, kind))


PQ = parquet()
PARQUET = Group(
    "t.parquet",
    [
        (PQ, "= a,e,1.0 b,e,1.0 b,f,1.0 c,f,1.0"),
        (parquet(weight=None), "= a,e,1.0 b,e,1.0 b,f,1.0 c,f,1.0"),
        (parquet(vertex=[1, 2, 2, 3]), "= 1,e,1.0 2,e,1.0 2,f,1.0 3,f,1.0"),
        (parquet(vertex=pa.array([1, 2, 2, 3], pa.uint64())), "= 1,e,1.0 2,e,1.0 2,f,1.0 3,f,1.0"),
        (parquet(vertex=pa.array([1, 2, 2, 2**64 - 1], pa.uint64())), "row 0, column 'vertex': an id from h"),
        (parquet(vertex=[1.5, 2.0, 2.0, 3.0]), "row 0, column 'vertex': an id must be an integer"),
        (parquet(vertex=[1.0, 2.0, 2.0, 3.0]), "row 0, column 'vertex': an id must be an integer"),
        (parquet(vertex=[float("nan"), 2.0, 2.0, 3.0]), "row 0, column 'vertex': an id must be an integer"),
        (parquet(vertex=[True, False, False, True]), "row 0, column 'vertex': an id must be an integer"),
        (parquet(vertex=[None, "b", "b", "c"]), "row 0, column 'vertex': the value is missing;"),
        (parquet(vertex=[b"a", b"b", b"b", b"c"]), "row 0, column 'vertex': an id must be an integer"),
        (parquet(vertex=[b"\xff", b"b", b"b", b"c"]), "row 0, column 'vertex': an id must be an integer"),
        (parquet(vertex=[["a"], ["b"], ["b"], ["c"]]), "= a,e,1.0 b,e,1.0 b,f,1.0 c,f,1.0"),
        (parquet(vertex=[{"x": 1}, {"x": 2}, {"x": 2}, {"x": 3}]), "row 0, column 'vertex': an id must be a"),
        (parquet(vertex=pa.nulls(4)), "row 0, column 'vertex': the value is missing;"),
        (parquet(vertex=pa.array([1, 2, 2, 3], pa.date32())), "row 0, column 'vertex': an id must be an int"),
        (parquet(vertex=pa.array([1, 2, 2, 3], pa.timestamp("s"))), "row 0, column 'vertex': an id must be "),
        (
            parquet(vertex=pa.array(["a", "b", "b", "c"]).dictionary_encode()),
            "= a,e,1.0 b,e,1.0 b,f,1.0 c,f,1.0",
        ),
        (
            parquet(vertex=pa.array(["a", "b", "b", "c"], pa.large_string())),
            "= a,e,1.0 b,e,1.0 b,f,1.0 c,f,1.0",
        ),
        (parquet(vertex=["", "b", "b", "c"]), '= "",e,1.0 b,e,1.0 b,f,1.0 c,f,1.0'),
        (parquet(edge=[None] * 4), "row 0, column 'edge': the value is missing; fill"),
        (parquet(edge=None), '= 0,"vertex = a",1.0 1,"vertex = b",1.0 2,"vertex = b",1.0 3,"vertex = c",1.0'),
        (parquet(vertex=None), '= 0,"edge = e",1.0 1,"edge = e",1.0 2,"edge = f",1.0 3,"edge = f",1.0'),
        (parquet(vertex=None, edge=None), "no feature has two different values, so no row"),
        (parquet(vertex=["b", "b", "b", "c"]), "vertex 'b' in hyperedge 'e' appears more than"),
        (parquet(vertex=["b", "b", "b", "c"]), "--duplicates sum", "= b,e,2.0 b,f,1.0 c,f,1.0"),
        (parquet(vertex=[], edge=[], weight=[]), "= "),
        (weights(2, 1, 1, 1), "= a,e,2.0 b,e,1.0 b,f,1.0 c,f,1.0"),
        (weights(2, 1, 1, 1, kind=pa.int8()), "= a,e,2.0 b,e,1.0 b,f,1.0 c,f,1.0"),
        (weights(2**53 + 1, 1, 1, 1), "= a,e,9007199254740992.0 b,e,1.0 b,f,1.0 c,f,1.0"),
        (
            weights(2**64 - 1, 1, 1, 1, kind=pa.uint64()),
            "= a,e,1.8446744073709552e+19 b,e,1.0 b,f,1.0 c,f,1.0",
        ),
        (weights(1, 1, 1, 0.5, kind=pa.float32()), "= a,e,1.0 b,e,1.0 b,f,1.0 c,f,0.5"),
        (
            weights(*np.array([1, 1, 1, 0.5], np.float16), kind=pa.float16()),
            "= a,e,1.0 b,e,1.0 b,f,1.0 c,f,0.5",
        ),
        (weights(True, True, True, True), "= a,e,1.0 b,e,1.0 b,f,1.0 c,f,1.0"),
        (weights(-1.0, 1, 1, 1), "row 0, column 'weight': the weight -1.0 is negative"),
        (weights(float("nan"), 1, 1, 1), "row 0, column 'weight': the weight nan is not a"),
        (weights(float("inf"), 1, 1, 1), "row 0, column 'weight': the weight inf is not finite"),
        (weights(None, 1, 1, 1), "row 0, column 'weight': the weight is missing;"),
        (weights(0.0, 1, 1, 1), "-o isolated=error", "no hyperedge holds vertex 'a'; use -o"),
        (weights("1", "1", "1", "1"), "row 0, column 'weight': weights must be numbers,"),
        (weights("1", "x", "1", "1"), "row 0, column 'weight': weights must be numbers,"),
        (weights(b"1", b"1", b"1", b"1"), "row 0, column 'weight': weights must be numbers,"),
        (weights([1], [1], [1], [1]), "row 0, column 'weight': weights must be numbers,"),
        (weights(None, None, None, None), "row 0, column 'weight': the weight is missing;"),
        (weights(1, 1, 1, 1, kind=pa.date32()), "row 0, column 'weight': weights must be numbers,"),
        (weights(1, 1, 1, 1, kind=pa.decimal128(5, 2)), "= a,e,1.0 b,e,1.0 b,f,1.0 c,f,1.0"),
        (parquet(edge_weight=[1.0, 2.0, 1.0, 1.0]), "row 1, column 'edge_weight': the weight of"),
        (parquet(edge_weight=[2.0, 2.0, 1.0, 1.0]), "= a,e,1.0,2.0 b,e,1.0,2.0 b,f,1.0,1.0 c,f,1.0,1.0"),
        (parquet(edge_weight=[0.0, 0.0, 1.0, 1.0]), "row 0, column 'edge_weight': the weight of"),
        (parquet(edge_weight=[-1.0, -1.0, 1.0, 1.0]), "row 0, column 'edge_weight': the weight -1.0 is"),
        (PQ, "--vertex nothing", "the table has no column 'nothing'; its columns"),
        (PQ, "--weight nothing", "the table has no column 'nothing'; its columns"),
        (PQ, "--delimiter ,", "--delimiter is for text, and this is Parquet"),
        (PQ, "-o decimal=,", "-o decimal is for text, and this is Parquet"),
        (PQ, "--from csv", "line 2: byte 9 of the line is not UTF-8 text;"),
        (PQ, "--from rows", "~ read as a table with a row per vertex"),
        (PQ, "--from hif", "byte 74 is not UTF-8 text; save the file as UTF-8"),
        (PQ, "--from npz", "this is not a NumPy archive, or it is damaged"),
        (b"", "the file is empty"),
        (b"PAR1", "the Parquet data are damaged ('Parquet file size"),
        (b"PAR1PAR1", 'the Parquet data are damaged ("Parquet file size'),
        (b"PAR1" + bytes(4) + b"PAR1", "the Parquet data are damaged (\"Couldn't"),
        (b"PAR1" + b"\xff" * 4 + b"PAR1", 'the Parquet data are damaged ("Parquet file size'),
        (b"PARE" + PQ[4:-4] + b"PARE", 'the Parquet data are damaged ("Could not read'),
        (PQ[:-1], "the Parquet data are damaged ('Parquet magic"),
        (PQ[:-4], "the Parquet data are damaged ('Parquet magic"),
        (PQ[:-8], "the Parquet data are damaged ('Parquet magic"),
        (PQ[: len(PQ) // 2], "the Parquet data are damaged ('Parquet magic"),
        (PQ[:100], "the Parquet data are damaged ('Parquet magic"),
        (PQ[4:], "the Parquet data are damaged (\"Couldn't"),
        (PQ[:4] + PQ[200:], "the Parquet data are damaged (\"Couldn't"),
        (PQ + b"\x00", "the Parquet data are damaged ('Parquet magic"),
        (PQ + PQ, "= a,e,1.0 b,e,1.0 b,f,1.0 c,f,1.0"),
        (flipped(PQ, 0), "= a,e,1.0 b,e,1.0 b,f,1.0 c,f,1.0"),
        (flipped(PQ, 5), "the Parquet data are damaged (\"Couldn't"),
        (flipped(PQ, 40), "the Parquet data are damaged (\"Couldn't"),
        (flipped(PQ, -1), "the Parquet data are damaged ('Parquet magic"),
        (flipped(PQ, -6), 'the Parquet data are damaged ("Parquet file size'),
        (flipped(PQ, -60), "the Parquet data are damaged ('Invalid base64"),
        (flipped(PQ, -300), "the Parquet data are damaged ('Invalid base64"),
        (gzip.compress(PQ), "= a,e,1.0 b,e,1.0 b,f,1.0 c,f,1.0"),
        (GOOD, "the Parquet data are damaged ('Parquet magic"),
        (b"ARROW1\x00\x00" + bytes(100), "the Parquet data are damaged ('Parquet magic"),
        (b"ORC" + bytes(100), "the Parquet data are damaged ('Parquet magic"),
        (bytes(1000), "the Parquet data are damaged ('Parquet magic"),
    ],
)


def archive(**arrays):
    """The bytes of a NumPy archive: that of hyperclus, with arrays replaced, or removed by None."""
    sound = {
        "hyperclus": np.array(1, "<i8"),
        "gamma_data": np.array([1.0, 1, 1]),
        "gamma_indices": np.array([0, 1, 1], "<i4"),
        "gamma_indptr": np.array([0, 2, 3], "<i4"),
        "edge_weights": np.ones(2),
        "vertex_ids": np.arange(2),
        "edge_ids": np.arange(2),
    }
    file = io.BytesIO()
    np.savez(file, **{name: value for name, value in (sound | arrays).items() if value is not None})
    return file.getvalue()


def scipy_archive(**arrays):
    """The bytes of what scipy.sparse.save_npz writes, with arrays replaced, or removed by None."""
    sound = {
        "format": np.array(b"csr"),
        "shape": np.array([2, 2]),
        "data": np.array([2.0, 1.0]),
        "indices": np.array([0, 1], "i4"),
        "indptr": np.array([0, 1, 2], "i4"),
    }
    file = io.BytesIO()
    np.savez(file, **{name: value for name, value in (sound | arrays).items() if value is not None})
    return file.getvalue()


def zipped(*members, method=zipfile.ZIP_STORED):
    """A ZIP archive of (name, content)."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as made:
        for name, content in members:
            made.writestr(name, content)
    return file.getvalue()


def saved(matrix):
    file = io.BytesIO()
    sp.save_npz(file, matrix)
    return file.getvalue()


def npy(text, body=b""):
    """An array with any header."""
    head = text.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + body


def ids(text):
    return np.frombuffer(text if isinstance(text, bytes) else text.encode(), np.uint8)


NPZ, CSR = archive(), scipy_archive()
HUGE = "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999,)}"
OWN_ARCHIVES = Group(
    "t.npz",
    [
        (NPZ, "= 0,0,1.0 1,0,1.0 1,1,1.0"),
        (archive(hyperclus=np.array(2, "<i8")), "the version of the format is not 1; update"),
        (archive(hyperclus=np.array(1.0)), "the version of the format is not 1; update"),
        (archive(hyperclus=np.array("1")), "the version of the format is not 1; update"),
        (archive(hyperclus=np.array([1])), "the version of the format is not 1; update"),
        (archive(hyperclus=np.array(-1)), "the version of the format is not 1; update"),
        (archive(hyperclus=None), "neither write_npz nor scipy.sparse.save_npz wrote"),
        (archive(gamma_data=None), "the array 'gamma_data' is missing; recreate the"),
        (archive(gamma_indices=None), "the array 'gamma_indices' is missing; recreate"),
        (archive(gamma_indptr=None), "the array 'gamma_indptr' is missing; recreate the"),
        (archive(edge_weights=None), "the array 'edge_weights' is missing; recreate the"),
        (archive(vertex_ids=None), "the array 'vertex_ids' is missing; recreate the"),
        (archive(edge_ids=None), "the array 'edge_ids' is missing; recreate the"),
        (archive(gamma_data=np.array([1, 1, 1])), "the array 'gamma_data' must be one-dimensional"),
        (archive(gamma_data=np.ones(3, "f4")), "the array 'gamma_data' must be one-dimensional"),
        (archive(gamma_data=np.ones(3, ">f8")), "the array 'gamma_data' must be one-dimensional"),
        (archive(gamma_data=np.ones((3, 1))), "the array 'gamma_data' must be one-dimensional"),
        (archive(gamma_data=np.array(1.0)), "the array 'gamma_data' must be one-dimensional"),
        (archive(gamma_data=np.ones(2)), "this is not a NumPy archive, or it is damaged"),
        (archive(gamma_data=np.ones(4)), "this is not a NumPy archive, or it is damaged"),
        (archive(gamma_data=np.zeros(0)), "this is not a NumPy archive, or it is damaged"),
        (archive(gamma_data=np.array([-1.0, 1, 1])), "vertex 0 in hyperedge 0 has weight -1.0; weights"),
        (archive(gamma_data=np.array([0.0, 1, 1])), "= 1,0,1.0 1,1,1.0"),
        (archive(gamma_data=np.array([np.nan, 1, 1])), "vertex 0 in hyperedge 0 has weight nan; weights"),
        (archive(gamma_data=np.array([np.inf, 1, 1])), "vertex 0 in hyperedge 0 has weight inf; weights"),
        (archive(gamma_data=np.ones(3, complex)), "the array 'gamma_data' must be one-dimensional"),
        (archive(gamma_data=np.array(["1", "1", "1"])), "the array 'gamma_data' must be one-dimensional"),
        (archive(gamma_data=np.array([1, 1, 1], object)), "this is not a NumPy archive, or it is damaged"),
        (archive(gamma_indices=np.array([0, 1, 2], "<i4")), "the sparse matrix is damaged (indices must be "),
        (archive(gamma_indices=np.array([0, 1, -1], "<i4")), "the sparse matrix is damaged (indices must be"),
        (archive(gamma_indices=np.array([1, 0, 1], "<i4")), "= 0,0,1.0 1,0,1.0 1,1,1.0"),
        (archive(gamma_indices=np.array([0, 0, 1], "<i4")), "vertex 0 in hyperedge 0 appears more than once"),
        (archive(gamma_indices=np.array([0, 1], "<i4")), "this is not a NumPy archive, or it is damaged"),
        (archive(gamma_indices=np.array([0, 1, 1], "<u4")), "the array 'gamma_indices' must be one-dimensio"),
        (archive(gamma_indices=np.array([0.0, 1, 1])), "the array 'gamma_indices' must be one-dimensional"),
        (archive(gamma_indptr=np.array([0, 2], "<i4")), "this is not a NumPy archive, or it is damaged"),
        (archive(gamma_indptr=np.array([0, 2, 2], "<i4")), "this is not a NumPy archive, or it is damaged ("),
        (archive(gamma_indptr=np.array([0, 2, 4], "<i4")), "this is not a NumPy archive, or it is damaged"),
        (archive(gamma_indptr=np.array([1, 2, 3], "<i4")), "this is not a NumPy archive, or it is damaged"),
        (archive(gamma_indptr=np.array([0, 3, 2], "<i4")), "this is not a NumPy archive, or it is damaged ("),
        (archive(gamma_indptr=np.array([0, 10**9, -1], "<i4")), "this is not a NumPy archive, or it is dama"),
        (archive(gamma_indptr=np.array([0, -1, 3], "<i4")), "the sparse matrix is damaged (indptr does not"),
        (archive(gamma_indptr=np.zeros(0, "<i4")), "this is not a NumPy archive, or it is damaged"),
        (archive(edge_weights=np.ones(3)), "2 edge_weights are needed, one per hyperedge;"),
        (archive(edge_weights=np.ones(1)), "2 edge_weights are needed, one per hyperedge;"),
        (archive(edge_weights=np.array([1.0, 0])), "hyperedge 1 has weight 0.0; hyperedge weights"),
        (archive(edge_weights=np.array([1.0, -1])), "hyperedge 1 has weight -1.0; hyperedge weights"),
        (archive(edge_weights=np.array([1.0, np.nan])), "hyperedge 1 has weight nan; hyperedge weights"),
        (archive(vertex_ids=np.array([0, 0])), "vertex id 0 appears more than once; make the ids"),
        (archive(vertex_ids=np.arange(3)), "= 0,0,1.0 1,0,1.0 1,1,1.0"),
        (archive(vertex_ids=np.arange(1)), "the sparse matrix is damaged (indices must be <"),
        (archive(vertex_ids=np.array(["a", "b"])), "the array 'vertex_ids' must be one-dimensional"),
        (archive(vertex_ids=ids('["a", "b"]')), "= a,0,1.0 b,0,1.0 b,1,1.0"),
        (archive(vertex_ids=ids('["a", "a"]')), "vertex id 'a' appears more than once; make the"),
        (archive(vertex_ids=ids('["a", null]')), "vertex id at position 1 is missing; give every"),
        (archive(vertex_ids=ids('["a", {}]')), "the array 'vertex_ids' is not JSON of ids;"),
        (archive(vertex_ids=ids('["a", ["b", 1]]')), "out.csv: vertex id ('b', 1) is neither text nor"),
        (archive(vertex_ids=ids('["a", NaN]')), "vertex id at position 1 is missing; give every"),
        (archive(vertex_ids=ids('["a"')), "the array 'vertex_ids' is not JSON of ids;"),
        (archive(vertex_ids=ids("{}")), "the array 'vertex_ids' is not JSON of ids;"),
        (archive(vertex_ids=ids("")), "the array 'vertex_ids' is not JSON of ids;"),
        (archive(vertex_ids=ids(b"\xff\xfe")), "the array 'vertex_ids' is not JSON of ids;"),
        (archive(vertex_ids=ids("[" * 5000)), "the array 'vertex_ids' is not JSON of ids;"),
        (archive(vertex_ids=ids('["a", ' + "[" * 100 + "]" * 100 + "]")), "the array 'vertex_ids' is not JS"),
        (archive(vertex_ids=ids('["a", "\\ud800"]')), "out.csv: vertex id '\\ud800' contains half of a"),
        (archive(edge_ids=np.array([7, 7])), "edge id 7 appears more than once; make the ids"),
        (archive(extra=np.ones(3)), "= 0,0,1.0 1,0,1.0 1,1,1.0"),
        (NPZ, "-o duplicates=sum", "= 0,0,1.0 1,0,1.0 1,1,1.0"),
        (NPZ, "-o transpose=true", "the format npz has no option 'transpose'; it has"),
        (NPZ, "--vertex a", "the format npz has no option 'vertex'; it has"),
        (NPZ, "--label a", "--label names a column, and the format npz has no"),
        (NPZ, "--from hif", "byte 14 is not UTF-8 text; save the file as UTF-8"),
        (NPZ, "--from csv", "line 1: byte 14 of the line is not UTF-8 text;"),
    ],
)

SCIPY_ARCHIVES = Group(
    "t.npz",
    [
        (CSR, "= 0,0,2.0 1,1,1.0"),
        (saved(sp.csc_array([[2.0, 0], [1, 3]])), "= 0,0,2.0 1,0,1.0 1,1,3.0"),
        (saved(sp.coo_array([[2.0, 0], [1, 3]])), "= 0,0,2.0 1,0,1.0 1,1,3.0"),
        (saved(sp.dia_array([[2.0, 0], [1, 3]])), "= 0,0,2.0 1,0,1.0 1,1,3.0"),
        (saved(sp.bsr_array([[2.0, 0], [1, 3]])), "= 0,0,2.0 1,0,1.0 1,1,3.0"),
        (saved(sp.coo_array([1.0, 2.0])), "an incidence matrix has one row per vertex and"),
        (saved(sp.csr_array([[2, 0], [1, 3]])), "= 0,0,2.0 1,0,1.0 1,1,3.0"),
        (saved(sp.csr_array([[True, False], [True, True]])), "= 0,0,1.0 1,0,1.0 1,1,1.0"),
        (saved(sp.csr_array([[2.0, 0], [1, 3]], dtype="f4")), "= 0,0,2.0 1,0,1.0 1,1,3.0"),
        (saved(sp.csr_array([[2.0 + 1j, 0], [1, 3]])), "an incidence matrix holds real numbers; this one"),
        (saved(sp.csr_array([[-2.0, 0], [1, 3]])), "vertex 0 in hyperedge 0 has weight -2.0; weights"),
        (saved(sp.csr_array([[np.nan, 0], [1, 3]])), "vertex 0 in hyperedge 0 has weight nan; weights"),
        (saved(sp.csr_array([[np.inf, 0], [1, 3]])), "vertex 0 in hyperedge 0 has weight inf; weights"),
        (
            saved(sp.csr_array([[0.0, 0], [1, 3]])),
            "-o isolated=error",
            "no hyperedge holds vertex 0; use -o isolated=drop",
        ),
        (saved(sp.csr_array([[0.0, 0], [1, 3]])), "-o isolated=drop", "= 1,0,1.0 1,1,3.0"),
        (
            saved(sp.csr_array([[0.0, 1], [0, 3]])),
            "-o empty_edges=error",
            "no member is in hyperedge 0; use -o",
        ),
        (saved(sp.csr_array((0, 0))), "= "),
        (saved(sp.csr_array((2, 2))), "-o empty_edges=error", "no member is in hyperedge 0, 1; use -o"),
        (scipy_archive(format=np.array(b"xyz")), "this is not a NumPy archive, or it is damaged"),
        (scipy_archive(format=np.array(b"\xff")), "this is not a NumPy archive, or it is damaged"),
        (scipy_archive(format=np.array("csr")), "= 0,0,2.0 1,1,1.0"),
        (scipy_archive(format=np.array(5)), "this is not a NumPy archive, or it is damaged"),
        (scipy_archive(format=np.array(["csr", "csc"])), "this is not a NumPy archive, or it is damaged"),
        (scipy_archive(format=None), "neither write_npz nor scipy.sparse.save_npz wrote"),
        (scipy_archive(shape=None), "neither write_npz nor scipy.sparse.save_npz wrote"),
        (scipy_archive(data=None), "neither write_npz nor scipy.sparse.save_npz wrote"),
        (scipy_archive(indices=None), "this is not a NumPy archive, or it is damaged"),
        (scipy_archive(indptr=None), "this is not a NumPy archive, or it is damaged"),
        (scipy_archive(shape=np.array([2])), "this is not a NumPy archive, or it is damaged"),
        (scipy_archive(shape=np.array([2, 2, 2])), "this is not a NumPy archive, or it is damaged"),
        (scipy_archive(shape=np.array([-2, 2])), "this is not a NumPy archive, or it is damaged"),
        (scipy_archive(shape=np.array([2.0, 2.0])), "this is not a NumPy archive, or it is damaged"),
        (scipy_archive(shape=np.array([1, 1])), "this is not a NumPy archive, or it is damaged"),
        (scipy_archive(shape=np.array([2, 10**11])), "100,000,000,000 hyperedges are declared and there"),
        (scipy_archive(shape=np.array([10**18, 10**18])), "this is not a NumPy archive, or it is damaged"),
        (scipy_archive(data=np.ones((2, 2))), "this is not a NumPy archive, or it is damaged"),
        (scipy_archive(data=np.ones(3)), "this is not a NumPy archive, or it is damaged"),
        (scipy_archive(data=np.ones(2, "f2")), "the weights are float16, which SciPy cannot hold;"),
        (scipy_archive(data=np.array([np.longdouble("1e-4000"), 1])), "vertex 0 in hyperedge 0: the weight "),
        (scipy_archive(data=np.array(["a", "b"])), "an incidence matrix holds real numbers; this one"),
        (scipy_archive(data=np.array([1, 2], object)), "this is not a NumPy archive, or it is damaged"),
        (scipy_archive(data=np.array([1, 2], "M8[s]")), "an incidence matrix holds real numbers; this one"),
        (scipy_archive(indices=np.array([0, 5], "i4")), "the sparse matrix is damaged (indices must be <"),
        (scipy_archive(indices=np.array([0, -1], "i4")), "the sparse matrix is damaged (indices must be >="),
        (scipy_archive(indices=np.array([0.0, 1.0])), "this is not a NumPy archive, or it is damaged"),
        (scipy_archive(indptr=np.array([0, 10**9, -1], "i4")), "the sparse matrix is damaged (indptr does n"),
        (scipy_archive(indptr=np.array([0, 2, 1], "i4")), "the sparse matrix is damaged (indptr does not"),
        (scipy_archive(indptr=np.array([0, 1, 9], "i4")), "this is not a NumPy archive, or it is damaged"),
        (scipy_archive(indptr=np.array([1, 1, 2], "i4")), "this is not a NumPy archive, or it is damaged"),
        (scipy_archive(indptr=np.array([0, 2], "i4")), "this is not a NumPy archive, or it is damaged"),
        (
            scipy_archive(indptr=np.array([0, 0, 0], "i4")),
            "-o empty_edges=error",
            "no member is in hyperedge 0, 1; use -o",
        ),
        (
            scipy_archive(format=np.array(b"csc"), indptr=np.array([0, 10**9, -1], "i4")),
            "the sparse matrix is",
        ),
        (CSR, "-o isolated=sometimes", "-o isolated must be 'error', 'drop' or 'keep',"),
    ],
)

ARCHIVE_FILES = Group(
    "t.npz",
    [
        (b"", "the file is empty"),
        (b"PK", "this is not a NumPy archive, or it is damaged"),
        (b"PK\x03\x04", "this is not a NumPy archive, or it is damaged"),
        (b"PK\x05\x06" + bytes(18), "neither write_npz nor scipy.sparse.save_npz wrote"),
        (NPZ[:-1], "this is not a NumPy archive, or it is damaged"),
        (flipped(NPZ, NPZ.index(b"PK\x01\x02") + 6), "it is damaged ('zip file version"),
        (NPZ[:-22], "this is not a NumPy archive, or it is damaged"),
        (NPZ[: len(NPZ) // 2], "this is not a NumPy archive, or it is damaged"),
        (NPZ[10:], "this is not a NumPy archive, or it is damaged"),
        (b"junk" + NPZ, "= 0,0,1.0 1,0,1.0 1,1,1.0"),
        (NPZ + b"junk", "= 0,0,1.0 1,0,1.0 1,1,1.0"),
        (flipped(NPZ, 0), "this is not a NumPy archive, or it is damaged"),
        (flipped(NPZ, 14), "= 0,0,1.0 1,0,1.0 1,1,1.0"),
        (flipped(NPZ, 45), "= 0,0,1.0 1,0,1.0 1,1,1.0"),
        (flipped(NPZ, 400), "this is not a NumPy archive, or it is damaged"),
        (flipped(NPZ, -30), "this is not a NumPy archive, or it is damaged"),
        (gzip.compress(NPZ), "the content is compressed or an archive again;"),
        (npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}", bytes(8)), "this is not a NumPy arc"),
        (zipped(("a.txt", "text")), "this is a zip archive with a.txt; unpack it first"),
        (zipped(("t.csv", GOOD)), "this is a zip archive with t.csv; unpack it first"),
        (zipped(("xl/workbook.xml", "")), "this is an Excel file; use --from excel"),
        (zipped(), "neither write_npz nor scipy.sparse.save_npz wrote"),
        (zipped(("hyperclus.npy", "")), "this is not a NumPy archive, or it is damaged"),
        (zipped(("hyperclus.npy", b"\x93NUMPY\x09\x00")), "this is not a NumPy archive, or it is damaged"),
        (zipped(("hyperclus.npy", npy(HUGE))), "this is not a NumPy archive, or it is damaged"),
        (
            zipped(("data.npy", npy(HUGE)), ("shape.npy", npy(HUGE)), ("format.npy", npy(HUGE))),
            "this is not a NumPy ",
        ),
        (
            zipped(("hyperclus.npy", npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}"))),
            "this is not a NumPy ",
        ),
        (zipped(("hyperclus.npy", npy("__import__('os').system('true')"))), "this is not a NumPy archive, o"),
        (zipped(("hyperclus.npy", npy("{'descr': '<f8', 'shape': (1,)}"))), "this is not a NumPy archive, o"),
        (
            zipped(("hyperclus.npy", npy("{'descr': 'x9', 'fortran_order': False, 'shape': (1,)}"))),
            "this is not a NumPy ",
        ),
        (
            zipped(("hyperclus.npy", npy("{'descr': '<f8', 'fortran_order': 0, 'shape': (-1,)}"))),
            "this is not a NumPy ",
        ),
        (zipped(("../../evil.npy", b"x"), ("hyperclus.npy", b"x")), "this is not a NumPy archive, or it is "),
        (zipped(("a.npy", NPZ), method=zipfile.ZIP_BZIP2), "this is not a NumPy archive, or it is damaged"),
        (zipped(("a.npy", NPZ), method=zipfile.ZIP_LZMA), "this is not a NumPy archive, or it is damaged"),
        (zipped(("a.npy", bytes(30_000_000)), method=zipfile.ZIP_DEFLATED), "the content unpacks to more th"),
        (GOOD, "this is not a NumPy archive, or it is damaged"),
        (b"\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00\x8c\x05posix\x94", "this is not a NumPy archive, or"),
        (bytes(1000), "this is not a NumPy archive, or it is damaged"),
    ],
)

GZIP = Group(
    "t.csv.gz",
    [
        (GZIPPED, "= a,e,1.0 b,e,1.0 b,f,1.0 c,f,1.0"),
        (GOOD, "= a,e,1.0 b,e,1.0 b,f,1.0 c,f,1.0"),
        (GZIPPED + GZIPPED, "line 6: column 'weight': the weight 'weight' is"),
        (gzip.compress(GZIPPED), "the content is compressed or an archive again;"),
        (gzip.compress(b""), "no column is left to use; a table needs one"),
        (gzip.compress(b"\x00"), "the table has no rows under its header; it needs"),
        (gzip.compress(b"vertex,edge\n"), "= "),
        (gzip.compress(GOOD.encode("utf-16")), "= a,e,1.0 b,e,1.0 b,f,1.0 c,f,1.0"),
        (gzip.compress(PQ), "line 2: byte 9 of the line is not UTF-8 text;"),
        (gzip.compress(NPZ), "the content is compressed or an archive again;"),
        (gzip.compress(b"vertex,edge\n" + b"a,e\n" * 9_000_000), "the content unpacks to more than 200 time"),
        (b"", "the file is empty"),
        (b"\x1f", "the table has no rows under its header; it needs"),
        (b"\x1f\x8b", "the gzipped data are damaged or truncated;"),
        (b"\x1f\x8b\x08", "the gzipped data are damaged or truncated;"),
        (b"\x1f\x8b\x07" + GZIPPED[3:], "the gzipped data are damaged or truncated;"),
        (GZIPPED[:10], "the gzipped data are damaged or truncated;"),
        (GZIPPED[:20], "the gzipped data are damaged or truncated;"),
        (GZIPPED[:-8], "the gzipped data are damaged or truncated;"),
        (GZIPPED[:-4], "the gzipped data are damaged or truncated;"),
        (GZIPPED[:-1], "the gzipped data are damaged or truncated;"),
        (flipped(GZIPPED, 3), "the gzipped data are damaged or truncated;"),
        (flipped(GZIPPED, 12), "the gzipped data are damaged or truncated;"),
        (flipped(GZIPPED, 25), "the gzipped data are damaged or truncated;"),
        (flipped(GZIPPED, -1), "the gzipped data are damaged or truncated;"),
        (flipped(GZIPPED, -5), "the gzipped data are damaged or truncated;"),
        (GZIPPED + b"junk", "the gzipped data are damaged or truncated;"),
        (GZIPPED + b"\x00" * 100, "= a,e,1.0 b,e,1.0 b,f,1.0 c,f,1.0"),
        (GZIPPED, "--from hif", "line 1, column 1: this is not JSON (Expecting"),
        (GZIPPED, "--from parquet", "the Parquet data are damaged ('Parquet magic"),
        (GZIPPED, "--delimiter ;", "the table has no column 'vertex'; its columns are"),
    ],
)
