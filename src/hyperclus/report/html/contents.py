"""The contents of one page: the partition, its views, and what was said about the data."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Unpack

import numpy as np

from hyperclus.clustering.comparison import Comparison, compare, crosstab
from hyperclus.clustering.metrics import Agreement, agreement
from hyperclus.clustering.partition import Partition
from hyperclus.errors import InputError
from hyperclus.hypergraph.ids import vertex_codes
from hyperclus.hypergraph.messages import USUAL, Nouns, count
from hyperclus.hypergraph.summary import summary
from hyperclus.report.format import NOISE, four_digits, number, percent, short_id
from hyperclus.report.html.levels import Level, Levels, check_levels, levels_of
from hyperclus.report.text import information_limit, notes_of
from hyperclus.typing import Codes, Ids, Integers, PageNotes

TABLE_CLUSTERS = 200  # groups in the table, the largest
DETAILED_CLUSTERS = 40  # groups with lists of hyperedges and vertices, the largest
NOUN_LENGTH = 32
CONFUSION_SIZE = 40  # rows and columns of the table of classes and groups

_DEFAULTS = (("objective", "information"), ("engine", "cpu"), ("precision", "float64"))
_NOT_FOR_BASELINES = ("alpha", "bound", "tolerance")


@dataclass(frozen=True, slots=True, eq=False)
class Classes:
    """Known classes of the vertices: a code for each, and the names."""

    codes: Codes
    names: Ids


@dataclass(frozen=True, slots=True, eq=False)
class Other:
    """Another partition of the same vertices."""

    title: str
    comparison: Comparison  # this partition is a, the other one b

    @classmethod
    def of(cls, part: Partition, other: Any) -> "Other":
        """Compare with a partition, or with labels."""
        return cls("the other partition", compare(part, other))

    def data(self, levels: Levels) -> dict[str, Any]:
        """Sizes of the other clusters, and how many vertices of each leaf are in them, for the script."""
        found, leaves = self.comparison, levels.tree.leaves
        at = {vertex: position for position, vertex in enumerate(found.vertex_ids.tolist())}
        inside = leaves.labels >= 0
        others = found.b[[at[vertex] for vertex in leaves.vertex_ids[inside].tolist()]]
        leaf, known = leaves.labels[inside], others >= 0
        counts = crosstab(leaf[known], others[known], (leaves.k, len(found.b_names)))
        names = [short_id(name, NOUN_LENGTH) for name in found.b_names]
        sizes = counts.sum(axis=0).tolist()
        return {"title": self.title, "names": names, "sizes": sizes, "counts": counts.tolist()}


class Contents:
    """What the templates and charts of a page use; the arguments are those of `Partition.to_html`."""

    def __init__(
        self,
        part: Partition,
        *,
        title: str | None = None,
        source: str | None = None,
        classes: Mapping[Any, Any] | Iterable[Any] | None = None,
        names: Mapping[int, Any] | Iterable[Any] | None = None,
        levels: int | None = None,
        other: Any = None,
        **notes: Unpack[PageNotes],
    ) -> None:
        check_levels(levels)
        self.part, self.source = part if names is None else part.with_names(names), source
        self.levels = levels_of(self.part, levels)
        self.main = self.levels.levels[self.levels.main]
        self.views = self.main.views
        words = [part.nouns.vertex, part.nouns.edge]
        if self.views.table_columns is not None:  # readers know rows and values, not vertices and hyperedges
            usual = {USUAL.vertex: "row", USUAL.edge: "value"}
            words = [usual.get(word, word) for word in words]
        self.nouns = Nouns(*(short_id(noun, NOUN_LENGTH) for noun in words))
        subject = "a hypergraph" if source is None else short_id(source)
        self.given_title = title
        self.title = f"{count(part.k, 'group')} in {subject}" if title is None else title
        self.created = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
        self.recipe, self.remarks = _notes(self.part, **notes)
        self.classes: Classes | None = None
        self._agreements: dict[int, Agreement] = {}
        if classes is not None:
            self.classes = Classes(*vertex_codes(classes, part.vertex_ids, "class"))
        self.other = None if other is None else Other.of(self.part, other)
        of_vertex = part.walk.distribution.components.of_vertex
        self.data = summary(part.walk.hypergraph, of_vertex if isinstance(of_vertex, np.ndarray) else None)

    @property
    def data_facts(self) -> Iterator[tuple[str, str]]:
        """Names and values that describe the data."""
        if self.source is not None:
            yield "Source", self.source
        data = self.data
        yield capitalized(self.nouns.vertices), f"{data.n_vertices:,}"
        yield capitalized(self.nouns.hyperedges), f"{data.n_edges:,}"
        yield "Incidences", f"{data.n_incidences:,}"
        yield "Connected components", f"{data.n_components:,}"
        if data.n_components > 1:
            yield "Largest component", self.nouns.count_vertices(data.largest_component)
        isolated = len(self.part.labels) - len(self.views.labels)
        if isolated:
            yield f"In no {self.nouns.a_hyperedge} and no cluster", self.nouns.count_vertices(isolated)

    @property
    def settings(self) -> Iterator[tuple[str, str]]:
        """Names and values of the settings and methods."""
        for name, value in self.part.settings.items():
            if name not in ("fallbacks", "suggestion"):  # which are among the remarks
                yield name.replace("_", " "), number(value) if isinstance(value, float) else short_id(value)
        yield "eigenvectors by", self.part.eigenpairs.method
        yield "stationary distribution by", self.part.walk.distribution.method

    @property
    def stages(self) -> list[tuple[str, float, float, float]]:
        """Name, seconds, share and start (as a share) of each stage, the longest first."""
        stages = sorted(self.part.timings.items(), key=lambda stage: -stage[1])
        total, start, found = max(sum(self.part.timings.values()), NOISE), 0.0, []
        for name, spent in stages:
            found.append((name, spent, spent / total, start))
            start += spent / total
        return found

    @property
    def quality(self) -> Iterator[tuple[str, str]]:
        """Names and values of the figures of the partition."""
        part = self.part
        yield "NCut", four_digits(part.ncut)
        if part.lower_bound > NOISE:
            yield "Lower bound of the NCut", f"{four_digits(part.lower_bound)} (gap {percent(part.gap)})"
        yield "Information", f"{four_digits(part.information)} nats"
        if part.k > 1 and (limit := information_limit(part)):
            yield "Proven of the information", limit
        yield "Conductance", four_digits(part.conductance)
        if part.chance is not None:
            yield "Compared with chance", str(part.chance)

    def agreement(self, level: Level) -> Agreement:
        """The agreement of the groups of a level with the known classes."""
        if level.k not in self._agreements:
            assert self.classes is not None
            inside = level.part.labels >= 0
            classes = self.classes.names[self.classes.codes[inside]]
            self._agreements[level.k] = agreement(classes, level.part.labels[inside])
        return self._agreements[level.k]

    def confusion(self, level: Level) -> dict[str, list[Any]]:
        """Numbers of vertices by class and group, the largest ones; a row is (class, size, F1, numbers).

        Classes are sorted by the group with most of their vertices.
        """
        found = self.agreement(level)
        columns = np.argsort(found.clusters)[:CONFUSION_SIZE]
        sizes, counts = found.counts.sum(axis=1), found.counts[:, columns]
        largest = np.argsort(-sizes, kind="stable")[:CONFUSION_SIZE]
        order = largest[np.lexsort((-counts[largest].max(axis=1), counts[largest].argmax(axis=1)))].tolist()
        rows = [
            (found.classes[i], int(sizes[i]), float(found.f1_by_class[i]), counts[i].tolist()) for i in order
        ]
        return {"groups": [level.groups[int(label)] for label in found.clusters[columns]], "rows": rows}

    def level_data(self) -> dict[str, Any]:
        """The levels and the leaves of the tree, for the script of the page."""
        levels, leaves = self.levels, self.levels.tree.leaves
        found = [
            {
                "k": level.k,
                "ids": level.ids.tolist(),
                "nodes": level.nodes.tolist(),
                "names": list(level.names),
                "sizes": level.part.sizes.tolist(),
                "ofLeaf": level.of_leaf.tolist(),
            }
            for level in levels.levels
        ]
        order, sizes = levels.leaf_order.tolist(), leaves.sizes.tolist()
        return {"levels": found, "main": levels.main, "leafOrder": order, "leafSizes": sizes}

    def class_data(self, vertices: Integers) -> dict[str, Any]:
        """The names of the classes and the class of each vertex; empty without classes."""
        if self.classes is None:
            return {}
        names = [short_id(value) for value in self.classes.names.tolist()]
        return {"classes": names, "classOf": self.classes.codes[vertices].tolist()}


def _notes(
    part: Partition, command: str | None = None, remarks: Iterable[str] | None = None
) -> tuple[str | None, list[str]]:
    """How to reproduce a partition, and sentences about it."""
    if isinstance(remarks, str) or not isinstance(remarks or (), Iterable):
        raise InputError("remarks must be a list of sentences; put a single one in brackets")
    given = map(str, [*(() if remarks is None else remarks), *notes_of(part)])
    texts = [text.strip() for text in given]
    sentences = [text[0].upper() + text[1:] + "." * (text[-1] not in ".!?") for text in texts if text]
    return python_call(part) if command is None else command, sentences


def capitalized(noun: str) -> str:
    """Return a noun with its first letter in upper case."""
    return noun[:1].upper() + noun[1:]


def python_call(part: Partition) -> str | None:
    """Return the call that made the partition; None if a setting, such as a generator, has no literal.

    >>> from hyperclus import Hypergraph, cluster
    >>> part = cluster(Hypergraph.from_edges([["a", "b"], ["c", "d"]]), seed=7)
    >>> print(python_call(part).splitlines()[-1][:46])
    part = hc.cluster(h, k=2, effort="default", mi
    """
    settings = {name: value for name, value in part.settings.items() if (name, value) not in _DEFAULTS}
    for recorded in ("fallbacks", "suggestion"):
        settings.pop(recorded, None)
    if not all(value is None or isinstance(value, bool | int | float | str) for value in settings.values()):
        return None
    method, k = str(settings.pop("method", None)), settings.pop("k", None)
    given = settings.pop("constraints", None)
    if method in ("evaluate", "refine"):
        start = f"hc.{method}(h, labels"
    elif method in ("cluster", "hyperclus_g"):
        start = f"hc.{method}(h, k={k}"
    elif method.isidentifier():
        start = f"hc.research.baselines.{method}(h, {k}"
        settings = {name: value for name, value in settings.items() if name not in _NOT_FOR_BASELINES}
    else:
        return None
    literals = {n: json.dumps(v) if isinstance(v, str) else repr(v) for n, v in settings.items()}
    known = "" if given is None else f"known = ...  # hc.Constraints: {given}\n"
    literals |= {"constraints": "known"} if known else {}
    call = ", ".join([start, *(f"{name}={value}" for name, value in literals.items())]) + ")"
    return f"import hyperclus as hc\n\nh = ...  # the hypergraph\n{known}part = {call}"
