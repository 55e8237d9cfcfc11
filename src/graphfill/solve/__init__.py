"""Feature Propagation on matrices: the plain function, and the solvers behind it."""

from ._neighbors import neighbor_mean
from ._options import PropagationOptions
from ._propagate import Result, progress_bar, propagate, propagate_with

__all__ = [
    "PropagationOptions",
    "Result",
    "neighbor_mean",
    "progress_bar",
    "propagate",
    "propagate_with",
]
