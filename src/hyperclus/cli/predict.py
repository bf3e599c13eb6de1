"""The command `predict`, which labels new vertices by a saved model."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import hyperclus
from hyperclus._runtime.files import fault, printable
from hyperclus.cli.app import Messages, command, say
from hyperclus.cli.inputs import ROWS, ResolvedInput, Source
from hyperclus.cli.options import argument
from hyperclus.cli.output import TableOutput
from hyperclus.cli.progress import progress
from hyperclus.cli.terminal import MAX_NAME, indented, marked, show, table, title
from hyperclus.clustering.model import Model, Prediction
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.hypergraph.ids import object_array
from hyperclus.hypergraph.messages import caption
from hyperclus.io.tables.schema import read_columns
from hyperclus.io.tables.table import Table
from hyperclus.io.tables.wide import row_names, unique_ids
from hyperclus.report.format import short_id

EVERY_WORD = {"min_df": 1, "max_df": 1.0}  # of new documents; the model knows which words count
COLUMNS = ("vertex", "cluster", "confidence", "share", "unknown")


@dataclass(frozen=True, slots=True)
class SavedModel:
    """A model to label with."""

    model: Path = argument("Model to use, as --model of `hyperclus cluster` writes it.", "MODEL")


@command(
    "hyperclus cluster table.csv -k 3 --id name --label class --model shop.hcm",
    "hyperclus predict shop.hcm table.csv --id name --out labels.csv",
    "hyperclus predict shop.hcm table.csv --json",
)
def predict(*, saved: SavedModel, source: Source, output: TableOutput, messages: Messages) -> None:
    """Label new vertices by the clusters of a saved model.

    FILE has the new vertices, in any format that `hyperclus cluster` reads, with
    the same hyperedges: a row per vertex with the columns of the first table, or a
    row per incidence. The bins of numbers are those of the model. Hyperedges that
    the model does not know are counted and left out; a vertex without any other
    gets the label -1. The confidence of a label is from 0 to 1; share is the part
    of the steps from the vertex that end in its cluster.
    """
    output.check(source.path, saved.model)
    model = hyperclus.load(saved.model)
    resolved = source.resolve()
    with messages.from_library(), progress(messages):
        found = _labelled(model, resolved, messages)
    output.check_ids(messages, found.vertex_ids)
    rows = list(_rows(found))
    output.deliver(COLUMNS, rows, lambda: _record(found, rows), lambda: _show(found))
    if found.n_unknown:  # even with --quiet, because labels without them may be wrong
        say(printable(found.unknown_text), "yellow")
    messages.finished({}, output.targets.values())


def _labelled(model: Model, resolved: ResolvedInput, messages: Messages) -> Prediction:
    """Read the new vertices and label them."""
    if resolved.format == "rows" and resolved.table is not None:
        return _labelled_rows(model, resolved, resolved.table)
    if resolved.format == "text":
        resolved = replace(resolved, options=EVERY_WORD | resolved.options)
    return model.predict(_same_types(model, resolved.read(messages)))


def _same_types(model: Model, h: Hypergraph) -> Hypergraph:
    """Read 7 as text or as a number, whichever it is in the model: files of text have no types."""
    if h.edge_ids.dtype == model.edge_ids.dtype:
        return h
    known = {caption(one): one for one in model.edge_ids.tolist()}
    return replace(h, edge_ids=object_array([known.get(caption(one), one) for one in h.edge_ids.tolist()]))


def _labelled_rows(model: Model, resolved: ResolvedInput, source: Table) -> Prediction:
    """Label the rows of a table with a row per vertex."""
    if model.columns is None:
        problem = "this seems to have a row per vertex, and the model was made of other data"
        raise fault(source.path, f"{problem}; for a row per incidence use --vertex and --edge")
    for name in ROWS:
        if getattr(resolved.source, name):
            raise fault(
                source.path, f"--{name} is not for predict, which uses what the model has; leave it out"
            )
    options, names = resolved.options, [str(name) for name in model.columns]
    signs = (options.get("decimal"), options.get("thousands"))
    columns = read_columns(source, [source.column(name) for name in names], *signs)
    values: dict[Any, Any] = {
        name: _as_known(model, name, column.values.to_pylist(), column.numbers)
        for name, column in zip(model.columns, columns, strict=True)
    }
    vertex = options.get("vertex", row_names(source))
    ids: Any = None
    if vertex is not None:
        guess = options.get("ids", "guess") == "guess"
        ids = unique_ids(source, source.column(vertex), guess, options.get("repeated", "error"))
    found = model.predict(values)
    return found if ids is None else replace(found, vertex_ids=ids)


def _as_known(model: Model, name: Any, values: list[Any], numbers: bool) -> list[Any]:
    """The values of a column, as text or as numbers, whichever they are in the model."""
    binning = (model.columns or {})[name]
    known = [value for column, value in model.edge_ids.tolist() if column == name and value is not None]
    known = list(binning.points) if binning is not None and binning.kind == "levels" else known
    if binning is not None and binning.kind != "levels":
        return values if numbers else [_number(value) for value in values]
    by_text = {caption(value): value for value in known}
    return [value if value is None else by_text.get(caption(value), value) for value in values]


def _number(value: Any) -> Any:
    """The number that a text is, or the text."""
    with suppress(ValueError, TypeError):
        return float(value)
    return value


def _rows(found: Prediction) -> Iterable[tuple[Any, ...]]:
    """Each vertex with what is known of it."""
    columns = (found.confidence, found.shares, found.unknown)
    return zip(found.vertex_ids.tolist(), found.named_labels, *(one.tolist() for one in columns), strict=True)


def _record(found: Prediction, rows: list[tuple[Any, ...]]) -> dict[str, Any]:
    """The answer as JSON."""
    sizes = zip(found.cluster_names, found.sizes.tolist(), strict=True)
    return {
        "vertices": len(found.labels),
        "without_known_hyperedges": int((found.labels < 0).sum()),
        "unknown_hyperedges": [caption(edge) for edge in found.unknown_edges.tolist()],
        "clusters": [{"cluster": name, "size": size} for name, size in sizes],
        "labels": [dict(zip(COLUMNS, row, strict=True)) for row in rows],
    }


def _show(found: Prediction) -> None:
    """Print how many vertices each cluster has."""
    rows = []
    for cluster, name in enumerate(found.cluster_names):
        inside = found.confidence[found.labels == cluster]
        mean = f"{inside.mean():.2f}" if len(inside) else ""
        rows.append([marked(cluster, short_id(name, MAX_NAME)), f"{len(inside):,}", mean])
    show(title(f"Labels of {found.nouns.count_vertices(len(found.labels))}"))
    show(table(["cluster", found.nouns.vertices, "confidence"], rows, left=1))
    if absent := int((found.labels < 0).sum()):
        show(
            indented(f"{found.nouns.count_vertices(absent)} in no known {found.nouns.a_hyperedge}: label -1")
        )
