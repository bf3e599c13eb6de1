"""What can be chosen for a file, and the choices as arguments of a command."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from hyperclus.errors import InputError
from hyperclus.hypergraph.messages import shown

Values: TypeAlias = Mapping[str, Sequence[str]]

OF_ROWS = ("id", "label", "bins")  # for a table with a row per vertex, besides the columns to use
OF_INCIDENCES = ("vertex", "edge", "weight", "edge_weight", "duplicates", "label")
OF_WEIGHTS = ("weight_transform",)
OF_ALL = ("clusters", "objective", "effort", "alpha", "seed")
OF_LOCAL = ("around", "max_size", "alpha")
SWITCHES = ("row", "task", "use", "exclude")  # fields that are not options by themselves
FIELDS = {*OF_ROWS, *OF_INCIDENCES, *OF_WEIGHTS, *OF_ALL, *OF_LOCAL, *SWITCHES}
LINES = ("bins", "around", "exclude")  # with a value per line
DEFAULTS = {"vertex": "vertex", "edge": "edge", "weight": "weight", "edge_weight": "edge_weight"}
DEFAULTS |= {"alpha": "0", "seed": "0"}
LISTED_COLUMNS = 200  # tables with more columns have a list of columns to leave out, to be typed


@dataclass(frozen=True, slots=True)
class Form:
    """What can be chosen for a file.

    Attributes
    ----------
    file : str
        The file, as it was named; no value of a page changes it.
    columns : tuple of str
        Columns of a table; empty if the columns to use cannot be chosen.
    rows : bool
        Whether each row is a vertex, unless the page says otherwise.
    format : str or None
        The format that was given.
    values : mapping
        The values at first, by field.
    fixed : tuple of str
        Further arguments of every run.
    """

    file: str
    columns: tuple[str, ...] = ()
    rows: bool = False
    format: str | None = None
    values: Mapping[str, Sequence[str]] = field(default_factory=dict)
    fixed: tuple[str, ...] = ()

    @property
    def lists_columns(self) -> bool:
        """Whether the page has a check box per column."""
        return len(self.columns) <= LISTED_COLUMNS

    def value(self, name: str) -> str:
        """The value of a field at first; several are on a line each."""
        if name in self.values:
            return "\n".join(self.values[name])
        is_column = DEFAULTS.get(name) in self.columns and name in OF_INCIDENCES
        return DEFAULTS.get(name, "") if is_column or name not in OF_INCIDENCES else ""

    def first_arguments(self) -> list[str]:
        """The arguments that read the file as it was asked for."""
        given = [f"{_flag(name)}={one}" for name, some in self.values.items() for one in some]
        from_format = [] if self.format is None else [f"--from={self.format}"]
        return ["read", *self.fixed, *from_format, *given, "--", self.file]

    def arguments(self, values: Values) -> list[str]:
        r"""The command and arguments for the choices of the page.

        A value is always behind the name of its option and =, so that it cannot be read as another option.

        Raises
        ------
        InputError
            For a field that the page does not have. The command refuses wrong values.

        Examples
        --------
        >>> Form("papers.csv").arguments({"clusters": ["3"], "seed": ["0"]})
        ['cluster', '--clusters=3', '--', 'papers.csv']
        >>> Form("papers.csv").arguments({"task": ["local"], "around": ["ann\nbob"]})
        ['local', '--around=ann', '--around=bob', '--', 'papers.csv']
        """
        for name in values:
            if name not in FIELDS:
                raise InputError(f"this page has no field {shown(name)}; reload it")
        local = values.get("task") == ["local"]
        found = [*self.fixed, *self._input_arguments(values)]
        found += _options(values, OF_LOCAL if local else OF_ALL)
        return ["local" if local else "cluster", *found, "--", self.file]

    def _input_arguments(self, values: Values) -> list[str]:
        given = [] if self.format is None else [f"--from={self.format}"]
        if not self.columns:
            return given + _options(values, OF_WEIGHTS)
        if values.get("row", ["vertex" if self.rows else "incidence"]) == ["vertex"]:
            looks_long = {"vertex", "edge"} <= {*self.columns}
            given = ["--from=rows"] if looks_long or self.format == "rows" else given
            return given + _options(values, OF_ROWS) + [f"--exclude={name}" for name in self._unused(values)]
        for name, what in (("vertex", "vertices"), ("edge", "hyperedges")):
            if not any(values.get(name, ())) and name not in self.columns:
                raise InputError(f"choose the column of the {what}, or let each row be a vertex")
        given = [] if self.format == "rows" else given
        unused = [
            f"--option={name}=false"
            for name in ("weight", "edge_weight")
            if name in self.columns and not any(values.get(name, [""])) and name not in _roles(values)
        ]
        return given + _options(values, (*OF_INCIDENCES, *OF_WEIGHTS)) + unused

    def _unused(self, values: Values) -> list[str]:
        if not self.lists_columns:
            return _lines(values, "exclude")
        used = {*values.get("use", self.columns), *values.get("id", ()), *values.get("label", ())}
        return [name for name in self.columns if name not in used]


def _roles(values: Values) -> set[str]:
    """The columns of vertices and hyperedges."""
    return {*values.get("vertex", ()), *values.get("edge", ())}


def _options(values: Values, names: Sequence[str]) -> list[str]:
    """The options that are given and not at their defaults."""
    found = []
    for name in names:
        given = _lines(values, name) if name in LINES else values.get(name, ())
        found += [f"{_flag(name)}={one}" for one in given if one and one != DEFAULTS.get(name)]
    return found


def _lines(values: Values, name: str) -> list[str]:
    lines = (line.strip() for text in values.get(name, ()) for line in text.splitlines())
    return [line for line in lines if line]


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")
