"""Take the screenshots of a report for the README, light and dark.

Run it with `make picture`. It needs an installed Chromium.
"""

import gzip
import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

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


def main(light: str, dark: str) -> None:
    """Cluster the zoo, write the report, and take two screenshots."""
    zoo = hc.datasets.load("zoo")
    (raw,) = hc.datasets.files("zoo").values()
    part = hc.cluster(traits(zoo.table, animals(raw)).with_nouns(vertex="animal", edge="trait"), k=5)
    print(part)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        report = Path(folder) / "zoo.html"
        classes = [KINDS[int(kind) - 1] for kind in zoo.classes.tolist()]
        part.to_html(report, source="UCI Zoo", classes=classes)
        found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-gpu"])
        for scheme, picture in (("light", light), ("dark", dark)):
            page = browser.new_page(
                viewport={"width": 1180, "height": 900}, color_scheme=scheme, device_scale_factor=2
            )
            page.goto(report.as_uri())
            page.wait_for_selector("html.drawn", state="attached")
            end = page.locator("#splits").bounding_box()
            height = end["y"] + end["height"] + 24
            page.screenshot(
                path=picture, full_page=True, clip={"x": 0, "y": 0, "width": 1180, "height": height}
            )
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:3])
