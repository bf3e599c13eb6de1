"""What every engine must satisfy, without pytest, so that it can be run on a bare machine with a GPU.

Each check takes `elsewhere`, a function from a hypergraph and alpha to passes where that engine keeps them,
or runs `cluster` with the name of the engine; it compares with the definition or with the CPU.
"""

import numpy as np
import scipy.sparse as sp

import hyperclus as hc
from hyperclus.spectral.factors import TransitionFactors
from hyperclus.spectral.walk import RandomWalk

ALPHAS = (0.0, 0.7, 1.0)


def planted(n, n_edges, blocks, size=(3, 9), noise=0.2, seed=0, big=0):
    """A hypergraph with blocks; `big` hyperedges hold half of all vertices."""
    rng = np.random.default_rng(seed)
    rows, columns = [], []
    for edge in range(n_edges):
        home = edge % blocks
        members = home + blocks * rng.integers(0, n // blocks, rng.integers(*size))
        stray = rng.random(len(members)) < noise
        members[stray] = rng.integers(0, n, stray.sum())
        if edge < big:
            members = np.flatnonzero(rng.random(n) < 0.5)
        members = np.unique(members)
        rows += [edge] * len(members)
        columns += members.tolist()
    gamma = sp.csr_array((rng.lognormal(size=len(rows)), (columns, rows)), shape=(n, n_edges))
    return hc.Hypergraph.from_incidence(gamma, edge_weights=rng.uniform(0.5, 2.0, n_edges), isolated="drop")


def close(found, expected, tolerance=1e-12):
    """Equal up to rounding, relative to the largest."""
    expected = np.asarray(expected)
    assert found.shape == expected.shape
    error = np.abs(found - expected).max(initial=0.0)
    assert error <= tolerance * max(1.0, np.abs(expected).max(initial=0.0)), error


def matrices(h, alpha):
    """A and B of the definition."""
    gamma = h.gamma.toarray()
    picked = np.where(gamma > 0, gamma**alpha, 0.0).T * h.edge_weights
    return picked / picked.sum(axis=1, keepdims=True), gamma / gamma.sum(axis=1, keepdims=True)


def check_products(elsewhere, h, alpha, tolerance=1e-12):
    """The factors are the matrices of the definition, for vectors and blocks."""
    a, b = matrices(h, alpha)
    products = elsewhere(h, alpha)
    factors = TransitionFactors(h, alpha=alpha, products=products)
    rng = np.random.default_rng(0)
    for block in (rng.standard_normal(h.n_vertices), rng.standard_normal((h.n_vertices, 3))):
        close(factors.edge_means(products.backend.put(block)).get(), b @ block, tolerance)
        close(factors.step_to_edges(products.backend.put(block)).get(), a.T @ block, tolerance)
    for block in (rng.standard_normal(h.n_edges), rng.standard_normal((h.n_edges, 3))):
        close(factors.vertex_means(products.backend.put(block)).get(), a @ block, tolerance)
        close(factors.step_to_vertices(products.backend.put(block)).get(), b.T @ block, tolerance)
    close(factors.return_probability.get(), np.diag(a @ b), tolerance)
    root, vector = rng.random(h.n_vertices) + 0.1, rng.standard_normal(h.n_vertices)
    scaled = root[:, None] * (a @ b) / root
    there = products.backend.put(root)
    given = (products.backend.put(vector), 1.0 / there, there / factors.relative_degrees, factors.shares)
    found = products.symmetrized(*given)
    close(found.get(), (scaled + scaled.T) @ vector, 10 * tolerance)


def check_shares(elsewhere, h, alpha):
    """The weakest incidence, and whether gamma depends on the hyperedge, are found as on the CPU."""
    there, here = elsewhere(h, alpha), TransitionFactors(h, alpha=alpha).products
    rng = np.random.default_rng(1)
    out_edge, in_edge = rng.random((2, h.n_edges))
    out_vertex, in_vertex = rng.random((2, h.n_vertices))
    given = (out_edge, out_vertex, in_edge, in_vertex)
    expected = here.least_share(*given)
    assert abs(there.least_share(*map(there.backend.put, given)) - expected) <= 1e-12 * expected
    assert there.constants() is None
    same = h.with_gamma((np.arange(h.n_vertices) + 1.0)[h.gamma.indices])
    close(elsewhere(same, alpha).constants().get(), np.arange(h.n_vertices) + 1.0)


def check_law(elsewhere, h, alpha):
    """The stationary law is that of the CPU."""
    there = RandomWalk(h, alpha=alpha, products=elsewhere(h, alpha))
    here = RandomWalk(h, alpha=alpha)
    np.testing.assert_allclose(there.stationary.get(), here.stationary, rtol=1e-9)
    np.testing.assert_allclose(there.edge_stationary.get(), here.edge_stationary, rtol=1e-9)
    assert there.distribution.residual < 1e-10
    assert there.on_host().distribution.residual == there.distribution.residual


def check_answer(h, k, engine="cuda", exact=True, tolerance=1e-6, call=hc.cluster, **settings):
    """`cluster` on the engine and on the CPU: eigenvalues, NCut and bound, and the same clusters."""
    here = call(h, k, engine="cpu", **{k: v for k, v in settings.items() if k != "precision"})
    there = call(h, k, engine=engine, **settings)
    assert there.settings["engine"] == engine
    assert type(there.labels) is np.ndarray
    assert type(there.eigenpairs.vectors) is np.ndarray
    assert type(there.walk.stationary) is np.ndarray
    assert abs(there.ncut - here.ncut) <= tolerance, (there.ncut, here.ncut)
    assert np.abs(there.eigenvalues - here.eigenvalues).max() <= tolerance
    assert abs(there.lower_bound - here.lower_bound) <= max(tolerance, 1e-6) * k
    scored = hc.evaluate(h, there.labels, engine="cpu", alpha=settings.get("alpha", 0.0))
    assert abs(scored.ncut - there.ncut) <= tolerance
    differing = int((there.labels != here.labels).sum())
    assert differing == 0 if exact else differing <= 0.001 * len(here.labels), differing
    return there, here
