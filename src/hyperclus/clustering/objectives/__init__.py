"""What a partition is judged by: one file per objective."""

from hyperclus.clustering.objectives.base import Objective as Objective
from hyperclus.clustering.objectives.information import INFORMATION as INFORMATION
from hyperclus.clustering.objectives.ncut import NCUT as NCUT

OBJECTIVES = {objective.name: objective for objective in (NCUT, INFORMATION)}
