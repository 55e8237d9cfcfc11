"""How far a fill can be trusted: held-out cells, scores, the choice of a method, intervals.

What only scores and bounds need (`_assessment`, `_hiding`, `_intervals`, `_class_sets`) is loaded
when they are asked for.
"""

from ._agreement import (
    HARDLY,
    Agreement,
    agreement,
    fill_verdict,
    linked_pairs,
    propagated_agreement,
)
from ._blend import Blend
from ._channels import Recipe, Solve, fill_channels
from ._differences import differences_note
from ._kept import Choice, Kept
from ._options import LEARNT, FillOptions
from ._ranks import RankScale
from ._reasons import Influence, Reasons
from ._selection import ColumnFill, fill_columns, unreached_cells
from ._series import Layout

__all__ = [
    "HARDLY",
    "LEARNT",
    "Agreement",
    "ColumnFill",
    "FillOptions",
    "Influence",
    "Layout",
    "Reasons",
    "Recipe",
    "Solve",
]
__all__ += ["agreement", "differences_note", "fill_channels", "fill_columns", "fill_verdict"]
__all__ += ["Blend", "Choice", "Kept", "RankScale"]
__all__ += ["linked_pairs", "propagated_agreement", "unreached_cells"]
