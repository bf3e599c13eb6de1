"""Dips of a sweep, and the choice among them."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperclus.clustering.sweep import Candidate, Sweep, chosen, minima, ncut

examples = settings(deadline=None, max_examples=60)
levels = st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.21, 0.3, 0.5, 0.8, 1.0]), min_size=1, max_size=12)


def candidate(size, one_ncut, rise, volume=0.1):
    nothing = Sweep(*(np.zeros(0),) * 4, 0.1, 0.1)
    return Candidate(nothing, np.arange(size), volume, one_ncut * (1 - volume), rise, False)


class TestDips:
    @pytest.mark.parametrize(
        ("heights", "places"),
        [
            ([0.9], [0]),
            ([0.9, 0.5, 0.4, 0.6], [2]),
            ([0.9, 0.4, 0.6, 0.3], [1, 3]),  # the end is a dip
            ([0.4, 0.6, 0.3, 0.9], [0, 2]),  # and the beginning
            ([0.9, 0.40, 0.41, 0.39, 0.9], [3]),  # a rise of 2 % does not separate
            ([0.9, 0.4, 0.4, 0.9], [1]),
            ([0.5, 0.0, 0.1, 0.0, 0.5], [1, 3]),
        ],
    )
    def test_examples(self, heights, places):
        assert minima(np.array(heights), 1.05) == places

    @examples
    @given(levels)
    def test_the_lowest_is_a_dip_and_all_are_separated(self, heights):
        heights = np.array(heights)
        places = minima(heights, 1.05)
        assert heights[places].min() == heights.min()
        for one, other in pairwise(places):
            assert heights[one:other].max() > 1.05 * max(heights[one], heights[other])


class TestChosen:
    def test_of_equals_the_smaller(self):
        small, large = candidate(50, 0.21, 0.1), candidate(300, 0.20, 0.1)
        assert chosen([large, small]) is small

    def test_not_if_it_is_much_worse(self):
        small, large = candidate(50, 0.4, 0.5), candidate(300, 0.2, 0.1)
        assert chosen([small, large]) is large

    def test_not_if_the_dip_is_shallower_than_the_loss(self):
        small, large = candidate(50, 0.24, 0.03), candidate(300, 0.2, 0.0)
        assert chosen([small, large]) is large

    def test_worse_than_random(self):
        only = candidate(3, 1.4, 0.0)
        assert chosen([only, candidate(2, 1.6, 0.0)]) is only


def test_ncut_of_a_random_set_is_one():
    for volume in (0.05, 0.5, 0.9):
        flow = volume * (1 - volume)
        assert ncut(flow / min(volume, 1 - volume), volume) == pytest.approx(1.0)
