"""Write the report of a partition as one HTML file that makes no network connections."""

import json
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

from hyperclus._runtime.files import StrPath, writing
from hyperclus._runtime.optional import library
from hyperclus.clustering.partition import Partition
from hyperclus.hypergraph.messages import count, with_article
from hyperclus.report import colours
from hyperclus.report import format as formats
from hyperclus.report.html import captions
from hyperclus.report.html.about import About
from hyperclus.report.html.charts import charts
from hyperclus.report.html.contents import DETAILED_CLUSTERS, TABLE_CLUSTERS, Contents, capitalized
from hyperclus.report.html.templating import asset, digest, environment

PACKAGE = "hyperclus.report.html"
OPEN_CLUSTERS = 12  # rows of the table of clusters that are visible at first
NOUNS = ("a_vertex", "vertices", "a_hyperedge", "hyperedges")
SCRIPTS = (  # joined in this order
    *("base", "choose", "names", "tables", "levels", "flow", "charts", "vertices", "downloads", "page"),
)
NAMED_COLUMNS = 60  # columns of the input table that are listed

_ESCAPED = {ord(sign): f"\\u{ord(sign):04x}" for sign in "&<>\u2028\u2029"}


def write(part: Partition, path: StrPath, **options: Any) -> None:
    """Write the report of a partition to a file, atomically; options are those of `Partition.to_html`."""
    check_libraries()
    page = render(Contents(part, **options))
    with writing(path) as file:
        file.write(page.encode())


def check_libraries() -> None:
    """Raise a `MissingLibraryError` if a library that the report needs is not installed."""
    _library("jinja2", "Jinja2")
    _library("vl_convert", "vl-convert-python")


def render(contents: Contents) -> str:
    """Return the page."""
    about = About(contents)
    style = colours.style() + asset(PACKAGE, "page.css")
    data = {
        **contents.level_data(),
        "nouns": {name: getattr(contents.nouns, name) for name in NOUNS},
        "nMarks": colours.DISTINCT,
        "nColours": len(colours.LIGHT),
        "openClusters": OPEN_CLUSTERS,
        "fileName": file_name(contents.source),
        "charts": charts(contents),
        "about": about.script_data(),
        "other": None if contents.other is None else contents.other.data(contents.levels),
    }
    start, scripts = asset(PACKAGE, "start.js"), [_vega(), _script()]  # last, because this takes much memory
    allowed, styled = " ".join(map(digest, [start, *scripts])), digest(style)
    rendered: str = _template().render(
        contents=contents,
        about=about,
        nouns=contents.nouns,
        part=contents.part,
        views=contents.views,
        n_clustered=len(contents.views.labels),
        data=as_json(data),
        style=style,
        start_script=start,
        scripts=scripts,
        # only these scripts and this style, no evaluation of text, and no connections
        policy=f"default-src 'none'; script-src {allowed}; style-src {styled}; "
        "base-uri 'none'; form-action 'none'",
        version=sys.modules["hyperclus"].__version__,  # imported already; a lower layer must not import it
    )
    return rendered


def file_name(source: str | None) -> str:
    """The first part of the names of files that the page writes.

    >>> file_name("../my data.csv"), file_name(None)
    ('my-data-groups', 'hyperclus-groups')
    """
    stem = re.sub(r"[^\w.-]+", "-", Path(source).stem if source else "hyperclus", flags=re.ASCII)
    return f"{stem.strip('-.')[:40] or 'hyperclus'}-groups"


def as_json(value: Any) -> str:
    r"""Encode JSON that can be put into a script element; NaN and infinity are errors.

    >>> print(as_json(["</script>", "\u2028"]))
    ["\u003c/script\u003e","\u2028"]
    """
    return json.dumps(value, separators=(",", ":"), allow_nan=False, ensure_ascii=False).translate(_ESCAPED)


def _library(module: str, name: str) -> Any:
    return library(module, name, "the report", "report")


@cache
def _template() -> Any:
    """Load the template of the page."""
    templates = environment(PACKAGE, "the report", "report")
    filters = ("duration", "four_digits", "number", "percent", "percent_cell", "short_id", "whole_percent")
    templates.filters |= {name: getattr(formats, name) for name in filters}
    templates.filters.update(
        counted=count,
        article=with_article,
        capitalized=capitalized,
        lift=lambda value: f"{value:,.{2 if value < 100 else 0}f}\u00d7",
        percentage=lambda value: f"{min(max(value, 0.0), 100.0):.3f}".rstrip("0").rstrip(".") + "%",
        nonbreaking=captions.nonbreaking,
    )
    templates.globals.update(captions=captions, DETAILED_CLUSTERS=DETAILED_CLUSTERS, NOISE=formats.NOISE)
    templates.globals.update(OPEN_CLUSTERS=OPEN_CLUSTERS, NAMED_COLUMNS=NAMED_COLUMNS)
    templates.globals.update(TABLE_CLUSTERS=TABLE_CLUSTERS, N_MARKS=colours.DISTINCT)
    templates.globals["svg"] = templates.get_template("svg.html.j2").module
    return templates.get_template("page.html.j2")


@cache
def _vega() -> str:
    """Bundle Vega, Vega-Lite and Vega-Embed from the installed library as one script."""
    script = _library("vl_convert", "vl-convert-python").javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return f"(() => {{{script}\n}})();".replace("</script", "<\\/script").replace("<!--", "<\\!--")


@cache
def _script() -> str:
    """Join the scripts of the page into one function."""
    return (
        '"use strict";\n(() => {\n'
        + "\n".join(asset(PACKAGE, f"js/{name}.js") for name in SCRIPTS)
        + "})();\n"
    )
