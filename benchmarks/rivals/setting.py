"""What is measured, and where: the code as it was when the run began, and the machine."""

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "hyperclus"
CACHE = Path(__file__).parent / ".cache"
FROZEN = CACHE / "source" / "hyperclus"
PHYSICAL = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
NAMED = 4  # changed files that are named, before the rest is counted


def freeze() -> None:
    """Copy the package and let every process of the run take the copy: edits meanwhile are not measured."""
    if digest(files(FROZEN)) != digest(files(SOURCE)):
        shutil.rmtree(FROZEN, ignore_errors=True)
        shutil.copytree(SOURCE, FROZEN, ignore=shutil.ignore_patterns("__pycache__"))
    os.environ["PYTHONPATH"] = str(FROZEN.parent)


def files(folder: Path) -> list[Path]:
    """The files of a package, without what Python and Numba keep beside them."""
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.parent.name != "__pycache__")


def digest(paths: Iterable[Path], words: str = "") -> str:
    """A hash of some words, and of the names and contents of files."""
    found = sha256(words.encode())
    for path in paths:
        found.update(path.name.encode())
        found.update(path.read_bytes())
    return found.hexdigest()


def own_files() -> list[Path]:
    """What every figure of hyperclus depends on: the frozen package, and the versions that it runs with."""
    return [*files(FROZEN), ROOT / "constraints.txt"]


def machine() -> str:
    """The processor, cores, memory and system of this run."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    model = next(
        (line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.processor()
    )
    return f"{model}, {os.cpu_count()} cores, {PHYSICAL / 2**30:.0f} GiB, {platform.system()}"


def code() -> str:
    """The version of the package; in a git checkout also the commit, and what was changed since."""
    found = re.search(r'__version__ = "(.+)"', (SOURCE / "__init__.py").read_text())
    version = f"hyperclus {found[1] if found else 'of unknown version'}"
    if not _git("ls-files", "pyproject.toml"):
        return version
    measured = ("src", "constraints.txt", "benchmarks/*.py")  # not the pages and pictures that runs write
    lines = _git("status", "--porcelain", "--", *measured).splitlines()
    changed = sorted((line[3:] for line in lines), key=lambda name: not name.startswith("src/"))
    named = ", ".join(changed[:NAMED]) + (f" and {len(changed) - NAMED} more" if len(changed) > NAMED else "")
    state = f"with changes that are not committed: {named}" if changed else "with nothing changed since"
    return f"{version}, commit {_git('rev-parse', '--short', 'HEAD').strip()} {state}"


def _git(*words: str) -> str:
    """The answer of git; nothing where there is no git or no checkout."""
    try:
        return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True).stdout
    except FileNotFoundError:
        return ""
