"""Read and write files, and convert between `Hypergraph` and other libraries.

`read` and `write` choose the format by the name of the file. Their options are those of the format's own
functions, such as `read_long` for tables with a row per incidence (CSV, TSV, Parquet), `read_rows` for tables
with a row per vertex, and `read_hif`. `to_xgi`, `from_xgi` and so on convert. docs/files.md and
docs/other_libraries.md say what each format and library can hold.

All readers unpack gzipped text, and raise an `InputError` that names the file and the line. All writers are
atomic, gzip text if the name ends with .gz, and issue a `LossWarning` that names what the format cannot hold.
"""

from hyperclus.io.convert import (
    from_hypergraphx,
    from_hypernetx,
    from_networkx,
    from_sknetwork,
    from_xgi,
    to_hypergraphx,
    to_hypernetx,
    to_networkx,
    to_sknetwork,
    to_xgi,
)
from hyperclus.io.formats import FORMATS, Format, guess, read, write
from hyperclus.io.hif import HIF, read_hif, read_hif_document, write_hif, write_hif_document
from hyperclus.io.npz import read_npz, write_npz
from hyperclus.io.numeric_text import read_hmetis, read_matrix_market, write_hmetis, write_matrix_market
from hyperclus.io.tables.long import read_long, write_long
from hyperclus.io.tables.wide import read_rows

__all__ = [
    "FORMATS",
    "HIF",
    "Format",
    "from_hypergraphx",
    "from_hypernetx",
    "from_networkx",
    "from_sknetwork",
    "from_xgi",
    "guess",
    "read",
    "read_hif",
    "read_hif_document",
    "read_hmetis",
    "read_long",
    "read_matrix_market",
    "read_npz",
    "read_rows",
    "to_hypergraphx",
    "to_hypernetx",
    "to_networkx",
    "to_sknetwork",
    "to_xgi",
    "write",
    "write_hif",
    "write_hif_document",
    "write_hmetis",
    "write_long",
    "write_matrix_market",
    "write_npz",
]
