"""The page: what it is made of, and a policy that leaves no way out to a network."""

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from typing import Any

from hyperclus._runtime.files import StrPath, writing
from hyperclus._runtime.optional import library
from hyperclus.clustering.partition import Partition
from hyperclus.report.format import short_id
from hyperclus.report.html.charts import charts
from hyperclus.report.html.contents import Contents
from hyperclus.report.html.markup import Html, element, joined
from hyperclus.report.html.sections import sections, toolbar
from hyperclus.report.html.tables import FIRST, OPEN
from hyperclus.report.html.vertices import vertices

_ESCAPED = {ord(sign): f"\\u{ord(sign):04x}" for sign in "&<>\u2028\u2029"}  # in JSON inside HTML


def write(
    part: Partition,
    path: StrPath,
    *,
    title: str | None = None,
    source: str | None = None,
    classes: Mapping[Any, Any] | Iterable[Any] | None = None,
    command: str | None = None,
    remarks: Iterable[str] | None = None,
) -> None:
    """Write the report of a partition as one HTML file, whole or not at all.

    Parameters
    ----------
    title : str, optional
        The heading.
    source : str, optional
        What was clustered, such as the name of a file.
    classes : one per vertex, optional
        Known classes to compare with, in the order of the vertices or by vertex id.
    command : str, optional
        The command that makes the report again; without it the page has the lines of Python.
    remarks : list of str, optional
        Sentences that a reader should see beside the answer, such as why there are so many clusters.

    Raises
    ------
    InputError, MissingLibraryError
    """
    library_script = _vega()
    text = render(Contents.of(part, title, source, classes, command, remarks), library_script)
    with writing(path) as file:
        file.write(text.encode())


def render(contents: Contents, library_script: str) -> str:
    """The page as text."""
    start, scripts, style = _own("start.js"), [library_script, _own("page.js")], _own("page.css")
    block: dict[str, Any] = {"k": contents.part.k, "first": FIRST, "open": OPEN}
    block |= {"charts": charts(contents), "vertices": vertices(contents)}
    body = joined(
        element("a", "To the clusters", href="#clusters", class_="skip"),
        toolbar(contents),
        element("main", *sections(contents), id="main"),
        element("div", role="tooltip", id="tip", hidden=True),
        element("p", id="said", class_="unseen", aria_live="polite"),
        element("script", Html(as_json(block)), type="application/json", id="data"),
        *(element("script", Html(script)) for script in scripts),
    )
    head = joined(
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_policy(style, [start, *scripts])),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", short_id(contents.title, 120)),
        element("style", Html(style)),
        element("script", Html(start)),
    )
    return f"<!DOCTYPE html>\n{element('html', element('head', head), element('body', body), lang='en')}\n"


def as_json(value: Any) -> str:
    r"""JSON that may stand inside a script element; NaN and infinity are an error.

    >>> print(as_json(["</script>", "\u2028"]))
    ["\u003c/script\u003e","\u2028"]
    """
    text = json.dumps(value, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
    return text.translate(_ESCAPED)


@cache
def _vega() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script: from the installed library, once per process."""
    convert = library("vl_convert", "vl-convert-python", "the report", "report")
    script = convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return f"(() => {{{script}\n}})();".replace("</script", "<\\/script").replace("<!--", "<\\!--")


@cache
def _own(file: str) -> str:
    return (resources.files("hyperclus.report.html") / file).read_text(encoding="utf-8").replace("\r\n", "\n")


def _policy(style: str, scripts: list[str]) -> str:
    """Only these scripts and this style, no code from text, and nothing from anywhere."""
    allowed = " ".join(map(_digest, scripts))
    return (
        f"default-src 'none'; script-src {allowed}; style-src {_digest(style)}; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
