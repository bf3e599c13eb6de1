"""A tree of clusters as text, with lines between the nodes."""

from hyperclus.clustering.tree import Tree
from hyperclus.hypergraph.messages import count
from hyperclus.report.format import short_id

MAX_LEAVES = 40  # that are drawn; below larger trees, nodes stand for several leaves
NAME_LENGTH = 24
LOST = {"information": "nats of information lost", "ncut": "share of steps that stay, lost"}


def tree_text(tree: Tree) -> str:
    """Draw a tree.

    >>> from hyperclus import Hypergraph, evaluate
    >>> h = Hypergraph.from_edges([["a", "b"], ["c", "d"], ["b", "c"], ["d", "e"]])
    >>> print(tree_text(evaluate(h, ["left", "left", "right", "right", "end"]).tree()))
    """
    leaves, k = tree.leaves, tree.k
    shown = min(k, MAX_LEAVES)
    counts, sizes, volumes, heights = tree._totals(leaves.sizes * 0 + 1), tree.sizes, tree.volumes, tree.heights
    ends = set(tree.nodes(shown).tolist())
    rows: list[tuple[str, int]] = []
    stack = [(2 * k - 2, "", "")]
    while stack:
        node, before, sign = stack.pop()
        if node in ends:
            rows.append((f"{before}{sign}{_name(tree, node, int(counts[node]))}", node))
            continue
        rows.append((f"{before}{sign}\u252c" if sign else "\u252c", node))
        inner = before + {"": "", "\u251c\u2500": "\u2502 ", "\u2514\u2500": "  "}[sign]
        left, right = tree.mergers[node - k].tolist()
        stack += [(right, inner, "\u2514\u2500"), (left, inner, "\u251c\u2500")]
    width = max(len(text) for text, _ in rows)
    figures = [
        f"{text:<{width}}  {_height(heights, node - k):>9}  {sizes[node]:>9,}  {volumes[node]:>6.4f}"
        for text, node in rows
    ]
    vertices = leaves.nouns.count_vertices(int(leaves.sizes.sum()))
    title = f"Tree of {vertices}, {count(k, 'leaf', 'leaves')}; lost: {LOST[tree.objective]}"
    head = f"{'':<{width}}  {'lost':>9}  {'size':>9}  volume"
    return "\n  ".join([title, head, *figures])


def _name(tree: Tree, node: int, leaves: int) -> str:
    if node >= tree.k:
        return f" {leaves} leaves"
    name = tree.leaves.cluster_names[node]
    return " " + short_id(name if tree.leaves.names is not None else f"cluster {name}", NAME_LENGTH)


def _height(heights: "object", merger: int) -> str:
    return "" if merger < 0 else f"{heights[merger]:.4f}"  # type: ignore[index]
