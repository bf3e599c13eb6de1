"""One measurement: a method on a data set with one weighting; kept on disk so that runs can resume."""

import json
import tempfile
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from hyperclus.clustering.metrics import agreement
from hyperclus.errors import InputError
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.hypergraph.weighting import class_counts, ones
from hyperclus.research.datasets import Dataset
from hyperclus.research.paper.methods import METHODS
from hyperclus.typing import Integers

Weights = Literal["edvw", "eivw"]


@dataclass(frozen=True, slots=True)
class Unit:
    """What to measure."""

    dataset: str
    method: str
    weights: Weights
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Record:
    """What was measured.

    Attributes
    ----------
    f1 : list of float
        F1 of each class with its matched cluster, descending for two classes.
    seconds : float
        From the table of features to the scored clusters.
    """

    ncut: float
    lower_bound: float
    second_eigenvalue: float
    f1: list[float]
    weighted_f1: float
    nmi: float
    seconds: float


def measure(data: Dataset, unit: Unit) -> Record:
    """Run one method on one data set, from the table to the score."""
    start = time.perf_counter()
    members = Hypergraph.from_table(data.table, bins={})
    hypergraph = class_counts(members, data.classes) if unit.weights == "edvw" else members

    def reweigh(sub: Hypergraph, vertices: Integers) -> Hypergraph | None:
        counted = data.reweigh(sub, vertices)
        return counted if counted is None or unit.weights == "edvw" else ones(counted)

    part = METHODS[unit.method].run(data, hypergraph, reweigh, unit.seed)
    seconds = time.perf_counter() - start
    found = agreement(data.classes, part.labels)
    return Record(
        part.ncut,
        part.lower_bound,
        float(part.eigenvalues[1]),
        sorted(found.f1.tolist(), reverse=True),
        found.weighted_f1,
        found.nmi,
        seconds,
    )


def default_folder() -> Path:
    """Where records are kept unless the user says otherwise: in the cache, one folder per version."""
    import pooch

    import hyperclus

    return Path(pooch.os_cache("hyperclus")) / f"reproduction-{hyperclus.__version__}"


@dataclass(frozen=True, slots=True)
class Store:
    """Finished records in a folder, one file each, written whole or not at all."""

    folder: Path

    def read(self, unit: Unit) -> Record | None:
        """The record of a unit, or None where it is not there or not whole."""
        try:
            return Record(**json.loads(self._path(unit).read_text()))
        except (OSError, ValueError, TypeError):
            return None

    def check(self) -> None:
        """Raise an `InputError` unless the folder is there, or can be made, and can be written to."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.folder):
                pass
        except OSError as error:
            reason = error.strerror or error
            raise InputError(
                f"measurements cannot be kept in {self.folder}: {reason}; choose another folder"
            ) from None

    def write(self, unit: Unit, record: Record) -> None:
        """Keep a record."""
        path = self._path(unit)
        temporary = path.with_suffix(".new")
        temporary.write_text(json.dumps(asdict(record)))
        temporary.replace(path)

    def clear(self, units: Iterable[Unit]) -> None:
        """Forget the records of some units."""
        for unit in units:
            self._path(unit).unlink(missing_ok=True)

    def _path(self, unit: Unit) -> Path:
        name = "".join(
            c if c.isalnum() else "-"
            for c in f"{unit.dataset} {unit.method} {unit.weights} {unit.seed}".lower()
        )
        return self.folder / f"{name}.json"
