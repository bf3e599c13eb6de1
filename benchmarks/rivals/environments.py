"""A virtual environment for each library, created on demand from requirements/*.txt."""

import subprocess
import sys
import venv
from hashlib import sha256
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
REQUIREMENTS = HERE / "requirements"


def own() -> Path:
    """Return the interpreter that has hyperclus: the repository's, or the current one."""
    repository = ROOT / ".venv" / "bin" / "python"
    return repository if repository.exists() else Path(sys.executable)


def rival(name: str, folder: Path) -> Path | None:
    """Return the interpreter of a library's environment; None if it cannot be installed."""
    pins = REQUIREMENTS / f"{name}.txt"
    home = folder / name
    python, ready = home / "bin" / "python", home / "ready"
    stamp = sha256(pins.read_bytes()).hexdigest()
    if ready.exists() and ready.read_text() == stamp:
        return python
    print(f"  installing {name} ...", end=" ", flush=True)
    venv.create(home, clear=True, with_pip=True)
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", str(pins)]
    done = subprocess.run(pip, capture_output=True, text=True)
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or [
            "ERROR: pip failed"
        ]
        print(f"cannot be installed: {lines[-1].removeprefix('ERROR: ')}", flush=True)
        return None
    ready.write_text(stamp)
    print("done", flush=True)
    return python
