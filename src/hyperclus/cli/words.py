"""The library speaks of arguments in Python; a shell is told of options."""

import re

PHRASES = {
    "ids='text' to write": "-w ids=text to write",
    "compressed=True": "-w compressed=true",
    'format="rows"': "--from rows",
    "give format=": "give --from",
    "tells the format; give the format": "tells the format; give --from",
    "or give the format": "or give --to",
    "with vertex, edge and weight": "with --vertex, --edge and --weight",
    "keep the ids and pass them to read_long": "write .npz or .json to keep all",
    "use read_hif_document to keep it": "only HIF to HIF keeps it",
    "name them one by one": "give the option once for each",
    "; leave it out, or take it for the vertex ids": "; leave it out with --exclude, or take it for --id",
    "joins next to nothing; leave it out": "joins next to nothing; leave it out with --exclude",
    "correct it, or leave the column out of bins": "correct it, or leave the column out of --bins",
    "correct it or leave the column out": "correct it, or leave the column out with --exclude",
    "leave them out to have the rows": "leave --id out to have the rows",
    "raise the tolerance": "raise --tolerance",
}
OPTIONS = (
    *("alpha", "bound", "delimiter", "duplicates", "effort", "engine", "max_k", "max_size", "max_volume"),
    *("memory", "method", "min_share", "precision", "restart", "shuffles", "tolerance", "workers"),
)
READING = ("constant", "decimal", "empty_edges", "ids", "isolated", "missing", "repeated")  # for -o
ALONE = ("max_k", "max_size", "max_volume", "min_share")  # no words of English

_NAMES = "|".join((*OPTIONS, *READING))
_START, _END = r"(?<!['\"/\w-])(?<!-w )", r"(?![\w/'\"])"  # nothing within quotes or in the name of a file
_GIVEN = re.compile(rf"{_START}({_NAMES})=(?:'([a-z]+[0-9]*)'|('[^']+')|(\w+)){_END}")
_WRONG = re.compile(rf"{_START}({_NAMES}) (must be|is a setting)")
_ALONE = re.compile(rf"{_START}({'|'.join(ALONE)}){_END}( =)?")


def in_shell(message: str) -> str:
    """A sentence of the library with its arguments as options of the command line.

    >>> in_shell("pass duplicates='sum' to merge them, or say missing=drop")
    'give --duplicates sum to merge them, or say -o missing=drop'
    """
    for old, new in PHRASES.items():
        message = message.replace(old, new)
    message = re.sub(r"ask for at most k = ([0-9]+) clusters", r"give at most -k \1", message)
    message = _GIVEN.sub(lambda found: _option(found[1], found[2] or found[3] or found[4]), message)
    message = _WRONG.sub(lambda found: f"{_option(found[1])} {found[2]}", message)
    message = _ALONE.sub(lambda found: _option(found[1]), message)
    return message.replace("pass -", "give -")


def _option(name: str, value: str = "") -> str:
    if name in READING:
        return f"-o {name}={value}" if value else f"-o {name}"
    return f"--{name.replace('_', '-')} {value}".rstrip()
