"""Attributes of the vertices from a file: --attributes."""

from pathlib import Path
from typing import Any

import numpy as np

from hyperclus._runtime.files import fault
from hyperclus.cli.ids import texts
from hyperclus.errors import InputError
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.hypergraph.messages import caption
from hyperclus.io.attributes import ID_COLUMNS, Attributes, aligned
from hyperclus.io.tables import open_table
from hyperclus.io.tables.schema import read_columns


def read_attributes(path: Path, hypergraph: Hypergraph) -> tuple[Hypergraph, Attributes]:
    """The attributes in a file, and the hypergraph with the vertices that only they name.

    A table (CSV, TSV, Parquet, JSON, Excel) may have a column of ids, named vertex, id, or like the vertices;
    they are compared as text. A matrix (npz of SciPy, npy) has its rows in the order of the vertices.
    """
    given = _matrix(path) if path.suffix.lower() in (".npz", ".npy") else _columns(path, hypergraph)
    try:
        h, found, _ = aligned(hypergraph, given)
    except InputError as error:
        raise fault(path, error) from None
    assert h is not None  # because a hypergraph was given
    return h, found


def _matrix(path: Path) -> Any:
    """A matrix of NumPy or SciPy."""
    import scipy.sparse as sp

    try:
        return sp.load_npz(path) if path.suffix.lower() == ".npz" else np.load(path, allow_pickle=False)
    except FileNotFoundError:
        raise fault(path, "there is no such file") from None
    except (OSError, ValueError, KeyError, EOFError):
        raise fault(path, "this is not a matrix that scipy.sparse.save_npz or numpy.save wrote") from None


def _columns(path: Path, hypergraph: Hypergraph) -> dict[str, Any]:
    """The columns of a table; ids that are those of vertices, as text, become these."""
    table = open_table(path)
    names = list(table.names)
    columns: dict[str, Any] = {}
    for name, column in zip(names, read_columns(table, names), strict=True):
        values = column.values.to_pylist()
        columns[name] = np.array(values, dtype=np.float64) if column.numbers else values
    key = next((name for name in (hypergraph.nouns.vertex, *ID_COLUMNS) if name in columns), None)
    if key is None:
        return columns
    known = dict(zip(texts(hypergraph.vertex_ids), hypergraph.vertex_ids.tolist(), strict=True))
    (ids,) = read_columns(table, [key])
    given = ids.values.to_pylist()
    del columns[key]
    return {"vertex": [known.get(caption(_whole(one)), one) for one in given], **columns}


def _whole(value: Any) -> Any:
    """An integer for a float that is one, as the ids 1, 2, ... may have become."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def as_beta(text: str) -> Any:
    """The value of --beta: a number, or auto."""
    if text == "auto":
        return text
    try:
        return float(text)
    except ValueError:
        raise InputError(f"--beta must be auto or a number from 0 to 1; got {text!r}") from None
