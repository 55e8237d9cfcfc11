"""How far a fill can be trusted: held-out cells, scores, the choice of a method, intervals."""

from ._agreement import Agreement, agreement
from ._assessment import FEWEST_KNOWN, Assessment
from ._channels import Recipe, Solve, fill_channels
from ._class_sets import ClassSets
from ._features import FAR, distance_to_known
from ._hiding import scores_in_pattern
from ._intervals import Interval, highest_level
from ._options import LEARNT, FillOptions
from ._selection import ColumnFill, fill_columns

__all__ = [
    "FAR",
    "FEWEST_KNOWN",
    "LEARNT",
    "Agreement",
    "Assessment",
    "ClassSets",
    "ColumnFill",
    "FillOptions",
    "Interval",
    "Recipe",
    "Solve",
    "agreement",
    "distance_to_known",
    "fill_channels",
    "fill_columns",
    "highest_level",
    "scores_in_pattern",
]
