"""Files of certificates: what is written is read, and anything else is refused with a sentence."""

import io
import json
import struct
import zipfile
from contextlib import suppress

import numpy as np
import pytest

import hyperclus as hc
from hyperclus.verification.certificate import read_certificate
from support.certificates import certified, leaf, written
from support.strategies import random_hypergraph

H = random_hypergraph(12, 10, 3, 8)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path, _ = certified(H, 3, tmp_path_factory.mktemp("certificates"), bound="tight")
    return path


def changed(path, folder, **arrays):
    """The same archive with arrays replaced, or left out if they are None."""
    with np.load(path) as archive:
        found = {name: archive[name] for name in archive.files} | arrays
    other = folder / "changed.cert"
    with other.open("wb") as target:
        np.savez(target, **{name: array for name, array in found.items() if array is not None})
    return other


def header(path, **values):
    with np.load(path) as archive:
        found = json.loads(archive["header"].tobytes())
    return np.frombuffer(json.dumps(found | values).encode(), dtype=np.uint8)


def test_everything_that_is_written_is_read(tmp_path, file):
    first = read_certificate(file)
    second = read_certificate(written(first, tmp_path))
    assert file.read_bytes() == (tmp_path / "other.cert").read_bytes()
    for name in ("k", "alpha", "bound", "ncut", "gap", "failure", "data", "method", "version"):
        assert getattr(first, name) == getattr(second, name)
    for one, two in zip(first.leaves, second.leaves, strict=True):
        assert one.shift == two.shift
        for name, array in one.arrays.items():
            assert np.array_equal(array, two.arrays[name])


def test_a_file_in_the_place_is_kept_if_writing_fails(tmp_path):
    part = hc.cluster(H, 2, chance=False)
    with pytest.raises(hc.InputError, match=r"leave out \.gz"):
        part.certificate(tmp_path / "x.cert.gz")
    with pytest.raises(hc.InputError, match="the folder does not exist"):
        part.certificate(tmp_path / "no" / "x.cert")


HEADERS = [
    ({"k": 0}, "the labels must be 0 to k - 1"),
    ({"k": 4}, "the labels must be 0 to k - 1"),
    ({"k": 10**30}, "the labels must be 0 to k - 1"),
    ({"k": "3"}, "the header of the certificate is damaged"),
    ({"k": True}, "the header of the certificate is damaged"),
    ({"bound": "nan"}, "is not finite"),
    ({"bound": "inf"}, "is not finite"),
    ({"gap": "nan"}, "is not finite"),
    ({"bound": 0.5}, "the header of the certificate is damaged"),
    ({"bound": "0x1p99999"}, "the header of the certificate is damaged"),
    ({"alpha": "-0x1p0"}, "out of range"),
    ({"failure": "0x1p1"}, "out of range"),
    ({"data": 5}, "the header of the certificate is damaged"),
    ({"shifts": None}, "the header of the certificate is damaged"),
    ({"shifts": ["nan"]}, "is not finite"),
    ({"shifts": ["0x0p0"] * 200_000}, "the header of the certificate is damaged"),
    ({"more": 1}, "the header of the certificate is damaged"),
]


@pytest.mark.parametrize(("values", "sentence"), HEADERS)
def test_headers(tmp_path, file, values, sentence):
    with pytest.raises(hc.InputError) as error:
        hc.verify(changed(file, tmp_path, header=header(file, **values)), H)
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)


ARRAYS = [
    ({"phi": None}, "the array 'phi' is missing"),
    ({"phi": np.ones(12, dtype="<f4")}, "the array 'phi' must be"),
    ({"phi": np.full(12, np.nan)}, "is not finite"),
    ({"phi": np.zeros(12)}, "a positive phi"),
    ({"phi": np.ones(11)}, "a positive phi"),
    ({"phi": np.ones((12, 1))}, "the array 'phi' must be"),
    ({"labels": np.zeros(12, dtype="<i8")}, "the labels must be"),
    ({"labels": np.arange(12, dtype="<f8")}, "the array 'labels' must be"),
    ({"labels": np.array([b"x"] * 12, dtype=object)}, "damaged"),
    ({"vertex_ids": np.arange(11)}, "vertices need a label"),
    ({"vertex_ids": np.frombuffer(b"{}", dtype=np.uint8)}, "is not JSON of ids"),
    ({"hyperclus_certificate": np.array(2, dtype="<i8")}, "the version of the format"),
    ({"hyperclus_certificate": None}, "this is not a certificate"),
    ({"header": np.frombuffer(b"[" * 100_000, dtype=np.uint8)}, "the header of the certificate is damaged"),
    ({"vectors_0": np.ones((12, 13))}, "arrays of other sizes"),
    ({"vectors_0": np.full((12, 1), np.inf)}, "is not finite"),
    ({"pair_values_0": np.ones(1)}, "arrays of other sizes"),
    ({"pairs_0": np.array([[0, 12]]), "pair_values_0": np.ones(1)}, "bad indices"),
    ({"pairs_0": np.array([[-1, 2]]), "pair_values_0": np.ones(1)}, "bad indices"),
    ({"pairs_0": np.array([[2, 2]]), "pair_values_0": np.ones(1)}, "bad indices"),
    ({"pairs_0": np.array([[0, 1, 2]]), "pair_values_0": np.ones(1)}, "arrays of other sizes"),
    ({"triples_0": np.array([[0, 1, 1]]), "triple_values_0": np.ones(1)}, "bad indices"),
    ({"types_0": np.full(12, 10**15)}, "arrays of other sizes"),
    ({"types_0": np.full(12, -1)}, "arrays of other sizes"),
    ({"types_0": np.zeros(5, dtype="<i8")}, "arrays of other sizes"),
    ({"type_values_0": np.ones((2, 2))}, "arrays of other sizes"),
    ({"groups_0": np.full(12, 2**62)}, "arrays of other sizes"),
    ({"path_0": np.array([[0, 1, 2]])}, "bad indices"),
    ({"path_0": np.array([[0, 2**40, 1]])}, "bad indices"),
    ({"type_triples_0": np.array([[0, 0, 0]]), "type_triple_values_0": np.ones(1)}, "bad indices"),
]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(("arrays", "sentence"), ARRAYS)
def test_arrays(tmp_path, file, arrays, sentence):
    with pytest.raises(hc.InputError) as error:
        hc.verify(changed(file, tmp_path, **arrays), H)
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)


def announcing(shape):
    """An archive whose array announces more than there is."""
    content = io.BytesIO()
    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    array = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + b"\0" * 64
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("hyperclus_certificate.npy", array)
    return content.getvalue()


def bomb():
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("phi.npy", b"\0" * 200_000_000)
    return content.getvalue()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "the file is empty"),
        (b"PK\x03\x04", "damaged"),
        (b"not a certificate", "not a certificate, or it is damaged"),
        (announcing("(2000000000, 2000000000)"), "damaged"),
        (announcing("(-1, -8)"), "damaged"),
        (bomb(), "unpacks to more than"),
    ],
    ids=["empty", "cut", "text", "large", "negative", "bomb"],  # the archives hold the time
)
def test_other_files(tmp_path, content, sentence):
    path = tmp_path / "x.cert"
    path.write_bytes(content)
    with pytest.raises(hc.InputError) as error:
        hc.verify(path, H)
    assert sentence in str(error.value)


def test_truncated_and_damaged_files(tmp_path, file):
    """Every cut and every changed byte: an error, a refusal, or a certificate that is still true."""
    content = file.read_bytes()
    honest = hc.verify(file, H)
    rng = np.random.default_rng(0)
    other = tmp_path / "x.cert"
    for place in rng.integers(0, len(content), 60).tolist():
        other.write_bytes(content[:place])
        with pytest.raises(hc.InputError):
            hc.verify(other, H)
        other.write_bytes(
            content[:place] + bytes([content[place] ^ (1 << rng.integers(8))]) + content[place + 1 :]
        )
        with suppress(hc.InputError):
            verdict = hc.verify(other, H)
            assert not verdict.verified or verdict.certificate.bound <= honest.bound + 1e-9


@pytest.mark.parametrize("given", [None, 5, "no/such.cert"])
def test_what_is_no_file(given):
    with pytest.raises(hc.InputError):
        hc.verify(given, H)


def test_an_empty_leaf_fits():
    assert leaf(4).arrays["pairs"].shape == (0, 2)
