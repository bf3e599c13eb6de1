"""Certificates: what is claimed about a partition, and the numbers that prove it, in a file.

The file is a NumPy archive (.npz) without pickles. docs/understand/certificate.md describes each field.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from hyperclus._runtime.files import StrPath, fault, writing
from hyperclus.errors import InputError
from hyperclus.hypergraph.messages import shown
from hyperclus.io.npz import checked_array, checked_version, opened_archive, pack_ids, unpack_ids
from hyperclus.typing import Floats, Ids, Integers

VERSION = 1
MAX_LEAVES = 100_000
FLOATS = ("alpha", "bound", "ncut", "gap", "failure")  # of the header, as hexadecimal text
TEXTS = ("data", "method", "version")
INTEGER_ROWS = {"path": 3, "pairs": 2, "triples": 3, "type_triples": 3, "apart": 2}  # and their length
INTEGER_LISTS = ("types", "groups")
FLOAT_LISTS = ("pair_values", "triple_values", "type_triple_values", "apart_values")
FLOAT_TABLES = ("vectors", "type_values")
VALUES = {
    "pair_values": "pairs",
    "triple_values": "triples",
    "type_triple_values": "type_triples",
    "apart_values": "apart",
}
MALFORMED = "the parts of the certificate do not fit together"


@dataclass(frozen=True, slots=True, eq=False)
class Leaf:
    """One case of the proof: what is assumed of some pairs, and the multipliers under that assumption.

    The names are those of docs/understand/certificate.md: `path` has the assumptions, `shift` is s, `vectors`
    is V, and the others are multipliers. A proof without branches has one leaf with an empty path.
    """

    path: Integers
    shift: float
    vectors: Floats
    pairs: Integers
    pair_values: Floats
    triples: Integers
    triple_values: Floats
    types: Integers
    type_values: Floats
    type_triples: Integers
    type_triple_values: Floats
    groups: Integers
    apart: Integers
    apart_values: Floats

    @property
    def arrays(self) -> dict[str, Any]:
        """All but the shift, by name."""
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name != "shift"}


@dataclass(frozen=True, slots=True, eq=False)
class Certificate:
    """A claim about a partition, and its proof.

    Attributes
    ----------
    k, alpha : int, float
        The number of clusters, and the weight of gamma in the walk.
    bound : float
        Claim: no partition of the vertices into k clusters has an NCut below.
    ncut, gap : float
        Claim: the labels have at most this NCut, which is at most `gap` (relative) above the lowest one.
    failure : float
        Probability that the solver that found the proof missed an eigenvalue; no assumption of the proof.
    data : str
        `data_digest` of the hypergraph.
    method, version : str
        "eigenvalues" or "tight", and the version of hyperclus that wrote the certificate.
    vertex_ids, labels, phi : arrays of shape (n,)
        The vertices that are in some hyperedge, their clusters 0 .. k - 1, and the stationary distribution.
    leaves : tuple of Leaf
        The proof; none if the bound is 0.
    """

    k: int
    alpha: float
    bound: float
    ncut: float
    gap: float
    failure: float
    data: str
    method: str
    version: str
    vertex_ids: Ids
    labels: Integers
    phi: Floats
    leaves: tuple[Leaf, ...]


def write_certificate(certificate: Certificate, path: StrPath) -> None:
    """Write a certificate to a file; the suffix .cert is usual."""
    if str(path).endswith(".gz"):
        raise fault(path, "a certificate is not gzipped; leave out .gz")
    header: dict[str, Any] = {name: float(getattr(certificate, name)).hex() for name in FLOATS}
    header |= {name: getattr(certificate, name) for name in TEXTS}
    header |= {"k": certificate.k, "shifts": [float(leaf.shift).hex() for leaf in certificate.leaves]}
    arrays: dict[str, Any] = {
        "header": np.frombuffer(json.dumps(header).encode(), dtype=np.uint8),
        "vertex_ids": pack_ids(certificate.vertex_ids, "vertex"),
        "labels": certificate.labels.astype("<i8"),
        "phi": certificate.phi.astype("<f8"),
    }
    for number, leaf in enumerate(certificate.leaves):
        for name, array in leaf.arrays.items():
            if array.size:
                kind = "<f8" if name in (*FLOAT_LISTS, *FLOAT_TABLES) else "<i8"
                arrays[f"{name}_{number}"] = np.ascontiguousarray(array, dtype=kind)
    with writing(path) as file:
        np.savez(file, hyperclus_certificate=np.array(VERSION, dtype="<i8"), **arrays)


def read_certificate(path: StrPath) -> Certificate:
    """Read a certificate; whatever cannot be one is an `InputError`, but nothing is verified here."""
    with opened_archive(path, "a certificate") as (archive, _):
        if "hyperclus_certificate" not in archive.files:
            raise InputError("this is not a certificate; Partition.certificate writes one")
        checked_version(archive, "hyperclus_certificate", VERSION)
        header = _header(checked_array(archive, "header", ("|u1",)).tobytes())
        ids = unpack_ids(checked_array(archive, "vertex_ids", ("<i8", "|u1")), "vertex_ids")
        labels = checked_array(archive, "labels", ("<i8",))
        phi = _finite(checked_array(archive, "phi", ("<f8",)))
        n, k = len(ids), header["k"]
        if not (labels.shape == phi.shape == (n,) and n and (phi > 0).all()):
            raise InputError(f"{MALFORMED}: {n} vertices need a label and a positive phi each")
        if not (1 <= k <= n and np.array_equal(np.unique(labels), np.arange(k))):
            raise InputError(f"{MALFORMED}: the labels must be 0 to k - 1, each of them used")
        shifts = header.pop("shifts")
        names = set(archive.files)
        leaves = tuple(_leaf(archive, names, number, shift, n) for number, shift in enumerate(shifts))
        return Certificate(**header, vertex_ids=ids, labels=labels, phi=phi, leaves=leaves)


def _header(text: bytes) -> dict[str, Any]:
    """The checked values of the header."""
    try:
        found = json.loads(text)
        if set(found) != {*FLOATS, *TEXTS, "k", "shifts"} or type(found["k"]) is not int:
            raise ValueError
        header: dict[str, Any] = {name: float.fromhex(found[name]) for name in FLOATS}
        header["shifts"] = [float.fromhex(shift) for shift in found["shifts"]]
        header |= {"k": found["k"]} | {name: found[name] for name in TEXTS}
        if not all(isinstance(header[name], str) for name in TEXTS) or len(header["shifts"]) > MAX_LEAVES:
            raise ValueError
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        raise InputError("the header of the certificate is damaged; write it again") from None
    numbers = [header[name] for name in FLOATS if name != "gap"] + header["shifts"]
    if not all(map(math.isfinite, numbers)) or math.isnan(header["gap"]):
        raise InputError("a number in the header of the certificate is not finite; write it again")
    if not (header["alpha"] >= 0 and 0 <= header["failure"] <= 1):
        raise InputError("alpha or the failure probability in the certificate is out of range")
    return header


def _leaf(archive: Any, names: set[str], number: int, shift: float, n: int) -> Leaf:
    """The arrays of one leaf, absent ones empty, after a check that their shapes and indices fit."""

    def array(name: str, kind: str, ndim: int, empty: tuple[int, ...]) -> Any:
        key = f"{name}_{number}"
        return checked_array(archive, key, (kind,), ndim) if key in names else np.zeros(empty, dtype=kind)

    found = {name: array(name, "<i8", 2, (0, width)) for name, width in INTEGER_ROWS.items()}
    found |= {name: array(name, "<i8", 1, (0,)) for name in INTEGER_LISTS}
    found |= {name: _finite(array(name, "<f8", 1, (0,))) for name in FLOAT_LISTS}
    found |= {name: _finite(array(name, "<f8", 2, (0, 0))) for name in FLOAT_TABLES}
    groups, types = found["groups"], found["types"]
    items = int(groups.max()) + 1 if len(groups) else n
    if not found["vectors"].size:
        found["vectors"] = np.zeros((items, 0))
    r = int(types.max()) + 1 if len(types) else 0
    fits = len(groups) in (0, n) and items <= n and (not len(groups) or _are_numbers(groups, items))
    fits &= len(types) in (0, items) and (not len(types) or (r <= items and _are_numbers(types, r)))
    fits &= len(found["vectors"]) == items and found["vectors"].shape[1] <= items
    fits &= found["type_values"].shape in ((0, 0), (r, r))
    fits &= all(len(found[values]) == len(found[rows]) for values, rows in VALUES.items())
    fits &= all(found[name].shape[1] == width for name, width in INTEGER_ROWS.items())
    if not (fits and _indices_fit(found, n, items, r)):
        raise InputError(f"{MALFORMED}: the proof {shown(number)} has arrays of other sizes, or bad indices")
    return Leaf(shift=shift, **found)


def _are_numbers(codes: Integers, count: int) -> bool:
    """Whether these are 0 .. count - 1, each of them used."""
    return bool(codes.min() >= 0 and np.array_equal(np.unique(codes), np.arange(count)))


def _indices_fit(found: Mapping[str, Any], n: int, items: int, r: int) -> bool:
    """Whether indices are in range, and pairs and triples of different vertices."""
    limits = {"pairs": items, "triples": items, "apart": items, "type_triples": r}
    inside = all(
        not found[name].size or (found[name].min() >= 0 and found[name].max() < limit)
        for name, limit in limits.items()
    )
    path = found["path"]
    inside &= not path.size or bool(path.min() >= 0 and path[:, :2].max() < n and path[:, 2].max() <= 1)
    differ = all((found[name][:, 0] != found[name][:, 1]).all() for name in ("pairs", "apart", "path"))
    u, v, w = found["triples"].T
    return bool(inside and differ and ((u != v) & (u != w) & (v != w)).all())


def _finite(array: Any) -> Any:
    if not np.isfinite(array).all():
        raise InputError("a number in the certificate is not finite; write it again")
    return array
