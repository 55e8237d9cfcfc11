"""Which rows a layer must know so that some rows of the last layer can be computed."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor

from .products import FixedMatrix, as_tensor

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Block:
    """One layer's share of the graph: from the rows it is given to the rows it must compute.

    Attributes
    ----------
    matrix : FixedMatrix of shape (rows computed, rows given)
    places : int tensor, or None
        Where each computed row itself is among the given ones; None: they come first, in order.
    """

    matrix: FixedMatrix
    places: Tensor | None = None

    def own(self, H: Tensor) -> Tensor:
        """The given rows that belong to the computed ones."""
        return H[: self.matrix.shape[0]] if self.places is None else H[self.places]


@dataclass(frozen=True)
class Field:
    """The receptive field of some rows: what the first layer computes, and one Block per further.

    Attributes
    ----------
    rows : int array
        The nodes whose first-layer output is needed, those that were asked for leading.
    blocks : tuple of Block
        From the second layer to the last, whose rows are the ones asked for.
    """

    rows: Rows
    blocks: tuple[Block, ...]


def receptive_field(
    operator: sparse.csr_array,
    rows: Rows,
    n_blocks: int,
    among: Rows | None = None,
    rank: Rows | None = None,
) -> Field:
    """The field of `rows` through `n_blocks` products with `operator`.

    Parameters
    ----------
    operator : CSR array [n, n]
        Row i holds what node i takes from its neighbours.
    among : int array, optional
        Nodes whose first-layer output is at hand before that of the field's other nodes: the
        first block then reads from ``among`` followed by ``field.rows``.
    rank : int array, optional
        Of each node, by which those that were not asked for are ordered; by number otherwise.

    Examples
    --------
    >>> path = sparse.csr_array(np.eye(4, k=1) + np.eye(4, k=-1))
    >>> receptive_field(path, np.array([0]), n_blocks=2).rows
    array([0, 1, 2])
    >>> receptive_field(path, np.array([0]), n_blocks=2, among=np.array([1, 3])).rows
    array([0, 2])
    """
    levels = [np.asarray(rows, dtype=np.int64)]
    for _ in range(n_blocks):
        levels.append(_with_neighbours(operator, levels[-1], rank))
    given = levels[-1]
    places = None
    if among is not None:
        given = np.concatenate([among, given[~np.isin(given, among)]])
    blocks: list[Block] = []
    for computed, inputs in pairwise(levels):
        first = len(blocks) == n_blocks - 1
        inputs = given if first else inputs
        if first and among is not None:
            places = as_tensor(positions(given, operator.shape[0])[computed])
        blocks.append(Block(FixedMatrix(_cut(operator, computed, inputs)), places))
    if among is not None:
        given = given[len(among) :]
    return Field(given, tuple(reversed(blocks)))


def whole(operator: sparse.csr_array, n_blocks: int) -> tuple[Block, ...]:
    """Blocks that compute every row from every row."""
    return (Block(FixedMatrix(operator)),) * n_blocks


def _with_neighbours(operator: sparse.csr_array, rows: Rows, rank: Rows | None) -> Rows:
    """`rows`, then the other nodes they take from, ascending by number or rank."""
    taken = np.unique(operator[rows].indices)
    if rank is not None:
        taken = taken[np.argsort(rank[taken])]
    return np.concatenate([rows, taken[~np.isin(taken, rows)]]).astype(np.int64)


def positions(nodes: Rows, n_nodes: int) -> Rows:
    """Where each node is among `nodes`; -1 where it is not."""
    places = np.full(n_nodes, -1, dtype=np.int64)
    places[nodes] = np.arange(len(nodes))
    return places


def _cut(operator: sparse.csr_array, rows: Rows, columns: Rows) -> sparse.csr_array:
    """The rows of a matrix, its columns renumbered; `columns` holds all that occur there."""
    part = operator[rows]
    renumbered = positions(columns, operator.shape[1])[part.indices]
    shape = (len(rows), len(columns))
    cut = sparse.csr_array((part.data, renumbered.astype(np.int32), part.indptr), shape=shape)
    cut.sort_indices()
    return cut
