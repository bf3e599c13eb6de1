"""Files opened with one sentence for every fault, and written whole or not at all."""

import gzip
import os
import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO, TypeAlias, cast

from hyperclus.errors import InputError

StrPath: TypeAlias = str | os.PathLike[str]

GZIP = b"\x1f\x8b"
ZIP = b"PK\x03\x04"
OLD_EXCEL = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
CHUNK = 1 << 20
BOMB_FROM = 20_000_000  # bytes of unpacked data from which the ratio is looked at
BOMB_RATIO = 200  # unpacked to packed; text and JSON come to 5 to 50


def fault(path: StrPath, message: str, line: int | None = None) -> InputError:
    """An error that names the file and, where there is one, the line (from 1).

    >>> print(fault("a.csv", "the weight is negative", 3))
    a.csv, line 3: the weight is negative
    """
    name = printable(path)
    return InputError(f"{name if line is None else f'{name}, line {line}'}: {message}")


def printable(path: StrPath) -> str:
    r"""The name of a file, with escapes for what would disturb a terminal.

    >>> print(printable("a\x1b[31m.csv"))
    a\x1b[31m.csv
    """
    name = os.fspath(path)
    return name if name.isprintable() else repr(name)[1:-1]


@contextmanager
def reading(path: StrPath) -> Iterator[BinaryIO]:
    """The bytes of a file, unpacked if they are gzipped, whatever its name.

    Raises
    ------
    InputError
        For a file that is missing, empty, a folder, a pipe or a device, not readable, damaged gzip, or a
        gzip bomb; also for text that is not UTF-8, when the body decodes it.
    """
    try:
        if not stat.S_ISREG(mode := os.stat(path).st_mode) and not stat.S_ISDIR(mode):
            raise fault(path, "this is no regular file; save its content to one first")
        with open(path, "rb") as raw:
            start = raw.read(2)
            if not start:
                raise fault(path, "the file is empty")
            raw.seek(0)
            yield cast(BinaryIO, _Unpacked(path, raw)) if start == GZIP else raw
    except FileNotFoundError:
        raise fault(path, "there is no such file") from None
    except IsADirectoryError:
        raise fault(path, "this is a folder; give the name of a file") from None
    except PermissionError:
        raise fault(path, "the file cannot be read; ask for permission") from None
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise fault(path, "the gzipped data are damaged or end too early; make the file anew") from None
    except UnicodeDecodeError as error:
        raise fault(path, f"byte {error.start} is no UTF-8 text; save the file as UTF-8") from None
    except OSError as error:
        raise fault(path, f"the file cannot be read: {error.strerror or error}") from None


def refuse_excel(path: StrPath) -> None:
    """Refuse a file of Excel, whatever its name."""
    with reading(path) as file:
        start = file.read(len(OLD_EXCEL))
        found = start == OLD_EXCEL
        if start.startswith(ZIP):
            with suppress(zipfile.BadZipFile):
                found = any(name.startswith("xl/") for name in zipfile.ZipFile(file).namelist())
    if found:
        raise fault(path, "this is an Excel file; save it as CSV")


class _Unpacked(gzip.GzipFile):
    """Gzipped bytes that stop with an error when there are absurdly many of them."""

    def __init__(self, path: StrPath, raw: BinaryIO) -> None:
        super().__init__(fileobj=raw, mode="rb")
        self._path, self._packed, self._total = path, os.fstat(raw.fileno()).st_size, 0

    def read(self, size: int | None = -1) -> bytes:
        """Some bytes, or all that are left."""
        if size is not None and size >= 0:
            return self._counted(super().read(size))
        pieces = []
        while piece := self._counted(super().read(CHUNK)):
            pieces.append(piece)
        return b"".join(pieces)

    def readline(self, size: int | None = -1) -> bytes:
        """The rest of the line."""
        left = -1 if size is None else size
        pieces: list[bytes] = []
        while left and not (pieces and pieces[-1].endswith(b"\n")):
            piece = self._counted(super().readline(CHUNK if left < 0 else min(left, CHUNK)))
            if not piece:
                break
            pieces.append(piece)
            left = left if left < 0 else left - len(piece)
        return b"".join(pieces)

    def read1(self, size: int = -1) -> bytes:
        """Some bytes."""
        return self._counted(super().read1(size))

    def _counted(self, data: bytes) -> bytes:
        self._total += len(data)
        if self._total > max(BOMB_FROM, BOMB_RATIO * self._packed):
            raise fault(
                self._path,
                f"unpacks to more than {BOMB_RATIO} times its size; unpack it yourself if that is right",
            )
        return data


@contextmanager
def writing(path: StrPath) -> Iterator[BinaryIO]:
    """A file that appears under its name when the body is done, and not at all if it fails.

    Gzipped if the name ends with .gz.
    """
    if not isinstance(path, str | os.PathLike) or "\0" in os.fspath(path):
        raise InputError(f"the name of a file is needed, not {path!r}")
    wanted = Path(os.path.realpath(path))  # what a link points to is written, and the link stays
    part = wanted.with_name(f".{token_hex(8)}.part")
    try:
        mode = wanted.stat().st_mode if wanted.exists() else None
        if mode is not None and stat.S_ISDIR(mode):
            raise IsADirectoryError
        if mode is not None and not stat.S_ISREG(mode):
            raise fault(path, "this is no regular file and will not be replaced; choose another name")
        with part.open("xb") as raw:
            if mode is not None:
                os.chmod(part, stat.S_IMODE(mode))
            if wanted.suffix == ".gz":
                with gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as packed:
                    yield cast(BinaryIO, packed)
            else:
                yield raw
            raw.flush()
            os.fsync(raw.fileno())
        os.replace(part, wanted)
    except (FileNotFoundError, NotADirectoryError):
        raise fault(path, "the folder is not there; make it first") from None
    except IsADirectoryError:
        raise fault(path, "this is a folder; give the name of a file") from None
    except PermissionError:
        raise fault(path, "the file cannot be written; choose another folder") from None
    except OSError as error:
        raise fault(path, f"the file cannot be written: {error.strerror or error}") from None
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)
