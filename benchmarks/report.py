"""Size of the report of a million vertices, the time to write and to open it, and the memory to write it.

Run it with `python benchmarks/report.py [vertices] [k]`, on Linux and with a Chromium.
"""

import shutil
import sys
import tempfile
import time
from pathlib import Path

import hyperclus as hc
from families import sparse

EDGE_SIZE = 15  # on average


def main(n: int, k: int) -> None:
    """Plant, cluster, write, open."""
    table, omega, _ = sparse(EDGE_SIZE * n, blocks=k)
    h = hc.Hypergraph.from_long(table, vertex="vertex", edge="edge", weight="weight")
    h = h.with_edge_weights({e: omega[e] for e in h.edge_ids.tolist()})
    start = time.perf_counter()
    part = hc.cluster(h, k=k, effort="fast")
    print(f"{h!r}, {k} clusters found in {time.perf_counter() - start:.0f} s")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        before = _memory("VmRSS")
        Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here
        start = time.perf_counter()
        part.to_html(path)
        print(f"written in {time.perf_counter() - start:.1f} s, {path.stat().st_size / 1e6:.2f} MB")
        peak = _memory("VmHWM")
        print(f"peak memory {peak / 1e3:,.0f} MB, {(peak - before) / 1e3:,.0f} MB over before")
        _open(path)


def _memory(what: str) -> int:
    """Kilobytes."""
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
    main(*(int(float(argument)) for argument in (sys.argv[1:] + ["1e6", "5"][len(sys.argv) - 1 :])))
