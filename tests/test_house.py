"""The limits that keep the code readable: rooms, sizes of files and functions, numbers of parameters."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "hyperclus"
FILES = sorted(SOURCE.rglob("*.py"))


def functions():
    """Every function with its file."""
    for file in FILES:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield file.relative_to(SOURCE), node


def code_lines(function):
    """The lines of a function without its docstring."""
    first = function.body[0]
    documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    docstring = (
        first.end_lineno - first.lineno + 1 if documented and isinstance(first.value.value, str) else 0
    )
    return function.end_lineno - function.lineno + 1 - docstring


def parameters(function):
    """The number of parameters, without self or cls."""
    args = function.args
    named = [*args.posonlyargs, *args.args, *args.kwonlyargs]
    return len(named) - bool(named and named[0].arg in ("self", "cls")) + bool(args.vararg) + bool(args.kwarg)


def test_the_root_has_at_most_six_modules():
    assert len(list(SOURCE.glob("*.py"))) <= 6


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(SOURCE)))
def test_files_have_at_most_500_lines(file):
    assert len(file.read_text().splitlines()) <= 500


def test_functions_have_at_most_60_lines():
    assert [(str(file), node.name) for file, node in functions() if code_lines(node) > 60] == []


def test_few_functions_have_more_than_eight_parameters():
    assert len([(str(file), node.name) for file, node in functions() if parameters(node) > 8]) <= 5


def test_importing_loads_no_engine_that_is_not_used():
    code = "import sys, hyperclus; print([name for name in sys.modules if 'hyperclus.engines.dask' in name])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
