"""hyperedge2vec (event2vec): embed vertices as mean codes of their hyperedges, then k-means.

The auto-encoder maps the 0/1 row X of each hyperedge's members to a short code and back (see
`hyperedge2vec`). With sigmoid(z) = (1 + t)/2, t = tanh(z/2), the derivative of the loss by a decoder's
pre-activation z is

    (1 + t)(1 - t^2)/4 where X = 0,    -positive_weight^2 (1 - t)(1 - t^2)/4 where X = 1,

and tanh approaches +-1 without overflow and without denormal numbers. X stays sparse. The decoder works on a
block of vertices at a time, so that only the parameters and one block are in memory.
"""

from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike, NDArray

from hyperclus._runtime.random import random_generator
from hyperclus._runtime.threads import single_blas_thread
from hyperclus.clustering.partition import Partition
from hyperclus.errors import InputError, check_integer, is_number
from hyperclus.hypergraph.hypergraph import Hypergraph, check_hypergraph, check_incidences
from hyperclus.research.baselines.scoring import scored_vectors, sklearn_cluster
from hyperclus.typing import Floats, Seed

Reals: TypeAlias = NDArray[Any]  # float32, or float64 in tests
Rows: TypeAlias = "sp.csr_array[Any, tuple[int, int]]"

BLOCK = 512  # vertices that the decoder processes at a time: with 128 hyperedges they fit the cache
CHUNK = 1 << 16  # parameters that Adam updates at a time
MEAN_DECAY, SQUARE_DECAY, EPSILON = 0.9, 0.999, 1e-8  # Adam's usual constants
FLUSH_EVERY = 64  # steps; in between, a shrinking number loses less than three digits
TINY = 1e-15  # its square, even three digits below, is not denormal in float32


@dataclass(frozen=True, slots=True, kw_only=True)
class AutoEncoderOptions:
    """Options of `hyperedge2vec` and `hyperedge2vec_vectors`.

    Attributes
    ----------
    dimension : int
        Length of a code and of a vector.
    epochs, batch : int
        Each epoch draws floor(n_edges / batch) batches of `batch` different hyperedges, each from all
        hyperedges; one batch of all hyperedges if there are fewer.
    learning_rate : float
        Of Adam, at most 1.
    positive_weight : float
        Factor of an error on a member before it is squared, from 1 to 1000.
    """

    dimension: int = 64
    epochs: int = 200
    batch: int = 128
    learning_rate: float = 0.01
    positive_weight: float = 30.0

    def __post_init__(self) -> None:
        for name in ("dimension", "epochs", "batch"):
            check_integer(name, getattr(self, name))
        if not is_number(self.learning_rate) or not 0 < self.learning_rate <= 1:
            raise InputError(
                f"learning_rate must be a number above 0 and at most 1; got {self.learning_rate!r}"
            )
        if not is_number(self.positive_weight) or not 1 <= self.positive_weight <= 1000:
            raise InputError(f"positive_weight must be a number from 1 to 1000; got {self.positive_weight!r}")


def hyperedge2vec(hypergraph: Hypergraph, k: int = 2, *, seed: Seed = 0, **options: Any) -> Partition:
    """event2vec (Fu, Yuan, Duan, Yao, ICONIP 2019): a vector per vertex, then k-means on the vectors.

    An auto-encoder maps the 0/1 rows X of the hyperedges' members to codes: code = sigmoid(X W + b) and
    Xhat = sigmoid(code U^T + c). Adam minimises
    ||(X - Xhat) * (1 + (positive_weight - 1) X)||_F^2 + 1/2 ||W, b, U, c||^2 on batches of hyperedges. The
    vector of a vertex is the mean code of its hyperedges. omega and gamma are only used to score the result.
    Empty hyperedges are ignored.

    Parameters
    ----------
    seed : int, Generator or None
        Seed of the initial weights, the batches and k-means. The same integer gives the vectors of
        `hyperedge2vec_vectors`.
    **options
        See `AutoEncoderOptions`.

    Raises
    ------
    InputError
        For invalid arguments, and if fewer than k vectors differ.
    MissingLibraryError
        Without scikit-learn: `pip install 'hyperclus[embeddings]'`.

    Examples
    --------
    >>> h = Hypergraph.from_edges([["a", "b", "c"], ["a", "b"], ["c", "d"], ["d", "e", "f"], ["e", "f"]])
    >>> sorted(hyperedge2vec(h).sizes.tolist())
    [3, 3]
    """
    sklearn_cluster("hyperedge2vec")
    settings = asdict(AutoEncoderOptions(**options))
    return scored_vectors(hypergraph, k, hyperedge2vec_vectors, settings, seed)


@single_blas_thread
def hyperedge2vec_vectors(hypergraph: Hypergraph, *, seed: Seed = 0, **options: Any) -> Floats:
    """The vectors that `hyperedge2vec` clusters, of shape (n_vertices, dimension), with the same arguments.

    The row of a vertex in no hyperedge is NaN.

    Examples
    --------
    >>> h = Hypergraph.from_edges([["a", "b"], ["b", "c"]])
    >>> hyperedge2vec_vectors(h, dimension=4, epochs=10).shape
    (3, 4)
    """
    check_hypergraph(hypergraph)
    check_incidences(hypergraph)
    chosen = AutoEncoderOptions(**options)
    rng = random_generator(seed)
    gamma, covered = hypergraph.gamma, hypergraph.covered
    ones = np.ones(gamma.nnz, dtype=np.float32)
    rows = sp.csr_array((ones, gamma.indices, gamma.indptr), shape=gamma.shape)
    rows = rows[hypergraph.edge_sizes > 0][:, covered]
    codes = encode(train(rows, chosen, rng), rows)
    vectors = np.full((hypergraph.n_vertices, chosen.dimension), np.nan)
    vectors[covered] = (rows.T @ codes) / rows.sum(axis=0)[:, None]
    return vectors


class Layers:
    """The parameters, or the derivative of the loss by them, as parts of one flat array, at first 0."""

    def __init__(self, n_vertices: int, dimension: int, dtype: DTypeLike = np.float32) -> None:
        size, shape = n_vertices * dimension, (n_vertices, dimension)
        self.flat: Reals = np.zeros(2 * size + dimension + n_vertices, dtype=dtype)
        parts = np.split(self.flat, [size, size + dimension, 2 * size + dimension])
        self.encoder, self.encoder_bias = parts[0].reshape(shape), parts[1]  # W, b
        self.decoder, self.decoder_bias = parts[2].reshape(shape), parts[3]  # U, c


def train(rows: Rows, options: AutoEncoderOptions, rng: np.random.Generator) -> Layers:
    """Train with Adam on random batches; W and U start at N(0, 1), the biases at 0."""
    n_edges, n_vertices = rows.shape
    batch = min(options.batch, n_edges)
    parameters, gradient = (Layers(n_vertices, options.dimension) for _ in range(2))
    for weights in (parameters.encoder, parameters.decoder):
        rng.standard_normal(out=weights, dtype=np.float32)
    adam = Adam(parameters.flat, options.learning_rate)
    drawn, members = rows, sp.csr_array(rows.T)
    for _ in range(options.epochs * (n_edges // batch)):
        if batch < n_edges:
            drawn = rows[rng.choice(n_edges, batch, replace=False, shuffle=False)]
            members = sp.csr_array(drawn.T)
        differentiate(parameters, drawn, members, options.positive_weight, gradient)
        adam.step(gradient.flat)
    return parameters


def encode(parameters: Layers, rows: Rows) -> Reals:
    """The code of each hyperedge, sigmoid(X W + b), (n_edges, dimension)."""
    codes: Reals = rows @ parameters.encoder
    codes += parameters.encoder_bias
    codes /= 2
    np.tanh(codes, out=codes)
    codes += 1
    codes /= 2
    return codes


def differentiate(
    parameters: Layers,
    rows: Rows,
    members: Rows,
    positive_weight: float,
    gradient: Layers,
    block: int = BLOCK,
) -> None:
    """Fill `gradient` with the derivative of the loss of a batch; `members` is the transpose of its rows."""
    n_vertices, batch = members.shape
    codes = encode(parameters, rows)
    halves, quarters = np.ascontiguousarray(codes.T) / 2, codes / 4
    quarter = np.full(batch, 0.25, dtype=codes.dtype)
    half_bias = parameters.decoder_bias / 2
    to_codes = np.zeros_like(codes)
    buffers = np.empty((2, min(block, n_vertices), batch), dtype=codes.dtype)
    for first in range(0, n_vertices, block):
        part = slice(first, min(first + block, n_vertices))
        slope, back = buffers[:, : part.stop - first]
        np.matmul(parameters.decoder[part], halves, out=back)
        back += half_bias[part, None]
        np.tanh(back, out=back)
        np.multiply(back, back, out=slope)
        np.subtract(1, slope, out=slope)
        indptr = members.indptr[first : part.stop + 1]
        ones = np.repeat(np.arange(len(slope)) * batch, np.diff(indptr))  # flat positions of the members
        ones += members.indices[indptr[0] : indptr[-1]]
        at_ones = -(positive_weight**2) * (1 - back.take(ones)) * slope.take(ones)
        back += 1
        back *= slope
        back.put(ones, at_ones)
        np.matmul(back, quarters, out=gradient.decoder[part])
        np.matmul(back, quarter, out=gradient.decoder_bias[part])
        to_codes += back.T @ parameters.decoder[part]
    to_codes *= quarters * (1 - codes)
    gradient.encoder[:] = members @ to_codes
    to_codes.sum(axis=0, out=gradient.encoder_bias)
    gradient.flat[:] += parameters.flat


class Adam:
    """Adam (Kingma and Ba, ICLR 2015), in place: p -= rate mean / (sqrt(square) + 1e-8).

    `mean` and `square` are the usual moments without the factors 1 - decay; the rate contains these and
    the bias correction.
    """

    def __init__(self, parameters: Reals, learning_rate: float, chunk: int = CHUNK) -> None:
        self.parameters, self.learning_rate, self.chunk, self.steps = parameters, learning_rate, chunk, 0
        self.means, self.squares = np.zeros_like(parameters), np.zeros_like(parameters)

    def step(self, gradient: Reals) -> None:
        """Move the parameters against the gradient, which is overwritten."""
        self.steps += 1
        mean_scale = (1 - MEAN_DECAY) / (1 - MEAN_DECAY**self.steps)
        square_scale = np.sqrt((1 - SQUARE_DECAY) / (1 - SQUARE_DECAY**self.steps))
        rate = float(self.learning_rate * mean_scale / square_scale)
        epsilon = float(EPSILON / square_scale)
        for first in range(0, len(gradient), self.chunk):
            part = slice(first, first + self.chunk)
            parameters, means, squares = self.parameters[part], self.means[part], self.squares[part]
            change = gradient[part]
            means *= MEAN_DECAY
            means += change
            change *= change
            squares *= SQUARE_DECAY
            squares += change
            np.sqrt(squares, out=change)
            change += epsilon
            np.divide(means, change, out=change)
            change *= rate
            parameters -= change
            if self.steps % FLUSH_EVERY == 0:  # denormal numbers slow processors down
                parameters[np.abs(parameters) < TINY] = 0
                means[np.abs(means) < TINY] = 0
                np.maximum(squares, TINY**2, out=squares)
