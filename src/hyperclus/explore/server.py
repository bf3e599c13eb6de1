"""The web server: it listens on this machine only, and answers only who has the token."""

import hmac
import re
import secrets
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from urllib.parse import quote

import msgspec

from hyperclus._runtime.optional import library
from hyperclus.errors import HyperclusError, InputError
from hyperclus.explore import pages
from hyperclus.explore.form import Form
from hyperclus.explore.worker import Result, Worker
from hyperclus.report.html.templating import asset

HOST = "127.0.0.1"
MAX_BODY = 1 << 20  # bytes of a request
LAST = 10.0  # seconds in which answers that have begun may end
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
RESULT_POLICY = (
    "sandbox allow-scripts allow-downloads; frame-ancestors 'self'"  # with that of the page itself
)
HEADERS = {
    "x-frame-options": "SAMEORIGIN",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}

Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]


def starlette(module: str) -> Any:
    """A module of Starlette."""
    return library(f"starlette.{module}", "Starlette", "hyperclus explore", "explore")


def listen(port: int | None) -> socket.socket:
    """Listen on a port of this machine, by default a free one; other machines cannot connect."""
    listening = socket.socket()
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((HOST, port or 0))
        listening.listen()
    except (OSError, OverflowError) as error:
        listening.close()
        why = getattr(error, "strerror", None) or "the largest is 65535"
        raise HyperclusError(
            f"--port {port} cannot be used: {why}; choose another, or leave it out for a free one"
        ) from None
    return listening


@dataclass(frozen=True, slots=True)
class Keys:
    """Who may use the server.

    `token` is for the address that the terminal shows. The address that a browser is started with is visible
    to other users in the list of processes, so that one has a `ticket`, which is valid once. The browser then
    gets a cookie.
    """

    token: str = field(default_factory=secrets.token_urlsafe)
    session: str = field(default_factory=secrets.token_urlsafe)
    tickets: set[str] = field(default_factory=set)

    def ticket(self) -> str:
        """A token that is valid once."""
        self.tickets.add(ticket := secrets.token_urlsafe())
        return ticket

    def admits(self, given: str) -> bool:
        """Whether this is the token, or a ticket that was not used yet."""
        if _same(given, self.token):
            return True
        used = {ticket for ticket in self.tickets if _same(given, ticket)}
        self.tickets.difference_update(used)
        return bool(used)

    def is_session(self, given: str) -> bool:
        """Whether this is the value of the cookie."""
        return _same(given, self.session)


def _same(given: str, expected: str) -> bool:
    """Compare in constant time."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), expected.encode())


@dataclass(frozen=True, slots=True)
class Guard:
    """Refuses requests from elsewhere, and adds headers to all answers."""

    app: Any
    keys: Keys
    port: int

    @property
    def hosts(self) -> set[str]:
        names = {HOST, "localhost"}
        return {f"{name}:{self.port}" for name in names} | (names if self.port == 80 else set())

    @property
    def cookie(self) -> str:
        """The name of the cookie; cookies of all ports of this machine are sent together."""
        return f"hyperclus-{self.port}"

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = {name for name, _ in message["headers"]}
                added = HEADERS | {"content-security-policy": POLICY}
                pairs = [(name.encode(), value.encode()) for name, value in added.items()]
                message["headers"] = [*message["headers"], *(pair for pair in pairs if pair[0] not in given)]
            await send(message)

        responses, request = starlette("responses"), starlette("requests").Request(scope)
        if (problem := self._problem(request)) is not None:
            await responses.PlainTextResponse(problem, 403)(scope, receive, guarded)
        elif (token := self._token(request)) is not None:
            answer = responses.PlainTextResponse(NO_TOKEN, 403)
            if self.keys.admits(token):
                answer = responses.RedirectResponse("/", 303)
                answer.set_cookie(self.cookie, self.keys.session, httponly=True, samesite="strict")
            await answer(scope, receive, guarded)
        elif not self.keys.is_session(request.cookies.get(self.cookie, "")):
            await responses.PlainTextResponse(NO_TOKEN, 403)(scope, receive, guarded)
        else:
            await self.app(scope, receive, guarded)

    @staticmethod
    def _token(request: Any) -> str | None:
        if request.method != "GET" or request.scope["path"] != "/":
            return None
        found: str | None = request.query_params.get("token")
        return found

    def _problem(self, request: Any) -> str | None:
        """Why a request comes from elsewhere; None if it does not."""
        host, origin = request.headers.get("host", ""), request.headers.get("origin")
        site = request.headers.get("sec-fetch-site")
        if host not in self.hosts:
            return f"This server is {HOST}:{self.port}; use that address."
        from_page = origin == f"http://{host}" if origin is not None else site == "same-origin"
        if request.method not in ("GET", "HEAD") and not (from_page and site in (None, "same-origin")):
            return "This request was not made by the page of this server; use that page."
        visit = [request.headers.get(name) for name in ("sec-fetch-mode", "sec-fetch-dest")]
        entering = visit == ["navigate", "document"] and request.scope["path"] == "/"
        if site in ("same-site", "cross-site") and not entering:
            return "This request was made by a page of another server; use the page of this one."
        return None


NO_TOKEN = "The token is missing or wrong; open the address that hyperclus explore printed."


@dataclass(frozen=True, slots=True)
class Site:
    """The answers to requests."""

    form: Form
    name: str  # of the file, without its folder
    worker: Worker

    def app(self) -> Any:
        """The application, without its guard."""
        route = starlette("routing").Route
        routes = [
            route("/", self.index),
            route("/shell.js", self.script),
            route("/shell.css", self.style),
            route("/state", self.state),
            route("/run", self.run, methods=["POST"]),
            route("/cancel/{number:int}", self.cancel, methods=["POST"]),
            route("/result/{number:int}", self.page),
            route("/result/{number:int}/save", self.save),
            route("/result/{number:int}/table", self.table),
        ]
        return starlette("applications").Starlette(routes=routes)

    async def index(self, _: Any) -> Any:
        return starlette("responses").HTMLResponse(pages.shell(self.form, self.name))

    async def script(self, _: Any) -> Any:
        text = asset("hyperclus.explore", "shell.js")
        return starlette("responses").Response(text, media_type="text/javascript")

    async def style(self, _: Any) -> Any:
        text = asset("hyperclus.explore", "shell.css")
        return starlette("responses").Response(text, media_type="text/css")

    async def state(self, _: Any) -> Any:
        now = self.worker.status
        names = ("number", "running", "cancelling", "cancelled", "stage", "share", "note", "error", "seconds")
        record: dict[str, Any] = {name: getattr(now, name) for name in names} | {"result": None}
        if now.result is not None:
            found = {name: getattr(now.result, name) for name in ("heading", "notes", "columns")}
            record["result"] = found | {"number": now.result_number, "hasPage": bool(now.result.page)}
            record["result"]["hasTable"] = bool(now.result.table)
        return self._json(record)

    async def run(self, request: Any) -> Any:
        body = bytearray()
        async for chunk in request.stream():
            body += chunk
            if len(body) > MAX_BODY:
                return self._json({"error": "the values are too long; leave some out"}, 413)
        try:
            arguments = self.form.arguments(msgspec.json.decode(bytes(body), type=dict[str, list[str]]))
        except InputError as error:
            return self._json({"error": str(error)}, 400)
        except (msgspec.DecodeError, UnicodeError):
            return self._json({"error": "the values of the page cannot be read; reload it"}, 400)
        if not self.worker.run(arguments):
            return self._json({"error": "a run is in progress; wait for it or cancel it"}, 409)
        return self._json({"number": self.worker.status.number}, 202)

    async def cancel(self, request: Any) -> Any:
        self.worker.cancel(request.path_params["number"])
        return self._json({}, 202)

    async def page(self, request: Any) -> Any:
        headers = {"content-security-policy": RESULT_POLICY}
        return self._result(request, "page", "text/html", headers)

    async def save(self, request: Any) -> Any:
        return self._result(request, "page", "text/html", self._attached("html"))

    async def table(self, request: Any) -> Any:
        return self._result(request, "table", "text/csv", self._attached("csv"))

    def _attached(self, suffix: str) -> dict[str, str]:
        """The header that names a file to save after the file that was read."""
        stem = re.sub(r"[^\w.-]+", "_", self.name.partition(".")[0])[:60].strip("._") or "clusters"
        return {"content-disposition": f"attachment; filename*=utf-8''{quote(stem)}-clusters.{suffix}"}

    def _result(self, request: Any, what: str, kind: str, headers: dict[str, str]) -> Any:
        now, response = self.worker.status, starlette("responses")
        if now.result is None or request.path_params["number"] != now.result_number:
            return response.PlainTextResponse("This result is gone; run it again.", 404)
        result: Result = now.result
        return response.Response(getattr(result, what), media_type=kind, headers=headers)

    @staticmethod
    def _json(record: Any, status: int = 200) -> Any:
        content = msgspec.json.encode(record)
        return starlette("responses").Response(content, status, media_type="application/json")


@contextmanager
def serving(site: Site, keys: Keys, listening: socket.socket) -> Iterator[threading.Thread]:
    """Answer requests in a thread during the body; in the main thread, uvicorn would handle signals."""
    running = _server(site, keys, listening.getsockname()[1])
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        yield thread
    finally:
        running.should_exit = True
        thread.join(LAST)


def _server(site: Site, keys: Keys, port: int) -> Any:
    uvicorn = library("uvicorn", "uvicorn", "hyperclus explore", "explore")
    config = uvicorn.Config(
        Guard(site.app(), keys, port),
        http="h11",
        ws="none",
        loop="asyncio",
        lifespan="off",
        interface="asgi3",
        log_config=None,
        log_level="error",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=1,
    )
    config.load()  # a signal in the main thread may leave imports locked, so the other one imports nothing
    return uvicorn.Server(config)
