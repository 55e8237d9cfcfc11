"""What came in, and how to give the same kind back.

:func:`open_matrix` reads any table of numbers as one float matrix with NaN in the missing cells;
:meth:`Container.rebuild` turns the filled matrix into the kind of object that came in. No library
of tables or tensors is imported for it: its objects can only arrive after its import.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ..graph import _refuse_matrices
from ._arrays import Container, TensorContainer
from ._frames import NarwhalsContainer, PandasContainer

__all__ = ["Container", "open_matrix"]


def open_matrix(X: Any, *, missing_mask: Any = None) -> Container:
    """Read a table of numbers as a float matrix, remembering what it was.

    A cell is missing where it is NaN, None or null, or where `missing_mask` is True.

    Parameters
    ----------
    X : array-like, torch.Tensor, or a dataframe or series of pandas, polars or pyarrow
        One row per node. Floats keep their width (float16 and bfloat16 are computed in float32);
        integers, booleans and objects that are numbers or None are computed in float64.
    missing_mask : array-like of bool of the shape of X, optional
        True where a cell is missing, whatever number it holds.

    Returns
    -------
    Container
        Its ``values`` share memory with `X` where the layout allows, and are read-only: the
        input is never changed.

    Examples
    --------
    >>> opened = open_matrix([[1, None], [2, 3]])
    >>> opened.values
    array([[ 1., nan],
           [ 2.,  3.]])
    """
    _refuse_matrices.check_dense(X)
    container = _container_class(X)(X)
    if missing_mask is not None:
        if _is_tensor(missing_mask):
            missing_mask = missing_mask.numpy(force=True)
        mask = _refuse_matrices.check_missing_mask(missing_mask, container.values, container.shape)
        container.hide(mask)
    _refuse_matrices.check_finite(container.values, container.feature_names)
    container.check_whole_numbers()
    return container


def _container_class(X: Any) -> type[Container]:
    if isinstance(X, (np.ndarray, list, tuple)):
        return Container
    if _is_tensor(X):
        return TensorContainer
    from narwhals import dependencies

    if dependencies.is_pandas_dataframe(X) or dependencies.is_pandas_series(X):
        return PandasContainer
    if dependencies.is_into_dataframe(X) or dependencies.is_into_series(X):
        return NarwhalsContainer
    return Container


def _is_tensor(X: Any) -> bool:
    torch = sys.modules.get("torch")  # no tensor without torch, and no import of torch for it
    return torch is not None and isinstance(X, torch.Tensor)
