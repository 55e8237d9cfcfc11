"""Products with the equations of a field: z Omega + L z Theta at the missing cells."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._coupling import GEMM_ROWS, Array, Coupling, Floats
from ._field_cells import MissingCells
from ._field_graph import FieldGraph, Tiles


class Products:
    """Room for products with the equations of the missing cells, for one type of numbers."""

    def __init__(
        self, cells: MissingCells, graph: FieldGraph, coupling: Coupling, dtype: np.dtype[Any]
    ) -> None:
        n, p = cells.missing.shape
        self.graph, self.missing = graph, cells.missing
        self.tiles = tiles = Tiles(n, p, dtype)
        self.z, self.q = tiles.zeros(), tiles.zeros()
        self._parts = [
            (tiles.part(self.z, k), tiles.part(self.q, k)) for k in range(len(tiles.parts))
        ]
        self._places = cells.places(tiles)
        theta = coupling.theta * graph.unit
        self._small = np.concatenate([tiles.spread(coupling.omega), tiles.spread(theta)])
        self._both = np.zeros((min(n, GEMM_ROWS), len(self._small)), dtype)
        self._product = np.zeros((min(n, GEMM_ROWS), len(self._small) // 2), dtype)
        complete = np.where(cells.missing.any(axis=1), 0, 255).astype(np.uint8)
        self._bits = [
            np.repeat((complete & ((1 << width) - 1 if width < 8 else 255))[:, None],
                      -(-width // 8), axis=1)
            for _, width in tiles.parts
        ]  # fmt: skip

    def of(self, vectors: Array) -> Array:
        """Of vectors."""
        out = np.empty_like(vectors)
        for vector, result in zip(vectors, out, strict=True):
            self.z[self._places] = vector
            self._multiply()
            np.take(self.q, self._places, out=result, mode="clip")
        return out

    def of_known(self, Z: Floats) -> Array:
        """Of the known cells of a table."""
        for (z, _), (channels, _) in zip(self._parts, self.tiles.parts, strict=True):
            tile = z[:, : channels.stop - channels.start]
            tile[:] = np.where(self.missing[:, channels], 0.0, Z[:, channels])
        self._multiply()
        return self.q[self._places]

    def _multiply(self) -> None:
        """q = z Omega + L z Theta, in the rows that miss a cell."""
        tiles, width = self.tiles, len(self._small) // 2
        for (z, q), bits in zip(self._parts, self._bits, strict=True):
            self.graph.multiply(bits, z, q)
        for start in range(0, tiles.n_rows, GEMM_ROWS):
            rows = slice(start, min(start + GEMM_ROWS, tiles.n_rows))
            both = self._both[: rows.stop - start]
            for (z, q), lanes in zip(self._parts, tiles.lanes, strict=True):
                both[:, lanes] = z[rows]
                both[:, lanes.start + width : lanes.stop + width] = q[rows]
            product = np.matmul(both, self._small, out=self._product[: len(both)])
            for (_, q), lanes in zip(self._parts, tiles.lanes, strict=True):
                q[rows] = product[:, lanes]
