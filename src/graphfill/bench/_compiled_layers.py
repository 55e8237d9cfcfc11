"""The layers of a network in C: float32 blocks in, float32 blocks out.

Only for what a CPU computes in float32; torch does the rest, and everything where the extension
was not built.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import kernels
from ..kernels._threads import cut, share

try:
    from . import _layers
except ImportError:
    _layers = None  # type: ignore[assignment]

Array = NDArray[Any]


def available() -> bool:
    """Whether the extension is there, and compiled kernels were not switched off."""
    return _layers is not None and kernels.implementation == "compiled"


class Product:
    """A H for one sparse matrix A, by several threads; sums run over a row's entries in order.

    The rows of A are int64 `indptr` [n + 1], int32 `indices` and float32 `weights` [entries].

    >>> A = Product(np.array([0, 1, 1]), np.array([1], np.int32), np.ones(1, np.float32), 1)
    >>> out = np.empty((2, 3), np.float32)
    >>> A.into(out, np.full((2, 3), 5, np.float32))
    >>> out.tolist()
    [[5.0, 5.0, 5.0], [0.0, 0.0, 0.0]]
    """

    def __init__(self, indptr: Array, indices: Array, weights: Array, threads: int) -> None:
        self._matrix = indptr, indices, weights
        self._threads = threads
        # Pieces of nearly equal numbers of entries and rows.
        work = indptr + np.arange(len(indptr))
        ends = np.searchsorted(work, [hi for _, hi in cut(int(work[-1]), 8 * threads)])
        self._pieces = list(zip([0, *ends[:-1]], [*ends[:-1], len(indptr) - 1], strict=True))

    def into(self, out: Array, H: Array) -> None:
        """Write A H to `out`."""

        def rows(lo: int, hi: int) -> None:
            _layers.product(*self._matrix, H, out, H.shape[1], lo, hi)

        share(rows, self._pieces, self._threads)


def rectify(*blocks: Any, size: int, threads: int) -> None:
    """out = scale max(H, 0) where ``drawn >= below``, 0 elsewhere; highest = max(out, previous).

    Of H, drawn, below, scale, previous, out, highest and the size of highest, which has the
    leading rows of out, or fewer; `drawn` holds a uint16 for each entry of H. Without `previous`
    there is no `highest`.
    """
    _shared(lambda lo, hi: _layers.rectify(*blocks, lo, hi), size, threads)


def rectify_gradient(*blocks: Any, size: int, threads: int) -> None:
    """The gradients with respect to H and previous from those with respect to out and highest.

    Of to_out, to_highest, previous, out, scale, to_H, to_previous and the size of highest; None
    for what is zero or not wanted. Without `previous`, `highest` was the leading rows of `out`
    themselves. Of equal entries the previous one gets the gradient.
    """
    _shared(lambda lo, hi: _layers.rectify_gradient(*blocks, lo, hi), size, threads)


def _shared(work: Callable[[int, int], None], size: int, threads: int) -> None:
    share(work, cut(size, 8 * threads) if threads > 1 else [(0, size)], threads)
