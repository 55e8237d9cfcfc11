"""Rows that share a key, linked through a node for the key: as many links as rows, however large
the groups."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import named
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
        _spelled_alike(values, name),
    )


def _spelled_alike(values: Any, name: Any) -> tuple[str, ...]:
    """A sentence on keys that differ in the case of letters alone."""
    import pyarrow as pa

    if not (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)):
        return ()
    first: dict[str, str] = {}
    twins = [
        (first[word.casefold()], word)
        for word in values.to_pylist()
        if first.setdefault(word.casefold(), word) != word
    ]
    if not twins:
        return ()
    one, other = map(named, twins[0])
    return (
        f"{len(twins):,} key(s) of column {name!r} are others but for case ({one} and {other}) and "
        "count as different: write them alike if they are the same.",
    )
