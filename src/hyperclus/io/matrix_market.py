"""Matrix Market files, `.mtx` and `.mtx.gz`: the incidence matrix with vertices as rows.

SciPy writes them. It does not read them here: its reader takes 1.5x for 1.5 and 5.5 in a file of
integers for 5, and sizes of 0 end the process. The lines of numbers are parsed in bulk instead; only
when something is wrong a second, slow look finds the line.
"""

from typing import BinaryIO, Literal, NamedTuple

import numpy as np

from hyperclus._runtime.arrays import index_type
from hyperclus._runtime.files import StrPath, fault, reading, writing
from hyperclus.errors import InputError
from hyperclus.hypergraph.hypergraph import Hypergraph, check_hypergraph
from hyperclus.hypergraph.messages import shown
from hyperclus.io.numbers import (
    MARK,
    WHOLE,
    Irregular,
    all_weights,
    all_whole,
    from_entries,
    number_lines,
    numbered_lines,
    plain,
    warn_lost,
)
from hyperclus.typing import AbsencePolicy, Codes, DuplicatePolicy, Floats

BANNER = b"%%MatrixMarket"
FIELDS = ("real", "double", "integer", "unsigned-integer", "pattern")


class _Kind(NamedTuple):
    """What the first line of a file says."""

    array: bool
    field: str
    symmetric: bool

    @property
    def width(self) -> int:
        """How many numbers a line has."""
        return 1 if self.array else 2 + (self.field != "pattern")

    @property
    def whole(self) -> bool:
        """Whether the weights are integers."""
        return self.field.endswith("integer")

    def n_entries(self, size: list[float]) -> float:
        """How many lines follow the sizes."""
        if not self.array:
            return size[2]
        return size[0] * (size[0] + 1) / 2 if self.symmetric else size[0] * size[1]


def read_matrix_market(
    path: StrPath,
    *,
    transpose: bool = False,
    duplicates: DuplicatePolicy = "error",
    isolated: AbsencePolicy = "error",
    empty_edges: AbsencePolicy = "error",
) -> Hypergraph:
    """A hypergraph from a Matrix Market file: entry (v, e) is gamma_e(v), omega = 1.

    Rows are vertices and columns hyperedges, numbered from 0: row 1 of the file is vertex 0. Read are
    sparse files ("coordinate") and dense ones ("array") of real numbers or integers, and patterns
    (gamma = 1); "general" and "symmetric", whose other half is filled in. Gzipped files are
    unpacked, whatever their name.

    Parameters
    ----------
    path : str or path
    transpose : bool
        Whether rows are hyperedges and columns vertices.
    duplicates, isolated, empty_edges
        As in `Hypergraph.from_incidence`.

    Raises
    ------
    InputError
        Naming the file, the line and the remedy: for another kind of file, complex or skew-symmetric
        matrices, entries outside the matrix, too few or too many of them, weights that are negative
        or no finite numbers, and for the policies above.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "small.mtx")
    ...     _ = path.write_text('''%%MatrixMarket matrix coordinate real general
    ... 3 2 4
    ... 1 1 2.5
    ... 2 1 1
    ... 2 2 1
    ... 3 2 1
    ... ''')
    ...     read_matrix_market(path)
    Hypergraph(3 vertices, 2 hyperedges, 4 incidences)
    """
    with reading(path) as file:
        kind = _kind(path, file)
        try:
            rows, columns, gamma, shape = _entries(file, kind)
        except Irregular:
            raise _explained(path, kind) from None
    if kind.symmetric:
        apart = rows != columns
        rows, columns = np.append(rows, columns[apart]), np.append(columns, rows[apart])
        gamma = np.append(gamma, gamma[apart])
    if transpose:
        rows, columns, shape = columns, rows, shape[::-1]
    return from_entries(
        path, rows, columns, gamma, shape, duplicates=duplicates, isolated=isolated, empty_edges=empty_edges
    )


def write_matrix_market(hypergraph: Hypergraph, path: StrPath) -> None:
    """Write gamma as a Matrix Market file with vertices as rows and hyperedges as columns.

    A pattern where every gamma is 1, otherwise real numbers that are read back to the last bit. Gzipped
    if the name ends with .gz. The file appears whole or not at all.

    Warns
    -----
    LossWarning
        Where omega is not 1, or ids are not 0, 1, ...: the format has no place for them.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> h = Hypergraph.from_incidence([[2.0, 0.0], [1.0, 1.0], [0.0, 3.0]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_matrix_market(h, pathlib.Path(folder, "small.mtx.gz"))
    ...     read_matrix_market(pathlib.Path(folder, "small.mtx.gz")).gamma.toarray().tolist()
    [[2.0, 1.0, 0.0], [0.0, 1.0, 3.0]]
    """
    import scipy.io

    check_hypergraph(hypergraph)
    omega_lost = bool((hypergraph.edge_weights != 1).any())
    warn_lost(path, "a Matrix Market file", hypergraph, 0, {"the hyperedge weights": omega_lost})
    field: Literal["pattern", "real"] = "pattern" if (hypergraph.gamma.data == 1).all() else "real"
    comment = "vertices x hyperedges, written by hyperclus"
    with writing(path) as file:
        scipy.io.mmwrite(file, hypergraph.gamma.T, comment=comment, field=field, symmetry="general")


# ---- shared by the formats -----------------------------------------------------------------------


def _kind(path: StrPath, file: BinaryIO) -> _Kind:
    line = file.readline(200).removeprefix(MARK)
    if not line.lower().startswith(BANNER.lower()):
        raise fault(path, "a Matrix Market file begins with %%MatrixMarket; this is another format", 1)
    words = line[len(BANNER) :].decode("utf-8", "backslashreplace").lower().split()
    if len(words) != 4 or words[0] != "matrix" or words[1] not in ("coordinate", "array"):
        raise fault(
            path,
            "the first line must be '%%MatrixMarket matrix', then 'coordinate' or 'array', the kind of "
            "numbers and 'general' or 'symmetric'; correct it",
            1,
        )
    _, layout, field, symmetry = words
    if field not in FIELDS or (layout == "array" and field == "pattern"):
        raise fault(
            path,
            f"weights of kind {shown(field)} cannot be read; make the matrix real, integer or pattern",
            1,
        )
    if symmetry not in ("general", "symmetric"):
        raise fault(
            path, f"a matrix of kind {shown(symmetry)} cannot hold weights; make it general or symmetric", 1
        )
    return _Kind(layout == "array", field, symmetry == "symmetric")


def _entries(file: BinaryIO, kind: _Kind) -> tuple[Codes, Codes, Floats, tuple[int, int]]:
    """Rows and columns from 0, weights, shape; memory grows with what is there, not with what is declared."""
    size: Floats | None = None
    found = 0
    places: list[Codes] = []
    weights: list[Floats] = []
    for numbers, counts in number_lines(file):
        if size is None:
            size, numbers, counts = numbers[: counts[0]], numbers[counts[0] :], counts[1:]
            if not _good_size(size, kind):
                raise Irregular
        if (counts != kind.width).any():
            raise Irregular
        table = numbers.reshape(-1, kind.width)
        gamma = np.ones(len(table)) if kind.width == 2 else table[:, -1].copy()
        if not all_weights(gamma) or (kind.whole and not all_whole(gamma, 0, np.inf)):
            raise Irregular
        places.append(np.flatnonzero(gamma) + found if kind.array else _pairs(table, size))
        weights.append(gamma[gamma > 0] if kind.array else gamma)
        found += len(table)
    if size is None or found != kind.n_entries(size.tolist()):
        raise Irregular
    n_rows, n_columns = int(size[0]), int(size[1])
    if kind.array:
        rows, columns = _unrolled(np.concatenate(places), n_rows, kind.symmetric)
    else:
        rows, columns = np.concatenate(places, axis=1)
    return rows, columns, np.concatenate(weights), (n_rows, n_columns)


def _good_size(size: Floats, kind: _Kind) -> bool:
    right = len(size) == (2 if kind.array else 3) and all_whole(size, 0, WHOLE) and bool(size[:2].all())
    return right and (not kind.symmetric or bool(size[0] == size[1]))


def _pairs(table: Floats, size: Floats) -> Codes:
    """Rows and columns, both from 0, of some entries."""
    if not (all_whole(table[:, 0], 1, size[0]) and all_whole(table[:, 1], 1, size[1])):
        raise Irregular
    return (table[:, :2].T - 1).astype(index_type(int(size[:2].max())))


def _unrolled(positions: Codes, n_rows: int, symmetric: bool) -> tuple[Codes, Codes]:
    """Rows and columns in an array, which goes down its columns; from the diagonal on if symmetric."""
    if not symmetric:
        return positions % n_rows, positions // n_rows
    column = np.arange(n_rows)
    starts = column * n_rows - column * (column - 1) // 2
    columns = np.searchsorted(starts, positions, side="right") - 1
    return columns + positions - starts[columns], columns


def _explained(path: StrPath, kind: _Kind) -> InputError:
    """The first fault of a file, with its line."""
    with reading(path) as file:
        file.readline()
        size: list[float] = []
        wanted, found = 0.0, 0
        for line, numbers in numbered_lines(path, file, 1):
            if not size:
                size = numbers
                if not _good_size(np.array(size), kind):
                    needed = "rows and columns" if kind.array else "rows, columns and entries"
                    square = ", rows and columns the same" if kind.symmetric else ""
                    return fault(
                        path, f"this line must have the numbers of {needed}, from 1{square}; correct it", line
                    )
                wanted = kind.n_entries(size)
                continue
            found += 1
            if found > wanted:
                return fault(
                    path, f"there are more than the {plain(wanted)} entries declared; correct it", line
                )
            if message := _fault_of_line(numbers, size, kind):
                return fault(path, message, line)
    if not size:
        return fault(path, "the line with the numbers of rows and columns is missing; add it")
    return fault(path, f"{plain(wanted)} entries are declared and {found} are there; add or declare the rest")


def _fault_of_line(numbers: list[float], size: list[float], kind: _Kind) -> str:
    if len(numbers) != kind.width:
        return f"this line has {len(numbers)} numbers and must have {kind.width}; correct it"
    for number, count, what in zip(numbers[: kind.width - 1], size, ("row", "column"), strict=False):
        if not (number.is_integer() and 1 <= number <= count):
            return f"{what} {plain(number)} is not one of 1 to {plain(count)}; correct it"
    weight = 1.0 if kind.width == 2 else numbers[-1]
    if not 0 <= weight < np.inf:
        return f"the weight {plain(weight)} must be finite and not negative; correct it or leave it out"
    if kind.whole and not weight.is_integer():
        return f"the weight {plain(weight)} is no integer, as line 1 says; say real there"
    return ""
