"""Report pages for tests: write one, parse it, and names that try to break it."""

import json
import re
from html.parser import HTMLParser

import hyperclus as hc
from hyperclus.report.html.page import write

HOSTILE = [
    "<script>window.hacked = 1</script>",
    '"><img src=x onerror="window.hacked=1">',
    '"onload=window.hacked=1 x="',
    "]]><!--<script>",
    "</script><script>window.hacked=1</script>",
    "</style><style>body{display:none}",
    "\u202eright to left\u202c \u2066isolate\u2069",
    "bell\x07 escape\x1b[31m null\x00 new\nline",
    "lone \ud800 surrogate",
    "x" * 10_000,
    "NaN",
    "__proto__",
    "constructor",
    "%s %d {0}",
    "datum.x + (window.hacked = 1)",
    "a.b[c]['d']",
    "https://example.org/a.png",
    "data:image/svg+xml,<svg onload=window.hacked=1>",
    "javascript:window.hacked=1",
    "&lt;b&gt; &amp; &#x3c;",
    "\u2028line\u2029paragraph",
    "שלום עולם",
]


def written(part, tmp_path, **options):
    """Write a report; return its path and text."""
    path = tmp_path / "out.html"
    write(part, path, **options)
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"\b(nan|inf|-inf)\b", visible(text))
    return path, text


class _Text(HTMLParser):
    """Tags and text outside scripts and styles."""

    def __init__(self):
        super().__init__()
        self.inside, self.text, self.tags = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.inside.append(tag)

    def handle_endtag(self, tag):
        while self.inside and self.inside.pop() != tag:
            pass

    def handle_data(self, data):
        if not {"script", "style"} & set(self.inside):
            self.text.append(data)


def parsed(text):
    """Parse a page."""
    parser = _Text()
    parser.feed(text)
    return parser


def visible(text):
    """Return the visible text of a page, with single spaces."""
    return " ".join(" ".join(parsed(text).text).split())


def page_data(text):
    """Return the JSON data of the page; NaN and Infinity, which Python accepts, are errors."""

    def refuse(constant):
        raise AssertionError(f"the data contain {constant}")

    return json.loads(re.search(r'id="data">(.*?)</script>', text)[1], parse_constant=refuse)


def hostile_partition():
    """Return two clusters whose vertices, hyperedges and classes have hostile names, and the classes."""
    names = HOSTILE
    half = len(names) // 2
    edges = {}
    for i, name in enumerate(names):
        side = range(half) if i < half else range(half, len(names))
        edges[name] = [names[j] for j in side if j % 3 != i % 3]
    edges[("tuple", HOSTILE[1])] = [names[half - 1], names[half]]
    part = hc.cluster(hc.Hypergraph.from_edges(edges), k=2)
    return part, {name: HOSTILE[i % 5] for i, name in enumerate(names)}
