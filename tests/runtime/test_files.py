"""Atomic files and folders, and the one sentence that each I/O error becomes."""

import bz2
import gzip
import io
import lzma
import os
import subprocess
import sys
import zipfile

import pyarrow as pa
import pytest

import hyperclus as hc
from hyperclus._runtime.files import atomic_path, writing
from hyperclus._runtime.source import reading, refuse_bomb
from hyperclus.errors import InputError


def make(path, content, folder):
    if folder:
        path.mkdir()
        path = path / "x"
    path.write_text(content)


def content_of(path):
    return (path / "x" if path.is_dir() else path).read_text()


@pytest.mark.parametrize("folder", [False, True])
def test_an_atomic_path_appears_when_the_body_ends(tmp_path, folder):
    target, elsewhere = tmp_path / "target", tmp_path / "elsewhere"
    elsewhere.mkdir()
    with atomic_path(target, temporary_in=elsewhere) as temporary:
        make(temporary, "new", folder)
        assert temporary.parent == elsewhere
        assert not target.exists()
    assert content_of(target) == "new"
    assert list(elsewhere.iterdir()) == []
    with atomic_path(target) as temporary:
        make(temporary, "newer", folder)
        assert temporary.parent == tmp_path
    assert content_of(target) == ("new" if folder else "newer")  # a folder that is there stays
    assert {path.name for path in tmp_path.iterdir()} == {"target", "elsewhere"}


@pytest.mark.parametrize("folder", [False, True])
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_body_that_fails_leaves_nothing(tmp_path, folder, error):
    def fail():
        with atomic_path(tmp_path / "target") as temporary:
            make(temporary, "half", folder)
            raise error

    with pytest.raises(error):
        fail()
    assert list(tmp_path.iterdir()) == []
    make(tmp_path / "target", "old", folder)
    with pytest.raises(error):
        fail()
    assert content_of(tmp_path / "target") == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["target"]


def test_an_atomic_path_that_the_body_does_not_write(tmp_path):
    with pytest.raises(FileNotFoundError), atomic_path(tmp_path / "target"):
        pass
    with (
        pytest.raises(FileNotFoundError),
        atomic_path(tmp_path / "no" / "folder", temporary_in=tmp_path) as temporary,
    ):
        temporary.mkdir()
    assert list(tmp_path.iterdir()) == []


def test_gzip_is_unpacked_in_lines_and_blocks(tmp_path):
    lines = [b"first\n", b"x" * 400_000 + b"\n", b"last"]
    with writing(tmp_path / "a.gz") as file:
        file.writelines(lines)
    assert gzip.decompress((tmp_path / "a.gz").read_bytes()) == b"".join(lines)
    with reading(tmp_path / "a.gz") as file:
        assert list(file) == lines
    with reading(tmp_path / "a.gz") as file:
        assert file.read(3) + file.read() == b"".join(lines)
        file.seek(6)
        assert file.readline() == lines[1]


def test_bombs():
    refuse_bomb("x", 100_000, 20_000_000)
    with pytest.raises(InputError, match=r"x: the content unpacks to more than 200 times its size"):
        refuse_bomb("x", 100_000, 20_000_001)


def zipped(name):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr(name, "vertex,edge\n")
    return content.getvalue()


TEXT = "vertex,edge\na,e\n"
OTHER = "line 1: a Matrix Market file begins with|the archive is compressed; unpack it first"  # seen first


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (zipped("xl/workbook.xml"), "this is (an Excel file; use format='excel'|not a sound Excel file)"),
        (zipped("t.csv"), "this is a zip archive with t.csv; unpack it first"),
        (gzip.compress(zipped("t.csv")), "the content is compressed or an archive again; unpack it first"),
        (
            bz2.compress(TEXT.encode())[:-9],
            f"({OTHER}|the bzip2 data are damaged or truncated; recreate the file)",
        ),
        (
            lzma.compress(TEXT.encode())[:-9],
            f"({OTHER}|the xz data are damaged or truncated; recreate the file)",
        ),
        (pa.compress(TEXT.encode(), "zstd", asbytes=True)[:-9], "the zstd data are damaged or truncated"),
        (pa.compress(TEXT.encode(), "lz4", asbytes=True), "this is compressed by lz4"),
        (gzip.compress(bz2.compress(TEXT.encode())), "the content is compressed or an archive again"),
        (TEXT.encode("utf-16-le"), "this may be UTF-16 text; use encoding='utf-16-le'"),
        (TEXT.encode("utf-16-be"), "this may be UTF-16 text; use encoding='utf-16-be'"),
        (("\ufeff\ufeff" + TEXT).encode(), "this is text with two byte order marks"),
    ],
    ids=map(str, range(11)),  # archives contain the time
)
@pytest.mark.parametrize("name", ["h.csv", "h.json", "h.hgr", "h.mtx", "h.npz", "h"])
def test_what_nothing_here_reads_is_called_what_it_is(tmp_path, content, message, name):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=f"{name}(: |, ){message}"):
        hc.read(tmp_path / name)


def test_a_folder_in_which_no_file_can_be_created():
    with pytest.raises(InputError, match="no file can be created in this folder"), writing("/proc/x.html"):
        pass


WRITER = """
import sys
from hyperclus._runtime.files import writing

with writing(sys.argv[1]) as file:
    file.write(b"half")
    file.flush()
    print("open", flush=True)
    sys.stdin.readline()
"""


def partial_files(folder):
    return list(folder.glob(".*.part"))


def make_old(path):
    os.utime(path, (0, 0))
    return path


@pytest.mark.skipif(os.name == "nt", reason="there are no such locks")
def test_a_write_deletes_what_a_killed_process_left_of_the_same_file(tmp_path):
    target, others = tmp_path / "a.html", [tmp_path / ".hyperclus-0123.part", tmp_path / ".thesis.part"]
    for other in others:
        other.write_text("of another file")
        make_old(other)
    command = [sys.executable, "-c", WRITER, str(target)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"open\n"
        (left,) = {*partial_files(tmp_path)} - {*others}
        make_old(left)
        with writing(target) as file:
            file.write(b"first")
        assert left.exists()  # its process is alive
        process.kill()
    with writing(tmp_path / "b.html") as file:
        file.write(b"of another name")
    assert left.exists()
    with writing(target) as file:
        file.write(b"second")
    assert {*partial_files(tmp_path)} == {*others}
    assert target.read_bytes() == b"second"
