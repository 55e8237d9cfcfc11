"""Mini-batches of a large graph: seed rows, and a few neighbours of theirs for each layer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .fixed import FixedLinear
from .network import Network
from .products import FixedMatrix
from .receptive import Block, Rows, positions


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

    Parameters
    ----------
    operator : CSR array [n, n]
    fanout : tuple of int
        From the seed rows outwards; the last holds for all further hops.
    """

    def __init__(self, operator: sparse.csr_array, fanout: tuple[int, ...]) -> None:
        self._loops = operator.diagonal()
        others = sparse.csr_array(operator - sparse.diags_array(self._loops), dtype=operator.dtype)
        others.eliminate_zeros()
        self._others = others
        self._fanout = fanout

    def epoch(
        self, network: Network, rows: Rows, size: int, rng: np.random.Generator
    ) -> Iterator[Batch]:
        """The rows in a new order, `size` at a time."""
        order = rng.permutation(rows)
        for start in range(0, len(order), size):
            yield self.batch(network, order[start : start + size], rng)

    def batch(self, network: Network, rows: Rows, rng: np.random.Generator) -> Batch:
        """Blocks from the last layer down to the second, then the first layer's inputs."""
        level, blocks = rows, []
        for hop in range(network.n_blocks):
            level, matrix = self.hop(level, self._width(hop), rng)
            blocks.append(Block(FixedMatrix(matrix)))
        first = network.first
        if isinstance(first, FixedLinear) and first.sample is not None:
            given, matrix = self.hop(level, self._width(network.n_blocks), rng)
            part = first.ready(first.sample(given, matrix))
        else:
            part = first.prepare(level)
        return Batch(rows, part, tuple(reversed(blocks)))

    def hop(
        self, rows: Rows, width: int, rng: np.random.Generator
    ) -> tuple[Rows, sparse.csr_array]:
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
        matrix = sparse.coo_array(
            (
                np.concatenate([self._loops[rows[own]], value]),
                (np.concatenate([own, row]), np.concatenate([own, column])),
            ),
            shape=(len(rows), len(nodes)),
        )
        return nodes, matrix.tocsr()

    def _width(self, hop: int) -> int:
        return self._fanout[min(hop, len(self._fanout) - 1)]


def draw(count: NDArray[np.int64], size: int, rng: np.random.Generator) -> NDArray[np.int64]:
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
