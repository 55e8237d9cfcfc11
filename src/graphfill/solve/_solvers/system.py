"""One tile of the problem, and what a solver says about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ...kernels import Passes, empty_tile

Array = np.ndarray
Progress = Callable[[float], None]  # called with each further share of the tile that is solved


class Workspace:
    """Hands out tiles; ``release`` takes back all of them for the next round.

    Fresh memory costs more to touch than to compute with.

    Examples
    --------
    >>> workspace = Workspace()
    >>> first = workspace.tile(3, 2, np.dtype("float32"))
    >>> workspace.release()
    >>> workspace.tile(3, 2, np.dtype("float32")) is first
    True
    """

    def __init__(self) -> None:
        self._free: list[Array] = []
        self._lent: list[Array] = []

    def tile(self, n_rows: int, width: int, dtype: np.dtype) -> Array:
        """An uninitialised tile."""
        for k, tile in enumerate(self._free):
            if tile.shape == (n_rows, width) and tile.dtype == dtype:
                self._lent.append(self._free.pop(k))
                return tile
        # Tiles of another width are of rounds gone by.
        self._free = [tile for tile in self._free if tile.shape[1] == width]
        tile = empty_tile(n_rows, width, dtype)
        self._lent.append(tile)
        return tile

    def release(self) -> None:
        self._free += self._lent
        self._lent = []


@dataclass
class System:
    """(D - A)_uu z_u = b for one tile of columns, each with its own unknown cells.

    Attributes
    ----------
    passes : Passes over A (or over A_uu, when whole rows are known or missing)
    diagonal, scale : the diagonal of L and its inverse
    known : which cells of the tile are known
    z : [n, width]: known values, and the start at unknown cells; solvers overwrite it
    source : [n, width] or None: A_uk z_k, when the passes run over A_uu only
    reference : squared norm of b_0 per column, or None when z starts there
    workspace : where further tiles come from
    resolution : share of the values' norm that rounding may leave of a zero b_0
    floor : least reference, so that this is not taken for one
    """

    passes: Passes
    diagonal: Array
    scale: Array
    known: Array
    z: Array
    source: Array | None = None
    reference: Array | None = None
    resolution: float = 0.0
    floor: Array | float = 0.0
    workspace: Workspace = field(default_factory=Workspace)

    def reference_or(self, at_start: Array) -> Array:
        """What residuals are relative to, given the squared residual at the start."""
        reference = at_start if self.reference is None else self.reference
        return np.asarray(np.maximum(reference, self.floor))

    def tile(self, *, zero: bool = False) -> Array:
        """Another tile of the same shape."""
        n_rows, width = self.z.shape
        tile = self.workspace.tile(n_rows, width, self.z.dtype)
        if zero:
            tile.fill(0)
        return tile

    def copy(self) -> Array:
        """A copy of z."""
        tile = self.tile()
        np.copyto(tile, self.z)
        return tile


@dataclass
class Solution:
    """The solved tile, the iterations each column took, and its relative residual."""

    z: Array
    n_iter: Array
    residual: Array


def resolution(tol: float, dtype: np.dtype) -> float:
    """Below this share of the values' norm, b_0 may be nothing but rounding.

    Examples
    --------
    >>> resolution(1e-10, np.dtype("float64")) < 1e-5
    True
    >>> resolution(1e-100, np.dtype("float64"))  # never more than the values themselves
    1.0
    """
    eps = 2.0 * float(np.finfo(dtype).eps)
    return 1.0 if tol <= eps else eps / tol


def relative(squared: Array, reference: Array) -> Array:
    """sqrt(squared / reference), 0 where both are 0."""
    ratio = np.divide(squared, reference, out=np.zeros_like(squared), where=reference > 0)
    return np.asarray(np.sqrt(ratio))
