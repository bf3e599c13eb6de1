"""UCI's own files: folders, and every way a download can fail."""

import errno
import gzip
import http.server
import io
import os
import shutil
import socket
import stat
import subprocess
import sys
import threading
import zipfile
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import requests

import hyperclus as hc
from hyperclus import datasets
from hyperclus.datasets import dataset, registry, tables
from hyperclus.datasets import download as downloading
from hyperclus.errors import DownloadError
from support import paper_data

EXCERPTS = ("letter", "covertype")  # of the others, the package has UCI's own files


@pytest.fixture
def zoo():
    return paper_data.raw("zoo.data")


# ---- folders -------------------------------------------------------------------------------


@pytest.fixture
def offline(monkeypatch):
    def refuse(*_):
        pytest.fail("nothing must be downloaded")

    monkeypatch.setattr(dataset, "download", refuse)


@pytest.mark.usefixtures("offline")
def test_the_argument_precedes_the_variable_and_that_the_cache(zoo, tmp_path, monkeypatch):
    monkeypatch.setattr("pooch.os_cache", lambda project: tmp_path / project)
    monkeypatch.delenv("HYPERCLUS_DATA", raising=False)
    for folder in ("hyperclus", "variable", "argument"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "zoo.data").write_bytes(zoo)
    assert datasets.fetch("zoo") == {"zoo.data": tmp_path / "hyperclus" / "zoo.data"}
    monkeypatch.setenv("HYPERCLUS_DATA", "")
    assert datasets.folder() == tmp_path / "hyperclus"
    monkeypatch.setenv("HYPERCLUS_DATA", str(tmp_path / "variable"))
    assert datasets.fetch("zoo") == {"zoo.data": tmp_path / "variable" / "zoo.data"}
    argument = tmp_path / "argument"
    assert datasets.fetch("zoo", folder=str(argument)) == {"zoo.data": argument / "zoo.data"}


@pytest.mark.usefixtures("offline")
def test_a_gzipped_file_is_accepted(zoo, tmp_path):
    (tmp_path / "zoo.data.gz").write_bytes(gzip.compress(zoo))
    assert datasets.load("zoo", folder=tmp_path).hypergraph.n_vertices == 101
    (tmp_path / "zoo.data").write_bytes(b"something else")
    assert datasets.fetch("zoo", folder=tmp_path) == {"zoo.data": tmp_path / "zoo.data.gz"}


def test_verify(tmp_path):
    assert datasets.verify("digit", folder=tmp_path) == {
        "optdigits.tra": "missing",
        "optdigits.tes": "missing",
    }
    shutil.copy(dataset.PACKAGE / "optdigits.tra.gz", tmp_path)
    (tmp_path / "optdigits.tes.gz").write_bytes((dataset.PACKAGE / "optdigits.tes.gz").read_bytes()[:-9])
    assert datasets.verify("digit", folder=tmp_path) == {"optdigits.tra": "ok", "optdigits.tes": "damaged"}


@pytest.mark.parametrize("name", tables.RULES)
def test_the_package_has_ucis_own_files_and_says_which_are_excerpts(name):
    states = set(datasets.verify(name, folder=dataset.PACKAGE).values())
    assert states == ({"damaged"} if name in EXCERPTS else {"ok"})
    assert any(file.excerpt for file in datasets.source(name).files) == (name in EXCERPTS)


@pytest.mark.usefixtures("offline")
def test_a_wrong_file_in_the_users_folder_is_left_alone(tmp_path):
    (tmp_path / "zoo.data").write_bytes(b"mine")
    with pytest.raises(hc.InputError, match=r"zoo\.data is not UCI's zoo\.data, .*; move it away"):
        datasets.load("zoo", folder=tmp_path)
    assert (tmp_path / "zoo.data").read_bytes() == b"mine"


@pytest.mark.parametrize("call", [datasets.fetch, datasets.verify])
def test_hypergraphs_are_in_the_package_only(call):
    with pytest.raises(hc.InputError, match="cora is complete in the package"):
        call("cora")
    with pytest.raises(hc.InputError, match="cora is complete in the package"):
        datasets.load("cora", from_source=True)


def test_importing_loads_no_network_library():
    code = "import sys, hyperclus.datasets; print([m for m in ('pooch', 'tqdm') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# ---- downloads -------------------------------------------------------------------------------------


class Server(http.server.ThreadingHTTPServer):
    """Answers every request by calling `answer` with the handler, and records the paths."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server_port}"
        self.requested = []
        self.answer = None

    def handle_error(self, *_):
        """Clients disconnect on purpose in these tests."""


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.requested.append(self.path)
        self.server.answer(self)

    def send(self, content, *, length=None, status=200, location=None):
        self.send_response(status)
        self.send_header("Content-Length", str(len(content) if length is None else length))
        if location:
            self.send_header("Location", location)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        """Nothing."""


@pytest.fixture
def server(monkeypatch):
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        monkeypatch.setattr(registry, "_SITE", running.address)
        monkeypatch.setattr(downloading, "time", SimpleNamespace(sleep=lambda _: None))
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture
def serve(server):
    """Serve a zip with these members."""

    def start(members):
        content = zipped(members)
        server.answer = lambda handler: handler.send(content)
        return content

    return start


def zipped(members):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return packed.getvalue()


def refused(folder, name="zoo", kind=DownloadError):
    """Return the message of a failing fetch; check that it is one sentence and that no file is left."""
    before = sorted(folder.glob("**/*"))
    with pytest.raises(kind) as caught:
        datasets.fetch(name, folder=folder)
    message, source = str(caught.value), datasets.source(name)
    assert "\n" not in message
    assert ". " not in message
    assert message.startswith(f"{source.title} could not be downloaded from {source.archive}: ")
    assert message.endswith(f", or put {source.files[0].name} into {folder} by hand")
    assert sorted(folder.glob("**/*")) == before
    assert "ok" not in datasets.verify(name, folder=folder).values()
    return message


@pytest.mark.parametrize("inside", ["{}", "a/b/{}", "a\\b\\{}", "{}.gz", "a/{}.gz"])
def test_files_are_found_wherever_they_are_in_the_zip(server, serve, zoo, tmp_path, inside, capfd):
    name = inside.format("zoo.data")
    serve({"readme": b"", name: gzip.compress(zoo) if name.endswith(".gz") else zoo, "a/zoo.names": b""})
    folder = tmp_path / "new" / "folder"
    assert datasets.load("zoo", folder=folder).hypergraph.n_vertices == 101
    assert [path.name for path in folder.iterdir()] == ["zoo.data"]
    assert (folder / "zoo.data").read_bytes() == zoo
    assert datasets.fetch("zoo", folder=folder) == {"zoo.data": folder / "zoo.data"}
    assert server.requested == ["/static/public/111/zoo.zip"]
    assert capfd.readouterr() == ("", "")


def test_only_missing_files_are_fetched_and_in_order(server, serve, tmp_path):
    red, white = (paper_data.raw(f"winequality-{colour}.csv") for colour in ("red", "white"))
    serve({"winequality-white.csv": white, "winequality-red.csv": red})
    (tmp_path / "winequality-white.csv").write_bytes(white)
    before = (tmp_path / "winequality-white.csv").stat().st_mtime_ns
    paths = datasets.fetch("wine-567", folder=tmp_path)
    assert list(paths) == ["winequality-red.csv", "winequality-white.csv"]
    assert (tmp_path / "winequality-white.csv").stat().st_mtime_ns == before
    assert server.requested == ["/static/public/186/wine+quality.zip"]


def test_covertype_as_uci_packs_it(serve, tmp_path, monkeypatch):
    rule = tables.RULES["covertype"]
    source = replace(rule.source, files=tuple(file.packaged for file in rule.source.files))
    monkeypatch.setitem(tables.RULES, "covertype", replace(rule, source=source))
    serve({"covtype.info": b"", "covtype.data.gz": (dataset.PACKAGE / "covtype.data.gz").read_bytes()})
    data = datasets.load("covertype", folder=tmp_path)
    assert (tmp_path / "covtype.data").read_bytes() == paper_data.raw("covtype.data")
    assert np.array_equal(data.classes, datasets.load("covertype").classes)


@pytest.mark.slow
@pytest.mark.parametrize("name", tables.RULES)
def test_ucis_own_files_give_the_same_tables_as_the_package(name):
    """Needs the network, or UCI's files in HYPERCLUS_DATA."""
    try:
        theirs = datasets.load(name, from_source=True)
    except DownloadError as error:
        pytest.skip(str(error))
    ours = datasets.load(name)
    assert np.array_equal(theirs.classes, ours.classes)
    assert list(theirs.table) == list(ours.table)
    assert all(np.array_equal(theirs.table[column], ours.table[column]) for column in ours.table)


def test_a_damaged_file_in_the_cache_is_downloaded_again(serve, zoo, tmp_path, monkeypatch):
    monkeypatch.delenv("HYPERCLUS_DATA", raising=False)
    monkeypatch.setattr("pooch.os_cache", lambda _: tmp_path)
    (tmp_path / "zoo.data").write_bytes(zoo[:-1])
    serve({"zoo.data": zoo})
    assert datasets.load("zoo", from_source=True).hypergraph.n_vertices == 101
    assert datasets.verify("zoo") == {"zoo.data": "ok"}


def test_redirects_are_followed(server, zoo, tmp_path):
    content = zipped({"zoo.data": zoo})

    def answer(handler):
        if handler.path == "/elsewhere":
            handler.send(content)
        else:
            handler.send(b"", status=302, location="/elsewhere")

    server.answer = answer
    datasets.fetch("zoo", folder=tmp_path)
    assert datasets.verify("zoo", folder=tmp_path) == {"zoo.data": "ok"}


def test_transient_faults_are_retried(server, zoo, tmp_path):
    content = zipped({"zoo.data": zoo})

    def answer(handler):
        if len(server.requested) == 1:
            handler.send(b"", status=503)
        elif len(server.requested) == 2:
            handler.send(content[:500], length=len(content))
        else:
            handler.send(content)

    server.answer = answer
    datasets.fetch("zoo", folder=tmp_path)
    assert len(server.requested) == 3


@pytest.mark.parametrize(("status", "attempts"), [(404, 1), (403, 1), (429, 3), (500, 3)])
def test_http_errors(server, tmp_path, status, attempts):
    server.answer = lambda handler: handler.send(b"no", status=status)
    assert f"the server answered {status} (" in refused(tmp_path)
    assert len(server.requested) == attempts


def test_an_invalid_answer(server, tmp_path):
    def answer(handler):
        handler.send_response(200)
        handler.send_header("Content-Length", "4, 4")
        handler.end_headers()

    server.answer = answer
    assert "the answer of the server is invalid; try again later" in refused(tmp_path)


def test_no_network(tmp_path, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        closed = taken.getsockname()[1]
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(registry, "_SITE", f"http://127.0.0.1:{closed}")
    monkeypatch.setattr(downloading, "time", SimpleNamespace(sleep=lambda _: None))
    message = refused(tmp_path)
    assert "the connection failed (ConnectionError); check the network connection" in message


@pytest.mark.parametrize("error", [requests.ConnectTimeout, requests.ReadTimeout])
def test_a_silent_server(server, tmp_path, monkeypatch, error):
    attempts = []

    def get(address, *, timeout, **_):
        attempts.append(timeout)
        raise error

    monkeypatch.setattr(requests, "get", get)
    assert "the server did not answer in 30 seconds; try again later" in refused(tmp_path)
    assert attempts == [downloading.TIMEOUT] * 3


def test_a_truncated_transfer(server, zoo, tmp_path):
    content = zipped({"zoo.data": zoo})
    server.answer = lambda handler: handler.send(content[:-100], length=len(content))
    assert "the connection failed (ChunkedEncodingError)" in refused(tmp_path)
    assert len(server.requested) == 3


def test_a_truncated_transfer_without_a_length(server, zoo, tmp_path):
    content = zipped({"zoo.data": zoo})

    def answer(handler):
        handler.send_response(200)
        handler.end_headers()
        handler.wfile.write(content[:-100])

    server.answer = answer
    assert "the zip file is damaged" in refused(tmp_path)


@pytest.mark.parametrize("content", [b"", b"<html>log in first</html>", b"PK\x05\x06"])
def test_not_a_zip(server, tmp_path, content):
    server.answer = lambda handler: handler.send(content)
    assert "the zip file is damaged; try again later" in refused(tmp_path)


def test_a_bad_byte_in_the_zip(server, zoo, tmp_path):
    content = bytearray(zipped({"zoo.data": zoo}))
    content[200] ^= 1
    server.answer = lambda handler: handler.send(bytes(content))
    assert "the zip file is damaged" in refused(tmp_path)


@pytest.mark.parametrize(
    "packed", [b"not gzip", gzip.compress(bytes(3000), mtime=0)[:-10]], ids=["none", "cut"]
)
def test_bad_gzip_in_the_zip(serve, tmp_path, packed):
    serve({"zoo.data.gz": packed})
    assert "the zoo.data in the zip is not the known one" in refused(tmp_path)


def test_an_encrypted_zip(server, zoo, tmp_path):
    content = bytearray(zipped({"zoo.data": zoo}))
    content[6] |= 1
    content[content.index(b"PK\x01\x02") + 8] |= 1
    server.answer = lambda handler: handler.send(bytes(content))
    assert "the zip file is encrypted" in refused(tmp_path)


def test_a_zip_without_the_file(server, serve, tmp_path):
    serve({"zoo.data.txt": b"", "zoo.data/readme": b"", "zoo.data/": b""})
    assert "the zip contains no zoo.data; the address or the file may have changed, look" in refused(tmp_path)
    assert len(server.requested) == 1


@pytest.mark.parametrize(
    "change", [lambda zoo: zoo + b"\n", lambda zoo: zoo[:-1], lambda _: bytes(50_000_000)]
)
def test_a_wrong_checksum(server, serve, zoo, tmp_path, change):
    serve({"zoo.data": change(zoo)})
    assert "the zoo.data in the zip is not the known one (its sha256 differs)" in refused(tmp_path)
    assert len(server.requested) == 1


def test_of_two_files_of_that_name_the_right_one_is_taken(serve, zoo, tmp_path):
    serve({"old/zoo.data": zoo[::-1], "new/zoo.data": zoo, "zoo.data.gz": b""})
    datasets.fetch("zoo", folder=tmp_path)
    assert (tmp_path / "zoo.data").read_bytes() == zoo


def test_names_in_the_zip_are_not_trusted(serve, zoo, tmp_path):
    evil = ("../evil", "/hyperclus-evil", "..\\evil", "a/../../evil", "evil")
    serve({**dict.fromkeys(evil, b"evil"), "../../zoo.data": zoo})
    folder = tmp_path / "a" / "b"
    datasets.fetch("zoo", folder=folder)
    assert [path for path in tmp_path.glob("**/*") if path.is_file()] == [folder / "zoo.data"]
    assert not Path("/hyperclus-evil").exists()


def test_links_in_the_zip_are_not_followed(serve, tmp_path):
    link = zipfile.ZipInfo("zoo.data")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    serve({link: b"/etc/hostname"})
    assert "sha256 differs" in refused(tmp_path)


def test_a_file_is_as_readable_as_any_other(serve, zoo, tmp_path):
    serve({"zoo.data": zoo})
    datasets.fetch("zoo", folder=tmp_path)
    (tmp_path / "other").touch()
    assert (tmp_path / "zoo.data").stat().st_mode == (tmp_path / "other").stat().st_mode


def failing(code):
    def fail(*_, **__):
        raise OSError(code, os.strerror(code))

    return fail


@pytest.mark.parametrize(
    ("owner", "function", "code"),
    [
        (Path, "mkdir", errno.EACCES),
        (downloading.tempfile, "TemporaryDirectory", errno.EROFS),
        (shutil, "copyfileobj", errno.ENOSPC),
        (os, "replace", errno.EROFS),
        (os, "replace", errno.EACCES),
    ],
)
def test_a_folder_that_cannot_be_written_to(server, serve, zoo, tmp_path, monkeypatch, owner, function, code):
    serve({"zoo.data": zoo})
    monkeypatch.setattr(owner, function, failing(code))
    message = refused(tmp_path)
    step = "free some space" if code == errno.ENOSPC else "make it writable"
    assert f"{tmp_path} cannot be written to ({os.strerror(code)}); {step}, name another folder" in message
    assert len(server.requested) <= 1


def test_a_folder_that_is_a_file(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(DownloadError, match=r"file cannot be written to \(File exists\)"):
        datasets.fetch("zoo", folder=tmp_path / "file")


@pytest.mark.parametrize(("owner", "function"), [(shutil, "copyfileobj"), (os, "replace")])
def test_an_interrupt_leaves_nothing(serve, zoo, tmp_path, monkeypatch, owner, function):
    serve({"zoo.data": zoo})

    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(owner, function, interrupt)
        with pytest.raises(KeyboardInterrupt):
            datasets.fetch("zoo", folder=tmp_path)
    assert list(tmp_path.iterdir()) == []
    datasets.fetch("zoo", folder=tmp_path)
    assert datasets.verify("zoo", folder=tmp_path) == {"zoo.data": "ok"}


def in_another_process(server, folder, before=""):
    """Start fetching zoo in another Python process."""
    code = f"""
import os
from hyperclus import datasets
from hyperclus.datasets import registry
registry._SITE = {server.address!r}
{before}
datasets.fetch("zoo", folder={str(folder)!r})
"""
    return subprocess.Popen([sys.executable, "-c", code])


def test_a_process_killed_while_it_receives_leaves_nothing(server, zoo, tmp_path):
    content = zipped({"zoo.data": zoo})
    half, over = threading.Event(), threading.Event()

    def answer(handler):
        handler.send(content[:800], length=len(content))
        handler.wfile.flush()
        half.set()
        over.wait(60)

    server.answer = answer
    process = in_another_process(server, tmp_path)
    assert half.wait(60)
    process.kill()
    process.wait(60)
    over.set()
    assert list(tmp_path.iterdir()) == []


def test_what_a_process_killed_while_it_writes_leaves_is_not_read(serve, server, zoo, tmp_path):
    serve({"zoo.data": zoo})
    process = in_another_process(server, tmp_path, "os.replace = lambda *_: os._exit(9)")
    assert process.wait(60) == 9
    assert datasets.verify("zoo", folder=tmp_path) == {"zoo.data": "missing"}
    datasets.fetch("zoo", folder=tmp_path)
    assert datasets.verify("zoo", folder=tmp_path) == {"zoo.data": "ok"}


def test_two_processes_at_once(server, zoo, tmp_path):
    content = zipped({"zoo.data": zoo})
    together = threading.Barrier(2, timeout=60)

    def answer(handler):
        handler.send(content[:800], length=len(content))
        together.wait()
        handler.wfile.write(content[800:])

    server.answer = answer
    both = [in_another_process(server, tmp_path) for _ in range(2)]
    assert [process.wait(60) for process in both] == [0, 0]
    assert [path.name for path in tmp_path.iterdir()] == ["zoo.data"]
    assert datasets.verify("zoo", folder=tmp_path) == {"zoo.data": "ok"}


def test_a_second_process_where_open_files_cannot_be_replaced(serve, zoo, tmp_path, monkeypatch):
    def beaten(_, target):
        Path(target).write_bytes(zoo)
        raise PermissionError(errno.EACCES, "in use")

    serve({"zoo.data": zoo})
    monkeypatch.setattr(os, "replace", beaten)
    datasets.fetch("zoo", folder=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["zoo.data"]


def test_the_bar_shows_the_title_and_all_bytes(serve, zoo, tmp_path, capfd):
    content = serve({"zoo.data": zoo})
    datasets.fetch("zoo", folder=tmp_path, progress=True)
    out, err = capfd.readouterr()
    assert out == ""
    assert "Zoo: 100%" in err
    assert f"{len(content)}/{len(content)}" in err


def test_the_bar_needs_tqdm(serve, zoo, tmp_path, monkeypatch):
    serve({"zoo.data": zoo})
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(hc.MissingLibraryError, match="needs tqdm: pip install"):
        datasets.fetch("zoo", folder=tmp_path, progress=True)


def test_only_fetching_needs_pooch(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    monkeypatch.delenv("HYPERCLUS_DATA", raising=False)
    assert datasets.load("zoo", folder=dataset.PACKAGE).hypergraph.n_vertices == 101
    assert datasets.load("zoo").hypergraph.n_vertices == 101
    for folder in (None, tmp_path):
        with pytest.raises(hc.MissingLibraryError, match="needs pooch: pip install"):
            datasets.load("zoo", from_source=True, folder=folder)


def test_registry_is_complete():
    files = [file for source in registry.SOURCES.values() for file in source.files]
    assert len({file.name for file in files}) == len(files) == 15
    assert all(len(digest) == 64 for file in files for digest in file.sha256)
    assert downloading.VARIABLE == "HYPERCLUS_DATA"
