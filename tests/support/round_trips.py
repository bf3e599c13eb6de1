"""Random hypergraphs for round trips, exact comparison, and the examples in docstrings."""

import doctest

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from hyperclus import Hypergraph
from hyperclus.io import convert

rounds = settings(deadline=None, max_examples=60)
omegas = st.one_of(st.just(1.0), st.floats(1e-300, 1e300), st.sampled_from([0.1, 1 / 3, 5e-324]))
gammas = st.one_of(omegas, st.just(1.7e308))
texts = st.one_of(st.text(max_size=3), st.sampled_from(["", "1", "nan", "None", "vertex", "edge", "😀\n"]))
integers = st.one_of(st.integers(-3, 3), st.integers(-(2**63), 2**64))
plain_ids = st.one_of(integers, texts)
any_ids = st.one_of(
    plain_ids, st.tuples(st.sampled_from(["vertex", "edge", "colour"]), plain_ids), st.just(0.5)
)


@st.composite
def hypergraphs(draw, vertices=any_ids, edges=any_ids, parallel=True):
    """Hypergraphs, also empty ones, with isolated vertices, empty and parallel hyperedges."""
    vertex_ids = draw(st.lists(vertices, max_size=6, unique=True))
    edge_ids = draw(st.lists(edges, max_size=5, unique=True))
    subsets = st.frozensets(st.sampled_from(vertex_ids)) if vertex_ids else st.just(frozenset())
    members = draw(st.lists(subsets, min_size=len(edge_ids), max_size=len(edge_ids)))
    if members and draw(st.booleans()):
        members[-1] = members[0] or members[-1]
    if not parallel:
        members = [part if part not in members[:i] else frozenset() for i, part in enumerate(members)]
    inside = [{v: draw(gammas) for v in vertex_ids if v in part} for part in members]
    return Hypergraph.from_edges(
        dict(zip(edge_ids, inside, strict=True)),
        edge_weights=[draw(omegas) for _ in edge_ids],
        vertex_ids=vertex_ids,
    )


def kinds(ids):
    return [(type(value), value) for value in ids.tolist()]


def same(first, second):
    """Assert that two hypergraphs are equal bit by bit, with the types and the order of ids."""
    assert kinds(first.vertex_ids) == kinds(second.vertex_ids)
    assert kinds(first.edge_ids) == kinds(second.edge_ids)
    np.testing.assert_array_equal(first.edge_weights, second.edge_weights, strict=True)
    np.testing.assert_array_equal(first.gamma.indptr, second.gamma.indptr)
    np.testing.assert_array_equal(first.gamma.indices, second.gamma.indices)
    np.testing.assert_array_equal(first.gamma.data, second.gamma.data, strict=True)


def run_examples(library):
    """Run the docstring examples of the converters of a library, which other test runs skip."""
    runner = doctest.DocTestRunner()
    for test in doctest.DocTestFinder(exclude_empty=True).find(convert):
        if not test.name.endswith(library):
            continue
        for example in test.examples:
            example.options.pop(doctest.SKIP, None)
        runner.run(test)
    assert runner.tries
    assert not runner.failures
