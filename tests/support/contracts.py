"""What every linear map must satisfy, whatever it computes, and what every refusal must look like."""

from collections.abc import Callable

import numpy as np
import pytest

from hyperclus.errors import InputError

Map = Callable[[np.ndarray], np.ndarray]

TIGHT = 1e-12


def check_map(apply: Map, matrix: np.ndarray, seed: int = 0, tolerance: float = TIGHT) -> None:
    """`apply` is the linear map of the matrix, on vectors and blocks, and leaves its argument alone."""
    rng = np.random.default_rng(seed)
    n_rows, n_columns = matrix.shape
    scale = max(1.0, float(np.abs(matrix).max()))
    image = apply(np.eye(n_columns))
    assert image.shape == matrix.shape
    np.testing.assert_allclose(image, matrix, rtol=0, atol=tolerance * scale)
    vector = rng.standard_normal(n_columns)
    assert apply(vector).shape == (n_rows,)
    np.testing.assert_allclose(apply(vector), matrix @ vector, rtol=0, atol=10 * tolerance * scale)
    check_block(apply, n_columns, rng, tolerance * scale)
    check_unchanged(apply, n_columns, rng)


def check_block(apply: Map, size: int, rng: np.random.Generator, tolerance: float = TIGHT) -> None:
    """A block gives what its columns give one by one: also one column, none, and columns not contiguous."""
    block = rng.standard_normal((size, 5))
    columns = np.column_stack([apply(block[:, i]) for i in range(5)])
    for given, expected in (
        (block, columns),
        (np.asfortranarray(block), columns),
        (block[:, :1], columns[:, :1]),
        (block[:, ::2], columns[:, ::2]),
        (block[:, :0], columns[:, :0]),
    ):
        result = apply(given)
        assert result.shape == expected.shape
        np.testing.assert_allclose(result, expected, rtol=0, atol=tolerance)


def check_unchanged(apply: Map, size: int, rng: np.random.Generator) -> None:
    """Neither the argument nor later results change by use; read-only arguments are fine."""
    vector = rng.standard_normal(size)
    before = vector.copy()
    first = apply(vector)
    np.testing.assert_array_equal(vector, before)
    kept = first.copy()
    apply(rng.standard_normal(size))
    apply(rng.standard_normal((size, 3)))
    np.testing.assert_array_equal(first, kept)
    vector.flags.writeable = False
    np.testing.assert_array_equal(apply(vector), kept)


def check_transposes(
    forward: Map, adjoint: Map, shape: tuple[int, int], seed: int = 0, tolerance: float = TIGHT
) -> None:
    """The dot test: <A x, y> = <x, A' y> with A of the given shape."""
    rng = np.random.default_rng(seed)
    for _ in range(5):
        x, y = rng.standard_normal(shape[1]), rng.standard_normal(shape[0])
        image, preimage = forward(x), adjoint(y)
        scale = np.linalg.norm(image) * np.linalg.norm(y) + np.linalg.norm(x) * np.linalg.norm(preimage)
        assert abs(image @ y - x @ preimage) <= tolerance * max(1.0, scale)


def check_symmetric(apply: Map, size: int, seed: int = 0, tolerance: float = TIGHT) -> None:
    """The map is its own transpose."""
    check_transposes(apply, apply, (size, size), seed, tolerance)


def refused(call: Callable[[], object], *parts: str) -> None:
    """The call raises an InputError: one line, not long, with these parts."""
    with pytest.raises(InputError) as caught:
        call()
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 400
    assert not message.endswith(".")
    for part in parts:
        assert part in message
