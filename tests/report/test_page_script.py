"""The report in a browser: choosing, sorting, filtering, finding."""

import numpy as np
import pytest

import hyperclus as hc
from hyperclus.report.format import short_id
from support.browser import opened
from support.report_pages import HOSTILE, hostile_partition, written
from support.strategies import random_hypergraph

CHARTS = ("embedding", "matrix")


def test_a_click_on_a_cluster_updates_all_charts(browser, report):
    with opened(browser, report) as seen:
        page = seen.page
        page.locator(".clusters tbody tr").nth(1).locator("td").nth(1).click()
        assert [seen.signal(chart, "chosen") for chart in CHARTS] == [1, 1]
        assert page.locator(".card:visible").count() == 1
        assert page.locator(".card:visible").get_attribute("data-cluster") == "1"
        assert page.locator('button[aria-pressed="true"]').count() == 3  # table, card, classes
        assert page.locator("tr.dim").count() == 2
        assert page.locator(".confusion td.dim").count() == 6
        assert page.url.endswith("#group=1")
        assert page.locator("#announcement").text_content() == "Group 1 is chosen."
        page.locator(".card [data-choose='1']").click()
        page.locator(".clusters [data-choose='2']").last.click()
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
            for _ in range(2):  # the panel, and the group
                page.keyboard.press("Escape")


def test_tooltips_are_plain_text(browser, report):
    with opened(browser, report) as seen:
        page = seen.page
        page.locator("#expert > summary").click()
        page.wait_for_function("() => hyperclus.views.spectrum && hyperclus.views.sweep")
        for chart, mark, words in (
            ("embedding", "symbol", ("person", "Group", "team")),
            ("matrix", "rect", ("meeting", "main group", "person", "weight")),
            ("spectrum", "symbol", ("eigenvalue",)),
            ("sweep", "rect", ("vertices", "NCut", "conductance")),
        ):
            page.locator(f"[data-chart={chart}] svg .mark-{mark} path").first.hover(force=True)
            page.wait_for_selector("#tip:not([hidden])")
            text = page.locator("#tip").inner_text()
            assert all(word in text for word in words), (chart, text)
        assert seen.signal("sweep", "hovered") == 1
        page.locator("h1").hover()
        assert seen.signal("sweep", "hovered") == -1


def test_the_chosen_cluster_is_in_the_address(browser, report):
    with opened(browser, report, fragment="#group=2") as seen:
        assert [seen.signal(chart, "chosen") for chart in CHARTS] == [2, 2]
        assert seen.page.locator(".card:visible").count() == 1
        seen.page.evaluate("location.hash = '#group=0'")
        seen.page.wait_for_function("() => document.documentElement.dataset.chosen === '0'")
        for nonsense in ("#group=99", "#group=-1", "#group=<b>", "#nowhere"):
            seen.page.goto(report.as_uri() + nonsense)
            seen.page.reload()
            seen.page.wait_for_selector("html.drawn", state="attached")
            assert seen.signal("embedding", "chosen") == -1


def test_tables_sort_by_mouse_and_keyboard(browser, report):
    with opened(browser, report) as seen:
        seen.page.locator("#expert > summary").click()
        head = seen.page.locator("#quality th", has_text="Conductance").first
        head.locator("button").click()
        assert head.get_attribute("aria-sort") == "descending"
        down = _column(seen, 3)
        assert down == sorted(down, reverse=True)
        head.locator("button").focus()
        seen.page.keyboard.press("Enter")
        assert head.get_attribute("aria-sort") == "ascending"
        assert _column(seen, 3) == down[::-1]


def _column(seen, index):
    cells = seen.page.locator("#quality table").first.locator(f"tbody td:nth-child({index + 1})")
    return [float(text) for text in cells.all_inner_texts()]


def test_many_clusters_can_be_unfolded(browser, tmp_path):
    path, _ = written(hc.evaluate(random_hypergraph(300, 200, 5, seed=2), np.arange(300) % 26), tmp_path)
    with opened(browser, path) as seen:
        page = seen.page
        rows = page.locator(".clusters tbody tr:visible")
        more = page.locator("#clusters .more-rows")
        assert (rows.count(), more.inner_text()) == (12, "14 more groups")
        more.click()
        assert (rows.count(), more.inner_text()) == (26, "Fewer")
        more.click()
        page.evaluate("location.hash = '#group=20'")
        page.wait_for_selector(".clusters tr[data-cluster='20']", state="visible")
        page.locator("#clusters-filter").fill("25")
        assert page.locator(".clusters tr[data-cluster='25']").is_visible()
        page.locator("#clusters-filter").fill("")
        page.locator(".clusters th", has_text="Share").locator("button").click()
        assert rows.count() in (12, 13)  # and the chosen one


def test_everything_is_reachable_by_keyboard(browser, report):
    with opened(browser, report) as seen:
        page = seen.page
        reached = set()
        for _ in range(80):
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
            "level-slider",
            "level-more",
            "pencil",
            "save",
        } <= reached
        page.locator(".clusters .chooser").nth(1).focus()
        page.keyboard.press("Space")
        assert seen.signal("matrix", "chosen") == 1
        unnamed = page.evaluate(
            "() => [...document.querySelectorAll('button, input, select, [role=img], [role=region]')]"
            ".filter(e => !(e.textContent.trim() || e.ariaLabel || e.labels?.length"
            " || e.getAttribute('aria-labelledby'))).length"
        )
        assert unnamed == 0


def test_points_at_the_same_position_share_a_label(browser, tmp_path):
    h = hc.Hypergraph.from_edges([["a", "b", "c"], ["c", "d"], ["d", "e", "f"]])
    path, _ = written(hc.cluster(h), tmp_path)
    with opened(browser, path) as seen:
        texts = seen.page.locator("[data-chart=embedding] .mark-text text")
        assert {"a, b", "c", "d", "e, f"} <= set(texts.all_text_contents())
        seen.page.select_option("#y-axis", index=0)
        seen.wait_for_charts()
        assert {"a, b", "c", "d", "e, f"} <= set(texts.all_text_contents())


def test_axes_can_be_chosen(browser, tmp_path):
    path, _ = written(hc.cluster(random_hypergraph(50, 40, 4, seed=7), k=4), tmp_path)
    with opened(browser, path) as seen:
        before = seen.page.evaluate("hyperclus.views.embedding.scale('x').domain()")
        seen.page.select_option("#x-axis", index=2)
        assert seen.signal("embedding", "xAxis") == 2
        assert seen.signal("embedding", "xTitle") == "eigenvector 4"
        seen.wait_for_charts()
        assert seen.page.evaluate("hyperclus.views.embedding.scale('x').domain()") != before


def test_hostile_names_are_harmless(browser, tmp_path):
    part, classes = hostile_partition()
    path, _ = written(
        part, tmp_path, title=HOSTILE[0], source=HOSTILE[1], classes=classes, command=HOSTILE[4]
    )
    with opened(browser, path) as seen:
        page = seen.page
        assert page.locator("h1").inner_text() == HOSTILE[0]
        assert page.locator("pre").first.text_content() == HOSTILE[4]
        assert page.evaluate("document.querySelectorAll('script').length") == 7
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
        for name in HOSTILE:
            page.locator("#find").fill(short_id(name)[:12])
            page.locator("#found li").first.wait_for()
            assert page.locator("#found :not(li, bdi, button, span, i)").count() == 0
        page.locator("#find").fill("(((")
        page.keyboard.press("Escape")
        assert page.evaluate("window.hacked") is None
        assert page.evaluate("({}).polluted") is None


@pytest.mark.parametrize("case", ["one vertex", "separate", "many", "large"])
def test_extreme_partitions_are_drawn(browser, case, tmp_path):
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
        seen.page.evaluate(f"location.hash = '#group={last}'")
        seen.page.wait_for_function(f"() => document.documentElement.dataset.chosen === '{last}'")
        assert seen.signal("matrix", "chosen") == last
        assert seen.page.locator(".card:visible").count() == (1 if last < 40 else 0)
        described = seen.page.locator("#no-match")
        assert described.is_visible() == (last >= 40)
        assert "NaN" not in seen.page.locator("body").inner_text()
