"""The report in a browser: the number of groups, names, and a comparison."""

import json
import re

import pytest

import hyperclus as hc
from hyperclus.report.html.levels import levels_of
from support.browser import opened
from support.report_pages import HOSTILE, written


@pytest.fixture(scope="module")
def pair(planted, tmp_path_factory):
    """A report that is compared with another partition, and both partitions."""
    part, teams = planted
    other = hc.cluster(part.walk.hypergraph, 4, seed=1, chance=False)
    path = tmp_path_factory.mktemp("pair") / "out.html"
    part.to_html(path, classes=teams, other=other)
    return path, part, other


def shown_k(page):
    return page.evaluate("+document.getElementById('level-text').textContent.split(' ')[0]")


def test_the_slider_changes_everything(browser, pair):
    path, part, _ = pair
    found = levels_of(part)
    with opened(browser, path) as seen:
        page = seen.page
        for position, level in enumerate(found.levels):
            page.evaluate(f"hyperclus.showLevel({position}).then(() => null)")
            assert shown_k(page) == level.k
            rows = page.locator(".clusters tbody tr")
            assert rows.count() == level.k
            assert rows.evaluate_all("all => all.map((row) => +row.dataset.cluster)") == level.ids.tolist()
            verb = " fall into" if level.part is part else ", split into"
            assert page.locator("h1").inner_text() == f"60 vertices{verb} {level.k} groups"
            assert page.locator(".card").count() == level.k
            assert page.locator(".confusion thead [data-choose]").count() == level.k
            colours = page.evaluate(
                "[...new Set(hyperclus.views.embedding.data('points').map((point) => point.c))].length"
            )
            assert colours == level.k
            assert page.locator("#level-slider").get_attribute("aria-valuetext") == f"{level.k} groups"
        assert page.url.endswith("#k=12")
        page.reload()
        page.wait_for_selector("html.drawn", state="attached")
        assert shown_k(page) == 12


def test_the_slider_works_by_keyboard_and_keeps_the_group(browser, pair):
    with opened(browser, pair[0]) as seen:
        page = seen.page
        page.locator(".clusters [data-choose='1']").first.click()
        page.locator("#level-slider").focus()
        page.keyboard.press("ArrowRight")
        page.wait_for_function("() => document.getElementById('level-text').textContent === '4 groups'")
        assert page.evaluate("document.documentElement.dataset.chosen") == "1"
        assert page.locator(".clusters tr.chosen").get_attribute("data-cluster") == "1"
        page.keyboard.press("End")
        page.wait_for_function("() => document.getElementById('level-text').textContent === '12 groups'")
        assert page.locator("#level-more").is_disabled()
        page.locator("#level-fewer").focus()
        page.keyboard.press("Enter")
        assert shown_k(page) == 11
        page.keyboard.press("Escape")
        assert page.evaluate("document.documentElement.dataset.chosen ?? 'none'") == "none"
        assert page.locator("#announcement").text_content() == "All groups are shown."


def test_a_column_of_the_picture_changes_the_level(browser, pair):
    with opened(browser, pair[0]) as seen:
        page = seen.page
        assert page.locator("#splits .bar").count() == sum(range(2, 13))
        page.locator("#splits .area").nth(0).click(force=True)  # the last column is drawn first
        assert shown_k(page) == 12
        page.locator("#splits .bar").first.hover()
        assert "vertices" in page.locator("#tip").inner_text()


def test_names_are_kept_in_a_saved_copy(browser, pair, tmp_path):
    path, part, _ = pair
    with opened(browser, path) as seen:
        page = seen.page
        for number, name in enumerate(("Reds", HOSTILE[4])):
            page.locator(f"[data-rename='{number}']").click()
            page.keyboard.type(name)
            page.keyboard.press("Enter")
        page.locator("[data-rename='2']").click()
        page.keyboard.type("forgotten")
        page.keyboard.press("Escape")
        assert page.locator(".clusters .group").all_inner_texts()[0].startswith("Reds")
        names = "hyperclus.views.embedding.data('names').map((text) => text.name)"
        page.wait_for_function(f"() => {names}.includes('Reds')")  # the plot is drawn a little later
        assert "Group 2" in page.evaluate(names)
        page.evaluate("document.getElementById('expert').open = true")
        code = page.locator("#names-code code").inner_text()
        assert json.loads(re.search(r"0: (\".*?\"),", code)[1]) == "Reds"
        with page.expect_download() as download:
            page.locator("#save").click()
        copy = tmp_path / "copy.html"
        download.value.save_as(copy)
    text = copy.read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    with opened(browser, copy) as seen:
        groups = seen.page.locator(".clusters .group").all_inner_texts()
        assert groups[0].startswith("Reds")
        assert groups[1].startswith(HOSTILE[4])
        assert seen.page.evaluate("window.hacked") is None
        assert shown_k(seen.page) == part.k


def test_an_empty_name_restores_the_old_one(browser, pair):
    with opened(browser, pair[0]) as seen:
        page = seen.page
        for name in ("Reds", ""):
            page.locator("[data-rename='0']").click()
            page.locator("input.rename").fill(name)
            page.keyboard.press("Enter")
        assert page.locator(".clusters .group").all_inner_texts()[0].startswith("Group 0")
        assert page.evaluate("document.activeElement.dataset.rename") == "0"


def test_two_partitions_side_by_side(browser, pair):
    path, part, other = pair
    found = hc.compare(part, other)
    with opened(browser, path) as seen:
        page = seen.page
        assert f"{round(60 * found.unchanged)} vertices of 60" in page.locator("#other").inner_text()
        bands = page.locator("#other .band")
        assert bands.count() == (found.counts > 0).sum()
        assert page.locator("#other .bar").count() == part.k + other.k


def test_the_comparison_is_for_the_same_vertices(planted, tmp_path):
    part, _ = planted
    with pytest.raises(hc.HyperclusError, match="in common"):
        written(part, tmp_path, other={"nobody": 0})
