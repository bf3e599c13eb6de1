"""Runs for the worker of `explore`, imported by its child process, and requests to its server."""

import contextlib
import http.client
import json
import time
from dataclasses import dataclass
from functools import partial

from hyperclus._runtime.progress import _listener, watching
from hyperclus.cli.explore_runs import Explorer
from hyperclus.explore.server import Keys, Site, listen, serving
from hyperclus.explore.worker import INTERVAL, Worker


def held_at(stage, effort=""):
    """What `explore` does, but a step of this stage is repeated until the run is cancelled.

    With `effort`, only in runs with that effort.
    """
    return partial(_held, Explorer(), stage, effort)


def _held(explorer, stage, effort, arguments):
    if effort and f"--effort={effort}" not in arguments:
        return explorer(arguments)
    listener = _listener.get()

    def hold(step):
        listener(step)
        while step.stage == stage:
            time.sleep(INTERVAL)
            listener(step)

    with watching(hold):
        return explorer(arguments)


def wait_until(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def ended(worker):
    """The status after the run."""
    wait_until(lambda: not worker.status.running)
    return worker.status


@dataclass
class Reply:
    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def text(self):
        return self.body.decode()

    @property
    def json(self):
        return json.loads(self.body)


@dataclass
class Client:
    """Requests to a server, as its page makes them unless other headers are given."""

    port: int
    keys: Keys
    worker: Worker

    @property
    def address(self):
        return f"http://127.0.0.1:{self.port}"

    @property
    def cookie(self):
        return f"hyperclus-{self.port}={self.keys.session}"

    def ask(self, path, method="GET", body=None, **headers):
        given = {"host": f"127.0.0.1:{self.port}", "cookie": self.cookie, "origin": self.address}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        with contextlib.closing(connection):
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            content = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
            for name, value in given.items():
                if value is not None:
                    connection.putheader(name, value)
            connection.putheader("content-length", str(len(content)))
            connection.endheaders(content)
            answer = connection.getresponse()
            return Reply(answer.status, answer.headers, answer.read())

    def run(self, **values):
        """Run with these values, each a text or a list of texts; returns the state after it."""
        lists = {name: [value] if isinstance(value, str) else value for name, value in values.items()}
        reply = self.ask("/run", "POST", lists)
        assert reply.status == 202, reply.text
        ended(self.worker)
        return self.ask("/state").json


@contextlib.contextmanager
def client_of(form, name, make=Explorer):
    """A server for a form, in a thread."""
    with contextlib.closing(listen(None)) as listening, contextlib.closing(Worker(make)) as worker:
        client = Client(listening.getsockname()[1], Keys(), worker)
        with serving(Site(form, name, worker), client.keys, listening):
            yield client
