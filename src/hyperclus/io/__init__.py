"""Read and write files, and convert between `Hypergraph` and other libraries.

`read` and `write` choose the format by the name of the file. Their options are those of the format's own
functions, such as `read_long` for tables with a row per incidence (CSV, TSV, Parquet, JSON, Excel),
`read_rows` for tables with a row per vertex, and `read_hif`. `to_xgi`, `from_xgi` and so on convert.
docs/reference/files.md and docs/how_to/other_libraries.md say what each format and library can hold.

All readers unpack compressed text, and raise an `InputError` that names the file and the line. All writers
are atomic, gzip text if the name ends with .gz, and issue a `LossWarning` that names what the format cannot
hold.
"""

from typing import TYPE_CHECKING

from hyperclus._runtime.lazy import lazy_names

if TYPE_CHECKING:
    from hyperclus.io.anything import as_hypergraph as as_hypergraph
    from hyperclus.io.attributes import as_attributes as as_attributes
    from hyperclus.io.convert import from_hypergraphx as from_hypergraphx
    from hyperclus.io.convert import from_hypernetx as from_hypernetx
    from hyperclus.io.convert import from_networkx as from_networkx
    from hyperclus.io.convert import from_sknetwork as from_sknetwork
    from hyperclus.io.convert import from_xgi as from_xgi
    from hyperclus.io.convert import to_hypergraphx as to_hypergraphx
    from hyperclus.io.convert import to_hypernetx as to_hypernetx
    from hyperclus.io.convert import to_networkx as to_networkx
    from hyperclus.io.convert import to_sknetwork as to_sknetwork
    from hyperclus.io.convert import to_xgi as to_xgi
    from hyperclus.io.formats import FORMATS as FORMATS
    from hyperclus.io.formats import Format as Format
    from hyperclus.io.formats import guess as guess
    from hyperclus.io.formats import read as read
    from hyperclus.io.formats import write as write
    from hyperclus.io.hif import HIF as HIF
    from hyperclus.io.hif import read_hif as read_hif
    from hyperclus.io.hif import read_hif_document as read_hif_document
    from hyperclus.io.hif import write_hif as write_hif
    from hyperclus.io.hif import write_hif_document as write_hif_document
    from hyperclus.io.json_edges import read_json as read_json
    from hyperclus.io.lines import read_lines as read_lines
    from hyperclus.io.npz import read_npz as read_npz
    from hyperclus.io.npz import write_npz as write_npz
    from hyperclus.io.numeric_text import read_hmetis as read_hmetis
    from hyperclus.io.numeric_text import read_matrix_market as read_matrix_market
    from hyperclus.io.numeric_text import write_hmetis as write_hmetis
    from hyperclus.io.numeric_text import write_matrix_market as write_matrix_market
    from hyperclus.io.tables.long import read_long as read_long
    from hyperclus.io.tables.long_writer import write_long as write_long
    from hyperclus.io.tables.text import read_text as read_text
    from hyperclus.io.tables.wide import read_rows as read_rows

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "anything": ("as_hypergraph",),
        "attributes": ("as_attributes",),
        "convert": (
            "from_hypergraphx",
            "from_hypernetx",
            "from_networkx",
            "from_sknetwork",
            "from_xgi",
            "to_hypergraphx",
            "to_hypernetx",
            "to_networkx",
            "to_sknetwork",
            "to_xgi",
        ),
        "formats": ("FORMATS", "Format", "guess", "read", "write"),
        "hif": ("HIF", "read_hif", "read_hif_document", "write_hif", "write_hif_document"),
        "json_edges": ("read_json",),
        "lines": ("read_lines",),
        "npz": ("read_npz", "write_npz"),
        "numeric_text": ("read_hmetis", "read_matrix_market", "write_hmetis", "write_matrix_market"),
        "tables.long": ("read_long",),
        "tables.long_writer": ("write_long",),
        "tables.text": ("read_text",),
        "tables.wide": ("read_rows",),
    },
)
