"""CPU time against the number of clusters, on logarithmic axes."""

from pathlib import Path

import matplotlib.pyplot as plt

from by_k.methods import METHODS, OWN

COLOURS = ("#0072b2", "#56b4e9", "#a6761d", "#e7298a", "#f4a6c8", "#66a61e", "#1b9e77", "#e69f00")
GREY = "#707070"


def draw(series: dict[int, dict[str, dict]], title: str, path: Path) -> None:
    """A line per method, and one of slope 1 from the first figure of hyperclus."""
    plt.switch_backend("agg")
    drawn, axes = plt.subplots(figsize=(8, 5), layout="constrained")
    for method, colour, marker in zip(METHODS, COLOURS, "osDvPhdX", strict=True):
        cells = {k: column[method.name] for k, column in series.items() if method.name in column}
        done = [(k, cell["cpu"]) for k, cell in cells.items() if cell["status"] == "done"]
        own = method.environment is None
        if done:
            style = {"color": colour, "marker": marker, "linewidth": 2.2 if own else 1.2}
            axes.loglog(*zip(*done, strict=True), label=method.name, zorder=3 if own else 2, **style)
        if method.name == OWN and done:
            ks = [done[0][0], max(series)]
            line = [done[0][1] * k / ks[0] for k in ks]
            axes.loglog(ks, line, color=GREY, linestyle="-.", linewidth=0.9, label="slope 1: linear in k")
    axes.set_title(title, loc="left")
    axes.set_xlabel("clusters k")
    axes.set_ylabel("CPU time (s), all threads")
    axes.set_xticks(list(series), [str(k) for k in series])
    axes.minorticks_off()
    axes.yaxis.set_major_formatter("{x:,g}")
    axes.grid(which="major", color="#e5e5e5", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    drawn.legend(loc="outside right center", frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".new.png")
    drawn.savefig(temporary, dpi=150)
    temporary.replace(path)
    plt.close(drawn)
