"""Rules that turn UCI's files into the paper's tables: which rows, which columns, which bins."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hyperclus._runtime.arrays import read_only
from hyperclus.datasets.registry import SOURCES, Source
from hyperclus.hypergraph.binning import paper_bins
from hyperclus.typing import Ids

Table: TypeAlias = dict[str, NDArray[Any]]

_MUSHROOM = (
    "cap-shape,cap-surface,cap-color,bruises,odor,gill-attachment,gill-spacing,gill-size,gill-color,"
    "stalk-shape,stalk-root,stalk-surface-above-ring,stalk-surface-below-ring,stalk-color-above-ring,"
    "stalk-color-below-ring,veil-type,veil-color,ring-number,ring-type,spore-print-color,population,habitat"
)
_RICE = "Area,Perimeter,Major_Axis_Length,Minor_Axis_Length,Eccentricity,Convex_Area,Extent"
_CAR = "buying,maint,doors,persons,lug_boot,safety"
_DIGIT = ",".join(f"pixel{number}" for number in range(64))
_COVERTYPE = ",".join(
    [
        "Elevation,Aspect,Slope,Horizontal_Distance_To_Hydrology,Vertical_Distance_To_Hydrology",
        "Horizontal_Distance_To_Roadways,Hillshade_9am,Hillshade_Noon,Hillshade_3pm",
        "Horizontal_Distance_To_Fire_Points",
        *(f"Wilderness_Area{number}" for number in range(1, 5)),
        *(f"Soil_Type{number}" for number in range(1, 41)),
    ]
)
_ZOO = (
    "hair,feathers,eggs,milk,airborne,aquatic,predator,toothed,backbone,breathes,venomous,fins,legs,tail,"
    "domestic,catsize"
)
_WINE = (
    "fixed acidity,volatile acidity,citric acid,residual sugar,chlorides,free sulfur dioxide,"
    "total sulfur dioxide,density,pH,sulphates,alcohol"
)
_LETTER = "x-box,y-box,width,high,onpix,x-bar,y-bar,x2bar,y2bar,xybar,x2ybr,xy2br,x-ege,xegvy,y-ege,yegvx"


@dataclass(frozen=True, slots=True)
class Rule:
    """How files become a table: all columns before or after the class, and all classes by default."""

    source: Source
    columns: str
    k: int = 2
    classes: tuple[Any, ...] = ()  # of the rows that are kept
    class_first: bool = False
    dropped: tuple[str, ...] = ()
    n_binned: int = 0  # columns, the first ones
    n_bins: int = 0
    cells: Any = str  # type of all cells
    values: Any = None  # type of those that are not classes, if it is another
    options: Mapping[str, Any] = field(default_factory=dict)  # of `np.loadtxt`


RULES = {
    # stalk-root has missing values
    "mushroom": Rule(SOURCES["mushroom"], _MUSHROOM, class_first=True, dropped=("stalk-root",)),
    # each value of Extent is a category
    "rice": Rule(SOURCES["rice"], _RICE, n_binned=6, n_bins=10, values=float, options={"skiprows": 16}),
    "car": Rule(SOURCES["car"], _CAR, classes=("good", "vgood")),
    "digit-24": Rule(SOURCES["digit"], _DIGIT, classes=(2, 4), cells=int),
    "covertype": Rule(
        SOURCES["covertype"],
        _COVERTYPE,
        classes=(4, 5),
        dropped=("Elevation", "Aspect", "Slope"),
        n_binned=10,
        n_bins=10,
        cells=np.int16,  # 64 MB; no value is above 7173
    ),
    # without the name of the animal
    "zoo": Rule(SOURCES["zoo"], _ZOO, 7, cells=int, options={"usecols": range(1, 18)}),
    "wine-567": Rule(  # red before white
        SOURCES["wine"],
        _WINE,
        3,
        classes=(5, 6, 7),
        n_binned=11,
        n_bins=20,
        cells=float,
        options={"delimiter": ";", "skiprows": 1},
    ),
    "letter": Rule(SOURCES["letter"], _LETTER, 4, classes=("C", "I", "L", "M"), class_first=True, values=int),
    "digit": Rule(SOURCES["digit"], _DIGIT, 10, cells=int),  # training before test file
}


def read(rule: Rule, paths: Iterable[Path]) -> tuple[Table, Ids]:
    """The columns by name, and the classes; files may be gzipped, and their checksums have been verified."""
    form: dict[str, Any] = {"delimiter": ",", "comments": None, "encoding": "ascii", **rule.options}
    files = [np.loadtxt(path, dtype=rule.cells, **form) for path in paths]
    cells = np.concatenate(files) if len(files) > 1 else files[0]
    classes = cells[:, 0 if rule.class_first else -1]
    classes = classes.astype(int) if classes.dtype.kind == "f" else classes
    values = cells[:, 1:] if rule.class_first else cells[:, :-1]
    chosen = np.isin(classes, rule.classes) if rule.classes else slice(None)
    table = {}
    for number, (name, column) in enumerate(zip(rule.columns.split(","), values.T, strict=True)):
        if name not in rule.dropped:
            whole = column.astype(rule.values) if rule.values else column
            kept = whole[chosen]
            table[name] = _column(_bins(kept, whole, rule.n_bins) if number < rule.n_binned else kept)
    return table, _column(classes[chosen])


def _bins(numbers: NDArray[Any], whole: NDArray[Any], count: int) -> NDArray[np.int64]:
    """The paper's bins, with the maximum over the whole file."""
    return paper_bins(numbers, whole.max(axis=0), count).astype(np.int64)


def _column(values: NDArray[Any]) -> NDArray[Any]:
    """A read-only copy: integers as int64, text as Python objects."""
    kind = {"i": np.int64, "U": object}.get(values.dtype.kind, values.dtype)
    return read_only(np.array(values, dtype=kind))
