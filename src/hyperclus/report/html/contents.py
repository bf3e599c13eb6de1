"""All that one page shows, put together once."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from hyperclus.clustering.metrics import Agreement
from hyperclus.clustering.partition import Partition
from hyperclus.errors import InputError
from hyperclus.hypergraph.ids import vertex_codes
from hyperclus.hypergraph.summary import Summary, summary
from hyperclus.report.format import count, short_id
from hyperclus.report.text import partition_text
from hyperclus.report.views import Views, agreement_with_classes
from hyperclus.typing import Codes, Ids, Integers

LISTED = 200  # clusters in the table, the largest
DETAILED = 40  # clusters with their hyperedges and vertices, the largest


@dataclass(frozen=True, slots=True, eq=False)
class Classes:
    """Known classes of the vertices: a code for each, the names, and the agreement with the clusters."""

    codes: Codes
    names: Ids
    agreement: Agreement


@dataclass(frozen=True, slots=True, eq=False)
class Contents:
    """A partition, its portrait, and what was said about the data."""

    part: Partition
    sizes: Integers
    title: str
    source: str | None
    command: str | None
    made: str
    remarks: list[str]
    classes: Classes | None
    data: Summary
    views: Views

    @classmethod
    def of(
        cls,
        part: Partition,
        title: str | None,
        source: str | None,
        classes: Mapping[Any, Any] | Iterable[Any] | None,
        command: str | None,
        remarks: Iterable[str] | None,
    ) -> "Contents":
        """Look at everything once; O(m log m)."""
        return cls(
            part,
            part.sizes,
            _title(part, source) if title is None else title,
            source,
            command,
            datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
            _remarks(part, remarks),
            None if classes is None else _compared(part, classes),
            summary(part.walk.hypergraph),
            Views(part),
        )


def _title(part: Partition, source: str | None) -> str:
    clusters = "One cluster" if part.k == 1 else count(part.k, "cluster")
    return f"{clusters} in {'a hypergraph' if source is None else short_id(source)}"


def _remarks(part: Partition, given: Iterable[str] | None) -> list[str]:
    """What the caller says, then what a terminal would say, as sentences."""
    if isinstance(given, str):
        raise InputError("remarks must be a list of sentences, not one text; put it in brackets")
    said = [*([] if given is None else map(str, given)), *partition_text(part).notes]
    kept = [text.strip() for text in said if text.strip()]
    return [text[0].upper() + text[1:] + ("" if text[-1] in ".!?" else ".") for text in kept]


def _compared(part: Partition, classes: Mapping[Any, Any] | Iterable[Any]) -> Classes:
    codes, names = vertex_codes(classes, part.vertex_ids, "class")
    return Classes(codes, names, agreement_with_classes(part, names[codes]))
