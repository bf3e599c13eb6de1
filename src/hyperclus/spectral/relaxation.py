"""The semidefinite relaxation of NCut on vertex types, and ascent on the multipliers of its inequalities.

A type is a set of vertices; with one type for each vertex this is the whole relaxation. Let e(a) be the
vector q / q~(a) on type a and 0 elsewhere, where q~(a)^2 = vol(a), and let B be some orthonormal vectors
orthogonal to all e(a). The relaxation is restricted to matrices on the span of both, which is small however
many vertices there are. It serves to find multipliers; `lagrangian` proves what they are worth in all.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from hyperclus.engines.arrays import NUMPY
from hyperclus.engines.base import ArrayBackend
from hyperclus.spectral.laplacian import NormalizedLaplacian
from hyperclus.spectral.proof import Proof
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Floats, Incidence, Integers

PROXIMITY = 0.03  # weight of the proximal term; .1 took up to twice as long
STEPS = 60  # L-BFGS-B iterations between two searches for violated triangles
TRIANGLES_EACH = 10  # triangles that each vertex may have added at a time; 20 and more took longer
TRIANGLES_CARRIED = 40  # triangles for each type that are retained when types are split
MOST = 1e6  # largest multiplier in a case of branch and bound
VIOLATION = 1e-5  # least violation of an inequality with largest coefficient 1 that is added


@dataclass(frozen=True, slots=True, eq=False)
class Multipliers:
    """How much of each inequality is added to L_sym; with types, X and D take the place of Z."""

    pairs: Floats  # of Z(u, v) >= 0, in the order of `np.triu_indices(n, 1)`
    triples: Integers  # rows u, v, w, all different, of W(u, v) + W(u, w) <= W(u, u) + W(v, w)
    triangles: Floats  # of these, scaled as `triangle_rows` does

    @classmethod
    def none(cls, size: int) -> "Multipliers":
        """No multiples of any inequality between `size` vertices or types."""
        return cls(np.zeros(size * (size - 1) // 2), np.zeros((0, 3), dtype=np.int64), np.zeros(0))

    def joined(self, triples: Integers) -> "Multipliers":
        """Add further triangles, with multiplier 0."""
        places = (len(self.pairs) + 1) ** np.arange(3)  # with a base above every vertex, codes are unique
        added = triples[~np.isin(triples @ places, self.triples @ places)]
        triangles = np.concatenate([self.triangles, np.zeros(len(added))])
        return Multipliers(self.pairs, np.concatenate([self.triples, added]), triangles)

    def largest(self, count: int) -> "Multipliers":
        """The same with the `count` triangles that have the largest multipliers."""
        if len(self.triangles) <= count:
            return self
        kept = np.sort(np.argsort(-self.triangles, kind="stable")[:count])
        return Multipliers(self.pairs, self.triples[kept], self.triangles[kept])

    def positive(self, free: Integers | None = None) -> "Multipliers":
        """The same, where negative multipliers count as 0 and triangles without a multiplier are left out.

        Those of `free` pairs, given by their numbers, may have any sign.
        """
        used, pairs = self.triangles > 0, np.maximum(self.pairs, 0.0)
        if free is not None:
            pairs[free] = self.pairs[free]
        return Multipliers(pairs, self.triples[used], self.triangles[used])

    def coefficients(self, root: Floats) -> Floats:
        """The symmetric matrix that is added to L_sym; its diagonal belongs to Z(u, u), or D(a) of types."""
        n = len(root)
        added = np.asarray(triangle_rows(self.triples, root).T @ self.triangles).reshape(n, n)
        added[np.triu_indices(n, 1)] -= self.pairs
        return np.asarray((added + added.T) / 2)


class Rows(NamedTuple):
    """`triangle_rows` as arrays (t, 4), where a backend holds them."""

    columns: Integers
    entries: Floats

    @classmethod
    def of(cls, triples: Integers, root: Floats, backend: ArrayBackend = NUMPY) -> "Rows":
        """The rows of some triangles."""
        rows = triangle_rows(triples, root)
        columns = rows.indices.astype(np.int64).reshape(-1, 4)
        return cls(backend.put(columns), backend.put(rows.data.reshape(-1, 4)))

    def transposed(self, triangles: Floats, size: int) -> Floats:
        """The sum of the rows times the multipliers, as a matrix."""
        weights = (self.entries * triangles[:, None]).ravel()
        found = np.bincount(self.columns.ravel(), weights=weights, minlength=size * size)
        return found.astype(np.float64, copy=False).reshape(size, size)

    def products(self, matrix: Floats) -> Floats:
        """Left - right side of each triangle."""
        found: Floats = (self.entries * matrix.ravel()[self.columns]).sum(axis=1)
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Relaxation:
    """Minimise <L_sym, Z> over {Z : Z q = q, 0 <= Z <= I, trace Z = k}, which holds every partition.

    Z is given by its coefficients (m, m) on the vectors e(a) of r types and p further ones. Inequalities
    are between X(a, b) = e(a)' Z e(b) and, in the place of Z(u, u), D(a) = sum of Z(u, u) over u in a.
    The backend holds the arrays, those of the arguments and the results, too, but for multipliers and `free`.
    """

    laplacian: Floats  # L_sym on the m vectors
    root: Floats  # q~, of norm 1, (r,)
    grams: Floats  # (r, p * p): B_a' B_a with the rows of B in type a, so D(a) = X(a, a) + <gram, Z_B>
    mirror: Floats  # the vector that a reflection takes away twice, which exchanges q and -e_1
    above: tuple[Integers, Integers]  # the pairs a < b
    k: int
    additions: int  # n + |E|, the terms in the sums behind an entry of L_sym
    free: Integers | None = None  # numbers of the pairs known to be in different clusters: X(a, b) = 0
    backend: ArrayBackend = NUMPY

    @classmethod
    def of(cls, walk: RandomWalk, k: int) -> "Relaxation":
        """The relaxation of the k-way NCut of a walk, with one type for each vertex."""
        root = np.sqrt(walk.stationary)
        root /= np.linalg.norm(root)
        laplacian = NormalizedLaplacian(walk).dense()
        terms = walk.hypergraph.n_vertices + walk.hypergraph.n_edges
        return cls.on(laplacian, root, np.zeros((len(root), 0)), k, terms)

    @classmethod
    def on(
        cls,
        laplacian: Floats,
        root: Floats,
        grams: Floats,
        k: int,
        terms: int,
        backend: ArrayBackend = NUMPY,
    ) -> "Relaxation":
        """The relaxation on given vectors, the first of which are those of the types."""
        mirror = np.append(root, np.zeros(len(laplacian) - len(root)))
        mirror[0] += 1.0
        mirror *= np.sqrt(2 / (mirror @ mirror))
        put = backend.put
        first, second = map(put, np.triu_indices(len(root), 1))
        held = put(laplacian), put(root), put(grams), put(mirror)
        return cls(*held, (first, second), k, terms, backend=backend)

    def on_complement(self, matrix: Any) -> Any:
        """C'MC with the orthonormal basis C of the complement of q: columns 1, 2, ... of the reflection."""
        image = matrix @ self.mirror
        change = np.outer(self.mirror, image - self.mirror * ((self.mirror @ image) / 2))
        return (matrix - (change + change.T))[1:, 1:]

    def from_complement(self, vectors: Any) -> Any:
        """C times some columns."""
        found = -np.outer(self.mirror, self.mirror[1:] @ vectors)
        found[1:] += vectors
        return found

    def lagrangian(self, pairs: Floats, triangles: Floats, rows: Rows) -> Floats:
        """G = L_sym - the sum of pairs times X(a, b) + the sum of triangles times (left - right side)."""
        r = len(self.root)
        added = rows.transposed(triangles, r)
        added[self.above] -= pairs
        matrix = self.laplacian.copy()
        matrix[:r, :r] += (added + added.T) / 2
        if extra := len(matrix) - r:
            matrix[r:, r:] += (np.diag(added) @ self.grams).reshape(extra, extra)
        return matrix

    def between_types(self, z: Floats) -> Floats:
        """X with D on its diagonal."""
        r = len(self.root)
        matrix: Floats = z[:r, :r]
        if len(z) > r:
            matrix = matrix.copy()
            matrix.ravel()[:: r + 1] += self.grams @ z[r:, r:].ravel()
        return matrix

    def bound(self, multipliers: Multipliers) -> float:
        """The bound proven: q' G q + the k - 1 smallest eigenvalues on the complement, less rounding errors.

        Only for one type per vertex. S is the sum of the absolute values of all that is added up in G. Each
        entry of G is right to a small factor times (n + |E| + triangles) eps S, so <G, Z> is to that times
        ||S|| ||Z||, and ||Z|| = sqrt(k) (Frobenius norms). Each of the k values computed from G is right
        to a small factor times n eps ||S||. The small factor is taken as 20. Negative multipliers count as 0.
        """
        used = multipliers.positive(self.free)
        matrix = self._lagrangian_of(used)
        values = np.linalg.eigvalsh(self.on_complement(matrix))
        allowance = self.k * self.allowance(used)
        return float(self.root @ matrix @ self.root + values[: self.k - 1].sum()) - allowance

    def _lagrangian_of(self, used: Multipliers, magnitudes: bool = False) -> Floats:
        """G; or with the magnitudes of all multiples."""
        put = self.backend.put
        rows = self.rows(used.triples)
        if magnitudes:
            rows = Rows(rows.columns, abs(rows.entries))
        pairs = -np.abs(used.pairs) if magnitudes else used.pairs
        return self.lagrangian(put(pairs), put(used.triangles), rows)

    def rows(self, triples: Integers) -> Rows:
        """The rows of some triangles."""
        return Rows.of(triples, self.backend.fetch(self.root)[0], self.backend)

    def allowance(self, used: Multipliers) -> float:
        """What rounding errors may change in an eigenvalue or in q' G q; see `bound`."""
        size = self._lagrangian_of(used, magnitudes=True)
        size -= 2 * self.laplacian
        size.ravel()[:: len(size) + 1] += 2.0
        terms = 20 * self.additions + len(used.triangles)
        return terms * float(np.finfo(float).eps) * float(np.linalg.norm(size))

    def proof(self, multipliers: Multipliers) -> Proof:
        """The multipliers as a proof of slightly less than `bound`, for one type per vertex in host memory.

        s is the (k - 1)-th eigenvalue less a margin, and V V' lifts the smaller ones above s by the same.
        """
        used = multipliers.positive(self.free)
        matrix = self._lagrangian_of(used)
        values, vectors = np.linalg.eigh(self.on_complement(matrix))
        margin = 4 * (self.allowance(used) + len(matrix) ** 2 * np.finfo(float).eps)
        shift = float(values[self.k - 2]) - margin
        lifted = self.from_complement(vectors[:, : self.k - 2])
        correction = lifted * np.sqrt(np.maximum(values[self.k - 2] - values[: self.k - 2], 0.0))
        free = np.zeros(len(used.pairs), dtype=bool)
        if self.free is not None:
            free[self.free] = True
        ends, kept = np.column_stack(self.above), (used.pairs != 0) & ~free
        proof = Proof(self.k, shift, correction, ends[kept], used.pairs[kept], used.triples, used.triangles)
        return replace(proof, apart=ends[free], apart_values=used.pairs[free])

    def nearest(self, matrix: Floats) -> Floats:
        """The member of the set nearest to a symmetric matrix: eigenvalues shifted and clipped to [0, 1]."""
        values, vectors = np.linalg.eigh(self.on_complement(matrix))
        shares = _clipped(self.backend.fetch(values)[0], self.k - 1)
        first = len(shares) - int(np.count_nonzero(shares))  # eigenvalues ascend
        columns = self.from_complement(vectors[:, first:]) * self.backend.put(np.sqrt(shares[first:]))
        nearest: Floats = columns @ columns.T
        r = len(self.root)
        nearest[:r, :r] += np.outer(self.root, self.root)
        return nearest


def ascend(
    relaxation: Relaxation, start: Multipliers, centre: Floats, steps: int = STEPS
) -> tuple[Multipliers, Floats, int]:
    """One step of the proximal point method: better multipliers, the next centre and the evaluations.

    f = min over Z of <G, Z> + c/2 ||Z - centre||^2 is a smooth concave function of the multipliers, and its
    gradient is what the minimising Z violates (Malick, Povh, Rendl, Wiegele, SIAM J. Optimization, 2009).
    L-BFGS-B raises f. Triangles whose multiplier ends at 0 are dropped.
    """
    from scipy.optimize import Bounds, minimize

    n_pairs, backend = len(start.pairs), relaxation.backend
    rows = relaxation.rows(start.triples)

    def minimiser(stacked: Floats) -> tuple[Floats, Floats]:
        stacked = backend.put(stacked)
        matrix = relaxation.lagrangian(stacked[:n_pairs], stacked[n_pairs:], rows)
        return matrix, relaxation.nearest(centre - matrix / PROXIMITY)

    def negated(stacked: Floats) -> tuple[float, Floats]:
        matrix, z = minimiser(stacked)
        value = np.vdot(matrix, z) + PROXIMITY / 2 * np.linalg.norm(z - centre) ** 2
        seen = relaxation.between_types(z)
        violation = np.concatenate([seen[relaxation.above], -rows.products(seen)])
        value, violation = backend.fetch(value, violation)
        return -float(value), violation

    first = np.concatenate([start.pairs, start.triangles])
    least, most = np.zeros(len(first)), np.full(len(first), np.inf)
    if relaxation.free is not None:  # there may be no such partition; then there are no best multipliers
        most[:] = MOST
        least[relaxation.free] = -MOST
    allowed = Bounds(least, most)
    limits: Any = {"maxiter": steps, "maxfun": 2 * steps, "ftol": 0.0, "gtol": 1e-7}
    best = minimize(negated, first, jac=True, method="L-BFGS-B", bounds=allowed, options=limits)
    found = Multipliers(best.x[:n_pairs], start.triples, best.x[n_pairs:]).positive(relaxation.free)
    return found, minimiser(best.x)[1], best.nfev + 1


def triangle_rows(triples: Integers, root: Floats) -> Incidence:
    """Rows r with r . vec(Z) = left - right side of each triangle inequality; their largest entry is 1.

    Multiplied by q(u)^2 q(v) q(w), the inequality is
    q(u) q(w) Z(u, v) + q(u) q(v) Z(u, w) - q(v) q(w) Z(u, u) - q(u)^2 Z(v, w) <= 0.
    """
    n, (u, v, w) = len(root), triples.T
    q_u, q_v, q_w = root[u], root[v], root[w]
    entries = np.array([q_u * q_w, q_u * q_v, -q_v * q_w, -q_u * q_u])
    entries /= np.abs(entries).max(axis=0)
    columns = np.concatenate([u * n + v, u * n + w, u * n + u, v * n + w])
    rows = np.tile(np.arange(len(triples)), 4)
    return sp.csr_array((entries.ravel(), (rows, columns)), shape=(len(triples), n * n))


def violated_triangles(matrix: Floats, root: Floats, backend: ArrayBackend = NUMPY) -> Integers:
    """For each vertex u the ten triples (u, v, w), v < w, whose triangle inequality Z violates most."""
    z, q, n = backend.put(matrix), backend.put(root), len(root)
    shares = z / np.outer(q, q)  # W, which is cheaper to compare than Z
    above = np.where(backend.put(np.tri(n, dtype=bool)), np.inf, shares)
    found = []
    for u, q_u in enumerate(root.tolist()):
        pairs = np.flatnonzero(shares[u][:, None] + (shares[u] - shares[u, u]) > above)
        v, w = pairs // n, pairs % n
        both, larger = q[v] * q[w], np.maximum(q[v], q[w])
        excess = q_u * (q[w] * z[u, v] + q[v] * z[u, w]) - z[u, u] * both - q_u * q_u * z[v, w]
        excess /= np.maximum(both, q_u * np.maximum(larger, q_u))
        violated = excess > VIOLATION
        pairs, excess = pairs[violated], excess[violated]
        v, w = np.divmod(backend.fetch(pairs[np.argsort(-excess, kind="stable")[:TRIANGLES_EACH]])[0], n)
        found.append(np.column_stack([np.full(len(v), u), v, w]))
    return np.concatenate(found)


def refined(multipliers: Multipliers, parents: Integers, before: Floats, after: Floats) -> Multipliers:
    """The multipliers of smaller types that add the same to L_sym; type a was part of `parents[a]`.

    X(a, b) = S(a, b) / (q~(a) q~(b)), and sums S over parts add up. `before` and `after` are q~.
    """
    n = len(after)
    table = np.zeros((len(before),) * 2)
    table[np.triu_indices(len(before), 1)] = multipliers.pairs
    table = (table + table.T) / np.outer(before, before)
    pairs = (table[np.ix_(parents, parents)] * np.outer(after, after))[np.triu_indices(n, 1)]
    children = [np.flatnonzero(parents == parent) for parent in range(len(before))]
    per_sum = multipliers.triangles / triple_scale(multipliers.triples, before)
    triples, triangles = [np.zeros((0, 3), dtype=np.int64)], [np.zeros(0)]
    for triple, value in zip(multipliers.triples, per_sum, strict=True):
        parts = np.array(np.meshgrid(*(children[parent] for parent in triple))).reshape(3, -1).T
        triples.append(parts)
        triangles.append(value * triple_scale(parts, after))
    everything = Multipliers(pairs, np.concatenate(triples), np.concatenate(triangles))
    return everything.largest(TRIANGLES_CARRIED * n)


def triple_scale(triples: Integers, root: Floats) -> Floats:
    """The factor c q(v) q(w) by which `triangle_rows` divides vol(w) S(u, v) + vol(v) S(u, w) - ..."""
    q_u, q_v, q_w = root[triples].T
    largest = np.maximum(q_u * np.maximum(np.maximum(q_v, q_w), q_u), q_v * q_w)
    return np.asarray(largest * q_v * q_w)


def _clipped(values: Floats, total: int) -> Floats:
    """clip(values - t, 0, 1) with the t that makes the sum `total`, by bisection."""
    low, high = values.min() - 1.0, values.max()
    for _ in range(60):
        middle = (low + high) / 2
        if np.clip(values - middle, 0.0, 1.0).sum() > total:
            low = middle
        else:
            high = middle
    return np.asarray(np.clip(values - low, 0.0, 1.0))
