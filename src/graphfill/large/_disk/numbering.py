"""Numbers in place of node ids, chunk by chunk of the edges that name them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...table._id_column import Ids

Array = NDArray[Any]

SPARSE = 4  # a table over the whole span of whole numbers, unless it were mostly holes


class Numbering:
    """The rows of a table by their ids; the nodes that only edges name come after them.

    Parameters
    ----------
    ids : Ids
        One per node, all different.
    n_rows : int, optional
        How many of them are rows of the table; all by default.
    """

    def __init__(self, ids: Ids, n_rows: int | None = None):
        self.ids, self.n_rows = ids, len(ids) if n_rows is None else n_rows
        self._row_of: Array | None = None
        if ids.kind == "whole numbers" and len(ids):
            numbers = ids.numpy()
            low, high = int(numbers.min()), int(numbers.max())
            if high - low < SPARSE * len(ids):
                self._low = low
                # One more place at either end, for what lies outside.
                self._row_of = np.full(high - low + 3, -1, dtype=np.int32)
                self._row_of[numbers - (low - 1)] = np.arange(len(ids), dtype=np.int32)

    @property
    def n_nodes(self) -> int:
        return len(self.ids)

    def rows(self, ends: Ids) -> Array:
        """The number of each end, -1 where it is none of these nodes."""
        import pyarrow.compute as pc

        if self._row_of is not None:
            numbers = ends.numpy()
            span = len(self._row_of)
            return self._row_of[np.clip(numbers - (self._low - 1), 0, span - 1)]
        found = pc.index_in(ends.values, value_set=self.ids.values)
        return pc.fill_null(found, -1).to_numpy(zero_copy_only=False)

    def extended(self, others: Ids) -> Numbering:
        """The same with further nodes: in order if they are whole numbers, else as they come."""
        import pyarrow as pa
        import pyarrow.compute as pc

        values = others.values
        if others.kind == "whole numbers":
            values = values.take(pc.sort_indices(values))
        both = pa.concat_arrays([self.ids.values, values])
        return Numbering(Ids(both), self.n_rows)
