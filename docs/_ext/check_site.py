"""Check the built site: every link inside it leads somewhere, and nothing is loaded from another host.

`python docs/_ext/check_site.py docs/_build/html` prints what is wrong, and how much was checked.
"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADS = {
    ("script", "src"),
    ("img", "src"),
    ("link", "href"),
    ("iframe", "src"),
    ("source", "srcset"),
    ("source", "src"),
}
STYLE = re.compile(r"""(?:url\(|@import)\s*["']?((?:https?:)?//[^"')\s]+)""")


class Page(HTMLParser):
    """The anchors of a page, its links, and what it loads."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.loads = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        """Note what a tag says."""
        given = dict(attributes)
        self.anchors.update(
            value for name, value in attributes if name == "id" or (tag, name) == ("a", "name")
        )
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        for name, value in attributes:
            if (tag, name) in LOADS and value and given.get("rel") not in ("canonical", "next", "prev"):
                self.loads.append(value)


def faults(root, pages):
    """What is wrong, as text."""
    for path, page in pages.items():
        shown = path.relative_to(root)
        yield from (f"{shown}: loads {url}" for url in page.loads if urlsplit(url).netloc)
        for link in [*page.links, *page.loads]:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            anchor = unquote(parts.fragment)
            if not target.exists():
                yield f"{shown}: no page {link}"
            elif target in pages and anchor and anchor not in pages[target].anchors:
                yield f"{shown}: no anchor {link}"
    for path in root.rglob("*.css"):
        yield from (f"{path.relative_to(root)}: loads {url}" for url in STYLE.findall(path.read_text()))


def main(folder):
    """Print the faults and the counts; 1 if there are faults."""
    root = Path(folder).resolve()
    pages = {
        path: Page(path.read_text())
        for path in root.rglob("*.html")
        if path.relative_to(root).parts[0] != "_static"  # templates of the theme
    }
    found = sorted(set(faults(root, pages)))
    links = sum(len(page.links) for page in pages.values())
    print(*found, f"{len(pages)} pages, {links} links, {len(found)} faults", sep="\n")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
