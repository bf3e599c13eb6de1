"""The page with the form, and the page of a local cluster."""

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from importlib import resources
from itertools import islice
from typing import Any

from hyperclus._runtime.optional import library
from hyperclus.clustering.local_result import LocalCluster
from hyperclus.explore.form import Form
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.hypergraph.messages import count
from hyperclus.report import format as formats

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
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
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
            policy=f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'",
        )
    )
    return rendered


@cache
def asset(package: str, file: str) -> str:
    """The text of a file of a package."""
    return (resources.files(package) / file).read_text(encoding="utf-8").replace("\r\n", "\n")


@cache
def _environment() -> Any:
    """Templates that escape all text that is not marked as trusted, as those of the report do."""
    jinja2 = library("jinja2", "Jinja2", "hyperclus explore", "explore")
    trusted = library("markupsafe", "MarkupSafe", "hyperclus explore", "explore").Markup
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("hyperclus.explore"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters = ("four_digits", "number", "percent", "safe_lines", "short_id")
    environment.filters |= {name: getattr(formats, name) for name in filters}
    environment.filters |= {"counted": count, "trusted": trusted}
    return environment
