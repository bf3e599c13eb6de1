"""The tables of CPU time with many clusters, and what they show, in Markdown."""

import statistics
from itertools import pairwise
from math import log

from by_k.methods import METHODS, OWN

FIELDS = ("cpu", "wall", "peak_bytes")


def row(turns: list[dict]) -> dict:
    """Medians over the turns of a method; or the first turn that did not finish."""
    failed = next((turn for turn in turns if turn["status"] != "done"), None)
    if failed:
        return failed
    medians = {field: statistics.median(turn[field] for turn in turns) for field in FIELDS}
    return {**turns[0], **medians, "turns": len(turns)}


def stopped(cell: dict) -> str:
    """What stands in place of a figure."""
    limits = {"time": f"> {cell.get('seconds', 0):g} s", "memory": f"> {cell.get('gigabytes', 0):g} GB"}
    return limits.get(cell["status"]) or f"failed: {cell.get('error', cell['status'])}"


def ratio(value: float) -> str:
    """A ratio in two digits, or as a whole number."""
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def table(cells: dict[str, dict]) -> str:
    """A line per method, with its time as a multiple of that of hyperclus."""
    lines = [
        ["", "CPU s", f"times {OWN}", "wall s", "peak MB", "NMI", "clusters", "turns"],
        ["---", *["---:"] * 7],
    ]
    own = cells.get(OWN, {"status": "missing"})
    for name, cell in cells.items():
        if cell["status"] != "done":
            lines.append([name, stopped(cell), *[""] * 6])
            continue
        times = ratio(cell["cpu"] / own["cpu"]) if own["status"] == "done" else ""
        figures = [f"{cell['cpu']:.3g}", times, f"{cell['wall']:.3g}", f"{cell['peak_bytes'] / 1e6:,.0f}"]
        figures += [f"{cell['nmi']:.3f}", f"{cell['clusters']:,}", f"{cell['turns']}"]
        lines.append([f"**{name}**" if name.startswith("hyperclus") else name, *figures])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def faster(results: dict[str, dict[str, dict]]) -> str:
    """Where another method takes less CPU time than hyperclus by default, with both NMI."""
    found = []
    for case, cells in results.items():
        own = cells.get(OWN, {"status": "missing"})
        rivals = {name: cell for name, cell in cells.items() if not name.startswith("hyperclus")}
        done = {name: cell for name, cell in rivals.items() if own["status"] == cell["status"] == "done"}
        words = [
            f"{name} ({cell['cpu']:.3g} against {own['cpu']:.3g} s, "
            f"NMI {cell['nmi']:.3f} against {own['nmi']:.3f}"
            + ("" if cell["clusters"] == own["clusters"] else f", {cell['clusters']:,} clusters")
            + ")"
            for name, cell in done.items()
            if cell["cpu"] < own["cpu"]
        ]
        found += [f"- {case}: {', '.join(words)}."] if words else []
    return "\n".join(found) or "- Nowhere."


def growth(series: dict[int, dict[str, dict]]) -> str:
    """How the time of hyperclus grows with k, as an exponent between neighbouring k."""
    own = {k: cells[OWN]["cpu"] for k, cells in series.items() if cells.get(OWN, {}).get("status") == "done"}
    words = [
        f"k = {low} to {high}: {log(own[high] / own[low]) / log(high / low):.2f}"
        for low, high in pairwise(own)
    ]
    return ", ".join(words)


def markdown(results: dict[str, dict[str, dict]], series: dict[int, dict[str, dict]], setting: str) -> str:
    """The whole section."""
    used = {name for cells in results.values() for name in cells}
    called = "\n".join(f"- **{m.name}**: {m.how}." for m in METHODS if m.name in used)
    tables = "\n\n".join(f"### {case}\n\n{table(cells)}" for case, cells in results.items())
    picture = (
        f"""![CPU time against k](images/time_against_k.png)

Exponent of k in the CPU time of {OWN} (1 is linear): {growth(series)}."""
        if len(series) > 1
        else ""
    )
    return f"""## Many clusters

{setting}

Each figure is from a process of its own, from the incidence matrix in memory to labels, with as many threads
as each library takes by itself. Imports, reading, and a first call on 20,000 incidences are not counted.
CPU time is user and system time over all threads. The methods take turns, and the median of their turns
counts; one that takes more than a minute has one turn. Peak memory is that of the process, with
interpreter, libraries and input. The planted sets are the families of `benchmarks/families.py`.

Where another method takes less CPU time than {OWN}:

{faster(results)}

{picture}

{tables}

{called}
"""
