"""Rules that turn UCI's files into the paper's tables: which rows, which columns, which bins.

Each function takes the paths of its files and returns the columns by name, and the classes.
"""

from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hyperclus._runtime.arrays import read_only
from hyperclus.hypergraph.binning import paper_bins
from hyperclus.typing import Ids

Table: TypeAlias = dict[str, NDArray[Any]]

_MUSHROOM = (
    "cap-shape,cap-surface,cap-color,bruises,odor,gill-attachment,gill-spacing,gill-size,gill-color,"
    "stalk-shape,stalk-root,stalk-surface-above-ring,stalk-surface-below-ring,stalk-color-above-ring,"
    "stalk-color-below-ring,veil-type,veil-color,ring-number,ring-type,spore-print-color,population,habitat"
)
_RICE = "Area,Perimeter,Major_Axis_Length,Minor_Axis_Length,Eccentricity,Convex_Area"
_CAR = "buying,maint,doors,persons,lug_boot,safety"
_DIGIT = ",".join(f"pixel{number}" for number in range(64))
_COVERTYPE_NUMBERS = (
    "Horizontal_Distance_To_Hydrology,Vertical_Distance_To_Hydrology,Horizontal_Distance_To_Roadways,"
    "Hillshade_9am,Hillshade_Noon,Hillshade_3pm,Horizontal_Distance_To_Fire_Points"
)
_COVERTYPE_SWITCHES = ",".join(
    [f"Wilderness_Area{number}" for number in range(1, 5)] + [f"Soil_Type{number}" for number in range(1, 41)]
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


def mushroom(data: Path) -> tuple[Table, Ids]:
    """All rows, without stalk-root, which has missing values."""
    cells = _read(data, str)
    table = _table(_MUSHROOM, cells[:, 1:])
    del table["stalk-root"]
    return table, _column(cells[:, 0])


def rice(arff: Path) -> tuple[Table, Ids]:
    """All rows in 10 bins, except Extent: each of its values is a category."""
    cells = _read(arff, str, skiprows=16)
    *numbers, extent = cells[:, :-1].astype(float).T
    binned = np.stack(numbers, axis=1)
    return _table(_RICE, _bins(binned, binned, 10)) | {"Extent": _column(extent)}, _column(cells[:, -1])


def car(data: Path) -> tuple[Table, Ids]:
    """The classes good and vgood."""
    cells = _read(data, str)
    cells = cells[np.isin(cells[:, -1], ["good", "vgood"])]
    return _table(_CAR, cells[:, :-1]), _column(cells[:, -1])


def digit(train: Path, test: Path) -> tuple[Table, Ids]:
    """All digits, the training file before the test file."""
    cells = np.concatenate([_read(train, int), _read(test, int)])
    return _table(_DIGIT, cells[:, :-1]), _column(cells[:, -1])


def digit_24(train: Path, test: Path) -> tuple[Table, Ids]:
    """The digits 2 and 4."""
    table, classes = digit(train, test)
    chosen = np.isin(classes, [2, 4])
    return {name: _column(values[chosen]) for name, values in table.items()}, _column(classes[chosen])


def covertype(data: Path) -> tuple[Table, Ids]:
    """The classes 4 and 5 in 10 bins, without Elevation, Aspect and Slope; binary columns are not binned."""
    cells = _read(data, np.int16)  # 64 MB; no value is above 7173
    chosen = cells[np.isin(cells[:, -1], [4, 5])]
    binned = _table(_COVERTYPE_NUMBERS, _bins(chosen[:, 3:10], cells[:, 3:10], 10))
    return binned | _table(_COVERTYPE_SWITCHES, chosen[:, 10:-1]), _column(chosen[:, -1])


def zoo(data: Path) -> tuple[Table, Ids]:
    """All rows, without the animal's name."""
    cells = _read(data, int, usecols=range(1, 18))
    return _table(_ZOO, cells[:, :-1]), _column(cells[:, -1])


def wine_567(red: Path, white: Path) -> tuple[Table, Ids]:
    """Red before white, in 20 bins, and of these the rows of quality 5, 6 and 7."""
    cells = np.concatenate([_read(path, float, delimiter=";", skiprows=1) for path in (red, white)])
    chosen = cells[np.isin(cells[:, -1], [5, 6, 7])]
    return _table(_WINE, _bins(chosen[:, :-1], cells[:, :-1], 20)), _column(chosen[:, -1].astype(int))


def letter(data: Path) -> tuple[Table, Ids]:
    """The letters C, I, L and M."""
    cells = _read(data, str)
    cells = cells[np.isin(cells[:, 0], ["C", "I", "L", "M"])]
    return _table(_LETTER, cells[:, 1:].astype(int)), _column(cells[:, 0])


def _read(path: Path, kind: Any, **options: Any) -> NDArray[Any]:
    """The cells of a text file, which may be gzipped; its checksum has been verified."""
    form: dict[str, Any] = {"delimiter": ",", "comments": None, "encoding": "ascii"}
    return np.loadtxt(path, dtype=kind, **(form | options))


def _bins(numbers: NDArray[Any], whole: NDArray[Any], count: int) -> NDArray[np.int64]:
    """The paper's bins, with the maximum of each column over the whole file."""
    return paper_bins(numbers, whole.max(axis=0), count).astype(np.int64)


def _table(names: str, cells: NDArray[Any]) -> Table:
    return {name: _column(values) for name, values in zip(names.split(","), cells.T, strict=True)}


def _column(values: NDArray[Any]) -> NDArray[Any]:
    """A read-only copy: integers as int64, text as Python objects."""
    kind = {"i": np.int64, "U": object}.get(values.dtype.kind, values.dtype)
    return read_only(np.array(values, dtype=kind))
