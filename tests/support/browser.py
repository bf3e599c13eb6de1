"""A Chromium for the tests of the report, and a record of what each page did."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

PATIENCE = 240_000  # milliseconds
NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)


@contextmanager
def chromium() -> Iterator[Any]:
    """Start a browser; without one the tests are skipped, or fail in CI."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(
            "no Chromium was found; .ci/install-chromium installs it"
        )
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=FLAGS.split())
        yield browser
        browser.close()


@dataclass(slots=True)
class Opened:
    """A page with its console messages, errors, requests and dialogs."""

    page: Any
    console: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Wait long for what a busy machine does slowly."""
        self.page.set_default_timeout(PATIENCE)

    def signal(self, chart: str, name: str) -> Any:
        """Return the value of a signal of a chart."""
        return self.page.evaluate("([chart, name]) => hyperclus.views[chart].signal(name)", [chart, name])

    def wait_for_charts(self) -> None:
        """Wait until all charts are redrawn."""
        views = "Object.values(hyperclus.views).map((view) => view.runAsync())"
        self.page.evaluate(f"() => Promise.all({views}).then(() => null)")

    def colour(self, selector: str, what: str = "color") -> str:
        """Return a computed colour of the first element that matches."""
        script = "(element, what) => getComputedStyle(element)[what]"
        colour: str = self.page.locator(selector).first.evaluate(script, what)
        return colour

    def check_quiet(self, path: Path) -> None:
        """Assert that there were no messages, errors or dialogs, and no request except for the file."""
        assert self.console == []
        assert self.errors == []
        assert self.dialogs == []
        assert {request.split("#")[0] for request in self.requests} == {path.as_uri()}


@contextmanager
def opened(
    browser: Any, path: Path, *, fragment: str = "", drawn: bool = True, **context: Any
) -> Iterator[Opened]:
    """Open a page in its own context, record what it does, and check at the end that it was quiet."""
    with browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **context}) as window:
        seen = Opened(window.new_page())
        seen.page.on("console", lambda message: seen.console.append(f"{message.type}: {message.text}"))
        seen.page.on("pageerror", lambda error: seen.errors.append(str(error)))
        seen.page.on("dialog", lambda dialog: (seen.dialogs.append(dialog.message), dialog.dismiss()))
        window.on("request", lambda request: seen.requests.append(request.url))
        seen.page.goto(path.as_uri() + fragment)
        if drawn:
            seen.page.wait_for_selector("html.drawn", state="attached")
        yield seen
        seen.check_quiet(path)


def serious_findings(page: Any) -> list[tuple[str, list[str]]]:
    """What axe-core finds in a page that is serious or worse: the rule, and some of the elements."""
    from axe_playwright_python.base import AXE_FILE_PATH

    page.evaluate(AXE_FILE_PATH.read_text(encoding="utf-8") + "; null")
    found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
    return [
        (rule["id"], [node["html"][:160] for node in rule["nodes"]][:3])
        for rule in found["violations"]
        if rule["impact"] in ("serious", "critical")
    ]
