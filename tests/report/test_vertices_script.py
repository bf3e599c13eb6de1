"""The report in a browser: groups that open, the panel of a vertex or hyperedge, and the search."""

import numpy as np
import pytest

import hyperclus as hc
from hyperclus.report.format import short_id
from hyperclus.report.html.levels import levels_of
from support.browser import opened
from support.report_pages import HOSTILE, hostile_partition, written
from support.strategies import random_hypergraph


@pytest.fixture(scope="module")
def levels(planted):
    return levels_of(planted[0], 5)


@pytest.fixture(scope="module")
def page_of_levels(planted, tmp_path_factory):
    part, teams = planted
    return written(part, tmp_path_factory.mktemp("levels"), classes=teams, levels=5)[0]


def title(page):
    return page.locator("#why-title").inner_text()


def wait_for_panel(page, name):
    page.wait_for_function(
        "(name) => !document.getElementById('why').hidden"
        " && document.getElementById('why-title').textContent === name",
        arg=name,
    )


def evidence_by_loops(part, v):
    """For each hyperedge of a vertex its weight, the shares of its other members, and its contribution."""
    gamma, walk = part.walk.hypergraph.gamma.toarray(), part.walk
    labels, psi, own = part.walk_labels, walk.edge_stationary, part.walk_labels[v]
    omega, found = walk.hypergraph.edge_weights, {}
    degrees = np.zeros(len(labels))
    for e, u in zip(*np.nonzero(gamma), strict=True):
        degrees[u] += omega[e] * gamma[e, u] ** walk.alpha
    for e in np.flatnonzero(gamma[:, v] > 0):
        alone = {}  # the share of each member
        for u in np.flatnonzero(gamma[e] > 0):
            picked = omega[e] * gamma[e, u] ** walk.alpha / degrees[u]
            alone[u] = 0.5 * (walk.stationary[u] * picked / psi[e] + gamma[e, u] / gamma[e].sum())
            if u == v:
                weight = picked
        groups = np.zeros(part.k)
        for u, share in alone.items():
            if u != v:
                groups[labels[u]] += share / (1 - alone[v])
        mine, other = groups[own], max(np.delete(groups, own))
        name = short_id(walk.hypergraph.edge_ids[e])
        found[name] = (100 * weight, 100 * mine, 100 * other, weight * (mine - other))
    return found


def check_figures(page, part, v):
    page.locator("#why .figures", has_text="experts").evaluate("item => item.open = true")
    rows = page.locator("#why .figures", has_text="experts").locator("tbody tr")
    expected = evidence_by_loops(part, v)
    texts = [[cell.strip() for cell in row.split("\t")] for row in rows.all_inner_texts()]
    assert {row[0] for row in texts} == set(expected)
    for name, *figures in texts:
        assert [float(figure) for figure in figures[:3]] == pytest.approx(expected[name][:3], abs=0.2)
        assert float(figures[3]) == pytest.approx(expected[name][3], abs=0.001)
    contributions = [float(row[4]) for row in texts]
    assert contributions == sorted(contributions, reverse=True)


def test_a_group_opens_by_mouse_and_keyboard(browser, report):
    with opened(browser, report) as seen:
        page = seen.page
        first = page.locator(".who").first
        assert not first.locator(".apart").is_visible()
        first.locator("summary").click()
        assert first.locator(".apart").is_visible()
        text = first.inner_text()
        for words in (
            "What sets the group apart",
            "Typical vertices",
            "Least certain vertices",
            "Share",
            "Lift",
        ):
            assert words in text
        second = page.locator(".who").nth(1)
        second.locator("summary").focus()
        page.keyboard.press("Enter")
        assert second.locator(".apart").is_visible()
        page.keyboard.press("Enter")
        assert not second.locator(".apart").is_visible()


def test_the_panel_explains_a_vertex(browser, planted, report):
    part, teams = planted
    sure = part.confidence()
    with opened(browser, report) as seen:
        page = seen.page
        page.locator(".who summary").first.click()
        button = page.locator(".who .people .go").first
        name = button.inner_text()
        v = part.vertex_ids.tolist().index(name)
        button.click()
        wait_for_panel(page, name)
        text = page.locator("#why").inner_text()
        assert f"{100 * sure.values[v]:.0f} %" in text
        assert f"In \nGroup {part.labels[v]}".replace(" \n", " ") in " ".join(text.split())
        assert f"Group {sure.next_clusters[v]}" in text
        assert f"Known class: {teams[name]}" in text
        assert "What speaks for" in text
        check_figures(page, part, v)


def test_the_panel_by_keyboard_only(browser, planted, report):
    with opened(browser, report) as seen:
        page = seen.page
        page.locator(".who summary").first.focus()
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        opener = page.evaluate("document.activeElement.textContent")
        assert page.evaluate("document.activeElement.matches('[data-edge]')")
        page.keyboard.press("Enter")
        wait_for_panel(page, opener)
        assert page.evaluate("document.activeElement.id") == "why-title"
        assert not page.locator("#why-back").is_visible()
        for _ in range(20):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.dataset.open?.startsWith('vertex')"):
                break
        member = page.evaluate("document.activeElement.textContent")
        page.keyboard.press("Enter")
        wait_for_panel(page, member)
        page.keyboard.press("Shift+Tab")
        page.keyboard.press("Shift+Tab")
        assert page.evaluate("document.activeElement.id") == "why-back"
        page.keyboard.press("Enter")
        wait_for_panel(page, opener)
        page.keyboard.press("Escape")
        assert page.locator("#why").is_hidden()
        assert page.evaluate("document.activeElement.textContent") == opener


def test_escape_closes_the_panel_before_the_group(browser, report):
    with opened(browser, report) as seen:
        page = seen.page
        page.locator(".clusters tbody [data-choose]").first.click()
        assert page.locator(".who[open]").count() == 1  # a chosen group opens
        page.locator(".who[open] .people .go").first.click()
        page.wait_for_selector("#why:not([hidden])")
        page.keyboard.press("Escape")
        assert page.locator("#why").is_hidden()
        assert page.evaluate("document.documentElement.dataset.chosen") is not None
        page.keyboard.press("Escape")
        assert page.evaluate("document.documentElement.dataset.chosen") is None


def test_a_hyperedge_shows_its_members_by_group(browser, planted, report):
    part, _ = planted
    h = part.walk.hypergraph
    with opened(browser, report) as seen:
        page = seen.page
        page.locator("#find").fill("meeting 7")
        page.locator("#found .go").first.click()
        wait_for_panel(page, "meeting 7")
        e = h.edge_ids.tolist().index("meeting 7")
        members = h.gamma.indices[h.gamma.indptr[e] : h.gamma.indptr[e + 1]]
        weights = h.gamma.data[h.gamma.indptr[e] : h.gamma.indptr[e + 1]]
        counts = np.bincount(part.walk_labels[members], minlength=part.k)
        text = page.locator("#why-body").inner_text()
        assert f"{len(members)} vertices" in text
        for group, count in enumerate(counts):
            if count:
                assert f"{count}, which is {100 * count / part.sizes[group]:.0f} % of this group" in text
        shown = page.locator("#why [data-open^=vertex]").all_text_contents()
        assert set(shown) == set(h.vertex_ids[members])
        assert shown[0] == h.vertex_ids[members[np.argmax(weights)]]


def test_the_search_finds_both_kinds(browser, report):
    with opened(browser, report) as seen:
        page = seen.page
        page.locator("#find").focus()
        page.keyboard.type("PERSON 7")
        page.wait_for_selector("#found li")
        assert page.locator("#found .kind").all_inner_texts() == ["vertex"]
        assert page.locator("#find-status").inner_text() == "Found 1 vertex."
        page.locator("#find").fill("5")
        page.wait_for_function("() => document.querySelectorAll('#found li').length > 1")
        assert set(page.locator("#found .kind").all_inner_texts()) <= {"vertex", "hyperedge"}
        assert "vertices and" in page.locator("#find-status").inner_text()
        assert page.locator("#found li").count() == 12
        page.locator("#find").fill("meeting 1")
        page.wait_for_function("() => document.querySelector('#found .go')?.textContent === 'meeting 1'")
        page.locator("#find").press("Enter")
        wait_for_panel(page, "meeting 1")
        page.keyboard.press("Escape")
        page.locator("#find").fill("nobody")
        page.wait_for_function("() => !document.querySelector('#found li')")
        assert page.locator("#find-status").inner_text() == "Nothing has this name."
        page.locator("#find").fill("")
        page.wait_for_function("() => !document.getElementById('find-status').textContent")


def test_the_panel_follows_the_level(browser, page_of_levels, levels):
    with opened(browser, page_of_levels) as seen:
        page = seen.page
        page.locator("#find").fill("person 3")
        page.locator("#found .go").first.click()
        wait_for_panel(page, "person 3")
        v = levels.finest.part.vertex_ids.tolist().index("person 3")
        for number, level in enumerate(levels.levels):
            page.evaluate("(number) => hyperclus.showLevel(number)", number)
            group = level.groups[level.part.labels[v]]
            assert page.locator("#why .in .badge").inner_text().strip() == group.name
            check_figures(page, level.part, v)
            sure = level.part.confidence().values[v]
            assert f"{100 * sure:.0f} %" in page.locator("#why .how-sure").inner_text()


def test_groups_of_all_levels_are_described_and_stay_open(browser, page_of_levels, levels):
    with opened(browser, page_of_levels) as seen:
        page = seen.page
        main = levels.levels[levels.main]
        page.locator(".who summary").first.click()
        node = page.locator(".who").first.get_attribute("data-who")
        for number, level in enumerate(levels.levels):
            page.evaluate("(number) => hyperclus.showLevel(number)", number)
            assert page.locator(".who").count() == level.k
            assert page.locator(".who-body .apart").count() == level.k
            same = page.locator(f'.who[data-who="{node}"]')
            if same.count():
                assert same.get_attribute("open") is not None
        page.evaluate("(number) => hyperclus.showLevel(number)", levels.main)
        assert page.locator(".who-body .apart").count() == main.k


def test_a_click_on_a_point_explains_it(browser, report):
    with opened(browser, report) as seen:
        page = seen.page
        mark = page.locator("[data-chart=embedding] svg .mark-symbol path").first
        mark.scroll_into_view_if_needed()
        on_top = """(path) => {
          const box = path.getBoundingClientRect();
          const found = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
          return found.__data__.datum.name;
        }"""
        name = mark.evaluate(on_top)
        mark.click(force=True)
        wait_for_panel(page, name)


def test_a_vertex_in_no_hyperedge(browser, tmp_path):
    h = hc.Hypergraph.from_edges([["a", "b"], ["b", "c"]], vertex_ids=["a", "b", "c", "x"], isolated="keep")
    path, _ = written(hc.cluster(h, chance=False), tmp_path)
    with opened(browser, path) as seen:
        page = seen.page
        page.locator("#find").fill("x")
        page.wait_for_selector("#found li")
        assert "in no hyperedge" in page.locator("#found li").inner_text()
        page.locator("#found .go").click()
        wait_for_panel(page, "x")
        assert "no group" in page.locator("#why-body").inner_text()


def test_hyperedges_of_two_do_not_count_the_vertex_itself(browser, tmp_path):
    """A hyperedge with one other member, in another group, speaks against the group."""
    h = hc.Hypergraph.from_edges({"l": ["a", "b", "c"], "mid": ["c", "d"], "r": ["d", "e", "f"]})
    path, _ = written(hc.evaluate(h, [0, 0, 0, 1, 1, 1], chance=False), tmp_path, levels=2)
    with opened(browser, path) as seen:
        page = seen.page
        page.locator("#find").fill("c")
        page.locator("#found .go").first.click()
        wait_for_panel(page, "c")
        against = page.locator("#why h3", has_text="against").locator("xpath=following-sibling::ul[1]")
        assert against.locator(".go").all_inner_texts() == ["mid"]
        assert "0 % of its other members" in against.inner_text()


def test_hostile_names_are_harmless(browser, tmp_path):
    part, classes = hostile_partition()
    path, _ = written(part, tmp_path, classes=classes, levels=3)
    allowed = "li, bdi, button, span, i, p, b, h3, ul, div, details, summary, svg, rect"
    allowed += ", table, thead, tbody, tr, th, td"
    with opened(browser, path) as seen:
        page = seen.page
        for summary in page.locator(".who summary").all():
            summary.click()
        for name in HOSTILE:
            page.locator("#find").fill("")
            page.locator("#find").fill(short_id(name)[:12])
            page.wait_for_selector("#found li")
            assert page.locator("#found :not(li, bdi, button, span, i)").count() == 0
            page.locator("#found .go").first.click()
            page.wait_for_selector("#why:not([hidden])")
            assert page.locator(f"#why-body :not({allowed})").count() == 0
            page.locator("#why-close").click()
        page.evaluate("hyperclus.showLevel(1)")
        assert (
            page.evaluate("document.querySelectorAll('img, iframe, object, embed, link, base').length") == 0
        )
        assert page.evaluate("window.hacked") is None
        assert page.evaluate("({}).polluted") is None


def test_the_panel_fits_a_phone(browser, report):
    with opened(browser, report, viewport={"width": 360, "height": 740}) as seen:
        page = seen.page
        page.locator(".who summary").first.click()
        page.locator(".who .people .go").first.click()
        page.wait_for_selector("#why:not([hidden])")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        assert page.locator("#why").evaluate("e => e.scrollWidth <= e.clientWidth")
        box = page.locator("#why").bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 360


def test_opened_groups_are_printed(browser, report):
    with opened(browser, report) as seen:
        page = seen.page
        page.locator(".who summary").first.click()
        page.locator(".who .people .go").first.click()
        page.wait_for_selector("#why:not([hidden])")
        page.emulate_media(media="print")
        assert page.locator(".who").first.locator(".apart").is_visible()
        for selector in ("#why", "#downloads", "#find-section", ".pictures", ".who > summary"):
            assert page.locator(selector).evaluate_all("all => all.every(e => !e.offsetParent)"), selector
        clipped = page.locator(".who[open] .scroll").evaluate_all(
            "all => all.filter(e => getComputedStyle(e).overflowX !== 'visible').length"
        )
        assert clipped == 0


def test_groups_open_without_javascript(browser, report):
    with opened(browser, report, drawn=False, java_script_enabled=False) as seen:
        page = seen.page
        page.locator(".who summary").first.click()
        assert page.locator(".who .apart").first.is_visible()
        assert not page.locator("#downloads").is_visible()


@pytest.mark.parametrize("case", ["one vertex", "separate", "many"])
def test_extreme_partitions_are_explained(browser, case, tmp_path):
    apart = hc.Hypergraph.from_edges(
        [["a", "b"], ["c", "d"], ["e"]], vertex_ids=list("abcdef"), isolated="keep"
    )
    part = {
        "one vertex": lambda: hc.cluster(hc.Hypergraph.from_edges([["a"]]), k=1, chance=False),
        "separate": lambda: hc.cluster(apart, k=3, chance=False),
        "many": lambda: hc.evaluate(
            random_hypergraph(300, 250, 5, seed=2), np.arange(300) % 90, chance=False
        ),
    }[case]()
    path, _ = written(part, tmp_path, levels=part.k)
    with opened(browser, path) as seen:
        page = seen.page
        page.locator(".who summary").first.click()
        for kind in ("vertex", "edge"):
            link = page.locator(f".who[open] [data-{kind}]")
            if link.count():
                link.first.click()
                wait_for_panel(page, link.first.inner_text())
                assert "NaN" not in page.locator("#why").inner_text()
                assert "undefined" not in page.locator("#why").inner_text()
                page.keyboard.press("Escape")
        assert "NaN" not in page.locator("body").inner_text()
