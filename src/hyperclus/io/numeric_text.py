"""hMETIS files (`.hgr`) and Matrix Market files (`.mtx`): lines of numbers.

The numbers are parsed in bulk and checked as arrays. SciPy writes Matrix Market files but does not read them
here: its reader takes 1.5x for 1.5, and 5.5 in a file of integers for 5, and sizes of 0 end the process.
"""

import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from itertools import islice, pairwise
from typing import Any, BinaryIO, Literal, NamedTuple, Unpack, cast

import numpy as np

from hyperclus._runtime.arrays import index_type
from hyperclus._runtime.files import StrPath, fault, printable, writing
from hyperclus._runtime.source import reading
from hyperclus.errors import InputError, check_switch
from hyperclus.hypergraph.hypergraph import Hypergraph, check_hypergraph
from hyperclus.hypergraph.incidence import Policies, PolicyOptions
from hyperclus.hypergraph.messages import shown
from hyperclus.io.shared import Entries, from_entries, lost_mixture, naming, warn_losses
from hyperclus.typing import Booleans, Codes, Floats, Integers

PIECE = 1 << 22  # bytes to parse at once
BLOCK = 1 << 20  # incidences to write at once
LARGEST = 2.0**53  # not every integer above is a float
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
FIELDS = ("real", "double", "integer", "unsigned-integer", "pattern")
COMMENT = re.compile(rb"^[ \t\r]*%[^\n]*", re.MULTILINE)
TINY = re.compile(rb"[eE]-0*[0-9]{3}|[0-9.]{300}")  # in numbers that may be read as 0
NOT_ZERO = re.compile(rb"[+-]?[0.]*[1-9]")
NUMBER = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


# ---- hMETIS ----------------------------------------------------------------------------------------------


def read_hmetis(path: StrPath, **policies: Unpack[PolicyOptions]) -> Hypergraph:
    r"""Read a hypergraph from an hMETIS file: gamma is 1, omega is 1 unless the file has weights.

    The first line has the numbers of hyperedges and vertices and, if there are weights, a format: 1 for
    hyperedges, 10 for vertices, 11 for both. A line per hyperedge follows with its weight, if any, and its
    members, then a line per vertex with its weight. Ids are the file's numbers, from 1. Lines that begin with
    % are comments. Blank lines are ignored: a hyperedge without members is a line with a weight only. Weights
    need not be integers. Vertex weights are lost. `**policies` are `duplicates`, `isolated` and `empty_edges`
    as in `Hypergraph.from_incidence`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "small.hgr")
    ...     _ = path.write_text("2 3 1\n5 1 2\n7 2 3\n")
    ...     h = read_hmetis(path)
    >>> h.vertex_ids.tolist(), h.edge_weights.tolist()
    ([1, 2, 3], [5.0, 7.0])
    """
    entries, omega, has_vertex_weights = _parse_hmetis(path)
    chosen = Policies(**policies)
    try:
        hypergraph = from_entries(entries, chosen, omega)
    except InputError as error:
        order = np.lexsort((entries.vertices, entries.edges))
        vertices, edges = entries.vertices[order], entries.edges[order]
        repeated = (np.diff(vertices) == 0) & (np.diff(edges) == 0)
        if chosen.duplicates == "error" and repeated.any():
            raise line_fault(path, 1 + int(edges[np.argmax(repeated)]), error) from None
        raise fault(path, error) from None
    warn_losses(f"{printable(path)}: a Hypergraph", ["the vertex weights"] if has_vertex_weights else [])
    return hypergraph


def write_hmetis(hypergraph: Hypergraph, path: StrPath) -> None:
    """Write members and omega as an hMETIS file; vertices are numbered from 1.

    gamma and the ids are lost. Weights are left out if every omega is 1 and no hyperedge is empty. Weights
    that are not integers are read back bit by bit, but hMETIS itself expects integers.
    """
    check_hypergraph(hypergraph)
    gamma, omega = hypergraph.gamma, hypergraph.edge_weights
    lost = ["the weights of the members"] if (gamma.data != 1).any() else []
    warn_losses(f"{printable(path)}: an hMETIS file", [*lost, *_lost(hypergraph, 1)])
    weighted = bool((omega != 1).any() or not hypergraph.edge_sizes.all())
    with writing(path) as file:
        file.write(f"{hypergraph.n_edges} {hypergraph.n_vertices}{' 1' if weighted else ''}\n".encode())
        write_edge_lines(file, hypergraph, weighted)


def write_edge_lines(file: BinaryIO, hypergraph: Hypergraph, weighted: bool, block: int = BLOCK) -> None:
    """Write a line per hyperedge, about `block` incidences at a time."""
    gamma, omega = hypergraph.gamma, hypergraph.edge_weights
    cuts = np.searchsorted(gamma.indptr, np.arange(0, hypergraph.n_incidences, block))
    for start, stop in pairwise(np.unique([0, *cuts, hypergraph.n_edges]).tolist()):
        bounds = gamma.indptr[start : stop + 1].tolist()
        names = list(map(str, (gamma.indices[bounds[0] : bounds[-1]] + 1).tolist()))
        lines = [" ".join(names[a - bounds[0] : b - bounds[0]]) for a, b in pairwise(bounds)]
        if weighted:
            weights = map(shortest, omega[start:stop].tolist())
            lines = [f"{weight} {line}".rstrip() for weight, line in zip(weights, lines, strict=True)]
        file.write(("\n".join(lines) + "\n").encode())


def _parse_hmetis(path: StrPath) -> tuple[Entries, Floats | None, bool]:
    """The incidences, omega if there is any, and whether a vertex has another weight than 1."""
    missing = "the first line, with the numbers of hyperedges and vertices, is missing; add it"
    with reading(path) as file:
        header, n_lines, parts = _parse_lines(path, file, missing, _hmetis_header, _hmetis_edges)
    n_edges, n_vertices, kind = header
    if n_lines < n_edges + n_vertices * (kind >= 10):
        found = f"{min(n_lines, n_edges)} of {n_edges} lines of hyperedges"
        found += f" and {max(n_lines - n_edges, 0)} of {n_vertices} of vertices" * (kind >= 10)
        message = f"the file has {found} (blank lines do not count); add the others or correct the first line"
        raise fault(path, message)
    members, sizes, omega, other_weights = parts
    edges = np.repeat(np.arange(n_edges, dtype=members.dtype), sizes)
    entries = Entries(members, edges, np.ones(len(members)), (n_vertices, n_edges), first_id=1)
    return entries, omega if kind % 10 else None, bool(len(other_weights))


def _hmetis_header(first: "Lines") -> tuple[int, int, int]:
    """Numbers of hyperedges and vertices, and the format."""
    numbers = first.numbers
    known = len(numbers) == 2 or (len(numbers) == 3 and numbers[2] in (0, 1, 10, 11))
    if not known or not are_integers(numbers[:2], 0, LARGEST).all():
        message = "the first line must have the numbers of hyperedges and of vertices"
        raise first.fault(0, f"{message}, and, if there are weights, a format (1, 10 or 11); correct it")
    return cast(tuple[int, int, int], (*map(int, numbers), 0)[:3])


def _hmetis_edges(
    lines: "Lines", n_edges: int, n_vertices: int, kind: int
) -> tuple[Codes, Integers, Floats, Floats]:
    """Members, numbers of members, omega, and the weights of vertices that are not 1."""
    edges, vertices = lines.split(max(n_edges + 1 - lines.position, 0))
    vertices, extra = vertices.split(max(n_edges + 1 + n_vertices * (kind >= 10) - vertices.position, 0))
    if len(extra.counts):
        raise extra.fault(0, "the file should have ended before this line; correct the first line")
    wrong = (vertices.counts != 1) | ~are_weights(vertices.first()[0])
    vertices.refuse(wrong, "this line must be the weight of a vertex, finite and not negative; correct it")
    omega = np.empty(0)
    if kind % 10:
        omega, edges = edges.first()
        wrong = ~are_weights(omega) | (omega == 0)
        edges.refuse(wrong, "hyperedge weight {} must be positive and finite; correct it", omega)
    members = edges.numbers
    wrong = ~are_integers(members, 1, n_vertices)
    if wrong.any():
        place = int(np.argmax(wrong))
        line = int(np.searchsorted(np.cumsum(edges.counts), place, side="right"))
        problem = f"member {shortest(members[place])} is not one of the vertices 1 to {n_vertices}"
        raise edges.fault(line, f"{problem}; correct it")
    codes = (members - 1).astype(index_type(n_vertices))
    return codes, edges.counts, omega, vertices.numbers[vertices.numbers != 1]


# ---- Matrix Market ---------------------------------------------------------------------------------------


def read_matrix_market(
    path: StrPath, *, transpose: bool = False, **policies: Unpack[PolicyOptions]
) -> Hypergraph:
    r"""Read a hypergraph from a Matrix Market file: entry (v, e) is gamma_e(v), omega is 1.

    Rows are vertices and columns hyperedges, numbered from 0: row 1 of the file is vertex 0. The file may be
    sparse ("coordinate") or dense ("array"), with real numbers, integers or a pattern (gamma = 1), "general"
    or "symmetric". With `transpose`, rows are hyperedges and columns vertices. `**policies` are as in
    `Hypergraph.from_incidence`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "small.mtx")
    ...     _ = path.write_text("%%MatrixMarket matrix coordinate real general\n2 1 2\n1 1 2.5\n2 1 1\n")
    ...     read_matrix_market(path)
    Hypergraph(2 vertices, 1 hyperedge, 2 incidences)
    """
    check_switch("transpose", transpose)
    entries = _parse_matrix(path)
    if transpose:
        entries = Entries(entries.edges, entries.vertices, entries.gamma, entries.shape[::-1])
    with naming(path):
        return from_entries(entries, Policies(**policies))


def write_matrix_market(hypergraph: Hypergraph, path: StrPath) -> None:
    """Write gamma as a Matrix Market file with vertices as rows and hyperedges as columns.

    omega and the ids are lost. The matrix is a pattern if every gamma is 1, and otherwise of real numbers,
    which are read back bit by bit.
    """
    import scipy.io

    check_hypergraph(hypergraph)
    lost = ["the hyperedge weights"] if (hypergraph.edge_weights != 1).any() else []
    warn_losses(f"{printable(path)}: a Matrix Market file", [*lost, *_lost(hypergraph, 0)])
    field: Literal["pattern", "real"] = "pattern" if (hypergraph.gamma.data == 1).all() else "real"
    comment = "vertices x hyperedges, written by hyperclus"
    with writing(path) as file:
        scipy.io.mmwrite(file, hypergraph.gamma.T, comment=comment, field=field, symmetry="general")


def _parse_matrix(path: StrPath) -> Entries:
    missing = "the line with the numbers of rows and columns is missing; add it"
    with reading(path) as file:
        kind = _matrix_kind(path, file)
        header, body = partial(_matrix_header, kind=kind), partial(_matrix_entries, kind=kind)
        (shape, n_entries), n_found, (places, gamma) = _parse_lines(path, file, missing, header, body)
    if n_found < n_entries:
        raise fault(path, f"{n_entries} entries are declared and {n_found} found; add the others")
    rows, columns = _unrolled(places, shape[0], kind.is_symmetric) if kind.is_array else places
    if kind.is_symmetric:
        apart = rows != columns
        rows, columns = np.append(rows, columns[apart]), np.append(columns, rows[apart])
        gamma = np.append(gamma, gamma[apart])
    return Entries(rows, columns, gamma, shape)


class _Kind(NamedTuple):
    """The first line of a Matrix Market file."""

    is_array: bool
    field: str
    is_symmetric: bool


def _matrix_kind(path: StrPath, file: BinaryIO) -> _Kind:
    line = file.readline(200).removeprefix(BYTE_ORDER_MARK).lower()
    banner, *words = line.decode("utf-8", "backslashreplace").split() or [""]
    if banner != "%%matrixmarket":
        raise fault(path, "a Matrix Market file begins with %%MatrixMarket; this is another format", 1)
    if len(words) != 4 or words[0] != "matrix" or words[1] not in ("coordinate", "array"):
        expected = "%%MatrixMarket matrix, coordinate or array, a type of numbers, general or symmetric"
        raise fault(path, f"the first line must be: {expected}; correct it", 1)
    _, layout, field, symmetry = words
    if field not in FIELDS or (layout == "array" and field == "pattern"):
        raise fault(path, f"weights of type {shown(field)} cannot be read; use real, integer or pattern", 1)
    if symmetry not in ("general", "symmetric"):
        raise fault(path, f"a {shown(symmetry)} matrix cannot hold weights; use general or symmetric", 1)
    return _Kind(layout == "array", field, symmetry == "symmetric")


def _matrix_header(line: "Lines", kind: _Kind) -> tuple[tuple[int, int], int]:
    """The shape and the number of entries."""
    size = line.numbers
    right = len(size) == (2 if kind.is_array else 3) and are_integers(size, 0, LARGEST).all()
    if not right or (kind.is_symmetric and size[0] != size[1]):
        needed = "rows and columns" if kind.is_array else "rows, columns and entries"
        square = ", as many rows as columns" if kind.is_symmetric else ""
        raise line.fault(0, f"this line must have the numbers of {needed}{square}; correct it")
    n_rows, n_columns, *n_entries = map(int, size)
    if kind.is_array:
        n_entries = [n_rows * (n_rows + 1) // 2 if kind.is_symmetric else n_rows * n_columns]
    return (n_rows, n_columns), n_entries[0]


def _matrix_entries(
    lines: "Lines", shape: tuple[int, int], n_entries: int, kind: _Kind
) -> tuple[Codes, Floats]:
    """Rows and columns, from 0, or positions in an array; and weights."""
    width = 1 if kind.is_array else 2 + (kind.field != "pattern")
    message = f"this line has {{}} numbers and must have {width}; correct it"
    lines.refuse(lines.counts != width, message, lines.counts)
    lines, extra = lines.split(max(n_entries + 1 - lines.position, 0))
    if len(extra.counts):
        raise extra.fault(0, f"there are more than the {n_entries} declared entries; correct it")
    table = lines.numbers.reshape(-1, width)
    for side, name in enumerate(() if kind.is_array else ("row", "column")):
        wrong = ~are_integers(table[:, side], 1, shape[side])
        lines.refuse(wrong, f"{name} {{}} is not one of 1 to {shape[side]}; correct it", table[:, side])
    gamma = np.ones(len(table)) if width == 2 else table[:, -1].copy()
    lines.refuse(~are_weights(gamma), "weight {} must be finite and not negative; correct it", gamma)
    if kind.field.endswith("integer"):
        wrong = np.floor(gamma) != gamma
        lines.refuse(wrong, "weight {} is not an integer, as the first line says; say real there", gamma)
    if kind.is_array:
        inside = np.flatnonzero(gamma)
        return inside + lines.position - 1, gamma[inside]
    return (table[:, :2].T - 1).astype(index_type(max(shape))), gamma


def _unrolled(positions: Codes, n_rows: int, is_symmetric: bool) -> tuple[Codes, Codes]:
    """Rows and columns of positions in an array by columns, each from the diagonal on if it is symmetric."""
    if not is_symmetric:
        return positions % n_rows, positions // n_rows
    column = np.arange(n_rows)
    starts = column * n_rows - column * (column - 1) // 2
    columns = np.searchsorted(starts, positions, side="right") - 1
    return columns + positions - starts[columns], columns


# ---- lines of numbers ------------------------------------------------------------------------------------


class Lines(NamedTuple):
    """Consecutive lines of a file, without blank lines and comments."""

    path: StrPath
    numbers: Floats  # of all lines
    counts: Integers  # of numbers in each line
    position: int = 0  # of the first line

    def first(self) -> tuple[Floats, "Lines"]:
        """The first number of each line, and the lines without it."""
        at = np.cumsum(self.counts) - self.counts
        return self.numbers[at], self._replace(numbers=np.delete(self.numbers, at), counts=self.counts - 1)

    def split(self, count: int) -> tuple["Lines", "Lines"]:
        """The first `count` lines, and the others."""
        cut = int(self.counts[:count].sum())
        before = self._replace(numbers=self.numbers[:cut], counts=self.counts[:count])
        return before, Lines(self.path, self.numbers[cut:], self.counts[count:], self.position + count)

    def refuse(self, wrong: Booleans, message: str, values: Floats | Integers | None = None) -> None:
        """Raise an error at the first wrong line; {} in the message is its value."""
        if wrong.any():
            at = int(np.argmax(wrong))
            raise self.fault(at, message if values is None else message.format(shortest(float(values[at]))))

    def fault(self, at: int, message: str) -> InputError:
        """Create an error that names one of the lines."""
        return line_fault(self.path, self.position + at, message)


def line_fault(path: StrPath, position: int, message: str | InputError) -> InputError:
    """Create an error that names a line by its position among those that are neither blank nor comments."""
    with reading(path) as file:
        return fault(path, message, next(islice(_content(file), position, None), (None,))[0])


def _content(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """The number and the text of every line that is neither blank nor a comment."""
    for number, line in enumerate(file, 1):
        text = line.removeprefix(BYTE_ORDER_MARK).strip(b" \t\r\n")
        if text and not text.startswith(b"%"):
            yield number, text


def _parse_lines(
    path: StrPath, file: BinaryIO, missing: str, header: Callable[..., Any], body: Callable[..., Any]
) -> tuple[Any, int, list[Any]]:
    """The sizes in the first line, the number of other lines, and the arrays that `body` makes of them."""
    sizes, n_lines, parts = None, 0, []
    for lines in number_lines(path, file):
        if sizes is None:
            first, lines = lines.split(1)
            sizes = header(first)
        parts.append(body(lines, *sizes))
        n_lines = lines.position + len(lines.counts) - 1
    if sizes is None:
        raise fault(path, missing)
    return sizes, n_lines, [np.concatenate(part, axis=-1) for part in zip(*parts, strict=True)]


def number_lines(path: StrPath, file: BinaryIO, piece: int = PIECE) -> Iterator[Lines]:
    """Parse the lines of a file, `piece` bytes at a time."""
    position = 0
    for text in _pieces(file, piece):
        text = COMMENT.sub(b"", text) if b"%" in text else text
        letters = np.frombuffer(text, dtype=np.uint8)
        begins = letters > 32
        begins[1:] &= letters[:-1] <= 32
        starts = np.flatnonzero(begins)
        if not len(starts):
            continue
        numbers = np.empty(0)
        if not text.translate(None, b"0123456789+-.eE \t\r\n"):
            with warnings.catch_warnings(action="error"), suppress(ValueError, DeprecationWarning):
                numbers = np.fromstring(text, sep=" ")
        if len(numbers) != len(starts):
            raise _not_a_number(path)
        ends = np.append(np.flatnonzero(letters == 10), len(letters))
        counts = np.diff(np.searchsorted(starts, ends), prepend=0)
        counts = counts[counts > 0]
        if TINY.search(text):
            for place in np.flatnonzero(numbers == 0).tolist():
                if NOT_ZERO.match(text, starts[place]):
                    line = int(np.searchsorted(np.cumsum(counts), place, side="right"))
                    problem = "a number is too small for a float; write 0 or a larger one"
                    raise line_fault(path, position + line, problem)
        yield Lines(path, numbers, counts, position)
        position += len(counts)


def _not_a_number(path: StrPath) -> InputError:
    """Find the first word of a file that is not a number."""
    with reading(path) as file:
        for number, text in _content(file):
            for found in re.finditer(rb"[^ \t\r\n]+", text):
                if not NUMBER.fullmatch(text, *found.span()):
                    name = shown(found[0][:200].decode("utf-8", "backslashreplace"))
                    return fault(path, f"{name} is not a number; correct it or remove it", number)
    return fault(path, "the file has changed while it was read; read it again")


def _pieces(file: BinaryIO, size: int) -> Iterator[bytes]:
    """Pieces of complete lines, without a byte order mark."""
    waiting = [file.read(3).removeprefix(BYTE_ORDER_MARK)]
    while block := file.read(size):
        cut = block.rfind(b"\n") + 1
        if cut:
            yield b"".join([*waiting, block[:cut]])
            waiting = []
        waiting.append(block[cut:])
    yield b"".join(waiting)


def are_integers(numbers: Floats, low: float, high: float) -> Any:
    """Which numbers are integers from low to high."""
    return (numbers >= low) & (numbers <= high) & (np.floor(numbers) == numbers)


def are_weights(numbers: Floats) -> Any:
    """Which numbers are finite and not negative."""
    return (numbers >= 0) & (numbers < np.inf)


def shortest(number: float) -> str:
    """A number in text, 3 rather than 3.0."""
    return str(int(number)) if number.is_integer() and abs(number) < LARGEST else repr(float(number))


def _lost(hypergraph: Hypergraph, first: int) -> list[str]:
    """The ids that a format cannot hold if it numbers from `first`, and the mixture of a walk."""
    ids = {"the vertex ids": hypergraph.vertex_ids, "the hyperedge ids": hypergraph.edge_ids}
    lost = [name for name, x in ids.items() if not np.array_equal(x, np.arange(first, first + len(x)))]
    return [*lost, lost_mixture(hypergraph)]
