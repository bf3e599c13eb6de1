"""Measurements: a method on a data set with one weighting, saved so that runs can resume."""

import re
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

import hyperclus
from hyperclus._runtime.files import writing
from hyperclus.clustering.metrics import agreement
from hyperclus.datasets.download import cache_folder
from hyperclus.errors import InputError
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.hypergraph.weighting import class_counts, unit_weights
from hyperclus.research.datasets import Dataset
from hyperclus.research.paper.methods import METHODS
from hyperclus.typing import Integers

Weights = Literal["edvw", "eivw"]


@dataclass(frozen=True, slots=True)
class Unit:
    """A measurement to make: method, data set, weights and seed."""

    dataset: str
    method: str
    weights: Weights
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Record:
    """The result of a measurement."""

    ncut: float
    lower_bound: float
    second_eigenvalue: float
    f1: list[float]  # of each class with its matched cluster, descending
    weighted_f1: float
    nmi: float
    seconds: float  # from the table of features to the scored clusters


def measure(data: Dataset, unit: Unit) -> Record:
    """Run one method on one data set, from the table to the score."""
    start = time.perf_counter()
    members = Hypergraph.from_table(data.table, bins=None)
    hypergraph = class_counts(members, data.classes) if unit.weights == "edvw" else members

    def reweigh(sub: Hypergraph, vertices: Integers) -> Hypergraph | None:
        counted = data.reweigh(sub, vertices)
        return counted if counted is None or unit.weights == "edvw" else unit_weights(counted)

    part = METHODS[unit.method].run(data, hypergraph, reweigh, unit.seed)
    seconds = time.perf_counter() - start
    found = agreement(data.classes, part.labels)
    return Record(
        part.ncut,
        part.lower_bound,
        float(part.eigenvalues[1]),
        sorted(found.f1_by_class.tolist(), reverse=True),
        found.f1,
        found.nmi,
        seconds,
    )


def default_folder() -> Path:
    """The default folder of records: in the user's cache, one per version of hyperclus."""
    return cache_folder() / f"reproduction-{hyperclus.__version__}"


@dataclass(frozen=True, slots=True)
class Store:
    """Finished records in a folder, one file each."""

    folder: Path

    def read(self, unit: Unit) -> Record | None:
        """The record of a unit; None if it is missing or damaged."""
        try:
            return msgspec.json.decode(self._path(unit).read_bytes(), type=Record)
        except (OSError, msgspec.DecodeError):
            return None

    def check(self) -> None:
        """Raise an `InputError` unless the folder exists or can be created, and can be written to."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.folder):
                pass
        except OSError as error:
            reason = f"{error.strerror or error}; choose another folder"
            raise InputError(f"measurements cannot be saved in {self.folder}: {reason}") from None

    def write(self, unit: Unit, record: Record) -> None:
        """Save a record atomically."""
        with writing(self._path(unit)) as file:
            file.write(msgspec.json.encode(record))

    def clear(self, units: Iterable[Unit]) -> None:
        """Delete the records of some units."""
        for unit in units:
            self._path(unit).unlink(missing_ok=True)

    def _path(self, unit: Unit) -> Path:
        name = f"{unit.dataset} {unit.method} {unit.weights} {unit.seed}".lower()
        return self.folder / f"{re.sub('[^a-z0-9]', '-', name)}.json"
