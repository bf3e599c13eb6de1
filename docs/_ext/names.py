"""Names of the library in docstrings and pages become links to the reference."""

import re

from docutils import nodes
from sphinx import addnodes

import hyperclus

OBJECTS = {
    "hc": "hyperclus",
    "part": "hyperclus.Partition",
    "h": "hyperclus.Hypergraph",
}  # as pages call them
CALL = re.compile(r"(hc|part|h|hyperclus)\.([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)(?:\(.*\))?")
MARKUP = re.compile(r"\||(?<=[-/])\*")  # that docstrings do not mean: |S|, and part-*.parquet
PAGE = re.compile(r"\bdocs/((?:\w+/)*\w+)\.md\b")


def reference(text, target, env):
    """A reference that stays as it is if the library has no such name."""
    context = {key: env.ref_context.get(key) for key in ("py:module", "py:class")}
    return addnodes.pending_xref(
        "",
        nodes.literal(text, text, classes=["py"]),
        refdomain="py",
        reftype="obj",
        reftarget=target,
        refwarn=False,
        optional=True,
        **context,
    )


def name_role(role, rawtext, text, lineno, inliner, options=None, content=None):
    """What stands between single backticks in docstrings."""
    return [reference(text, text.removesuffix("()"), inliner.document.settings.env)], []


def link_calls(app, doctree):
    """Let `hc.cluster(h, k=2)` in a page lead to the function."""
    for literal in list(doctree.findall(nodes.literal)):
        found = CALL.fullmatch(literal.astext())
        if found and not isinstance(literal.parent, nodes.reference | addnodes.pending_xref | nodes.title):
            target = f"{OBJECTS.get(found[1], found[1])}.{found[2]}"
            literal.replace_self(reference(literal.astext(), target, app.env))


def resolve(app, env, node, content):
    """Find a name that is not complete, such as `Partition.to_html`; leave it alone if there is none."""
    if not node.get("optional"):
        return None
    domain, target = env.get_domain("py"), node["reftarget"]
    for name in completed(target, domain.objects):
        return domain.resolve_xref(env, node["refdoc"], app.builder, "obj", name, node, content)
    return content


def completed(target, objects):
    """The full names that a short one may stand for: a public name, or the only one that ends so."""
    first = target.split(".")[0]
    if f"hyperclus.{target}" in objects:
        yield f"hyperclus.{target}"
    elif first in hyperclus.__all__ or first[:1].isupper() or first == "hyperclus":
        ends = [name for name in objects if name.endswith(f".{target}")]
        if len(ends) == 1:
            yield ends[0]


def prepare(app, what, name, obj, options, lines):
    """Let docs/how_to/tree.md in a docstring lead to the page, and take |S| and part-*.csv as they are."""
    example = False
    for number, line in enumerate(lines):
        example = line.lstrip().startswith(">>>") or (example and bool(line.strip()))
        if not example:
            spans = re.split(r"(`+[^`]*`+)", PAGE.sub(r":doc:`/\1`", line))
            lines[number] = "".join(
                span if span[:1] == "`" else MARKUP.sub(r"\\\g<0>", span) for span in spans
            )


def skip(app, what, name, obj, skipped, options):
    """Leave out what scikit-learn adds to estimators for its own purposes."""
    return True if re.fullmatch(r"get_metadata_routing|set_output|set_\w+_request", name) else None


def setup(app):
    """Register the extension."""
    app.add_role("name", name_role)
    app.connect("doctree-read", link_calls)
    app.connect("missing-reference", resolve)
    app.connect("autodoc-process-docstring", prepare)
    app.connect("autodoc-skip-member", skip)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
