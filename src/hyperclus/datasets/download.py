"""The raw files of the data sets: where they are, whether they are intact, and how to download them."""

import errno
import gzip
import hashlib
import logging
import os
import shutil
import tempfile
import time
import zipfile
import zlib
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Literal, TypeAlias

from hyperclus._runtime.files import atomic_path
from hyperclus._runtime.optional import library
from hyperclus.datasets.registry import RawFile, Source
from hyperclus.errors import DownloadError

Status: TypeAlias = Literal["ok", "missing", "damaged"]
Folder: TypeAlias = str | os.PathLike[str]

VARIABLE = "HYPERCLUS_DATA"
TIMEOUT = 30.0  # seconds without an answer or a byte
PAUSES = (1.0, 4.0)  # seconds before the second and the third attempt
TRY_LATER = "try again later"
CONNECT = "check the network connection and try again"
UPDATE = "the address or the file may have changed, look for a newer version of hyperclus"
DAMAGED = (zipfile.BadZipFile, gzip.BadGzipFile, zlib.error, EOFError, NotImplementedError)

_log = logging.getLogger(__name__)


def data_folder(folder: Folder | None) -> tuple[Path, bool]:
    """The folder: the argument, else that in HYPERCLUS_DATA, else the cache; and whether it is the cache."""
    given = os.environ.get(VARIABLE) or None if folder is None else folder
    return (cache_folder(), True) if given is None else (Path(given).expanduser(), False)


def cache_folder() -> Path:
    """The cache of hyperclus on this machine."""
    return Path(_pooch().os_cache("hyperclus"))


def find(folder: Path, file: RawFile) -> tuple[Status, Path]:
    """Whether a file, plain or gzipped, is in the folder, and its path; "damaged" if its sha256 differs."""
    path = folder / file.name
    candidates = [path for path in (path, path.with_name(f"{path.name}.gz")) if os.path.isfile(path)]
    for candidate in candidates:
        if _sha256(candidate) in file.sha256:
            return "ok", candidate
    return ("damaged", candidates[0]) if candidates else ("missing", path)


def download(source: Source, files: Sequence[RawFile], folder: Path, progress: bool) -> None:
    """Download the zip file of a source and put some of its files into a folder."""
    for pause in (*PAUSES, None):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix="hyperclus-") as temporary:
                archive, unpacked = Path(temporary, "archive.zip"), Path(temporary, "unpacked")
                _download_zip(source, archive, progress)
                with zipfile.ZipFile(archive) as members:
                    members.extractall(unpacked)
                for file in files:
                    _copy(unpacked, file, folder)
            return
        except (OSError, ValueError, RuntimeError, DownloadError, *DAMAGED) as error:
            if all(find(folder, file)[0] == "ok" for file in files):
                return  # another process was faster
            reason, remedy, retry = _explain(error, folder)
            if pause is None or not retry:
                names = " and ".join(file.name for file in files)
                raise DownloadError(
                    f"{source.title} could not be downloaded from {source.archive}: {reason}; {remedy}, "
                    f"or put {names} into {folder} by hand"
                ) from error
            _log.info("%s; next attempt in %g seconds", reason, pause)
            time.sleep(pause)


def _download_zip(source: Source, path: Path, progress: bool) -> None:
    with ExitStack() as stack:

        def answered(response: Any, *_: Any, **__: Any) -> None:
            stack.callback(response.close)

        get = _pooch().HTTPDownloader(timeout=TIMEOUT, chunk_size=1 << 14, hooks={"response": answered})
        if progress:
            tqdm = library("tqdm.auto", "tqdm", "progress=True", "datasets").tqdm
            bar = tqdm(desc=source.title, total=1, unit="B", unit_scale=True)  # pooch sets the total
            get.progressbar = stack.enter_context(bar)
        get(source.archive, path, None)


def _copy(unpacked: Path, file: RawFile, folder: Path) -> None:
    """Copy a file, which may be gzipped, from anywhere in the unpacked zip; check its sha256."""
    names = (file.name, f"{file.name}.gz")
    found = [path for path in unpacked.rglob("*") if path.name.split("\\")[-1] in names and path.is_file()]
    for path in found:
        if _sha256(path) in file.sha256:
            with atomic_path(folder / file.name) as target, _open(path) as content, target.open("xb") as copy:
                shutil.copyfileobj(content, copy)
            return
    if found:
        raise DownloadError(f"the {file.name} in the zip is not the known one (its sha256 differs)")
    raise DownloadError(f"the zip contains no {file.name}")


def _explain(error: Exception, folder: Path) -> tuple[str, str, bool]:
    """What went wrong, what to do about it, and whether another attempt may help."""
    import requests

    if isinstance(error, requests.HTTPError) and error.response is not None:
        status = error.response.status_code
        retry = status >= 500 or status in (408, 429)
        reason = f"the server answered {status} ({error.response.reason})"
        return reason, TRY_LATER if retry else UPDATE, retry
    full = getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT)
    elsewhere = f"{'free some space' if full else 'make it writable'}, name another folder in {VARIABLE}"
    unwritable = f"{folder} cannot be written to ({getattr(error, 'strerror', None) or error})"
    known: tuple[tuple[Any, str, str, bool], ...] = (
        (requests.Timeout, f"the server did not answer in {TIMEOUT:g} seconds", TRY_LATER, True),
        (requests.RequestException, f"the connection failed ({type(error).__name__})", CONNECT, True),
        (DownloadError, str(error), UPDATE, False),
        (DAMAGED, "the zip file is damaged", TRY_LATER, True),
        (OSError, unwritable, elsewhere, False),
        (RuntimeError, "the zip file is encrypted", UPDATE, False),
        (Exception, "the answer of the server is invalid", TRY_LATER, True),
    )
    return next((reason, remedy, retry) for kind, reason, remedy, retry in known if isinstance(error, kind))


def _pooch() -> Any:
    return library("pooch", "pooch", "downloading data sets", "datasets")


def _open(path: Path) -> Any:
    return gzip.open(path) if path.suffix == ".gz" else path.open("rb")


def _sha256(path: Path) -> str:
    """The sha256 of the unpacked content; empty if the file cannot be read to its end."""
    try:
        with _open(path) as content:
            return hashlib.file_digest(content, "sha256").hexdigest()
    except (OSError, EOFError, zlib.error):
        return ""
