"""The page in a browser: choose, run, cancel, look, save; also with the keyboard only."""

from contextlib import contextmanager
from functools import partial

import pytest

from hyperclus.explore.form import Form
from support.browser import Opened, chromium, serious_findings
from support.explorers import client_of, held_at

WIDE, NARROW = {"width": 1400, "height": 900}, {"width": 390, "height": 844}
HOSTILE = "<img src=x onerror=window.hacked=1>"


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    """A server whose runs with much effort do not end by themselves."""
    path = tmp_path_factory.mktemp("explore") / "table.csv"
    rows = [f"{HOSTILE}{i},{'xyz'[i % 3]},{i % 3},{i % 2},{i % 3}\n" for i in range(24)]
    path.write_text(f"name,{HOSTILE},legs,odd,class\n" + "".join(rows))
    form = Form(str(path), ("name", HOSTILE, "legs", "odd", "class"), rows=True, values={"id": ["name"]})
    with client_of(form, path.name, partial(held_at, "search", "thorough")) as found:
        found.worker.run(form.first_arguments())
        yield found


@contextmanager
def opened(browser, client, **context):
    """The page, in its own context; at the end, check that it was quiet and asked only its server."""
    with browser.new_context(**{"viewport": WIDE, **context}) as window:
        seen = Opened(window.new_page())
        seen.page.on("console", lambda message: seen.console.append(message.text))
        seen.page.on("pageerror", lambda error: seen.errors.append(str(error)))
        window.on("request", lambda request: seen.requests.append(request.url))
        seen.page.goto(f"{client.address}/?token={client.keys.token}")
        assert seen.page.url == f"{client.address}/"
        seen.page.wait_for_selector("#heading:not(:empty)", state="attached")  # the latest result is shown
        seen.page.wait_for_selector("#progress", state="hidden")
        yield seen.page
        assert seen.console == seen.errors == []
        assert all(url.startswith(f"{client.address}/") or url == "data:," for url in seen.requests)
        assert all(frame.evaluate("window.hacked") is None for frame in seen.page.frames)


def press_run(page):
    before = page.locator("#result").get_attribute("src")
    page.click("#run")
    wanted = f"#result:not([hidden]):not([src='{before}'])"
    page.wait_for_selector(wanted)
    page.wait_for_selector("#progress", state="hidden")
    return page.frame_locator("#result")


def saved(page, link):
    with page.expect_download() as found:
        page.click(link)
    return found.value


def test_a_round(browser, client, tmp_path):
    with opened(browser, client) as page:
        page.wait_for_selector("#heading:has-text('24 vertices')")
        assert page.locator("[data-column=legs]").text_content() == "numbers as they are"
        assert page.locator("input[value=name]").is_disabled()  # its values are the names
        page.select_option("#label", "class")
        page.uncheck("input[value=odd]")
        page.fill("#clusters", "2")
        page.select_option("#effort", "thorough")
        page.click("#run")
        page.wait_for_selector("#stage:has-text('search')")
        assert page.locator("#live").text_content() == "Running: search."
        assert page.locator("#run").is_disabled()
        page.click("#cancel")
        page.wait_for_selector("#heading:has-text('Cancelled.')")
        assert page.locator("#result").is_hidden()

        page.select_option("#effort", "fast")
        page.fill("#clusters", "3")
        frame = press_run(page)
        frame.locator("html.drawn").wait_for(state="attached")
        assert frame.locator("h1").text_content() == "24 rows fall into 3 groups"
        assert "--exclude odd -k 3 --effort fast" in frame.locator("code").first.text_content()
        number = page.locator("#result").get_attribute("src").rpartition("/")[2]
        download = saved(page, "#save")
        assert download.suggested_filename == "table-clusters.html"
        download.save_as(tmp_path / "saved.html")
        assert (tmp_path / "saved.html").read_bytes() == client.ask(f"/result/{number}").body
        saved(page, "#table").save_as(tmp_path / "saved.csv")
        assert (tmp_path / "saved.csv").read_text().startswith("vertex,cluster,confidence,margin")

        page.fill("#clusters", "99")
        page.click("#run")
        page.wait_for_selector("#error:has-text('99 clusters need')")
        assert frame.locator("h1").text_content() == "24 rows fall into 3 groups"  # is still there

        page.select_option("#task", "local")
        assert page.locator("#clusters").is_hidden()
        page.fill("#around", f"{HOSTILE}0")
        frame = press_run(page)
        assert page.locator("#error").is_hidden()
        assert frame.locator("tbody td").first.text_content() == f"{HOSTILE}0"
        assert frame.locator("th:has-text('score')").count() == 1


def test_keyboard_only(browser, client):
    def tab_to(name):
        for _ in range(60):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.id") == name:
                assert page.evaluate("document.activeElement.matches(':focus-visible')")
                assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
                return
        pytest.fail(f"the Tab key does not reach {name}")

    with opened(browser, client) as page:
        tab_to("task")
        tab_to("clusters")
        page.keyboard.press("Control+A")
        page.keyboard.type("2")
        tab_to("effort")
        page.keyboard.type("thor")
        tab_to("run")
        page.keyboard.press("Enter")
        page.wait_for_selector("#stage:has-text('search')")
        tab_to("cancel")
        page.keyboard.press("Enter")
        page.wait_for_selector("#heading:has-text('Cancelled.')")
        tab_to("row")
        page.keyboard.type("a vertex in")
        assert page.locator("#vertex").is_visible()
        assert page.locator("#id").is_hidden()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [WIDE, NARROW], ids=["wide", "narrow"])
def test_all_fits_and_has_labels(browser, client, scheme, viewport):
    with opened(browser, client, color_scheme=scheme, viewport=viewport) as page:
        if page.locator("#fold").is_visible() and page.locator("body.folded").count():
            page.click("#fold")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        controls = page.locator("form :is(input, select, textarea)")
        assert controls.evaluate_all("(all) => all.every((one) => one.labels.length === 1)")
        assert serious_findings(page) == []
        dark = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 27)"
        assert dark == (scheme == "dark")
        page.select_option("#task", "all")
        page.fill("#clusters", "2")
        page.select_option("#effort", "fast")
        press_run(page)
        assert page.locator("#result").bounding_box()["height"] > 500
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
