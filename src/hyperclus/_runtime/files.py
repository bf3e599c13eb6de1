"""Names of files in messages, and atomic writes. `source` opens files to read."""

import gzip
import os
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from secrets import token_hex
from typing import Any, BinaryIO, TypeAlias, cast

from hyperclus.errors import InputError, prefixed

StrPath: TypeAlias = str | os.PathLike[str]

COMPRESSED = (".gz", ".zst", ".bz2", ".xz")  # endings of compressed files that are read
LOCKED_WITHIN = 60.0  # seconds in which a process has locked the file that it created
WRITE_ERRORS: dict[type[OSError], str] = {
    FileNotFoundError: "the folder does not exist; create it first",
    NotADirectoryError: "the folder does not exist; create it first",
    IsADirectoryError: "this is a folder; give the name of a file",
    PermissionError: "permission to write the file is denied; choose another folder",
}


@dataclass(frozen=True, slots=True)
class InputFile(os.PathLike[str]):
    """A file to read, how its text is encoded, and its name in messages if that is not the path."""

    path: str
    encoding: str | None = None
    name: str | None = None

    def __fspath__(self) -> str:
        return self.path


def check_path(path: Any) -> None:
    """Raise an `InputError` unless this can be the name of a file or folder."""
    if not isinstance(path, str | os.PathLike) or "\0" in str(os.fspath(path)):
        raise InputError(f"expected the name of a file or folder, not {path!r}")


def fault(path: StrPath, message: str | InputError, line: int | None = None) -> InputError:
    """Create an error that names the file and, if known, the line (from 1).

    >>> print(fault("a.csv", "the weight is negative", 3))
    a.csv, line 3: the weight is negative
    """
    name = printable(path)
    return prefixed(f"{name if line is None else f'{name}, line {line}'}: ", message)


def plain_name(path: StrPath) -> str:
    """Return the name of a file without its folder, in lower case and without an ending of compression.

    >>> plain_name("data/Papers.CSV.gz")
    'papers.csv'
    """
    name = Path(os.fspath(path)).name.lower()
    return next((name.removesuffix(end) for end in COMPRESSED if name.endswith(end)), name)


def printable(path: StrPath) -> str:
    r"""Return the name of a file with escapes for characters that would disturb a terminal.

    >>> print(printable("a\x1b[31m.csv"))
    a\x1b[31m.csv
    """
    name = (path.name if isinstance(path, InputFile) else None) or os.fspath(path)
    return name if name.isprintable() else repr(name)[1:-1]


@contextmanager
def atomic_path(path: Path, *, temporary_in: Path | None = None, mark: str = "") -> Iterator[Path]:
    """Yield a temporary path; what the body writes there is renamed to `path` when the body ends.

    If the body fails, what it wrote is deleted and `path` stays as it was. A file replaces an older one. A
    folder does not: if another process has created `path` in the meantime, that one stays. The parent of
    `path` must exist; the temporary path is in it or in `temporary_in`, which is on the same file system. Its
    name begins with ".hyperclus-" and `mark`.
    """
    temporary = (temporary_in or path.parent) / f".hyperclus-{mark}{token_hex(8)}.part"
    try:
        yield temporary
        try:
            os.replace(temporary, path)
        except OSError:
            if not (temporary.is_dir() and path.is_dir()):
                raise
    finally:
        shutil.rmtree(temporary, ignore_errors=True)  # if it is a folder
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


@contextmanager
def writing(path: StrPath) -> Iterator[BinaryIO]:
    """Open a file for writing that appears under its name once the body has succeeded.

    The file is gzipped if its name ends with .gz. A symbolic link stays, and its target is replaced. What
    killed processes have left of earlier attempts is deleted, where the system has locks.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    check_path(path)
    target = Path(os.path.realpath(path))
    if target.suffix.lower() in set(COMPRESSED) - {".gz"}:
        raise fault(path, "files are written with gzip or uncompressed; choose a name with .gz or without")
    try:
        mode = None
        with suppress(FileNotFoundError):
            mode = target.lstat().st_mode  # a link here leads to itself
        if mode is not None and stat.S_ISDIR(mode):
            raise IsADirectoryError
        if mode is not None and not stat.S_ISREG(mode):
            raise fault(path, "this is not a regular file and will not be replaced; choose another name")
        mark = f"{blake2b(target.name.encode(errors='surrogateescape'), digest_size=6).hexdigest()}-"
        _delete_abandoned(target.parent, mark)
        with atomic_path(target, mark=mark) as temporary, temporary.open("xb") as raw:
            _lock(raw)
            if mode is not None:
                os.chmod(temporary, stat.S_IMODE(mode))
            if target.suffix == ".gz":
                with gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as packed:
                    yield cast(BinaryIO, packed)
            else:
                yield raw
            raw.flush()
            os.fsync(raw.fileno())
    except OSError as error:
        reason = WRITE_ERRORS.get(type(error), f"the file cannot be written: {error.strerror or error}")
        if isinstance(error, FileNotFoundError) and target.parent.is_dir():  # such as /proc
            reason = "no file can be created in this folder; choose another one"
        raise fault(path, reason) from None


def _delete_abandoned(folder: Path, mark: str) -> None:
    """Delete partial files with this mark that no process is writing: their locks ended with the process."""
    for path in folder.glob(f".hyperclus-{mark}*.part"):
        with suppress(OSError), path.open("rb") as file:
            is_new = time.time() - os.fstat(file.fileno()).st_mtime < LOCKED_WITHIN
            if not is_new and _lock(file):
                path.unlink(missing_ok=True)


def _lock(file: BinaryIO) -> bool:
    """Lock an open file until it is closed; return False if another process has it, or without locks."""
    try:
        fcntl = import_module("fcntl")
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True
