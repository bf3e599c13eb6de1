"""What is known about a local cluster: its members, the other dips of the sweep, and reasons to doubt it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperclus.clustering.frames import pandas_for
from hyperclus.clustering.push import Region
from hyperclus.clustering.sweep import Candidate, ncut
from hyperclus.hypergraph.messages import count, first_few
from hyperclus.typing import Floats, Ids, Integers

# From benchmarks/local_doubt.py: most wrong answers are in doubt, and few right ones.
MAX_NCUT = 0.5  # above, a walker leaves more than half as often as from a random set
MIN_OVERLAP = 0.9  # with the cluster found from other members
NEARLY, NEARLY_FACTOR = 0.85, 1.5  # of 1 - NCut, and of the NCut, for a smaller cluster
BETTER = 1.05  # of 1 - NCut, for a larger one
SIMILAR = 1.2  # the factor between sizes that are about the same
MAX_NAMED = 10  # members in a repr


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Dip:
    """A cluster at a minimum of the sweep."""

    members: Ids  # nearest to the seeds first
    volume: float
    conductance: float

    @property
    def ncut(self) -> float:
        """The NCut of the cluster and the rest: about 1 for a random set of any size."""
        return float(ncut(self.conductance, self.volume))

    def __len__(self) -> int:
        return len(self.members)

    def __repr__(self) -> str:
        return f"Dip({count(len(self), 'vertex', 'vertices')}, conductance {self.conductance:.4g})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LocalCluster:
    """A cluster around seeds.

    Attributes
    ----------
    members, positions : arrays
        Ids of its vertices, nearest to the seeds first, and their positions in the hypergraph.
    scores : array
        pr / phi: how much more often a walker from the seeds is at a member than any walker.
    staying : array
        The share of the steps from each member that stay inside.
    conductance, volume : float
        The share of the steps that leave the cluster (or the rest, if that is smaller), and its share of a
        walker's time.
    dips : tuple of Dip
        All clusters that were compared, the smallest first; this one is among them.
    limit : "max_volume", "max_size" or None
        The argument that kept it from growing, if one did.
    overlap : float
        F1 of the cluster and the one found from a few other members.
    seeds : array
    restart, accuracy : float
        Of the round that found it.
    order, order_scores, order_staying, volumes, conductances : arrays
        The sweep of that round, also beyond the cluster: ids of vertices, seeds first, and figures of each
        vertex and of every prefix.
    edge_ids, edge_shares, edge_parts : arrays
        The hyperedges of its members, those that hold it together most first; see `edges_frame`.
    visits, touched : int
        Visits of incidences by the whole query, and the number of different incidences visited.
    """

    members: Ids
    positions: Integers
    scores: Floats
    staying: Floats
    conductance: float
    volume: float
    dips: tuple[Dip, ...]
    limit: str | None
    overlap: float
    seeds: Ids
    restart: float
    accuracy: float
    order: Ids
    order_scores: Floats
    order_staying: Floats
    volumes: Floats
    conductances: Floats
    edge_ids: Ids
    edge_shares: Floats
    edge_parts: Floats
    visits: int
    touched: int

    def __len__(self) -> int:
        return len(self.members)

    @property
    def ncut(self) -> float:
        """The NCut of the cluster and the rest: 0 if it is separate, about 1 for a random set of any size."""
        return float(ncut(self.conductance, self.volume))

    @property
    def other_dips(self) -> tuple[Dip, ...]:
        """The dips whose size is clearly different from that of the cluster."""
        size = len(self)
        return tuple(dip for dip in self.dips if max(len(dip), size) > SIMILAR * min(len(dip), size))

    @property
    def doubt(self) -> str:
        """Why the cluster may not be what you look for; empty if nothing speaks against it.

        >>> from hyperclus import Hypergraph, local_cluster
        >>> ring = Hypergraph.from_edges([[i, (i + 1) % 30] for i in range(30)])
        >>> local_cluster(ring, [0], max_size=5).doubt
        'it is as large as the limit on its size allows'
        """
        return "; ".join(_doubts(self))

    def to_frame(self, *, reached: bool = False) -> Any:
        """A pandas data frame of the members, or of all vertices reached, nearest to the seeds first.

        The columns are `vertex`; `score`; `member` and `seed`, whether it is one; and `staying`, the share of
        the steps from the vertex that end in the cluster.

        >>> from hyperclus import Hypergraph, local_cluster
        >>> h = Hypergraph.from_edges([["a", "b", "c"], ["a", "b"], ["c", "d"], ["d", "e", "f"], ["e", "f"]])
        >>> local_cluster(h, ["a"]).to_frame().set_index("vertex")["staying"].round(2).to_dict()
        {'a': 1.0, 'b': 1.0, 'c': 0.75}
        """
        pandas = pandas_for("to_frame")
        members, seeds = set(self.members.tolist()), set(self.seeds.tolist())
        names = self.order.tolist()
        columns = {
            "vertex": self.order,
            "score": self.order_scores,
            "member": [name in members for name in names],
            "seed": [name in seeds for name in names],
            "staying": self.order_staying,
        }
        frame = pandas.DataFrame(columns)
        return (frame if reached else frame[frame["member"]]).reset_index(drop=True)

    def edges_frame(self) -> Any:
        """A pandas data frame of the hyperedges of the members: those that hold the cluster together first.

        The columns are `edge`; `share`, the share of the steps through it that end in the cluster; and
        `part`, its part in how much more often than by chance a walker stays. The parts sum to 1 (unless the
        cluster is no better than a random set), and are negative where the share is below the volume.

        >>> from hyperclus import Hypergraph, local_cluster
        >>> h = Hypergraph.from_edges({"x": ["a", "b", "c"], "y": ["a", "b"], "z": ["c", "d"], 4: ["d", "e"]})
        >>> local_cluster(h, ["a"]).edges_frame()["edge"].tolist()
        ['x', 'y', 'z']
        """
        columns = {"edge": self.edge_ids, "share": self.edge_shares, "part": self.edge_parts}
        return pandas_for("edges_frame").DataFrame(columns)

    def plot_sweep(self, ax: Any = None, **options: Any) -> Any:
        """Draw the conductance of the prefixes, and the dips, with Matplotlib; options go to `Axes.plot`."""
        from hyperclus.report.plots import plot_local_sweep

        return plot_local_sweep(self, ax, options)

    def __repr__(self) -> str:
        members = f"members: {first_few(self.members.tolist(), MAX_NAMED)}"
        heading, seeds, *others = self.sentences
        return "\n".join([heading, seeds, members, *others])

    @property
    def sentences(self) -> list[str]:
        """The figures, the seeds, other dips if there are any, and the doubt if there is one."""
        size, share = count(len(self), "vertex", "vertices"), f"{100 * self.volume:.3g} % of the volume"
        lines = [f"LocalCluster: {size}, conductance {self.conductance:.4g}, {share}"]
        lines.append(f"seeds: {first_few(self.seeds.tolist(), MAX_NAMED)}")
        others = [f"{len(dip):,} at {dip.conductance:.4g}" for dip in self.other_dips]
        lines += [f"other dips: {', '.join(others)}"] * bool(others)
        lines += [f"in doubt: {self.doubt}"] * bool(self.doubt)
        return lines

    def _repr_html_(self) -> str:
        from hyperclus.report.result_tables import local_table

        return local_table(self)


def _doubts(found: LocalCluster) -> Iterator[str]:
    """The reasons to doubt a cluster."""
    if found.limit is not None:
        yield f"it is as large as the limit on its {found.limit.removeprefix('max_')} allows"
    if found.ncut > MAX_NCUT:
        chance = 1.0 - found.volume
        leaving = f"{100 * found.ncut * chance:.0f} % of the steps leave it"
        random = f"{100 * chance:.0f} % would leave a random set of its volume"
        yield f"it is hardly separate: {leaving}, and {random}"
    staying = 1.0 - found.ncut
    nearly, better = min(1.0 - NEARLY * staying, NEARLY_FACTOR * found.ncut), 1.0 - BETTER * staying
    smaller = [dip for dip in found.other_dips if len(dip) < len(found) and dip.ncut <= nearly]
    larger = [dip for dip in found.other_dips if len(dip) > len(found) and dip.ncut <= better]
    comparisons = (smaller, "a smaller one is nearly as good"), (larger, "a larger one is better")
    for dips, comparison in comparisons:
        if dips:
            dip = min(dips, key=lambda dip: dip.ncut)
            size = count(len(dip), "vertex", "vertices")
            yield f"{comparison}: {size}, conductance {dip.conductance:.4g}"
    if found.overlap < MIN_OVERLAP:
        yield f"the search finds another one from other members (F1 of the two {found.overlap:.2g})"


def described(
    region: Region, one: Candidate, found: Sequence[Candidate], limit: str | None, overlap: float
) -> LocalCluster:
    """Describe the chosen cluster, and the others."""
    context, sweep = region.context, one.sweep

    def positions(numbers: Integers) -> Integers:
        return context.inside[region.vertices.position[numbers]]

    scores = sweep.scores + 1.0 - sweep.scores @ region.vertices.distribution[sweep.order]
    staying, edges, shares, flows = region.holding(one.numbers, sweep.order)
    parts = flows * (shares - one.volume)
    by_part = np.argsort(-parts, kind="stable")
    total = parts.sum()  # inside flow - volume^2, which is volume (1 - volume) (1 - NCut)
    different = {np.sort(each.numbers).tobytes(): each for each in [*found, one]}.values()
    by_size = sorted(different, key=lambda each: (len(each.inside), each.conductance))
    return LocalCluster(
        members=context.ids[positions(one.numbers)],
        positions=positions(one.numbers),
        scores=scores[one.inside],
        staying=staying[one.inside],
        conductance=one.conductance,
        volume=one.volume,
        dips=tuple(
            Dip(context.ids[positions(each.numbers)], each.volume, each.conductance) for each in by_size
        ),
        limit=limit,
        overlap=overlap,
        seeds=context.ids[context.inside[region.seeds]],
        restart=sweep.restart,
        accuracy=sweep.accuracy,
        order=context.ids[positions(sweep.order)],
        order_scores=scores,
        order_staying=staying,
        volumes=sweep.volumes,
        conductances=sweep.conductances,
        edge_ids=context.edge_ids[edges[by_part]],
        edge_shares=shares[by_part],
        edge_parts=parts[by_part] / total if total > 1e-12 else np.zeros(len(parts)),
        visits=region.visits,
        touched=region.touched,
    )
