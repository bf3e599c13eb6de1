"""What the figures show, in a few sentences; every word that depends on a figure is made from it."""

from catalogue import METHODS, REFERENCE

DENSE = 352_000  # incidences of the binned family with n = 16,000, where a matrix between all vertices fits
RIVALS = tuple(method.name for method in METHODS if method.environment)


def times(ratio: float) -> str:
    """A ratio in two digits, or as a whole number."""
    return f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.2g}"


def stopped(cell: dict) -> str:
    """What stands in place of a figure."""
    if cell["status"] == "time":
        return f"> {cell['seconds']:g} s"
    if cell["status"] == "memory":
        return f"> {cell['gigabytes']:g} GB"
    return "failed" if cell["status"] == "failed" else "skipped"


def sentences(run: dict) -> list[str]:
    """All that can be said of this run."""
    results = run["results"]
    found = [largest(results, "sparse", "scikit-network")]
    found += [largest(results, family, "HyperNetX") for family in results]
    found += [dense(results), ahead(results)]
    return [sentence for sentence in found if sentence]


def largest(results: dict, family: str, name: str) -> str:
    """A rival at the largest size that it finishes."""
    columns = [c for c in results[family].values() if name in c and c[REFERENCE]["status"] == "done"]
    cells = [(column[name], column[REFERENCE]) for column in columns]
    done = [i for i, (cell, _) in enumerate(cells) if cell["status"] == "done"]
    if not cells:
        return ""
    if not done:
        return f"**{name}** finishes no size of the {family} family ({stopped(cells[0][0])} at the smallest)."
    cell, own = cells[done[-1]]
    where = "the largest size"
    if done[-1] < len(cells) - 1:
        after, beside = cells[done[-1] + 1]
        where = f"the largest size that it finishes ({stopped(after)} at {beside['incidences']:,})"
    return f"**{name}**, {family}, {where}: {beside_own(cell, own)}."


def dense(results: dict) -> str:
    """The fastest of those that form a matrix between all vertices."""
    forming = [method.name for method in METHODS if method.forms != "no"]
    column = next((c for size, c in results["binned"].items() if int(size) == DENSE), {})
    cells = {name: column[name] for name in forming if name in column}
    own = column.get(REFERENCE, {"status": "skipped"})
    if not cells or own["status"] != "done":
        return ""
    done = {name: cell for name, cell in cells.items() if cell["status"] == "done"}
    rest = "; ".join(
        f"{name} {cell.get('after') or stopped(cell)}" for name, cell in cells.items() if name not in done
    )
    start = f"**Methods that form P, L or the clique expansion**, binned, n = {own['vertices']:,}: "
    if not done:
        return f"{start}none finishes ({rest})."
    best = min(done, key=lambda name: done[name]["cpu"])
    return f"{start}the fastest is {best}, {beside_own(done[best], own)}" + (f" ({rest})." if rest else ".")


def beside_own(cell: dict, own: dict) -> str:
    """Both figures, their ratio, and both NMI."""
    ratio = times(cell["cpu"] / own["cpu"])
    return (
        f"at {cell['incidences']:,} incidences {cell['cpu']:.3g} s of CPU time, {ratio} times the "
        f"{own['cpu']:.3g} s of hyperclus, and NMI {cell['nmi']:.3f} against {own['nmi']:.3f}"
    )


def ahead(results: dict) -> str:
    """Where a rival takes less time, or agrees better with the planted blocks."""
    faster, better = [], []
    for family, columns in results.items():
        for name in RIVALS:
            pairs = [(c[name], c[REFERENCE]) for c in columns.values() if name in c]
            pairs = [(cell, own) for cell, own in pairs if cell["status"] == own["status"] == "done"]
            faster += _where(name, family, [c for c, own in pairs if c["cpu"] < own["cpu"]])
            better += _where(name, family, [c for c, own in pairs if round(c["nmi"] - own["nmi"], 3) > 0])
    return f"**Where a rival is ahead.** Less CPU time: {_list(faster)}. Higher NMI: {_list(better)}."


def _where(name: str, family: str, cells: list[dict]) -> list[str]:
    sizes = [f"{cell['incidences']:,}" for cell in cells]
    return [f"{name} ({family}: {', '.join(sizes)})"] if sizes else []


def _list(words: list[str]) -> str:
    return "; ".join(words) or "none at any size"
