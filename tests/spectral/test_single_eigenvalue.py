"""The search for one eigenvector of a large operator proves its eigenvalue, also after restarts."""

import sys

import numpy as np
import pytest

import hyperclus as hc
from hyperclus import NormalizedLaplacian, RandomWalk
from hyperclus._runtime import checkpoint
from hyperclus.spectral.eigen.floor import Stretch, excludes, highest_floor
from support.engine_contracts import planted
from support.operators import Diagonal, check_resumes

lanczos = sys.modules["hyperclus.spectral.eigen.lanczos"]
NOTHING = np.empty((300, 0))
BASES = [7, 12, 18]


@pytest.fixture(params=BASES)
def small_basis(monkeypatch, request):
    """A basis of so many vectors for the proof, with operators of any size."""
    monkeypatch.setattr(lanczos, "ALONE_FROM", 0)
    monkeypatch.setattr(lanczos, "LARGE", 0)
    monkeypatch.setattr(lanczos, "ALONE_MORE", 10_000)
    monkeypatch.setattr(lanczos, "PROOF_BASIS", request.param)
    return request.param


class Hiding(Diagonal):
    """The random start has very little of the first eigenvector."""

    def normal(self, rng):
        start = super().normal(rng)
        start[0] *= 1e-4
        return start


def spectrum(seed):
    rng = np.random.default_rng(seed)
    return np.sort(np.append([0.05, 0.1], rng.uniform(0.12, 1.0, 298)))


def search(operator, seed=0, place=checkpoint.NO_CHECKPOINT):
    rng, options = np.random.default_rng(seed), lanczos.Lanczos(lazy=True)
    return lanczos.lanczos_vectors(operator, NOTHING, 1, 1e-8, rng, options, place)


@pytest.mark.parametrize("seed", range(5))
def test_it_is_proven_without_a_second_search(small_basis, monkeypatch, seed):
    monkeypatch.setattr(lanczos, "floor_beyond", None)
    values = spectrum(seed)
    vectors, steps, floor = search(Diagonal(values), seed)
    assert steps > small_basis  # there were restarts
    assert abs(vectors[0, 0]) == pytest.approx(1, abs=1e-9)
    assert 0.99998 * values[0] <= floor <= values[0] + 1e-12


@pytest.mark.parametrize("seed", range(5))
def test_on_a_hypergraph_too(small_basis, monkeypatch, seed):
    monkeypatch.setattr(lanczos, "floor_beyond", None)
    laplacian = NormalizedLaplacian(RandomWalk(planted(400, 2000, 2, seed=seed)))
    values = np.linalg.eigvalsh(laplacian.dense())
    pairs = hc.smallest_eigenpairs(laplacian, 2, method="lanczos", seed=seed)
    assert 0.99998 * values[1] <= pairs.lower[1] <= values[1] + 1e-12


@pytest.mark.parametrize("seed", range(5))
def test_no_floor_after_any_restart_is_above_an_eigenvalue_that_the_start_hides(
    small_basis, monkeypatch, seed
):
    """Whatever step is asked, also while the second eigenvalue seems to be the first."""
    values, asked = spectrum(seed), []
    floor_of = lanczos._Space._floor

    def floor(space, value, filled, length):
        stretches = [*space.stretches, space._stretch(filled, length)]
        asked.append((value, highest_floor(stretches, value, space.dimensions)))
        return floor_of(space, value, filled, length)

    monkeypatch.setattr(lanczos._Space, "_floor", floor)
    monkeypatch.setattr(lanczos, "CHECK_EVERY", 1)
    monkeypatch.setattr(lanczos, "_allowed", lambda values, tolerance: np.full(np.shape(values), 10.0))
    monkeypatch.setattr(lanczos, "SLACK", -1.0)  # nothing is proven, so that the search goes on
    monkeypatch.setattr(lanczos, "ALONE_MORE", 60)
    search(Hiding(values), seed)
    assert max(value for value, _ in asked) > values[0] + 0.01
    assert any(found > 0.0 for _, found in asked)
    assert all(found <= values[0] + 1e-12 for _, found in asked)


def test_a_value_above_a_vector_that_was_kept_is_not_excluded():
    kept = Stretch([0.3, 0.5, 0.7], [0.1, 0.1, 0.1], 2)
    assert not excludes([Stretch([0.5], [0.1]), kept], 0.4, 300)


def test_interrupted_anywhere_and_resumed(small_basis, tmp_path):
    operator = Diagonal(spectrum(0))

    def run(folder):
        with checkpoint.checkpoint_pace(checkpoint.Pace(0.0, 0.0, np.inf)), hc.checkpoints(folder):
            return search(operator, 0, checkpoint.open_checkpoint("single", small_basis))

    check_resumes(run, operator, tmp_path, lambda steps: (1, small_basis + 2, steps // 2, steps - 1), 1)
