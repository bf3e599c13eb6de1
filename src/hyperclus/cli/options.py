"""Options that several commands have."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from hyperclus.engines import InMemory, Precision
from hyperclus.errors import InputError

MAX_DIGITS = 9  # of a number of clusters or bins

argument: Callable[..., Any] = partial(typer.Argument, show_default=False)
flag: Callable[..., Any] = partial(typer.Option, metavar="")
input_option: Callable[..., Any] = partial(typer.Option, rich_help_panel="Input")
cluster_option: Callable[..., Any] = partial(typer.Option, rich_help_panel="Clustering")
output_option: Callable[..., Any] = partial(typer.Option, rich_help_panel="Output")
dask_option: Callable[..., Any] = partial(typer.Option, rich_help_panel="With --engine dask")

# Input: columns of a table with a row per incidence

Vertex = Annotated[
    str | None, input_option(metavar="COLUMN", help="Vertices, in a table with a row per incidence.")
]
Edge = Annotated[
    str | None, input_option(metavar="COLUMN", help="Hyperedges, in a table with a row per incidence.")
]
Weight = Annotated[
    str | None, input_option(metavar="COLUMN", help="Weights of the vertices in the hyperedges.")
]
EdgeWeight = Annotated[str | None, input_option(metavar="COLUMN", help="Weights of the hyperedges.")]
Duplicates = Annotated[
    str | None,
    input_option(metavar="error|sum|max", help="What to do with repeated incidences (default: error)."),
]

# Clustering

Alpha = Annotated[
    float,
    cluster_option(
        min=0,
        metavar="NUMBER",
        help="How much the weights of a vertex count when the walk chooses its next hyperedge; 0 is the "
        "walk of the paper.",
    ),
]
Seed = Annotated[int, cluster_option(min=0, metavar="NUMBER", help="Random seed.")]
Checkpoint = Annotated[
    Path | None,
    cluster_option(
        metavar="FOLDER", help="Keep checkpoints there: if interrupted, the same command resumes the run."
    ),
]
GPU = "auto: on an NVIDIA GPU if there is one and the data are large"
InMemoryEngine = Annotated[InMemory, cluster_option("--engine", help=f"Where to compute; {GPU}.")]


@dataclass(frozen=True, slots=True)
class Computation:
    """The walk, its eigenvectors and the bound."""

    alpha: Alpha = 0.0
    bound: Annotated[
        Literal["eigenvalues", "tight"],
        cluster_option(help="How to prove the lower bound; tight: for up to 400 vertices."),
    ] = "eigenvalues"
    tolerance: Annotated[
        float, cluster_option(metavar="NUMBER", help="Largest residual of an eigenvector.")
    ] = 1e-8
    seed: Seed = 0
    precision: Annotated[
        Precision,
        cluster_option(help="Precision of weights and eigenvectors; float32 needs --engine cuda."),
    ] = "float64"

    def __post_init__(self) -> None:
        if not self.tolerance > 0:
            raise InputError(f"--tolerance must be a positive number, such as 1e-8; got {self.tolerance!r}")


# Output

Json = Annotated[bool, flag("--json", help="Print JSON.")]

# Dask

Work = Annotated[
    Path | None,
    dask_option(
        metavar="FOLDER",
        help="Folder for sorted data, checkpoints and labels, which all workers can access (default: "
        "$HYPERCLUS_WORK, or hyperclus-work).",
    ),
]
