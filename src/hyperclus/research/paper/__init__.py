"""The paper's experiments: its data sets, its methods, its tables, measured beside published."""

from hyperclus.research.paper.methods import METHODS, Method
from hyperclus.research.paper.reproduce import Plan, plan, run
from hyperclus.research.paper.tables import DATASETS, TABLES, Table, build
from hyperclus.research.paper.verdicts import Cell

__all__ = ["DATASETS", "METHODS", "TABLES", "Cell", "Method", "Plan", "Table", "build", "plan", "run"]
