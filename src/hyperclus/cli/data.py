"""The commands on data: what is in a file, other formats, and the paper's data sets."""

import os
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table as RichTable

import hyperclus
from hyperclus._runtime.files import fault, printable
from hyperclus.cli.app import (
    Voice,
    app,
    complain,
    console,
    errors,
    escaped,
    examples,
    grouped,
    say,
    shell_message,
)
from hyperclus.cli.inputs import Source, options
from hyperclus.cli.output import print_json
from hyperclus.cli.progress import progress
from hyperclus.cli.text import Page, show_columns, show_summary
from hyperclus.errors import DownloadError, InputError
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.hypergraph.ids import object_array
from hyperclus.hypergraph.messages import caption, shown
from hyperclus.hypergraph.summary import Summary, summary
from hyperclus.io.formats import FORMATS, by_name, known_options
from hyperclus.io.hif import read_hif_document, write_hif_document
from hyperclus.io.tables.wide import ColumnInfo
from hyperclus.research import datasets as data_sets

Folder = Annotated[
    Path | None,
    typer.Option(
        "--data", metavar="FOLDER", help="Folder with UCI's files; missing ones are fetched into it."
    ),
]


@app.command(
    epilog=examples(
        "hyperclus info table.csv --label class",
        "hyperclus info papers.csv --vertex author --edge paper",
        "hyperclus info papers.hif.json --json",
    )
)
@grouped
def info(
    *,
    source: Source,
    as_json: Annotated[bool, typer.Option("--json", metavar="", help="Print JSON.")] = False,
    voice: Voice,
) -> None:
    """Sizes, distributions, components and weights of a hypergraph in a file, and what looks odd.

    Of a table with a row per vertex also what would become of each column. Where no
    hypergraph can be made of its columns it is said why, and the exit code is 0.
    """
    taken = source.taken()
    notes: list[ColumnInfo] = []
    found: Summary | None = None
    why: str | None = None
    with voice.listening(), progress(voice):
        if taken.format != "rows":
            found = summary(taken.read(voice))
        else:
            table = taken.schema()
            notes = [
                replace(note, becomes="class") if note.column == source.label else note
                for note in table.column_infos()
            ]
            try:
                found = summary(taken.made(table, voice))
            except InputError as error:
                why = shell_message(error)
    if as_json:
        told: dict[str, Any] = {} if found is None else asdict(found)
        print_json(told | ({"columns": list(map(asdict, notes)), "fault": why} if notes else {}))
        return
    page = Page.on_stdout()
    if notes:
        show_columns(page, notes)
        page.line()
    if found is not None:
        show_summary(page, found)
    if why is not None:
        page.line(f"no hypergraph: {why}")


@app.command(
    epilog=examples(
        "hyperclus convert papers.csv papers.hif.json --vertex author --edge paper",
        "hyperclus convert table.csv table.npz --id name --exclude class",
        "hyperclus convert table.npz table.json -w ids=text",
        "hyperclus convert circuit.hgr circuit.npz -o isolated=keep",
    )
)
@grouped
def convert(
    *,
    source: Source,
    target: Annotated[Path, typer.Argument(metavar="OUT", help="The file to write.", show_default=False)],
    writes: Annotated[
        str | None, typer.Option("--to", metavar="FORMAT", help="Format of OUT; else by its name.")
    ] = None,
    write_option: Annotated[
        list[str] | None,
        typer.Option(
            "--write-option", "-w", metavar="NAME=VALUE", help="An option for writing; may be repeated."
        ),
    ] = None,
    voice: Voice,
) -> None:
    """Read a hypergraph in one format and write it in another; what OUT cannot hold is named.

    Formats: long tables (csv, tsv, parquet), hif, hmetis, mtx, npz; to read
    also tables with a row per vertex (rows). Text may be gzipped (.gz).
    """
    path = source.path
    if os.path.exists(target) and os.path.exists(path) and os.path.samefile(target, path):
        raise fault(target, "this is the file to read; choose another name to write")
    named = by_name(target)
    into = writes or ("" if named is None else named.name)
    taken = source.taken()
    with voice.listening(), progress(voice):
        if taken.format == into == "hif" and not (taken.options or write_option):
            write_hif_document(read_hif_document(path), target)
        else:
            hypergraph, more = taken.read(voice), options({}, write_option)
            if into in ("csv", "tsv", "parquet", "hif") and "ids" not in more:
                hypergraph = _as_text(hypergraph, target, voice)
            if into in FORMATS and (function := FORMATS[into].write) is not None:
                known_options(function, more, FORMATS[into])
            hyperclus.write(hypergraph, target, format=writes, **more)
    if not voice.quiet:
        say(f"written to {printable(target)}", "green")


def _as_text(h: Hypergraph, target: Path, voice: Voice) -> Hypergraph:
    """With the hyperedges ("odor", "n") of a table named "odor = n", which is said; others stay."""
    ids = h.edge_ids.tolist()
    example = next((one for one in ids if isinstance(one, tuple)), None)
    if example is None:
        return h
    names = [caption(one) if isinstance(one, tuple) else one for one in ids]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise fault(target, f"two hyperedges would be written {shown(twice)}; rename a column, or write .npz")
    voice.warn(f"{printable(target)}: hyperedges are written as text, such as {shown(caption(example))}")
    return Hypergraph(h.gamma, h.edge_weights, h.vertex_ids, object_array(names))


@app.command(
    epilog=examples("hyperclus datasets", "hyperclus datasets car zoo", "hyperclus datasets --fetch car zoo")
)
def datasets(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAMES", help="Data sets; all by default.", autocompletion=lambda: list(data_sets.names())
        ),
    ] = None,
    fetch: Annotated[bool, typer.Option("--fetch", metavar="", help="Download what is not there.")] = False,
    folder: Folder = None,
) -> None:
    """List the paper's nine data sets and check their files; --fetch downloads them from UCI."""
    place = folder or data_sets.folder()
    table = RichTable("data set", "file", "state", caption=escaped(f"in {place}; licence CC BY 4.0"))
    failed = False
    for name in names or list(data_sets.names()):
        if fetch:
            try:
                data_sets.fetch(name, folder=folder, progress=errors.is_terminal)
            except DownloadError as error:  # the others may still come
                failed = True
                complain(error)
        for file, state in data_sets.verify(name, folder=folder).items():
            table.add_row(name, file, state)
    console().print(table)
    if failed:
        raise typer.Exit(1)
