"""The client's side of the cluster engine: it runs rounds, and holds nothing but names and small results."""

import pickle
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from itertools import count, pairwise
from pathlib import Path
from secrets import token_hex
from typing import Any, Protocol

import numpy as np

from hyperclus._runtime.checkpoint import Checkpoint, open_checkpoint, vector_references
from hyperclus.engines.base import Array, IncidenceProducts, Weights, reaches_all
from hyperclus.engines.dask import chunk_kernels
from hyperclus.engines.dask.components import find_components
from hyperclus.engines.dask.prepared import Prepared
from hyperclus.engines.dask.schedule import Stage, plan, width
from hyperclus.engines.dask.stages import Outcome, RunFiles, joined, site_at, store_whole
from hyperclus.engines.dask.store import load_array, vector_path
from hyperclus.engines.dask.vectors import Columns, Side, Small, Vector, kept, together
from hyperclus.typing import Floats

ALONE = 150  # bytes for each incidence that the engine of one machine takes, at most
GRAIN = 1 << 12  # vertices that get their random numbers together


class Runner(Protocol):
    """What runs the stages of a round on all chunks and bundles: Dask, or anything that can."""

    def round(self, site: Path, stages: Sequence[Stage], parts: dict[Side, int]) -> list[Outcome]:
        """The outcomes of the last stage."""
        ...

    def alone(self, function: Callable[..., Any], *args: Any) -> Any:
        """What a function returns that runs on one worker."""
        ...


@dataclass(slots=True)
class Spent:
    """What rounds have cost so far: how many, and of what seconds and bytes."""

    rounds: int = 0
    products: int = 0
    seconds: float = 0.0
    computing: float = 0.0
    bytes: int = 0


@dataclass(eq=False)
class DaskSession:
    """The vectors of one run: where they lie, and the rounds that make new ones."""

    site: RunFiles
    place: Path
    n_vertices: int
    runner: Runner
    spent: Spent = field(default_factory=Spent)
    pins: dict[str, set[str]] = field(default_factory=dict)
    _forgotten: set[tuple[str, Side]] = field(default_factory=set)
    _dropped: list[str] = field(default_factory=list)

    @classmethod
    def on(cls, site: RunFiles, n_vertices: int, runner: Runner) -> "DaskSession":
        """A field whose site all workers can read."""
        content = pickle.dumps(site)
        place = site.vectors / f"site-{blake2b(content, digest_size=8).hexdigest()}.pickle"
        partial = place.with_suffix(f".{token_hex(4)}.part")
        partial.write_bytes(content)
        partial.replace(place)
        return cls(site, place, n_vertices, runner)

    def values(self, smalls: Sequence[Small], keeps: Sequence[Vector] = ()) -> list[Any]:
        """The values of some small results, and some vectors stored, in one round."""
        planned = plan(smalls, keeps, self._names())
        for stage in planned.stages:
            stage.dropped = self._dropped
        parts: dict[Side, int] = {"vertices": len(self.site.ends), "bundles": len(self.site.bundles)}
        started = time.perf_counter()
        outcomes = self.runner.round(self.place, planned.stages, parts)
        self.spent.seconds += time.perf_counter() - started
        self._dropped = []
        for vector, name in planned.stored:
            vector.stored_as(name)
        partials: dict[tuple[int, int], list[Any]] = {}
        ledger: dict[tuple[int, int], tuple[float, int]] = {}
        for outcome in outcomes:
            partials |= outcome.smalls
            ledger |= outcome.ledger
        for level, asked in planned.asked.items():
            found = [partials[key] for key in sorted(partials) if key[0] == level]
            for place, small in enumerate(asked):
                total = found[0][place]
                for part in found[1:]:
                    total = joined(small.combine, total, part[place])
                small.settle(total)
        self._account(planned.stages, ledger)
        self.sweep()
        return [small.known for small in smalls]

    def ensure(self, *vectors: Vector) -> None:
        """Have vectors stored that are not yet."""
        open_ones = [kept(vector) for vector in vectors if vector.kind != "stored"]
        if open_ones:
            self.values([], open_ones)

    def named(self, name: str, side: Side = "vertices", dtype: Any = np.float64) -> Vector:
        """A vector that is stored already."""
        return Vector(self, side, "stored", name, dtype=dtype)

    def rows(self, function: Callable[[int, int], Any], dtype: Any = np.float64) -> Vector:
        """A vector whose entries follow from their numbers."""
        return Vector(self, "vertices", "rows", function, dtype=dtype)

    def forget(self, name: str, side: Side) -> None:
        """A stored vector that no expression refers to any more."""
        self._forgotten.add((name, side))

    def sweep(self) -> None:
        """Delete the files of vectors that are forgotten, unless a checkpoint refers to them."""
        pinned = set().union(*self.pins.values())
        for name, side in [one for one in self._forgotten if one[0] not in pinned]:
            self._forgotten.discard((name, side))
            self._dropped.append(name)
            for path in self._files(name, side):
                path.unlink(missing_ok=True)

    def settle(self, values: list[Any]) -> None:
        """Store all vectors, also those of blocks, in one round."""
        self.ensure(*(vector for value in values for vector in getattr(value, "vectors", [value])))

    def restored(self, reference: Any) -> Any:
        """The vector, or the block, that a checkpoint names."""
        if isinstance(reference, list):
            return Columns([self.restored(one) for one in reference], self)
        vector = self.named(reference["name"], reference["side"], reference["dtype"])
        parts = [load_array(path, "r") for path in self._files(vector.payload, vector.side)]
        ends = [last - first for first, last in pairwise([0, *self.site.ends])]
        if vector.side == "vertices" and [len(part) for part in parts] != ends:
            raise ValueError("a part of a vector is not whole")
        return vector

    def pin(self, file: str, references: list[Any]) -> None:
        """The vectors of a checkpoint stay until it is deleted."""
        self.pins[file] = {
            one["name"] for given in references for one in (given if isinstance(given, list) else [given])
        }

    def clean(self, folder: Path) -> None:
        """Delete vectors that no checkpoint in a folder refers to: what a run that was killed left behind."""
        for file, references in vector_references(folder).items():
            self.pin(file, references)
        pinned = set().union(*self.pins.values())
        for path in self.site.vectors.glob("*.npy*"):
            if path.name.lstrip(".").partition(".")[0] not in pinned:
                path.unlink(missing_ok=True)

    def unpin(self, file: str) -> None:
        """A checkpoint is deleted."""
        self.pins.pop(file, None)

    def _files(self, name: str, side: Side) -> list[Path]:
        """Of all parts of a stored vector."""
        count_, mark = (len(self.site.ends), "") if side == "vertices" else (len(self.site.bundles), "e")
        return [vector_path(self.site.vectors, name, f"{mark}{part}") for part in range(count_)]

    def _account(self, stages: Sequence[Stage], ledger: dict[tuple[int, int], tuple[float, int]]) -> None:
        self.spent.rounds += 1
        self.spent.products += any(stage.side == "bundles" for stage in stages)
        self.spent.bytes += sum(size for _, size in ledger.values())
        for stage in stages:
            self.spent.computing += max(
                (seconds for (level, _), (seconds, _) in ledger.items() if level == stage.level), default=0.0
            )

    def _names(self) -> Iterator[str]:
        prefix = token_hex(6)
        return (f"{prefix}-{number}" for number in count())


@dataclass(frozen=True, eq=False)
class StoredHypergraph:
    """A hypergraph in prepared files, as far as solvers ask for it."""

    prepared: Prepared
    edge_weights: Any

    @property
    def n_vertices(self) -> int:
        """|V|."""
        return self.prepared.n_vertices

    @property
    def n_edges(self) -> int:
        """|E|."""
        return self.prepared.n_edges

    @property
    def n_incidences(self) -> int:
        """The number of incidences."""
        return self.prepared.n_incidences

    @property
    def key(self) -> str:
        """Names the content."""
        return self.prepared.key

    def content_key(self) -> bytes:
        """Name the prepared data, which is a hash of the source."""
        return self.key.encode()

    def __repr__(self) -> str:
        return (
            f"StoredHypergraph({self.n_vertices:,} vertices, {self.n_edges:,} hyperedges, "
            f"{self.n_incidences:,} incidences, {self.key})"
        )


@dataclass(frozen=True, eq=False)
class DaskBackend:
    """Vectors as expressions, in chunks on many workers."""

    session: DaskSession
    name: str = "dask"
    on_host: bool = False

    def put(self, values: Any, dtype: Any = None) -> Any:
        """Small arrays stay on the host and travel with the instructions."""
        return values

    def fetch(self, *values: Any) -> list[Any]:
        """All from one round."""
        return [np.asarray(value) if isinstance(value, np.generic) else value for value in together(values)]

    def persist(self, vector: Array) -> Array:
        """Store it when a round first computes it."""
        kept(vector)
        return vector

    def empty_columns(self, like: Any, count: int) -> Columns:
        """Columns to be set."""
        return Columns([None] * count, self.session)

    def take(self, table: Any, codes: Vector) -> Vector:
        """Chunk by chunk."""
        return codes.looked_up_in(table)

    def normal(self, size: int, rng: np.random.Generator) -> Vector:
        """Random numbers that do not depend on how the vertices are divided."""
        return self.session.rows(_Normal(int(rng.integers(1 << 63))))

    def row_slices(self, count: int) -> Iterable[slice]:
        """All rows: each worker splits its own."""
        return [slice(None)]

    def column_batches(self, count: int) -> Iterable[range]:
        """All columns share a round."""
        return [range(count)]

    def block_width(self, wanted: int, n_incidences: int) -> int | None:
        """As many as are wanted, within limits."""
        return width(wanted, n_incidences)

    def sign_of_largest(self, vector: Vector) -> Small:
        """Of two entries of equal magnitude, the positive one."""
        return vector.sign_of_largest()

    def sample_rows(self, points: Columns, masses: Vector, count: int) -> tuple[Floats, Floats]:
        """Each row is drawn independently."""
        return points.sample(masses, count, 0)

    def nearest(self, points: Columns, centres: Floats) -> Vector:
        """Chunk by chunk; a centre may be left without rows."""
        return points.nearest(centres)

    def mass_splitter(self, scores: Vector, masses: Vector) -> Callable[[Sequence[float]], Iterator[Vector]]:
        """By histograms, without sorting; equal scores get one label."""
        found: dict[float, float] = {}
        known = scores.range_of_mass(masses)

        def split(shares: Sequence[float]) -> Iterator[Vector]:
            new = [share for share in shares if share not in found]
            if new:
                found.update(zip(new, scores.levels(masses, new, known), strict=True))
            for share in shares:
                yield (scores > found[share]).astype(np.int64)

        return split

    def best_half(self, mask: Vector, scores: Vector, count: int, seed: int) -> Vector:
        """About half; of equal scores, some at random."""
        return scores.better_half(mask, count, seed)

    def first_rows(self, labels: Vector, count: int) -> Small:
        """The least of all chunks."""
        rows = self.session.rows(_RowNumber())
        return Small(self.session, "vertices", chunk_kernels.first_rows, (count, labels, rows), "min")

    def components(self, products: IncidenceProducts, hypergraph: Any) -> tuple[int, Any, Any]:
        """A search on one worker, which holds a number for each vertex; hyperedges are not numbered."""
        first: Any = self.session.rows(_First())
        if reaches_all(products, first, self.session.n_vertices):
            return 1, None, None
        found, reference = self.session.runner.alone(find_components, self.session.place)
        return found, self.session.restored(reference), None

    def run_on_one(
        self, function: Callable[..., Any], hypergraph: StoredHypergraph, *args: Any
    ) -> dict[str, Any] | None:
        """Run it on one worker, if that can hold the hypergraph and work on it."""
        if ALONE * hypergraph.n_incidences > self.session.site.memory:
            return None
        given = (self.session.place, hypergraph.prepared, function, args)
        facts, vectors = self.session.runner.alone(run_alone, *given)
        return facts | {name: self.session.restored(reference) for name, reference in vectors.items()}

    def open_checkpoint(self, stage: str, *inputs: Any, rng: np.random.Generator | None = None) -> Checkpoint:
        """Vectors stay in files of the run; the checkpoint refers to them."""
        return open_checkpoint(stage, *inputs, rng=rng)


@dataclass(frozen=True, eq=False)
class DaskProducts:
    """Products over bundles of hyperedges on many workers; vectors are expressions."""

    field: DaskSession

    @cached_property
    def backend(self) -> DaskBackend:
        """The vectors of the session."""
        return DaskBackend(self.field)

    def to_edges(self, values: Any, weights: Weights) -> Any:
        """Each bundle knows all members of its hyperedges."""
        if isinstance(values, Columns):
            return Columns([self.to_edges(vector, weights) for vector in values.vectors])
        return self._local("to_edges", gathered(values), weights)

    def to_vertices(self, values: Any, weights: Weights) -> Any:
        """Each bundle has a contribution."""
        if isinstance(values, Columns):
            return Columns([self.to_vertices(vector, weights) for vector in values.vectors])
        return kept(scattered(self._local("to_vertices", values, weights)))

    def edge_pairs(self, first: Any, second: Any) -> tuple[Any, Any]:
        """One round for both."""
        return self.to_edges(first, "gamma"), self.to_edges(second, "source_weights")

    def symmetrized(self, vector: Any, left: Any, right: Any, middle: Any) -> Any:
        """One value goes to each bundle for each of its vertices, and one comes back."""
        self.field.ensure(left, right)
        return scattered(self._local("symmetrized", gathered(vector), static(left), static(right), middle))

    def vertex_squares(self, values: Any) -> Any:
        """Each bundle has a contribution."""
        return kept(scattered(self._local("vertex_squares", values)))

    def least_share(self, out_edge: Any, out_vertex: Any, in_edge: Any, in_vertex: Any) -> float:
        """The least of all bundles."""
        given = (out_edge, gathered(out_vertex), in_edge, gathered(in_vertex))
        return float(Small(self.field, "bundles", "least_share", given, "min"))

    def constants(self) -> Any:
        """Looked for in each bundle first, and only then across them."""
        if not Small(self.field, "bundles", "has_constants", (), "min"):
            return None
        found = self._local("constants")
        largest = kept(scattered(found, "max"))
        smallest = -scattered(-found, "max")
        return largest if (largest == smallest).all() else None

    def flows(
        self, labels: Any, count: int, phi: Any, degrees: Any, shares: Any, once: bool = False
    ) -> tuple[Any, Any]:
        """One round, and `count` numbers from each bundle."""
        self.field.ensure(phi, degrees)
        small = labels.astype(np.int8 if count <= 127 else np.int32)
        given = (gathered(small), static(phi), static(degrees), shares, count)
        boundaries = Small(self.field, "bundles", "boundaries", given, "sum")
        return np.bincount(labels, weights=phi, minlength=count), boundaries

    def _local(self, function: str, *args: Any) -> Vector:
        return Vector(self.field, "bundles", "local", function, args)


def gathered(vector: Vector) -> Vector:
    """The values at the vertices of a bundle."""
    return Vector(vector.field, "bundles", "gather", None, (vector,))


def static(vector: Vector) -> Vector:
    """The same of a stored vector; the bundle keeps them."""
    return Vector(vector.field, "bundles", "static", None, (vector,))


def scattered(vector: Vector, combine: str = "sum") -> Vector:
    """The contributions of all bundles to each vertex."""
    return Vector(vector.field, "vertices", "scatter", combine, (vector,))


def run_alone(
    place: Path, prepared: Prepared, function: Any, args: tuple[Any, ...]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """On a worker: a function of the whole hypergraph; the vectors that it returns are stored."""
    site = site_at(place)
    facts, vectors = function(prepared.hypergraph(), *args)
    return facts, {name: store_whole(site, values) for name, values in vectors.items()}


def omega(of: DaskSession) -> Vector:
    """The weights of the hyperedges."""
    return Vector(of, "bundles", "local", "omega", kept=True)


@dataclass(frozen=True, slots=True)
class _Normal:
    """Normal numbers, in grains that have a generator each."""

    seed: int

    def __call__(self, first: int, last: int) -> Any:
        grains = range(first // GRAIN, -(-last // GRAIN))
        drawn = [np.random.default_rng((self.seed, grain)).standard_normal(GRAIN) for grain in grains]
        return np.concatenate(drawn)[first - grains[0] * GRAIN :][: last - first]


@dataclass(frozen=True, slots=True)
class _First:
    """1 for the first vertex, 0 for the others."""

    def __call__(self, first: int, last: int) -> Any:
        return (np.arange(first, last) == 0).astype(np.float64)


@dataclass(frozen=True, slots=True)
class _RowNumber:
    """The number of each row."""

    def __call__(self, first: int, last: int) -> Any:
        return np.arange(first, last, dtype=np.float64)
