"""Results as files, JSON and CSV."""

import io
import json
import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from hyperclus._runtime.files import fault, printable, writing
from hyperclus._runtime.optional import arrow
from hyperclus.cli.app import Messages, put
from hyperclus.cli.ids import FORMULA, first_repeated, texts
from hyperclus.cli.options import output_option, output_switch
from hyperclus.clustering.frames import LABEL_COLUMNS, pandas_for
from hyperclus.clustering.partition import Partition, StoredPartition
from hyperclus.errors import InputError
from hyperclus.hypergraph.messages import caption, first_few, shown
from hyperclus.report.html.levels import check_levels
from hyperclus.report.html.page import check_libraries
from hyperclus.report.text import COLUMNS
from hyperclus.typing import Ids

TABLES = (".csv", ".tsv", ".parquet", ".json")
SUFFIXES = {
    "out": TABLES,
    "edges": TABLES,
    "report": (".html", ".htm"),
    "model": (".hcm", ".npz"),
    "certificate": (".cert", ".npz"),
}  # by option
LABELS = LABEL_COLUMNS[:2]
FIGURES = ("k", "ncut", "lower_bound", "gap", "conductance", "eigenvalues")  # in JSON
TEXT_ROWS, PARQUET_ROWS = 1 << 16, 1 << 20  # rows of stored labels in memory at a time

QUOTED = "ids that a spreadsheet would run as formulas get a ' in CSV; --raw writes them as they are"

Rows = Iterable[Sequence[Any]]


@dataclass(frozen=True, slots=True)
class TableOutput:
    """Where a table of results goes."""

    out: Path | None = output_option("Write the members (.csv, .tsv, .parquet or .json).", "FILE")
    as_json: bool = output_switch("--json", "Print all results as JSON to stdout.")
    as_csv: bool = output_switch("--csv", "Print the table as CSV to stdout.")
    raw: bool = output_switch("--raw", "Write ids as they are in CSV, even if spreadsheets run them.")

    @property
    def targets(self) -> dict[str, Path]:
        """The files to write, by name of the option."""
        return {name: path for name in SUFFIXES if (path := getattr(self, name, None)) is not None}

    def check(self, *inputs: Path | None) -> None:
        """Refuse, before the work, what could not be written after it."""
        if self.as_json and self.as_csv:
            raise InputError("choose --json or --csv, not both")
        seen = {os.path.realpath(path): "the file to read" for path in inputs if path is not None}
        for name, path in self.targets.items():
            _check_target(path, SUFFIXES[name])
            same = seen.setdefault(os.path.realpath(path), f"what --{name} writes")
            if same != f"what --{name} writes":
                raise fault(path, f"this is {same}; choose another name for --{name}")
        if "edges" in self.targets:
            pandas_for("--edges")
        if "report" in self.targets:
            check_libraries()
            check_levels(getattr(self, "levels", None))

    def check_ids(self, messages: Messages, vertices: Ids, edges: Ids | None = None) -> None:
        """Refuse ids that the tables cannot hold, or that would look alike; name those that are changed."""
        files = {"vertices": self.targets.get("out"), "hyperedges": self.targets.get("edges")}
        for (what, path), ids in zip(files.items(), (vertices, edges), strict=True):
            printed = self.as_csv and what == "vertices"
            if ids is None or ids.dtype != object or not (printed or (path and _kind(path) != "json")):
                continue
            names = texts(ids)
            for name in names:
                try:
                    name.encode()
                except UnicodeEncodeError:
                    problem = "has half a surrogate pair, which no table can hold; rename it, or use JSON"
                    raise InputError(f"id {shown(name)} {problem}") from None
            if (twice := first_repeated(names)) is not None:
                problem = f"two {what} would both be written as {twice}"
                raise InputError(f"{problem}; rename one of them, or write .json, which keeps types")
            runs = [name for name in names if FORMULA.match(name)]
            if runs and not self.raw and (printed or (path and _kind(path) != "parquet")):
                messages.warn(f"{first_few(runs)}: {QUOTED}")

    def deliver(
        self, names: Sequence[str], rows: Rows, record: Callable[[], Any], show: Callable[[], None]
    ) -> None:
        """Write the table if it has a file; print the record as JSON or the table as CSV, or call `show`."""
        if self.out is not None:
            write_table(self.out, names, rows, self.raw)
        if self.as_json:
            print_json(record())
        elif self.as_csv:
            print_csv(names, rows, self.raw)
        else:
            show()


@dataclass(frozen=True, slots=True)
class Outputs(TableOutput):
    """Where a partition goes."""

    out: Path | None = output_option(
        "Write the cluster of each vertex and how sure it is (.csv, .tsv, .parquet or .json).", "FILE"
    )
    edges: Path | None = output_option(
        "Write the cluster of each hyperedge, and how distinctive it is (same formats).", "FILE"
    )
    report: Path | None = output_option("Write a report with figures, in one HTML file.", "FILE.html")
    levels: int | None = output_option(
        "Largest number of groups that the report can show (default: 12, for large data those found).",
        "NUMBER",
        least=2,
    )
    model: Path | None = output_option("Write a model, for `hyperclus predict`.", "FILE.hcm")
    certificate: Path | None = output_option(
        "Write a certificate of the proven bound, for `hyperclus verify`.", "FILE.cert"
    )

    def write(self, part: Partition, **report: Any) -> list[Path]:
        """Write the files and return their names; further arguments are those of `Partition.to_html`."""
        if self.out is not None:
            write_table(self.out, LABEL_COLUMNS, labelled(part), self.raw)
        if self.edges is not None:
            frame = part.edges_frame()
            write_table(self.edges, list(frame.columns), frame.itertuples(index=False, name=None), self.raw)
        if self.report is not None:
            part.to_html(self.report, levels=self.levels, **report)
        if self.model is not None:
            part.save(self.model)
        if self.certificate is not None:
            part.certificate(self.certificate)
        return list(self.targets.values())


def _check_target(path: Path, suffixes: tuple[str, ...]) -> None:
    """Refuse a name without a known suffix, and a place that cannot be written to."""
    name = path.name.lower().removesuffix(".gz" if suffixes is TABLES else "")
    if not name.endswith(suffixes):
        raise fault(path, f"the name must end with {', '.join(suffixes[:-1])} or {suffixes[-1]}")
    if name.endswith(".parquet"):
        arrow()
        if path.name.lower().endswith(".gz"):
            raise fault(path, "Parquet is compressed already; leave .gz out of the name")
    with suppress(_DryRunError), writing(path):  # which creates and deletes an empty temporary file
        raise _DryRunError


class _DryRunError(Exception):
    """Ends a file before it is written."""


# Files


def write_table(path: Path, names: Sequence[str], rows: Rows, raw: bool = False) -> None:
    """Write rows in the format that the name of the file tells."""
    kind = _kind(path)
    with writing(path) as file:
        if kind == "parquet":
            columns = [_parquet_column(list(column)) for column in zip(*rows, strict=True)]
            arrow("pyarrow.parquet").write_table(arrow().table(columns, names=list(names)), file)
        elif kind == "json":
            records = [dict(zip(names, map(json_value, row), strict=True)) for row in rows]
            file.write((json.dumps(records, indent=1) + "\n").encode())
        else:
            file.write(as_text(names, rows, "\t" if kind == "tsv" else ",", raw).encode())


def _kind(path: Path) -> str:
    return path.name.lower().removesuffix(".gz").rpartition(".")[2]


def _parquet_column(values: list[Any]) -> Any:
    """Integers, floats, or text and None as they are; ids of other or mixed types as text."""
    kinds = set(map(type, values))
    plain = kinds <= {int, float} or kinds <= {str, type(None)}
    plain = plain and all(-(2**63) <= value < 2**63 for value in values if isinstance(value, int))
    kind = arrow().string() if kinds == {type(None)} else None
    return arrow().array(values if plain else list(map(caption, values)), type=kind)


def as_text(names: Sequence[str] | None, rows: Rows, delimiter: str = ",", raw: bool = False) -> str:
    """Delimited text, with a header if there are names; see `FORMULA` for `raw`."""
    lines = [] if names is None else [delimiter.join(names)]
    lines += [delimiter.join(_cell(value, delimiter, raw) for value in row) for row in rows]
    return "".join(f"{line}\n" for line in lines)


def _cell(value: Any, delimiter: str, raw: bool) -> str:
    """A value in delimited text, nothing if it is missing; empty text has quotes, which tell it apart."""
    if value is None or value != value:
        return ""
    if isinstance(value, int | float):
        return str(value)
    text = caption(value)
    text = text if raw or not FORMULA.match(text) else "'" + text
    plain = text and not any(sign in text for sign in (delimiter, '"', "\r", "\n"))
    return text if plain else '"' + text.replace('"', '""') + '"'


def write_stored(path: Path, part: StoredPartition, raw: bool = False) -> bool:
    """Copy the labels of a stored partition into one file, some rows at a time; True if ids got quotes."""
    kind, delimiter, quoted = _kind(path), "\t" if _kind(path) == "tsv" else ",", False
    batches = _stored_batches(part, PARQUET_ROWS if kind == "parquet" else TEXT_ROWS)
    with writing(path) as file:
        if kind == "parquet":
            first = next(batches)
            with arrow("pyarrow.parquet").ParquetWriter(file, first.schema) as writer:
                for batch in chain([first], batches):
                    writer.write_batch(batch)
        else:
            file.write(as_text(LABELS, [], delimiter).encode())
            for batch in batches:
                quoted |= not raw and _holds_formula(batch.column(0))
                file.write(batch_as_text(batch, delimiter, raw))
    return quoted


def _holds_formula(ids: Any) -> bool:
    """Whether `FORMULA` matches an id of a column."""
    pc, types = arrow("pyarrow.compute"), arrow().types
    if not (types.is_string(ids.type) or types.is_large_string(ids.type)):
        return False
    some = ids.filter(pc.match_substring_regex(ids, r"\A'*[=+@\t\r\n-]"))
    return any(map(FORMULA.match, some.to_pylist()))


def _stored_batches(part: StoredPartition, size: int) -> Iterator[Any]:
    """Record batches of ids and clusters."""
    for path in sorted(part.folder.glob("*.parquet")):
        with arrow("pyarrow.parquet").ParquetFile(path) as file:
            for batch in file.iter_batches(size, use_threads=False):
                yield batch.rename_columns(list(LABELS))


def batch_as_text(batch: Any, delimiter: str, raw: bool = False) -> bytes:
    """Delimited text of a record batch, by PyArrow (much faster) where its result is that of `as_text`."""
    pa, pa_csv = arrow(), arrow("pyarrow.csv")
    kind = batch.schema.field(0).type
    plain = pa.types.is_integer(kind)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):  # empty text needs quotes
        plain = arrow("pyarrow.compute").index(batch.column(0), "").as_py() < 0
    if plain and (raw or not _holds_formula(batch.column(0))):
        text = io.BytesIO()
        options = pa_csv.WriteOptions(include_header=False, delimiter=delimiter, quoting_style="none")
        try:
            pa_csv.write_csv(batch, text, options)
            return text.getvalue()
        except pa.ArrowInvalid:  # some value needs quotes
            pass
    rows = zip(*(column.to_pylist() for column in batch.columns), strict=True)
    return as_text(None, rows, delimiter, raw).encode()


# stdout


def print_csv(names: Sequence[str], rows: Rows, raw: bool = False) -> None:
    """Print CSV; on a terminal, control characters are escaped."""
    text = as_text(names, rows, raw=raw)
    put("\n".join(map(printable, text.split("\n"))) if sys.stdout.isatty() else text)


def labelled(part: Partition) -> Rows:
    """Each vertex with its cluster and how sure that is; the values of LABEL_COLUMNS."""
    return zip(*part.label_columns().values(), strict=True)


def as_record(part: Partition | StoredPartition, source: str, command: str) -> dict[str, Any]:
    """The figures of a partition, for JSON."""
    h = part if isinstance(part, StoredPartition) else part.walk.hypergraph
    rows = zip(part.sizes, part.cut.volumes, part.cut.conductances, strict=True)
    return {
        "source": source,
        "command": command,
        "vertices": part.n_vertices if isinstance(part, StoredPartition) else len(part.vertex_ids),
        "hyperedges": h.n_edges,
        "incidences": h.n_incidences,
        "components": part.n_components,
        **{name: getattr(part, name) for name in FIGURES},
        "chance": None if part.chance is None else asdict(part.chance),
        "clusters": [
            dict(zip(COLUMNS, (name, *row), strict=True))
            for name, row in zip(part.cluster_names, rows, strict=True)
        ],
        "settings": dict(part.settings),
        "timings": dict(part.timings),
    }


def print_json(value: Any) -> None:
    """Print JSON, in ASCII, so that no control character reaches a terminal."""
    put(json.dumps(json_value(value), indent=1) + "\n")


def json_value(value: Any) -> Any:
    """A value that JSON can hold: tuples and arrays as lists, infinite and missing numbers as null."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(key): json_value(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, bool | int | float | str) else caption(value)
