"""The paper's data sets by its rules from UCI's files in the package, without the reader of the library."""

import csv
import gzip
from functools import cache
from pathlib import Path

import numpy as np

import hyperclus as hc
from hyperclus.datasets import tables

FOLDER = Path(hc.__file__).parent / "datasets" / "files"
# files, lines before the rows, column of the class, and the classes that are kept
LAYOUTS = {
    "mushroom": (["agaricus-lepiota.data"], 0, 0, None),
    "rice": (["Rice_Cammeo_Osmancik.arff"], 16, -1, None),
    "car": (["car.data"], 0, -1, {"good", "vgood"}),
    "digit-24": (["optdigits.tra", "optdigits.tes"], 0, -1, {"2", "4"}),
    "covertype": (["covtype.data"], 0, -1, {"4", "5"}),
    "zoo": (["zoo.data"], 0, -1, None),
    "wine-567": (["winequality-red.csv", "winequality-white.csv"], 1, -1, {"5", "6", "7"}),
    "letter": (["letter-recognition.data"], 0, 0, {"C", "I", "L", "M"}),
    "digit": (["optdigits.tra", "optdigits.tes"], 0, -1, None),
}
LEFT_OUT = {"mushroom": {"stalk-root"}, "covertype": {"Elevation", "Aspect", "Slope"}}
BINS = {"rice": 10, "covertype": 10, "wine-567": 20}
NOT_BINNED = ("Extent", "Wilderness_Area", "Soil_Type")
MAXIMA = {  # over all rows of UCI's files
    "covertype": {
        "Elevation": 3858,
        "Aspect": 360,
        "Slope": 66,
        "Horizontal_Distance_To_Hydrology": 1397,
        "Vertical_Distance_To_Hydrology": 601,
        "Horizontal_Distance_To_Roadways": 7117,
        "Hillshade_9am": 254,
        "Hillshade_Noon": 254,
        "Hillshade_3pm": 254,
        "Horizontal_Distance_To_Fire_Points": 7173,
    },
    "wine-567": {
        "fixed acidity": 15.9,
        "volatile acidity": 1.58,
        "citric acid": 1.66,
        "residual sugar": 65.8,
        "chlorides": 0.611,
        "free sulfur dioxide": 289,
        "total sulfur dioxide": 440,
        "density": 1.03898,
        "pH": 4.01,
        "sulphates": 2,
        "alcohol": 14.9,
    },
}
# vertices, hyperedges, incidences (rice: the paper prints 17410 incidences, which is wrong)
SIZES = {
    "mushroom": (8124, 111, 162480),
    "rice": (3810, 3838, 26670),
    "car": (134, 16, 804),
    "digit-24": (1125, 880, 69750),
    "covertype": (12240, 111, 428400),
    "zoo": (101, 36, 1616),
    "wine-567": (6053, 136, 66583),
    "letter": (3044, 228, 48704),
    "digit": (5620, 912, 348440),
}


def raw(file):
    """The content of a file of UCI in the package."""
    return gzip.decompress((FOLDER / f"{file}.gz").read_bytes())


@cache
def columns_of(name):
    """The selected rows as columns of text, raw, with "class" as the last column."""
    files, n_skipped, place, kept = LAYOUTS[name]
    delimiter = ";" if name == "wine-567" else ","
    rows = []
    for file in files:
        for row in csv.reader(raw(file).decode("ascii").splitlines()[n_skipped:], delimiter=delimiter):
            values = row[1:] if name == "zoo" else row
            kind = values.pop(place)
            if kept is None or kind in kept:
                rows.append([*values, kind])
    header = [*tables.RULES[name].columns.split(","), "class"]
    return dict(zip(header, map(list, zip(*rows, strict=True)), strict=True))


def table(name):
    """The features, binned where the paper bins, and the classes."""
    columns = dict(columns_of(name))
    classes = np.array(columns.pop("class"), dtype=object)
    for column in LEFT_OUT.get(name, ()):
        del columns[column]
    for column, values in columns.items():
        if name in BINS and not column.startswith(NOT_BINNED):
            numbers = np.array(values, dtype=float)
            largest = MAXIMA.get(name, {}).get(column, numbers.max())
            columns[column] = np.trunc(numbers / largest * BINS[name]).astype(int)
    return columns, classes


def paper_hypergraph(name):
    """The paper's EDVW hypergraph, its `reweigh` rule, and the classes."""
    columns, classes = table(name)
    hypergraph = hc.class_counts(hc.Hypergraph.from_table(columns, bins=None), classes)

    def reweigh(sub, vertices):
        constant = sub.edge_sizes == sub.n_vertices
        if constant.all():
            return None
        return hc.class_counts(sub.drop_edges(constant), classes[vertices])

    return hypergraph, reweigh, classes
