"""Tables of records: JSON Lines, or a JSON list of objects."""

from typing import Any

import msgspec

from hyperclus._runtime.files import StrPath, fault
from hyperclus._runtime.source import reading
from hyperclus.hypergraph.messages import shown
from hyperclus.io.json_text import BYTE_ORDER_MARK, is_exact, parse_json
from hyperclus.io.shared import naming
from hyperclus.io.tables.memory import MemoryTable

SUFFIXES = (".jsonl", ".ndjson")


class RecordsTable(MemoryTable):
    """Objects with the same keys, which are the columns; a key that an object lacks is a missing value."""

    def __init__(self, path: StrPath) -> None:
        with reading(path) as file:
            data = file.read().removeprefix(BYTE_ORDER_MARK)
        self._lines: list[int] | None = None
        if data.lstrip()[:1] == b"[":
            with naming(path):
                self._records = parse_json(data)
        else:
            self._records, self._lines = _parse_lines(path, data)
        for row, record in enumerate(self._records):
            if not isinstance(record, dict):
                problem = f'expected an object such as {{"vertex": 1}}, not {shown(record)}'
                raise fault(path, f"{self.place(row)}: {problem}; correct it")
        names = dict.fromkeys(key for record in self._records for key in record)
        super().__init__(path, list(names), len(self._records), sum(map(len, self._records)))

    def values(self, name: str) -> list[Any]:
        """Return the values of a key."""
        return [record.get(name) for record in self._records]

    def list_columns(self) -> list[str]:
        """Return the columns that hold lists."""
        found = {key for record in self._records for key, value in record.items() if isinstance(value, list)}
        return [name for name in self.names if name in found]

    def place(self, row: int) -> str:
        """Return the line, or the position in a JSON list."""
        if self._lines is None:
            return f"record {row}"
        return f"line {self._lines[min(row, len(self._lines) - 1)]}"


def _parse_lines(path: StrPath, data: bytes) -> tuple[list[Any], list[int]]:
    """Parse one JSON value per line; also return the numbers of the lines, from 1."""
    given = [
        (number, line) for number, line in enumerate(data.split(b"\n"), 1) if line and not line.isspace()
    ]
    try:
        records = list(map(msgspec.json.Decoder().decode, (line for _, line in given)))
        sound = is_exact(records, data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        sound = False
    if not sound:  # slower, and names the line
        with naming(path):
            records = [parse_json(line, f"line {number}: ") for number, line in given]
    return records, [number for number, _ in given]
