"""How far a fill can be trusted: held-out cells, scores, the choice of a method, intervals.

What only scores and bounds need (`_assessment`, `_hiding`, `_intervals`, `_class_sets`) is loaded
when they are asked for.
"""

from ._agreement import Agreement, agreement
from ._channels import Recipe, Solve, fill_channels
from ._options import LEARNT, FillOptions
from ._reasons import Influence
from ._selection import ColumnFill, fill_columns

__all__ = [
    "LEARNT",
    "Agreement",
    "ColumnFill",
    "FillOptions",
    "Influence",
    "Recipe",
    "Solve",
]
__all__ += ["agreement", "fill_channels", "fill_columns"]
