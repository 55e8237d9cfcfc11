"""Tiles that are used again: fresh memory costs more to touch than to compute with."""

from __future__ import annotations

import numpy as np

from ...kernels import empty_tile

Array = np.ndarray


class Workspace:
    """Hands out tiles; ``release`` takes back all of them for the next round.

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
