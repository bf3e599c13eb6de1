"""The page with the form, and the page of a local cluster."""

from collections.abc import Sequence
from functools import cache
from itertools import islice
from typing import Any

from hyperclus.clustering.local_result import LocalCluster
from hyperclus.explore.form import Form
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.hypergraph.messages import count
from hyperclus.report import format as formats
from hyperclus.report.html.templating import asset, digest, environment

MAX_ROWS = 1000  # members or hyperedges that a page lists
TRANSFORMS = ("log1p", "sqrt", "clip:99%")


def shell(form: Form, name: str) -> str:
    """The page with the form for a file of this name."""
    values = {key: form.value(key) for key in ("weight_transform",)}
    transforms = [*dict.fromkeys([*TRANSFORMS, *filter(None, values.values())])]
    rendered: str = (
        _environment()
        .get_template("shell.html.j2")
        .render(form=form, name=name, transforms=transforms, excluded={*form.values.get("exclude", ())})
    )
    return rendered


def local_page(
    found: LocalCluster, h: Hypergraph, classes: Sequence[Any] | None, source: str, command: str
) -> str:
    """The page of a local cluster, in one file that makes no network connections, as the report is."""
    style = asset("hyperclus.report.html", "page.css")
    members = zip(found.members.tolist(), found.scores, found.staying, strict=True)
    edges = zip(found.edge_ids.tolist(), found.edge_shares, found.edge_parts, strict=True)
    rendered: str = (
        _environment()
        .get_template("local.html.j2")
        .render(
            found=found,
            h=h,
            nouns=h.nouns,
            source=source,
            command=command,
            classes=classes,
            members=list(islice(members, MAX_ROWS)),
            edges=list(islice(edges, MAX_ROWS)),
            style=style,
            policy=f"default-src 'none'; style-src {digest(style)}; base-uri 'none'; form-action 'none'",
        )
    )
    return rendered


@cache
def _environment() -> Any:
    """Load the templates of the explorer."""
    found = environment("hyperclus.explore", "hyperclus explore", "explore")
    filters = ("four_digits", "number", "percent", "short_id")
    found.filters |= {name: getattr(formats, name) for name in filters}
    found.filters["counted"] = count
    return found
