"""Pages whose text is a file of the repository outside docs, and links to such files."""

import os
import re
from pathlib import Path, PurePath

PAGES = {
    "CHANGELOG.md": "docs/reference/changelog.md",
    "README.md": "docs/index.md",
    "benchmarks/REAL.md": "docs/research/real_data.md",
    "benchmarks/RESULTS.md": "docs/research/results.md",
}
FILES = {page: file for file, page in PAGES.items() if page != "docs/index.md"}  # which has its own text
LINK = re.compile(r"(?<=\]\()(?![a-z]+:)[^)#\s]+(?=(?:#[^)\s]*)?\))")


def with_links(text: str, file: str, page: str) -> str:
    """The text of a file for a page elsewhere: links to files that are pages lead to the pages.

    >>> with_links("[figures](../../benchmarks/REAL.md#cost)", "docs/how_to/tree.md", "docs/how_to/tree.md")
    '[figures](../research/real_data.md#cost)'
    """

    def link(found: re.Match[str]) -> str:
        target = os.path.normpath(PurePath(file).parent / found[0])
        return os.path.relpath(PAGES.get(target, target), PurePath(page).parent)

    return LINK.sub(link, text)


def read(app, docname, source):
    """Add the file to a page that stands for it, and let its links lead to pages."""
    page = os.path.relpath(app.env.doc2path(docname), Path(app.srcdir).parent)
    file = FILES.get(page, page)
    if file != page:
        path = Path(app.srcdir).parent / file
        app.env.note_dependency(str(path), docname=docname)
        source[0] += path.read_text()
    if page.endswith(".md"):
        source[0] = with_links(source[0], file, page)


def setup(app):
    """Register the extension."""
    app.connect("source-read", read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
