"""The paper's experiments: its data sets, its methods, its tables, measured beside published."""

from hyperclus.paper.methods import METHODS, Method
from hyperclus.paper.reproduce import Plan, plan, run
from hyperclus.paper.tables import DATASETS, TABLES, Table, build
from hyperclus.paper.verdicts import Cell

__all__ = ["DATASETS", "METHODS", "TABLES", "Cell", "Method", "Plan", "Table", "build", "plan", "run"]
