"""Results in files and on stdout: labels, hyperedges, JSON, and the report."""

import csv
import io
import json
import math
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from hyperclus._runtime.files import fault, printable, writing
from hyperclus._runtime.optional import arrow
from hyperclus.cli.app import put
from hyperclus.clustering.metrics import Agreement
from hyperclus.clustering.n_clusters import Suggestion
from hyperclus.clustering.partition import Partition, StoredPartition, pandas_for
from hyperclus.errors import InputError
from hyperclus.hypergraph.messages import caption, shown
from hyperclus.report.html.page import check_libraries
from hyperclus.report.views import Limits, Views
from hyperclus.typing import Ids

PANEL = "What to write"
TABLES = (".csv", ".tsv", ".parquet", ".json")
PAGES = (".html", ".htm")
NAMES = 3  # hyperedges named for each cluster
TEXT_ROWS, GROUP_ROWS = 1 << 16, 1 << 20  # of stored labels that are held at a time, for text and Parquet


@dataclass(frozen=True, slots=True)
class Outputs:
    """Where the result goes."""

    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The cluster of each vertex, as .csv, .tsv, .parquet or .json.",
            rich_help_panel=PANEL,
        ),
    ] = None
    edges: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The hyperedges likewise: their cluster, and how much each tells.",
            rich_help_panel=PANEL,
        ),
    ] = None
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.html",
            help="A report with pictures, in one file.",
            rich_help_panel=PANEL,
        ),
    ] = None
    as_json: Annotated[
        bool, typer.Option("--json", metavar="", help="Everything as JSON on stdout.", rich_help_panel=PANEL)
    ] = False
    as_csv: Annotated[
        bool, typer.Option("--csv", metavar="", help="vertex,cluster on stdout.", rich_help_panel=PANEL)
    ] = False

    def check(self, *inputs: Path | None) -> None:
        """Refuse before the work what would be refused after it."""
        if self.as_json and self.as_csv:
            raise InputError("choose --json or --csv, not both")
        seen = {os.path.realpath(path): "the file to read" for path in inputs if path is not None}
        for option, path, suffixes in (
            ("--out", self.out, TABLES),
            ("--edges", self.edges, TABLES),
            ("--report", self.report, PAGES),
        ):
            if path is None:
                continue
            check_target(path, suffixes)
            same = seen.setdefault(os.path.realpath(path), f"what {option} writes")
            if same != f"what {option} writes":
                raise fault(path, f"this is {same}; choose another name for {option}")
        if self.edges is not None:
            pandas_for("--edges")
        if self.report is not None:
            check_libraries()

    def check_ids(self, *ids: Ids) -> None:
        """Refuse ids that the files cannot hold."""
        if self.as_csv or any(
            path is not None and ".json" not in path.suffixes for path in (self.out, self.edges)
        ):
            for some in ids:
                check_ids(some)

    def write(
        self,
        part: Partition,
        classes: list[Any] | None,
        source: str,
        command: str,
        remarks: Sequence[str] = (),
    ) -> list[Path]:
        """Write the files, each whole or not at all; returns their names."""
        if self.out is not None:
            write_table(self.out, ("vertex", "cluster"), labelled(part))
        if self.edges is not None:
            write_table(self.edges, *edge_table(part))
        if self.report is not None:
            part.to_html(self.report, source=source, classes=classes, command=command, remarks=remarks)
        return [path for path in (self.out, self.edges, self.report) if path is not None]


def check_target(path: Path, suffixes: Sequence[str]) -> None:
    """Refuse a name that tells no format, and a place where no file can be."""
    name = path.name.lower().removesuffix(".gz" if suffixes is TABLES else "")
    if not name.endswith(tuple(suffixes)):
        raise fault(path, f"the name must end with {', '.join(suffixes[:-1])} or {suffixes[-1]}")
    if name.endswith(".parquet"):
        if path.name.lower().endswith(".gz"):
            raise fault(path, "Parquet is packed already; leave .gz out of the name")
        arrow()
    try:
        os.stat(path)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise fault(path, f"no file can have this name ({error.strerror}); choose another") from None
    if path.is_dir():
        raise fault(path, "this is a folder; give the name of a file")
    folder = Path(os.path.realpath(path)).parent
    if not folder.is_dir():
        raise fault(path, "the folder does not exist; create it first")
    if not os.access(folder, os.W_OK):
        raise fault(path, "the folder cannot be written to; choose another")


def check_ids(ids: Ids) -> None:
    """Refuse ids that no table can hold."""
    for name in ids.tolist() if ids.dtype == object else ():
        try:
            caption(name).encode()
        except UnicodeEncodeError:
            raise InputError(
                f"id {shown(name)} has half a character, which no table can hold; rename it, or ask for JSON"
            ) from None


def write_table(path: Path, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Rows as the name of the file says."""
    kind = path.name.lower().removesuffix(".gz").rpartition(".")[2]
    with writing(path) as file:
        if kind == "parquet":
            pa = arrow()
            columns = [_parquet_column(list(column)) for column in zip(*rows, strict=True)]
            arrow("pyarrow.parquet").write_table(pa.table(columns, names=list(names)), file)
        elif kind == "json":
            records = [dict(zip(names, map(json_value, row), strict=True)) for row in rows]
            file.write((json.dumps(records, indent=1) + "\n").encode())
        else:
            file.write(as_text(names, rows, "\t" if kind == "tsv" else ",").encode())


def as_text(names: Sequence[str] | None, rows: Iterable[Sequence[Any]], delimiter: str = ",") -> str:
    """Rows of delimited text, after their names where these are given."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    if names is not None:
        writer.writerow(names)
    writer.writerows(
        [value if isinstance(value, int | float) else caption(value) for value in row] for row in rows
    )
    return text.getvalue()


def write_stored(path: Path, part: StoredPartition) -> None:
    """The labels in the files of a partition as one file, a batch of rows after the other."""
    kind = path.name.lower().removesuffix(".gz").rpartition(".")[2]
    with writing(path) as file:
        if kind == "parquet":
            _stored_as_parquet(part, file)
            return
        delimiter = "\t" if kind == "tsv" else ","
        file.write(as_text(("vertex", "cluster"), [], delimiter).encode())
        for batch in _stored(part, TEXT_ROWS):
            file.write(_batch_text(batch, delimiter))


def _stored(part: StoredPartition, most: int) -> Iterator[Any]:
    """Record batches of ids and clusters, of so many rows at most."""
    parquet = arrow("pyarrow.parquet")
    for path in sorted(part.folder.glob("*.parquet")):
        with parquet.ParquetFile(path) as file:
            yield from file.iter_batches(most, use_threads=False)


def _stored_as_parquet(part: StoredPartition, file: Any) -> None:
    parquet, writer = arrow("pyarrow.parquet"), None
    for batch in _stored(part, GROUP_ROWS):
        named = batch.rename_columns(["vertex", "cluster"])
        writer = writer or parquet.ParquetWriter(file, named.schema)
        writer.write_batch(named)
    if writer is not None:
        writer.close()


def _batch_text(batch: Any, delimiter: str) -> bytes:
    """Rows of delimited text, by PyArrow (many times faster) where it writes them as we do."""
    pa, plain = arrow(), arrow("pyarrow.csv")
    kind = batch.schema.field(0).type
    if pa.types.is_integer(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind):
        text = io.BytesIO()
        options = plain.WriteOptions(include_header=False, delimiter=delimiter, quoting_style="none")
        try:
            plain.write_csv(batch, text, options)
            return text.getvalue()
        except pa.ArrowInvalid:  # quotes are needed
            pass
    rows = zip(*(column.to_pylist() for column in batch.columns), strict=True)
    return as_text(None, rows, delimiter).encode()


def print_csv(part: Partition) -> None:
    """vertex,cluster on stdout; on a terminal, what would disturb it is escaped."""
    text = as_text(("vertex", "cluster"), labelled(part))
    put("\n".join(map(printable, text.split("\n"))) if sys.stdout.isatty() else text)


def labelled(part: Partition) -> Iterable[tuple[Any, int]]:
    """Each vertex with its cluster."""
    return zip(part.vertex_ids.tolist(), part.labels.tolist(), strict=True)


def edge_table(part: Partition) -> tuple[list[str], list[tuple[Any, ...]]]:
    """The columns of `Partition.edges_frame`, and its rows."""
    frame = part.edges_frame()
    return list(frame.columns), list(frame.itertuples(index=False, name=None))


def told_by(part: Partition) -> list[list[Any]]:
    """For each cluster the hyperedges that say most about it."""
    ids = part.walk.hypergraph.edge_ids
    top = Views(part, Limits(top=NAMES)).top_hyperedges
    return [[ids[edge] for edge in found.edges.tolist()] for found in top]


def facts(
    part: Partition,
    found: Agreement | None,
    suggestion: Suggestion | None,
    seconds: float,
    source: str,
    command: str,
) -> dict[str, Any]:
    """Everything about a result, for JSON."""
    h = part.walk.hypergraph
    rows = zip(part.sizes, part.cut.volumes, part.cut.conductances, told_by(part), strict=True)
    told = {
        "source": source,
        "command": command,
        "vertices": len(part.vertex_ids),
        "hyperedges": h.n_edges,
        "incidences": h.n_incidences,
        "components": part.n_components,
        "k": part.k,
        "ncut": part.ncut,
        "lower_bound": part.lower_bound,
        "gap": part.gap,
        "conductance": part.conductance,
        "eigenvalues": part.eigenvalues.tolist(),
        "clusters": [
            {
                "cluster": cluster,
                "size": size,
                "volume": volume,
                "conductance": conductance,
                "told_by": list(map(caption, edges)),
            }
            for cluster, (size, volume, conductance, edges) in enumerate(rows)
        ],
        "settings": dict(part.settings),
        "timings": {"reading": seconds, **part.timings},
    }
    if suggestion is not None:
        told["suggestion"] = asdict(suggestion)
    if found is not None:
        told["agreement"] = {
            "f1": found.weighted_f1,
            "nmi": found.nmi,
            "ari": found.ari,
            "purity": found.purity,
            "classes": found.classes,
            "clusters": found.clusters,
            "counts": found.counts,
        }
    told["labels"] = [{"vertex": vertex, "cluster": cluster} for vertex, cluster in labelled(part)]
    return told


def stored_facts(part: StoredPartition, source: str, command: str) -> dict[str, Any]:
    """Everything about a result whose labels are in files, for JSON."""
    rows = zip(part.sizes, part.cut.volumes, part.cut.conductances, strict=True)
    return {
        "source": source,
        "command": command,
        "vertices": part.n_vertices,
        "hyperedges": part.n_edges,
        "incidences": part.n_incidences,
        "components": part.n_components,
        "k": part.k,
        "ncut": part.ncut,
        "lower_bound": part.lower_bound,
        "gap": part.gap,
        "conductance": part.conductance,
        "eigenvalues": part.eigenvalues,
        "clusters": [
            {"cluster": cluster, "size": size, "volume": volume, "conductance": conductance}
            for cluster, (size, volume, conductance) in enumerate(rows)
        ],
        "settings": dict(part.settings),
        "timings": dict(part.timings),
        "rounds": dict(part.rounds),
        "labels": str(part.folder),
    }


def print_json(value: Any) -> None:
    """JSON on stdout, in ASCII, so that nothing in it disturbs a terminal; infinite is null."""
    put(json.dumps(json_value(value), indent=1) + "\n")


def json_value(value: Any) -> Any:
    """A value that JSON can hold: tuples as lists, arrays likewise, infinite and missing numbers as null."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(key): json_value(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, bool | int | float | str) else caption(value)


def _parquet_column(values: list[Any]) -> Any:
    """Integers, numbers or text as they are; ids of other or mixed kinds as text."""
    kinds = set(map(type, values))
    plain = kinds <= {int} or kinds <= {int, float} or kinds <= {str}
    plain = plain and all(-(2**63) <= value < 2**63 for value in values if isinstance(value, int))
    return arrow().array(values if plain else list(map(caption, values)))
