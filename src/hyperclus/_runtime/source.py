"""Where all readers get their bytes: a file or standard input, uncompressed, and in UTF-8 if it is text."""

import atexit
import bz2
import codecs
import gzip
import io
import lzma
import os
import re
import shutil
import stat
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any, BinaryIO, cast

from hyperclus._runtime.files import InputFile, StrPath, check_path, fault, printable
from hyperclus._runtime.optional import library
from hyperclus.errors import Argument, HyperclusError, InputError

STANDARD_INPUT = "-"
ZIP = b"PK\x03\x04"
CHUNK = 1 << 18  # bytes to unpack or decode at once
FOREIGN = {  # how files begin that nothing here reads, what they are, and what to do
    rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": ("an old Excel file (.xls)", "save it as .xlsx or CSV"),
    rb"\x04\x22\x4d\x18": ("compressed by lz4", "unpack it with unlz4, or use gzip"),
    rb"7z\xbc\xaf\x27\x1c": ("a 7-Zip archive", "unpack it first"),
    rb"(\xef\xbb\xbf){2}": ("text with two byte order marks", "save the file as UTF-8 again"),
}
BYTE_ORDER_MARKS = {  # of text that is not UTF-8; the longer ones first
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
WITHOUT_MARK = {rb"([^\0]\0){3}": "utf-16-le", rb"(\0[^\0]){3}": "utf-16-be"}
BOMB_FROM = 20_000_000  # unpacked bytes above which the ratio is checked
BOMB_RATIO = 200  # of unpacked to packed size; 5 to 50 is usual for text and JSON

READ_ERRORS: dict[type[OSError], str] = {
    FileNotFoundError: "there is no such file",
    IsADirectoryError: "this is a folder; give the name of a file",
    PermissionError: "permission to read the file is denied",
}


def input_file(path: Any, encoding: Any = None) -> StrPath:
    """Return what the readers read: a path, with its encoding if one is given.

    The path "-" is standard input, which is saved to a temporary file until the process ends, because readers
    read a file several times.
    """
    check_path(path)
    if encoding is not None:
        _check_encoding(encoding)
    if isinstance(path, InputFile):
        return path
    if os.fspath(path) == STANDARD_INPUT:
        return InputFile(_saved_input(), encoding, "standard input")
    return cast(StrPath, path) if encoding is None else InputFile(os.fspath(path), encoding)


def _check_encoding(encoding: Any) -> None:
    known = False
    with suppress(LookupError, ValueError, UnicodeError):
        known = isinstance(encoding, str) and "".encode(encoding) is not None
    if not known:
        examples = "such as utf-8, cp1252, latin-1 or utf-16"
        raise InputError(
            Argument("encoding"), f" must name an encoding of text, {examples}; got {encoding!r}"
        )


def _saved_input() -> str:
    stream = getattr(sys.stdin, "buffer", None)
    if stream is None:
        raise InputError("standard input is closed; give the name of a file")
    return _saved(stream)


@cache
def _saved(stream: BinaryIO) -> str:
    """Save a stream, which can be read only once, until the process ends."""
    with tempfile.NamedTemporaryFile(prefix="hyperclus-", delete=False) as file:
        atexit.register(_remove, file.name)
        shutil.copyfileobj(stream, file)
    return file.name


def _remove(path: str) -> None:
    with suppress(OSError):
        os.unlink(path)


@contextmanager
def reading(path: StrPath, *, raw: bool = False) -> Iterator[BinaryIO]:
    """Open a file for reading bytes: compressed content is unpacked, text of other encodings becomes UTF-8.

    The content says how it is compressed, whatever the name; an `InputFile` or a byte order mark says how
    text is encoded. `raw` returns the content as it is.

    Raises
    ------
    InputError
        For a file that is missing, empty, a folder, a pipe or a device, not readable, damaged, a
        compression bomb, or of a kind that nothing reads; also for text in another encoding, when the body
        decodes it.
    """
    try:
        if not stat.S_ISREG(mode := os.stat(path).st_mode) and not stat.S_ISDIR(mode):
            raise fault(path, "this is not a regular file; save its content to one first")
        with open(path, "rb") as content:
            yield content if raw else _opened(path, content)
    except UnicodeDecodeError as error:
        raise fault(path, not_utf8(f"byte {error.start}")) from None
    except OSError as error:
        reason = READ_ERRORS.get(type(error), f"the file cannot be read: {error.strerror or error}")
        raise fault(path, reason) from None
    except Exception as error:
        if not is_shortage(error) or isinstance(error, MemoryError):
            raise
        why = "no more threads can be started; end other programs, or raise the limits of ulimit"
        raise HyperclusError(f"{printable(path)}: {why}") from None


def not_utf8(place: str) -> InputError:
    """Create the error about a byte that is not UTF-8, given its place in words."""
    remedy = " (the usual one of older Windows files)"
    return InputError(
        f"{place} is not UTF-8 text; save the file as UTF-8, or name its encoding, such as ",
        *(Argument("encoding", "cp1252"), remedy),
    )


def _opened(path: StrPath, raw: io.BufferedReader) -> BinaryIO:
    """Return a file, unpacked and as UTF-8, unless it begins like something that nothing here reads."""
    if not raw.peek():
        raise fault(path, "the file is empty")
    file = _unpacked(path, raw)
    start = file.peek()
    refuse_foreign(path, start)
    encoding = path.encoding if isinstance(path, InputFile) else None
    if encoding is None:
        encoding = next((name for mark, name in BYTE_ORDER_MARKS.items() if start.startswith(mark)), None)
    if encoding is not None:
        file = io.BufferedReader(_Transcoded(path, file, encoding), CHUNK)
    else:
        for pattern, name in WITHOUT_MARK.items():
            if re.match(pattern, start, re.DOTALL):
                raise fault(path, InputError("this may be UTF-16 text; use ", Argument("encoding", name)))
    return cast(BinaryIO, file)


def _unpacked(path: StrPath, raw: io.BufferedReader) -> io.BufferedReader:
    """Unpack compressed content; refuse archives, except those of NumPy."""
    start = raw.peek()
    for pattern, (what, opened) in COMPRESSIONS.items():
        if re.match(pattern, start):
            file = cast(io.BufferedReader, io.BufferedReader(_Unpacked(path, raw, what, opened(raw)), CHUNK))
            inside = file.peek()
            if inside.startswith(ZIP) or any(re.match(one, inside) for one in COMPRESSIONS):
                raise fault(path, "the content is compressed or an archive again; unpack it first")
            return file
    if start.startswith(ZIP):
        _refuse_zip(path, raw)
    return raw


def refuse_foreign(path: StrPath, start: bytes) -> None:
    """Raise an `InputError` if a file begins like something that nothing here reads."""
    for pattern, (what, remedy) in FOREIGN.items():
        if re.match(pattern, start, re.DOTALL):
            raise fault(path, f"this is {what}; {remedy}")


def is_shortage(error: Exception) -> bool:
    """Whether memory or threads are lacking, which is not the fault of a file."""
    return isinstance(error, MemoryError) or bool(re.search("worker thread|new thread", str(error)))


def is_excel(path: StrPath) -> bool:
    """Whether a file is a workbook of Excel, by its content."""
    with suppress(zipfile.BadZipFile, NotImplementedError, ValueError, EOFError, OSError):
        return any(name.startswith("xl/") for name in zipfile.ZipFile(path).namelist())
    return False


def _refuse_zip(path: StrPath, file: io.BufferedReader) -> None:
    """Raise an `InputError` for an Excel file or another archive without arrays of NumPy."""
    names = ["a.npy"]  # a damaged archive is for the reader to explain
    with suppress(zipfile.BadZipFile, NotImplementedError, ValueError, EOFError, OSError):
        names = zipfile.ZipFile(file).namelist() or names
    file.seek(0)
    if any(name.startswith("xl/") for name in names):
        raise fault(path, InputError("this is an Excel file; use ", Argument("format", "excel")))
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


class _Streams:
    """Compressed streams one after the other; other bytes after them than 0 are damaged data.

    `BZ2File` and `LZMAFile` ignore whatever follows a stream, and so lose all after a damaged header.
    """

    def __init__(self, raw: BinaryIO, start: Callable[[], Any]) -> None:
        self._raw, self._start, self._stream = raw, start, start()

    def seekable(self) -> bool:
        return False

    def read(self, size: int) -> bytes:
        while True:
            packed = b""
            if self._stream.eof:
                packed = self._stream.unused_data.lstrip(b"\0")
                while not packed:
                    if not (packed := self._raw.read(CHUNK)):
                        return b""
                    packed = packed.lstrip(b"\0")
                self._stream = self._start()
            elif self._stream.needs_input and not (packed := self._raw.read(CHUNK)):
                raise EOFError
            if content := self._stream.decompress(packed, size):
                return bytes(content)


def _zstd(raw: BinaryIO) -> Any:
    return library("pyarrow", "PyArrow", "reading zstd", "files").CompressedInputStream(raw, "zstd")


COMPRESSIONS: dict[bytes, tuple[str, Callable[[BinaryIO], Any]]] = {  # by how files begin
    rb"\x1f\x8b": ("gzipped", lambda raw: gzip.GzipFile(fileobj=raw)),
    rb"BZh[1-9]1AY&SY": ("bzip2", lambda raw: _Streams(raw, bz2.BZ2Decompressor)),
    rb"\xfd7zXZ\0": ("xz", lambda raw: _Streams(raw, lzma.LZMADecompressor)),
    rb"\x28\xb5\x2f\xfd": ("zstd", _zstd),
}


class _Unpacked(io.RawIOBase):
    """Unpacked bytes, with an error as soon as their number is implausible."""

    def __init__(self, path: StrPath, raw: io.BufferedReader, what: str, unpacked: Any) -> None:
        self._path, self._packed, self._total = path, os.fstat(raw.fileno()).st_size, 0
        self._what, self._unpacked = what, unpacked

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return bool(self._unpacked.seekable())

    def tell(self) -> int:
        return int(self._unpacked.tell()) if self.seekable() else self._total

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return int(self._unpacked.seek(offset, whence))

    def readinto(self, buffer: Any) -> int:
        try:
            content = self._unpacked.read(len(buffer))
        except (EOFError, zlib.error, lzma.LZMAError, OSError, ValueError):
            message = f"the {self._what} data are damaged or truncated; recreate the file"
            raise fault(self._path, message) from None
        buffer[: len(content)] = content
        self._total += len(content)
        refuse_bomb(self._path, self._packed, self._total)
        return len(content)


class _Transcoded(io.RawIOBase):
    """Text of another encoding as UTF-8."""

    def __init__(self, path: StrPath, file: Any, encoding: str) -> None:
        self._path, self._file, self._encoding = path, file, encoding
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._ready, self._total, self._lines = b"", 0, 1

    def readable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._total

    def readinto(self, buffer: Any) -> int:
        more = True
        while more and not self._ready:
            content = self._file.read(CHUNK)
            more = bool(content)
            try:
                self._ready = self._decoder.decode(content, final=not more).encode()
            except UnicodeError as error:
                lines = content[: getattr(error, "start", 0)].count(b"\n")
                message = f"this is not {self._encoding} text; give another encoding with "
                line = self._lines + lines
                raise fault(self._path, InputError(message, Argument("encoding")), line) from None
            self._lines += self._ready.count(b"\n")
        count = min(len(buffer), len(self._ready))
        buffer[:count] = self._ready[:count]
        self._ready, self._total = self._ready[count:], self._total + count
        return count
