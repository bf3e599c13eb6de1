"""A cluster of none: the stages of a round one after the other, here; and data prepared by hand."""

import pickle
from itertools import pairwise
from pathlib import Path

import numpy as np

from hyperclus.engines.scattered.bundles import arrange
from hyperclus.engines.scattered.field import FarHypergraph, Field, ScatteredPasses, omega
from hyperclus.engines.scattered.prepared import PartitionSize, Prepared
from hyperclus.engines.scattered.stages import Site, piece, run_stage


class Alone:
    """Runs every stage here; what goes from one to the next is copied, as on a wire."""

    def round(self, site, stages, parts):
        outcomes = []
        for stage in stages:
            stage = pickle.loads(pickle.dumps(stage))
            received = [
                [piece(outcome, part) for outcome in outcomes]
                if outcomes and outcomes[0].sends is not None
                else outcomes
                for part in range(parts[stage.side])
            ]
            outcomes = [
                pickle.loads(pickle.dumps(run_stage(site, stage, part, received[part])))
                for part in range(parts[stage.side])
            ]
        return outcomes

    def alone(self, function, *args):
        return function(*args)


def prepared_from(h, folder, partitions, seed=0):
    """The hypergraph as the preparation would leave it, its hyperedges dealt at random."""
    rng = np.random.default_rng(seed)
    home = rng.integers(0, partitions, h.n_edges)
    sizes = []
    for number in range(partitions):
        path = folder / "partitions" / f"{number:05}"
        path.mkdir(parents=True)
        rows = h.gamma[np.flatnonzero(home == number)]
        vertices, members = np.unique(rows.indices, return_inverse=True)
        np.save(path / "indptr.npy", rows.indptr.astype(np.int64))
        np.save(path / "members.npy", members.astype(np.int32))
        np.save(path / "gamma.npy", rows.data)
        np.save(path / "edge_weights.npy", h.edge_weights[home == number])
        np.save(path / "vertices.npy", vertices.astype(np.int64))
        sizes.append(PartitionSize(rows.shape[0], len(vertices), rows.nnz))
    return Prepared(
        folder,
        "key",
        h.n_vertices,
        h.n_edges,
        h.n_incidences,
        True,
        True,
        (0, h.n_vertices),
        tuple(sizes),
        "vertex",
        "edge",
    )


def field_of(h, folder: Path, chunks=3, bundles=2, partitions=5, alpha=0.0, memory=4e9, threads=1):
    """A field on which the hypergraph is scattered, and the hypergraph as solvers see it."""
    prepared = prepared_from(h, folder, partitions)
    chunks = min(chunks, h.n_vertices)
    ends = np.linspace(0, h.n_vertices, chunks + 1).astype(int)[1:].tolist()
    dealt = [list(range(number, partitions, bundles)) for number in range(bundles)]
    folders = [folder / f"bundle-{number}" for number in range(bundles)]
    shapes = [arrange(prepared, own, path, ends, threads) for own, path in zip(dealt, folders, strict=True)]
    (folder / "vectors").mkdir()
    site = Site(folder / "vectors", folders, ends, [shape.offsets for shape in shapes], alpha, memory)
    field = Field.on(site, h.n_vertices, Alone())
    far = FarHypergraph(h.n_vertices, h.n_edges, h.n_incidences, omega(field), "key")
    return field, far, ScatteredPasses(field, prepared)


def values(vector):
    """A stored or lazy vector, whole, on the host."""
    field = vector.field
    field.ensure(vector)
    parts = [
        np.load(field.site.vectors / f"{vector.payload}.{part}.npy") for part in range(len(field.site.ends))
    ]
    assert [len(part) for part in parts] == [last - first for first, last in pairwise([0, *field.site.ends])]
    return np.concatenate(parts)
