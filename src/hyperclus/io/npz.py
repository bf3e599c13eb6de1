"""NumPy archives, `.npz`: lossless and fast; also SciPy's sparse matrices.

The archive holds the version of the format ("hyperclus"), gamma as the arrays of a CSR matrix, omega, and the
ids: integers as int64, others as JSON in UTF-8 bytes, with tuples as JSON arrays; for a table with a row per
vertex also its columns with their bins, and for a walk with attributes its mixture. Nothing is pickled. Saved
models are such archives too.
"""

import io
import json
import math
import os
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Unpack, get_args

import numpy as np
import scipy.sparse as sp
from numpy.lib.format import read_array_header_1_0, read_array_header_2_0, read_magic
from numpy.lib.npyio import NpzFile
from numpy.typing import NDArray

from hyperclus._runtime.files import StrPath, fault, writing
from hyperclus._runtime.source import reading, refuse_bomb
from hyperclus.errors import Argument, InputError, check_switch
from hyperclus.hypergraph.binning import Binning, Kind
from hyperclus.hypergraph.features import Columns
from hyperclus.hypergraph.hypergraph import Hypergraph, check_hypergraph
from hyperclus.hypergraph.ids import object_array
from hyperclus.hypergraph.incidence import Policies, PolicyOptions, as_matrix
from hyperclus.hypergraph.messages import USUAL, Nouns, shown
from hyperclus.hypergraph.mixture import Mixture
from hyperclus.io.shared import Entries, from_entries, naming
from hyperclus.typing import Ids

VERSION = 1
NESTING = 20  # levels of tuples in an id
PLAIN = (str, int, float, bool, type(None))
ARRAYS = {
    "gamma_data": ("<f8",),
    "gamma_indices": ("<i4", "<i8"),
    "gamma_indptr": ("<i4", "<i8"),
    "edge_weights": ("<f8",),
    "vertex_ids": ("<i8", "|u1"),
    "edge_ids": ("<i8", "|u1"),
}
SCIPY = {"format", "shape", "data"}  # in every archive of scipy.sparse.save_npz
INDICES = {"shape", "indices", "indptr", "row", "col", "offsets"}


def write_npz(hypergraph: Hypergraph, path: StrPath, *, compressed: bool = False) -> None:
    """Write a hypergraph without loss; `compressed` needs less space and more time.

    Ids may be text, numbers, True, False, and tuples of these and None.

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
    check_switch("compressed", compressed)
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
        "vertex_ids": pack_ids(hypergraph.vertex_ids, "vertex"),
        "edge_ids": pack_ids(hypergraph.edge_ids, "edge"),
    }
    if hypergraph.nouns != USUAL:
        words = [hypergraph.nouns.vertex, hypergraph.nouns.edge]
        arrays["nouns"] = pack_ids(object_array(words), "noun")
    if hypergraph.columns is not None:
        arrays["columns"] = pack_columns(hypergraph.columns)
    if (mixed := hypergraph.mixture) is not None:
        arrays["mixture"] = np.array([mixed.n_neighborhoods, mixed.beta], dtype="<f8")
    save: Any = np.savez_compressed if compressed else np.savez
    with writing(path) as file:
        save(file, **arrays)


def read_npz(path: StrPath, **policies: Unpack[PolicyOptions]) -> Hypergraph:
    """Read a hypergraph that `write_npz` wrote, or a matrix that `scipy.sparse.save_npz` wrote.

    The matrix has vertices as rows and hyperedges as columns; omega is 1. `**policies`, which are as in
    `Hypergraph.from_incidence`, are for SciPy's matrices only.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "matrix.npz")
    ...     sp.save_npz(path, sp.csr_array([[2.0, 0.0], [1.0, 1.0], [0.0, 3.0]]))
    ...     read_npz(path)
    Hypergraph(3 vertices, 2 hyperedges, 4 incidences)
    """
    with opened_archive(path) as (archive, kinds):
        return _hypergraph(path, archive, kinds, Policies(**policies))


@contextmanager
def opened_archive(
    path: StrPath, what: str = "a NumPy archive"
) -> Iterator[tuple[Any, dict[str, np.dtype[Any]]]]:
    """Open an archive whose arrays are no larger than the file can hold; also yields their types, by name.

    Whatever fails in the body is an `InputError` that names the file.
    """
    with reading(path) as file:
        if not isinstance(getattr(file, "raw", None), io.FileIO):
            raise fault(path, "the archive is compressed; unpack it first")
        try:
            with naming(path), warnings.catch_warnings(action="error"), NpzFile(file) as archive:
                packed: Any = archive.zip
                entries = packed.infolist()
                refuse_bomb(path, os.stat(path).st_size, sum(entry.file_size for entry in entries))
                kinds = {one.filename.removesuffix(".npy"): _announced(packed, one) for one in entries}
                yield archive, kinds
        except (InputError, MemoryError):
            raise
        except Exception as error:  # with damaged files, zipfile, zlib, NumPy and SciPy raise anything
            why = shown(" ".join(str(error).split()))
            raise fault(path, f"this is not {what}, or it is damaged ({why}); recreate it") from None


def checked_version(archive: Any, name: str, version: int) -> None:
    """Raise an `InputError` unless an array of an archive is the version of its format."""
    found = archive[name]
    if found.shape != () or found.dtype != np.int64 or found != version:
        raise InputError(f"the version of the format is not {version}; update hyperclus or recreate the file")


def _hypergraph(
    path: StrPath, archive: Any, kinds: dict[str, np.dtype[Any]], policies: Policies
) -> Hypergraph:
    if "hyperclus_model" in archive.files:
        raise InputError("this is a saved model, not a hypergraph; hc.load reads it")
    if "hyperclus" not in archive.files:
        if not set(archive.files) >= SCIPY:
            reason = "neither write_npz nor scipy.sparse.save_npz wrote this archive"
            raise InputError(f"{reason}; load it and use Hypergraph.from_incidence")
        if any(kinds[name].kind not in "iu" for name in INDICES & kinds.keys()):  # SciPy would round them
            raise ValueError("the indices are not integers")
        if kinds["data"] == np.float16:
            raise InputError("the weights are float16, which SciPy cannot hold; save them as float32")
        matrix = sp.coo_array(as_matrix(sp.load_npz(path)))
        return from_entries(Entries(matrix.row, matrix.col, matrix.data, matrix.shape), policies)
    checked_version(archive, "hyperclus", VERSION)
    arrays = {name: checked_array(archive, name, types) for name, types in ARRAYS.items()}
    vertex_ids, edge_ids = (unpack_ids(arrays[name], name) for name in ("vertex_ids", "edge_ids"))
    data, indices, indptr = (arrays[name] for name in ("gamma_data", "gamma_indices", "gamma_indptr"))
    gamma = sp.csr_array((data, indices, indptr), shape=(len(edge_ids), len(vertex_ids)))
    if indptr[-1] < len(data):  # SciPy would ignore the others
        raise ValueError(f"{len(data)} weights for {indptr[-1]} incidences")
    columns = unpack_columns(archive["columns"]) if "columns" in archive.files else None
    mixture = _mixture(archive)
    return Hypergraph(gamma, arrays["edge_weights"], vertex_ids, edge_ids, _nouns(archive), columns, mixture)


def checked_array(archive: Any, name: str, types: tuple[str, ...], ndim: int = 1) -> NDArray[Any]:
    """Read an array of an archive; it must be there, and of one of these types."""
    if name not in archive.files:
        raise InputError(f"the array {name!r} is missing; recreate the file")
    array: NDArray[Any] = archive[name]
    if array.ndim != ndim or array.dtype.str not in types:
        expected = f"must be {('one', 'two')[ndim - 1]}-dimensional and of type {' or '.join(types)}"
        found = f"shape {shown(array.shape)} and type {shown(array.dtype.str)}"
        raise InputError(f"the array {name!r} {expected}, not of {found}; recreate the file")
    return array


def _nouns(archive: Any) -> Nouns:
    if "nouns" not in archive.files:
        return USUAL
    return Nouns(*unpack_ids(archive["nouns"], "nouns"))


def _mixture(archive: Any) -> Mixture | None:
    if "mixture" not in archive.files:
        return None
    found = checked_array(archive, "mixture", ("<f8",))
    if len(found) != 2 or not np.isfinite(found).all():
        raise InputError("the array 'mixture' must be a number of neighbourhoods and beta; recreate the file")
    count, beta = found.tolist()
    return Mixture(int(count) if count.is_integer() else count, beta)


def _announced(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> np.dtype[Any]:
    """The type of an array by its header, after a check that NumPy will not allocate more than there is."""
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError("compressed in a way that NumPy does not use")
    with archive.open(entry) as member:
        read_header = {(1, 0): read_array_header_1_0, (2, 0): read_array_header_2_0}[read_magic(member)]
        shape, _, kind = read_header(member)
    if not kind.itemsize or math.prod(shape) * kind.itemsize > entry.file_size:
        raise ValueError(f"{shown(entry.filename)} does not hold the array that it announces")
    return kind


def pack_ids(ids: Ids, what: str) -> NDArray[Any]:
    """Return ids as an array that an archive can hold: integers, or the bytes of JSON."""
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
            f"hold; use text, numbers, or tuples of them, at most {NESTING} levels deep"
        )
    return value


def unpack_ids(ids: NDArray[Any], name: str) -> Ids:
    """Return the ids that `pack_ids` packed."""
    if ids.dtype.kind == "i":
        return ids.astype(np.int64, copy=False)
    try:
        values = json.loads(ids.tobytes().decode("utf-8", "surrogatepass"))
        if not isinstance(values, list):
            raise ValueError
        return object_array([value if type(value) is str else _hashable(value) for value in values])
    except (ValueError, RecursionError):
        raise InputError(f"the array {name!r} is not JSON of ids; recreate the file") from None


def _hashable(value: Any, depth: int = 0) -> Any:
    if isinstance(value, dict) or depth > NESTING:
        raise ValueError
    return tuple(_hashable(part, depth + 1) for part in value) if isinstance(value, list) else value


def pack_columns(columns: Columns) -> NDArray[Any]:
    """Return the columns of a table and their bins as the bytes of JSON."""
    listed = [
        (name, () if one is None else (one.kind, one.points, tuple(one.numbers.tolist()), one.names))
        for name, one in columns.items()
    ]
    return pack_ids(object_array(listed), "column")


def unpack_columns(array: NDArray[Any]) -> Columns:
    """Return the columns that `pack_columns` packed."""
    found: dict[Any, Binning | None] = {}
    for name, parts in unpack_ids(array, "columns").tolist():
        kind, points, numbers, names = parts or (None, (), (), ())
        if kind is not None and kind not in get_args(Kind):
            raise ValueError("unknown kind of bins")
        found[name] = None if kind is None else Binning(kind, points, np.array(numbers, dtype=float), names)
    return found
