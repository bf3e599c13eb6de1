"""Text with one hyperedge per line: its members, separated by a delimiter."""

import csv
import re
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from typing import Literal, Unpack, get_args

from hyperclus._runtime.files import StrPath, fault
from hyperclus._runtime.source import not_utf8, reading
from hyperclus.errors import Argument, InputError, check_choice
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.hypergraph.incidence import Policies, PolicyOptions
from hyperclus.hypergraph.messages import shown
from hyperclus.io.shared import are_integers, naming

DELIMITERS = ("\t", ";", "|", ",")  # in the order in which they are looked for


def read_lines(
    path: StrPath,
    *,
    delimiter: str | None = None,
    ids: Literal["guess", "text"] = "guess",
    **policies: Unpack[PolicyOptions],
) -> Hypergraph:
    r"""Read a text file with one hyperedge per line, such as baskets of goods; gamma is 1.

    The hyperedges are numbered 0, 1, ... Blanks around members are removed; a member may be quoted, as in
    CSV. Blank lines at the end do not count; others are hyperedges without members, see `empty_edges`.

    Parameters
    ----------
    path : file name
    delimiter : one character, optional
        What separates the members. By default the first of tab, semicolon, bar and comma that the file
        contains, and blanks if it has none of them. " " means any number of blanks.
    ids : {"guess", "text"}
        Whether members become integers if all of them look like integers.
    **policies
        `duplicates`, `isolated` and `empty_edges` as in `Hypergraph.from_incidence`.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "baskets.txt")
    >>> _ = path.write_text("milk, bread\nbread, butter, jam\n")
    >>> read_lines(path).vertex_ids.tolist()
    ['milk', 'bread', 'butter', 'jam']
    """
    check_choice("ids", ids, get_args(Literal["guess", "text"]))
    if delimiter is not None and not (isinstance(delimiter, str) and re.fullmatch(r'[^"\r\n\0]', delimiter)):
        message = f" must be one character, no quote or line end; got {shown(delimiter)}"
        raise InputError(Argument("delimiter"), message)
    with reading(path) as file:
        data = file.read()
    try:
        lines = re.split("\r\n|\r|\n", data.decode("utf-8-sig").rstrip("\r\n \t"))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise fault(path, not_utf8(f"byte {error.start}"), line) from None
    sign = delimiter or next((one for one in DELIMITERS if any(one in line for line in lines)), " ")
    chosen = Policies(**policies)
    edges = list(_members(path, lines, sign))
    for number, members in enumerate(edges):
        _check_line(path, number, members, chosen)
    if ids == "guess" and are_integers(chain.from_iterable(edges)):
        with naming(path):
            return Hypergraph.from_edges([list(map(int, members)) for members in edges], **policies)
    with naming(path):
        return Hypergraph.from_edges(edges, **policies)


def _members(path: StrPath, lines: list[str], sign: str) -> Iterator[list[str]]:
    """Split the lines into members."""
    for number, line in enumerate(lines, 1):
        if '"' in line:
            text = line.replace("\t", " ") if sign == " " else line
            try:
                (fields,) = csv.reader([text], delimiter=sign, strict=True, skipinitialspace=True)
            except csv.Error as error:
                raise fault(path, f"{error}; look for a quote that is not closed", number) from None
        else:
            fields = line.split(None if sign == " " else sign)
        members = [field.strip() for field in fields]
        while members and not members[-1]:  # spreadsheets fill short rows with empty cells
            members.pop()
        if "" in members:
            raise fault(path, f"a member between two {shown(sign)} is missing; correct the line", number)
        yield members


def _check_line(path: StrPath, number: int, members: list[str], policies: Policies) -> None:
    """Name the line of what the policies refuse."""
    if not members and policies.empty_edges == "error":
        drop = Argument("empty_edges", "drop")
        message = "the line is blank, a hyperedge without members; remove it, or use "
        raise fault(path, InputError(message, drop), number + 1)
    if policies.duplicates == "error" and len(set(members)) < len(members):
        again = next(one for one, number in Counter(members).items() if number > 1)
        ways = (Argument("duplicates", "sum"), " or ", Argument("duplicates", "max"))
        message = f"the member {shown(again)} is repeated; remove it, or use "
        raise fault(path, InputError(message, *ways), number + 1)
