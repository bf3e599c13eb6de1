"""Templates, scripts and styles of pages, as files of a package."""

import base64
import hashlib
from functools import cache
from importlib import resources
from typing import Any

from hyperclus._runtime.optional import library
from hyperclus.report import format as formats


def environment(package: str, purpose: str, extra: str) -> Any:
    """Load the templates of a package; they escape all text that is not marked as trusted.

    `purpose` and `extra` are for the message if a library is missing.
    """
    jinja2 = library("jinja2", "Jinja2", purpose, extra)
    trusted = library("markupsafe", "MarkupSafe", purpose, extra).Markup
    found = jinja2.Environment(
        loader=jinja2.PackageLoader(package),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: value if isinstance(value, trusted) else formats.safe_lines(value),
    )
    found.filters["trusted"] = trusted
    return found


@cache
def asset(package: str, file: str) -> str:
    """Read the text of a file of a package."""
    return (resources.files(package) / file).read_text(encoding="utf-8").replace("\r\n", "\n")


def digest(text: str) -> str:
    """Return the hash by which a content security policy allows a script or style."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
