"""Other libraries and the mixture of a walk with attributes: a warning says that it is lost."""

from dataclasses import replace

import numpy as np
import pytest

import hyperclus as hc
from hyperclus.errors import LossWarning
from hyperclus.hypergraph.mixture import Mixture


@pytest.mark.parametrize("library", ["hypergraphx", "hypernetx", "networkx", "sknetwork", "xgi"])
def test_converters_warn_that_the_mixture_is_lost(library):
    pytest.importorskip(library)
    plain = hc.Hypergraph.from_edges([["a", "b"], ["b", "c"], ["a", "c"], ["a", "b"]])
    convert = getattr(hc.io, f"to_{library}")
    with pytest.warns(LossWarning, match="cannot hold .*the share beta of the steps by attributes") as caught:
        other = convert(replace(plain, mixture=Mixture(1, 0.5)))
    assert len(caught) == 1
    assert "test_mixtures" in caught[0].filename
    again = getattr(hc.io, f"from_{library}")(other)
    assert again.mixture is None
    assert np.array_equal(np.sort(again.vertex_ids.astype(str)), ["a", "b", "c"])
