"""Feature Propagation on matrices: the plain function, and the solvers behind it."""

from ._arrays import check_shape
from ._copies import near_copies
from ._coupled import FieldOptions, fill_field, fill_field_with
from ._coupling import Coupling
from ._field import FieldSystem
from ._field_fill import TOLERANCE as FIELD_TOLERANCE
from ._field_fill import (
    FieldModel,
    FilledField,
    field_bytes,
    fill_learnt,
    learn_field,
    solve_field,
)
from ._field_graph import FieldGraph
from ._field_weights import field_weights
from ._matrix import (
    check_dense,
    check_finite,
    check_magnitudes,
    check_missing_mask,
    check_row_count,
    graph_of_rows,
    open_matrix,
)
from ._memory import readable
from ._neighbors import neighbor_mean
from ._operator import SMALL_BYTES, Operator
from ._pcfi import FISFOptions, PCFIOptions, fill_fisf, fill_pcfi, fill_pcfi_with
from ._problem import Problem, PropagationOptions, Result, centre_of, finish, warn_of
from ._propagate import progress_bar, propagate, propagate_with
from ._scaling import Span, exponents
from ._spectral_fill import (
    LearntSpectral,
    SpectralOptions,
    SpectralResult,
    fill_spectral,
    fill_spectral_with,
    spectral_bytes,
)
from ._tiles import keep_range
from ._weights import cell_weights, neighbor_weights

__all__ = ["Problem", "PropagationOptions", "Result", "finish", "propagate", "propagate_with"]
__all__ += ["Operator", "Span", "centre_of", "exponents", "neighbor_mean", "open_matrix"]
__all__ += ["SMALL_BYTES", "keep_range", "progress_bar", "warn_of"]
__all__ += ["check_dense", "check_finite", "check_magnitudes", "check_missing_mask"]
__all__ += [
    "cell_weights",
    "check_row_count",
    "check_shape",
    "graph_of_rows",
    "near_copies",
    "neighbor_weights",
]
__all__ += ["FieldGraph", "FieldModel", "FieldOptions", "FieldSystem", "FilledField"]
__all__ += ["FIELD_TOLERANCE", "Coupling", "fill_field", "fill_field_with", "fill_learnt"]
__all__ += ["FISFOptions", "PCFIOptions", "fill_fisf", "fill_pcfi", "fill_pcfi_with"]
__all__ += ["field_bytes", "field_weights", "learn_field", "readable", "solve_field"]
__all__ += ["LearntSpectral", "SpectralOptions", "SpectralResult", "fill_spectral"]
__all__ += ["fill_spectral_with", "spectral_bytes"]
