"""The section of results in Markdown."""

from catalogue import METHODS, REFERENCE
from findings import sentences, stopped, times

FAMILIES = {
    "sparse": "as many hyperedges as vertices, 10 to 20 members each, lognormal gamma, omega in [0.5, 2]",
    "binned": "22 features in 5 bins: 110 hyperedges of about n/5 members, lognormal gamma, omega 1",
}


def outcome(cell: dict) -> str:
    """One cell in words, for the log."""
    if cell["status"] == "done":
        return f"{cell['cpu']:.3g} s CPU, {cell['peak_bytes'] / 1e6:,.0f} MB, NMI {cell['nmi']:.3f}"
    return f"failed: {cell['error']}" if cell["status"] == "failed" else stopped(cell)


def table(columns: dict[int, dict], figure, planted=None) -> str:
    """Methods down, sizes across; `figure` makes the text of a finished cell from it and hyperclus' own."""
    names = [m.name for m in METHODS if any(m.name in cells for cells in columns.values())]
    lines = [
        [
            "incidences",
            *(f"{cells[REFERENCE].get('incidences', int(size)):,}" for size, cells in columns.items()),
        ],
        ["---", *["---:"] * len(columns)],
    ]
    for name in names:
        texts = []
        for cells in columns.values():
            cell, own = cells[name], cells[REFERENCE]
            texts.append(figure(cell, own) if cell["status"] == "done" else stopped(cell))
        lines.append([f"**{name}**" if name.startswith("hyperclus") else name, *texts])
    if planted is not None:
        lines.append(["*planted blocks*", *(planted(cells["planted"]) for cells in columns.values())])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def cpu(cell: dict, own: dict) -> str:
    """CPU seconds, and how many times those of hyperclus."""
    if own["status"] != "done" or cell is own:
        return f"{cell['cpu']:.3g}"
    return f"{cell['cpu']:.3g} ({times(cell['cpu'] / own['cpu'])}x)"


def memory(cell: dict, own: dict) -> str:
    """Peak megabytes, and how many times those of hyperclus."""
    text = f"{cell['peak_bytes'] / 1e6:,.0f}"
    if own["status"] != "done" or cell is own:
        return text
    return f"{text} ({times(cell['peak_bytes'] / own['peak_bytes'])}x)"


def nmi(cell: dict, own: dict) -> str:
    """Three digits, and the number of clusters where it is not two."""
    return f"{cell['nmi']:.3f}" + ("" if cell["clusters"] == 2 else f" ({cell['clusters']:,} clusters)")


def ncut(cell: dict) -> str:
    """Four digits, or why there are none."""
    return "one cluster" if cell["ncut"] is None else f"{cell['ncut']:.4f}"


def family(name: str, columns: dict[int, dict]) -> str:
    """All tables of one family."""
    return f"""### {name.capitalize()}

{FAMILIES[name].capitalize()}; two blocks.

CPU seconds, and in brackets how many times those of {REFERENCE}:

{table(columns, cpu)}

Wall seconds:

{table(columns, lambda cell, own: f"{cell['wall']:.3g}")}

Peak memory in MB, with the interpreter, the libraries and the input:

{table(columns, memory)}

NMI against the planted blocks, with the number of clusters where it is not two:

{table(columns, nmi)}

NCut of the labels, as hyperclus defines it (gamma and omega count; lower is better):

{table(columns, lambda cell, own: ncut(cell), planted=ncut)}
"""


def methods(run: dict) -> str:
    """What each method is given and leaves out, its versions, and the errors met."""
    cells = [
        (name, cell)
        for columns in run["results"].values()
        for column in columns.values()
        for name, cell in column.items()
    ]
    lines = ["| method | called as | ignores | forms | versions |", "| --- | --- | --- | --- | --- |"]
    for method in METHODS:
        found = next((c["versions"] for name, c in cells if name == method.name and "versions" in c), None)
        if found is None and all(name != method.name for name, _ in cells):
            continue
        versions = ", ".join(f"{package} {number}" for package, number in (found or {}).items())
        lines.append(f"| {method.name} | {method.how} | {method.ignores} | {method.forms} | {versions} |")
    notes = [f"{name} could not be installed on this machine." for name in run["missing"]]
    notes += sorted({f"{name} failed: {c['error']}." for name, c in cells if c.get("status") == "failed"})
    return "\n".join(lines) + "".join(f"\n\n{note}" for note in notes)


def markdown(run: dict) -> str:
    """The whole section."""
    cells = [
        cell for columns in run["results"].values() for column in columns.values() for cell in column.values()
    ]
    began = min(cell["began"] for cell in cells if "began" in cell)
    ended = max(cell["ended"] for cell in cells if "ended" in cell)
    shown = "\n".join(f"- {sentence}" for sentence in sentences(run))
    families = "\n".join(family(name, columns) for name, columns in run["results"].items())
    return f"""## Beside other libraries

Machine: {run["machine"]}.
Measured from {began} to {ended}. Command: `{run["command"]}`.
Code: {run["code"]}.

### What this shows

{shown}

![CPU time against incidences](images/rivals-cpu.png)

![Peak memory against incidences](images/rivals-memory.png)

### What was measured

Each figure is from a process of its own, one after the other, with all cores. Time counts from long
integer arrays in memory to labels, with whatever structure the method builds; imports and the input are
not counted, and a tiny problem comes first, so that compiled code is loaded. What takes less than a second
is repeated until one has passed, five times at most, and the least CPU time counts. CPU time is user and
system time over all threads: on a shared machine it says more than wall time. Limits:
{run["seconds"]:g} s of wall time and {run["gigabytes"]:g} GB of resident memory; where a method passes
one, the limit stands in place of its figure, and larger sizes are skipped. The planted blocks show in who
belongs to which hyperedge and not in gamma or omega, which are drawn at random: a method that ignores them
loses nothing in NMI here, and may gain. *Forms*: the matrix between all vertices that a method forms.

{methods(run)}

{families}"""
