"""Finished cells, kept in one JSON file, so that a run can be interrupted and go on."""

import json
from hashlib import sha256
from pathlib import Path

from catalogue import Method
from environments import HERE, REQUIREMENTS, ROOT

SHARED = ("cell.py", "problem.py", "../families.py")


class Records:
    """Cells by method, family and size; a cell counts as long as nothing that it depends on has changed."""

    def __init__(self, path: Path, machine: str) -> None:
        self.path = path
        self.machine = machine
        self.cells: dict[str, dict] = json.loads(path.read_text()) if path.exists() else {}
        self._stamps: dict[str, str] = {}

    def find(self, method: Method, family: str, size: int, seconds: float, gigabytes: float) -> dict | None:
        """The cell of an earlier run, if it would come out the same under these limits."""
        cell = self.cells.get(self.key(method, family, size))
        if cell is None or cell["stamp"] != self.stamp(method):
            return None
        if cell["status"] == "time":
            return cell if cell["seconds"] >= seconds else None
        if cell["status"] == "memory":
            return cell if cell["gigabytes"] >= gigabytes else None
        if cell["status"] == "done":
            return cell if cell["wall"] <= seconds and cell["peak_bytes"] <= gigabytes * 1e9 else None
        return cell

    def keep(self, method: Method, family: str, size: int, cell: dict) -> None:
        """Add a cell and write the file, whole or not at all."""
        self.cells[self.key(method, family, size)] = {**cell, "stamp": self.stamp(method)}
        temporary = self.path.with_suffix(".new")
        temporary.write_text(json.dumps(self.cells, indent=1))
        temporary.replace(self.path)

    def stamp(self, method: Method) -> str:
        """A hash of the machine and of the code that a cell depends on."""
        if method.name not in self._stamps:
            files = [HERE / name for name in SHARED]
            files += [HERE / "methods" / f"{method.module}.py"]
            if method.environment:
                files += [REQUIREMENTS / f"{method.environment}.txt"]
            else:
                files += sorted((HERE / "methods").glob("hyperclus_*.py"))
                files += sorted((ROOT / "src" / "hyperclus").rglob("*.py"))
            digest = sha256(self.machine.encode())
            for file in files:
                digest.update(file.read_bytes())
            self._stamps[method.name] = digest.hexdigest()
        return self._stamps[method.name]

    @staticmethod
    def key(method: Method, family: str, size: int) -> str:
        """Its place in the file."""
        return f"{method.module} {family} {size}"
