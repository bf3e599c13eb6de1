"""Where raw files lie on this machine, and whether they are the right ones."""

import gzip
import hashlib
import os
import time
import zlib
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import Any, BinaryIO, Literal, TypeAlias

from hyperclus._runtime.optional import library
from hyperclus.research.datasets.registry import RawFile

Status: TypeAlias = Literal["ok", "missing", "damaged"]
Folder: TypeAlias = str | os.PathLike[str]

VARIABLE = "HYPERCLUS_DATA"
_CHUNK = 1 << 20
_ABANDONED = 600.0  # seconds; a part is written from a local file, in much less


def place(folder: Folder | None) -> tuple[Path, bool]:
    """The folder of the raw files, and whether it is our own cache.

    The argument goes before the environment variable HYPERCLUS_DATA, and that before the cache.
    """
    given = os.environ.get(VARIABLE) or None if folder is None else folder
    if given is not None:
        return Path(given).expanduser(), False
    return Path(pooch().os_cache("hyperclus")), True


def pooch() -> Any:
    """The library that knows where caches are and how to download; files in a folder of yours do without."""
    return library("pooch", "pooch", "fetching data sets", "datasets")


def find(folder: Path, file: RawFile) -> tuple[Status, Path]:
    """Whether a file is there, plain or gzipped, and where; "damaged" is there, but not what UCI has."""
    path = folder / file.name
    found = [path for path in (path, path.with_name(f"{path.name}.gz")) if os.path.isfile(path)]
    for path in found:
        if _digest(path) in file.sha256:
            return "ok", path
    return ("damaged", found[0]) if found else ("missing", path)


def save(stream: BinaryIO, file: RawFile, folder: Path) -> bool:
    """Write the stream to the folder, under the file's own name, if it is that file byte for byte.

    It is written under another name, which nothing reads, and renamed when it is complete and
    right, so that the file is there whole or not at all, whatever happens and whoever else writes it.
    """
    part = folder / f".{file.name}.{token_hex(8)}.part"
    digest = hashlib.sha256()
    try:
        with part.open("xb") as copy:
            while chunk := stream.read(_CHUNK):
                digest.update(chunk)
                copy.write(chunk)
                if copy.tell() > file.size:
                    return False
            copy.flush()
            os.fsync(copy.fileno())
        if digest.hexdigest() not in file.sha256:
            return False
        try:
            os.replace(part, folder / file.name)
        except PermissionError:  # Windows, where another process has just put it there and reads it
            if find(folder, file)[0] != "ok":
                raise
        return True
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def sweep(folder: Path, files: Iterable[RawFile]) -> None:
    """Delete what killed processes left half-written."""
    for file in files:
        for part in folder.glob(f".{file.name}.{'[0-9a-f]' * 16}.part"):
            with suppress(OSError):
                if time.time() - part.stat().st_mtime > _ABANDONED:
                    part.unlink()


def _digest(path: Path) -> str:
    """The sha256 of the content, unpacked; nothing if it cannot be read to the end."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as content:
            return hashlib.file_digest(content, "sha256").hexdigest()
    except (OSError, EOFError, zlib.error):
        return ""
