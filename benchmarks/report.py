"""Size of the HTML report of a million vertices, time to write and to open it, and memory to write it.

`python benchmarks/report.py [VERTICES] [K]` needs Linux and Chromium.
"""

import argparse
import shutil
import tempfile
import time
from pathlib import Path

import families
import hyperclus as hc

EDGE_SIZE = 15  # mean


def main(n: int, k: int) -> None:
    """Cluster a planted hypergraph, write the report, and open it."""
    table, omega, _ = families.sparse(EDGE_SIZE * n, blocks=k)
    h = families.build(table, omega)
    start = time.perf_counter()
    part = hc.cluster(h, k=k, effort="fast")
    print(f"{h!r}, {k} clusters found in {time.perf_counter() - start:.0f} s")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        before = _memory("VmRSS")
        Path("/proc/self/clear_refs").write_text("5")  # resets the peak
        start = time.perf_counter()
        part.to_html(path)
        print(f"written in {time.perf_counter() - start:.1f} s, {path.stat().st_size / 1e6:.2f} MB")
        peak = _memory("VmHWM")
        print(f"peak memory {peak / 1e3:,.0f} MB, {(peak - before) / 1e3:,.0f} MB more than before")
        _open(path)


def _memory(what: str) -> int:
    """Return a figure of /proc/self/status in kilobytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(what)).split()[1])


def _open(path: Path) -> None:
    from playwright.sync_api import sync_playwright

    browser_path = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=browser_path, args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page()
        page.goto(path.as_uri())
        page.wait_for_selector("html.drawn", state="attached")
        script = "[performance.getEntriesByName('first-contentful-paint')[0].startTime, performance.now()]"
        text, charts = page.evaluate(script)
        print(f"opened: text after {text / 1e3:.2f} s, all charts after {charts / 1e3:.2f} s")
        browser.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("vertices", type=float, nargs="?", default=1e6)
    parser.add_argument("k", type=int, nargs="?", default=5)
    given = parser.parse_args()
    main(int(given.vertices), given.k)
