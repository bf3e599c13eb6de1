"""Results and states of long stages, kept in a folder, so that a run that was ended goes on from there.

A file is named by a hash of all that decides its content: the hypergraph, the settings, the state of the
random generator, the version of this library. So nothing in the folder can be wrong, only of no use, and
several runs may share it. A finished stage keeps its result; one under way keeps its state now and then, by
the clock. Saving changes no result. Each file is a NumPy archive, which carries checksums; a damaged one is
deleted with a warning and its stage computed anew, since the run that made it may have taken hours.
"""

import json
import logging
import sys
import time
import weakref
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, Protocol, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from hyperclus._runtime.files import StrPath, fault, writing
from hyperclus.engines.base import is_scattered
from hyperclus.errors import InputError
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.typing import Seed

FORMAT = 3
WORTH = 0.2  # seconds of work from which a result is kept; less is done again
PAUSE = 2.0  # seconds between two states, at least
SHARE = 0.05  # of the time may go into writing states, and as much into results
SPEED = 2e8  # bytes written per second, until a file tells
MEASURED_FROM = 1_000_000  # bytes of a file that tells
STALE = 600  # seconds after which a file that was not finished is no longer being written
ABOUT = "README.txt"
UNSOUND = (  # what a damaged file may raise when it is read
    *(AttributeError, EOFError, KeyError, OSError, RuntimeError, TypeError, ValueError),
    *(zipfile.BadZipFile, zlib.error),
)

Values: TypeAlias = dict[str, Any]

_log = logging.getLogger(__name__)


@contextmanager
def checkpoints(folder: StrPath, keeper: "VectorStore | None" = None) -> Iterator[None]:
    """Within it, long stages keep their results and states in a folder and take them up from there.

    If the process is killed, the same calls go on from there, to the same labels and NCut, bit for bit. The
    folder is made if need be; delete it when it is no longer wanted. Seeds must be given. (`keeper` is for
    engines whose vectors lie on many workers.)

    Raises
    ------
    InputError
        When the folder cannot be made or written.

    Examples
    --------
    >>> import tempfile, hyperclus as hc
    >>> h = hc.Hypergraph.from_edges([["a", "b", "c"], ["b", "c"], ["c", "d"], ["d", "e", "f"]])
    >>> with tempfile.TemporaryDirectory() as folder, hc.checkpoints(folder):
    ...     part = hc.cluster(h, k=2)
    """
    opened = _Folder.at(folder)
    opened.keeper = keeper
    token = _open.set(opened)
    try:
        yield
    finally:
        _open.reset(token)
        opened.clean()


def check_seed(seed: Seed) -> None:
    """Refuse a seed that would be another the next time, where checkpoints are kept."""
    if seed is None and _open.get() is not None:
        raise InputError(
            "seed=None draws anew each time, so a checkpoint could not be taken up; give a whole number"
        )


def open_checkpoint(stage: str, *inputs: Any, rng: np.random.Generator | None = None) -> "Checkpoint":
    """The place of a stage's result, given all that decides it: hypergraphs, arrays, and what has a repr."""
    folder = _open.get()
    if folder is None:
        return NO_CHECKPOINT
    return Checkpoint(folder, f"{stage.replace(' ', '-')}-{folder.digest((stage, *inputs, rng))}", rng)


class VectorStore(Protocol):
    """Keeps vectors that lie on many workers; a checkpoint holds only references to them."""

    def settle(self, values: list[Any]) -> None:
        """See that vectors and blocks are stored, so that they can be referred to."""
        ...

    def restored(self, reference: Any) -> Any:
        """The vector, or the block, of a reference."""
        ...

    def pin(self, file: str, references: list[Any]) -> None:
        """The vectors that a file refers to must stay until it is deleted."""
        ...

    def unpin(self, file: str) -> None:
        """The file is deleted."""
        ...


@dataclass(slots=True, eq=False)
class Checkpoint:
    """The place of one stage: its result once it is finished, its state until then.

    The random generator, if there is one, goes with them: what is loaded sets it to where it was.
    """

    _folder: "_Folder | None"
    _name: str
    _rng: np.random.Generator | None = None
    _parent: "Checkpoint | None" = None
    _finished: bool = False
    _earlier: float = 0.0  # seconds of work that were loaded
    _began: float = field(default_factory=time.monotonic)

    def part(self, *words: Any) -> "Checkpoint":
        """The place of a part of this stage; what a part kept is deleted when the whole is finished."""
        if self._folder is None:
            return self
        return Checkpoint(self._folder, f"{self._name}.{'-'.join(map(str, words))}", self._rng, self)

    def result(self) -> Values | None:
        """What `finish` was given, if it was kept."""
        found = self._loaded(self._name, "taken from the checkpoint")
        if found is not None:
            self._finished = True
            self._forget()
        return found

    def state(self) -> Values | None:
        """What `keep` was given last, if it was kept."""
        return self._loaded(f"{self._name}.state", "goes on from the checkpoint")

    @property
    def due(self) -> bool:
        """Whether it is time to think of keeping the state; costs nothing where none is kept."""
        return self._folder is not None and time.monotonic() - self._folder.saved >= PAUSE

    def keep(self, **values: Any) -> None:
        """Keep the state (arrays, and what JSON can hold), if enough time has passed for its size."""
        if self._folder is not None and self._folder.affords(values):
            self._folder.save(f"{self._name}.state", values, self._rng, self.seconds)

    def finish(self, **values: Any) -> Values:
        """Keep the result, if that is cheaper than the work; the state is deleted. Returns the values."""
        if self._folder is not None and not self._finished:
            if self.seconds >= max(WORTH, self._folder.cost(values) / SHARE):
                self._folder.save(self._name, values, self._rng, self.seconds)
            self._forget()
        return values

    @property
    def seconds(self) -> float:
        """Of work for this stage, in all runs."""
        return self._earlier + time.monotonic() - self._began

    def _loaded(self, name: str, how: str) -> Values | None:
        found = None if self._folder is None else self._folder.load(name)
        if found is None:
            return None
        _log.info("%s: %s", name, how)
        state, seconds = found.pop("rng"), found.pop("seconds")
        if self._rng is not None:
            self._rng.bit_generator.state = state
        place: Checkpoint | None = self
        while place is not None:
            place._earlier += seconds
            place = place._parent
        return found

    def _forget(self) -> None:
        """Delete the state, and what parts of this stage kept."""
        assert self._folder is not None
        self._folder.delete(f"{self._name}.")


NO_CHECKPOINT = Checkpoint(None, "")


@dataclass(slots=True, eq=False)
class _Folder:
    """The files of a folder, and the clock that decides when to write."""

    path: Path
    names: set[str]  # of files that are there, without those that other processes make meanwhile
    saved: float = field(default_factory=time.monotonic)  # when a file was written last
    speed: float = SPEED
    hashed: tuple[list[Any], bytes] = ([], b"")  # the arrays of the hypergraph seen last, and their hash
    keeper: VectorStore | None = None
    took: float = 0.0  # seconds until the vectors of the last file, on many workers, were stored

    @classmethod
    def at(cls, place: StrPath) -> "_Folder":
        """The folder, made if need be, where a file has been written to see that one can."""
        path = Path(place)
        try:
            path.mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            raise fault(place, "this is a file; give the name of a folder for checkpoints") from None
        except OSError as error:
            why = error.strerror or error
            raise fault(place, f"the folder cannot be made ({why}); choose another for checkpoints") from None
        with writing(path / ABOUT) as file:
            file.write(b"Checkpoints of hyperclus. They may be deleted when no run needs them.\n")
        folder = cls(path, {file.name for file in path.glob("*.npz")})
        folder.clean()
        return folder

    def clean(self) -> None:
        """Delete what runs that were killed had not finished writing."""
        with suppress(OSError):
            (self.path / ABOUT).touch()
            now = (self.path / ABOUT).stat().st_mtime  # by the clock of the file system
            for part in self.path.glob(".*.part"):
                if part.stat().st_mtime < now - STALE:
                    part.unlink(missing_ok=True)

    def digest(self, inputs: tuple[Any, ...]) -> str:
        """The hash of all that decides a result."""
        version = sys.modules["hyperclus"].__version__  # which cannot be imported from below
        whole = blake2b(f"{FORMAT} {version}".encode(), digest_size=16)
        for value in inputs:
            whole.update(self._hash(value))
        return whole.hexdigest()

    def _hash(self, value: Any) -> bytes:
        if isinstance(value, Hypergraph):
            gamma = value.gamma
            arrays = [gamma.data, gamma.indices, gamma.indptr, value.edge_weights]
            if [id(held()) for held in self.hashed[0]] != [id(array) for array in arrays]:
                whole = b"".join([repr(gamma.shape).encode(), *map(self._hash, arrays)])
                self.hashed = [weakref.ref(array) for array in arrays], blake2b(whole).digest()
            return self.hashed[1]
        if isinstance(value, np.ndarray):
            rows = value.T if _by_columns(value) else value
            content = blake2b(f"{value.dtype.str} {value.shape} {rows is value}".encode())
            content.update(np.ascontiguousarray(rows).reshape(-1).data)
            return content.digest()
        if isinstance(value, np.random.Generator):
            value = value.bit_generator.state
        return blake2b(repr(value).encode()).digest()

    def cost(self, values: Values) -> float:
        """Seconds that it is expected to take to write these values."""
        return sum(value.nbytes for value in values.values() if isinstance(value, np.ndarray)) / self.speed

    def affords(self, values: Values) -> bool:
        """Whether enough time has passed since the last file for one more."""
        return time.monotonic() - self.saved >= max(self.cost(values), self.took) / SHARE

    def save(self, name: str, values: Values, rng: np.random.Generator | None, seconds: float) -> None:
        """Write a file whole or not at all; if that fails there is a warning, and the run goes on."""
        arrays = {key: value for key, value in values.items() if isinstance(value, np.ndarray)}
        lying = {key: value for key, value in values.items() if is_scattered(value)}
        asked = time.monotonic()
        if self.keeper is not None:
            self.keeper.settle(list(lying.values()))
        far = {key: value.reference() for key, value in lying.items()}
        self.took = time.monotonic() - asked
        others = {key: value for key, value in values.items() if key not in arrays and key not in far}
        turned = {key: _by_columns(array) for key, array in arrays.items()}
        arrays |= {key: arrays[key].T for key in turned if turned[key]}
        others |= {"seconds": seconds, "rng": rng and rng.bit_generator.state, "turned": turned, "far": far}
        text = json.dumps(others, default=lambda value: value.tolist()).encode()
        began = time.monotonic()
        try:
            with writing(self.path / f"{name}.npz") as file:
                np.savez(file, allow_pickle=False, facts=np.frombuffer(text, dtype=np.uint8), **arrays)
            self.names.add(f"{name}.npz")
            if self.keeper is not None:
                self.keeper.pin(f"{name}.npz", list(far.values()))
        except InputError as error:
            _log.warning("no checkpoint: %s", error)
        self.saved = time.monotonic()
        if (size := sum(array.nbytes for array in arrays.values())) >= MEASURED_FROM:
            self.speed = size / (self.saved - began)

    def load(self, name: str) -> Values | None:
        """The values of a file; None where there is none, or a damaged one."""
        path = self.path / f"{name}.npz"
        try:
            with path.open("rb") as file:
                with zipfile.ZipFile(file) as archive:
                    if archive.testzip() is not None:
                        raise ValueError
                file.seek(0)
                with np.load(file, allow_pickle=False) as arrays:
                    values: Values = json.loads(arrays["facts"].tobytes())
                    for key, turned in values.pop("turned").items():
                        values[key] = arrays[key].T if turned else arrays[key]
                    for key, reference in values.pop("far").items():
                        values[key] = cast(VectorStore, self.keeper).restored(reference)
                    values["seconds"] = float(values["seconds"])
                    if "rng" not in values:
                        raise ValueError
        except FileNotFoundError:
            return None
        except UNSOUND:
            _log.warning("the checkpoint %s is damaged; it is deleted and computed anew", path)
            with suppress(OSError):
                path.unlink(missing_ok=True)
            return None
        self.names.add(path.name)
        return values

    def delete(self, start: str) -> None:
        """Delete the files whose names start like this, but not the result itself."""
        for name in [name for name in self.names if name.startswith(start) and name != f"{start}npz"]:
            with suppress(OSError):
                (self.path / name).unlink(missing_ok=True)
            self.names.discard(name)
            if self.keeper is not None:
                self.keeper.unpin(name)


def _by_columns(array: NDArray[Any]) -> bool:
    """Whether a column lies together in memory; sums differ in the last bit if that changes."""
    return array.ndim == 2 and array.strides[0] < array.strides[1]


_open: ContextVar[_Folder | None] = ContextVar("checkpoints", default=None)
