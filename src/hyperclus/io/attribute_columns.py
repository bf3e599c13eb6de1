"""Columns of a table of attributes as numbers, and how new rows become the same numbers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from hyperclus.errors import InputError
from hyperclus.hypergraph import tables
from hyperclus.hypergraph.ids import as_integers_or_list, known_positions, object_array
from hyperclus.hypergraph.messages import shown
from hyperclus.typing import Booleans, Codes, Floats, Ids

WORDS = 3  # in a value, on average, from which a column is text
DISTINCT = 0.5  # share of different values from which it is


class Encoder(Protocol):
    """How one column becomes numbers."""

    @property
    def names(self) -> list[Any]:
        """The name of each column of numbers."""

    def encoded(self, columns: Mapping[Any, Any]) -> tuple[Any, Booleans]:
        """The numbers of a table with this column, and which rows have a value; the others are 0."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """(x - centre) / scale, so that the known rows have mean 0 and standard deviation 1."""

    name: Any
    centre: float
    scale: float

    @property
    def names(self) -> list[Any]:
        """The column itself."""
        return [self.name]

    def encoded(self, columns: Mapping[Any, Any]) -> tuple[Floats, Booleans]:
        """A missing number becomes 0, which is the mean."""
        numbers = _numbers(columns, self.name)
        if numbers is None:
            raise InputError(f"column {shown(self.name)} held numbers before; give numbers")
        known = ~np.isnan(numbers)
        return np.where(known, (numbers - self.centre) / self.scale, 0.0)[:, None], known


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """1 for the value that a row has, 0 for the others; a value that is new has no 1."""

    name: Any
    values: Ids

    @property
    def names(self) -> list[Any]:
        """The pairs (column, value)."""
        return [(self.name, value) for value in self.values.tolist()]

    def encoded(self, columns: Mapping[Any, Any]) -> tuple[sp.csr_array, Booleans]:
        """A sparse block of 0 and 1."""
        codes, found = tables.pick_codes(columns, self.name)
        places = known_positions(as_integers_or_list(found, "values"), self.values, "value")
        places = np.append(places, -1)[codes]
        rows = np.flatnonzero(places >= 0)
        ones = np.ones(len(rows)), (rows, places[rows])
        return sp.csr_array(ones, shape=(len(codes), len(self.values))), codes >= 0


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """tf-idf of the words of a text."""

    name: Any
    vectorizer: Any
    vocabulary: tuple[str, ...]

    @property
    def names(self) -> list[Any]:
        """The pairs (column, word)."""
        return [(self.name, word) for word in self.vocabulary]

    def encoded(self, columns: Mapping[Any, Any]) -> tuple[sp.csr_array, Booleans]:
        """Rows of length 1, or 0 for a text without known words."""
        found = sp.csr_array(self.vectorizer.transform(_texts(columns, self.name)))
        return found, np.diff(found.indptr) > 0


def encoder_of(columns: Mapping[Any, Any], name: Any) -> Encoder | None:
    """How a column becomes numbers; None if all of its values are equal or missing."""
    numbers = _numbers(columns, name)
    if numbers is not None:
        centre, scale = (
            (float(f(numbers)) for f in (np.nanmean, np.nanstd)) if _varies(numbers) else (0.0, 0.0)
        )
        return Numbers(name, centre, scale) if scale > 0 else None
    codes, values = tables.pick_codes(columns, name)
    known = codes[codes >= 0]
    _refuse_infinite(name, codes, values)
    if len(values) > DISTINCT * len(known) and _is_text(values):
        from hyperclus.io.tables.text import fitted_words

        vectorizer, vocabulary = fitted_words(_texts(columns, name))
        return Words(name, vectorizer, tuple(vocabulary))
    if len(values) > max(DISTINCT * len(known), 10):
        raise InputError(
            f"column {shown(name)} has {len(values)} different values in {len(known)} rows, too many for "
            "categories; leave it out, or name it vertex if it holds the ids"
        )
    return Values(name, values) if len(values) > 1 else None


def _numbers(columns: Mapping[Any, Any], name: Any) -> Floats | None:
    """The numbers of a column, NaN if missing; None if they are something else."""
    numbers = tables.pick_numbers(columns, name)
    if numbers is not None and np.isinf(numbers).any():
        row = int(np.argmax(np.isinf(numbers)))
        raise InputError(f"row {row}, column {shown(name)}: the number is infinite; leave it empty")
    return numbers


def _refuse_infinite(name: Any, codes: Codes, values: Ids) -> None:
    """Refuse texts that are all numbers, some infinite: readers leave such a column as text."""
    try:
        infinite = np.isinf(np.array([float(value) for value in values.tolist() if isinstance(value, str)]))
    except ValueError:
        return
    if len(infinite) == len(values) and infinite.any():
        row = int(np.argmax(codes == np.argmax(infinite)))
        raise InputError(f"row {row}, column {shown(name)}: the number is infinite; leave it empty")


def _varies(numbers: Floats) -> bool:
    known = numbers[~np.isnan(numbers)]
    return bool(len(known) and np.ptp(known) > 0)


def _is_text(values: Ids) -> bool:
    """Whether values are texts of some words."""
    some = values[:1000].tolist()
    return all(isinstance(value, str) for value in some) and bool(
        np.mean([len(value.split()) for value in some]) >= WORDS
    )


def _texts(columns: Mapping[Any, Any], name: Any) -> list[str]:
    """The texts of a column; a missing one has no words."""
    codes, values = tables.pick_codes(columns, name)
    return [str(text) for text in np.append(values, object_array([""]))[codes].tolist()]
