"""The text form of a partition, shared by `repr`, notebooks, the command line and the report."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np

from hyperclus.clustering.membership import TINY
from hyperclus.clustering.partition import Partition, StoredPartition
from hyperclus.clustering.small_components import small_components
from hyperclus.errors import Argument
from hyperclus.hypergraph.messages import count
from hyperclus.report.format import percent, percent_cell, short_id
from hyperclus.report.notebook import html_table
from hyperclus.spectral.information_bound import bound_takes_no_time

COLUMNS = ("cluster", "size", "volume", "conductance")
MAX_ROWS = 20
NO_CUT = 1e-12  # NCut that is 0 but for rounding
NAME_LENGTH = 24  # of a cluster
NO_BOUND = "nothing, because the smallest eigenvalues are too close together to be counted"


@dataclass(frozen=True, slots=True)
class PartitionText:
    """A partition as text."""

    title: str
    chance: str  # empty if the clusters were not to be compared
    information: str  # empty if it was not the objective
    ncut: str
    bound: str
    conductance: str
    rows: list[list[str]]  # the cells of `COLUMNS` for the largest clusters
    n_omitted: int  # clusters without a row
    notes: list[str]  # what a user should know beyond the figures, in lower case and without a full stop

    @property
    def footer(self) -> list[str]:
        """The lines below the table."""
        return [f"... and {self.n_omitted:,} more"] * (self.n_omitted > 0) + self.notes

    def __str__(self) -> str:
        width = max(7, *(len(row[0]) for row in self.rows))
        table = [
            f"{cluster:>{width}}  {size:>8}  {volume:>8}  {conductance:>11}"
            for cluster, size, volume, conductance in (COLUMNS, *self.rows)
        ]
        facts = [f"{name:<11}  {value}" for name, value in self.facts]
        return "\n  ".join([self.title, *facts, *table, *self.footer])

    @property
    def facts(self) -> list[tuple[str, str]]:
        """The figures above the table, with their names."""
        known = {"chance": self.chance, "information": self.information}
        known |= {"NCut": f"{self.ncut}; proven: {self.bound}", "conductance": self.conductance}
        return [(name, value) for name, value in known.items() if value]

    def to_html(self, *notes: str) -> str:
        """Return a table for a notebook cell, with further notes below it."""
        facts = [f"{name}: {value}" for name, value in self.facts]
        return html_table(self.title, COLUMNS, self.rows, [*facts, *self.footer, *notes])


def partition_text(
    part: Partition | StoredPartition, written: Callable[[Argument], str] = str
) -> PartitionText:
    """Describe a partition; `written` returns an argument as users write it.

    >>> from hyperclus import Hypergraph, cluster
    >>> print(partition_text(cluster(Hypergraph.from_edges([["a", "b"], ["b", "c"], ["c", "d"]]))))
    Partition of 4 vertices into 2 clusters
      chance       not compared: there are fewer than 10 vertices
      information  0.2426; proven: no 2 clusters have more than 0.3164
      NCut         0.333333; proven: no 2 clusters have less than 0.25 (gap 33.33 %)
      conductance  0.166667
      cluster      size    volume  conductance
            0         2    0.5000       0.1667
            1         2    0.5000       0.1667
    """
    subject = f"no {part.k} clusters have" if part.k > 1 else "one cluster cannot have"
    figures = zip(part.sizes, part.cut.volumes, part.cut.conductances, strict=True)
    names = [short_id(name, NAME_LENGTH) for name in islice(part.cluster_names, MAX_ROWS)]
    vertices, clusters = part.nouns.count_vertices(int(part.sizes.sum())), count(part.k, "cluster")
    return PartitionText(
        f"Partition of {vertices} into {clusters}",
        "" if part.chance is None else str(part.chance),
        _information(part) if isinstance(part, Partition) else "",
        f"{part.ncut:.6g}",
        _bound(part, subject),
        f"{part.conductance:.6g}",
        [
            [name, f"{size:,}", f"{volume:.4f}", f"{conductance:.4f}"]
            for name, (size, volume, conductance) in zip(names, figures, strict=False)
        ],
        max(part.k - MAX_ROWS, 0),
        list(notes_of(part, written)),
    )


def _information(part: Partition) -> str:
    """The information, if it was the objective; its bound, where that takes no time."""
    if part.settings.get("objective") != "information" or part.k == 1:
        return ""
    most = information_limit(part)
    return f"{part.information:.4g}" + (f"; proven: {most}" if most else "")


def information_limit(part: Partition) -> str:
    """Say what is proven about the information, where that takes no time; "" elsewhere."""
    if not bound_takes_no_time(part.walk):
        return ""
    return f"no {count(part.k, 'cluster has', 'clusters have')} more than {part.information_bound:.4g}"


def _bound(part: Partition | StoredPartition, subject: str) -> str:
    if not is_bounded(part):
        return NO_BOUND
    if part.ncut <= NO_CUT:
        return f"{subject} less"
    return f"{subject} less than {part.lower_bound:.6g} (gap {_percent(part.gap)})"


def is_bounded(part: Partition | StoredPartition) -> bool:
    """Whether a bound above 0 is proven, or 0 is the optimum."""
    return part.lower_bound > 0 or part.k <= part.n_components


def meaningless(part: Partition | StoredPartition) -> str | None:
    """Say why a partition has no meaning; None if it may have one."""
    if part.k > 1 and part.n_components == part.sizes.sum():
        connects = f"no {part.nouns.a_hyperedge} connects two {part.nouns.vertices}"
        return f"{connects}, so these clusters mean nothing: any others are as good"
    if 1 < part.k < part.n_components and part.ncut <= NO_CUT:
        pieces = f"the {part.n_components:,} connected components"
        return f"every union of {pieces} has NCut 0, so which of them share a cluster is arbitrary"
    return None


def notes_of(part: Partition | StoredPartition, written: Callable[[Argument], str] = str) -> Iterator[str]:
    """What one should know about a partition, in sentences."""
    if (nothing := meaningless(part)) is not None:
        yield nothing
    option = written(Argument("min_share"))
    volumes, min_share = part.cut.volumes, part.settings.get("min_share", 0.0)
    below = int(np.count_nonzero(volumes < min_share * (1 - 1e-9)))
    tiny = int(np.count_nonzero(volumes < TINY / part.k))
    if below:
        holding = count(below, "cluster holds", "clusters hold")
        remedy = "no partition with larger ones was found"
        yield f"{holding} less than the minimum of {min_share:.4g} ({option}); {remedy}"
    elif part.k > 1 and volumes.min() <= 1.005 * min_share:
        yield (
            f"a cluster holds just over {min_share:.4g} of the volume, the minimum allowed; a smaller "
            f"{option} may give a lower NCut"
        )
    elif tiny:
        holding, share = count(tiny, "cluster holds", "clusters hold"), _percent(TINY / part.k)
        yield f"{holding} less than {share} of the volume; {option} rules such clusters out"
    total = part.n_vertices if isinstance(part, StoredPartition) else len(part.vertex_ids)
    isolated = total - int(part.sizes.sum())
    if isolated:
        yield f"in no {part.nouns.a_hyperedge}, with label -1: {part.nouns.count_vertices(isolated)}"
    yield from _recorded(part)
    if part.n_components > 1:
        together = _kept_together(part) if isinstance(part, Partition) else ""
        yield f"the hypergraph has {part.n_components:,} connected components{together}"


def _recorded(part: Partition | StoredPartition) -> Iterator[str]:
    """What the settings say about how the clusters were found."""
    if "constraints" in part.settings:
        bounds = "the bounds are for all clusters, constrained or not"
        yield f"constrained: {part.settings['constraints']}; {bounds}"
    if "beta" in part.settings:
        share = percent(part.settings["beta"])
        yield f"attributes: {share} of the steps go to similar vertices; {part.settings['beta_reason']}"
    if "suggestion" in part.settings:
        yield f"k = {part.k} was suggested: {part.settings['suggestion'].rstrip('.')}"
    yield from part.settings.get("fallbacks", ())


def _kept_together(part: Partition) -> str:
    """Where the small components are, if the search kept them in one cluster."""
    small = None
    if part.settings.get("objective") == "information" and part.settings.get("method") == "cluster":
        small = small_components(part.walk, part.k)
    if small is None:
        return ""
    clusters, vertices = np.unique(part.walk_labels[small]), np.count_nonzero(small)
    if len(clusters) > 1:
        return ""
    name = part.cluster_names[int(clusters[0])]
    return f"; small ones, with {part.nouns.count_vertices(int(vertices))}, are all in cluster {name}"


def _percent(share: float) -> str:
    return percent(share) if share >= 1 else f"{percent_cell(share, 2)} %"
