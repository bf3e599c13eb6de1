"""The commands on data: what is in a file, other formats, and the paper's data sets."""

import os
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table as RichTable

import hyperclus
from hyperclus import datasets as data_sets
from hyperclus.cli.bars import progress
from hyperclus.cli.common import Voice, app, complain, errors, escaped, examples, grouped, say
from hyperclus.cli.outline import Page, show_summary
from hyperclus.cli.outputs import print_json
from hyperclus.cli.reading import Duplicates, Edge, From, More, Source, Vertex, Weight, options
from hyperclus.errors import DownloadError
from hyperclus.io.files import fault, printable
from hyperclus.io.formats import by_name, guess
from hyperclus.io.hif import read_hif_document, write_hif_document
from hyperclus.summary import summary

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
    """Sizes, distributions, components and weights of a hypergraph in a file, and what looks odd."""
    taken = source.taken()
    with voice.listening(), progress(voice):
        found = summary(taken.read(voice))
    if as_json:
        print_json(asdict(found))
    else:
        show_summary(Page.on_stdout(), found)


@app.command(
    epilog=examples(
        "hyperclus convert papers.csv papers.hif.json --vertex author --edge paper",
        "hyperclus convert table.csv table.npz --from rows",
        "hyperclus convert table.npz table.json -w ids=text",
        "hyperclus convert circuit.hgr circuit.npz -o isolated=keep",
    )
)
@grouped
def convert(
    *,
    path: Annotated[Path, typer.Argument(metavar="FILE", help="The file to read.", show_default=False)],
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
    reads: From = None,
    vertex: Vertex = None,
    edge: Edge = None,
    weight: Weight = None,
    duplicates: Duplicates = None,
    option: More = None,
    voice: Voice,
) -> None:
    """Read a hypergraph in one format and write it in another; what OUT cannot hold is named.

    Formats: long tables (csv, tsv, parquet), hif, hmetis, mtx, npz; to read
    also tables with a row per vertex (rows). Text may be gzipped (.gz).
    """
    if os.path.exists(target) and os.path.exists(path) and os.path.samefile(target, path):
        raise fault(target, "this is the file to read; choose another name to write")
    given = {"vertex": vertex, "edge": edge, "weight": weight, "duplicates": duplicates}
    found = options(given, option)
    with voice.listening(), progress(voice):
        plain = not (found or write_option)
        if plain and _format(path, reads, True) == _format(target, writes, False) == "hif":
            write_hif_document(read_hif_document(path), target)
        else:
            hypergraph = hyperclus.read(path, format=reads, **found)
            hyperclus.write(hypergraph, target, format=writes, **options({}, write_option))
    if not voice.quiet:
        say(f"written to {printable(target)}", "green")


def _format(path: Path, given: str | None, there: bool) -> str:
    if given is not None:
        return given
    found = guess(path) if there else by_name(path)
    return "" if found is None else found.name


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
    Console().print(table)
    if failed:
        raise typer.Exit(1)
