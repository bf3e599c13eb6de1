"""Groups of options: a dataclass has a field for each option, and `app.grouped` hands it to a command."""

import math
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from hyperclus.clustering._run import check_min_share
from hyperclus.clustering.n_clusters import MAX_K
from hyperclus.engines import Precision
from hyperclus.errors import InputError
from hyperclus.hypergraph.messages import shown

MAX_DIGITS = 9  # of a number of clusters or bins
GPU = "auto: on an NVIDIA GPU if there is one and the data are large"


def argument(text: str, metavar: str) -> Any:
    """A field that is an argument of the command."""
    return field(metadata={"typer": typer.Argument(help=text, metavar=metavar, show_default=False)})


def option(
    text: str,
    metavar: str | None = None,
    *names: str,
    default: Any = None,
    least: float | None = None,
    **settings: Any,
) -> Any:
    """A field that is an option of the command, with the name of the field unless others are given.

    `least` is the smallest number that is allowed.
    """
    info = typer.Option(*names, help=text, metavar=metavar, **settings)
    return field(default=default, metadata={"typer": info, "names": names, "least": least})


def switch(name: str, text: str, **settings: Any) -> Any:
    """A field that is an option without a value."""
    return option(text, "", name, default=False, **settings)


input_option = partial(option, rich_help_panel="Input")
cluster_option = partial(option, rich_help_panel="Clustering")
alpha_option = partial(
    cluster_option,
    "How much the weights of a vertex count when the walk chooses its next hyperedge; 0 is the walk of the "
    "paper.",
    "NUMBER",
    default=0.0,
    least=0,
)
dask_option = partial(option, rich_help_panel="With --engine dask")
output_option = partial(option, rich_help_panel="Output")
output_switch = partial(switch, rich_help_panel="Output")

Json = Annotated[bool, typer.Option("--json", metavar="", help="Print JSON.")]


@dataclass(frozen=True, slots=True)
class Walk:
    """The random walk, the random seed and the checkpoints."""

    alpha: float = alpha_option()
    seed: int = cluster_option("Random seed.", "NUMBER", default=0, least=0)
    checkpoint: str | None = cluster_option(  # Path("") would be the current folder
        "Keep checkpoints in this folder: if interrupted, the same command resumes the run.", "FOLDER"
    )


@dataclass(frozen=True, slots=True)
class Computation(Walk):
    """The walk, its eigenvectors and the bound."""

    bound: Literal["eigenvalues", "tight", "optimal"] = cluster_option(
        "How to prove the lower bound; tight: for up to 200,000 vertices; optimal: by cases, too, up to 400.",
        default="eigenvalues",
    )
    bound_seconds: float | None = cluster_option(
        "Time after which the search for a tight bound ends.", "NUMBER"
    )
    tolerance: float = cluster_option("Largest residual of an eigenvector.", "NUMBER", default=1e-8)
    precision: Precision = cluster_option(
        "Precision of weights and eigenvectors; float32 needs --engine cuda.", default="float64"
    )
    chance: bool = cluster_option(
        "Compare the clusters with those of shuffled data.", "", "--chance/--no-chance", default=True
    )

    def __post_init__(self) -> None:
        if not 0 < self.tolerance < math.inf:
            raise InputError(f"--tolerance must be a positive number, such as 1e-8; got {self.tolerance!r}")

    def settings(self) -> dict[str, Any]:
        """The arguments that `cluster`, `hyperclus_g` and `evaluate` share."""
        return {name: value for name, value in asdict(self).items() if name != "checkpoint"}


@dataclass(frozen=True, slots=True)
class Search:
    """How many clusters to look for, and how."""

    k: str | None = cluster_option(
        "Number of clusters, or auto for the suggested number.", "NUMBER", "-k", "--clusters"
    )
    max_k: int | None = cluster_option(
        f"Largest number to consider for -k auto (default: {MAX_K}).", "NUMBER", least=2
    )
    method: Literal["auto", "hyperclus-g"] = cluster_option(
        "auto: search from many starts; hyperclus-g: the algorithm of the paper.", default="auto"
    )
    objective: Literal["ncut", "information"] | None = cluster_option(
        "What to improve: information (default), which agrees best with known classes; or ncut, whose proven "
        "bound is closer (default for --bound tight)."
    )
    effort: Literal["fast", "default", "thorough"] | None = cluster_option("How long to search.")
    min_share: float | None = cluster_option(
        "Minimum share of the volume for each cluster, from 0 to 1/k (default: 0.01 for two clusters, "
        "otherwise 0).",
        "NUMBER",
    )
    max_share: float | None = cluster_option("Maximum share of the volume for each cluster.", "NUMBER")
    fixed: Path | None = cluster_option(
        "Table with two columns: vertices and the clusters that they stay in; rows without a cluster are "
        "left out.",
        "FILE",
    )
    links: Path | None = cluster_option(
        "Table with three columns: two vertices, and must (be in one cluster) or cannot.", "FILE"
    )
    attributes: Path | None = cluster_option(
        "Attributes of the vertices: a table with a column of vertices and columns of numbers, categories or "
        "text, or a matrix (npz, npy) with a row per vertex.",
        "FILE",
    )
    beta: str | None = cluster_option(
        "Share of the steps that go to vertices with similar attributes, from 0 to 1 (default: auto).",
        "NUMBER|auto",
    )

    def __post_init__(self) -> None:
        given: dict[str, Any] = {
            "--objective": self.objective,
            "--effort": self.effort,
            "--min-share": self.min_share,
        }
        given |= {"--max-share": self.max_share, "--fixed": self.fixed, "--links": self.links}
        given |= {"--attributes": self.attributes}
        if self.beta is not None and self.attributes is None:
            raise InputError("--beta is for --attributes; leave it out, or give attributes")
        for option, value in given.items():
            if self.method == "hyperclus-g" and value is not None:
                reason = "does not apply to --method hyperclus-g, which does not search; leave it out"
                raise InputError(f"{option} {reason}")

    def count(self) -> int | None:
        """The number of clusters; None for auto."""
        if self.k is None:
            raise InputError("the number of clusters is missing; use -k 3, or -k auto for the suggested one")
        if self.k == "auto":
            return None
        if not self.k.isdecimal() or len(self.k) > MAX_DIGITS or int(self.k) < 1:
            raise InputError(f"-k must be a whole number from 1, or auto; got {shown(self.k)}")
        if self.max_k is not None:
            raise InputError("--max-k is for -k auto; leave it out if the number is given")
        check_min_share(self.min_share, int(self.k))
        return int(self.k)
