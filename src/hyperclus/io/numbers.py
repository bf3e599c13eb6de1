"""Lines of numbers in bulk, and what the formats of plain matrices share.

Only when something is wrong a second, slow look finds the line.
"""

import re
import warnings
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np
import scipy.sparse as sp

from hyperclus._runtime.files import StrPath, fault
from hyperclus.errors import Argument, InputError, LossWarning
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.hypergraph.messages import shown
from hyperclus.typing import AbsencePolicy, Codes, DuplicatePolicy, Floats, Ids, Integers

PIECE = 1 << 22  # bytes that are parsed at once
SPARE = 10_000_000  # vertices or hyperedges that a file may declare beyond its incidences
WHOLE = 2.0**53  # beyond, floats skip integers
MARK = b"\xef\xbb\xbf"  # UTF-8 that begins with a byte order mark

_comment = re.compile(rb"^[ \t\r]*%[^\n]*\n?", re.MULTILINE)
_word = re.compile(rb"[^ \t\r]+")
_number = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


class Irregular(Exception):  # noqa: N818
    """Something in the file is not as it should be; the slow look will say what."""


def number_lines(file: BinaryIO) -> Iterator[tuple[Floats, Integers]]:
    """The numbers of a file, piece by piece, and how many each line has; blank lines and comments have none.

    Raises
    ------
    Irregular
        For anything that is not a number.
    """
    for piece in _pieces(file):
        text = _comment.sub(b"", piece) if b"%" in piece else piece
        if text.translate(None, b"0123456789+-.eE \t\r\n"):
            raise Irregular
        letters = np.frombuffer(text, dtype=np.uint8)
        begins = letters > 32
        begins[1:] &= letters[:-1] <= 32
        starts = np.flatnonzero(begins)
        if not len(starts):
            continue
        ends = np.append(np.flatnonzero(letters == 10), len(letters))
        counts = np.diff(np.searchsorted(starts, ends), prepend=0)
        with warnings.catch_warnings(action="error"):
            try:
                numbers = np.fromstring(text, sep=" ")
            except (ValueError, DeprecationWarning):
                raise Irregular from None
        if len(numbers) != len(starts):  # older NumPy takes 1-2 for two numbers
            raise Irregular
        yield numbers, counts[counts > 0]


def numbered_lines(path: StrPath, file: BinaryIO, line: int = 0) -> Iterator[tuple[int, list[float]]]:
    """The number of each line that is not blank or a comment, and what it holds; the slow look."""
    for piece in _pieces(file):
        lines = piece.split(b"\n")
        for text in lines[:-1] if piece.endswith(b"\n") else lines:
            line += 1
            words = _word.findall(text)
            if not words or words[0].startswith(b"%"):
                continue
            for word in words:
                if not _number.fullmatch(word):
                    known = shown(word[:200].decode("utf-8", "backslashreplace"))
                    raise fault(path, f"{known} is not a number; correct it or leave it out", line)
            yield line, [float(word) for word in words]


def all_whole(numbers: Floats, low: float, high: float) -> bool:
    """Whether all numbers are integers from low to high."""
    if not numbers.size:
        return True
    return bool(low <= numbers.min() and numbers.max() <= high and (np.floor(numbers) == numbers).all())


def all_weights(numbers: Floats) -> bool:
    """Whether all numbers are finite and none negative."""
    return not numbers.size or bool(numbers.min() >= 0 and numbers.max() < np.inf)


def plain(number: float) -> str:
    """A number in a message, 3 rather than 3.0."""
    return str(int(number)) if number.is_integer() and abs(number) < WHOLE else repr(number)


def from_entries(
    path: StrPath,
    vertices: Codes,
    edges: Codes,
    gamma: Floats,
    shape: tuple[int, int],
    *,
    first: int = 0,
    edge_weights: Floats | None = None,
    duplicates: DuplicatePolicy,
    isolated: AbsencePolicy,
    empty_edges: AbsencePolicy,
) -> Hypergraph:
    """A hypergraph of entries within a declared shape (n_vertices, n_edges); ids count from `first`.

    A shape far beyond the entries is refused, or cut down if vertices and hyperedges without any
    may go, before anything of that size is allocated.
    """
    n_vertices, n_edges = shape
    vertices, vertex_ids = _declared(path, vertices, n_vertices, first, isolated, "isolated", "vertices")
    edges, edge_ids = _declared(path, edges, n_edges, first, empty_edges, "empty_edges", "hyperedges")
    try:
        return Hypergraph.from_incidence(
            sp.coo_array((gamma, (vertices, edges)), shape=(len(vertex_ids), len(edge_ids))),
            edge_weights=edge_weights,
            vertex_ids=vertex_ids,
            edge_ids=edge_ids,
            duplicates=duplicates,
            isolated=isolated,
            empty_edges=empty_edges,
        )
    except InputError as error:
        raise fault(path, error) from None


def warn_lost(path: StrPath, what: str, hypergraph: Hypergraph, first: int, weights: dict[str, bool]) -> None:
    """Warn of what a format that numbers vertices and hyperedges from `first` cannot hold."""
    lost = weights | {
        "the vertex ids": not np.array_equal(hypergraph.vertex_ids, _numbers(hypergraph.n_vertices, first)),
        "the hyperedge ids": not np.array_equal(hypergraph.edge_ids, _numbers(hypergraph.n_edges, first)),
    }
    names = [name for name, is_lost in lost.items() if is_lost]
    if names:
        message = f"{path}: {what} cannot hold {' and '.join(names)}; they are lost"
        warnings.warn(message, LossWarning, stacklevel=3)


def _numbers(count: int, first: int) -> Ids:
    return np.arange(first, first + count)


def _declared(
    path: StrPath, codes: Codes, count: int, first: int, policy: AbsencePolicy, argument: str, what: str
) -> tuple[Codes, Ids]:
    if count <= len(codes) + SPARE:
        return codes, _numbers(count, first)
    if policy != "drop":
        raise fault(
            path,
            InputError(
                f"{count:,} {what} are declared and there are {len(codes):,} incidences; correct the number, "
                "or use ",
                Argument(argument, "drop"),
                " to remove those without any",
            ),
        )
    used, codes = np.unique(codes, return_inverse=True)
    return codes, used.astype(np.int64) + first


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    """Pieces of whole lines; a byte order mark at the start is left out."""
    waiting: list[bytes] = []
    start = True
    while block := file.read(PIECE):
        if start:
            block, start = block.removeprefix(MARK), False
        cut = block.rfind(b"\n") + 1
        if cut:
            yield b"".join([*waiting, block[:cut]])
            waiting = []
        waiting.append(block[cut:])
    if any(waiting):
        yield b"".join(waiting)


# ---- Matrix Market -------------------------------------------------------------------------------
