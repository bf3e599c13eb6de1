"""Vectors that lie in chunks on many workers, written down as expressions until their values are needed.

A `Vector` follows NumPy's protocols, so the solvers that run on arrays run on it: arithmetic only notes what
is to be done. What a solver has to know on the host (a sum, an inner product) is a `Small`, and asking for
its value runs everything that leads there in one round over the workers. `together` asks for several in the
same round. Whatever a round computes of a vector that is `kept` stays with the workers, and in files.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from hyperclus.engines.dask import chunk_kernels
from hyperclus.engines.dask.chunk_kernels import BINS

Side: TypeAlias = Literal["vertices", "bundles"]
Combine: TypeAlias = Literal["sum", "max", "min", "join"]

ZOOMS = 2  # histograms, of which each looks closer at one bin of the one before


class DaskSession(Protocol):
    """Where the vectors live and rounds are run."""

    @property
    def n_vertices(self) -> int:
        """The length of the vectors of vertices."""
        ...

    def values(self, smalls: Sequence["Small"]) -> list[Any]:
        """The values of some small results, from one round."""
        ...

    def ensure(self, *vectors: "Vector") -> None:
        """Have vectors stored that are not yet."""
        ...

    def forget(self, name: str, side: Side) -> None:
        """Nobody needs this stored vector any more."""
        ...


class Vector(NDArrayOperatorsMixin):
    """One value for each vertex, or for each hyperedge (`side` "bundles"), as an expression.

    Attributes
    ----------
    kind : str
        "stored" (payload: the name), "map" (payload: a function of arrays, rows by rows), "local"
        (payload: the name of a function of a bundle), "gather" (from vertices to those of a bundle),
        "static" (the same, of a stored vector that is kept with the bundle), "scatter" (from bundles to
        vertices; payload: how contributions are combined), "rows" (payload: a function of the first and
        last row).
    args : tuple
        Vectors, and anything else as it is.
    kept : bool
        Whether to store it when it is first computed.
    """

    __slots__ = ("__weakref__", "args", "dtype", "field", "kept", "kind", "payload", "side")
    __array_priority__ = 1000.0

    def __init__(
        self,
        field: DaskSession,
        side: Side,
        kind: str,
        payload: Any,
        args: tuple[Any, ...] = (),
        *,
        dtype: Any = np.float64,
        kept: bool = False,
    ) -> None:
        self.field, self.side, self.kind, self.payload, self.args = field, side, kind, payload, args
        self.dtype, self.kept = np.dtype(dtype), kept

    def __del__(self) -> None:
        if self.kind == "stored" and self.field is not None:
            self.field.forget(self.payload, self.side)

    def stored_as(self, name: str) -> None:
        """It has been computed, and lies with the workers under this name."""
        self.kind, self.payload, self.args, self.kept = "stored", name, (), False

    def __repr__(self) -> str:
        return f"Vector({self.side})"

    def keep(self) -> "Vector":
        """Itself, to be stored when it is first computed."""
        self.kept = self.kind != "stored"
        return self

    def reference(self) -> dict[str, str]:
        """How a checkpoint names it; a round stores it first, if need be."""
        self.field.ensure(self)
        return {"name": self.payload, "side": self.side, "dtype": self.dtype.str}

    def content_key(self) -> bytes:
        """The name it is stored under: a vector that a checkpoint restores keeps its name."""
        return "{name} {side} {dtype}".format(**self.reference()).encode()

    def looked_up_in(self, table: Any) -> "Vector":
        """The entries of a small table at these positions."""
        return mapped(chunk_kernels.taken, np.asarray(table), self)

    @property
    def shape(self) -> tuple[int]:
        """(n,)."""
        return (len(self),)

    @property
    def ndim(self) -> int:
        """1."""
        return 1

    def __len__(self) -> int:
        if self.side != "vertices":
            raise TypeError("a vector of hyperedges has no length on the host")
        return self.field.n_vertices

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        options.pop("out", None)  # x += y gives a new expression, which then is x
        if method != "__call__" or options:
            return NotImplemented
        if any(isinstance(value, Columns) for value in inputs):
            return columnwise(ufunc, *inputs)
        if ufunc is np.matmul:
            return dot(*inputs)
        return mapped(ufunc, *inputs)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        return FUNCTIONS[function](*args, **options) if function in FUNCTIONS else NotImplemented

    def __getitem__(self, key: Any) -> Any:
        if key == slice(None) or key == slice(0, len(self)):
            return self
        if isinstance(key, tuple) and key[1] is None:
            return Columns([self])
        raise TypeError(f"a scattered vector has no element {key!r} on the host")

    def astype(self, kind: Any, copy: bool = True) -> "Vector":
        """In another type of number."""
        return self if self.dtype == kind else mapped(chunk_kernels.as_type, self, np.dtype(kind))

    def sum(self) -> "Small":
        """The sum over all entries."""
        return Small(self.field, self.side, np.sum, (self,), "sum")

    def max(self) -> "Small":
        """The largest entry."""
        return Small(self.field, self.side, chunk_kernels.largest, (self,), "max")

    def min(self) -> "Small":
        """The smallest entry."""
        return Small(self.field, self.side, chunk_kernels.smallest, (self,), "min")

    def range_of_mass(self, masses: "Vector") -> tuple[float, float, float]:
        """The smallest entry, the largest, and the mass of all."""
        low, high, total = together([self.min(), self.max(), masses.sum()])
        return float(low), float(high), float(total)

    def levels(
        self, masses: "Vector", shares: Sequence[float], known: tuple[float, float, float] | None = None
    ) -> list[float]:
        """The values up to which entries have these shares of the mass; `known` is `range_of_mass`."""
        low, high, total = known or self.range_of_mass(masses)
        wanted = np.asarray(shares) * total
        edges = np.tile([low, high], (len(wanted), 1)).astype(np.float64)
        below = np.zeros(len(wanted))
        for _ in range(ZOOMS):
            counts = Small(
                self.field, self.side, chunk_kernels.histograms, (edges, self, masses), "sum"
            ).value()
            running = below[:, None] + np.cumsum(counts, axis=1)
            for row, level in enumerate(wanted):
                bin_ = min(int(np.searchsorted(running[row], level)), BINS - 1)
                ends = np.linspace(edges[row, 0], edges[row, 1], BINS + 1)
                below[row] = running[row, bin_ - 1] if bin_ else below[row]
                edges[row] = ends[bin_], ends[bin_ + 1]
        return [float(high) for _, high in edges]

    def better_half(self, among: "Vector", count: int, seed: int) -> "Vector":
        """A mask of about the better half of those among which to choose; of equal ones, some at random."""
        chosen = mapped(chunk_kernels.float_mask, among)
        level = _where(among, self, -np.inf)
        low = Small(self.field, self.side, chunk_kernels.least_among, (among, self), "min").value()
        held = _where(among, self, low)
        threshold = held.levels(chosen, [0.5])[0]
        better = kept(among & (level > threshold))
        if 0 < int(np.count_nonzero(better)) < count:
            return better
        return kept(among & Vector(self.field, "vertices", "rows", chunk_kernels.Coins(seed), dtype=np.bool_))

    def sign_of_largest(self) -> "Small":
        """The sign of the entry of largest size."""
        return Small(self.field, self.side, chunk_kernels.extremes, (self,), "max", chunk_kernels.sign_of)

    def all(self) -> "Small":
        """1 if all entries are true, else 0."""
        return Small(self.field, self.side, chunk_kernels.all_true, (self,), "min")

    def any(self) -> "Small":
        """1 if some entry is true, else 0."""
        return Small(self.field, self.side, chunk_kernels.any_true, (self,), "max")


class Columns:
    """Vectors beside one another: a block of shape (n, count), as far as solvers use one."""

    __slots__ = ("field", "vectors")
    __array_priority__ = 1000.0

    def __init__(self, vectors: Sequence[Any], field: DaskSession | None = None) -> None:
        self.vectors = list(vectors)
        self.field = field or (self.vectors[0].field if self.vectors else None)

    def keep(self) -> "Columns":
        """Itself, to be stored when it is first computed."""
        return kept(self)

    def reference(self) -> list[dict[str, str]]:
        """How a checkpoint names it; a round stores what is not stored yet."""
        if self.vectors:
            self.vectors[0].field.ensure(*self.vectors)
        return [vector.reference() for vector in self.vectors]

    def content_key(self) -> bytes:
        """The keys of its vectors."""
        return b"\n".join(vector.content_key() for vector in self.vectors)

    def sample(self, masses: Vector, count: int, seed: int) -> tuple[Any, Any]:
        """About so many rows, drawn in proportion to their mass, and their weights; on the host."""
        total = float(masses.sum())
        args = (count / total, seed, Vector(masses.field, "vertices", "rows", np.arange), masses)
        drawn = Small(masses.field, "vertices", chunk_kernels.drawn, (*args, *self.vectors), "join").value()
        return drawn[:, 1:], drawn[:, 0]

    def nearest(self, centres: Any) -> Vector:
        """For each row the number of the nearest centre."""
        return kept(mapped(chunk_kernels.nearest, np.asarray(centres), *self.vectors, dtype=np.int64))

    @property
    def shape(self) -> tuple[int, int]:
        """(n, count)."""
        return (self.field.n_vertices if self.field else 0, len(self.vectors))

    @property
    def ndim(self) -> int:
        """2."""
        return 2

    @property
    def dtype(self) -> Any:
        """Of the numbers."""
        return np.dtype(np.float64)

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def T(self) -> "Rows":  # noqa: N802
        """The same, turned."""
        return Rows(self)

    def __getitem__(self, key: Any) -> Any:
        rows, chosen = key if isinstance(key, tuple) else (key, slice(None))
        if rows != slice(None) and rows != slice(0, len(self)):
            raise TypeError("rows of a scattered block are not on the host")
        if isinstance(chosen, int | np.integer):
            return self.vectors[chosen]
        if isinstance(chosen, slice):
            return Columns(self.vectors[chosen], self.field)
        return Columns([self.vectors[column] for column in chosen], self.field)

    def __setitem__(self, key: Any, value: Any) -> None:
        rows, chosen = key
        if rows != slice(None):
            raise TypeError("rows of a scattered block cannot be set")
        if isinstance(chosen, int | np.integer):
            self.vectors[chosen] = kept(value)
        else:
            self.vectors[chosen] = [kept(vector) for vector in value.vectors]

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        options.pop("out", None)
        if method != "__call__" or options:
            return NotImplemented
        if ufunc is np.matmul:
            return combined(*inputs)
        return columnwise(ufunc, *inputs)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        return FUNCTIONS[function](*args, **options) if function in FUNCTIONS else NotImplemented

    def __matmul__(self, small: Any) -> Any:
        return combined(self, small)

    def __truediv__(self, other: Any) -> "Columns":
        return columnwise(np.divide, self, other)

    def __mul__(self, other: Any) -> "Columns":
        return columnwise(np.multiply, self, other)

    def __rmul__(self, other: Any) -> "Columns":
        return columnwise(np.multiply, other, self)

    def __sub__(self, other: Any) -> "Columns":
        return columnwise(np.subtract, self, other)

    def __iter__(self) -> Iterator[Any]:
        raise TypeError("rows of a scattered block are not on the host")


class Rows:
    """A block turned, for products."""

    __slots__ = ("columns",)
    __array_ufunc__ = None

    def __init__(self, columns: Columns) -> None:
        self.columns = columns

    def __matmul__(self, other: Any) -> "Small":
        """The inner products with a vector, or with the columns of a block."""
        second = other if isinstance(other, Columns) else Columns([other])
        first, field = self.columns, second.field or self.columns.field
        shape = tuple(len(block.vectors) for block in (first, second))[: other.ndim]
        assert field is not None
        if not (first.vectors and second.vectors):
            empty = Small(field, "vertices", None, (), "sum")
            empty.settle(np.zeros(shape))
            return empty
        given = (len(first.vectors), shape, *first.vectors, *second.vectors)
        return Small(field, "vertices", chunk_kernels.gram, given, "sum")

    def __rmatmul__(self, small: Any) -> Any:
        """A row of coefficients times the rows: the combination of the vectors."""
        return combined(self.columns, np.asarray(small))

    def __iter__(self) -> Iterator[Any]:
        return iter(self.columns.vectors)


class Small:
    """A number, or a small array, that a round over the workers brings to the host.

    Each chunk or bundle gives a partial result, `function` of its arrays; `combine` tells how they are put
    together, and `then` what is done with the total.
    """

    __slots__ = ("args", "combine", "field", "function", "known", "side", "then")
    __array_priority__ = 2000.0

    def __init__(
        self,
        field: DaskSession,
        side: Side,
        function: Any,
        args: tuple[Any, ...],
        combine: Combine,
        then: Callable[[Any], Any] | None = None,
    ) -> None:
        self.field, self.side, self.function, self.args = field, side, function, args
        self.combine, self.then, self.known = combine, then, None

    def value(self) -> Any:
        """The value; asked for the first time, it runs a round."""
        if self.known is None:
            self.field.values([self])
        return self.known

    def settle(self, total: Any) -> None:
        """The total is known."""
        self.known = total if self.then is None else self.then(total)
        self.args = ()

    def get(self) -> Any:
        """The value as an array of the host."""
        return np.asarray(self.value())

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self.value(), dtype=dtype)

    def __float__(self) -> float:
        return float(self.value())

    def __int__(self) -> int:
        return int(self.value())

    def __bool__(self) -> bool:
        return bool(self.value())

    def __lt__(self, other: Any) -> Any:
        return self.value() < other

    def __gt__(self, other: Any) -> Any:
        return self.value() > other

    def __truediv__(self, other: Any) -> Any:
        return self.value() / other

    def __rtruediv__(self, other: Any) -> Any:
        return other / self.value()

    def __mul__(self, other: Any) -> Any:
        return self.value() * other

    __rmul__ = __mul__

    def __matmul__(self, other: Any) -> Any:
        return self.value() @ other


def together(values: Sequence[Any]) -> list[Any]:
    """The values of some small results, all from one round; what is known already stays as it is."""
    asked = [value for value in values if isinstance(value, Small) and value.known is None]
    if asked:
        asked[0].field.values(asked)
    return [value.value() if isinstance(value, Small) else value for value in values]


def kept(value: Any) -> Any:
    """The vector, or the columns, to be stored when they are first computed."""
    for vector in value.vectors if isinstance(value, Columns) else [value]:
        if vector.kind != "stored":
            vector.kept = True
    return value


def mapped(function: Any, *args: Any, dtype: Any = None) -> Vector:
    """A function of rows, applied to some rows at a time."""
    args = tuple(value.value() if isinstance(value, Small) else value for value in args)
    first = next(value for value in args if isinstance(value, Vector))
    if dtype is None:
        tried = [np.ones(1, dtype=v.dtype) if isinstance(v, Vector) else v for v in args]
        with np.errstate(all="ignore"):
            dtype = np.asarray(function(*tried)).dtype
    return Vector(first.field, first.side, "map", function, args, dtype=dtype)


def columnwise(function: Any, *args: Any) -> Columns:
    """A function of blocks, column by column; a block of one column, and a row of numbers, go with all."""
    count = max(len(value.vectors) for value in args if isinstance(value, Columns))

    def part(value: Any, column: int) -> Any:
        if isinstance(value, Columns):
            return value.vectors[column if len(value.vectors) > 1 else 0]
        if isinstance(value, Small):
            value = value.value()
        return value[column] if isinstance(value, np.ndarray) and value.ndim else value

    return Columns([mapped(function, *(part(value, column) for value in args)) for column in range(count)])


def combined(block: Columns, small: Any) -> Any:
    """The block times a small matrix, or times a column of coefficients."""
    small = np.asarray(small, dtype=np.float64)
    rows = mapped(chunk_kernels.product, np.atleast_2d(small.T), *block.vectors, dtype=np.float64)
    columns = [
        mapped(chunk_kernels.row, rows, number, dtype=np.float64)
        for number in range(small.shape[-1] if small.ndim > 1 else 1)
    ]
    return columns[0] if small.ndim == 1 else Columns(columns, block.field)


def dot(first: Any, second: Any) -> Small:
    """The inner product of two vectors, on either side."""
    return Small(first.field, first.side, np.dot, (first, second), "sum")


def _norm(vector: Vector) -> Small:
    return Small(vector.field, vector.side, chunk_kernels.square, (vector,), "sum", chunk_kernels.root)


def _count(mask: Vector) -> Small:
    return Small(mask.field, mask.side, np.count_nonzero, (mask,), "sum", int)


def _where(condition: Any, first: Any, second: Any) -> Vector:
    return mapped(np.where, condition, first, second)


def _clip(block: Any, low: float, high: float) -> Any:
    return (columnwise if isinstance(block, Columns) else mapped)(np.clip, block, low, high)


def _hstack(blocks: Sequence[Any]) -> Columns:
    return Columns([vector for block in blocks for vector in getattr(block, "vectors", [block])])


def _full_like(vector: Vector, value: Any, dtype: Any = None) -> Vector:
    return mapped(chunk_kernels.filled, vector, value, np.dtype(dtype or vector.dtype))


def _zeros_like(vector: Vector, dtype: Any = None) -> Vector:
    return _full_like(vector, 0, dtype)


def _ones_like(vector: Vector, dtype: Any = None) -> Vector:
    return _full_like(vector, 1, dtype)


def _bincount(codes: Vector, weights: Any = None, minlength: int = 0) -> Small:
    args = (minlength, codes) if weights is None else (minlength, codes, weights)
    return Small(codes.field, codes.side, chunk_kernels.counts, args, "sum")


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.bincount: _bincount,
    np.clip: _clip,
    np.column_stack: _hstack,
    np.count_nonzero: _count,
    np.full_like: _full_like,
    np.hstack: _hstack,
    np.linalg.norm: _norm,
    np.ones_like: _ones_like,
    np.where: _where,
    np.zeros_like: _zeros_like,
}
