"""The report: what the file holds, and how it behaves in a browser."""

import html
import json
import re
import sys
from html.parser import HTMLParser

import numpy as np
import pytest

import hyperclus as hc
from hyperclus.errors import InputError, MissingLibraryError
from hyperclus.report.format import four_digits, percent, short_id
from hyperclus.report.html.contents import python_call
from hyperclus.report.html.page import write
from hyperclus.report.views import Views
from support.browser import chromium, opened
from support.strategies import random_hypergraph

HOSTILE = [
    "<script>window.hacked = 1</script>",
    '"><img src=x onerror="window.hacked=1">',
    '"onload=window.hacked=1 x="',
    "]]><!--<script>",
    "</script><script>window.hacked=1</script>",
    "</style><style>body{display:none}",
    "\u202eright to left\u202c \u2066isolate\u2069",
    "bell\x07 escape\x1b[31m null\x00 new\nline",
    "lone \ud800 surrogate",
    "x" * 10_000,
    "NaN",
    "__proto__",
    "constructor",
    "%s %d {0}",
    "datum.x + (window.hacked = 1)",
    "a.b[c]['d']",
    "https://example.org/a.png",
    "data:image/svg+xml,<svg onload=window.hacked=1>",
    "javascript:window.hacked=1",
    "&lt;b&gt; &amp; &#x3c;",
    "\u2028line\u2029paragraph",
    "שלום עולם",
]
CHARTS = ("embedding", "matrix", "spectrum", "sweep")


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def planted():
    """60 people in three teams, and who is in which of 45 meetings; the teams are the classes."""
    rng = np.random.default_rng(0)
    edges = {}
    for number in range(45):
        team = number % 3
        members = rng.choice(20, 9, replace=False) + 20 * team
        strays = rng.choice(60, 1)
        edges[f"meeting {number}"] = {f"person {v}": float(rng.uniform(1, 3)) for v in {*members, *strays}}
    people = [f"person {v}" for v in range(60)]
    h = hc.Hypergraph.from_edges(edges, vertex_ids=people)
    teams = {f"person {v}": ("red team", "green team", "blue team")[v // 20] for v in range(60)}
    return hc.cluster(h, k=3), teams


@pytest.fixture(scope="module")
def report(planted, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "out.html"
    part, teams = planted
    write(part, path, title="Meetings", source="meetings.csv", classes=teams, command="hyperclus cluster x")
    return path


def written(part, tmp_path, **more):
    path = tmp_path / "out.html"
    write(part, path, **more)
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"\b(nan|inf|-inf)\b", visible(text))
    return path, text


class _Text(HTMLParser):
    def __init__(self):
        super().__init__()
        self.inside, self.text, self.tags = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.inside.append(tag)

    def handle_endtag(self, tag):
        while self.inside and self.inside.pop() != tag:
            pass

    def handle_data(self, data):
        if not {"script", "style"} & set(self.inside):
            self.text.append(data)


def parsed(text):
    parser = _Text()
    parser.feed(text)
    return parser


def visible(text):
    return " ".join(" ".join(parsed(text).text).split())


def block(text):
    """The data of the page; Python's JSON would take NaN and Infinity, which the page may not hold."""

    def refuse(word):
        raise AssertionError(f"the data hold {word}")

    return json.loads(re.search(r'id="data">(.*?)</script>', text)[1], parse_constant=refuse)


# ---- the file ------------------------------------------------------------------------------------


def test_the_answer_is_in_words(planted, report):
    part, _ = planted
    text = visible(report.read_text(encoding="utf-8")).replace("\u00a0", " ")
    assert "60 vertices in 3 clusters" in text
    assert f"leaves its cluster in {percent(float(part.cut.boundaries.sum()))} of its steps" in text
    assert f"NCut below {four_digits(part.lower_bound)}" in text
    for words in (
        "Meetings",
        "meetings.csv",
        "hyperclus cluster x",
        "red team",
        "NMI",
        "Conductance",
        "Method and settings",
    ):
        assert words in text


def test_the_file_stands_alone(report):
    text = report.read_text(encoding="utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    assert html.unescape(policy).startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    for _, attributes in parsed(text).tags:
        assert not {"src", "srcset", "action", "style"} & set(attributes)
        assert attributes.get("href", "#").startswith("#")
        assert not any(name.startswith("on") for name in attributes)
    assert len(text) < 1_200_000


def test_hostile_names_are_text(tmp_path):
    part, classes = hostile()
    _, text = written(
        part, tmp_path, title=HOSTILE[0], source=HOSTILE[4], classes=classes, command="\n".join(HOSTILE)
    )
    assert len(text) < 1_200_000
    tags = [tag for tag, _ in parsed(text).tags]
    assert tags.count("script") == 4
    assert tags.count("style") == 1
    assert not {"img", "iframe", "object", "link", "b onload"} & set(tags)
    names = block(text)["charts"]["embedding"]["data"]["names"]
    assert "<script>window.hacked = 1</script>" in names
    assert "__proto__" in names
    assert max(map(len, names)) <= 64
    outside = re.sub(r"(?s)<script.*?</script>", "", text)
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x00-\x08\x0b-\x1f\u2028\u2029\ufeff]", outside)


def hostile():
    """A ring of two clusters whose vertices, hyperedges and classes have hostile names."""
    names = HOSTILE
    half = len(names) // 2
    edges = {}
    for i, name in enumerate(names):
        side = range(half) if i < half else range(half, len(names))
        edges[name] = [names[j] for j in side if j % 3 != i % 3]
    edges[("tuple", HOSTILE[1])] = [names[half - 1], names[half]]
    part = hc.cluster(hc.Hypergraph.from_edges(edges), k=2)
    return part, {name: HOSTILE[i % 5] for i, name in enumerate(names)}


@pytest.mark.parametrize(
    ("case", "said"),
    [
        ("one cluster", "nothing is cut"),
        ("one vertex", "nothing is cut"),
        ("separate", "The clusters are separate"),
        ("isolated", "In no hyperedge and no cluster"),
        ("paper", "hc.hyperclus_g(h, k=3"),
        ("random labels", "hc.evaluate(h, labels"),
        ("tight", "semidefinite"),
        ("all alone", "5 clusters"),
        ("no bound", "no lower bound above 0 is known"),
        ("other method", "hc.research.baselines.star"),
    ],
)
def test_every_kind_of_partition_has_a_report(case, said, tmp_path):
    h = random_hypergraph(30, 20, 4, seed=1)
    apart = hc.Hypergraph.from_edges(
        [["a", "b"], ["c", "d"], ["e"]], vertex_ids=list("abcdef"), isolated="keep"
    )
    part = {
        "one cluster": lambda: hc.cluster(h, k=1),
        "one vertex": lambda: hc.cluster(hc.Hypergraph.from_edges([["a"]]), k=1),
        "separate": lambda: hc.cluster(apart, k=2),
        "isolated": lambda: hc.cluster(apart, k=3),
        "paper": lambda: hc.hyperclus_g(h, k=3),
        "random labels": lambda: hc.evaluate(h, np.random.default_rng(0).integers(0, 4, 30)),
        "tight": lambda: hc.cluster(h, k=2, bound="tight"),
        "all alone": lambda: hc.cluster(apart, k=5),
        "no bound": lambda: hc.evaluate(apart, [0, 1, 0, 1, 0, 1]),
        "other method": lambda: hc.research.baselines.star(h, 2),
    }[case]()
    _, text = written(part, tmp_path)
    assert said in visible(text)
    assert block(text)["k"] == part.k


def test_many_clusters_are_capped_and_that_is_said(tmp_path):
    h = random_hypergraph(900, 700, 5, seed=2)
    part = hc.evaluate(h, np.arange(900) % 250)
    _, text = written(part, tmp_path, classes=np.arange(900) % 70)
    said = visible(text)
    assert "The 200 largest of 250 clusters are listed." in said
    assert "The 40 largest of 250 clusters are described." in said
    assert "The 200 largest of 250 clusters are shown." in said
    assert "The 40 largest of 70 classes are shown." in said
    assert "190 more in the table" in said
    assert len(text) < 3_000_000


def test_what_is_sampled_grouped_or_moved_is_said(tmp_path):
    part = hc.cluster(random_hypergraph(5000, 3000, 5, seed=3), k=2)
    _, text = written(part, tmp_path)
    data = block(text)["charts"]
    said = visible(text)
    shown = len(data["embedding"]["data"]["clusters"])
    assert f"A random sample of {shown:,} of 5,000 vertices is shown." in said
    rows, columns = len(data["matrix"]["data"]["rows"]), len(data["matrix"]["data"]["columns"])
    assert f"3,000 hyperedges in {rows} rows and 5,000 vertices in {columns} columns" in said
    assert f"{len(data['sweep']['data']['sizes'])} of 4,999 cuts are shown" in said


def test_weights_of_any_size_have_a_report(tmp_path):
    """Warnings are errors, and the block of data takes no infinity."""
    rng = np.random.default_rng(1)
    for _ in range(40):
        edges = [
            {
                int(v): float(10 ** rng.uniform(-140, 140))
                for v in rng.choice(10, rng.integers(1, 9), replace=False)
            }
            for _ in range(7)
        ]
        try:
            h = hc.Hypergraph.from_edges(edges, vertex_ids=range(10), isolated="keep")
            part = hc.evaluate(h.with_edge_weights(10 ** rng.uniform(-70, 70, 7)), rng.integers(0, 3, 10))
        except hc.HyperclusError:  # too much for double precision
            continue
        _, text = written(part, tmp_path)
        assert block(text)["k"] == part.k


def test_doubts_stand_beside_the_answer(tmp_path):
    edges = [["a", "b", "c"], ["b", "c", "d"], ["x", "y"], ["x", "y"]]
    h = hc.Hypergraph.from_edges(edges, vertex_ids=list("abcdxyz"), isolated="keep")
    given = ["no number of clusters stands out; there may be more than 10", "<b>bold</b> \u202e?"]
    _, text = written(hc.cluster(h, k=3), tmp_path, remarks=given)
    box = re.search(r'(?s)id="remarks">(.*?)</div>', text)[1]
    said = visible(box)
    assert "No number of clusters stands out; there may be more than 10." in said
    assert "<b>bold</b> \ufffd?" in said
    assert "In no hyperedge, with label -1: 1 vertex." in said
    assert "The hypergraph has 2 connected components." in said
    assert text.index('id="remarks"') < text.index('id="clusters"')
    with pytest.raises(InputError, match="a list of sentences"):
        write(hc.cluster(h, k=3), tmp_path / "out.html", remarks="one text")


def test_small_clusters_are_doubts_and_rows_left_out_are_not(planted, tmp_path):
    h = random_hypergraph(900, 700, 5, seed=2)
    labels = np.minimum(np.arange(900) // 2, 24)
    _, text = written(hc.evaluate(h, labels), tmp_path)
    said = visible(re.search(r'(?s)id="remarks">(.*?)</div>', text)[1])
    assert "clusters hold less than" in said
    assert "and 5 more" not in said
    _, text = written(planted[0], tmp_path)
    assert 'id="remarks"' not in text


@pytest.fixture(scope="module")
def table():
    """A complete table without weights: a walker visits all rows alike."""
    rng = np.random.default_rng(3)
    side = np.arange(400) < 137
    columns = {f"column {i}": np.where(rng.random(400) < 0.8, side, ~side).tolist() for i in range(6)}
    return hc.evaluate(hc.Hypergraph.from_table({**columns, "size": (np.arange(400) % 5).tolist()}), side)


def test_a_table_is_explained(table, planted, tmp_path):
    said = visible(written(table, tmp_path)[1])
    assert "A vertex is a row of a table" in said
    assert "7 columns and the number of values in each" in said
    assert "column 0 (2) column 1 (2)" in said
    assert "size (5)" in said
    assert "is a row of a table;" not in visible(written(planted[0], tmp_path)[1])


def test_what_is_the_same_for_all_is_no_column(table, planted, tmp_path):
    _, text = written(table, tmp_path)
    assert "phi / mean" not in text
    assert "those with the largest probability that the next step stays in the cluster" in visible(text)
    _, text = written(planted[0], tmp_path)
    assert "phi / mean" in text
    assert "those that the walk visits most often" in visible(text)


def test_equal_numbers_are_rounded_alike(table, tmp_path):
    """137 of 400 is 34.25 %, and the volume is the same but for rounding."""
    _, text = written(table, tmp_path)
    rows = re.findall(r'(?s)<tr class="c\d" data-choose.*?</tr>', text)
    for row in rows:
        share, volume = re.findall(r'<td class="number"[^>]*>([\d.]+)</td>', row)[1:3]
        assert share == volume


def test_a_high_ncut_is_explained_and_a_low_one_is_not(table, planted, tmp_path):
    assert "A high NCut alone does not mean poor clusters" in visible(written(table, tmp_path)[1])
    assert "A high NCut alone does not mean poor clusters" not in visible(written(planted[0], tmp_path)[1])


def test_the_time_is_that_of_clustering(planted, tmp_path):
    text = visible(written(planted[0], tmp_path)[1])
    assert re.search(r"Clustering took [\d.]+ m?s", text)
    for stage in planted[0].timings:
        assert re.search(rf"{stage} [\d.]+ m?s", text)


def test_words_are_explained(report):
    text = report.read_text(encoding="utf-8")
    terms = re.findall(r"<dt>([^<]*)</dt>", text[text.index('class="glossary"') :])
    for word in ("Vertex", "Hyperedge", "Incidence", "Gamma", "Omega", "Eigenvector", "embedding", "NCut"):
        assert any(word in term for term in terms), word


@pytest.mark.parametrize(("rows", "every"), [(48, 1), (61, 2), (100, 2), (130, 0)])
def test_rows_of_the_matrix_have_names(rows, every, tmp_path):
    _, text = written(hc.cluster(random_hypergraph(60, rows, 5, seed=4), k=2), tmp_path)
    data = block(text)["charts"]["matrix"]["data"]
    assert data["nameStep"] == every
    assert (data["nameWidth"] > 0) == (every > 0)
    assert ("Every second row is labelled." in visible(text)) == (every == 2)


@pytest.mark.parametrize("method", ["cluster", "hyperclus_g", "refine", "evaluate", "star", "clique"])
def test_the_lines_of_python_give_the_same_again(method):
    h = random_hypergraph(40, 30, 4, seed=5)
    labels = np.arange(40) % 3
    part = {
        "cluster": lambda: hc.cluster(h, k=3, effort="fast", min_share=0.1, alpha=1, seed=4),
        "hyperclus_g": lambda: hc.hyperclus_g(h, k=3, rounding="sweep", strategy="largest"),
        "refine": lambda: hc.refine(h, labels, effort="fast", seed=2),
        "evaluate": lambda: hc.evaluate(h, labels, alpha=0.5),
        "star": lambda: hc.research.baselines.star(h, 3),
        "clique": lambda: hc.research.baselines.clique(h, 3),
    }[method]()
    names = {"labels": labels}
    exec(python_call(part).replace("h = ...", "h = given"), names | {"given": h}, names)
    assert names["part"].labels.tolist() == part.labels.tolist()
    assert names["part"].ncut == part.ncut


def test_a_generator_cannot_be_written_down():
    h = hc.Hypergraph.from_edges([["a", "b"], ["b", "c"]])
    assert python_call(hc.cluster(h, seed=np.random.default_rng(0))) is None


def test_errors_are_one_sentence(planted, tmp_path):
    part, _ = planted
    with pytest.raises(InputError, match="the folder does not exist"):
        write(part, tmp_path / "no" / "out.html")
    with pytest.raises(InputError, match="60 vertices need a class each, 2 were given"):
        write(part, tmp_path / "out.html", classes=["a", "b"])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("library", ["jinja2", "vl_convert"])
def test_a_missing_library_is_one_sentence(planted, library, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingLibraryError, match=r"the report needs .*: pip install 'hyperclus\[report\]'$"):
        write(planted[0], tmp_path / "out.html")
    assert list(tmp_path.iterdir()) == []


# ---- the browser ---------------------------------------------------------------------------------


def test_a_click_on_a_cluster_changes_all_views(browser, report):
    with opened(browser, report) as seen:
        page = seen.page
        page.locator(".clusters tbody tr").nth(1).locator("td").nth(1).click()
        assert [seen.signal(chart, "chosen") for chart in CHARTS] == [1, 1, 1, 1]
        assert page.locator(".card:visible").count() == 1
        assert page.locator(".card:visible").get_attribute("data-cluster") == "1"
        assert page.locator('button[aria-pressed="true"]').count() == 4  # bar, table, card, classes
        assert page.locator("tr.dim").count() == 2
        assert page.locator(".confusion td.dim").count() == 6
        assert page.url.endswith("#cluster=1")
        assert page.locator("#announcement").text_content() == "Cluster 1 is chosen."
        page.locator(".toolbar [data-choose='2']").click()
        assert seen.signal("matrix", "chosen") == 2
        page.keyboard.press("Escape")
        assert seen.signal("embedding", "chosen") == -1
        assert page.locator(".card:visible").count() == 3
        assert page.locator('button[aria-pressed="true"], .dim').count() == 0
        assert "#" not in page.url
        page.locator(".confusion thead [data-choose='0']").click()
        assert seen.signal("embedding", "chosen") == 0
        page.locator("#clear").click()
        assert seen.signal("embedding", "chosen") == -1


def test_a_click_on_a_point_or_a_cell_chooses_its_cluster(browser, report):
    with opened(browser, report) as seen:
        page = seen.page
        for chart in ("embedding", "matrix"):
            mark = page.locator(
                f"[data-chart={chart}] svg .mark-{'symbol' if chart == 'embedding' else 'rect'} path"
            )
            mark.first.scroll_into_view_if_needed()
            expected = mark.first.evaluate("(path) => path.__data__.datum.c")
            mark.first.click(force=True)
            page.wait_for_function(
                "(c) => document.documentElement.dataset.chosen === String(c)", arg=expected
            )
            page.keyboard.press("Escape")


def test_the_pointer_shows_plain_text(browser, report):
    with opened(browser, report) as seen:
        page = seen.page
        for chart, mark, words in (
            ("embedding", "symbol", ("person", "cluster", "team")),
            ("matrix", "rect", ("meeting", "main cluster", "person", "weight")),
            ("spectrum", "symbol", ("eigenvalue",)),
            ("sweep", "rect", ("vertices", "NCut", "conductance")),
        ):
            page.locator(f"[data-chart={chart}] svg .mark-{mark} path").first.hover(force=True)
            page.wait_for_selector("#tip:not([hidden])")
            text = page.locator("#tip").inner_text()
            assert all(word in text for word in words), (chart, text)


def test_the_choice_is_in_the_address(browser, report):
    with opened(browser, report, fragment="#cluster=2") as seen:
        assert [seen.signal(chart, "chosen") for chart in CHARTS] == [2, 2, 2, 2]
        assert seen.page.locator(".card:visible").count() == 1
        seen.page.evaluate("location.hash = '#cluster=0'")
        seen.page.wait_for_function("document.documentElement.dataset.chosen === '0'")
        for nonsense in ("#cluster=99", "#cluster=-1", "#cluster=<b>", "#nowhere"):
            seen.page.goto(report.as_uri() + nonsense)
            seen.page.reload()
            seen.page.wait_for_selector("html.drawn", state="attached")
            assert seen.signal("embedding", "chosen") == -1


def test_tables_sort_by_mouse_and_keyboard(browser, report):
    with opened(browser, report) as seen:
        head = seen.page.locator(".clusters th", has_text="Conductance")
        head.locator("button").click()
        assert head.get_attribute("aria-sort") == "descending"
        down = _column(seen, 5)
        assert down == sorted(down, reverse=True)
        head.locator("button").focus()
        seen.page.keyboard.press("Enter")
        assert head.get_attribute("aria-sort") == "ascending"
        assert _column(seen, 5) == down[::-1]
        seen.page.locator(".card th", has_text="Top hyperedge").first.locator("button").click()
        names = (
            seen.page.locator(".card").first.locator(".lists > :first-child tbody td.name").all_inner_texts()
        )
        numbers = [int(name.split()[1]) for name in names if name]
        assert numbers == sorted(numbers)
        assert head.get_attribute("aria-sort") == "ascending"


def _column(seen, index):
    cells = seen.page.locator(f".clusters tbody td:nth-child({index + 1})")
    return [float(text) for text in cells.all_inner_texts()]


def test_the_filter_finds_names(browser, report):
    with opened(browser, report) as seen:
        field = seen.page.locator("#details-filter")
        name = seen.page.locator(".card .name").first.inner_text()
        field.fill(name.upper())
        rows = seen.page.locator(".card tbody tr:visible").all_inner_texts()
        assert rows
        assert all(name in row for row in rows)
        field.fill("nothing is called so")
        assert seen.page.locator(".card:visible").count() == 0
        assert seen.page.locator("#no-match").is_visible()
        field.fill("")
        assert seen.page.locator(".card:visible").count() == 3


def test_a_vertex_is_found_by_name(browser, planted, report):
    part, teams = planted
    stay = Views(part).stay_probability
    with opened(browser, report) as seen:
        page = seen.page
        page.locator("#find").focus()
        page.keyboard.type("PERSON 7")
        first = page.locator("#found li").first
        cluster = part.labels[7]
        text = " ".join(first.inner_text().split())
        assert (
            text
            == f"person 7 cluster {cluster} class {teams['person 7']} stay probability {100 * stay[7]:.1f} %"
        )
        assert page.locator("#find-status").inner_text() == "1 vertex matches."
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        assert seen.signal("embedding", "chosen") == cluster
        page.locator("#find").fill("person")
        assert page.locator("#found li").count() == 10
        assert page.locator("#find-status").inner_text() == "60 vertices match. The first 10 are shown."
        assert page.locator("#found button[aria-pressed=true]").count() > 0
        page.locator("#find").fill("nobody")
        assert page.locator("#find-status").inner_text() == "No vertex matches."
        page.locator("#find").fill("")
        assert page.locator("#found li").count() == 0


def test_a_vertex_in_no_hyperedge_is_found(browser, tmp_path):
    h = hc.Hypergraph.from_edges([["a", "b"], ["b", "c"]], vertex_ids=["a", "b", "c", "x"], isolated="keep")
    path, _ = written(hc.cluster(h), tmp_path)
    with opened(browser, path) as seen:
        seen.page.locator("#find").fill("x")
        assert "in no hyperedge" in seen.page.locator("#found li").inner_text()


def test_of_many_vertices_the_sample_is_searched(tmp_path):
    h = random_hypergraph(20_100, 15_000, 5, seed=6)
    _, text = written(hc.evaluate(h, np.arange(20_100) % 3), tmp_path)
    found = len(block(text)["vertices"]["names"])
    assert found < 5000
    assert f"Only the {found:,} of 20,100 vertices in the embedding can be found." in visible(text)
    h = random_hypergraph(20_000, 15_000, 5, seed=6)
    _, text = written(hc.evaluate(h, np.arange(20_000) % 3), tmp_path)
    assert len(block(text)["vertices"]["names"]) == 20_000
    assert len(text) < 2_000_000


def test_many_clusters_can_be_unfolded(browser, tmp_path):
    path, _ = written(hc.evaluate(random_hypergraph(300, 200, 5, seed=2), np.arange(300) % 26), tmp_path)
    with opened(browser, path) as seen:
        page = seen.page
        rows = page.locator(".clusters tbody tr:visible")
        more = page.locator("#clusters .more-rows")
        assert (rows.count(), more.inner_text()) == (12, "14 more clusters")
        more.click()
        assert (rows.count(), more.inner_text()) == (26, "Fewer")
        more.click()
        page.evaluate("location.hash = '#cluster=20'")
        page.wait_for_selector(".clusters tr[data-cluster='20']", state="visible")
        page.locator("#clusters-filter").fill("25")
        assert page.locator(".clusters tr[data-cluster='25']").is_visible()
        page.locator("#clusters-filter").fill("")
        page.locator(".clusters th", has_text="Conductance").locator("button").click()
        assert rows.count() in (12, 13)  # and the chosen one
        chips = page.locator("#more-chips")
        hidden = int(chips.inner_text().split()[0])
        assert 0 < hidden < 26
        assert not page.locator(".toolbar [data-choose='25']").evaluate(in_view)
        chips.click()
        assert page.locator(".toolbar [data-choose='25']").evaluate(in_view)
        chips.click()
        assert chips.inner_text() == f"{hidden} more"


in_view = """(item) => {
  const [box, bar] = [item, item.parentElement].map((element) => element.getBoundingClientRect());
  return box.right <= bar.right + 1 && box.bottom <= bar.bottom + 1;
}"""


def test_everything_is_reachable_by_keyboard(browser, report):
    with opened(browser, report) as seen:
        page = seen.page
        reached = set()
        for _ in range(120):
            page.keyboard.press("Tab")
            reached.add(
                page.evaluate(
                    "() => { const e = document.activeElement; return e.id || e.classList[0] || e.tagName }"
                )
            )
        assert {
            "skip",
            "chooser",
            "theme",
            "sort",
            "x-axis",
            "y-axis",
            "find",
            "details-filter",
            "more-rows",
            "copy",
        } <= reached
        page.locator(".toolbar .chooser").nth(1).focus()
        page.keyboard.press("Space")
        assert seen.signal("matrix", "chosen") == 1
        unnamed = page.evaluate(
            "() => [...document.querySelectorAll('button, input, select, [role=img], [role=region]')]"
            ".filter(e => !(e.textContent.trim() || e.ariaLabel || e.labels?.length"
            " || e.getAttribute('aria-labelledby'))).length"
        )
        assert unnamed == 0


def test_names_at_one_place_stand_in_a_row(browser, tmp_path):
    h = hc.Hypergraph.from_edges([["a", "b", "c"], ["c", "d"], ["d", "e", "f"]])
    path, _ = written(hc.cluster(h), tmp_path)
    with opened(browser, path) as seen:
        texts = seen.page.locator("[data-chart=embedding] .mark-text text")
        assert {"a, b", "c", "d", "e, f"} <= set(texts.all_text_contents())
        seen.page.select_option("#y-axis", index=0)
        seen.settle()
        assert {"a, b", "c", "d", "e, f"} <= set(texts.all_text_contents())


def test_axes_can_be_chosen(browser, tmp_path):
    path, _ = written(hc.cluster(random_hypergraph(50, 40, 4, seed=7), k=4), tmp_path)
    with opened(browser, path) as seen:
        before = seen.page.evaluate("hyperclus.views.embedding.scale('x').domain()")
        seen.page.select_option("#x-axis", index=2)
        assert seen.signal("embedding", "xAxis") == 2
        assert seen.signal("embedding", "xTitle") == "eigenvector 4"
        seen.settle()
        assert seen.page.evaluate("hyperclus.views.embedding.scale('x').domain()") != before


# ---- light, dark, narrow, printed, without JavaScript --------------------------------------------


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_contrast(browser, report, scheme):
    with opened(browser, report, color_scheme=scheme) as seen:
        page = seen.colour("body", "backgroundColor")
        assert (luminance(page) < 0.2) == (scheme == "dark")
        for selector in (
            "body", "h1", ".answer", "figcaption", ".caption", ".note", "th button", ".eyebrow",
            ".confusion td", ".confusion .f1", ".glossary dd", ".pairs dt", ".legend", "pre code", "#theme",
            ".card header p",
        ):  # fmt: skip
            assert contrast(seen.colour(selector), page) >= 4.5, selector
        for number in range(10):  # of graphics 3 is asked
            colour = seen.page.evaluate(
                f"getComputedStyle(document.documentElement).getPropertyValue('--c{number}')"
            )
            assert contrast(colour.strip(), page) >= 3, number
        shades = seen.page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--shade')")
        darkest = blended([int(part) for part in shades.split()], 0.31, channels(page))
        assert contrast(seen.colour("body"), darkest) >= 4.5
        assert seen.signal("spectrum", "ink") == seen.page.evaluate(
            "getComputedStyle(document.documentElement).getPropertyValue('--ink').trim()"
        )


def test_the_button_wins_over_the_system(browser, report):
    with opened(browser, report, color_scheme="dark") as seen:
        assert seen.page.locator("#theme").inner_text() == "Light"
        dark, ink = seen.colour("body", "backgroundColor"), seen.signal("sweep", "ink")
        seen.page.locator("#theme").click()
        assert luminance(seen.colour("body", "backgroundColor")) > 0.8 > luminance(dark)
        assert seen.signal("sweep", "ink") != ink
        assert seen.page.locator("#theme").inner_text() == "Dark"
        seen.page.reload()
        seen.page.wait_for_selector("html.drawn", state="attached")
        assert luminance(seen.colour("body", "backgroundColor")) > 0.8
        assert luminance(seen.signal("sweep", "ink")) < 0.1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_of_clusters_differ_for_the_colour_blind(browser, report, scheme):
    """Distances in Oklab, as seen by everyone, without green and without red cones (Machado et al., 2009)."""
    deutan = np.array([[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]])
    protan = np.array([[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]])
    with opened(browser, report, color_scheme=scheme) as seen:
        palette = seen.signal("embedding", "palette")
    colours = np.array([linear(channels(colour)) for colour in palette])
    for seen_as in (np.eye(3), deutan, protan):
        places = oklab(np.clip(colours @ seen_as.T, 0, 1))
        apart = np.linalg.norm(places[:, None] - places, axis=2) + np.eye(10)
        assert apart[:6, :6].min() > 0.07
        assert apart.min() > 0.05


def test_a_phone_shows_all_of_it(browser, report):
    with opened(browser, report, viewport={"width": 360, "height": 740}) as seen:
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= 360
        widths = seen.page.evaluate(
            "[...document.querySelectorAll('.chart svg, .chart canvas')].map(e => e.clientWidth)"
        )
        assert len(widths) == 4
        assert max(widths) <= 360
        for selector in (".clusters", ".confusion"):
            assert seen.page.locator(selector).evaluate("e => e.parentElement.clientWidth") <= 360
        assert seen.page.locator(".clusters").evaluate(
            "e => e.parentElement.scrollWidth <= e.parentElement.clientWidth"
        )
        for cell in seen.page.locator(".clusters .tags, .clusters tbody td:nth-child(6)").all():
            box = cell.bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= 360
        seen.page.set_viewport_size({"width": 1000, "height": 740})
        seen.page.wait_for_function("document.querySelector('.chart svg').clientWidth > 400")


def test_on_paper_it_is_light_and_complete(browser, report):
    with opened(browser, report, color_scheme="dark") as seen:
        seen.page.emulate_media(media="print")
        assert luminance(seen.colour("body", "backgroundColor")) > 0.9
        assert seen.page.locator(".toolbar, input, .copy").evaluate_all(
            "all => all.every(e => !e.offsetParent)"
        )
        assert seen.page.locator(".card tr.more").evaluate_all(
            "all => all.length && all.every(e => e.offsetParent)"
        )
        seen.page.emulate_media(media="screen")
        ink = seen.signal("matrix", "ink")
        seen.page.evaluate("dispatchEvent(new Event('beforeprint')) && null")
        assert luminance(seen.signal("matrix", "ink")) < 0.1 < luminance(ink)
        seen.page.evaluate("dispatchEvent(new Event('afterprint')) && null")
        assert seen.signal("matrix", "ink") == ink
        paper = seen.page.pdf(format="A4")
        assert len(re.findall(rb"/Type\s*/Page\b", paper)) >= 3
        assert seen.page.evaluate("document.documentElement.dataset.theme ?? 'none'") == "none"


def test_without_javascript_the_figures_are_there(browser, report):
    with opened(browser, report, drawn=False, java_script_enabled=False) as seen:
        text = seen.page.locator("main").inner_text()
        assert "60 vertices in 3 clusters" in text
        assert text.count("This chart needs JavaScript") == 4
        assert seen.page.locator(".clusters tbody tr").count() == 3
        assert seen.page.locator(".card tr.more").first.is_visible()
        assert seen.page.locator(".interval").is_visible()
        assert not seen.page.locator("#theme").is_visible()


# ---- attacks and extremes in the browser ---------------------------------------------------------


def test_hostile_names_do_no_harm(browser, tmp_path):
    part, classes = hostile()
    path, _ = written(
        part, tmp_path, title=HOSTILE[0], source=HOSTILE[1], classes=classes, command=HOSTILE[4]
    )
    with opened(browser, path) as seen:
        page = seen.page
        assert page.locator("h1").inner_text() == HOSTILE[0]
        assert page.locator("pre").inner_text() == HOSTILE[4]
        assert page.evaluate("document.querySelectorAll('script').length") == 4
        assert (
            page.evaluate("document.querySelectorAll('img, iframe, object, embed, link, base').length") == 0
        )
        for i in range(len(HOSTILE)):
            page.locator("[data-chart=embedding] svg .mark-symbol path").nth(i).hover(force=True)
            page.wait_for_selector("#tip:not([hidden])")
            assert page.locator("#tip :not(p)").count() == 0
        cells = page.locator("[data-chart=matrix] svg .mark-rect path")
        for i in range(0, min(60, cells.count()), 6):
            cells.nth(i).hover(force=True)
            assert page.locator("#tip :not(p)").count() == 0
        page.locator("#details-filter").fill("__proto__")
        assert page.locator(".card tbody tr:visible").count() > 0
        for name in HOSTILE:
            page.locator("#find").fill(short_id(name)[:12])
            assert page.locator("#found li").count() > 0, name
            assert page.locator("#found :not(li, bdi, button, span, i)").count() == 0
        page.locator("#find").fill("(((")
        page.locator("#details-filter").fill("(")
        page.keyboard.press("Escape")
        assert page.evaluate("window.hacked") is None
        assert page.evaluate("({}).polluted") is None


@pytest.mark.parametrize("case", ["one vertex", "separate", "many", "large"])
def test_extremes_are_drawn(browser, case, tmp_path):
    apart = hc.Hypergraph.from_edges(
        [["a", "b"], ["c", "d"], ["e"]], vertex_ids=list("abcdef"), isolated="keep"
    )
    part = {
        "one vertex": lambda: hc.cluster(hc.Hypergraph.from_edges([["a"]]), k=1),
        "separate": lambda: hc.cluster(apart, k=3),
        "many": lambda: hc.evaluate(random_hypergraph(900, 700, 5, seed=2), np.arange(900) % 220),
        "large": lambda: hc.cluster(random_hypergraph(6000, 3000, 5, seed=3), k=30, effort="fast"),
    }[case]()
    path, _ = written(part, tmp_path)
    with opened(browser, path, viewport={"width": 360, "height": 740}) as seen:
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= 360
        last = part.k - 1
        seen.page.evaluate(f"location.hash = '#cluster={last}'")
        seen.page.wait_for_function(f"document.documentElement.dataset.chosen === '{last}'")
        assert seen.signal("matrix", "chosen") == last
        assert seen.page.locator(".card:visible").count() == (1 if last < 40 else 0)
        described = seen.page.locator("#no-match")
        assert described.is_visible() == (last >= 40)
        assert "NaN" not in seen.page.locator("body").inner_text()


# ---- colours -------------------------------------------------------------------------------------


def channels(colour):
    if colour.startswith("#"):
        return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    return [float(part) for part in re.findall(r"[\d.]+", colour)[:3]]


def linear(rgb):
    share = np.array(rgb, dtype=float) / 255
    return np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)


def oklab(rgb):
    cones = np.array([[0.4122, 0.5363, 0.0514], [0.2119, 0.6807, 0.1074], [0.0883, 0.2817, 0.6300]])
    axes = np.array([[0.2105, 0.7936, -0.0041], [1.9780, -2.4286, 0.4506], [0.0259, 0.7828, -0.8087]])
    return np.cbrt(rgb @ cones.T) @ axes.T


def luminance(colour):
    rgb = channels(colour) if isinstance(colour, str) else colour
    return float(linear(rgb) @ [0.2126, 0.7152, 0.0722])


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def blended(over, share, under):
    return [share * a + (1 - share) * b for a, b in zip(over, under, strict=True)]


@pytest.mark.parametrize("path", [None, b"r.html", "x\0.html", 7])
def test_what_is_no_name_of_a_file_is_refused(planted, path):
    with pytest.raises(InputError, match="expected the name of a file"):
        planted[0].to_html(path)
