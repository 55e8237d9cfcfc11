"""Rows that share a key, linked through a node for the key: as many links as rows, however large
the groups."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._relation import Relation, relation_of

Integers = NDArray[np.int64]


def same_relation(codes: Integers, values: Any, name: Any) -> Relation:
    """Rows linked to the node of their key.

    Parameters
    ----------
    codes : [rows], the number of each row's key; -1 where it is missing
    values : the keys, as Arrow has them

    Examples
    --------
    >>> import pyarrow as pa
    >>> same_relation(np.array([0, 1, 0, -1]), pa.array(["Hill 1", "Hill 2"]), "house").graph
    Graph(n_nodes=6, n_edges=3, weighted=False)
    """
    n_rows = len(codes)
    rows = np.flatnonzero(codes >= 0)
    own = [f"{name}={value}" for value in values.to_pylist()]
    return relation_of(
        f"by equal {name!r}",
        (rows.astype(np.int64), n_rows + codes[rows]),
        None,
        n_rows,
        own,
        n_rows - len(rows),
    )
