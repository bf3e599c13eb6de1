"""Ids as text: in messages, in tables of results, and in files of classes."""

import re
from collections import Counter

from hyperclus.hypergraph.messages import caption
from hyperclus.typing import Ids

# Text that a spreadsheet would run when it opens CSV; not negative numbers. An apostrophe before it prevents
# that. Text that begins with apostrophes gets one more, so that `inputs.read_labels` can restore it.
FORMULA = re.compile(r"'*([=@\t\r\n]|[+-](?![0-9]*\.?[0-9]+\Z))")


def texts(ids: Ids) -> list[str]:
    """Ids as they are written in text."""
    return list(map(caption, ids.tolist()))


def first_repeated(names: list[str]) -> str | None:
    """The first name that is there more than once."""
    return next((name for name, number in Counter(names).items() if number > 1), None)
