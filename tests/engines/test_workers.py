"""Workers on this machine: nobody but the process that started them can use them."""

import json
import os
import socket
import ssl
import stat
import subprocess
import sys
from contextlib import suppress

import psutil
import pytest

from hyperclus.engines.dask.workers import Timeouts, WorkerPool
from hyperclus.errors import MissingLibraryError

pytest.importorskip("distributed")

STRANGER = """
import json, os, sys
from distributed import Client, Security

address, timeout, how, fields = json.load(sys.stdin)
security = {"nothing": Security, "other": Security.temporary, "right": lambda: Security(**fields)}[how]()
try:
    with Client(address, security=security, timeout=timeout) as client:
        print("inside", client.run_on_scheduler(os.getuid))
except (OSError, TypeError, RuntimeError) as error:
    print("outside", type(error).__name__)
"""


@pytest.fixture(scope="module")
def local():
    with WorkerPool.connect(None, 1, "500MB", Timeouts(connect=120.0)) as pool:
        yield pool


def stranger(pool, how, scheme):
    """What another process says that tries to run code on the scheduler."""
    security, names = pool.client.security, ("tls_ca_file", "tls_client_cert", "tls_client_key")
    fields = {name: getattr(security, name) for name in names} if how == "right" else {}
    timeout = 120 if how == "right" else 3
    given = json.dumps([pool.address.replace("tls://", scheme), timeout, how, fields])
    command = [sys.executable, "-c", STRANGER]
    return subprocess.run(command, input=given, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(
    ("how", "scheme", "word"),
    [
        ("nothing", "tcp://", "outside"),
        ("other", "tls://", "outside"),
        ("right", "tls://", "inside"),
    ],
)
def test_only_who_has_the_certificate_of_the_run_runs_code(local, how, scheme, word):
    assert stranger(local, how, scheme).startswith(word)


def ports(pool):
    """The open ports of this process and its workers."""
    pids = [os.getpid(), *pool.client.run(os.getpid).values()]
    found = [
        one.laddr for pid in pids for one in psutil.Process(pid).net_connections() if one.status == "LISTEN"
    ]
    assert len(found) >= 3
    return found


def answer_of(connection, request):
    """All that comes back."""
    found = b""
    with suppress(ConnectionError, ssl.SSLError):
        connection.sendall(request)
        while part := connection.recv(1 << 16):
            found += part
    return found


def test_no_port_serves_pages_or_is_open_to_other_machines(local):
    for host, port in ports(local):
        assert host == "127.0.0.1"
        for page in ("status", "health", "info/main/workers.html", "json/identity.json", "metrics", "sysmon"):
            with socket.create_connection((host, port)) as connection:
                answer = answer_of(connection, f"GET /{page} HTTP/1.0\r\n\r\n".encode())
            assert not answer.startswith(b"HTTP") or b"404" in answer.splitlines()[0]


def test_a_tls_client_without_a_certificate_gets_no_answer(local):
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    for address in (local.address, *(worker.address for worker in local.workers())):
        host, _, port = address.removeprefix("tls://").partition(":")
        with (
            suppress(ssl.SSLError, ConnectionError),
            socket.create_connection((host, int(port))) as plain,
            context.wrap_socket(plain) as connection,
        ):
            assert answer_of(connection, b"x" * 100) == b""


def scratch(dask_worker):
    return dask_worker.local_directory


def test_what_workers_move_to_disk_is_in_a_private_folder_that_is_deleted():
    with WorkerPool.connect(None, 1, "500MB", Timeouts(connect=120.0)) as pool:
        (folder,) = pool.client.run(scratch).values()
        private = os.path.dirname(os.path.dirname(folder))
        assert stat.S_IMODE(os.stat(private).st_mode) == 0o700
    assert not os.path.exists(private)


def test_without_the_library_for_certificates_no_worker_is_started(monkeypatch):
    monkeypatch.setitem(sys.modules, "cryptography", None)
    with pytest.raises(MissingLibraryError) as error, WorkerPool.connect(None, 1, "500MB"):
        pytest.fail("workers were started")
    assert str(error.value) == (
        "starting Dask workers on this machine needs cryptography: pip install 'hyperclus[dask]'"
    )


def test_a_script_without_main_is_told_what_to_do(tmp_path):
    """Its workers import it, and so come to start workers themselves."""
    script = tmp_path / "script.py"
    script.write_text(
        "from hyperclus.engines.dask.workers import WorkerPool\n"
        "with WorkerPool.connect(None, 1, '500MB'):\n    print('connected')\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert done.returncode == 1
    assert done.stdout == ""
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("hyperclus.errors.ClusterError: no worker could be started on this machine")
    assert '`if __name__ == "__main__":`' in last
