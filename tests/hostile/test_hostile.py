"""Every line of the tables, through the command line: one sentence or a sound result, never anything else."""

import pytest

from hostile import (
    binary,
    csv,
    excel,
    hif,
    json_text,
    labels,
    lines,
    numeric_text,
    options,
    ordinary,
    outputs,
    rows,
)
from support.hostile import Group, check

TABLES = {
    f"{module.__name__.rpartition('.')[2]}-{name}": group
    for module in (
        *(csv, rows, hif, json_text, lines, excel, ordinary),
        *(numeric_text, binary, labels, options, outputs),
    )
    for name, group in vars(module).items()
    if isinstance(group, Group)
}
LINES = [
    pytest.param(group, line, id=f"{name}-{number}")
    for name, group in TABLES.items()
    for number, line in enumerate(group.lines)
]


@pytest.mark.filterwarnings("ignore::hyperclus.errors.LossWarning")
@pytest.mark.parametrize(("group", "line"), LINES)
def test_a_line(tmp_path, monkeypatch, group, line):
    monkeypatch.chdir(tmp_path)
    check(tmp_path, group, line)


def test_there_are_at_least_1200_kinds():
    kinds = {
        (group.name, group.arguments, group.before, *map(repr, line[:-1]))
        for group in TABLES.values()
        for line in group.lines
    }
    assert len(kinds) >= 1200
