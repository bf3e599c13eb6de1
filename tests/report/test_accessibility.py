"""The report by axe-core: nothing serious, in both themes, on a phone, and with everything open."""

import pytest

from support.browser import opened, serious_findings

OPEN = """async () => {
  document.querySelectorAll("details").forEach((details) => (details.open = true));
  document.querySelector("#find").value = "person";
  document.querySelector("#find").dispatchEvent(new Event("input", { bubbles: true }));
  document.querySelector("[data-vertex]")?.click();
  await new Promise((resolve) => setTimeout(resolve, 300));
}"""


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 390)])
def test_axe_finds_nothing_serious(browser, report, scheme, width):
    with opened(browser, report, color_scheme=scheme, viewport={"width": width, "height": 900}) as seen:
        for step in ("null", "hyperclus.showLevel(4).then(() => null)", OPEN):
            seen.page.evaluate(step)
            assert serious_findings(seen.page) == []
