"""Take the screenshots of a report for the README, light and dark, and for the page that explains it.

Run it with `make picture`. It needs an installed Chromium.
"""

import gzip
import shutil
import sys
import tempfile
from importlib import resources
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

import hyperclus as hc

KINDS = ("mammal", "bird", "reptile", "fish", "amphibian", "insect", "other invertebrate")


def animals(path: Path) -> list[str]:
    """Return the names in UCI's file; the second animal of a name is called "second ..."."""
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
        names = [line.split(",")[0] for line in lines if line.strip()]
    return [name if names.index(name) == row else f"second {name}" for row, name in enumerate(names)]


def traits(table: dict, names: list[str]) -> hc.Hypergraph:
    """Return a hypergraph with a hyperedge for each trait: hair, fins, four legs."""
    edges: dict[str, list[str]] = {}
    for feature, values in table.items():
        for name, value in zip(names, values.tolist(), strict=True):
            if int(value):
                trait = f"{value} legs" if feature == "legs" else feature
                edges.setdefault(trait, []).append(name)
    return hc.Hypergraph.from_edges(edges, vertex_ids=names)


def take_top(page: Page, last: str, margin: int, picture: str) -> None:
    """Take a page from its top to the end of an element."""
    end = page.locator(last).bounding_box()
    height = end["y"] + end["height"] + margin
    page.screenshot(path=picture, full_page=True, clip={"x": 0, "y": 0, "width": 1180, "height": height})


def take_panel(page: Page, name: str, picture: str) -> None:
    """Take the map beside the panel that says why a vertex is where it is."""
    page.fill("#find", name)
    page.locator("#found button.go").first.click()
    page.locator("#embedding").scroll_into_view_if_needed()
    page.wait_for_timeout(500)  # of scrolling
    page.screenshot(path=picture)


def main(light: str, dark: str, first: str, why: str) -> None:
    """Cluster animals, write the reports, and take the screenshots."""
    zoo = hc.datasets.load("zoo")
    (raw,) = hc.datasets.files("zoo").values()
    part = hc.cluster(traits(zoo.table, animals(raw)).with_nouns(vertex="animal", edge="trait"), k=5)
    print(part)
    example = resources.files("hyperclus.cli").joinpath("examples", "animals.csv")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-gpu"])

        def opened(report: Path, scheme: str, scale: float) -> Page:
            page = browser.new_page(
                viewport={"width": 1180, "height": 900}, color_scheme=scheme, device_scale_factor=scale
            )
            page.goto(report.as_uri())
            page.wait_for_selector("html.drawn", state="attached")
            return page

        report = Path(folder) / "zoo.html"
        classes = [KINDS[int(kind) - 1] for kind in zoo.classes.tolist()]
        part.to_html(report, source="UCI Zoo", classes=classes)
        for scheme, picture in (("light", light), ("dark", dark)):
            take_top(opened(report, scheme, 2), "#splits", 24, picture)
        with resources.as_file(example) as path:
            h = hc.read(path, format="rows", vertex="animal", exclude=["class"])
        hc.cluster(h.with_nouns(vertex="animal", edge="trait"), k=4).to_html(report, source="animals.csv")
        take_top(opened(report, "light", 1.5), "#clusters", 16, first)
        take_panel(opened(report, "light", 1), "tortoise", why)
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:5])
