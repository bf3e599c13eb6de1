"""Helpers for arrays."""

import numpy as np

from hyperclus._runtime.arrays import index_type, take


def test_index_type_is_the_smallest_that_suffices():
    assert index_type(0) is np.int32
    assert index_type(2**31 - 1) is np.int32
    assert index_type(2**31) is np.int64


def test_take_in_blocks():
    table, values = np.array([10, 20, 30], dtype=np.int32), np.array([127, 125, 126, 125, 127], dtype=np.int8)
    taken = take(table, values, low=125, block=3)
    assert taken.tolist() == [30, 10, 20, 10, 30]
    assert taken.dtype == np.int32
