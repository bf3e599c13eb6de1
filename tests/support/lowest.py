"""The lowest version of every library that pyproject.toml allows, as constraints for pip."""

import re
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[2] / "pyproject.toml"
CHECKERS = {"import-linter", "mypy", "ruff", "scipy-stubs"}  # run with the version of constraints.txt only


def requirements():
    """What the package and its extras need, as (extra or "", name, lowest version)."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    groups = {"": project["dependencies"], **project["optional-dependencies"]}
    for extra, needed in groups.items():
        for requirement in needed:
            if not requirement.startswith("hyperclus["):
                name, lowest = re.fullmatch(r"([\w-]+)>=([\w.]+)(?:; .*)?", requirement).groups()
                yield extra, name, lowest


def constraints():
    """A line for each library that `make test-lowest` installs.

    >>> "narwhals==1.25" in constraints(), [line for line in constraints() if line.startswith("ruff")]
    (True, [])
    """
    return sorted({f"{name}=={lowest}" for _, name, lowest in requirements() if name not in CHECKERS})


if __name__ == "__main__":
    print("\n".join(constraints()))
