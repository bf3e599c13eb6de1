"""What a partition is judged by: one file per objective."""

from typing import Literal, TypeAlias

from hyperclus.clustering.objectives.base import Objective as Objective
from hyperclus.clustering.objectives.information import INFORMATION as INFORMATION
from hyperclus.clustering.objectives.information import flows_between as flows_between
from hyperclus.clustering.objectives.information import information_of as information_of
from hyperclus.clustering.objectives.ncut import NCUT as NCUT
from hyperclus.errors import check_choice

ObjectiveName: TypeAlias = Literal["ncut", "information"]
OBJECTIVES: dict[str, Objective] = {objective.name: objective for objective in (NCUT, INFORMATION)}


def objective_of(name: ObjectiveName) -> Objective:
    """Look up an objective by its name."""
    check_choice("objective", name, tuple(OBJECTIVES))
    return OBJECTIVES[name]
