"""What the page says about single vertices and hyperedges, and the files that it can write."""

from functools import cached_property
from typing import Any

from hyperclus.hypergraph.messages import with_article
from hyperclus.report.html.contents import Contents
from hyperclus.report.html.lookup import SCALE, Lookup, LookupLimits, packed
from hyperclus.report.html.members import SURENESS, Descriptions, reasons


class About:
    """The descriptions of the groups, and the data to look up vertices and hyperedges."""

    def __init__(self, contents: Contents, limits: LookupLimits | None = None) -> None:
        self.contents, self.descriptions = contents, Descriptions(contents.levels, contents.nouns.hyperedges)
        self._limits = LookupLimits() if limits is None else limits

    @cached_property
    def lookup(self) -> Lookup:
        """The vertices and hyperedges that the page can explain."""
        return Lookup(self.contents.levels, self.descriptions.listed, self._limits)

    @property
    def packed(self) -> str:
        """The data of the lookup, compressed."""
        found = self.lookup.data()
        found["vertices"] |= self.contents.class_data(self.lookup.vertices)
        return packed(found)

    @property
    def packed_files(self) -> str:
        """What only files have, compressed."""
        return packed(self._file_data)

    @cached_property
    def _file_data(self) -> dict[str, Any]:
        return self.lookup.file_data()

    def script_data(self) -> dict[str, Any]:
        """What the scripts need before the lookup is decoded."""
        part, nouns = self.contents.part, self.contents.nouns
        return {
            "scale": SCALE,
            "sureness": SURENESS,
            "reasons": reasons(nouns.hyperedges),
            "nVertices": len(part.labels),
            "nEdges": part.walk.hypergraph.n_edges,
            "vertexColumn": nouns.vertex,
            "edgeColumn": nouns.edge,
        }

    @property
    def search_caption(self) -> str:
        """What can be found, and what happens then."""
        nouns, lookup = self.contents.nouns, self.lookup
        text = (
            f"Select {with_article(nouns.a_vertex)} to see why it is in its group, or "
            f"{with_article(nouns.a_hyperedge)} to see its members."
        )
        n, m = len(self.contents.part.labels), self.contents.part.walk.hypergraph.n_edges
        some = []
        if not lookup.has_all_vertices:
            some.append(f"{len(lookup.vertices):,} of {nouns.count_vertices(n)}")
        if not lookup.has_all_edges:
            some.append(f"{len(lookup.edges):,} of {nouns.count_hyperedges(m)}")
        if some:
            text += (
                f" Because of the size of the data, this page has {' and '.join(some)}: those that it lists, "
                "and a sample."
            )
        return text

    @property
    def files(self) -> list[tuple[str, str, str]]:
        """The files: a key, the text of the button, and what is in it."""
        nouns, lookup, n = self.contents.nouns, self.lookup, len(self.contents.part.labels)
        complete = lookup.has_all_vertices or self._file_data["labels"] is not None
        labels = (
            f"The group of each of {nouns.count_vertices(n)} among {self.contents.part.k:,}, and how sure it "
            "is. Columns k2, k3, ... have the number of its group if there are 2, 3, ... groups."
        )
        if not complete:
            labels = (
                f"{len(lookup.vertices):,} of {nouns.count_vertices(n)}: those that can be found in this "
                "page. hyperclus cluster ... --out FILE writes all."
            )
        m = self.contents.part.walk.hypergraph.n_edges
        known = "" if lookup.has_all_edges else f"{len(lookup.edges):,} of {nouns.count_hyperedges(m)}: "
        edges = f"{known}which group has it most, and how many of that group and of the others have it."
        found = [
            ("labels", "Groups (CSV)", labels),
            (
                "edges",
                f"{nouns.hyperedges[:1].upper() + nouns.hyperedges[1:]} (CSV)",
                edges[:1].upper() + edges[1:],
            ),
        ]
        if self._file_data["profile"] is not None:
            text = "The most frequent value, the mean and the median of each column in each group."
            found.append(("profile", "Columns (CSV)", text))
        return found
