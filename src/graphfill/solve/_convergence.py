"""Whether an answer is the one asked for, and what to say where it is not."""

from __future__ import annotations

import warnings

import numpy as np

from .. import errors
from ._weight_span import Span

Array = np.ndarray


def has_converged(residuals: Array, tol: float | None, blurred: bool = False) -> bool | None:
    """Whether all residuals are at most ``tol``, if there is one, and mean what they say."""
    return None if tol is None else bool((residuals <= tol).all()) and not blurred


def warn_of_residual(
    n_iter: int,
    residual: float,
    tol: float | None,
    solver: str,
    max_iter: int,
    dtype: np.dtype,
    blurred: Span | None = None,
) -> None:
    """Say why the answer may be off, and what to do; ``blurred`` is a span too wide to tell."""
    if blurred is not None:
        text = (
            f"the weights span {blurred.decades:.0f} decades, more than {dtype} resolves: parts of "
            "the graph that hang on the rest by weak edges alone may be filled wrongly; leave out "
            "the weakest edges, take the logarithm or a root of the weights, or pass shrinkage=0.01"
        )
    else:
        text = (
            f"stopped after {n_iter} iterations at a relative residual of "
            f"{residual:.1e}, above tol={tol:.1e}: "
        )
        if solver in ("diffusion", "chebyshev"):
            text += 'allow more iterations (n_iter), or use solver="exact"'
        elif solver == "exact" and n_iter >= max_iter:
            text += "allow more iterations (max_iter)"
        elif dtype == np.float32:
            text += "float32 holds no more digits, pass float64 or a larger tol"
        else:
            text += "float64 holds no more digits, pass a larger tol"
    warnings.warn(text, errors.ConvergenceWarning, stacklevel=4)
