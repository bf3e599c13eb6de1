"""hMETIS files, `.hgr`: the hypergraphs of the partitioning tools, one line of members per hyperedge."""

import warnings
from collections.abc import Iterator
from itertools import pairwise
from typing import BinaryIO, NamedTuple

import numpy as np

from hyperclus._runtime.arrays import index_type
from hyperclus._runtime.files import StrPath, fault, reading, writing
from hyperclus.errors import Argument, InputError, LossWarning
from hyperclus.hypergraph.hypergraph import Hypergraph, check_hypergraph
from hyperclus.io.numbers import (
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
from hyperclus.typing import AbsencePolicy, Codes, DuplicatePolicy, Floats, Integers

BLOCK = 1 << 20  # incidences that are written at once


class _Header(NamedTuple):
    """The first line of a file."""

    n_edges: int
    n_vertices: int
    format: int  # the tens: vertices have weights; the ones: hyperedges have

    @property
    def n_vertex_lines(self) -> int:
        """How many lines follow those of the hyperedges."""
        return self.n_vertices if self.format >= 10 else 0


class _Content(NamedTuple):
    """What a file holds."""

    header: _Header
    members: Codes  # vertices from 0, hyperedge by hyperedge
    sizes: Integers
    edge_weights: Floats | None
    vertices_weigh: bool


def read_hmetis(
    path: StrPath,
    *,
    duplicates: DuplicatePolicy = "error",
    isolated: AbsencePolicy = "error",
    empty_edges: AbsencePolicy = "error",
) -> Hypergraph:
    """A hypergraph from an hMETIS file: gamma = 1, omega from the file or 1.

    The first line has the numbers of hyperedges and of vertices and, where there are weights, a format:
    1 for hyperedges, 10 for vertices, 11 for both. Then comes a line per hyperedge with its weight, if it
    has one, and its members, then a line per vertex with its weight. Ids are the file's numbers, from 1 on,
    of hyperedges too. Lines that begin with % are comments. Blank lines count for nothing: a hyperedge
    without members is a line with a weight only. Weights need not be whole. Gzipped files are unpacked,
    whatever their name.

    Parameters
    ----------
    path : str or path
    duplicates, isolated, empty_edges
        As in `Hypergraph.from_incidence`.

    Raises
    ------
    InputError
        Naming the file, the line and the remedy: for a wrong first line, members that are no vertices,
        too few or too many lines, anything that is not a number, hyperedge weights that are not
        positive, and for the policies above.

    Warns
    -----
    LossWarning
        Where vertices have weights other than 1: a hypergraph has none, apart from gamma.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "small.hgr")
    ...     _ = path.write_text('''% two hyperedges with weights, three vertices
    ... 2 3 1
    ... 5 1 2
    ... 7 2 3
    ... ''')
    ...     h = read_hmetis(path)
    >>> h.vertex_ids.tolist(), h.edge_weights.tolist()
    ([1, 2, 3], [5.0, 7.0])
    """
    try:
        with reading(path) as file:
            content = _content(file)
    except Irregular:
        raise _explained(path) or fault(path, "the file changed while it was read") from None
    header, members, sizes = content.header, content.members, content.sizes
    edges = np.repeat(np.arange(len(sizes), dtype=members.dtype), sizes)
    try:
        hypergraph = from_entries(
            path,
            members,
            edges,
            np.ones(len(members)),
            (header.n_vertices, header.n_edges),
            first=1,
            edge_weights=content.edge_weights,
            duplicates=duplicates,
            isolated=isolated,
            empty_edges=empty_edges,
        )
    except InputError as error:  # a member given twice has a line, the other faults have none
        raise (_explained(path, twice=True) if duplicates == "error" else None) or error from None
    if content.vertices_weigh:
        message = f"{path}: a Hypergraph cannot hold the vertex weights of this file; they are lost"
        warnings.warn(message, LossWarning, stacklevel=2)
    return hypergraph


def write_hmetis(hypergraph: Hypergraph, path: StrPath) -> None:
    """Write members and omega as an hMETIS file; vertices are numbered from 1 in their order.

    Without weights where every omega is 1 and no hyperedge is empty. Whole weights are written as such;
    others are read back to the last bit, but hMETIS itself takes whole ones only. Gzipped if the
    name ends with .gz. The file appears whole or not at all.

    Warns
    -----
    LossWarning
        Where gamma is not 1, or ids are not 1, 2, ...: the format has no place for them.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> h = Hypergraph.from_edges({1: [1, 2], 2: [2, 3]}, edge_weights=[1, 0.5])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_hmetis(h, pathlib.Path(folder, "small.hgr"))
    ...     print(pathlib.Path(folder, "small.hgr").read_text(), end="")
    2 3 1
    1 1 2
    0.5 2 3
    """
    check_hypergraph(hypergraph)
    gamma, omega = hypergraph.gamma, hypergraph.edge_weights
    gamma_lost = bool((gamma.data != 1).any())
    warn_lost(path, "an hMETIS file", hypergraph, 1, {"the weights of the members": gamma_lost})
    weighted = bool((omega != 1).any() or not hypergraph.edge_sizes.all())
    with writing(path) as file:
        file.write(f"{hypergraph.n_edges} {hypergraph.n_vertices}{' 1' if weighted else ''}\n".encode())
        for block in _edge_blocks(gamma.indptr):
            start, stop = gamma.indptr[block.start], gamma.indptr[block.stop]
            names = list(map(str, (gamma.indices[start:stop] + 1).tolist()))
            bounds = (gamma.indptr[block.start : block.stop + 1] - start).tolist()
            lines = [" ".join(names[a:b]) for a, b in pairwise(bounds)]
            if weighted:
                lines = [
                    f"{plain(weight)} {line}".rstrip()
                    for weight, line in zip(omega[block].tolist(), lines, strict=True)
                ]
            file.write(("\n".join(lines) + "\n").encode())


def _edge_blocks(indptr: Codes) -> Iterator[slice]:
    """Blocks of hyperedges with about BLOCK incidences each, or a single larger hyperedge."""
    start, last = 0, len(indptr) - 1
    while start < last:
        stop = int(np.searchsorted(indptr, int(indptr[start]) + BLOCK, side="right")) - 1
        stop = min(max(stop, start + 1), start + BLOCK, last)
        yield slice(start, stop)
        start = stop


def _content(file: BinaryIO) -> _Content:
    header: _Header | None = None
    members: list[Codes] = []
    sizes: list[Integers] = []
    omega: list[Floats] = []
    n_edges, n_vertex_lines, vertices_weigh = 0, 0, False
    for numbers, counts in number_lines(file):
        if header is None:
            header = _header(numbers[: counts[0]])
            if header is None:
                raise Irregular
            numbers, counts = numbers[counts[0] :], counts[1:]
        inside = counts[: header.n_edges - n_edges]
        cut = int(inside.sum())
        held, vertex_weights = numbers[:cut], numbers[cut:]
        n_vertex_lines += len(counts) - len(inside)
        if len(vertex_weights) != len(counts) - len(inside) or not all_weights(vertex_weights):
            raise Irregular
        vertices_weigh = vertices_weigh or bool((vertex_weights != 1).any())
        n_edges += len(inside)
        if header.format % 10:
            first = np.cumsum(inside) - inside
            omega.append(held[first])
            held, inside = np.delete(held, first), inside - 1
            if not (all_weights(omega[-1]) and omega[-1].all()):
                raise Irregular
        if not all_whole(held, 1, header.n_vertices):
            raise Irregular
        members.append((held - 1).astype(index_type(header.n_vertices)))
        sizes.append(inside)
    if header is None or n_edges != header.n_edges or n_vertex_lines != header.n_vertex_lines:
        raise Irregular
    weights = np.concatenate(omega) if omega else None
    return _Content(header, np.concatenate(members), np.concatenate(sizes), weights, vertices_weigh)


def _header(numbers: Floats) -> _Header | None:
    """What the first line says, None if it is not the first line of an hMETIS file."""
    known = len(numbers) == 2 or (len(numbers) == 3 and numbers[2] in (0, 1, 10, 11))
    if not known or not all_whole(numbers[:2], 1, WHOLE):
        return None
    return _Header(int(numbers[0]), int(numbers[1]), int(numbers[2]) if len(numbers) == 3 else 0)


def _explained(path: StrPath, twice: bool = False) -> InputError | None:
    """The first fault of a file, with its line; also a member given twice, if asked."""
    with reading(path) as file:
        header: _Header | None = None
        found = 0
        for line, numbers in numbered_lines(path, file):
            if header is None:
                header = _header(np.array(numbers))
                if header is None:
                    return fault(
                        path,
                        "the first line must have the numbers of hyperedges and of vertices, from 1, and "
                        "where there are weights a format (1, 10 or 11); correct it",
                        line,
                    )
                continue
            found += 1
            if message := _fault_of_line(numbers, header, found, twice):
                return fault(path, message, line)
    if header is None:
        return fault(path, "the first line, with the numbers of hyperedges and of vertices, is missing")
    if found < header.n_edges + header.n_vertex_lines:
        there = f"{min(found, header.n_edges)} of {header.n_edges} lines of hyperedges"
        if header.n_vertex_lines:
            there += f" and {max(found - header.n_edges, 0)} of {header.n_vertices} of vertices"
        return fault(
            path, f"there are {there} (blank lines do not count); add the rest or correct the first line"
        )
    return None


def _fault_of_line(numbers: list[float], header: _Header, position: int, twice: bool) -> str | InputError:
    if position > header.n_edges + header.n_vertex_lines:
        return "the file should have ended before this line; correct the first line or leave this one out"
    if position > header.n_edges:
        good = len(numbers) == 1 and 0 <= numbers[0] < np.inf
        return "" if good else "this line must be the weight of a vertex, finite and not negative; correct it"
    members = numbers
    if header.format % 10:
        weight, *members = numbers
        if not 0 < weight < np.inf:
            return (
                f"the hyperedge has weight {plain(weight)}; hyperedge weights must be positive and finite, "
                "correct it"
            )
    for member in members:
        if not (member.is_integer() and 1 <= member <= header.n_vertices):
            return f"member {plain(member)} is not one of the vertices 1 to {header.n_vertices}; correct it"
    if twice and len(set(members)) < len(members):
        again = next(b for a, b in pairwise(sorted(members)) if a == b)
        total, largest = Argument("duplicates", "sum"), Argument("duplicates", "max")
        return InputError(
            f"vertex {plain(again)} appears more than once; use ", total, " or ", largest, " to merge them"
        )
    return ""
