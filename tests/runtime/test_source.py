"""Compressed content, encodings and standard input."""

import bz2
import gzip
import io
import lzma
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hyperclus as hc
from hyperclus._runtime.source import input_file, reading
from hyperclus.errors import InputError
from support.contracts import refused

TEXT = "vertex,edge\né,e\nb,e\nb,f\n"
PACKED = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda data: pa.compress(data, "zstd", asbytes=True),
}


@pytest.mark.parametrize("ending", PACKED)
def test_compressed_files_are_unpacked_whatever_the_name(tmp_path, ending):
    long = "".join(f"line {number}\n" for number in range(100_000)).encode()
    for name in ("t", f"t.txt{ending}"):
        (tmp_path / name).write_bytes(PACKED[ending](long))
        with reading(tmp_path / name) as file:
            assert file.readline() == b"line 0\n"
            assert file.tell() == 7
            assert file.read() == long[7:]
    (tmp_path / f"t.csv{ending}").write_bytes(PACKED[ending](TEXT.encode()))
    assert hc.read(tmp_path / f"t.csv{ending}").vertex_ids.tolist() == ["é", "b"]
    (tmp_path / "bomb").write_bytes(PACKED[ending](bytes(300_000_000 if ending == ".xz" else 100_000_000)))
    with reading(tmp_path / "bomb") as file:
        refused(file.read, "unpacks to more than 200 times")


@pytest.mark.parametrize("ending", PACKED)
def test_compressed_streams_may_follow_each_other_and_nothing_else(tmp_path, ending):
    path, packed = tmp_path / "t", [PACKED[ending](bytes(range(256)) * 2000), PACKED[ending](b"end")]
    path.write_bytes(b"".join(packed))
    with reading(path) as file:
        assert file.read() == bytes(range(256)) * 2000 + b"end"
    for rest in (b"end", packed[1][1:], packed[1][:-1]):
        path.write_bytes(packed[0] + rest)
        with reading(path) as file:
            refused(file.read, "data are damaged or truncated")


@pytest.mark.parametrize("ending", [".bz2", ".xz"])
def test_zeros_after_compressed_streams_are_padding(tmp_path, ending):
    (tmp_path / "t").write_bytes(PACKED[ending](b"a") + bytes(700_000) + PACKED[ending](b"b") + bytes(8))
    with reading(tmp_path / "t") as file:
        assert file.read() == b"ab"


@pytest.mark.parametrize("ending", [".bz2", ".xz", ".zst"])
def test_parquet_within_a_compressed_file(tmp_path, ending):
    buffer = io.BytesIO()
    pq.write_table(pa.table({"vertex": [1, 2], "edge": [1, 1]}), buffer)
    path = tmp_path / f"t.parquet{ending}"
    path.write_bytes(PACKED[ending](buffer.getvalue()))
    refused(lambda: hc.read(path), path.name, "unpack the file first")


@pytest.mark.parametrize("ending", [".bz2", ".xz", ".zst"])
def test_only_gzip_is_written(tmp_path, ending):
    h = hc.Hypergraph.from_edges([["a", "b"]])
    refused(lambda: hc.write(h, tmp_path / f"h.csv{ending}"), "choose a name with .gz or without")


@pytest.mark.parametrize(
    "encoding", ["utf-8", "cp1252", "latin-1", "utf-16", "utf-16-le", "utf-32-be", "UTF8"]
)
@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
def test_an_encoding_can_be_given(tmp_path, encoding, name):
    data = TEXT.encode(encoding)
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    assert hc.read(tmp_path / name, encoding=encoding).vertex_ids.tolist() == ["é", "b"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
@pytest.mark.parametrize("name", ["t.csv", "t.json", "t"])
def test_a_byte_order_mark_says_the_encoding(tmp_path, encoding, name):
    text = TEXT if name != "t.json" else '{"e": ["é", "b"]}'
    (tmp_path / name).write_bytes(text.encode(encoding))
    assert hc.read(tmp_path / name).vertex_ids.tolist() == ["é", "b"]


def test_characters_at_the_border_of_chunks(tmp_path):
    for offset in range(4):
        text = "x" * ((1 << 18) - 2 + offset) + "é€😀" * 100
        (tmp_path / "t").write_bytes(text.encode("utf-16"))
        with reading(tmp_path / "t") as file:
            assert file.read().decode() == text


def test_wrong_encodings_are_refused(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"vertex,edge\n\x81,e\n")
    refused(lambda: hc.read(tmp_path / "t.csv"), "line 2", "byte 0 of the line", "encoding='cp1252'")
    refused(lambda: hc.read(tmp_path / "t.csv", encoding="cp1252"), "line 2: this is not cp1252 text")
    for encoding in ("", "klingon", "hex", "rot13", 5, b"utf-8"):
        refused(lambda e=encoding: hc.read(tmp_path / "t.csv", encoding=e), "encoding must name an encoding")
    hc.write(hc.Hypergraph.from_edges([["a", "b"]]), tmp_path / "h.npz")
    refused(lambda: hc.read(tmp_path / "h.npz", encoding="cp1252"), "encoding is for text, and this is npz")


class TestStandardInput:
    def piped(self, monkeypatch, data):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    def test_it_is_read_like_a_file(self, monkeypatch):
        self.piped(monkeypatch, gzip.compress(TEXT.encode()))
        h = hc.read("-")
        assert h.vertex_ids.tolist() == ["é", "b"]
        assert hc.read("-").vertex_ids.tolist() == ["é", "b"]  # the same input again
        self.piped(monkeypatch, b"a b\nb c\n")
        assert hc.read("-", format="lines").n_edges == 2

    def test_messages_call_it_what_it_is(self, monkeypatch):
        self.piped(monkeypatch, b"vertex,edge\na,e\nb\n")
        with pytest.raises(InputError, match=r"^standard input, line 3: 1 fields"):
            hc.read("-")
        self.piped(monkeypatch, b"")
        with pytest.raises(InputError, match=r"^standard input: the file is empty"):
            hc.read("-")
        monkeypatch.setattr(sys, "stdin", None)
        refused(lambda: input_file("-"), "standard input is closed")
