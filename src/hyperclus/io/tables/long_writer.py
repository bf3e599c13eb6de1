"""Writing long tables: CSV, TSV and Parquet."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from hyperclus._runtime.arrays import blocks
from hyperclus._runtime.files import StrPath, fault, printable, writing
from hyperclus.errors import Argument, InputError
from hyperclus.hypergraph.hypergraph import Hypergraph, check_hypergraph
from hyperclus.hypergraph.messages import named, shown
from hyperclus.io.shared import are_integers, lost_mixture, warn_losses
from hyperclus.io.tables import TableFormat, format_of
from hyperclus.io.tables.csv import write_csv
from hyperclus.io.tables.parquet import write_parquet
from hyperclus.io.tables.table import IncidenceBlock
from hyperclus.typing import Ids


def write_long(
    hypergraph: Hypergraph,
    path: StrPath,
    *,
    format: TableFormat | None = None,  # noqa: A002
    vertex: str = "vertex",
    edge: str = "edge",
    weight: str = "weight",
    edge_weight: str = "edge_weight",
) -> None:
    """Write one row per incidence; `read_long` returns the same ids and, to the last bit, the same weights.

    Hyperedges are written one after the other. The column of omega is only written if some omega is not 1.

    Parameters
    ----------
    path, format
        As in `read_long`, but for one file, and without a format the ending of the name must be known.
    vertex, edge, weight, edge_weight : column names

    Raises
    ------
    InputError
        For ids that `read_long` would change: a column holds integers or text, not both, nor anything else.
        In CSV and TSV, ids of text must not all look like integers ("1", "2"); Parquet keeps their type.

    Warns
    -----
    LossWarning
        Naming isolated vertices and empty hyperedges, which have no row; and if `read_long` would return
        the vertices in another order, that of first appearance. Its arguments `vertex_ids` and `edge_ids`
        restore all three.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "papers.csv")
    >>> write_long(Hypergraph.from_edges({"paper 1": {"ann": 2, "bob": 1}, "paper 2": ["bob"]}), path)
    >>> print(path.read_text())
    vertex,edge,weight
    ann,"paper 1",2.0
    bob,"paper 1",1.0
    bob,"paper 2",1.0
    <BLANKLINE>
    """
    check_hypergraph(hypergraph)
    names = [vertex, edge, weight, edge_weight]
    named = all(isinstance(name, str) and name and _is_utf8(name) for name in names)
    if not named or len(set(names)) < len(names):
        raise InputError(f"the column names must be different texts; got {shown(names)}")
    if (hypergraph.edge_weights == 1).all():
        names.pop()
    kind = format_of(path, format)
    if kind not in ("csv", "tsv", "parquet"):
        endings = "the name must end with .csv, .tsv, .csv.gz, .tsv.gz or .parquet; or use "
        raise fault(path, InputError(endings, Argument("format")))
    ids = hypergraph.vertex_ids, hypergraph.edge_ids
    _check_ids(path, ids[0], "vertex", kind != "parquet")
    _check_ids(path, ids[1], "edge", kind != "parquet")
    _warn_of_loss(hypergraph, path)
    write_text = partial(write_csv, delimiter="\t" if kind == "tsv" else ",")
    write = write_parquet if kind == "parquet" else write_text
    with writing(path) as handle:
        write(handle, names, ids, _incidences(hypergraph, len(names) - 2))


def _check_ids(path: StrPath, ids: Ids, what: str, text: bool) -> None:
    """Raise an `InputError` for ids that `read_long` would not return."""
    if ids.dtype != object:
        return
    values = ids.tolist()
    other = next((value for value in values if not isinstance(value, str)), None)
    if other is not None:
        mixed = isinstance(other, int) and not isinstance(other, bool)
        why = "not text as others are; use HIF" if mixed else "neither text nor an integer; rename it"
        raise fault(path, f"{what} id {shown(other)} is {why}, a column of a long table cannot hold it")
    broken = next((value for value in values if not _is_utf8(value)), None)
    if broken is not None:
        problem = "contains half of a surrogate pair and cannot be written; rename it"
        raise fault(path, f"{what} id {shown(broken)} {problem}")
    if text and values and are_integers(values):
        problem = f"{what} id {shown(values[0])} is text, but it and all others would be read as integers"
        raise fault(path, f"{problem}; write .parquet, which keeps the type")


def _is_utf8(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= sign <= "\udfff" for sign in text)


def _warn_of_loss(hypergraph: Hypergraph, path: StrPath) -> None:
    covered, empty = hypergraph.covered, hypergraph.edge_sizes == 0
    isolated, unused = named(hypergraph.vertex_ids, ~covered), named(hypergraph.edge_ids, empty)
    lost = [f"vertex {isolated}, which no hyperedge holds"] if isolated else []
    lost += [f"hyperedge {unused}, which has no members"] if unused else []
    # The order is kept if every vertex, at its first appearance, is larger than all before it.
    highest, in_order = -1, 0
    for block in blocks(hypergraph.n_incidences):
        running = np.maximum.accumulate(hypergraph.gamma.indices[block])
        in_order += int(np.count_nonzero(np.diff(np.maximum(running, highest), prepend=highest)))
        highest = max(highest, int(running[-1]))
    if in_order < covered.sum():
        lost.append("the order of the vertices")
    lost.append(lost_mixture(hypergraph))
    remedy = f"write .npz{'' if hypergraph.mixture else ' or .json'} to keep everything"
    warn_losses(f"{printable(path)}: a long table", lost, remedy, stacklevel=4)


def _incidences(hypergraph: Hypergraph, n_weights: int) -> Iterator[IncidenceBlock]:
    """Yield blocks of incidences: vertices, hyperedges, and gamma or gamma and omega."""
    gamma = hypergraph.gamma
    for block in blocks(hypergraph.n_incidences):
        rows = np.arange(block.start, block.stop)
        edges = np.searchsorted(gamma.indptr, rows, side="right") - 1
        yield gamma.indices[block], edges, [gamma.data[block], hypergraph.edge_weights[edges]][:n_weights]
