"""Documents in a column of a table: vertices are documents, hyperedges are words."""

from typing import Any, Literal, TypeAlias, TypedDict, Unpack, get_args

import numpy as np

from hyperclus._runtime.files import StrPath
from hyperclus._runtime.optional import arrow, library
from hyperclus.errors import Argument, InputError, check_choice
from hyperclus.hypergraph.hypergraph import Hypergraph
from hyperclus.hypergraph.messages import shown
from hyperclus.io.shared import naming
from hyperclus.io.tables import open_table
from hyperclus.io.tables.table import Table
from hyperclus.io.tables.wide import row_names, unique_ids
from hyperclus.typing import AbsencePolicy

WordWeights: TypeAlias = Literal["tfidf", "counts", "ones"]

LETTERS = r"[^\W\d_]{3,}"  # a word: three or more letters of any alphabet


class Words(TypedDict, total=False):
    """Which words are hyperedges, and with which weights; see `read_text`."""

    word_weights: WordWeights
    stop_words: Any
    min_df: float
    max_df: float


def read_text(
    path: StrPath,
    *,
    text: str,
    vertex: str | None = None,
    missing: Literal["error", "drop"] = "error",
    isolated: AbsencePolicy = "keep",
    delimiter: str | None = None,
    sheet: str | None = None,
    **words: Unpack[Words],
) -> Hypergraph:
    r"""Read documents from a column of a table: vertices are documents, hyperedges are their words.

    Needs scikit-learn, whose `TfidfVectorizer` finds the words: three or more letters, in lower case.
    docs/how_to/text.md compares the weights; with tf-idf, cluster with alpha = 1.

    Parameters
    ----------
    path : file name
        A table as in `read_rows`.
    text : column name
    vertex : column name, optional
        The column of ids of the documents; by default the rows are numbered 0, 1, ...
    missing : {"error", "drop"}
        Whether a missing text is an error, or a document without words.
    word_weights : {"tfidf", "counts", "ones"}
        gamma of a document in a word: tf-idf with rows of length 1 (the default), the number of
        occurrences, or 1.
    stop_words : "english", list of str, or None
        Words to leave out; English ones by default.
    min_df, max_df : number
        Words in fewer documents than `min_df` (default: 3) or in more than `max_df` (default: half) are left
        out; an int counts documents, a float is a share of them.
    isolated
        As in `Hypergraph.from_incidence`, for documents without any word that is left.
    delimiter, sheet
        As in `read_rows`.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "notes.csv")
    >>> _ = path.write_text("note\nred apples\ngreen apples\ngreen tea\n")
    >>> read_text(path, text="note", min_df=2, max_df=1.0).edge_ids.tolist()
    ['apples', 'green']
    """
    check_choice("missing", missing, ("error", "drop"))
    table = open_table(path, delimiter=delimiter, sheet=sheet)
    texts = _texts(table, table.column(text), missing == "drop")
    vertex = row_names(table) if vertex is None else table.column(vertex)
    names = None if vertex is None else unique_ids(table, vertex, guess=True)
    with naming(path):
        counts, vocabulary = _vectorized(texts, **words)
        return Hypergraph.from_incidence(counts, vertex_ids=names, edge_ids=vocabulary, isolated=isolated)


def _texts(table: Table, column: str, drop: bool) -> list[str]:
    """Read a column of text; a missing value is an `InputError` or no text."""
    pa, texts = arrow(), list[str]()
    for row, (values,) in table.numbered_batches([column]):
        if pa.types.is_dictionary(values.type):
            values = values.cast(values.type.value_type)
        if not (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)):
            problem = f"column {shown(column)} holds {values.type}, not text"
            raise table.fault(f"{problem}; name another column", row)
        if values.null_count and not drop:
            first = int(np.argmax(values.is_null().to_numpy(zero_copy_only=False)))
            message = f"column {shown(column)}: the text is missing; fill it, or use "
            raise table.fault(InputError(message, Argument("missing", "drop")), row + first)
        texts += values.fill_null("").to_pylist()
    return texts


def _vectorized(
    texts: list[str],
    word_weights: WordWeights = "tfidf",
    stop_words: Any = "english",
    min_df: float = 3,
    max_df: float = 0.5,
) -> tuple[Any, list[str]]:
    """Return the weights of documents (rows) in words (columns), and the words."""
    _, weights, vocabulary = _fitted(texts, word_weights, stop_words, min_df, max_df)
    return weights, vocabulary


def fitted_words(texts: list[str], min_df: float = 3, max_df: float = 0.5) -> tuple[Any, list[str]]:
    """Return a vectorizer that gives texts the tf-idf of their words, and the words."""
    vectorizer, _, vocabulary = _fitted(texts, "tfidf", "english", min_df, max_df)
    return vectorizer, vocabulary


def _fitted(
    texts: list[str], word_weights: WordWeights, stop_words: Any, min_df: float, max_df: float
) -> tuple[Any, Any, list[str]]:
    """Return a fitted vectorizer, the weights of the texts in the words, and the words."""
    check_choice("word_weights", word_weights, get_args(WordWeights))
    module = library("sklearn.feature_extraction.text", "scikit-learn", Argument("text"), "sklearn")
    vectorizer = module.TfidfVectorizer if word_weights == "tfidf" else module.CountVectorizer
    dtype = {} if word_weights == "tfidf" else {"dtype": np.float64}
    settings = {"stop_words": stop_words, "min_df": min_df, "max_df": max_df, "token_pattern": LETTERS}
    words = vectorizer(**settings, **dtype, **({"binary": True} if word_weights == "ones" else {}))
    try:
        weights = words.fit_transform(texts)
    except (ValueError, TypeError) as error:  # no word is left, or an argument is invalid
        reason = " ".join(str(error).split())[:150]
        why = f"no word can be used ({reason}); a word has three letters or more, and no digits; change "
        raise InputError(why, Argument("min_df"), " or ", Argument("max_df")) from None
    return words, weights, words.get_feature_names_out().tolist()
