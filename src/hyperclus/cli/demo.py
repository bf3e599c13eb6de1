"""The command for a first look: handwritten digits, told apart by nothing but shared ink."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import hyperclus
from hyperclus._runtime.files import printable
from hyperclus._runtime.optional import library
from hyperclus.cli.app import Voice, app, examples, grouped
from hyperclus.cli.output import Outputs
from hyperclus.cli.progress import progress
from hyperclus.cli.text import Page, show_partition
from hyperclus.report.views import agreement_with_classes
from hyperclus.typing import Floats, Integers

SHADES = " .:-=+*#%@"
DIGITS = {2: "two", 4: "four"}


@app.command(epilog=examples("hyperclus demo", "hyperclus demo --report demo.html"))
@grouped
def demo(
    *,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE.html", help="Also write a report with pictures.")
    ] = None,
    voice: Voice,
) -> None:
    """Tell handwritten twos from fours without being told what a two is.

    A vertex is an image, a hyperedge is a pixel, and the weight of an image in
    a pixel is its ink. The images come with scikit-learn.
    """
    outputs = Outputs(report=report)
    outputs.check()
    images, digits = twos_and_fours()
    h = hyperclus.Hypergraph.from_incidence(
        images,
        edge_ids=[f"row {row}, column {column}" for row in range(8) for column in range(8)],
        empty_edges="drop",
    )
    with voice.listening(), progress(voice):
        part = hyperclus.cluster(h, k=2)
    classes = [DIGITS[digit] for digit in digits.tolist()]
    found = agreement_with_classes(part, classes)
    written = outputs.write(part, classes, "handwritten twos and fours, from scikit-learn", "hyperclus demo")
    page = Page.on_stdout()
    page.line(
        f"{h.n_vertices} images of handwritten digits, {h.n_edges} pixels, {h.n_incidences:,} dots of ink"
    )
    page.line("vertex = image, hyperedge = pixel, weight of an image in a pixel = its ink")
    page.line()
    show_partition(page, part, found, None)
    page.line()
    pictures = [drawn(images[part.labels == cluster].mean(axis=0)) for cluster in range(2)]
    page.line(f"  {'mean of cluster 0':<20}mean of cluster 1")
    for left, right in zip(*pictures, strict=True):
        page.line(f"  {left:<20}{right}".rstrip())
    page.line()
    seconds = sum(part.timings.values())
    page.line(
        f"{found.purity:.1%} of the images are with their own kind, found in {1000 * seconds:.0f} ms. "
        f"No way to cut this hypergraph in two has an NCut below {part.lower_bound:.4f}; this one has "
        f"{part.ncut:.4f}. That is proven, not estimated."
    )
    for path in written:
        voice.note(f"written to {printable(path)}")


def twos_and_fours() -> tuple[Floats, Integers]:
    """The images, one per row, and the digits that they show."""
    digits: Any = library("sklearn.datasets", "scikit-learn", "the demo", "demo").load_digits()
    chosen = np.isin(digits.target, list(DIGITS))
    return digits.data[chosen], digits.target[chosen]


def drawn(ink: Floats) -> list[str]:
    """An 8 x 8 image as eight lines of text."""
    levels = (ink.reshape(8, 8) / ink.max() * (len(SHADES) - 1)).round().astype(int)
    return ["".join(2 * SHADES[level] for level in row) for row in levels]
