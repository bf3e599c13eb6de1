"""How ids, values, rows and columns are named in messages."""

import reprlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from hyperclus._runtime.arrays import python_scalar
from hyperclus.errors import InputError
from hyperclus.typing import Ids

UNCHANGED = ("data", "news", "series", "species")  # the same in the plural
_short = reprlib.Repr()
_short.maxstring = _short.maxother = _short.maxlong = 60


def shown(value: Any) -> str:
    """Return the repr of a value, shortened and on one line."""
    if type(value) is str and len(value) <= 60 and len(text := repr(value)) <= 60:  # as below, but faster
        return text
    try:
        text = _short.repr(python_scalar(value))
    except ValueError:  # it contains an integer of thousands of digits
        text = f"<{type(value).__name__}>"
    text = " ".join(text.split()) if "\n" in text else text
    return text if len(text) <= 120 else text[:117] + "..."


def count(number: int, one: str, many: str | None = None) -> str:
    """Format a number of things.

    >>> count(1, "vertex", "vertices"), count(2000, "cluster")
    ('1 vertex', '2,000 clusters')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def plural(noun: str) -> str:
    """Form the plural of an English noun.

    >>> [plural(noun) for noun in ("vertex", "item", "category", "box", "day")]
    ['vertices', 'items', 'categories', 'boxes', 'days']
    """
    if noun == "vertex":
        return "vertices"
    if noun in UNCHANGED:
        return noun
    if noun.endswith("y") and noun[-2:-1].lower() not in (*"aeiou", ""):
        return f"{noun[:-1]}ies"
    return noun + ("es" if noun.endswith(("s", "x", "ch", "sh")) else "s")


def with_article(noun: str) -> str:
    """Put "a" or "an" before a noun.

    >>> with_article("vertex"), with_article("item"), with_article("user")
    ('a vertex', 'an item', 'a user')
    """
    first = noun[:1].lower()
    return f"{'an' if first in 'aeio' or noun[:2].lower() in ('un', 'up') else 'a'} {noun}"


@dataclass(frozen=True, slots=True)
class Nouns:
    """What a vertex and a hyperedge are, in the words of the data: the names of the columns of a long table.

    >>> nouns = Nouns("customer_id", "item")
    >>> nouns.count_vertices(3), nouns.hyperedges
    ('3 customers', 'items')
    """

    vertex: str = "vertex"
    edge: str = "edge"

    def __post_init__(self) -> None:
        for name, value in (("vertex", self.vertex), ("edge", self.edge)):
            if not (isinstance(value, str) and value.strip()):
                raise InputError(f"the noun for a {name} must be text; got {shown(value)}")

    @classmethod
    def of_columns(cls, vertex: Any, edge: Any) -> "Nouns":
        """The names of two columns; the usual word for one that is not a word."""
        words = (vertex, edge)
        usable = [isinstance(word, str) and word.replace("_", " ").strip()[:1].isalnum() for word in words]
        return cls(vertex if usable[0] else "vertex", edge if usable[1] else "edge")

    @property
    def a_vertex(self) -> str:
        """One vertex, as "customer" for a column customer_id."""
        return _noun(self.vertex)

    @property
    def a_hyperedge(self) -> str:
        """One hyperedge."""
        return "hyperedge" if (noun := _noun(self.edge)) == "edge" else noun

    @property
    def vertices(self) -> str:
        """Several vertices."""
        return plural(self.a_vertex)

    @property
    def hyperedges(self) -> str:
        """Several hyperedges."""
        return plural(self.a_hyperedge)

    def count_vertices(self, number: int) -> str:
        """Format a number of vertices."""
        return count(number, self.a_vertex, self.vertices)

    def count_hyperedges(self, number: int) -> str:
        """Format a number of hyperedges."""
        return count(number, self.a_hyperedge, self.hyperedges)


USUAL = Nouns()
SAYS_NOTHING = ("id", "index", "key", "label", "name", "no", "nr", "number", "row", "title", "uid", "uuid")


def noun_of_ids(column: str) -> str | None:
    """The noun for the vertices of a table, given the name of the column of their ids; None if it is none.

    >>> noun_of_ids("respondent"), noun_of_ids("customer_id"), noun_of_ids("Name")
    ('respondent', 'customer_id', None)
    """
    return None if column.strip().lower() in SAYS_NOTHING else Nouns.of_columns(column, None).vertex


def _noun(name: str) -> str:
    """A noun in the singular for the name of a column.

    >>> [_noun(name) for name in ("customer_id", "authors", "categories", "class", "species", "ITEM")]
    ['customer', 'author', 'category', 'class', 'species', 'item']
    """
    words = name.replace("_", " ").split()
    if len(words) > 1 and words[-1].lower() == "id":
        words.pop()
    noun = " ".join(words)
    if noun.isupper() or noun.lower() in ("vertex", "edge"):
        noun = noun.lower()
    if noun in UNCHANGED or not noun.endswith("s") or noun.endswith(("ss", "us", "is")) or len(noun) < 4:
        return noun
    return f"{noun[:-3]}y" if noun.endswith("ies") else noun[:-1]


def first_few(values: Any, limit: int = 3, show: Callable[[Any], str] = shown) -> str:
    """List the first few values of a sequence and say how many more there are."""
    more = f" and {len(values) - limit:,} more" if len(values) > limit else ""
    return ", ".join(map(show, values[:limit])) + more


def named(ids: Ids, chosen: NDArray[Any]) -> str:
    """List the first few of the ids that a mask or positions choose."""
    return first_few(ids[chosen])


def no_column(name: Any, names: Iterable[Any]) -> str:
    """Say that a table has no such column, and which columns it has."""
    return f"the table has no column {shown(name)}; its columns are {first_few(list(names), 10) or 'none'}"


def row_of(column: Any) -> Callable[[int], str]:
    """Return a function that names a row of a column."""
    return lambda row: f"row {row}, column {shown(column)}"


def caption(value: Any) -> str:
    """Return an id as people write it: text as it is, a hyperedge of a table as "column = value".

    >>> caption(("odor", "n")), caption("ann"), caption(7)
    ('odor = n', 'ann', '7')
    """
    if isinstance(value, tuple):
        return (" = " if len(value) == 2 else ", ").join(map(caption, value))
    return str(value)
