"""The contract of an engine: products, backend and results. Runs without pytest, also on a bare GPU machine.

`check_products` and `check_backend` take `open_engine`, a function from a hypergraph and alpha to a context
with an `Engine`; they compare with definitions written as loops. The other checks take `products_of`, a
function from a hypergraph and alpha to products, or the name of an engine, and compare with the CPU.
"""

from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

import hyperclus as hc
from hyperclus.engines.base import FlowFactors
from hyperclus.hypergraph.mixture import Mixture
from hyperclus.spectral.factors import TransitionFactors
from hyperclus.spectral.relaxation import violated_triangles
from hyperclus.spectral.sdp_bound import tight_bound
from hyperclus.spectral.walk import RandomWalk
from support.proofs import proven_value

ALPHAS = (0.0, 0.7, 1.0)


@dataclass
class Engine:
    """An engine that holds a hypergraph, and how arrays get there and back."""

    products: Any
    hypergraph: Any
    put: Callable[[Any], Any]  # arrays with a row for each vertex
    put_edges: Callable[[Any], Any]
    get: Callable[[Any], Any]


def one_memory(products_of):
    """`open_engine` for products whose backend holds whole vectors."""

    @contextmanager
    def open_engine(h, alpha):
        products = products_of(h, alpha)
        backend = products.backend
        yield Engine(products, h, backend.put, backend.put, lambda array: backend.fetch(array)[0])

    return open_engine


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
    """Equal up to rounding, relative to the largest entry."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape, (found.shape, expected.shape)
    error = np.abs(found - expected).max(initial=0.0)
    assert error <= tolerance * max(1.0, np.abs(expected).max(initial=0.0)), error


# ---- products ------------------------------------------------------------------------------------


def incidences(h, alpha):
    """(hyperedge, vertex, gamma, source weight) of each incidence; that is gamma^alpha without a mixture."""
    entries = h.gamma.tocoo()
    found = [
        (int(e), int(v), float(g), float(g) ** alpha)
        for e, v, g in zip(*entries.coords, entries.data, strict=True)
    ]
    if h.mixture is None:
        return found
    first = h.n_edges - h.mixture.n_neighborhoods
    powers = [(e, v, g, g if e >= first else power) for e, v, g, power in found]
    degrees = {}
    for e, v, _, power in powers:
        degrees[v, e >= first] = degrees.get((v, e >= first), 0.0) + h.edge_weights[e] * power
    mixed = []
    for e, v, g, power in powers:
        share = h.mixture.beta if e >= first else 1 - h.mixture.beta
        alone = (v, e < first) not in degrees
        mixed.append((e, v, g, (1.0 if alone else share) * power / degrees[v, e >= first]))
    return mixed


def with_neighborhoods(h, beta=0.4, seed=0):
    """The hypergraph as a mixture: some hyperedges more, which some vertices are not in."""
    rng = np.random.default_rng(seed)
    members = [np.unique(rng.integers(0, h.n_vertices - 2, 5)) for _ in range(h.n_vertices // 2)]
    rows, columns = np.repeat(np.arange(len(members)), list(map(len, members))), np.concatenate(members)
    more = sp.csr_array((rng.random(len(rows)) + 0.1, (rows, columns)), shape=(len(members), h.n_vertices))
    gamma = sp.csr_array(sp.vstack([h.gamma, more]))
    omega = np.concatenate([h.edge_weights, np.ones(len(members))])
    mixture = Mixture(len(members), beta)
    return hc.Hypergraph(gamma, omega, h.vertex_ids, np.arange(gamma.shape[0]), mixture=mixture)


def check_products(open_engine, h, alpha, tolerance=1e-12):
    """Products equal their definition, columns of blocks are vectors, and use changes nothing."""
    rng, all_of_them = np.random.default_rng(0), incidences(h, alpha)
    n, m = h.n_vertices, h.n_edges
    with open_engine(h, alpha) as engine:
        products, get = engine.products, engine.get
        blocks = {"vertices": rng.standard_normal((n, 3)), "edges": rng.standard_normal((m, 3))}
        x, y = (blocks[side][:, 0] for side in ("vertices", "edges"))
        for weights, number in (("gamma", 2), ("source_weights", 3)):
            to_edges, to_vertices = np.zeros((m, 3)), np.zeros((n, 3))
            for one in all_of_them:
                to_edges[one[0]] += one[number] * blocks["vertices"][one[1]]
                to_vertices[one[1]] += one[number] * blocks["edges"][one[0]]
            there, far = engine.put(blocks["vertices"]), engine.put_edges(blocks["edges"][:, 0])
            close(get(products.to_edges(there, weights)), to_edges, tolerance)
            image = products.to_edges(there[:, 0], weights)
            close(get(image), to_edges[:, 0], tolerance)
            preimage = products.to_vertices(far, weights)
            close(get(preimage), to_vertices[:, 0], tolerance)
            scale = np.linalg.norm(get(image)) * np.linalg.norm(y)  # the dot test
            assert abs(get(image) @ y - x @ get(preimage)) <= 10 * tolerance * max(scale, 1.0)
            close(get(image), to_edges[:, 0], tolerance)  # unchanged by use,
            close(get(there), blocks["vertices"], 0.0)  # and so is the argument
        check_pairs_of_products(engine, all_of_them, x, blocks["vertices"][:, 1], y, tolerance)
        check_flows(engine, h, all_of_them, rng)
        check_cluster_flows(engine, h, all_of_them, rng)


def check_pairs_of_products(engine, all_of_them, x, other, y, tolerance):
    """`edge_pairs`, `symmetrized`, `vertex_squares` and `least_share` by loops."""
    products, get = engine.products, engine.get
    n, m = len(x), len(y)
    first, second, squares, least = np.zeros(m), np.zeros(m), np.zeros(n), np.inf
    left, right, middle = np.abs(x) + 0.1, np.abs(other) + 0.1, np.abs(y) + 0.1
    for e, v, gamma, source in all_of_them:
        first[e] += gamma * x[v]
        second[e] += source * other[v]
        squares[v] += gamma * source * y[e]
        least = min(least, max(middle[e] * left[v] * source, middle[e] * right[v] * gamma))
    pairs = products.edge_pairs(engine.put(x), engine.put(other))
    close(get(pairs[0]), first, tolerance)
    close(get(pairs[1]), second, tolerance)
    close(get(products.vertex_squares(engine.put_edges(y))), squares, tolerance)
    there = engine.put_edges(middle), engine.put(left), engine.put_edges(middle), engine.put(right)
    assert abs(products.least_share(*there) - least) <= 1e-12 * least
    means, picked = np.zeros(m), np.zeros(m)
    for e, v, gamma, source in all_of_them:
        means[e] += gamma * left[v] * x[v]
        picked[e] += source * right[v] * x[v]
    image = np.zeros(n)
    for e, v, gamma, source in all_of_them:
        image[v] += right[v] * source * middle[e] * means[e] + left[v] * gamma * middle[e] * picked[e]
    given = engine.put(x), engine.put(left), engine.put(right), engine.put_edges(middle)
    close(get(products.symmetrized(*given)), image, 10 * tolerance)


def check_flows(engine, h, all_of_them, rng):
    """Volumes and boundaries by a loop over the flow from incidence to incidence."""
    labels = rng.integers(0, 3, h.n_vertices)
    phi, degrees, shares = (rng.random(size) + 0.1 for size in (h.n_vertices, h.n_vertices, h.n_edges))
    starting, inside = np.zeros((h.n_edges, 3)), np.zeros((h.n_edges, 3))
    for e, v, gamma, source in all_of_them:
        starting[e, labels[v]] += source * phi[v] / degrees[v]
        inside[e, labels[v]] += gamma
    outside = inside.sum(axis=1, keepdims=True) - inside
    expected = (shares[:, None] * starting * outside).sum(axis=0)
    given = engine.put(phi), engine.put(degrees), engine.put_edges(shares)
    volumes, boundaries = engine.products.backend.fetch(*engine.products.flows(engine.put(labels), 3, *given))
    close(volumes, [phi[labels == cluster].sum() for cluster in range(3)], 1e-12)
    close(boundaries, expected, 1e-11)


def check_cluster_flows(engine, h, all_of_them, rng, count=4):
    """Flows between vertices and clusters by loops over pairs of members, in all directions."""
    products, get = engine.products, engine.get
    n, m = h.n_vertices, h.n_edges
    labels = rng.permutation(np.arange(n) % count)
    shares = rng.random(m) + 0.1
    arriving, leaving = np.zeros((m, count)), np.zeros((m, count))
    masses = np.zeros(n)
    for e, v, gamma, _ in all_of_them:
        arriving[e, labels[v]] += gamma * shares[e]
    for e, v, _, source in all_of_them:  # the flows of a vertex to all clusters sum to its mass
        masses[v] += source * arriving[e].sum()
    phi = rng.random(n) + 0.1
    rates = phi / masses
    for e, v, _, source in all_of_them:
        leaving[e, labels[v]] += source * rates[v] * shares[e]
    out, back = np.zeros((n, count)), np.zeros((n, count))
    for e, v, gamma, source in all_of_them:
        out[v] += rates[v] * source * arriving[e]
        back[v] += gamma * leaving[e]
    between = np.array([out[labels == cluster].sum(axis=0) for cluster in range(count)])
    there = engine.put(phi), engine.put(masses), engine.put_edges(shares)
    given = FlowFactors(products.backend, *there)
    columns = products.backend.fetch(*products.between(engine.put(labels), count, given))
    close(np.array(columns).T, between, 1e-11)
    expected = {"out": [out], "both": [out, back], "sum": [out + back]}
    for directions, blocks in expected.items():
        linked = products.linked(engine.put(labels), count, given, directions)
        if (
            directions != "sum"
        ):  # where the last cluster is what is left, flows back must sum to the mass, too
            close(np.array(products.backend.fetch(*linked.between())).T, between, 1e-11)
        covered = 0
        for rows, found in linked.blocks():
            covered += len(labels[rows])
            assert len(found) == len(blocks)
            for block, flows in zip(blocks, found, strict=True):
                close(get(flows), block[rows, :-1], 1e-11)
        assert covered == n


# ---- the backend ---------------------------------------------------------------------------------


def check_backend(open_engine, h):
    """Every method of the backend equals its definition in NumPy."""
    rng, n = np.random.default_rng(1), h.n_vertices
    with open_engine(h, 0.0) as engine:
        backend, get = engine.products.backend, engine.get
        values, masses = rng.standard_normal(n), rng.random(n) + 0.1
        masses /= masses.sum()
        labels, mask = rng.integers(0, 4, n), rng.random(n) < 0.6
        x, m = engine.put(values), engine.put(masses)
        total, largest = backend.fetch((x * m).sum(), x.max())
        assert np.isclose(total, (values * masses).sum(), rtol=1e-12, atol=1e-12)
        assert float(largest) == values.max()
        root = backend.persist(np.sqrt(m))
        close(get(root), np.sqrt(masses))
        check_blocks(engine, values, masses)
        table = np.array([1.5, -2.0, 0.0, 7.0])
        close(get(backend.take(backend.put(table), engine.put(labels))), table[labels], 0.0)
        drawn = [get(backend.normal(n, np.random.default_rng(seed))) for seed in (3, 3, 4)]
        close(drawn[0], drawn[1], 0.0)
        assert np.abs(drawn[0] - drawn[2]).max() > 0
        signs = backend.fetch(backend.sign_of_largest(x), backend.sign_of_largest(-x))
        sign = np.sign(values[np.argmax(np.abs(values))])
        assert list(map(float, signs)) == [sign, -sign]
        check_rows(engine, values, masses, labels, mask)
        check_places(engine, h)


def check_blocks(engine, values, masses):
    """Blocks of columns that are set and read by slices of rows and batches of columns."""
    backend, get = engine.products.backend, engine.get
    x, m = engine.put(values), engine.put(masses)
    block = backend.empty_columns(x, 2)
    for rows in backend.row_slices(len(values)):
        block[rows, 0], block[rows, 1] = x[rows] + 1.0, m[rows]
    close(get(block), np.column_stack([values + 1.0, masses]))
    assert [column for batch in backend.column_batches(5) for column in batch] == list(range(5))
    width = backend.block_width(3, 10**9)
    assert width is None or width >= 1
    rotation = np.array([[0.0, 2.0], [1.0, 0.0]])
    rotated = block @ backend.put(rotation, block.dtype)
    close(get(rotated), np.column_stack([masses, 2 * (values + 1.0)]))
    (gram,) = backend.fetch(block.T @ block)
    expected = np.column_stack([values + 1.0, masses])
    close(gram, expected.T @ expected, 1e-12)


def check_rows(engine, values, masses, labels, mask):
    """Samples, nearest centres, splits by mass, the best half, and the first row of each label."""
    backend, get = engine.products.backend, engine.get
    points, x, m = np.column_stack([values, masses]), engine.put(values), engine.put(masses)
    rows, weights = backend.sample_rows(engine.put(points), m, 10**6)
    order = np.lexsort(rows.T[::-1])
    close(rows[order], points[np.lexsort(points.T[::-1])], 0.0)
    close(np.sort(weights), np.sort(masses), 1e-12)
    centres = points[:4]
    distances = np.square(points[:, None] - centres).sum(axis=2)
    close(get(backend.nearest(engine.put(points), centres)), distances.argmin(axis=1), 0.0)
    split = backend.mass_splitter(x, m)
    for share, halves in zip((0.2, 0.5), split([0.2, 0.5]), strict=True):
        low = get(halves) == 0
        assert values[low].max() <= values[~low].min()
        assert abs(masses[low].sum() - share) <= masses.max() + 1e-6
    count = int(mask.sum())
    best = get(backend.best_half(engine.put(mask), x, count, 0))
    assert not (best & ~mask).any()
    assert abs(best.sum() - count / 2) <= 1
    assert values[best].min() >= values[mask & ~best].max()
    (first,) = backend.fetch(backend.first_rows(engine.put(labels), 4))
    close(first, [np.flatnonzero(labels == label)[0] for label in range(4)], 0.0)


def check_places(engine, h):
    """Components, and functions of the hypergraph in host memory."""
    backend, get = engine.products.backend, engine.get
    count, of_vertex, _ = backend.components(engine.products, engine.hypergraph)
    assert count == RandomWalk(h).n_components
    if count > 1:
        assert len(np.unique(get(of_vertex))) == count
    found = backend.run_on_one(size_and_rows, engine.hypergraph, 2.0)
    assert found is not None
    assert found["size"] == h.n_incidences
    close(get(found["rows"]), 2.0 * np.arange(h.n_vertices), 0.0)


def size_and_rows(hypergraph, factor):
    """A function for `run_on_one`: a fact and an array with a row for each vertex."""
    return {"size": hypergraph.n_incidences}, {"rows": factor * np.arange(hypergraph.n_vertices)}


# ---- results -------------------------------------------------------------------------------------


def matrices(h, alpha):
    """A and B of the definition."""
    gamma = h.gamma.toarray()
    picked = np.where(gamma > 0, gamma**alpha, 0.0).T * h.edge_weights
    return picked / picked.sum(axis=1, keepdims=True), gamma / gamma.sum(axis=1, keepdims=True)


def check_factors(products_of, h, alpha, tolerance=1e-12):
    """The factors are the matrices of the definition, for vectors and blocks."""
    a, b = matrices(h, alpha)
    products = products_of(h, alpha)
    put, factors = products.backend.put, TransitionFactors(h, alpha=alpha, products=products)
    rng = np.random.default_rng(0)
    for block in (rng.standard_normal(h.n_vertices), rng.standard_normal((h.n_vertices, 3))):
        close(factors.edge_means(put(block)).get(), b @ block, tolerance)
        close(factors.step_to_edges(put(block)).get(), a.T @ block, tolerance)
    for block in (rng.standard_normal(h.n_edges), rng.standard_normal((h.n_edges, 3))):
        close(factors.vertex_means(put(block)).get(), a @ block, tolerance)
        close(factors.step_to_vertices(put(block)).get(), b.T @ block, tolerance)
    close(factors.return_probability.get(), np.diag(a @ b), tolerance)
    assert products.constants() is None
    same = h.with_gamma((np.arange(h.n_vertices) + 1.0)[h.gamma.indices])
    close(products_of(same, alpha).constants().get(), np.arange(h.n_vertices) + 1.0)


def check_distribution(products_of, h, alpha):
    """The stationary distribution is that of the CPU."""
    there = RandomWalk(h, alpha=alpha, products=products_of(h, alpha))
    here = RandomWalk(h, alpha=alpha)
    np.testing.assert_allclose(there.stationary.get(), here.stationary, rtol=1e-9)
    np.testing.assert_allclose(there.edge_stationary.get(), here.edge_stationary, rtol=1e-9)
    assert there.distribution.residual < 1e-10
    assert there.on_host().distribution.residual == there.distribution.residual


def check_information(there, here):
    """The starts rest on rough eigenvectors, so engines may end at local optima that are nearly equal."""
    assert abs(there.information - here.information) <= 5e-3 * here.information + 1e-9
    assert hc.agreement(here.labels, there.labels).nmi > 0.9


def check_answer(h, k, engine="cuda", exact=True, tolerance=1e-6, call=hc.cluster, **settings):
    """A clustering on the engine and on the CPU: eigenvalues, NCut and bound, and the same clusters."""
    here = call(h, k, engine="cpu", **{k: v for k, v in settings.items() if k != "precision"})
    there = call(h, k, engine=engine, **settings)
    assert there.settings["engine"] == engine
    assert type(there.labels) is np.ndarray
    assert type(there.eigenpairs.vectors) is np.ndarray
    assert type(there.walk.stationary) is np.ndarray
    assert np.abs(there.eigenvalues - here.eigenvalues).max() <= tolerance
    allowed = max(tolerance, 1e-6) * k
    if here.eigenpairs.failure:  # the check of the eigenvalues has other random vectors there
        allowed += 0.02 * here.lower_bound
    assert abs(there.lower_bound - here.lower_bound) <= allowed, (there.lower_bound, here.lower_bound)
    scored = hc.evaluate(h, there.labels, engine="cpu", alpha=settings.get("alpha", 0.0))
    assert abs(scored.ncut - there.ncut) <= tolerance
    if here.settings.get("objective") == "information":
        check_information(there, here)
        return there, here
    assert abs(there.ncut - here.ncut) <= tolerance, (there.ncut, here.ncut)
    differing = int((there.labels != here.labels).sum())
    assert differing == 0 if exact else differing <= 0.001 * len(here.labels), differing
    return there, here


def check_tight_bound(products_of, n=430, k=3, max_rounds=2, tolerance=1e-3):
    """The search for multipliers with the walk on an engine proves about the same bound as on the CPU."""
    h = planted(n, 2 * n, k)
    here, there = RandomWalk(h), RandomWalk(h, products=products_of(h, 0.0))
    labels = h.vertex_ids % k
    ncut = hc.cut(here, labels, k).ncut
    least = tight_bound(here, k, max_rounds=0).value
    expected, found = (tight_bound(walk, k, labels=labels, max_rounds=max_rounds) for walk in (here, there))
    assert (found.rounds, found.types) == (expected.rounds, expected.types)
    assert least + 0.1 * (ncut - least) < found.value <= ncut
    assert abs(found.value - expected.value) <= tolerance * expected.value, (found.value, expected.value)
    proven = proven_value(found.proof, here)
    assert found.value <= proven <= found.value + 1e-5, (found.value, proven)


def check_violated_triangles(backend, n=40):
    """The same ones as on the CPU."""
    rng = np.random.default_rng(0)
    root = np.sqrt(rng.dirichlet(np.ones(n)))
    z = rng.standard_normal((n, n))
    z += z.T
    found = violated_triangles(z, root, backend)
    assert len(found) > n
    assert (found == violated_triangles(z, root)).all()
