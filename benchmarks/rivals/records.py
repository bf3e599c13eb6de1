"""Finished cells in a JSON file, so that an interrupted run can be resumed."""

import json
from pathlib import Path

import setting
from catalogue import Method
from environments import HERE, REQUIREMENTS

SHARED = ("cell.py", "problem.py", "../families.py", "../real_data/methods.py")


class Records:
    """Cells by method, family and size; a cell is valid as long as nothing that it depends on has changed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.cells: dict[str, dict] = json.loads(path.read_text()) if path.exists() else {}
        self._stamps: dict[str, str] = {}

    def find(self, method: Method, family: str, size: int, seconds: float, gigabytes: float) -> dict | None:
        """Return the cell of an earlier run under these limits; None if it has to be measured."""
        cell = self.cells.get(self.key(method, family, size))
        if cell is None or cell["stamp"] != self.stamp(method) or cell["status"] == "failed":
            return None
        limits = {"seconds": seconds, "gigabytes": gigabytes}
        if cell["status"] == "time":
            return {**cell, **limits} if cell["seconds"] >= seconds else None
        if cell["status"] == "memory":
            return {**cell, **limits} if cell["gigabytes"] >= gigabytes else None
        if cell["wall"] > seconds:
            return {**cell, **limits, "status": "time"}
        if cell["peak_bytes"] > gigabytes * 1e9:
            return {**cell, **limits, "status": "memory"}
        return cell

    def keep(self, method: Method, family: str, size: int, cell: dict) -> None:
        """Add a cell and write the file atomically."""
        self.cells[self.key(method, family, size)] = {**cell, "stamp": self.stamp(method)}
        temporary = self.path.with_suffix(".new")
        temporary.write_text(json.dumps(self.cells, indent=1))
        temporary.replace(self.path)

    def stamp(self, method: Method) -> str:
        """Hash the machine and the code that a cell depends on."""
        if method.name not in self._stamps:
            files = [HERE / name for name in SHARED]
            files += [HERE / "methods" / f"{method.module}.py"]
            if method.environment:
                files += [REQUIREMENTS / f"{method.environment}.txt"]
            else:
                files += [*sorted((HERE / "methods").glob("hyperclus_*.py")), *setting.own_files()]
            self._stamps[method.name] = setting.digest(files, setting.machine())
        return self._stamps[method.name]

    @staticmethod
    def key(method: Method, family: str, size: int) -> str:
        """Return the key of a cell in the file."""
        return f"{method.module} {family} {size}"
