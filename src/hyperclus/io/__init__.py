"""Files and other libraries to and from `Hypergraph`.

`read` and `write` choose the format by the name of the file; the options they pass on are those of
`read_long` and `write_long` (CSV, TSV, Parquet), `read_rows` (the same files with a row per vertex),
`read_hif` and so on. `to_xgi`, `from_xgi` and their like convert from one library to another.
docs/files.md and docs/other_libraries.md say what survives.
"""

from hyperclus.io.convert import (
    from_dhg,
    from_hypergraphx,
    from_hypernetx,
    from_networkx,
    from_sknetwork,
    from_xgi,
    to_dhg,
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
    "from_dhg",
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
    "to_dhg",
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
