"""Checkpoints: results and states of long stages, saved in a folder so that an interrupted run can resume.

A file is named by a hash of everything that determines its content: the hypergraph, the settings, the state
of the random generator, the version of this library. Entries can be stale but never wrong, so runs may share
a folder. A finished stage saves its result; a running stage saves its state from time to time. Saving changes
no result. Each file starts with a digest of its content. If they do not match, the file is damaged: it is
deleted with a warning and its stage is computed again. The same happens if the values do not fit the stage
(types, shapes, ranges). A file that cannot be read is never deleted.
"""

import json
import logging
import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from hashlib import blake2b, file_digest
from pathlib import Path
from typing import IO, Any, Protocol, TypeAlias, cast

import numpy as np

from hyperclus._runtime.content_digest import content_digest, is_column_major
from hyperclus._runtime.context import using
from hyperclus._runtime.files import StrPath, check_path, fault, writing
from hyperclus.errors import InputError, is_number
from hyperclus.typing import Seed

FORMAT = 5
SUFFIX = ".checkpoint"
LARGEST = float(np.finfo(np.float64).max)
DIGEST_SIZE = blake2b().digest_size
ABANDONED_AFTER = 600  # seconds without a write after which a partial file belongs to no running process
README = "HYPERCLUS.txt"  # not a name that a file of the user may have

Values: TypeAlias = dict[str, Any]
Fits: TypeAlias = Callable[[Values], bool]  # whether loaded values can be those of a stage; may raise

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Pace:
    """How often checkpoints are written."""

    min_work: float = 0.2  # seconds of work from which a result is worth saving
    interval: float = 2.0  # minimum seconds between two states
    max_share: float = 0.05  # of the run time may be spent on writing states


def checkpoint_pace(pace: Pace) -> AbstractContextManager[None]:
    """Set how often the checkpoints that are opened inside this context are written."""
    return using(_pace, pace)


def without_checkpoints() -> AbstractContextManager[None]:
    """Write no checkpoints inside the context, for work that is faster to repeat than to keep."""
    return using(_folder, None)


@contextmanager
def checkpoints(folder: StrPath, vector_store: "VectorStore | None" = None) -> Iterator[None]:
    """Save the results and states of long stages in a folder, and resume from them.

    If the process is killed, the same calls resume from the folder and end with the same labels and NCut,
    bit for bit. The folder is created if necessary; delete it when it is no longer needed. Seeds must be
    given. `vector_store` is for engines whose vectors are distributed over many workers.

    Raises
    ------
    InputError
        If the folder cannot be created or written, or if a checkpoint in it cannot be read.

    Examples
    --------
    >>> import tempfile, hyperclus as hc
    >>> h = hc.Hypergraph.from_edges([["a", "b", "c"], ["b", "c"], ["c", "d"], ["d", "e", "f"]])
    >>> with tempfile.TemporaryDirectory() as folder, hc.checkpoints(folder):
    ...     part = hc.cluster(h, k=2)
    """
    check_path(folder)
    if folder == "":  # a likely slip, such as an unset variable, and not the current folder
        raise InputError("the name of the folder for checkpoints is empty; give one")
    path = Path(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or error
        raise fault(folder, f"cannot be used as a folder for checkpoints ({reason})") from None
    with writing(path / README) as file:
        file.write(b"Checkpoints of hyperclus. They can be deleted when no run needs them.\n")
    opened = _Folder(path, _pace.get(), vector_store)
    opened.delete_abandoned()
    try:
        with using(_folder, opened):
            yield
    finally:
        opened.delete_abandoned()


def check_seed(seed: Seed) -> None:
    """Reject seed=None while checkpointing: the run could not be resumed."""
    if seed is None and _folder.get() is not None:
        raise InputError(
            "seed=None draws a new seed in each run, so a run with checkpoints could not be resumed; "
            "give an integer seed"
        )


def open_checkpoint(stage: str, *inputs: Any, rng: np.random.Generator | None = None) -> "Checkpoint":
    """The checkpoint of a stage, given everything that determines its result; see `content_digest`."""
    folder = _folder.get()
    if folder is None:
        return NO_CHECKPOINT
    version = sys.modules["hyperclus"].__version__  # an import would be circular
    key = content_digest((FORMAT, version, stage, inputs, rng)).hex()[:32]
    return Checkpoint(folder, f"{stage.replace(' ', '-')}-{key}", rng)


def vector_references(folder: Path) -> dict[str, list[Any]]:
    """For each intact checkpoint in a folder its file name and the stored vectors that it refers to."""
    found = {}
    for path in folder.glob(f"*{SUFFIX}"):
        with path.open("rb") as file:
            if (header := _header(file)) is not None:
                found[path.name] = list(header["references"].values())
    return found


def is_array(value: Any, *shape: int | None, low: float = -LARGEST, high: float = LARGEST) -> bool:
    """Whether a value is an array of numbers within limits, or a vector of a backend; None is any length.

    >>> is_array(np.ones((2, 3)), 2, None), is_array(np.ones(2), 3), is_array(np.array([np.nan]), 1)
    (True, False, False)
    """
    found = getattr(value, "shape", None)
    if found is None or len(found) != len(shape):
        return False
    if any(wanted is not None and wanted != size for size, wanted in zip(found, shape, strict=True)):
        return False
    if not isinstance(value, np.ndarray):
        return True
    return value.dtype.kind in "iuf" and (not value.size or bool(low <= value.min() and value.max() <= high))


def is_figure(value: Any, low: float = -math.inf, high: float = math.inf) -> bool:
    """Whether a value is a number within limits."""
    return is_number(value) and bool(low <= value <= high)


def is_count(value: Any) -> bool:
    """Whether a value is a whole number from 0."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


class VectorStore(Protocol):
    """Stores vectors that are distributed over many workers; a checkpoint only refers to them.

    `store` makes references possible. `restore` raises FileNotFoundError, EOFError or ValueError for a
    damaged vector. `pin` keeps vectors until the checkpoint file is deleted, which `unpin` tells.
    """

    def store(self, values: list[Any]) -> None: ...
    def restore(self, reference: Any) -> Any: ...
    def pin(self, file: str, references: list[Any]) -> None: ...
    def unpin(self, file: str) -> None: ...


@dataclass(slots=True, eq=False)
class Checkpoint:
    """Checkpoint of one stage: its result once it is finished, its state until then.

    The state of the random generator, if there is one, is saved and restored with them.
    """

    _folder: "_Folder | None"
    _name: str
    _rng: np.random.Generator | None = None
    _parent: "Checkpoint | None" = None
    _started: float = field(default_factory=time.monotonic)

    def part(self, *words: Any) -> "Checkpoint":
        """The checkpoint of a part of this stage; it is deleted when the stage is finished."""
        if self._folder is None:
            return self
        return Checkpoint(self._folder, f"{self._name}.{'-'.join(map(str, words))}", self._rng, self)

    def result(self, fits: Fits) -> Values | None:
        """Load the values given to `finish`, if they were saved and fit."""
        values = self._load(self._name, "loaded from the checkpoint", fits)
        if values is not None:
            self._started = math.inf  # there is nothing more to save
            cast(_Folder, self._folder).delete_parts(self._name)
        return values

    def state(self, fits: Fits) -> Values | None:
        """Load the values last given to `keep`, if they were saved and fit."""
        return self._load(f"{self._name}.state", "resumed from the checkpoint", fits)

    @property
    def due(self) -> bool:
        """Whether it is time to call `keep`; cheap enough for inner loops."""
        if (folder := self._folder) is None:
            return False
        wait = max(folder.pace.interval, folder.state_seconds / folder.pace.max_share)
        return time.monotonic() - folder.saved_at >= wait

    def keep(self, **values: Any) -> None:
        """Save the state (arrays and JSON values)."""
        if (folder := self._folder) is not None:
            started = time.monotonic()
            folder.save(f"{self._name}.state", values, self._rng)
            folder.state_seconds = folder.saved_at - started

    def finish(self, **values: Any) -> Values:
        """Save the result, if computing it took long enough, delete the state and return the values."""
        if (folder := self._folder) is not None:
            if time.monotonic() - self._started >= folder.pace.min_work:
                folder.save(self._name, values, self._rng)
            folder.delete_parts(self._name)
        return values

    def _load(self, name: str, message: str, fits: Fits) -> Values | None:
        loaded = None if self._folder is None else self._folder.load(name)
        if loaded is None:
            return None
        values, rng_state = loaded
        if not _fits(values, fits, rng_state, self._rng):
            cast(_Folder, self._folder).delete_damaged(name)
            return None
        _log.info("%s: %s", name, message)
        if self._rng is not None:
            self._rng.bit_generator.state = rng_state
        stage: Checkpoint | None = self
        while stage is not None:  # its time so far was spent in an earlier run
            stage._started = -math.inf
            stage = stage._parent
        return values


NO_CHECKPOINT = Checkpoint(None, "")


@dataclass(slots=True, eq=False)
class _Folder:
    """The files of a checkpoint folder, and the clock that decides when to write."""

    path: Path
    pace: Pace
    vector_store: VectorStore | None
    saved_at: float = field(default_factory=time.monotonic)
    state_seconds: float = 0.0  # what writing the last state took

    def delete_abandoned(self) -> None:
        """Delete partial files that killed processes left behind."""
        with suppress(OSError):
            (self.path / README).touch()
            now = (self.path / README).stat().st_mtime  # by the clock of the file system
            for partial in self.path.glob(".hyperclus-*.part"):
                if partial.stat().st_mtime < now - ABANDONED_AFTER:
                    partial.unlink(missing_ok=True)

    def save(self, name: str, values: Values, rng: np.random.Generator | None) -> None:
        """Write a file atomically; if that fails, log a warning and continue without it."""
        arrays = {key: value for key, value in values.items() if isinstance(value, np.ndarray)}
        stored = {key: value for key, value in values.items() if hasattr(value, "reference")}
        others = {key: value for key, value in values.items() if key not in arrays and key not in stored}
        if self.vector_store is not None:
            self.vector_store.store(list(stored.values()))
        references = {key: value.reference() for key, value in stored.items()}
        rng_state = None if rng is None else rng.bit_generator.state
        header = {"values": others, "arrays": list(arrays), "references": references, "rng": rng_state}
        text = json.dumps(header, default=_as_json).encode()
        path = self.path / f"{name}{SUFFIX}"
        try:
            with writing(path) as file:
                file.write(bytes(DIGEST_SIZE))
                output = _HashingWriter(file)
                for array in (np.frombuffer(text, dtype=np.uint8), *arrays.values()):
                    ordered = np.asfortranarray(array) if is_column_major(array) else array
                    np.save(output, ordered, allow_pickle=False)  # keeps the order
                file.seek(0)
                file.write(output.digest.digest())
            if self.vector_store is not None:
                self.vector_store.pin(path.name, list(references.values()))
        except InputError as error:
            _log.warning("no checkpoint was written: %s", error)
        self.saved_at = time.monotonic()

    def load(self, name: str) -> tuple[Values, Any] | None:
        """The values of a file and the state of the random generator; None if it is missing or damaged."""
        path = self.path / f"{name}{SUFFIX}"
        try:
            if not path.exists():
                return None
            with path.open("rb") as file:
                if (header := _header(file)) is not None:
                    values = header["values"]
                    values |= {key: np.load(file, allow_pickle=False) for key in header["arrays"]}
                    for key, reference in header["references"].items():
                        values[key] = cast(VectorStore, self.vector_store).restore(reference)
                    return values, header["rng"]
        except (FileNotFoundError, EOFError, ValueError):
            pass  # a vector is missing or damaged
        except OSError as error:
            reason = f"the checkpoint cannot be read ({error.strerror or error})"
            raise fault(path, f"{reason}; try again, or delete it to start over") from error
        self.delete_damaged(name)
        return None

    def delete_damaged(self, name: str) -> None:
        path = self.path / f"{name}{SUFFIX}"
        _log.warning("the checkpoint %s is damaged; it is deleted and computed again", path)
        with suppress(OSError):
            path.unlink(missing_ok=True)

    def delete_parts(self, name: str) -> None:
        """Delete the state of a stage and the checkpoints of its parts."""
        for path in self.path.glob(f"{name}.*{SUFFIX}"):
            with suppress(OSError):
                path.unlink(missing_ok=True)
            if self.vector_store is not None:
                self.vector_store.unpin(path.name)


class _HashingWriter:
    """Writes to a file and hashes what it writes."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file, self.digest = file, blake2b()

    def write(self, data: Any) -> int:
        self.digest.update(data)
        return self.file.write(data)


def _header(file: IO[bytes]) -> Values | None:
    """Read what precedes the arrays; None if the file does not start with the digest of the rest."""
    digest = file.read(DIGEST_SIZE)
    if digest != file_digest(file, blake2b).digest():  # type: ignore[arg-type]
        return None
    file.seek(DIGEST_SIZE)
    try:
        header = json.loads(np.load(file, allow_pickle=False).tobytes())
        kinds = {"values": dict, "arrays": list, "references": dict, "rng": dict | None}
        sound = all(isinstance(header[name], kind) for name, kind in kinds.items())
    except (EOFError, ValueError, TypeError, KeyError, RecursionError):
        return None
    return header if sound and all(isinstance(name, str) for name in header["arrays"]) else None


def _fits(values: Values, fits: Fits, rng_state: Any, rng: np.random.Generator | None) -> bool:
    """Whether loaded values fit their stage, and the state its random generator."""
    try:
        if rng is not None:
            type(rng.bit_generator)().state = rng_state
        return fits(values)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return False


def _as_json(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"a checkpoint cannot hold a {type(value).__name__}")


_folder: ContextVar[_Folder | None] = ContextVar("folder", default=None)
_pace: ContextVar[Pace] = ContextVar("pace", default=Pace())  # noqa: B039  Pace is frozen
