"""The code as it is at the start of a run, and the machine."""

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
NAMED = 4  # changed files to name; others are counted


def freeze() -> None:
    """Copy the package and make every process import the copy, so that later edits are not measured."""
    if digest(files(FROZEN)) != digest(files(SOURCE)):
        shutil.rmtree(FROZEN, ignore_errors=True)
        shutil.copytree(SOURCE, FROZEN, ignore=shutil.ignore_patterns("__pycache__"))
    os.environ["PYTHONPATH"] = str(FROZEN.parent)


def files(folder: Path) -> list[Path]:
    """List the files of a package without caches."""
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.parent.name != "__pycache__")


def digest(paths: Iterable[Path], words: str = "") -> str:
    """Hash a text and the names and contents of files."""
    found = sha256(words.encode())
    for path in paths:
        found.update(path.name.encode())
        found.update(path.read_bytes())
    return found.hexdigest()


def own_files() -> list[Path]:
    """List the files that every measurement of hyperclus depends on."""
    return [*files(FROZEN), ROOT / "constraints.txt"]


def machine() -> str:
    """Describe the processor, cores, memory and system."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    model = next(
        (line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.processor()
    )
    return f"{model}, {os.cpu_count()} cores, {PHYSICAL / 2**30:.0f} GiB, {platform.system()}"


def code() -> str:
    """Describe the version of the package and, in a git checkout, the commit and uncommitted changes."""
    found = re.search(r'__version__ = "(.+)"', (SOURCE / "__init__.py").read_text())
    version = f"hyperclus {found[1] if found else 'of unknown version'}"
    if not _git("ls-files", "pyproject.toml"):
        return version
    measured = ("src", "constraints.txt", "benchmarks/*.py")  # not the pages and pictures that runs write
    lines = _git("status", "--porcelain", "--", *measured).splitlines()
    changed = sorted((line[3:] for line in lines), key=lambda name: not name.startswith("src/"))
    named = ", ".join(changed[:NAMED]) + (f" and {len(changed) - NAMED} more" if len(changed) > NAMED else "")
    state = f"with uncommitted changes: {named}" if changed else "without changes"
    return f"{version}, commit {_git('rev-parse', '--short', 'HEAD').strip()} {state}"


def _git(*words: str) -> str:
    """Return the output of git, empty without git or a checkout."""
    try:
        return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True).stdout
    except FileNotFoundError:
        return ""
