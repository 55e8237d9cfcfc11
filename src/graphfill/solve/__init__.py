"""Feature Propagation on matrices: the plain function, and the solvers behind it."""

from ._propagate import Result, propagate

__all__ = ["Result", "propagate"]
