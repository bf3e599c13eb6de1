"""From UCI's zip to raw files in a folder: whole and right, or one sentence on what to do."""

import errno
import gzip
import logging
import tempfile
import time
import zipfile
import zlib
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from lzma import LZMAError
from pathlib import Path
from typing import Any, BinaryIO

from hyperclus._runtime.optional import library
from hyperclus.errors import DownloadError
from hyperclus.research.datasets import store
from hyperclus.research.datasets.registry import RawFile, Source

_TIMEOUT = 30.0  # seconds without an answer or a byte
_PAUSES = (1.0, 4.0)  # seconds before the second and the third attempt
_PATIENCE = 60.0  # seconds after which a transfer must have come to _SLOWEST
_SLOWEST = 1000.0  # bytes per second on average
_LARGEST = 200_000_000  # bytes; the largest zip has 12 million
_CHUNK = 1 << 14
_LATER = "try again later"
_NEWER = "the address or the file may have changed, look for a newer hyperclus"
_DAMAGED = (zipfile.BadZipFile, gzip.BadGzipFile, zlib.error, LZMAError, EOFError, NotImplementedError)

_log = logging.getLogger(__name__)


class _TransferError(Exception):
    """Why a download failed, what to do, and whether another attempt may help."""

    def __init__(self, why: str, remedy: str = _LATER, *, again: bool = True) -> None:
        super().__init__(why)
        self.remedy = remedy
        self.again = again


def download(source: Source, files: Sequence[RawFile], folder: Path, progress: bool) -> None:
    """Fetch some files of a source into a folder.

    Raises
    ------
    DownloadError
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as archive:  # nameless: it goes when the process does
            for pause in (*_PAUSES, None):
                try:
                    _transfer(source, archive, progress)
                    for file in files:
                        _extract(archive, file, folder)
                    return
                except _TransferError as failure:
                    if pause is None or not failure.again:
                        raise
                    _log.info("%s; next attempt in %g seconds", failure, pause)
                    time.sleep(pause)
    except _TransferError as failure:
        why, remedy, cause = str(failure), failure.remedy, failure.__cause__
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        step = "free some space" if full else "make it writable"
        why = f"{folder} cannot be written to ({error.strerror or error})"
        remedy, cause = f"{step}, name another folder in {store.VARIABLE}", error
    wanted = " and ".join(file.name for file in files)
    raise DownloadError(
        f"{source.title} could not be fetched from {source.archive}: {why}; {remedy}, or put {wanted} "
        f"into {folder} by hand"
    ) from cause


def _transfer(source: Source, archive: BinaryIO, progress: bool) -> None:
    """The zip, into an open file; what is in the file already is overwritten."""
    pooch = store.pooch()
    import requests

    archive.seek(0)
    archive.truncate()
    answers: list[requests.Response] = []
    with _bar(source, progress) as bar:
        sink = _Sink(archive, bar)

        def answered(response: requests.Response, *_: Any, **__: Any) -> None:
            answers.append(response)
            if bar is not None:
                bar.total = int(response.headers.get("content-length", 0)) or None

        get = pooch.HTTPDownloader(timeout=_TIMEOUT, chunk_size=_CHUNK, hooks={"response": answered})
        try:
            get(source.archive, sink, None)
        except requests.HTTPError as error:
            status = answers[-1].status_code
            why = f"the server answered {status} ({answers[-1].reason})"
            again = status >= 500 or status in (408, 429)
            raise _TransferError(why, _LATER if again else _NEWER, again=again) from error
        except requests.RequestException as error:
            if answers:
                why = f"the transfer broke off after {sink.received:,} bytes"
                raise _TransferError(why, "try again") from error
            if isinstance(error, requests.Timeout):
                raise _TransferError(f"the server did not answer in {_TIMEOUT:g} seconds") from error
            if isinstance(error, requests.ConnectionError):
                why = f"the server could not be reached ({type(error).__name__})"
                raise _TransferError(why, "check the network connection and try again") from error
            raise _TransferError(f"the request failed ({type(error).__name__})") from error
        except ValueError as error:  # a length that is no number
            raise _TransferError("the answer makes no sense") from error
        finally:
            for response in answers:
                response.close()


def _extract(archive: BinaryIO, file: RawFile, folder: Path) -> None:
    """One file out of the zip, wherever it lies in there, gzipped or not. Names in the zip are only read."""
    try:
        with zipfile.ZipFile(archive) as members:
            found = [
                member
                for member in members.infolist()
                if member.filename.replace("\\", "/").split("/")[-1] in (file.name, f"{file.name}.gz")
            ]
            for member in found:
                with members.open(member) as stream:
                    packed = member.filename.endswith(".gz")
                    content: Any = gzip.GzipFile(fileobj=stream) if packed else stream
                    if store.save(content, file, folder):
                        return
    except _DAMAGED as error:
        raise _TransferError("what came is not a sound zip file") from error
    except RuntimeError as error:
        raise _TransferError(f"the {file.name} in the zip is encrypted", _NEWER, again=False) from error
    if not found:
        raise _TransferError(f"the zip holds no {file.name}", _NEWER, again=False)
    why = f"the {file.name} in the zip is not the known one (its sha256 differs)"
    raise _TransferError(why, _NEWER, again=False)


class _Sink:
    """Passes chunks on to a file; gives up on a transfer that crawls or does not end."""

    def __init__(self, file: BinaryIO, bar: Any) -> None:
        self.file = file
        self.bar = bar
        self.received = 0
        self.start = time.monotonic()

    def write(self, chunk: bytes) -> None:
        self.file.write(chunk)
        self.received += len(chunk)
        if self.bar is not None:
            self.bar.update(len(chunk))
        seconds = time.monotonic() - self.start
        if seconds > _PATIENCE and self.received < _SLOWEST * seconds:
            raise _TransferError(
                f"the transfer is too slow ({self.received:,} bytes in {seconds:.0f} seconds)"
            )
        if self.received > _LARGEST:
            raise _TransferError(f"the server sent more than {_LARGEST:,} bytes", _NEWER, again=False)

    def flush(self) -> None:
        """Nothing: pooch asks for it after every chunk."""


def _bar(source: Source, progress: bool) -> AbstractContextManager[Any]:
    if not progress:
        return nullcontext()
    tqdm = library("tqdm.auto", "tqdm", "progress=True", "datasets").tqdm
    bar: AbstractContextManager[Any] = tqdm(desc=source.title, unit="B", unit_scale=True)
    return bar
