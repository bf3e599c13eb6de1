"""NumPy archives, `.npz`: a hypergraph to the last bit, fast; and SciPy's sparse matrices.

The archive holds the number of the format ("hyperclus"), the arrays of gamma in CSR, omega, and the ids:
integers as int64, everything else as JSON in UTF-8 bytes, with tuples as JSON arrays. Nothing is pickled,
and nothing that is read is trusted.
"""

import io
import json
import math
import os
import warnings
import zipfile
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hyperclus._runtime.files import StrPath, fault, reading, refuse_bomb, writing
from hyperclus.errors import Argument, InputError
from hyperclus.hypergraph.hypergraph import Hypergraph, check_hypergraph
from hyperclus.hypergraph.ids import object_array
from hyperclus.hypergraph.messages import shown
from hyperclus.io.entries import Entries, Policies, from_entries
from hyperclus.typing import AbsencePolicy, Codes, DuplicatePolicy, Floats, Ids

VERSION = 1
NESTING = 20  # tuples within tuples of an id
PLAIN = (str, int, float, bool, type(None))

INTEGERS = ("<i4", "<i8")
ARRAYS = {
    "gamma_data": ("<f8",),
    "gamma_indices": INTEGERS,
    "gamma_indptr": INTEGERS,
    "edge_weights": ("<f8",),
    "vertex_ids": ("<i8", "|u1"),
    "edge_ids": ("<i8", "|u1"),
}

SCIPY = ("format", "shape", "data", "indices", "indptr", "row", "col")
KNOWN = {f"{name}.npy" for name in ("hyperclus", *ARRAYS, *SCIPY)}  # nothing else is loaded


def write_npz(hypergraph: Hypergraph, path: StrPath, *, compressed: bool = False) -> None:
    """Write a hypergraph without any loss; `compressed` takes less room and more time.

    The file appears whole or not at all.

    Raises
    ------
    InputError
        For an id that is not text, a number, a truth value, or a tuple of these and None.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> h = Hypergraph.from_edges({("e", 1): {"a": 0.1, 7: 2}, "f": [7, "7"]}, edge_weights=[3, 0.2])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_npz(h, pathlib.Path(folder, "small.npz"))
    ...     again = read_npz(pathlib.Path(folder, "small.npz"))
    >>> again.vertex_ids.tolist(), again.edge_ids.tolist(), again.edge_weights.tolist()
    (['a', 7, '7'], [('e', 1), 'f'], [3.0, 0.2])
    """
    check_hypergraph(hypergraph)
    if os.fspath(path).endswith(".gz"):
        packed = Argument("compressed", True, for_writing=True)
        raise fault(path, InputError("an archive is not gzipped; leave out .gz and use ", packed))
    gamma = hypergraph.gamma
    index = "<i4" if gamma.indices.dtype == np.int32 else "<i8"
    arrays: dict[str, NDArray[Any]] = {
        "hyperclus": np.array(VERSION, dtype="<i8"),
        "gamma_data": gamma.data.astype("<f8", copy=False),
        "gamma_indices": gamma.indices.astype(index, copy=False),
        "gamma_indptr": gamma.indptr.astype(index, copy=False),
        "edge_weights": hypergraph.edge_weights.astype("<f8", copy=False),
        "vertex_ids": _packed(hypergraph.vertex_ids, "vertex"),
        "edge_ids": _packed(hypergraph.edge_ids, "edge"),
    }
    save: Any = np.savez_compressed if compressed else np.savez
    with writing(path) as file:
        save(file, **arrays)


def read_npz(
    path: StrPath,
    *,
    duplicates: DuplicatePolicy = "error",
    isolated: AbsencePolicy = "error",
    empty_edges: AbsencePolicy = "error",
) -> Hypergraph:
    """The hypergraph that `write_npz` wrote; or one from a matrix that `scipy.sparse.save_npz` wrote.

    Such a matrix, in CSR, CSC or COO, has vertices as rows and hyperedges as columns, and omega is 1.

    Parameters
    ----------
    path : str or path
    duplicates, isolated, empty_edges
        As in `Hypergraph.from_incidence`, for SciPy's matrices. A file of `write_npz` comes back as it was.

    Raises
    ------
    InputError
        Naming the file, the array and the remedy: for an archive that is damaged, of another origin, or
        unpacks to absurdly much, and for arrays that are no hypergraph.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "matrix.npz")
    ...     sp.save_npz(path, sp.csr_array([[2.0, 0.0], [1.0, 1.0], [0.0, 3.0]]))
    ...     read_npz(path)
    Hypergraph(3 vertices, 2 hyperedges, 4 incidences)
    """
    with reading(path) as file:
        arrays = _arrays(path, file)
    if "hyperclus" in arrays:
        return _own(path, arrays)
    rows, columns, gamma, shape = _scipy(path, arrays)
    policies = Policies(duplicates=duplicates, isolated=isolated, empty_edges=empty_edges)
    try:
        return from_entries(Entries(rows, columns, gamma, shape), **policies)
    except InputError as error:
        raise fault(path, error) from None


# ---- archives ------------------------------------------------------------------------------------


def _arrays(path: StrPath, file: BinaryIO) -> dict[str, NDArray[Any]]:
    """The arrays of an archive by name, after the checks that need no knowledge of what they mean."""
    if not isinstance(getattr(file, "raw", None), io.FileIO):
        raise fault(path, "the archive is gzipped; unpack it first")
    try:
        with warnings.catch_warnings(action="error"), zipfile.ZipFile(file) as archive:
            entries = [entry for entry in archive.infolist() if entry.filename in KNOWN]
            unpacked = sum(entry.file_size for entry in entries)
            refuse_bomb(path, os.fstat(file.fileno()).st_size, unpacked)
            return {entry.filename.removesuffix(".npy"): _array(archive, entry) for entry in entries}
    except InputError:
        raise
    except Exception as error:  # a damaged archive makes zipfile, zlib and NumPy raise almost anything
        why = shown(" ".join(str(error).split()))
        raise fault(path, f"this is no archive of NumPy, or it is damaged ({why}); make it anew") from None


def _array(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> NDArray[Any]:
    """One array, which shares the bytes that were read; its size is not believed before they are there."""
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError("packed in a way that NumPy does not use")
    with archive.open(entry) as member:
        data = member.read(entry.file_size)  # with a limit, or a packed lie unpacks to 2 GB at once
    stream = io.BytesIO(data)
    version = np.lib.format.read_magic(stream)
    if version == (1, 0):
        shape, _, kind = np.lib.format.read_array_header_1_0(stream)
    elif version == (2, 0):
        shape, _, kind = np.lib.format.read_array_header_2_0(stream)
    else:
        raise ValueError("unknown version of the array format")
    start = stream.tell()
    if kind.hasobject or kind.itemsize == 0 or math.prod(shape) * kind.itemsize != len(data) - start:
        raise ValueError(f"{shown(entry.filename)} does not hold the array that it announces")
    return np.frombuffer(data, dtype=kind, offset=start).reshape(shape)


# ---- hypergraphs ---------------------------------------------------------------------------------


def _own(path: StrPath, arrays: dict[str, NDArray[Any]]) -> Hypergraph:
    version = arrays["hyperclus"]
    if version.shape != () or version.dtype != np.int64 or version != VERSION:
        raise fault(path, f"the format is not number {VERSION}; update hyperclus, or make the file anew")
    for name, kinds in ARRAYS.items():
        _check_array(path, arrays, name, kinds)
    vertex_ids, edge_ids = (_unpacked(path, arrays[name], name) for name in ("vertex_ids", "edge_ids"))
    data, indices, indptr = (arrays[name] for name in ("gamma_data", "gamma_indices", "gamma_indptr"))
    _check_gamma(path, data, indices, indptr, len(vertex_ids), len(edge_ids))
    gamma = sp.csr_array((data, indices, indptr), shape=(len(edge_ids), len(vertex_ids)))
    try:
        return Hypergraph(gamma, arrays["edge_weights"], vertex_ids, edge_ids)
    except InputError as error:
        raise fault(path, error) from None


def _check_array(path: StrPath, arrays: dict[str, NDArray[Any]], name: str, kinds: tuple[str, ...]) -> None:
    array = arrays.get(name)
    if array is None:
        raise fault(path, f"the array {name!r} is missing; make the file anew")
    if array.ndim != 1 or array.dtype.str not in kinds:
        raise fault(
            path,
            f"the array {name!r} must be one-dimensional and of type {' or '.join(kinds)}, not of shape "
            f"{shown(array.shape)} and type {shown(array.dtype.str)}; make the file anew",
        )


def _check_gamma(
    path: StrPath, data: Floats, indices: Codes, indptr: Codes, n_vertices: int, n_edges: int
) -> None:
    """Refuse arrays that are not the CSR form of a hypergraph: sorted, no duplicates, no zeros."""
    bounded = len(indptr) == n_edges + 1 and len(data) == len(indices)
    if not bounded or indptr[0] != 0 or indptr[-1] != len(data) or (indptr[1:] < indptr[:-1]).any():
        message = "the arrays of gamma and the hyperedge ids do not fit together; make the file anew"
        raise fault(path, message)
    if not len(data):
        return
    if indices.min() < 0 or indices.max() >= n_vertices:
        raise fault(path, f"gamma_indices must be from 0 to {n_vertices - 1}; make the file anew")
    rising = np.append(indices[1:] > indices[:-1], True)
    ends = indptr[1:][indptr[1:] > 0] - 1  # the last member of one hyperedge need not be below the next
    rising[ends] = True
    if not rising.all():
        edge = int(np.searchsorted(indptr, np.argmin(rising), side="right")) - 1
        message = (
            f"the members of hyperedge {edge}, from 0, are not in order or not unique; make the file anew"
        )
        raise fault(path, message)
    if not (data.min() > 0 and data.max() < np.inf):
        position = int(np.argmin((data > 0) & (data < np.inf)))
        message = f"gamma_data at position {position} is {data[position]}, not positive and finite"
        raise fault(path, f"{message}; make the file anew")


def _scipy(path: StrPath, arrays: dict[str, NDArray[Any]]) -> tuple[Codes, Codes, Floats, tuple[int, int]]:
    """Rows, columns, weights and shape of a matrix that SciPy wrote."""
    if not {"format", "shape", "data"} <= set(arrays):
        message = "neither write_npz nor scipy.sparse.save_npz wrote this archive"
        raise fault(path, f"{message}; load it and use Hypergraph.from_incidence")
    kind, data = arrays["format"], arrays["data"]
    name = str(kind.astype("U")) if kind.shape == () and kind.dtype.kind in "SU" else "unknown"
    names = {"csr": ("indices", "indptr"), "csc": ("indices", "indptr"), "coo": ("row", "col")}.get(name)
    if names is None:
        raise fault(path, f"a matrix in format {shown(name)} cannot be read; save its tocsr()")
    for key in ("shape", *names):
        _check_array(path, arrays, key, INTEGERS)
    if data.ndim != 1 or data.dtype.kind not in "biuf":
        raise fault(path, f"the weights must be real numbers, not of type {data.dtype}; convert the matrix")
    shape = tuple(arrays["shape"].tolist())
    if len(shape) != 2 or min(shape) < 1:
        message = (
            f"the matrix has shape {shown(shape)}; it needs rows for vertices and columns for hyperedges"
        )
        raise fault(path, message)
    first, second = (arrays[key] for key in names)
    try:
        if name == "coo":
            matrix = sp.coo_array((data, (first, second)), shape=shape)
        else:
            compressed = (sp.csr_array if name == "csr" else sp.csc_array)((data, first, second), shape=shape)
            compressed.check_format(full_check=True)
            matrix = compressed.tocoo()
    except ValueError as error:
        raise fault(path, f"the sparse matrix is damaged ({error}); make the file anew") from None
    return matrix.row, matrix.col, matrix.data, (shape[0], shape[1])


# ---- ids -----------------------------------------------------------------------------------------


def _packed(ids: Ids, what: str) -> NDArray[Any]:
    if ids.dtype == np.int64:
        return ids.astype("<i8", copy=False)
    values = [value if type(value) is str else _plain(value, value, what) for value in ids.tolist()]
    try:
        text = json.dumps(values, ensure_ascii=False, separators=(",", ":"))
    except ValueError:  # Python does not turn integers of thousands of digits into text
        raise InputError(f"an integer among the {what} ids is too long to write; use shorter ids") from None
    return np.frombuffer(text.encode("utf-8", "surrogatepass"), dtype=np.uint8)


def _plain(value: Any, whole: Any, what: str, depth: int = 0) -> Any:
    """An id, or a part of one, as JSON can keep it."""
    if isinstance(value, np.generic):
        value = value.item()
    if type(value) is tuple and depth < NESTING:
        return [_plain(part, whole, what, depth + 1) for part in value]
    if type(value) not in PLAIN:
        raise InputError(
            f"{what} id {shown(whole)} has a part of type {type(value).__name__}, which the file cannot "
            f"keep; use text, numbers, or tuples of them not more than {NESTING} deep"
        )
    return value


def _unpacked(path: StrPath, ids: NDArray[Any], name: str) -> Ids:
    if ids.dtype.kind == "i":
        return ids.astype(np.int64, copy=False)
    try:
        values = json.loads(ids.tobytes().decode("utf-8", "surrogatepass"))
        if not isinstance(values, list):
            raise ValueError
        return object_array([value if type(value) is str else _hashable(value) for value in values])
    except (ValueError, RecursionError):
        raise fault(path, f"the array {name!r} is not JSON of ids; make the file anew") from None


def _hashable(value: Any, depth: int = 0) -> Any:
    if isinstance(value, dict) or depth > NESTING:
        raise ValueError
    return tuple(_hashable(part, depth + 1) for part in value) if isinstance(value, list) else value
