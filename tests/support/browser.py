"""Debian's Chromium for the tests of the report: one for all of them, and what each page did."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser; without one the tests are skipped, except in CI, where they fail."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(
            "there is no Chromium; .ci/install-chromium gets it"
        )
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=FLAGS.split())
        yield browser
        browser.close()


@dataclass(slots=True)
class Opened:
    """A page, and all that it said, asked for or put up."""

    page: Any
    console: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    def signal(self, chart: str, name: str) -> Any:
        """A signal of one of the pictures."""
        return self.page.evaluate("([chart, name]) => hyperclus.views[chart].signal(name)", [chart, name])

    def settle(self) -> None:
        """Wait until all pictures are drawn with what was set last."""
        views = "Object.values(hyperclus.views).map((view) => view.runAsync())"
        self.page.evaluate(f"() => Promise.all({views}).then(() => null)")

    def colour(self, selector: str, what: str = "color") -> str:
        """A computed colour of the first element found."""
        script = "(element, what) => getComputedStyle(element)[what]"
        colour: str = self.page.locator(selector).first.evaluate(script, what)
        return colour

    def check_quiet(self, path: Path) -> None:
        """Nothing was said, nothing failed, and nothing but the file was asked for."""
        assert self.console == []
        assert self.errors == []
        assert self.dialogs == []
        assert {request.split("#")[0] for request in self.requests} == {path.as_uri()}


@contextmanager
def opened(
    browser: Any, path: Path, *, fragment: str = "", drawn: bool = True, **context: Any
) -> Iterator[Opened]:
    """A page in a context of its own, watched from before it loads; at the end it must have been quiet."""
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
