"""The commands `convert` and `datasets`."""

import csv
import io
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

import hyperclus
from hyperclus import datasets as data_sets
from hyperclus._runtime.files import fault, printable, writing
from hyperclus.cli.app import Messages, command, console, errors, say, shell_message
from hyperclus.cli.ids import first_repeated
from hyperclus.cli.inputs import Source
from hyperclus.cli.options import argument, option, switch
from hyperclus.cli.parsing import format_options
from hyperclus.cli.progress import progress
from hyperclus.datasets import tables
from hyperclus.errors import DownloadError
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.hypergraph.ids import object_array
from hyperclus.hypergraph.messages import caption, shown
from hyperclus.io.formats import FORMATS, by_name, known_options
from hyperclus.io.hif import read_hif_document, write_hif_document


@dataclass(frozen=True, slots=True)
class Target:
    """The file to write."""

    target: Path = argument("File to write.", "OUT")
    to: str | None = option("Format of OUT (default: by its name).", "FORMAT", "--to")
    write_option: list[str] | None = option(
        "Option for writing: vertex, edge, weight and edge_weight name columns, ids=text writes other ids as "
        "text, compressed=no is for npz; repeatable.",
        "NAME=VALUE",
        "--write-option",
        "-w",
    )


@command(
    "hyperclus convert papers.csv papers.hif.json --vertex author --edge paper",
    "hyperclus convert table.csv table.npz --id name --exclude class",
    "hyperclus convert table.npz table.json -w ids=text",
    "hyperclus convert circuit.hgr circuit.npz -o isolated=keep",
)
def convert(*, source: Source, output: Target, messages: Messages) -> None:
    """Convert a hypergraph to another format; warns of what OUT cannot hold.

    Formats: tables with a row per incidence (csv, tsv, parquet), hif, hmetis,
    mtx, npz; only for reading: tables with a row per vertex (rows). Text files
    may be gzipped (.gz).
    """
    path, target = source.path, output.target
    if os.path.exists(target) and os.path.exists(path) and os.path.samefile(target, path):
        raise fault(target, "this is the file to read; choose another name to write")
    named = by_name(target)
    into = output.to or ("" if named is None else named.name)
    resolved = source.resolve()
    with messages.from_library(), progress(messages):
        if resolved.format == into == "hif" and not (resolved.options or output.write_option):
            document = read_hif_document(resolved.path)  # keeps what a Hypergraph cannot hold
            write_hif_document(document, target)
        else:
            hypergraph, options = resolved.read(messages), format_options({}, output.write_option)
            if into in ("csv", "tsv", "parquet", "hif") and "ids" not in options:
                hypergraph = _with_text_ids(hypergraph, target, messages)
            if into in FORMATS and (function := FORMATS[into].write) is not None:
                known_options(function, options, FORMATS[into])
            hyperclus.write(hypergraph, target, format=output.to, **options)
    messages.finished({}, [target])


def _with_text_ids(h: Hypergraph, target: Path, messages: Messages) -> Hypergraph:
    """Rename hyperedges such as ("odor", "n") to "odor = n", with a warning; other ids stay."""
    ids = h.edge_ids.tolist()
    example = next((one for one in ids if isinstance(one, tuple)), None)
    if example is None:
        return h
    names = [caption(one) if isinstance(one, tuple) else one for one in ids]
    if (twice := first_repeated(names)) is not None:
        raise fault(target, f"two hyperedges would be written {shown(twice)}; rename a column, or write .npz")
    messages.warn(f"{printable(target)}: hyperedges are written as text, such as {shown(caption(example))}")
    return replace(h, edge_ids=object_array(names))


NAMES = typer.Argument(metavar="NAMES", help="Data sets; all by default.", autocompletion=data_sets.names)


@dataclass(frozen=True, slots=True)
class Files:
    """The files of the data sets."""

    save: Path | None = option("Write NAME.npz and NAME.classes.csv to a folder.", "FOLDER", "--save")
    from_source: bool = switch("--from-source", "Use UCI's own files, not those in the package.")
    fetch: bool = switch("--fetch", "Download missing files of UCI.")
    folder: Path | None = option("Folder for the files of UCI.", "FOLDER", "--data")

    @property
    def of_uci(self) -> bool:
        """Whether UCI's own files are meant."""
        return self.from_source or self.fetch or self.folder is not None


@command(
    "hyperclus datasets",
    "hyperclus datasets zoo --save .",
    "hyperclus datasets --fetch car zoo",
)
def datasets(*, names: Annotated[list[str] | None, NAMES] = None, files: Files) -> None:
    """List the data sets that come with the package and check their files.

    The nine tables of the paper are from UCI, whose own files can be used
    instead.
    """
    chosen = names or list(tables.RULES if files.of_uci else data_sets.names())
    whole = _list_uci(chosen, files) if files.of_uci else _list_package(chosen)
    if whole and files.save is not None:
        for name in chosen:
            _save(data_sets.load(name, from_source=files.of_uci, folder=files.folder), files.save)
    if not whole:
        raise typer.Exit(1)


def _list_package(names: list[str]) -> bool:
    listing = Table("data set", "title", "licence", "files", caption="in the package")
    for name in names:
        source, present = data_sets.source(name), data_sets.files(name)
        listing.add_row(name, escape(source.title), source.licence, f"{len(present)} ok")
    console().print(listing)
    return True


def _list_uci(names: list[str], files: Files) -> bool:
    place = files.folder or data_sets.folder()
    listing = Table("data set", "file", "state", caption=escape(f"in {place}; licence CC BY 4.0"))
    failed = False
    for name in names:
        if files.fetch:
            try:
                data_sets.fetch(name, folder=files.folder, progress=errors.is_terminal)
            except DownloadError as error:  # continue with the others
                failed = True
                say(shell_message(error), "red")
        for file, state in data_sets.verify(name, folder=files.folder).items():
            listing.add_row(name, file, state)
    console().print(listing)
    return not failed


def _save(data: data_sets.Dataset, folder: Path) -> None:
    """Write the hypergraph and the classes of its vertices to a folder."""
    archive, classes = folder / f"{data.name}.npz", folder / f"{data.name}.classes.csv"
    hyperclus.write(data.hypergraph, archive, compressed=True)
    text = io.StringIO(newline="")
    rows = zip(data.hypergraph.vertex_ids.tolist(), data.classes.tolist(), strict=True)
    csv.writer(text, lineterminator="\n").writerows([("vertex", "class"), *rows])
    with writing(classes) as file:
        file.write(text.getvalue().encode())
    say(f"wrote {printable(archive)} and {printable(classes)}")
