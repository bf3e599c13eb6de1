"""Lazy vectors in chunks on many workers.

A `Vector` follows NumPy's protocols, so the solvers that run on arrays run on it: arithmetic only records an
expression. What a solver reads on the host (a sum, an inner product) is a `Reduction`; asking for its value
runs everything that it depends on in one round over the workers. `fetch` asks for several in the same round.
A vector that is persisted is stored by the first round that computes it.
"""

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from hyperclus.engines.dask import chunk_kernels

if TYPE_CHECKING:
    from hyperclus.engines.dask.session import DaskSession

Side: TypeAlias = Literal["vertices", "edges"]
Combine: TypeAlias = Literal["sum", "max", "min", "join"]


class Expression(NDArrayOperatorsMixin):
    """What vectors and blocks of them share: NumPy's functions give new expressions."""

    __slots__ = ()

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        options.pop("out", None)  # x += y gives a new expression, which then is x
        if method != "__call__" or options:
            return NotImplemented
        if ufunc is not np.matmul:
            return mapped(ufunc, *inputs)
        return combined(*inputs) if isinstance(inputs[0], Columns) else reduced(np.dot, *inputs)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        return FUNCTIONS[function](*args, **options) if function in FUNCTIONS else NotImplemented


@dataclass(slots=True, weakref_slot=True, eq=False, repr=False)
class Vector(Expression):
    """One value for each vertex, or for each hyperedge, as an expression.

    Kinds are "stored" (payload: the name), "map" (a function of arrays, applied to rows), "local" (the name
    of a method of a block), "gather" (from vertices to those of a block), "static" (the same for a stored
    vector, which the block keeps), "scatter" (from blocks to vertices; payload: how contributions are
    combined), and "rows" (a function of the first and last row).
    """

    session: "DaskSession"
    side: Side
    kind: str
    payload: Any
    args: tuple[Any, ...] = ()  # vectors, and any other values
    dtype: Any = np.float64
    persisted: bool = False  # whether to store it when it is first computed
    ndim: ClassVar[int] = 1

    def __post_init__(self) -> None:
        self.dtype = np.dtype(self.dtype)

    def set_stored(self, name: str) -> None:
        """Replace the expression by the name under which it has been stored."""
        self.kind, self.payload, self.args, self.persisted = "stored", name, (), False

    def reference(self) -> dict[str, str]:
        """How a checkpoint names it; a round stores it first, if necessary."""
        self.session.ensure_stored(self)
        return {"name": self.payload, "side": self.side, "dtype": self.dtype.str}

    def content_key(self) -> bytes:
        """The name it is stored under: a vector that a checkpoint restores keeps its name."""
        return "{name} {side} {dtype}".format(**self.reference()).encode()

    @property
    def shape(self) -> tuple[int]:
        return (len(self),)

    def __len__(self) -> int:
        if self.side != "vertices":
            raise TypeError("a vector of hyperedges has no length on the host")
        return self.session.n_vertices

    def __getitem__(self, key: Any) -> Any:
        if key == slice(None) or key == slice(0, len(self)):
            return self
        if isinstance(key, tuple) and key[1] is None:
            return Columns([self])
        raise TypeError(f"element {key!r} of a vector is not on the host")

    def astype(self, dtype: Any, copy: bool = True) -> "Vector":
        return self if self.dtype == dtype else mapped(np.asarray, self, np.dtype(dtype))

    def sum(self) -> "Reduction":
        return reduced(np.sum, self)

    def max(self) -> "Reduction":
        return reduced(chunk_kernels.largest, self, how="max")

    def min(self) -> "Reduction":
        return reduced(chunk_kernels.smallest, self, how="min")

    def all(self) -> "Reduction":
        return reduced(np.all, self, how="min")

    def any(self) -> "Reduction":
        return reduced(np.any, self, how="max")


class Columns(Expression):
    """Vectors as the columns of an (n, count) block, as far as solvers use one."""

    __slots__ = ("session", "vectors")
    ndim, dtype = 2, np.dtype(np.float64)

    def __init__(self, vectors: Sequence[Any], session: "DaskSession | None" = None) -> None:
        self.vectors = list(vectors)
        self.session = session or (self.vectors[0].session if self.vectors else None)

    def reference(self) -> list[dict[str, str]]:
        """How a checkpoint names it; a round stores what is not stored yet."""
        if self.vectors:
            self.vectors[0].session.ensure_stored(*self.vectors)
        return [vector.reference() for vector in self.vectors]

    def content_key(self) -> bytes:
        return b"\n".join(vector.content_key() for vector in self.vectors)

    @property
    def shape(self) -> tuple[int, int]:
        return (self.session.n_vertices if self.session else 0, len(self.vectors))

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def T(self) -> "Rows":  # noqa: N802
        return Rows(self)

    def __getitem__(self, key: Any) -> Any:
        rows, chosen = key if isinstance(key, tuple) else (key, slice(None))
        if rows != slice(None) and rows != slice(0, len(self)):
            raise TypeError("rows of a block are not on the host")
        if isinstance(chosen, int | np.integer):
            return self.vectors[chosen]
        if isinstance(chosen, slice):
            return Columns(self.vectors[chosen], self.session)
        return Columns([self.vectors[column] for column in chosen], self.session)

    def __setitem__(self, key: Any, value: Any) -> None:
        rows, chosen = key
        if rows != slice(None):
            raise TypeError("rows of a block cannot be set")
        persist(value)
        self.vectors[chosen] = value.vectors if isinstance(value, Columns) else value

    def __iter__(self) -> Iterator[Any]:
        raise TypeError("rows of a block are not on the host")


class Rows:
    """The transpose of a block, for products."""

    __slots__ = ("columns",)
    __array_ufunc__ = None

    def __init__(self, columns: Columns) -> None:
        self.columns = columns

    def __matmul__(self, other: Any) -> "Reduction":
        """The inner products with a vector, or with the columns of a block."""
        second = other if isinstance(other, Columns) else Columns([other])
        first = self.columns.vectors
        shape = (len(first), len(second.vectors))[: other.ndim]
        if first and second.vectors:
            return reduced(chunk_kernels.gram, len(first), shape, *first, *second.vectors)
        empty = Reduction(second.session or self.columns.session, "vertices", None, ())
        empty.set_total(np.zeros(shape))
        return empty

    def __rmatmul__(self, small: Any) -> Any:
        """Multiply a row of coefficients by the rows: a combination of the vectors."""
        return combined(self.columns, np.asarray(small))

    def __iter__(self) -> Iterator[Any]:
        return iter(self.columns.vectors)


@dataclass(slots=True, eq=False, repr=False)
class Reduction(NDArrayOperatorsMixin):
    """A number, or a small array, that a round over the workers brings to the host.

    Each chunk or block gives a partial result, `function` of its arrays; `how` says how these are combined,
    and `then` what is done with the total.
    """

    session: Any
    side: Side
    function: Any
    args: tuple[Any, ...]
    how: Combine = "sum"
    then: Callable[[Any], Any] | None = None
    known: Any = None

    def value(self) -> Any:
        """The value; the first call runs a round."""
        if self.known is None:
            self.session.compute([self])
        return self.known

    def set_total(self, total: Any) -> None:
        """Set the value from the total of the partial results."""
        self.known = total if self.then is None else self.then(total)
        self.args = ()

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self.value(), dtype=dtype)

    def __float__(self) -> float:
        return float(self.value())

    def __int__(self) -> int:
        return int(self.value())

    def __bool__(self) -> bool:
        return bool(self.value())

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return getattr(ufunc, method)(*fetch(inputs), **options)


def fetch(values: Sequence[Any]) -> list[Any]:
    """The values of some reductions, all from one round; other values are returned as they are."""
    asked = [value for value in values if isinstance(value, Reduction) and value.known is None]
    if asked:
        asked[0].session.compute(asked)
    return [value.value() if isinstance(value, Reduction) else value for value in values]


def persist(value: Any) -> Any:
    """Mark a vector, or columns, to be stored when first computed."""
    for vector in value.vectors if isinstance(value, Columns) else [value]:
        vector.persisted = vector.kind != "stored"
    return value


def reduced(function: Any, *args: Any, how: Combine = "sum", then: Any = None) -> Reduction:
    """Reduce the rows of vectors, on either side."""
    first = next(value for value in args if isinstance(value, Vector))
    return Reduction(first.session, first.side, function, args, how, then)


def mapped(function: Any, *args: Any, dtype: Any = None) -> Any:
    """Apply a function to the rows of vectors, some rows at a time, or to those of each column of blocks.

    A block of one column and a row of numbers are broadcast.
    """
    args = tuple(fetch(args))
    if blocks := [value for value in args if isinstance(value, Columns)]:
        columns = range(max(len(block.vectors) for block in blocks))
        return Columns([mapped(function, *(_column(value, one) for value in args)) for one in columns])
    first = next(value for value in args if isinstance(value, Vector))
    if dtype is None:
        tried = [np.ones(1, dtype=v.dtype) if isinstance(v, Vector) else v for v in args]
        with np.errstate(all="ignore"):
            dtype = np.asarray(function(*tried)).dtype
    return Vector(first.session, first.side, "map", function, args, dtype=dtype)


def _column(value: Any, column: int) -> Any:
    if isinstance(value, Columns):
        return value.vectors[column if len(value.vectors) > 1 else 0]
    return value[column] if isinstance(value, np.ndarray) and value.ndim else value


def combined(block: Columns, small: Any) -> Any:
    """Multiply a block by a small matrix, or by a column of coefficients."""
    small = np.asarray(small, dtype=np.float64)
    factors = np.atleast_2d(small.T)
    rows = mapped(chunk_kernels.product, factors, *block.vectors, dtype=np.float64)
    columns = [mapped(operator.getitem, rows, one, dtype=np.float64) for one in range(len(factors))]
    return columns[0] if small.ndim == 1 else Columns(columns, block.session)


def _hstack(blocks: Sequence[Any]) -> Columns:
    return Columns([vector for block in blocks for vector in getattr(block, "vectors", [block])])


def _full_like(vector: Vector, value: Any, dtype: Any = None) -> Vector:
    return mapped(np.full_like, vector, value, np.dtype(dtype or vector.dtype))


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.bincount: lambda codes, weights=None, minlength=0: reduced(np.bincount, codes, weights, minlength),
    np.clip: lambda block, low, high: mapped(np.clip, block, low, high),
    np.column_stack: _hstack,
    np.count_nonzero: lambda mask: reduced(np.count_nonzero, mask, then=int),
    np.full_like: _full_like,
    np.hstack: _hstack,
    np.linalg.norm: lambda vector: reduced(np.dot, vector, vector, then=np.sqrt),
    np.ones_like: lambda vector, dtype=None: _full_like(vector, 1, dtype),
    np.where: lambda *args: mapped(np.where, *args),
    np.zeros_like: lambda vector, dtype=None: _full_like(vector, 0, dtype),
}
