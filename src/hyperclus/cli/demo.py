"""The command `demo`, for a first look: handwritten digits, clustered by the pixels they share."""

import os
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import hyperclus
from hyperclus._runtime.files import fault, writing
from hyperclus._runtime.optional import library
from hyperclus.cli.app import Messages, command
from hyperclus.cli.output import Outputs
from hyperclus.cli.progress import progress
from hyperclus.cli.terminal import show, show_partition
from hyperclus.report.format import duration
from hyperclus.typing import Floats

SHADES = " .:-=+*#%@"
DIGITS = {2: "two", 4: "four"}
REPORT = typer.Option(metavar="FILE.html", help="Also write a report with figures.")
FILES = typer.Option(
    metavar="FOLDER", help="Only write example files, animals.csv and papers.csv, to a folder."
)
EXAMPLES = ("animals.csv", "papers.csv")


@command("hyperclus demo", "hyperclus demo --report demo.html", "hyperclus demo --files examples")
def demo(
    *,
    report: Annotated[Path | None, REPORT] = None,
    files: Annotated[Path | None, FILES] = None,
    messages: Messages,
) -> None:
    """Separate images of handwritten twos and fours, without any labels.

    A vertex is an image, a hyperedge is a pixel, and the weight of an image in
    a pixel is its ink. The images come with scikit-learn. With --files, write
    two small tables to try the other commands on: animals and their features (a
    row per vertex), and authors of papers (a row per incidence).
    """
    if files is not None:
        messages.finished({}, _write_examples(files))
        return
    outputs = Outputs(report=report)
    outputs.check()
    digits: Any = library("sklearn.datasets", "scikit-learn", "the demo", "demo").load_digits()
    chosen = np.isin(digits.target, list(DIGITS))
    images, classes = digits.data[chosen], [DIGITS[digit] for digit in digits.target[chosen].tolist()]
    h = hyperclus.Hypergraph.from_incidence(
        images,
        edge_ids=[f"row {row}, column {column}" for row in range(8) for column in range(8)],
        empty_edges="drop",
    ).with_nouns(vertex="image", edge="pixel")
    with messages.from_library(), progress(messages):
        part = hyperclus.cluster(h, k=2)
    agreement = part.agreement(classes)
    source = "handwritten twos and fours, from scikit-learn"
    written = outputs.write(part, source=source, classes=classes, command="hyperclus demo")
    show(
        f"{h.n_vertices} images of handwritten digits, {h.n_edges} pixels, {h.n_incidences:,} inked pixels",
        "vertex = image, hyperedge = pixel, weight of an image in a pixel = its ink",
        "",
    )
    show_partition(part, agreement, None)
    pictures = [as_lines(images[part.labels == cluster].mean(axis=0)) for cluster in range(2)]
    show("", f"  {'mean of cluster 0':<20}mean of cluster 1")
    show(*(f"  {left:<20}{right}" for left, right in zip(*pictures, strict=True)), "")
    show(
        f"{agreement.purity:.1%} of the images are in the cluster of their digit, found in "
        f"{duration(sum(part.timings.values()))}. No partition of this hypergraph into two clusters has an "
        f"NCut below {part.lower_bound:.4f}; this one has {part.ncut:.4f}. That is proven, not estimated."
    )
    messages.finished({}, written)


def _write_examples(folder: Path) -> list[Path]:
    """Write the example files, but over no other file."""
    targets = [folder / name for name in EXAMPLES]
    for target in targets:
        if os.path.lexists(target):
            raise fault(target, "this file exists already; choose another folder")
    for target in targets:
        content = resources.files("hyperclus.cli").joinpath("examples", target.name).read_bytes()
        with writing(target) as file:
            file.write(content)
    return targets


def as_lines(ink: Floats) -> list[str]:
    """An 8 x 8 image as eight lines of text."""
    levels = (ink.reshape(8, 8) / ink.max() * (len(SHADES) - 1)).round().astype(int)
    return ["".join(2 * SHADES[level] for level in row) for row in levels]
