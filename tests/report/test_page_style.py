"""The report in a browser: colours, small screens, paper, no JavaScript."""

import re

import numpy as np
import pytest

import hyperclus as hc
from hyperclus.report import colours
from support.browser import opened
from support.colours import blended, channels, contrast, luminance
from support.report_pages import written


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


def test_the_theme_button_overrides_the_system(browser, report):
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
def test_charts_have_the_colours_of_clusters_and_grey(browser, report, scheme):
    with opened(browser, report, color_scheme=scheme) as seen:
        dark = scheme == "dark"
        palette, none = seen.signal("embedding", "palette"), seen.signal("matrix", "none")
    assert palette == list(colours.DARK if dark else colours.LIGHT)
    assert none == colours.colour(-1, dark=dark)


def test_thirty_clusters_have_different_marks(browser, tmp_path):
    edges = [[f"v{c}-{i}" for i in range(3)] for c in range(31)]
    part = hc.evaluate(hc.Hypergraph.from_edges(edges), np.repeat(np.arange(31), 3))
    path, _ = written(part, tmp_path)
    style = "['backgroundColor', 'borderRadius', 'clipPath'].map((name) => getComputedStyle(e)[name])"
    look = f"e => {style}.join()"
    with opened(browser, path) as seen:
        badges = [badge.evaluate(look) for badge in seen.page.locator(".clusters .badge i").all()]
        seen.page.locator("#find").fill("v12-0")
        found = seen.page.locator("#found .badge i").evaluate(look)
        shapes = {
            mark.get_attribute("d")[:120] for mark in seen.page.locator("#embedding .mark-symbol path").all()
        }
    assert len(badges) == 31
    assert len({*badges}) == 30
    assert badges[30] == badges[0]
    assert found == badges[12]
    assert len(shapes) == 3


def test_the_page_fits_a_phone(browser, report):
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
        for cell in seen.page.locator(".clusters .sentence, .clusters tbody td:nth-child(6)").all():
            box = cell.bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= 360
        seen.page.set_viewport_size({"width": 1000, "height": 740})
        seen.page.wait_for_function("() => document.querySelector('.chart svg').clientWidth > 400")


def test_printed_pages_are_light_and_complete(browser, report):
    with opened(browser, report, color_scheme="dark") as seen:
        seen.page.emulate_media(media="print")
        assert luminance(seen.colour("body", "backgroundColor")) > 0.9
        assert seen.page.locator(".toolbar, input, .copy").evaluate_all(
            "all => all.every(e => !e.offsetParent)"
        )
        seen.page.emulate_media(media="screen")
        ink = seen.signal("matrix", "ink")
        seen.page.evaluate("dispatchEvent(new Event('beforeprint')) && null")
        assert seen.page.locator("details.who:not([open])").count() == 0
        assert luminance(seen.signal("matrix", "ink")) < 0.1 < luminance(ink)
        seen.page.evaluate("dispatchEvent(new Event('afterprint')) && null")
        assert seen.signal("matrix", "ink") == ink
        paper = seen.page.pdf(format="A4")
        assert len(re.findall(rb"/Type\s*/Page\b", paper)) >= 3
        assert seen.page.evaluate("document.documentElement.dataset.theme ?? 'none'") == "none"


def test_tables_do_not_need_javascript(browser, report):
    with opened(browser, report, drawn=False, java_script_enabled=False) as seen:
        text = seen.page.locator("main").inner_text()
        assert "60 vertices fall into 3 groups" in text
        assert text.count("This chart needs JavaScript") == 2
        assert seen.page.locator(".clusters tbody tr").count() == 3
        seen.page.locator("#expert > summary").click()
        assert seen.page.locator(".interval").is_visible()
        seen.page.locator(".card summary").first.click()
        assert seen.page.locator(".card table").first.is_visible()
        assert not seen.page.locator("#theme").is_visible()
