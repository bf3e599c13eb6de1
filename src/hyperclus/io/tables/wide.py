"""Tables in files with a row per vertex: CSV and TSV, gzipped or not, and Parquet."""

from collections.abc import Sequence
from typing import Literal, NoReturn

from hyperclus._runtime.files import StrPath, fault
from hyperclus.hypergraph.binning import BinsByColumn
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.io.tables.files import Decimal
from hyperclus.io.tables.long import IdPolicy
from hyperclus.io.tables.schema import USUAL, RepeatPolicy, survey
from hyperclus.typing import AbsencePolicy, MissingPolicy


def read_rows(
    path: StrPath,
    *,
    vertex: str | None = None,
    features: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    bins: BinsByColumn | Literal[False] = USUAL,
    missing: MissingPolicy = "error",
    constant: AbsencePolicy = "drop",
    isolated: AbsencePolicy = "error",
    delimiter: str | None = None,
    decimal: Decimal | None = None,
    ids: IdPolicy = "guess",
    repeated: RepeatPolicy = "error",
) -> Hypergraph:
    r"""From a file with a row per vertex, as `Hypergraph.from_table` makes it from a table in memory.

    Text has no numbers, so they are told: a column holds numbers when every field is one (3, -0.5, 1e6; 007
    is a name), is empty, or is NA, N/A, NaN, null, None or ?, which count as missing there and as
    values in other columns. A column stays text with a number beyond floats (1e999), or with a whole one from
    2^53 on, unless all are 64-bit integers.

    Parameters
    ----------
    path : file name
        .csv, .tsv (also gzipped) or .parquet, else what the content tells. The first line of text names the
        columns.
    vertex : column name, optional
        The column of vertex ids. By default a first column without a name, which is how pandas and R write
        row names; else rows are numbered 0, 1, ...
    features, exclude : column names, optional
        As in `Hypergraph.from_table`: the columns to use, or those not to use.
    bins : int, rule, Bins, mapping of column name to these, or False
        For columns with more than 10 different numbers, so that near numbers share a hyperedge: 5 (the
        default) means five of equal width, see `Bins`. A mapping is for the columns it names, however few
        numbers they have, and the others have five. False: every number is a hyperedge.
    missing, constant, isolated
        As in `Hypergraph.from_table`.
    delimiter : one character, optional
        Of text, as in `read_long`.
    decimal : {".", ","}, optional
        Of numbers in text. By default a point; or, where no comma parts the columns, a comma in a column of
        which every field is a number then.
    ids : {"guess", "text"}
        Whether vertex ids that look like integers become integers, as in `read_long`.
    repeated : {"error", "number"}
        What to do with a vertex id that comes back: refuse it, or put a number behind it, as in "frog (2)".

    Raises
    ------
    InputError
        Naming the file, the line (in Parquet the row, from 0) and the remedy: for all that `read_long`
        refuses in a file, and all that `Hypergraph.from_table` refuses in a table.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "animals.csv")
    >>> _ = path.write_text("name,legs,class\nfrog,4,a\nhen,2,b\nowl,2,b\n")
    >>> h = read_rows(path, vertex="name", exclude=["class"])
    >>> h.vertex_ids.tolist(), h.edge_ids.tolist()
    (['frog', 'hen', 'owl'], [('legs', 4), ('legs', 2)])
    """
    return (
        survey(
            path,
            vertex=vertex,
            features=features,
            exclude=exclude,
            bins=bins,
            missing=missing,
            constant=constant,
            isolated=isolated,
            delimiter=delimiter,
            decimal=decimal,
            ids=ids,
            repeated=repeated,
        )
        .rows()
        .hypergraph
    )


def write_rows(hypergraph: Hypergraph, path: StrPath) -> NoReturn:
    """Refuse to write: a hypergraph need not be a table with one value per vertex and column."""
    raise fault(path, "a table with a row per vertex can be read, not written; choose another format")
