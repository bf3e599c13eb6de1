"""Two log-log plots of a run: `python plots.py RUN.json FOLDER`."""

import json
import sys
from pathlib import Path

import matplotlib.pyplot as plt
from catalogue import METHODS
from matplotlib.axes import Axes

COLOURS = (
    "#0072b2",
    "#56b4e9",
    "#9ecae1",
    "#e69f00",
    "#009e73",
    "#d55e00",
    "#cc79a7",
    "#8c6bb1",
    "#8c8c8c",
    "#000000",
)
STYLES = {
    method.name: {"color": colour, "marker": marker}
    for method, colour, marker in zip(METHODS, COLOURS, "os*Dv^<>Xp", strict=True)
}


def lines(axes: Axes, columns: dict[str, dict], field: str, scale: float, stops: str, limit: float) -> None:
    """A line per method; a hollow marker on the limit where it was passed."""
    for method in METHODS:
        cells = [
            (int(size), column[method.name]) for size, column in columns.items() if method.name in column
        ]
        done = [(cell["incidences"], cell[field] / scale) for _, cell in cells if cell["status"] == "done"]
        if not cells:
            continue
        style = STYLES[method.name]
        wide = 2.5 if method.name.startswith("hyperclus") else 1.2
        axes.loglog(
            *zip(*done, strict=True) if done else ([], []), label=method.name, linewidth=wide, **style
        )
        for size, cell in cells:
            if cell["status"] == stops:
                path = ([done[-1][0], size], [done[-1][1], limit]) if done else ([size], [limit])
                axes.loglog(*path, linestyle=":", markevery=[-1], markerfacecolor="white", **style)


def figure(run: dict, field: str, scale: float, stops: str, label: str, path: Path) -> None:
    """Both families side by side."""
    drawn, panels = plt.subplots(1, 2, figsize=(11, 4.6), sharey=True, layout="constrained")
    limit = run["seconds"] if stops == "time" else 1000 * run["gigabytes"]
    for axes, (family, columns) in zip(panels, run["results"].items(), strict=True):
        lines(axes, columns, field, scale, stops, limit)
        axes.axhline(limit, color="#8c8c8c", linewidth=0.8, linestyle="--")
        note = "limit of wall time" if stops == "time" else "limit"
        place = axes.get_yaxis_transform()
        axes.text(0.01, limit, note, transform=place, va="bottom", color="#8c8c8c", fontsize="small")
        axes.set_title(family, loc="left")
        axes.set_xlabel("incidences")
        axes.grid(which="major", color="#e5e5e5", linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel(label)
    drawn.legend(*panels[0].get_legend_handles_labels(), loc="outside right center", frameon=False)
    drawn.savefig(path, dpi=150)
    plt.close(drawn)


def main() -> None:
    """Both figures."""
    run, folder = json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2])
    folder.mkdir(exist_ok=True)
    plt.switch_backend("agg")
    figure(run, "cpu", 1.0, "time", "CPU time (s)", folder / "rivals-cpu.png")
    figure(run, "peak_bytes", 1e6, "memory", "peak memory (MB)", folder / "rivals-memory.png")


if __name__ == "__main__":
    main()
