"""Each layer's share of the graph: all that some rows depend on, or a sample for mini-batches.

And products with such a fixed sparse matrix, whose transpose is built once; where tensors live.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.random import Generator
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor


def device() -> torch.device:
    """Where every tensor is made: the first GPU if there is one."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def as_tensor(array: Any) -> Tensor:
    """An array as a tensor on the device, of the same type."""
    return torch.as_tensor(np.require(array, requirements=["C", "W"]), device=device())


def operand(A: Any, sparse_below: float = 1.0) -> Tensor | FixedMatrix:
    """A matrix for products with tensors; a compressed one becomes dense above this density."""
    if sparse.issparse(A):
        if A.nnz <= sparse_below * A.shape[0] * A.shape[1]:
            return FixedMatrix(A)
        A = A.toarray()
    return as_tensor(A)


class FixedMatrix:
    """A sparse matrix A that is not learnt: ``A @ H``, with gradient A^T G with respect to H.

    >>> from scipy import sparse
    >>> A = FixedMatrix(sparse.csr_array([[0.0, 2.0], [1.0, 0.0]]))
    >>> H = torch.tensor([[1.0], [3.0]], dtype=torch.float64, requires_grad=True)
    >>> (A @ H).sum().backward()
    >>> H.grad.ravel().tolist()
    [1.0, 2.0]
    """

    def __init__(self, A: sparse.csr_array) -> None:
        self.shape: tuple[int, int] = A.shape
        self._A = A
        self._compressed: Tensor | None = None
        self._transpose: FixedMatrix | None = None

    @property
    def transpose(self) -> FixedMatrix:
        """Only training asks for it."""
        if self._transpose is None:
            self._transpose = FixedMatrix(sparse.csr_array(self._A.T))
        return self._transpose

    def __matmul__(self, H: Tensor) -> Tensor:
        return _product(H, self) if H.requires_grad else self.product(H)

    def product(self, H: Tensor) -> Tensor:
        """A H, without gradient."""
        if self._compressed is None:
            self._compressed = _compressed(self._A)
        return self._compressed @ H


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, H: Tensor, A: FixedMatrix) -> Tensor:
        ctx.A = A
        return A.product(H)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return ctx.A.transpose.product(gradient), None


_product: Callable[[Tensor, FixedMatrix], Tensor] = _Product.apply


def _compressed(A: sparse.csr_array) -> Tensor:
    # 32-bit column numbers: torch's product with them is the faster one, or as fast, for every
    # shape met here, and beats SciPy's except on very wide blocks.
    index = np.int32 if max(A.nnz, *A.shape) < 2**31 else np.int64
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
        return torch.sparse_csr_tensor(
            as_tensor(A.indptr.astype(index)),
            as_tensor(A.indices.astype(index)),
            as_tensor(A.data),
            size=A.shape,
            check_invariants=False,  # SciPy made them
        )


Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Block:
    """One layer's share of the graph: from the rows it is given to the rows it must compute."""

    matrix: FixedMatrix  # of shape (rows computed, rows given)
    # Where each computed row itself is among the given ones; None: they come first, in order.
    places: Tensor | None = None

    def own(self, H: Tensor) -> Tensor:
        """The given rows that belong to the computed ones."""
        return H[: self.matrix.shape[0]] if self.places is None else H[self.places]


@dataclass(frozen=True)
class Field:
    """The receptive field of some rows: what the first layer computes, and one Block per further.

    The nodes whose first-layer output is needed, those that were asked for leading; and blocks
    from the second layer to the last, whose rows are the ones asked for.
    """

    rows: Rows
    blocks: tuple[Block, ...]


def receptive_field(
    S: sparse.csr_array, rows: Rows, n_blocks: int, among: Rows | None = None
) -> Field:
    """The field of `rows` through `n_blocks` products with S.

    Row i of S holds what node i takes from its neighbours. The first-layer output of the nodes in
    `among` is known before that of the field's other nodes: the first block then reads from
    ``among`` followed by ``field.rows``.

    >>> path = sparse.csr_array(np.eye(4, k=1) + np.eye(4, k=-1))
    >>> receptive_field(path, np.array([0]), n_blocks=2).rows
    array([0, 1, 2])
    >>> receptive_field(path, np.array([0]), n_blocks=2, among=np.array([1, 3])).rows
    array([0, 2])
    """
    levels = [np.asarray(rows, dtype=np.int64)]
    for _ in range(n_blocks):
        levels.append(_with_neighbours(S, levels[-1]))
    further = levels[-1]
    places: list[Tensor | None] = [None] * n_blocks
    if among is not None:
        further = further[~np.isin(further, among)]
        levels[-1] = np.concatenate([among, further])
        if n_blocks:
            places[-1] = as_tensor(positions(levels[-1], S.shape[0])[levels[-2]])
    blocks = [
        Block(FixedMatrix(_cut(S, computed, given)), place)
        for (computed, given), place in zip(pairwise(levels), places, strict=True)
    ]
    return Field(further, tuple(reversed(blocks)))


def whole(operator: sparse.csr_array, n_blocks: int) -> tuple[Block, ...]:
    """Blocks that compute every row from every row."""
    return (Block(FixedMatrix(operator)),) * n_blocks


def _with_neighbours(operator: sparse.csr_array, rows: Rows) -> Rows:
    """`rows`, then the other nodes they take from, ascending."""
    taken = np.unique(operator[rows].indices)
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


# -- mini-batches --


@dataclass(frozen=True)
class Batch:
    """Seed rows, the first layer's inputs, and one block for each further layer."""

    rows: Rows
    part: Any
    blocks: tuple[Block, ...]


class Sampler:
    """Draws up to `fanout[k]` neighbours of each row of the k-th hop, without replacement.

    A drawn entry of the operator counts for those passed over: row i with d neighbours of which
    f are drawn has its entries multiplied by d / f, its own entry (a loop) always being kept.
    The expectation is the full product; of a mean over neighbours it is the mean over the drawn.

    `fanout` goes from the seed rows outwards; its last number holds for all further hops.
    """

    def __init__(self, operator: sparse.csr_array, fanout: tuple[int, ...]) -> None:
        self._loops = operator.diagonal()
        others = sparse.csr_array(operator - sparse.diags_array(self._loops), dtype=operator.dtype)
        others.eliminate_zeros()
        self._others = others
        self._fanout = fanout

    def epoch(self, network: Any, rows: Rows, size: int, rng: Generator) -> Iterator[Batch]:
        """The rows in a new order, `size` at a time, as batches for a `network.Network`."""
        order = rng.permutation(rows)
        for start in range(0, len(order), size):
            yield self._batch(network, order[start : start + size], rng)

    def _batch(self, network: Any, rows: Rows, rng: Generator) -> Batch:
        """Blocks from the last layer down to the second, then the first layer's inputs."""
        level, blocks = rows, []
        for hop in range(network.n_blocks):
            level, matrix = self.hop(level, self._width(hop), rng)
            blocks.append(Block(FixedMatrix(matrix)))
        sample = getattr(network.first, "sample", None)
        if sample is None:
            part = network.first.prepare(level)
        else:
            given, matrix = self.hop(level, self._width(network.n_blocks), rng)
            part = operand(sample(given, matrix))
        return Batch(rows, part, tuple(reversed(blocks)))

    def hop(self, rows: Rows, width: int, rng: Generator) -> tuple[Rows, sparse.csr_array]:
        """The nodes to take from, `rows` leading, and the matrix [rows, nodes] to take by."""
        start = self._others.indptr[rows].astype(np.int64)
        degree = self._others.indptr[rows + 1] - start
        drawn = np.minimum(degree, width)
        row = np.repeat(np.arange(len(rows)), drawn)
        # Within each row: 0, 1, ... drawn - 1, then replaced where there is a choice.
        place = np.arange(len(row)) - np.repeat(np.cumsum(drawn) - drawn, drawn)
        many = np.flatnonzero(degree > width)
        place[np.isin(row, many)] = draw(degree[many], width, rng).ravel()
        entry = np.repeat(start, drawn) + place
        node, value = self._others.indices[entry], self._others.data[entry]
        value = value * (degree / np.maximum(drawn, 1))[row].astype(value.dtype)
        new = np.unique(node)
        nodes = np.concatenate([rows, new[~np.isin(new, rows)]])
        column = positions(nodes, self._others.shape[0])[node]
        own = np.flatnonzero(self._loops[rows])
        values = np.concatenate([self._loops[rows[own]], value])
        places = np.concatenate([own, row]), np.concatenate([own, column])
        return nodes, sparse.coo_array((values, places), (len(rows), len(nodes))).tocsr()

    def _width(self, hop: int) -> int:
        return self._fanout[min(hop, len(self._fanout) - 1)]


def draw(count: Rows, size: int, rng: Generator) -> Rows:
    """For each count, `size` different numbers below it, each set of them equally likely.

    Floyd's way, for all counts at once: the k-th number is drawn from 0 ... j = count - size + k;
    one that has been drawn before is replaced by j, which cannot have been.
    """
    chosen = np.full((len(count), size), -1, dtype=np.int64)
    for k in range(size):
        highest = count - size + k
        number = rng.integers(0, highest + 1)
        again = (chosen[:, :k] == number[:, None]).any(axis=1)
        chosen[:, k] = np.where(again, highest, number)
    return chosen
