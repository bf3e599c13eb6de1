"""Readable I/O errors and atomic writes."""

import gzip
import io
import os
import re
import shutil
import stat
import time
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from secrets import token_hex
from typing import Any, BinaryIO, TypeAlias, cast

from hyperclus.errors import HyperclusError, InputError, prefixed

StrPath: TypeAlias = str | os.PathLike[str]

GZIP = b"\x1f\x8b"
ZIP = b"PK\x03\x04"
FOREIGN = {  # how files begin that nothing here reads, what they are, and what to do
    rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": ("an Excel file", "save it as CSV"),
    rb"BZh[1-9]1AY&SY": ("compressed by bzip2", "unpack it with bunzip2, or use gzip"),
    rb"\xfd7zXZ\0": ("compressed by xz", "unpack it with unxz, or use gzip"),
    rb"\x28\xb5\x2f\xfd": ("compressed by zstd", "unpack it with unzstd, or use gzip"),
    rb"\x04\x22\x4d\x18": ("compressed by lz4", "unpack it with unlz4, or use gzip"),
    rb"7z\xbc\xaf\x27\x1c": ("a 7-Zip archive", "unpack it first"),
    rb"\xff\xfe|\xfe\xff|([^\0]\0){3}|(\0[^\0]){3}": ("UTF-16 or UTF-32 text", "save the file as UTF-8"),
    rb"(\xef\xbb\xbf){2}": ("text with two byte order marks", "save the file as UTF-8 again"),
}
LOCKED_WITHIN = 60.0  # seconds in which a process has locked the file that it created
BOMB_FROM = 20_000_000  # unpacked bytes above which the ratio is checked
BOMB_RATIO = 200  # of unpacked to packed size; 5 to 50 is usual for text and JSON

READ_ERRORS: dict[type[OSError], str] = {
    FileNotFoundError: "there is no such file",
    IsADirectoryError: "this is a folder; give the name of a file",
    PermissionError: "permission to read the file is denied",
}
WRITE_ERRORS: dict[type[OSError], str] = {
    FileNotFoundError: "the folder does not exist; create it first",
    NotADirectoryError: "the folder does not exist; create it first",
    IsADirectoryError: "this is a folder; give the name of a file",
    PermissionError: "permission to write the file is denied; choose another folder",
}


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


def printable(path: StrPath) -> str:
    r"""Return the name of a file with escapes for characters that would disturb a terminal.

    >>> print(printable("a\x1b[31m.csv"))
    a\x1b[31m.csv
    """
    name = os.fspath(path)
    return name if name.isprintable() else repr(name)[1:-1]


@contextmanager
def reading(path: StrPath) -> Iterator[BinaryIO]:
    """Open a file for reading bytes; gzipped content is unpacked, whatever the name.

    Raises
    ------
    InputError
        For a file that is missing, empty, a folder, a pipe or a device, not readable, damaged gzip, a gzip
        bomb, or compressed in another way; also for text that is not UTF-8, when the body decodes it.
    """
    try:
        if not stat.S_ISREG(mode := os.stat(path).st_mode) and not stat.S_ISDIR(mode):
            raise fault(path, "this is not a regular file; save its content to one first")
        with open(path, "rb") as raw:
            yield _opened(path, raw)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise fault(path, "the gzipped data are damaged or truncated; recreate the file") from None
    except UnicodeDecodeError as error:
        raise fault(path, f"byte {error.start} is not UTF-8 text; save the file as UTF-8") from None
    except OSError as error:
        reason = READ_ERRORS.get(type(error), f"the file cannot be read: {error.strerror or error}")
        raise fault(path, reason) from None
    except Exception as error:
        if not is_shortage(error) or isinstance(error, MemoryError):
            raise
        why = "no more threads can be started; end other programs, or raise the limits of ulimit"
        raise HyperclusError(f"{printable(path)}: {why}") from None


def _opened(path: StrPath, raw: io.BufferedReader) -> BinaryIO:
    """Return a file or its unpacked content, unless it begins like something that nothing here reads."""
    file, start = raw, raw.peek()
    if not start:
        raise fault(path, "the file is empty")
    if start.startswith(GZIP):
        file = io.BufferedReader(_Unpacked(path, raw), 1 << 18)
        start = file.peek()
        if start.startswith(ZIP):
            raise fault(path, "the archive is gzipped; unpack it first")
    elif start.startswith(ZIP):
        _refuse_zip(path, raw)
    for pattern, (what, remedy) in FOREIGN.items():
        if re.match(pattern, start, re.DOTALL):
            raise fault(path, f"this is {what}; {remedy}")
    return cast(BinaryIO, file)


def is_shortage(error: Exception) -> bool:
    """Whether memory or threads are lacking, which is not the fault of a file."""
    return isinstance(error, MemoryError) or bool(re.search("worker thread|new thread", str(error)))


def _refuse_zip(path: StrPath, file: io.BufferedReader) -> None:
    """Raise an `InputError` for an Excel file or another archive without arrays of NumPy."""
    names = ["a.npy"]  # a damaged archive is for the reader to explain
    with suppress(zipfile.BadZipFile, NotImplementedError, ValueError, EOFError, OSError):
        names = zipfile.ZipFile(file).namelist() or names
    file.seek(0)
    if any(name.startswith("xl/") for name in names):
        raise fault(path, "this is an Excel file; save it as CSV")
    if not any(name.endswith(".npy") for name in names):
        raise fault(path, f"this is a zip archive with {printable(names[0])}; unpack it first")


def refuse_bomb(path: StrPath, packed: int, unpacked: int) -> None:
    """Raise an `InputError` if the unpacked size is implausible for the packed size."""
    if unpacked > max(BOMB_FROM, BOMB_RATIO * packed):
        raise fault(
            path,
            f"the content unpacks to more than {BOMB_RATIO} times its size; "
            "if that is intended, save the file uncompressed",
        )


class _Unpacked(io.RawIOBase):
    """Gzipped bytes, with an error as soon as their number is implausible."""

    def __init__(self, path: StrPath, raw: io.BufferedReader) -> None:
        self._path, self._packed, self._total = path, os.fstat(raw.fileno()).st_size, 0
        self._gzip = gzip.GzipFile(fileobj=raw, mode="rb")

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._gzip.seek(offset, whence)

    def readinto(self, buffer: Any) -> int:
        count = self._gzip.readinto(buffer)
        self._total += count
        refuse_bomb(self._path, self._packed, self._total)
        return count


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
