"""The colours and marks of clusters, the same on the page, in plots and on terminals.

Cluster c has colour c % 10 and shape c // 10 % 3, so 30 clusters look different; numbers or names are always
beside them. `tests/report/test_colours.py` measures the distances between the colours, also as seen by
colour-blind people, and their contrast.
"""

from collections.abc import Iterable

# Blue, terracotta, teal, purple, olive, sky, violet, red, green, pink; the dark ones in the same order.
LIGHT = (
    *("#3563de", "#c2755a", "#256b5b", "#7e0f7a", "#7e7721"),
    *("#1a8fcf", "#6337af", "#a5092a", "#095717", "#ba2a7e"),
)  # on a light background
DARK = (
    *("#6482f5", "#fc871e", "#12c281", "#b357ad", "#ece367"),
    *("#a8e1fd", "#a3a9f9", "#d23f18", "#3d865a", "#eaa7c0"),
)  # on a dark background
NONE_LIGHT, NONE_DARK = "#7d828b", "#8f96a0"  # of what is in no cluster

SHAPES = ("circle", "square", "triangle-up")  # as Vega calls them
MARKERS = ("o", "s", "^")  # as Matplotlib calls them
SIGNS = "\u25cf\u25a0\u25b2"  # in text
BADGES = (  # CSS of the badge: rounded corners, and what is cut off
    ("50%", "none"),
    ("2px", "none"),
    ("0", "polygon(50% 4%, 100% 96%, 0 96%)"),
)
DISTINCT = len(LIGHT) * len(SHAPES)


def colour(cluster: int, *, dark: bool = False) -> str:
    """The colour of a cluster, on a light or a dark background; grey for -1, no cluster.

    >>> colour(3) == colour(13) != colour(4), colour(-1)
    (True, '#7d828b')
    """
    if cluster < 0:
        return NONE_DARK if dark else NONE_LIGHT
    return (DARK if dark else LIGHT)[cluster % len(LIGHT)]


def shape(cluster: int) -> int:
    """The position of the mark of a cluster in `SHAPES`, `MARKERS` and `SIGNS`.

    >>> [SIGNS[shape(cluster)] for cluster in (0, 9, 10, 20, 30)]
    ['●', '●', '■', '▲', '●']
    """
    return cluster // len(LIGHT) % len(SHAPES)


def is_dark(red: float, green: float, blue: float) -> bool:
    """Whether a background is dark, by its luminance; the channels are from 0 to 1.

    >>> is_dark(1, 1, 1), is_dark(0.1, 0.1, 0.1)
    (False, True)
    """
    luminance: float = 0.2126 * red**2.2 + 0.7152 * green**2.2 + 0.0722 * blue**2.2
    return luminance < 0.18


def style() -> str:
    """CSS: variables `--c0` to `--c9` and `--none` for both themes, and classes `c0` to `c29`.

    A class sets `--colour`, and `--corner` and `--clip` for the shape of a badge.
    """
    light, dark = _variables(LIGHT, NONE_LIGHT), _variables(DARK, NONE_DARK)
    classes = (
        f".c{cluster} {{ --colour: var(--c{cluster % len(LIGHT)}); --corner: {corner}; --clip: {clip} }}"
        for cluster in range(DISTINCT)
        for corner, clip in [BADGES[shape(cluster)]]
    )
    system = "@media screen and (prefers-color-scheme: dark)"
    lines = (
        f":root {{ {light} }}",
        f'@media screen {{ :root[data-theme="dark"] {{ {dark} }} }}',
        f'{system} {{ :root:not([data-theme="light"]) {{ {dark} }} }}',
        *classes,
    )
    return "\n".join(lines) + "\n"


def _variables(colours: Iterable[str], none: str) -> str:
    values = (f"--c{number}: {value};" for number, value in enumerate(colours))
    return " ".join((*values, f"--none: {none};"))
