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

    Parameters
    ----------
    indptr, indices, weights : int64 [n + 1], int32 [entries], float32 [entries]
        The rows of A.
    threads : int

    Examples
    --------
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


def rectify(
    H: Array,
    drawn: Array,
    below: int,
    scale: float,
    out: Array,
    previous: Array | None = None,
    highest: Array | None = None,
    *,
    threads: int = 1,
) -> None:
    """out = scale max(H, 0) where ``drawn >= below``, 0 elsewhere; highest = max(out, previous).

    `drawn` holds a uint16 for each entry of H; `highest` has the leading rows of `out`, or fewer.
    """
    n_highest = 0 if highest is None else highest.size

    def entries(lo: int, hi: int) -> None:
        _layers.rectify(H, drawn, below, scale, previous, out, highest, n_highest, lo, hi)

    _shared(entries, H.size, threads)


def rectify_gradient(
    to_out: Array | None,
    to_highest: Array | None,
    previous: Array | None,
    out: Array,
    scale: float,
    to_H: Array,
    to_previous: Array | None = None,
    *,
    threads: int = 1,
) -> None:
    """The gradients with respect to H and previous from those with respect to out and highest.

    None for what is zero or not wanted. Without `previous`, `highest` was the leading rows of
    `out` themselves. Of equal entries the previous one gets the gradient.
    """
    n_highest = 0 if to_highest is None else to_highest.size

    def entries(lo: int, hi: int) -> None:
        _layers.rectify_gradient(
            to_out, to_highest, previous, out, scale, to_H, to_previous, n_highest, lo, hi
        )

    _shared(entries, out.size, threads)


def _shared(work: Callable[[int, int], None], size: int, threads: int) -> None:
    share(work, cut(size, 8 * threads) if threads > 1 else [(0, size)], threads)
