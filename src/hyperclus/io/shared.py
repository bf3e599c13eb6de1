"""What readers, writers and converters share: errors that name files, integers in text, losses, sizes."""

import re
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from hyperclus._runtime.files import StrPath, fault, printable
from hyperclus.errors import Argument, InputError, LossWarning
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.hypergraph.incidence import Policies
from hyperclus.typing import AbsencePolicy, Codes, Floats, Ids

PLAIN_INTEGER = r"0|-?[1-9][0-9]{0,18}"  # text that is the same if converted to int and back
LOWEST_INTEGER = -(1 << 63)
SPARE = 1_000_000  # vertices or hyperedges that a file may declare beyond its incidences


@contextmanager
def naming(path: StrPath) -> Iterator[None]:
    """Add the name of a file to errors that do not name it."""
    try:
        yield
    except InputError as error:
        raise (error if str(error).startswith(printable(path)) else fault(path, error)) from None


def are_integers(texts: Iterable[str]) -> bool:
    """Whether all ids in text are read as integers: written as Python writes them, and within 64 bits."""
    plain = re.compile(PLAIN_INTEGER)
    return all(plain.fullmatch(one) and LOWEST_INTEGER <= int(one) < -LOWEST_INTEGER for one in texts)


def warn_losses(holder: str, losses: Iterable[str], remedy: str = "left out", *, stacklevel: int = 3) -> None:
    """Issue one `LossWarning` that names everything `holder` cannot hold; none if nothing is lost.

    `losses` are words, of which empty ones are ignored. By default the warning points to the caller of the
    function that calls this one.
    """
    if lost := ", ".join(filter(None, losses)):
        warnings.warn(f"{holder} cannot hold {lost}; {remedy}", LossWarning, stacklevel=stacklevel)


def lost_mixture(hypergraph: Hypergraph) -> str:
    """What is lost of a walk with attributes where its mixture cannot be kept, in words; "" without one."""
    return "" if hypergraph.mixture is None else "the share beta of the steps by attributes"


class Entries(NamedTuple):
    """Incidences within a declared shape (n_vertices, n_edges); codes count from 0."""

    vertices: Codes
    edges: Codes
    gamma: Floats
    shape: tuple[int, int]
    first_id: int = 0


def from_entries(entries: Entries, policies: Policies, edge_weights: Floats | None = None) -> Hypergraph:
    """Build a hypergraph from entries within a declared shape.

    A shape far larger than the entries is refused before anything of that size is allocated, or cut down if
    vertices and hyperedges without entries may be dropped.
    """
    (n_vertices, n_edges), first = entries.shape, entries.first_id
    vertices, vertex_ids = _declared(entries.vertices, n_vertices, first, policies.isolated, "vertices")
    edges, edge_ids = _declared(entries.edges, n_edges, first, policies.empty_edges, "hyperedges")
    return Hypergraph.from_incidence(
        sp.coo_array((entries.gamma, (vertices, edges)), shape=(len(vertex_ids), len(edge_ids))),
        edge_weights=None if edge_weights is None else edge_weights[edge_ids - first],
        vertex_ids=vertex_ids,
        edge_ids=edge_ids,
        **asdict(policies),
    )


def _declared(codes: Codes, count: int, first_id: int, policy: AbsencePolicy, what: str) -> tuple[Codes, Ids]:
    if count <= len(codes) + SPARE:
        return codes, np.arange(first_id, first_id + count)
    if policy != "drop":
        declared = f"{count:,} {what} are declared and there are {len(codes):,} incidences"
        drop = Argument("isolated" if what == "vertices" else "empty_edges", "drop")
        raise InputError(f"{declared}; correct the number, or use ", drop, " to remove those without any")
    used, codes = np.unique(codes, return_inverse=True)
    return codes, used.astype(np.int64) + first_id
