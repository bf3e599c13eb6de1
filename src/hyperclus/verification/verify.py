"""`verify`: a certificate and the data -> a verdict."""

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from hyperclus._runtime.files import StrPath, check_path
from hyperclus._runtime.progress import report_progress
from hyperclus._runtime.threads import single_blas_thread
from hyperclus.hypergraph.hypergraph import Hypergraph, check_incidences
from hyperclus.io.anything import as_hypergraph
from hyperclus.typing import HypergraphLike
from hyperclus.verification import exact, rounded, small_side
from hyperclus.verification.certificate import Certificate, Leaf, read_certificate
from hyperclus.verification.digest import data_digest
from hyperclus.verification.items import Items, TypeTerms, correction, trivial_part
from hyperclus.verification.leaves import covers_everything, wrong_multiplier
from hyperclus.verification.stationary import (
    DENSE_UP_TO,
    ELIMINATION_UP_TO,
    Accuracy,
    accuracy,
    transferred,
)
from hyperclus.verification.walk import Ball, Walk, flint, highest

PRECISIONS = (128, 1024)  # bits; the second is for up to FEW vertices, if the first is not enough
FEW = 60
RESIDUAL = 1e-9  # largest change of phi in a step where phi is taken as given

Method: TypeAlias = Literal["ball arithmetic", "floating point with error bounds", "none needed", "none"]


class Limits(NamedTuple):
    """Sizes up to which methods are used.

    `exact`: items of a leaf for ball arithmetic, which takes 5 seconds; `rounded`: items for a Cholesky
    factorisation in memory; `small_side`: hyperedges for one on their side; `elimination` and `dense`: states
    for the stationary distribution.
    """

    exact: int = 400
    rounded: int = 16_000
    small_side: int = 3000
    elimination: int = ELIMINATION_UP_TO
    dense: int = DENSE_UP_TO


LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was verified of a certificate.

    Attributes
    ----------
    verified : bool
        Whether all that the certificate claims is proven.
    refusals : tuple of str
        Why not, a phrase for each reason.
    bound : float
        Proven: no partition into k clusters has an NCut below; 0 if nothing better is proven.
    ncut : tuple of two floats
        The NCut of the labels is between them.
    gap : float
        The labels are proven to be at most this far (relative) above the lowest NCut.
    stationary : Accuracy
        What is proven of phi. If its source is "given", the figures above are for phi as it is in the
        certificate, and for the exact stationary distribution otherwise.
    method : str
        How positive semidefiniteness was proven.
    certificate : Certificate
    """

    verified: bool
    refusals: tuple[str, ...]
    bound: float
    ncut: tuple[float, float]
    gap: float
    stationary: Accuracy
    method: Method
    certificate: Certificate

    def __bool__(self) -> bool:
        return self.verified


@single_blas_thread
def verify(
    certificate: StrPath | Certificate, hypergraph: HypergraphLike, *, limits: Limits = LIMITS
) -> Verdict:
    """Check a certificate against the data; nothing that the solver computed is trusted.

    The walk, L_sym and G are computed again from their definitions, in ball arithmetic or with proven
    rounding errors; docs/understand/certificate.md says what is proven and assumed.

    Parameters
    ----------
    certificate : str or Path
        A file that `Partition.certificate` wrote.
    hypergraph : Hypergraph
        The data, or whatever `as_hypergraph` accepts.
    limits : Limits
        Sizes up to which methods are used.

    Raises
    ------
    InputError
        If the file is not a certificate, or damaged. A certificate that claims too much is no error: its
        verdict is not `verified`.
    MissingLibraryError
        Without python-flint.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from hyperclus import Hypergraph, cluster
    >>> h = Hypergraph.from_edges([["a", "b", "c"], ["a", "b"], ["c", "d"], ["d", "e", "f"], ["e", "f"]])
    >>> path = pathlib.Path(tempfile.mkdtemp(), "small.cert")
    >>> cluster(h, 2, objective="ncut").certificate(path)
    >>> verdict = verify(path, h)
    >>> verdict.verified, round(verdict.bound, 4), round(verdict.ncut[1], 4)
    (True, 0.0918, 0.1667)
    """
    flint()
    if not isinstance(certificate, Certificate):
        check_path(certificate)
    found = certificate if isinstance(certificate, Certificate) else read_certificate(certificate)
    data = as_hypergraph(hypergraph)
    check_incidences(data)
    if (reason := _other_data(found, data)) is not None:
        return Verdict(False, (reason,), 0.0, (0.0, math.inf), math.inf, _UNKNOWN, "none", found)
    places = {vertex: place for place, vertex in enumerate(data.vertex_ids.tolist())}
    here = data.restrict(np.array([places[vertex] for vertex in found.vertex_ids.tolist()]))
    for bits in PRECISIONS if len(found.phi) <= FEW else PRECISIONS[:1]:
        with flint().ctx.workprec(bits):
            verdict = _verdict(found, here, limits)
        if verdict.verified:
            break
    return verdict


_UNKNOWN = Accuracy("given", 1.0, math.inf)


def _other_data(certificate: Certificate, data: Hypergraph) -> str | None:
    """Why the certificate is not about these data; None if it is."""
    if data.mixture is not None or data_digest(data) != certificate.data:
        return "it is about other data"
    covered = data.vertex_ids[data.covered].tolist()
    given = certificate.vertex_ids.tolist()
    if len(set(given)) != len(given) or set(given) != set(covered):
        return "its vertices are not those of the data"
    return None


def _verdict(certificate: Certificate, data: Hypergraph, limits: Limits) -> Verdict:
    """Check all claims at the current precision; the vertices of the data are in the certificate's order."""
    arb = flint().arb
    walk = Walk.of(data, certificate.alpha)
    phi = [arb(one) for one in certificate.phi.tolist()]
    known = accuracy(walk, certificate.phi, limits.elimination, limits.dense)
    ncut = walk.ncut(phi, certificate.labels)
    low, high = (transferred(ncut, known.factor, up=up) for up in (False, True))
    if ncut == 0:
        low = high = 0.0
    refusals, bound = [], 0.0
    method: Method = "none needed"
    if known.source == "given" and not known.residual <= RESIDUAL:
        refusals.append(f"phi is not stationary: a step changes it by {known.residual:.1e}")
    if certificate.bound > 0:
        value, method, reason = _proven(certificate, walk, phi, limits)
        refusals += [] if reason is None else [reason]
        if value is not None and value > 0:
            bound = transferred(value, known.factor, up=False)
        if reason is None and not bound >= certificate.bound:
            refusals.append(f"it claims the bound {certificate.bound!r}, and only {bound!r} is proven")
    if not high <= certificate.ncut:
        refusals.append(f"it claims the NCut {certificate.ncut!r}, and {high!r} is proven")
    gap = _gap(high, bound)
    if not gap <= certificate.gap:
        refusals.append(f"it claims the gap {certificate.gap!r}, and {gap!r} is proven")
    return Verdict(not refusals, tuple(refusals), bound, (low, high), gap, known, method, certificate)


def _gap(ncut: float, bound: float) -> float:
    """At least (NCut - bound) / bound; 0 if both are 0, infinite if only the bound is."""
    arb = flint().arb
    if ncut == 0:
        return 0.0
    return max(highest((arb(ncut) - arb(bound)) / arb(bound)), 0.0) if bound > 0 else math.inf


def _proven(
    certificate: Certificate, walk: Walk, phi: list[Ball], limits: Limits
) -> tuple[Ball | None, Method, str | None]:
    """The bound that the leaves prove for phi, how, and why not if they prove none."""
    if not covers_everything([leaf.path for leaf in certificate.leaves]):
        return None, "none", "its cases do not cover all partitions"
    smallest, methods = None, set[Method]()
    for number, leaf in enumerate(certificate.leaves):
        report_progress("bound", number, "cases", number / len(certificate.leaves))
        if (wrong := wrong_multiplier(leaf, walk.n)) is not None:
            return None, "none", wrong
        value, method = _leaf_bound(leaf, walk, phi, certificate.k, limits)
        if value is None:
            return None, method, _unproven(certificate, method, limits)
        methods.add(method)
        smallest = value if smallest is None else smallest.min(value)
    inexact: Method = "floating point with error bounds"
    return smallest, inexact if inexact in methods else "ball arithmetic", None


def _unproven(certificate: Certificate, method: Method, limits: Limits) -> str:
    """Why a leaf proves nothing."""
    if method != "none":
        return "its matrix is not proven to be positive semidefinite"
    most = f"{limits.rounded:,} vertices or {limits.small_side:,} hyperedges"
    chance = f"with failure probability {certificate.failure:.0e}"
    rest = f"the NCut is, and the bound rests on the solver, {chance}"
    return f"the bound is not verified, which can be done for up to {most}; {rest}"


def _leaf_bound(
    leaf: Leaf, walk: Walk, phi: list[Ball], k: int, limits: Limits
) -> tuple[Ball | None, Method]:
    """Return q' G q + (k - 1) s - trace(V V'), with s lowered by what the factorisation leaves open."""
    arb = flint().arb
    items = Items.of(walk, phi, leaf.groups)
    terms = TypeTerms.of(leaf, items.root)
    value = trivial_part(leaf, items.root, terms) + (k - 1) * arb(leaf.shift) - correction(leaf.vectors)
    if items.size <= limits.exact:
        return value if exact.is_positive(items, leaf, terms) else None, "ball arithmetic"
    few = small_side.applies(leaf) and walk.n_edges + len(terms.volumes) <= limits.small_side
    loose = len(leaf.types) > 0 and items.size <= limits.rounded  # types there cost some 1e-7 of the bound
    if few and not loose and 4 * walk.n_edges < items.size:
        lowest = small_side.smallest_eigenvalue(items, leaf, terms)
    elif items.size <= limits.rounded:
        lowest = rounded.smallest_eigenvalue(items, leaf, terms)
    else:
        return None, "none"
    found = value + (k - 1) * arb(lowest) if math.isfinite(lowest) else None
    return found, "floating point with error bounds"
