"""Feature Propagation on matrices: the plain function, and the solvers behind it."""

from ._arrays import Container, check_shape
from ._matrix import (
    check_columns_left,
    check_dense,
    check_finite,
    check_magnitudes,
    check_missing_mask,
    check_row_count,
    check_row_ids,
    check_row_numbers,
    check_two_dimensional,
    open_matrix,
)
from ._memory import BLOCKS, ROW_BYTES, Footprint, give_back, parse_bytes, readable, tiles
from ._neighbors import known_means, neighbor_mean, row_blocks
from ._operator import Operator
from ._options import PropagationOptions
from ._plan import SMALL_BYTES, WORTH_LEAVING_OUT
from ._problem import Problem, Result, centre_of, finish, warn_of
from ._propagate import progress_bar, propagate, propagate_with
from ._scaling import ORDINARY_BITS, Span, exponents

__all__ = [
    "BLOCKS",
    "ORDINARY_BITS",
    "ROW_BYTES",
    "SMALL_BYTES",
    "WORTH_LEAVING_OUT",
    "Container",
    "Footprint",
    "Operator",
    "Problem",
    "PropagationOptions",
    "Result",
    "Span",
    "centre_of",
    "check_columns_left",
    "check_dense",
    "check_finite",
    "check_magnitudes",
    "check_missing_mask",
    "check_row_count",
    "check_row_ids",
    "check_row_numbers",
    "check_shape",
    "check_two_dimensional",
    "exponents",
    "finish",
    "give_back",
    "known_means",
    "neighbor_mean",
    "open_matrix",
    "parse_bytes",
    "progress_bar",
    "propagate",
    "propagate_with",
    "readable",
    "row_blocks",
    "tiles",
    "warn_of",
]
