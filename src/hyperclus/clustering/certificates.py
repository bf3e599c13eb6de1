"""From a partition to its certificate: claims that are rounded to the safe side, and their proof.

`hyperclus.verification` checks certificates and shares no code with this module but the format of the file.
"""

import math
import sys
from dataclasses import fields
from typing import NamedTuple

import numpy as np

from hyperclus.errors import Argument, InputError
from hyperclus.spectral.bounds import relative_gap
from hyperclus.spectral.eigen import Eigenpairs
from hyperclus.spectral.laplacian import NormalizedLaplacian
from hyperclus.spectral.proof import Case, Proof
from hyperclus.spectral.sdp_bound import TightBound
from hyperclus.spectral.walk import RandomWalk
from hyperclus.typing import Floats, Integers
from hyperclus.verification.certificate import Certificate, Leaf
from hyperclus.verification.digest import data_digest

RELATIVE = 1e-10  # by which claims are weakened, because phi is rounded
SUBNORMAL = 2.0**-1074  # spacing of the smallest doubles
ABSOLUTE = 1e-13  # added to the NCut, for the same reason
EXACT = 400  # vertices up to which checkers use ball arithmetic
DENSE = 16_000  # vertices up to which they factor a matrix of all vertices
INDEPENDENT = 1e-3  # singular value below which a vector depends on the others


class Found(NamedTuple):
    """What was found of a partition: the figures to claim, and what they follow from."""

    ncut: float
    bound: float
    pairs: Eigenpairs
    tight: TightBound | None
    exact: bool  # whether the weights were not rounded


def certificate_of(walk: RandomWalk, labels: Integers, k: int, found: Found) -> Certificate:
    """The certificate of labels 0 .. k - 1; without a tight bound the eigenvectors prove the bound.

    Raises
    ------
    InputError
        If the figures are those of weights in single precision, or of a walk with attributes.
    """
    if walk.hypergraph.mixture is not None:
        raise InputError(
            "clusters of a hypergraph with attributes cannot be certified; leave the attributes out"
        )
    if not found.exact:
        raise InputError(
            "figures of weights in single precision cannot be certified; use ",
            Argument("precision", "float64"),
        )
    cases, tight = () if found.tight is None else found.tight.cases, found.tight
    if not cases and tight is not None and tight.proof is not None:
        cases = (Case(np.zeros((0, 3), dtype=np.int64), tight.proof),)
    method, failure = (
        ("tight", 0.0 if tight is None else tight.failure) if cases else ("eigenvalues", found.pairs.failure)
    )
    if found.bound > 0:
        cases = cases or eigenvalue_cases(walk, found.pairs, k)
    typed = any(len(case.proof.types) for case in cases)
    margin, phi = safety(walk.hypergraph.n_vertices, typed), walk.stationary / walk.stationary.sum()
    leaves = tuple(_leaf(case, margin) for case in cases)
    proven = min((_value(case.proof, phi, margin) for case in cases), default=0.0)
    bound, slack = min(proven, found.bound), _slack(walk)
    bound -= slack * abs(bound)
    if not bound > 0:
        bound, leaves = 0.0, ()
    ncut = found.ncut * (1 + slack) + ABSOLUTE if found.ncut > 0 else 0.0
    return Certificate(
        k=k,
        alpha=walk.alpha,
        bound=bound,
        ncut=ncut,
        gap=relative_gap(ncut, bound) * (1 + slack),
        failure=failure,
        data=data_digest(walk.hypergraph),
        method=method,
        version=sys.modules["hyperclus"].__version__,  # an import would be circular
        vertex_ids=walk.hypergraph.vertex_ids,
        labels=np.asarray(labels, dtype=np.int64),
        phi=walk.stationary,
        leaves=leaves,
    )


def _slack(walk: RandomWalk) -> float:
    """How far figures of the rounded phi may be from the exact ones.

    Numbers below 1e-308 lose digits: degrees, and in the closed form their products with gamma.
    """
    degrees, gamma = walk.factors.degrees, walk.hypergraph.gamma
    smallest = float(degrees.min())
    if walk.reversible and walk.alpha != 1:
        strength = np.zeros(len(degrees))
        np.maximum.at(strength, gamma.indices, gamma.data)
        logs = np.log(degrees) + (1 - walk.alpha) * np.log(strength) - np.log(strength.max())
        smallest = min(smallest, float(np.exp(logs.min())))
    return RELATIVE + (8 * SUBNORMAL / smallest if smallest > 16 * SUBNORMAL else 0.5)


def safety(n: int, typed: bool = False) -> float:
    """What a checker's factorisation for n vertices may leave open of the eigenvalues, with a reserve.

    Beyond `DENSE` vertices, types are proven on the side of the hyperedges, where sums over all vertices cost
    more (5e-7 with 100,000 rows of covertype).
    """
    if n <= EXACT:
        return 1e-12 + 5e-16 * n * n
    if typed and n > DENSE:
        return 2e-11 * n
    return min(max(5e-16 * n * n, 2e-8), 2e-7)


def eigenvalue_cases(walk: RandomWalk, pairs: Eigenpairs, k: int) -> tuple[Case, ...]:
    """The proof by the eigenvectors: V lifts the eigenvalues below s to s, and s is below all others.

    The vectors are made orthogonal to q first: in a hypergraph with several components, q is a combination
    of several eigenvectors. Vectors with residuals R change the eigenvalues of L_sym - s I + V V' by at most
    |R|, which is taken off s.
    """
    if k == 1:
        return ()
    root = np.sqrt(walk.stationary)
    root /= np.linalg.norm(root)
    vectors = pairs.vectors[:, :k]
    basis, sizes, _ = np.linalg.svd(vectors - np.outer(root, root @ vectors), full_matrices=False)
    basis = basis[:, sizes > INDEPENDENT][:, : k - 1]
    images = NormalizedLaplacian(walk).apply(basis)
    values, turn = np.linalg.eigh(basis.T @ images)
    basis, images = basis @ turn, images @ turn
    residual = float(np.linalg.norm(images - basis * values))
    shift = float(pairs.lower[k - 1])
    below = values < shift
    lifted = basis[:, below] * np.sqrt(shift - values[below])
    return (Case(np.zeros((0, 3), dtype=np.int64), Proof(k, shift - 1.01 * residual, lifted)),)


def _leaf(case: Case, margin: float) -> Leaf:
    """A case as the file holds it, with s lowered by the margin."""
    names = [field.name for field in fields(Leaf) if field.name not in ("path", "shift")]
    arrays = {name: getattr(case.proof, name) for name in names}
    return Leaf(path=case.path, shift=case.proof.shift - margin, **arrays)


def _value(proof: Proof, phi: Floats, margin: float) -> float:
    """Return q' G q + (k - 1) s - trace(V V'), less what the margin and rounding cost."""
    mass = phi if not len(proof.groups) else np.bincount(proof.groups, weights=phi)
    root = np.sqrt(mass)
    volumes = np.bincount(proof.types, weights=mass) if len(proof.types) else np.zeros(0)
    terms = [
        -proof.pair_values * root[proof.pairs[:, 0]] * root[proof.pairs[:, 1]],
        -proof.apart_values * root[proof.apart[:, 0]] * root[proof.apart[:, 1]],
        -(proof.type_values * np.outer(volumes, volumes)).ravel() if proof.type_values.size else np.zeros(0),
        -np.square(proof.vectors).ravel(),
    ]
    listed = np.concatenate([*terms, [(proof.k - 1) * (proof.shift - 2 * margin)]])
    return math.fsum(listed) - 1e-14 * math.fsum(np.abs(listed))
