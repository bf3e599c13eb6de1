"""Two log-log plots of a run: `python plots.py RUN.json FOLDER`."""

import json
import sys
from pathlib import Path

import matplotlib.pyplot as plt
from catalogue import METHODS, REFERENCE
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

COLOURS = (
    "#0072b2",
    "#56b4e9",
    "#e69f00",
    "#009e73",
    "#a6761d",
    "#e7298a",
    "#f4a6c8",
    "#66a61e",
    "#d55e00",
    "#cc79a7",
    "#8c6bb1",
    "#8c8c8c",
    "#000000",
)
STYLES = {
    method.name: {"color": colour, "marker": marker, "markersize": 5}
    for method, colour, marker in zip(METHODS, COLOURS, "osDvhPd8^<>Xp", strict=True)
}
GREY = "#707070"
SLOPE = {"color": GREY, "linewidth": 0.9, "linestyle": "-.", "zorder": 1}
APART = 1.13  # between marks at the same place, as a factor on the axis of incidences


def lines(axes: Axes, columns: dict[str, dict], field: str, scale: float, stops: str, limit: float) -> None:
    """A line per method; a hollow mark where it passes this limit, a ring where it next passes the other."""
    taken: dict[int, int] = {}
    for method in METHODS:
        cells = [
            (int(size), column[method.name]) for size, column in columns.items() if method.name in column
        ]
        if not cells:
            continue
        style, own = STYLES[method.name], method.environment is None
        done = [(cell["incidences"], cell[field] / scale) for _, cell in cells if cell["status"] == "done"]
        axes.loglog(
            *zip(*done, strict=True) if done else ([], []),
            label=method.name,
            linewidth=2.2 if own else 1.2,
            zorder=3 if own else 2,
            **style,
        )
        ended = next(((size, c["status"]) for size, c in cells if c["status"] in ("time", "memory")), None)
        if ended and ended[1] == stops:
            place = ended[0] * APART ** taken.get(ended[0], 0)
            taken[ended[0]] = taken.get(ended[0], 0) + 1
            path = ([done[-1][0], place], [done[-1][1], limit]) if done else ([place], [limit])
            axes.loglog(
                *path,
                linestyle=":",
                markevery=[-1],
                markerfacecolor="white",
                clip_on=False,
                zorder=4,
                **style,
            )
        elif ended and done:
            axes.loglog(*done[-1], "o", markersize=11, markerfacecolor="none", color=style["color"])


def slope(axes: Axes, columns: dict[str, dict], field: str, scale: float) -> None:
    """A line of slope 1 a little below the last figure of hyperclus."""
    own = [column[REFERENCE] for column in columns.values() if column[REFERENCE]["status"] == "done"]
    if not own:
        return
    right, top = own[-1]["incidences"], own[-1][field] / scale / 2
    left = max(own[0]["incidences"], right * axes.get_ylim()[0] / top)
    axes.loglog([left, right], [top * left / right, top], **SLOPE)


def legend(run: dict, stops: str) -> list[Line2D]:
    """What the marks and the line of slope 1 mean."""
    limits = {"time": f"{run['seconds']:g} s", "memory": f"{run['gigabytes']:g} GB"}
    here, other = limits[stops], limits["memory" if stops == "time" else "time"]
    plain = {"linestyle": "", "color": GREY, "marker": "o", "markerfacecolor": "white"}
    return [
        Line2D([], [], markersize=5, label=f"hollow, on the line: > {here}", **plain),
        Line2D([], [], markersize=11, label=f"ringed: > {other} at the next size", **plain),
        Line2D([], [], label="slope 1: linear", **SLOPE),
    ]


def figure(run: dict, field: str, scale: float, stops: str, label: str, path: Path) -> None:
    """Both families side by side."""
    drawn, panels = plt.subplots(1, 2, figsize=(12, 5), sharey=True, layout="constrained")
    limit = run["seconds"] if stops == "time" else 1000 * run["gigabytes"]
    note = f"limit: {limit:g} s of wall time" if stops == "time" else f"limit: {limit / 1000:g} GB"
    for axes, (family, columns) in zip(panels, run["results"].items(), strict=True):
        lines(axes, columns, field, scale, stops, limit)
        axes.axhline(limit, color=GREY, linewidth=0.8, linestyle="--", zorder=1)
        place = axes.get_yaxis_transform()
        axes.text(0.99, 1.35 * limit, note, transform=place, ha="right", color=GREY, fontsize="small")
        axes.set_title(f"{family} family", loc="left")
        axes.set_xlabel("incidences")
        axes.grid(which="major", color="#e5e5e5", linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylim(panels[0].get_ylim()[0] / 2, 2.5 * limit)
    for axes, columns in zip(panels, run["results"].values(), strict=True):
        slope(axes, columns, field, scale)
    panels[0].set_ylabel(label)
    panels[0].yaxis.set_major_formatter("{x:,g}")
    handles = [*panels[0].get_legend_handles_labels()[0], *legend(run, stops)]
    drawn.legend(handles=handles, loc="outside right center", frameon=False)
    temporary = path.with_suffix(".new.png")
    drawn.savefig(temporary, dpi=150)
    temporary.replace(path)
    plt.close(drawn)


def main() -> None:
    """Both figures."""
    run, folder = json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2])
    folder.mkdir(exist_ok=True)
    plt.switch_backend("agg")
    figure(run, "cpu", 1.0, "time", "CPU time (s), all threads", folder / "rivals-cpu.png")
    figure(run, "peak_bytes", 1e6, "memory", "peak resident memory (MB)", folder / "rivals-memory.png")


if __name__ == "__main__":
    main()
