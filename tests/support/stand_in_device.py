"""Arrays that behave as those of a GPU do, and kernels for them, in NumPy.

As with CuPy, NumPy's functions work on them and give such arrays back; nothing turns one into an array of the
host without being asked (`get`), and one that meets an array of the host is an error. So code that passes
here does not mix the two.
"""

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import scipy.sparse as sp

from hyperclus.engines import cuda_device

WHOLE = cuda_device.Layout(width=10**9, long=10**9, piece=10**9)


class DeviceArray(np.lib.mixins.NDArrayOperatorsMixin):
    """An array on the stand-in's device."""

    def __init__(self, values):
        self._values = values

    def __array__(self, *_, **__):
        raise TypeError("implicit conversion to an array of the host")

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **options):
        if out is not None:
            options["out"] = tuple(map(_inside, out))
        return _wrapped(getattr(ufunc, method)(*map(_inside, inputs), **options))

    def __array_function__(self, function, _, arguments, options):
        return _wrapped(function(*_inside(arguments), **_inside(options)))

    def __getattr__(self, name):
        found = getattr(self._values, name)
        if name in ("dtype", "ndim", "shape", "size"):
            return found
        if callable(found):
            return lambda *arguments, **options: _wrapped(found(*_inside(arguments), **_inside(options)))
        return _wrapped(found)

    def __getitem__(self, key):
        return _wrapped(self._values[_inside(key)])

    def __setitem__(self, key, value):
        self._values[_inside(key)] = _inside(value)

    def __len__(self):
        return len(self._values)

    def __bool__(self):
        return bool(self._values)

    def __float__(self):
        return float(self._values)

    def __int__(self):
        return int(self._values)

    def get(self):
        """The array on the host."""
        return np.array(self._values)

    def set(self, values):
        """Copy an array of the host here."""
        assert type(values) is np.ndarray
        assert values.dtype == self.dtype
        self._values[...] = values


def _wrapped(found):
    if isinstance(found, tuple):
        return tuple(map(_wrapped, found))
    return DeviceArray(np.asarray(found)) if isinstance(found, np.ndarray | np.generic) else found


def _inside(value):
    """What NumPy is to work on; an array of the host, other than a single number, is an error."""
    if isinstance(value, DeviceArray):
        return value._values
    if isinstance(value, np.ndarray):
        raise TypeError("an array of the host among those of the device")
    if isinstance(value, dict):
        return {name: _inside(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(_inside, value))
    return value


def asarray(values, dtype=None):
    """A copy on the device, or the array itself."""
    values = values._values if isinstance(values, DeviceArray) else np.array(values)
    return DeviceArray(np.asarray(values, dtype=dtype))


def _made(function):
    return lambda *arguments, **options: DeviceArray(function(*_inside(arguments), **_inside(options)))


empty, zeros, full, ascontiguousarray = map(_made, (np.empty, np.zeros, np.full, np.ascontiguousarray))
argsort, bincount, flatnonzero = map(
    _made, (lambda a: np.argsort(a, kind="stable"), np.bincount, np.flatnonzero)
)


def cumsum(values, out):
    """Running sums, into an array of the device."""
    np.cumsum(values._values, out=out._values)


class _Generator:
    def __init__(self, seed):
        self._rng = np.random.default_rng(seed)

    def standard_normal(self, size):
        return DeviceArray(self._rng.standard_normal(size))


random = SimpleNamespace(default_rng=_Generator)


class StandIn(cuda_device.Device):
    """The kernels in NumPy."""

    def __init__(self, layout=WHOLE, free=10**12):
        from support import stand_in_device

        self.xp, self.layout, self._free = stand_in_device, layout, free

    def copying(self, array, dtype):
        """A copy, at once."""
        with np.errstate(over="ignore", under="ignore"):
            return DeviceArray(np.array(array, dtype=dtype)), lambda: None

    def fetched(self, array):
        """The array on the host."""
        return array.get()

    def bytes_free(self):
        """As many bytes as the test says."""
        return self._free

    def free(self):
        """Nothing is held."""

    def expanded(self, ptr, size):
        """The row of each entry."""
        rows = np.repeat(np.arange(len(ptr) - 1, dtype=np.int32), np.diff(ptr._values))
        assert len(rows) == size
        return DeviceArray(rows)

    def block_pointers(self, ptr, idx, width, count):
        """Where each short row begins in each block, and where the blocks do."""
        pointers = np.zeros((count, len(ptr)), dtype=np.int32)
        for row, (first, last) in enumerate(pairwise(ptr._values)):
            entries = idx._values[first:last] if last - first <= self.layout.long else []
            for block in range(count):
                inside = sum(1 for column in entries if column // width == block)
                pointers[block, row + 1] = pointers[block, row] + inside
        return DeviceArray(pointers), [0, *np.cumsum(pointers[:, -1]).tolist()]

    def fill_blocks(self, csr, width, pointers, starts, to):
        """Put the entries of the short rows into their blocks."""
        ptr, idx, weights = (array._values for array in csr)
        for row, (first, last) in enumerate(pairwise(ptr)):
            for block in range(len(starts) - 1) if last - first <= self.layout.long else ():
                chosen = first + np.flatnonzero(idx[first:last] // width == block)
                begin = starts[block] + pointers._values[block, row]
                to[0]._values[begin : begin + len(chosen)] = idx[chosen]
                to[1]._values[begin : begin + len(chosen)] = weights[chosen]

    def sums(self, block, width, power, alpha, x, out, first):
        """The sums of one block, or pairs of them."""
        ptr, idx, weights = (array._values for array in block)
        values, sums = x._values.reshape(-1, width), out._values.reshape(-1, width)
        assert x.dtype == out.dtype
        powers = [1, power] if width == 2 else [power]
        for column, kind in enumerate(powers):
            exponent = {0: 0.0, 1: 1.0, 2: alpha}[kind]
            shape = (len(ptr) - 1, len(values))
            matrix = sp.csr_array((weights.astype(x.dtype) ** x.dtype.type(exponent), idx, ptr), shape=shape)
            found = matrix @ values[:, column]
            sums[:, column] = found if first else sums[:, column] + found

    def pieces(self, rows, width, power, alpha, x, parts):
        """The sums of the pieces of long rows."""
        bounds = rows.bounds._values
        assert (np.diff(bounds) <= self.layout.piece).all()
        self.sums((DeviceArray(bounds), rows.idx, rows.weights), width, power, alpha, x, parts, True)

    def join_pieces(self, rows, width, parts, out):
        """Add the pieces of each long row."""
        found, sums = parts._values.reshape(-1, width), out._values.reshape(-1, width)
        for row, (first, last) in zip(rows.rows._values, pairwise(rows.first_piece._values), strict=True):
            sums[row] = found[first:last].sum(axis=0)

    def least_share(self, block, power, alpha, given, least):
        """Lower `least` of each row to the least of its entries in one block."""
        ptr, idx, weights = (array._values for array in block)
        out_row, out_column, in_row, in_column = (array._values for array in given)
        rows = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
        source_weights = weights ** {0: 0.0, 1: 1.0, 2: alpha}[power]
        going = out_row[rows] * out_column[idx] * source_weights
        np.minimum.at(least._values, rows, np.maximum(going, in_row[rows] * in_column[idx] * weights))

    def cluster_sums(self, block, weigh, to):
        """Add the sums of one block by the cluster of the column."""
        ptr, idx, weights = (array._values for array in block)
        rows = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
        entries = slice(ptr[0], ptr[-1])
        scale = to.scale._values[rows]
        alone = to.tables[0] is None
        self._by_cluster(rows, (idx[entries], weights[entries]), weigh, to, (scale, scale if alone else 1.0))

    def cluster_pieces(self, rows, weigh, to):
        """The sums of the pieces of long rows by the cluster of the column."""
        bounds = rows.bounds._values
        for table in to.tables:
            if table is not None:
                table._values[...] = 0.0
        pieces = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
        self._by_cluster(pieces, (rows.idx._values, rows.weights._values), weigh, to, (1.0, 1.0))

    def _by_cluster(self, rows, entries, weigh, to, scales):
        idx, weights = entries[0], entries[1].astype(weigh.dtype)
        clusters = weigh.labels._values[idx] - to.first
        inside = (clusters >= 0) & (clusters < to.columns)
        values = weights, _powers(weights, weigh) * weigh.values._values[idx]
        for table, value, scale in zip(to.tables, values, scales, strict=True):
            if table is not None:
                np.add.at(table._values, (rows[inside], clusters[inside]), (value * scale)[inside])

    def gather(self, matrix, rows, weigh, table, columns, out):
        """For some rows the weighted sums of rows of a table."""
        out._values[...] = 0.0
        for ptr, idx, weights in matrix.blocks:
            some = ptr._values[rows.start : rows.stop + 1]
            self._gathered(some, idx._values, weights._values, weigh, table._values[:, columns], out)

    def gather_pieces(self, rows, weigh, table, columns, parts):
        """The same for the pieces of long rows."""
        parts._values[...] = 0.0
        given = rows.idx._values, rows.weights._values, weigh, table._values[:, columns]
        self._gathered(rows.bounds._values, *given, parts)

    def _gathered(self, ptr, idx, weights, weigh, table, out):
        entries = slice(ptr[0], ptr[-1])
        rows = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
        powers = _powers(weights[entries].astype(weigh.dtype), weigh)
        np.add.at(out._values, rows, powers[:, None] * table[idx[entries]])


def _powers(weights, weigh):
    return weights ** {0: 0.0, 1: 1.0, 2: float(weigh.alpha)}[weigh.power]
