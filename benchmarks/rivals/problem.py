"""The input of every cell: a planted hypergraph as long integer arrays, stored as npz.

`python problem.py FAMILY SIZE FILE` writes one. Vertices in no hyperedge are dropped for all methods.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Incidences (vertex, edge, gamma), omega of the hyperedges, and the planted blocks."""

    vertex: np.ndarray
    edge: np.ndarray
    weight: np.ndarray
    omega: np.ndarray
    planted: np.ndarray

    @classmethod
    def load(cls, path: str | Path) -> "Problem":
        """Load the arrays of a file."""
        with np.load(path) as arrays:
            return cls(**{name: arrays[name] for name in ("vertex", "edge", "weight", "omega", "planted")})

    @property
    def n_vertices(self) -> int:
        """Number of vertices; each is in some hyperedge."""
        return len(self.planted)

    @property
    def n_edges(self) -> int:
        """Number of hyperedges; each has a member."""
        return len(self.omega)

    def incidences(self) -> sparse.csr_array:
        """Return omega gamma, a row per vertex: the matrix that methods without hyperedge weights expect."""
        return sparse.csr_array(
            (self.weight * self.omega[self.edge], (self.vertex, self.edge)),
            shape=(self.n_vertices, self.n_edges),
        )

    def members(self) -> list[list[int]]:
        """Return the members of each hyperedge as lists, which most libraries expect."""
        order = np.argsort(self.edge, kind="stable")
        flat = self.vertex[order].tolist()
        ends = np.cumsum(np.bincount(self.edge, minlength=self.n_edges)).tolist()
        return [flat[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def write(family: str, n_incidences: int, path: Path) -> None:
    """Generate a problem and write it atomically."""
    import families

    table, omega, planted = getattr(families, family)(n_incidences)
    used = np.bincount(table["vertex"], minlength=len(planted)) > 0
    position = np.cumsum(used, dtype=np.int32) - np.int32(1)
    temporary = path.with_suffix(".new.npz")
    np.savez(
        temporary,
        vertex=position[table["vertex"]],
        edge=table["edge"],
        weight=table["weight"],
        omega=omega,
        planted=planted[used],
    )
    temporary.replace(path)


if __name__ == "__main__":
    sys.path.append(str(Path(__file__).parents[1]))
    write(sys.argv[1], int(float(sys.argv[2])), Path(sys.argv[3]))
