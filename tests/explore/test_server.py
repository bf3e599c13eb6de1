"""The server: who may ask, and what it answers."""

import re
from contextlib import closing

import pytest

import hyperclus as hc
from hyperclus.cli.explore_runs import Explorer
from hyperclus.explore.form import Form
from hyperclus.explore.server import MAX_BODY, NO_TOKEN, Keys, Site, _server
from hyperclus.explore.worker import RefusedError, Worker
from support.command_line import inside
from support.explorers import client_of, ended
from support.report_pages import HOSTILE
from support.stand_in_runs import stand_in

PATHS = (
    "/",
    "/state",
    "/shell.js",
    "/shell.css",
    "/result/1",
    "/result/1/save",
    "/result/1/table",
    "/nothing",
)
NAMES = [name for name in HOSTILE if name.isprintable() and len(name) < 100]


@pytest.fixture(scope="module")
def client():
    """A server with a stand-in for the computation, and its first result."""
    form = Form("t.csv", tuple(NAMES), rows=True)
    with client_of(form, "<b>t</b>.csv", stand_in) as found:
        found.worker.run(["answer", "<i>first</i>"])
        ended(found.worker)
        yield found


def test_protocols_are_imported_before_the_thread_starts():
    """A signal that ends an import in the main thread could otherwise stop the thread for ever."""
    with closing(Worker(stand_in)) as worker:
        assert _server(Site(Form("t.csv", ("a",), rows=True), "t.csv", worker), Keys(), 1).config.loaded


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("cookie", [None, "hyperclus-1=x", "hyperclus-{port}=", "hyperclus-{port}=é"])
def test_without_the_cookie_nothing_is_answered(client, path, cookie):
    given = cookie and cookie.format(port=client.port)
    for method in ("GET", "POST"):
        reply = client.ask(path, method, cookie=given and given.encode())
        assert (reply.status, reply.text) == (403, NO_TOKEN)


def test_the_token_is_exchanged_for_a_cookie(client):
    for wrong in ("", "x", client.keys.token[:-1], client.keys.session, "%ff%00"):
        assert client.ask(f"/?token={wrong}", cookie=None).status == 403
    assert client.ask(f"/state?token={client.keys.token}", cookie=None).status == 403
    reply = client.ask(f"/?token={client.keys.token}", cookie=None)
    assert (reply.status, reply.headers["location"]) == (303, "/")
    value, *attributes = reply.headers["set-cookie"].split("; ")
    assert value == client.cookie
    assert {one.lower() for one in attributes} == {"httponly", "path=/", "samesite=strict"}
    assert client.keys.token not in value
    assert client.ask("/", cookie=value).status == 200


def test_a_ticket_is_valid_once(client):
    ticket = client.keys.ticket()
    assert [client.ask(f"/?token={ticket}", cookie=None).status for _ in range(2)] == [303, 403]


@pytest.mark.parametrize("host", ["example.org", "127.0.0.1", "127.0.0.1:1", "localhost", "", "[::1]:{port}"])
def test_other_hosts_are_refused(client, host):
    for path in ("/state", f"/?token={client.keys.token}"):
        reply = client.ask(path, host=host.format(port=client.port))
        assert (reply.status, reply.headers["set-cookie"]) == (403, None)
    assert client.ask("/state", host=f"localhost:{client.port}").status == 200


@pytest.mark.parametrize(
    ("origin", "site", "status"),
    [
        ("http://127.0.0.1:{port}", None, 404),
        ("http://127.0.0.1:{port}", "same-origin", 404),
        (None, "same-origin", 404),
        (None, None, 403),
        (None, "none", 403),
        ("null", "same-origin", 403),
        ("http://127.0.0.1:1", None, 403),
        ("http://localhost:{port}", None, 403),
        ("https://127.0.0.1:{port}", None, 403),
        ("http://127.0.0.1:{port}", "same-site", 403),
    ],
)
def test_only_the_page_may_change_anything(client, origin, site, status):
    given = origin and origin.format(port=client.port)
    assert client.ask("/nothing", "POST", {}, origin=given, sec_fetch_site=site).status == status


@pytest.mark.parametrize("site", ["same-site", "cross-site"])
def test_pages_of_other_servers_may_only_open_the_page(client, site):
    visit = {"sec_fetch_mode": "navigate", "sec_fetch_dest": "document"}
    assert client.ask("/", sec_fetch_site=site, **visit).status == 200
    assert client.ask("/", sec_fetch_site=site, **{**visit, "sec_fetch_dest": "iframe"}).status == 403
    for path in PATHS[1:]:
        assert client.ask(path, sec_fetch_site=site, sec_fetch_mode="no-cors").status == 403


def test_routes_that_change_something_are_only_for_post(client):
    assert [client.ask(path).status for path in ("/run", "/cancel/1")] == [405, 405]
    assert client.ask("/state", "POST", {}).status == 405


@pytest.mark.parametrize("path", [*PATHS, "/run"])
def test_all_answers_have_the_headers(client, path):
    for cookie in (client.cookie, None):
        headers = client.ask(path, cookie=cookie).headers
        policy = headers["content-security-policy"]
        assert "frame-ancestors 'self'" in policy
        assert "unsafe" not in policy
        assert policy.startswith("default-src 'none'; script-src 'self'") or path == "/result/1"
        assert headers["cache-control"] == "no-store"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "SAMEORIGIN"
        assert headers["server"] is None
    assert (
        "sandbox allow-scripts allow-downloads" in client.ask("/result/1").headers["content-security-policy"]
    )


def test_results(client):
    assert client.ask("/result/1").body == client.ask("/result/1/save").body == b"<p>page"
    assert client.ask("/result/1/table").body == b"table\n"
    kinds = [
        client.ask(f"/result/1{rest}").headers["content-disposition"] for rest in ("", "/save", "/table")
    ]
    assert kinds == [None, *(f"attachment; filename*=utf-8''b_t_b-clusters.{end}" for end in ("html", "csv"))]
    gone = client.ask("/result/2")
    assert (gone.status, gone.text) == (404, "This result is gone; run it again.")
    assert client.ask("/result/1/../../t.csv").status == 404
    result = client.ask("/state").json["result"]
    assert result == {
        "heading": "<i>first</i>",
        "notes": ["a note"],
        "columns": {"a": "categories"},
        "number": 1,
        "hasPage": True,
        "hasTable": True,
    }


def test_names_are_text(client):
    page = client.ask("/").text
    assert "<b>t" not in page
    assert "&lt;b&gt;t&lt;/b&gt;.csv" in page
    assert re.findall(r"<script[^>]*>", page) == ['<script src="/shell.js" defer>']
    assert not re.search(r"<(img|style|svg)", page)
    assert page.count('type="checkbox"') == len(NAMES)


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        (b"", 400, "cannot be read"),
        (b"[]", 400, "cannot be read"),
        (b'{"clusters": 3}', 400, "cannot be read"),
        (b'{"clusters": ["\xff"]}', 400, "cannot be read"),
        (b'{"clusters": ["\\ud800"]}', 400, "cannot be read"),
        (b'{"out": ["x.csv"]}', 400, "no field 'out'"),
        (b" " * (MAX_BODY + 1), 413, "too long"),
    ],
)
def test_bad_bodies(client, body, status, words):
    reply = client.ask("/run", "POST", body)
    assert reply.status == status
    assert words in reply.json["error"]
    assert client.worker.status.number == 1


def test_one_run_at_a_time():
    with client_of(Form("t.csv"), "t.csv", stand_in) as client:
        client.worker.run(["deaf"])
        reply = client.ask("/run", "POST", {})
        assert (reply.status, reply.json["error"]) == (409, "a run is in progress; wait for it or cancel it")
        assert client.ask("/state").json["running"]


# With the computation


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("explore") / "table.csv"
    rows = [f"<i>v{i}</i>,{'xyz'[i % 3]},{i % 3},{i % 3}\n" for i in range(18)]
    path.write_text("name,<b>colour</b>,legs,class\n" + "".join(rows))
    return path


@pytest.fixture(scope="module")
def explored(table):
    names = ("name", "<b>colour</b>", "legs", "class")
    with client_of(Form(str(table), names, rows=True), table.name) as found:
        yield found


@pytest.mark.parametrize(
    ("values", "options"),
    [
        ({"clusters": "99"}, ["-k", "99"]),
        ({"clusters": "x"}, ["-k", "x"]),
        ({"clusters": ""}, []),
        ({"clusters": "2", "alpha": "-1"}, ["-k", "2", "--alpha", "-1"]),
        ({"clusters": "2", "seed": "0.5"}, ["-k", "2", "--seed", "0.5"]),
        ({"clusters": "2", "effort": "huge"}, ["-k", "2", "--effort", "huge"]),
        ({"clusters": "2", "id": "nothing"}, ["-k", "2", "--id", "nothing"]),
        ({"clusters": "2", "bins": "many"}, ["-k", "2", "--bins", "many"]),
    ],
)
def test_errors_are_those_of_the_command_line(explored, table, values, options):
    done = inside("cluster", table, *options, "-q")
    assert done.returncode == 2
    state = explored.run(**values)
    assert f"hyperclus: {state['error']}\n" == done.stderr


def test_a_local_error_is_that_of_the_command_line(explored, table):
    done = inside("local", table, "--id", "name", "--around", "v99", "-q")
    state = explored.run(task="local", id="name", around="v99")
    assert f"hyperclus: {state['error']}\n" == done.stderr


def test_the_report_is_that_of_the_command_line(explored, table, tmp_path):
    state = explored.run(id="name", label="class", use=["legs"], clusters="2", effort="fast")
    assert state["error"] is None
    assert state["result"]["heading"] == "2 groups in table.csv"
    number = state["result"]["number"]
    options = [
        "--id",
        "name",
        "--label",
        "class",
        "--exclude",
        "<b>colour</b>",
        "-k",
        "2",
        "--effort",
        "fast",
    ]
    target, labels = tmp_path / "out.html", tmp_path / "out.csv"
    assert inside("cluster", table, *options, "--report", target, "--out", labels).returncode == 0
    found, wanted = explored.ask(f"/result/{number}/save").text, target.read_text()
    assert timeless(found) == timeless(wanted)
    assert explored.ask(f"/result/{number}/table").text == labels.read_text()


def timeless(page):
    """A report without its time, and without the section on how long each stage took."""
    page = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC|took [^<]*</h3>", "", page)
    start = page.index('<svg class="times"')
    return page[:start] + page[page.index("</ul>", start) :]


def test_a_local_cluster(explored):
    state = explored.run(task="local", id="name", label="class", around="<i>v0</i>")
    number, heading = state["result"]["number"], state["result"]["heading"]
    assert re.fullmatch(r"\d+ vertices around 1 seed", heading)
    page = explored.ask(f"/result/{number}").text
    assert "&lt;i&gt;v0&lt;/i&gt;" in page
    assert "<i>v" not in page
    assert "Conductance" in page
    assert "--around &#39;&lt;i&gt;v0&lt;/i&gt;&#39;" in page
    rows = explored.ask(f"/result/{number}/table").text.splitlines()
    assert rows[0] == "vertex,score,staying"
    assert rows[1].startswith("<i>v0</i>,")
    assert len(rows) == 1 + int(heading.split()[0])


def test_other_files(tmp_path):
    hypergraph = hc.Hypergraph.from_edges([["a", "b"], ["b", "c"], ["c", "d"], ["d", "a"]])
    hc.write(hypergraph, tmp_path / "h.npz")
    (tmp_path / "odd.csv").write_bytes(b"\0\1\2")
    with client_of(Form(str(tmp_path / "h.npz")), "h.npz") as client:
        assert "Each row is" not in client.ask("/").text
        assert client.run(clusters="2", weight_transform="log1p")["result"]["heading"] == "2 groups in h.npz"
    done = inside("cluster", tmp_path / "odd.csv", "-k", "2")
    with pytest.raises(RefusedError) as refused:
        Explorer()(Form(str(tmp_path / "odd.csv")).arguments({"clusters": ["2"]}))
    assert f"hyperclus: {refused.value}\n" == done.stderr
