"""Settings of the test run."""

import os

import pytest
from hypothesis import settings

from hyperclus.clustering import _run
from hyperclus.clustering.chance import Chance

# No deadline: a busy machine must not make a test fail. In CI the examples are the same in every run.
settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")

# Tests of other things that cluster thousands of hypergraphs, which a comparison of each with its shuffles
# would make several times as slow.
NOT_ABOUT_CHANCE = (
    *(
        "test_batch_search",
        "test_checkpoint",
        "test_cut",
        "test_dask",
        "test_engines",
        "test_forged_checkpoints",
    ),
    *("test_information", "test_sklearn", "test_sweep", "test_vertex_search", "test_wrong_types"),
)


@pytest.fixture(autouse=True, scope="module")
def _without_chance(request):
    with pytest.MonkeyPatch.context() as patch:
        if request.path.stem in NOT_ABOUT_CHANCE:
            patch.setattr(_run, "compared", lambda *_: Chance(None, reason="left out in this test"))
        yield
