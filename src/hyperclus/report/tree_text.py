"""A tree of clusters as text, with lines between the nodes."""

from hyperclus.clustering.tree import Tree
from hyperclus.hypergraph.messages import count
from hyperclus.report.format import short_id
from hyperclus.report.notebook import html_block

MAX_LEAVES, NOTEBOOK_LEAVES = 40, 10  # that are drawn in text, and in a notebook cell
NAME_LENGTH = 24
LOST = {"information": "lost is in nats of information", "ncut": "lost is the decrease of k - NCut"}
FIRST, LAST, DOWN, FORK = "\u251c\u2500", "\u2514\u2500", "\u2502 ", "\u252c"


def tree_text(tree: Tree, max_leaves: int = MAX_LEAVES) -> str:
    """Draw a tree; with more leaves than `max_leaves`, the ends that are drawn stand for several.

    >>> from hyperclus import Hypergraph, evaluate
    >>> h = Hypergraph.from_edges([["a", "b"], ["a", "b", "c"], ["c", "d"], ["d", "e", "f"], ["e", "f"]])
    >>> print(tree_text(evaluate(h, ["A", "A", "B", "B", "C", "C"]).tree("ncut")))
    Tree of 6 vertices, 3 leaves; lost is the decrease of k - NCut
                  lost       size  volume
      ┬         1.3333          6  1.0000
      ├─┬       0.5833          4  0.6667
      │ ├─ A                    2  0.3333
      │ └─ B                    2  0.3333
      └─ C                      2  0.3333
    """
    leaves, k = tree.leaves, tree.k
    ends, rows, stack = {*tree.nodes(min(k, max_leaves)).tolist()}, [], [(2 * k - 2, "", "")]
    sizes, volumes, heights, counts = tree.sizes, tree.volumes, tree.heights, tree.leaf_counts
    while stack:
        node, before, sign = stack.pop()
        lost = f"{heights[node - k]:.4f}" if node >= k else ""
        name = _name(tree, node, int(counts[node])) if node in ends else FORK
        rows.append((before + sign + name, lost, f"{sizes[node]:,}", f"{volumes[node]:.4f}"))
        if node not in ends:
            before += {"": "", FIRST: DOWN, LAST: "  "}[sign]
            left, right = tree.mergers[node - k].tolist()
            stack += [(right, before, LAST), (left, before, FIRST)]
    width = max(len(row[0]) for row in rows)
    lines = [
        f"{text:<{width}}  {lost:>8}  {size:>9}  {volume:>6}"
        for text, lost, size, volume in (("", "lost", "size", "volume"), *rows)
    ]
    vertices = leaves.nouns.count_vertices(int(leaves.sizes.sum()))
    title = f"Tree of {vertices}, {count(k, 'leaf', 'leaves')}; {LOST[tree.objective]}"
    return "\n  ".join([title, *lines])


def tree_html(tree: Tree) -> str:
    """Draw a tree for a notebook cell."""
    title, _, drawing = tree_text(tree, NOTEBOOK_LEAVES).partition("\n")
    return html_block(title, drawing)


def _name(tree: Tree, node: int, leaves: int) -> str:
    if node >= tree.k:
        return f" {leaves} leaves"
    name = tree.leaves.cluster_names[node]
    return " " + short_id(name if tree.leaves.names is not None else f"cluster {name}", NAME_LENGTH)
