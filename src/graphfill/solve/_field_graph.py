"""A graph as the field sees it: degrees of mean 1, products with its Laplacian, its spectrum."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import kernels
from ..graph import Graph, graph_components
from ._spectrum import Spectrum, laplacian_spectrum

Floats = NDArray[np.float64]

NOISE_ENTRIES = 1 << 20  # of edges times channels, that noise is drawn for at once


class FieldGraph:
    """A graph, scaled; L = D - A.

    `links` is the graph that is propagated on, where a field looks at another.
    """

    def __init__(
        self,
        graph: Graph,
        threads: int = 1,
        mean_degree: float = 0.0,
        links: Graph | None = None,
    ) -> None:
        self.links = links or graph
        self.graph, self.n_nodes, self.threads = graph, graph.n_nodes, threads
        degree = graph.degrees()
        self.mean_degree = mean_degree or float(degree.mean()) or 1.0
        self.degree = degree / self.mean_degree
        self.label = graph_components(graph)[1]
        self._passes: dict[Any, tuple[kernels.Passes, NDArray[Any]]] = {}

    @property
    def unit(self) -> float:
        """What the products of `multiply` are to be multiplied with."""
        return 1.0 / self.mean_degree if self.graph.weights is None else 1.0

    def weights(self, entries: Any = slice(None)) -> Floats:
        """Of some entries."""
        if self.graph.weights is None:
            return np.full(len(self.graph.indices[entries]), 1.0 / self.mean_degree)
        return np.asarray(self.graph.weights[entries] / self.mean_degree)

    @cached_property
    def spectrum(self) -> Spectrum:
        return laplacian_spectrum(self.laplacian, self.label)

    def part(self, nodes: NDArray[np.intp]) -> FieldGraph:
        """Some nodes and the edges between them, their rows of L as in the whole graph."""
        part = FieldGraph(between(self.graph, nodes), mean_degree=self.mean_degree)
        part.degree = self.degree[nodes]
        return part

    def multiply(self, bits: NDArray[np.uint8], tile: NDArray[Any], out: NDArray[Any]) -> None:
        """A tile times L / `unit`; rows whose bits are all set become 0."""
        if tile.dtype not in self._passes:
            weights, graph = None, self.graph
            if graph.weights is not None:
                weights = self.weights().astype(tile.dtype, copy=False)
            passes = kernels.Passes(graph.indptr, graph.indices, weights, self.threads)
            factor = (self.degree / self.unit).astype(tile.dtype)
            self._passes[tile.dtype] = passes, factor
        passes, factor = self._passes[tile.dtype]
        passes.laplacian(factor, bits, tile, out)

    def laplacian(self, Z: NDArray[Any]) -> Floats:
        """L Z, all of it."""
        tiles = Tiles(self.n_nodes, Z.shape[1], np.dtype(np.float64))
        product = np.empty(Z.shape)
        z, q = tiles.zeros(), tiles.zeros()
        for k, (channels, width) in enumerate(tiles.parts):
            tiles.part(z, k)[:, : channels.stop - channels.start] = Z[:, channels]
            nothing = np.zeros((self.n_nodes, -(-width // 8)), dtype=np.uint8)
            self.multiply(nothing, tiles.part(z, k), tiles.part(q, k))
            result = tiles.part(q, k)[:, : channels.stop - channels.start]
            np.multiply(result, self.unit, out=product[:, channels])
        return product


class Tiles:
    """Where the channels of all rows lie in one array, cut into tiles as the kernels take them.

    After the last tile comes one more number, which stays 0.
    """

    def __init__(self, n_rows: int, n_channels: int, dtype: np.dtype[Any]) -> None:
        self.n_rows, self.dtype = n_rows, dtype
        widths = kernels.tile_widths(dtype)
        self.parts: list[tuple[slice, int]] = []  # channels, and the width of their tile
        self.starts: list[int] = []
        self.size, first = 0, 0
        while first < n_channels:
            left = n_channels - first
            width = next((w for w in widths if w >= left), widths[-1])
            self.parts.append((slice(first, first + min(width, left)), width))
            self.starts.append(self.size)
            self.size, first = self.size + n_rows * width, first + width
        self._first = np.full(n_channels + 1, self.size)  # of a channel; the last is the 0
        self._step = np.zeros(n_channels + 1, dtype=np.intp)
        for (channels, width), start in zip(self.parts, self.starts, strict=True):
            self._first[channels] = start + np.arange(channels.stop - channels.start)
            self._step[channels] = width

    def zeros(self) -> NDArray[Any]:
        tile = kernels.empty_tile(self.size + 1, 1, self.dtype).reshape(-1)
        tile.fill(0)
        return tile

    def part(self, array: NDArray[Any], k: int) -> NDArray[Any]:
        """The k-th tile, [rows, width]."""
        width = self.parts[k][1]
        return array[self.starts[k] : self.starts[k] + self.n_rows * width].reshape(-1, width)

    def place(self, rows: NDArray[np.intp], channels: NDArray[np.intp]) -> NDArray[np.intp]:
        """Where a cell lies; one beyond the last channel is the 0 at the end."""
        channels = np.minimum(channels, len(self._first) - 1)
        return np.asarray(self._first[channels] + rows * self._step[channels])

    @cached_property
    def lanes(self) -> list[slice]:
        """Where the tiles are, were they side by side."""
        ends = np.cumsum([0, *(width for _, width in self.parts)]).tolist()
        return [slice(*pair) for pair in pairwise(ends)]

    def spread(self, small: Floats) -> NDArray[Any]:
        """A [channels, channels] matrix for tiles side by side, 0 where there is no channel."""
        total = sum(width for _, width in self.parts)
        there = [
            lanes.start + np.arange(channels.stop - channels.start)
            for lanes, (channels, _) in zip(self.lanes, self.parts, strict=True)
        ]
        at = np.concatenate([np.empty(0, np.intp), *there])
        whole = np.zeros((total, total), dtype=self.dtype)
        whole[np.ix_(at, at)] = small
        return whole


def between(graph: Graph, nodes: NDArray[np.intp]) -> Graph:
    """Some nodes and the edges between them."""
    rank = np.full(graph.n_nodes, -1, dtype=np.int32)
    rank[nodes] = np.arange(len(nodes), dtype=np.int32)
    rows = kernels.select_rows(
        graph.indptr, graph.indices, graph.weights, nodes.astype(np.int32), rank
    )
    return Graph.of_sorted_rows(*rows)


def edge_noise(graph: FieldGraph, width: int, rng: np.random.Generator) -> Floats:
    """B' e for the weighted incidence matrix B and normal e: numbers of covariance L = B' B."""
    out = np.zeros((graph.n_nodes, width))
    indptr, indices = graph.graph.indptr, graph.graph.indices
    step = max(1, NOISE_ENTRIES // width)
    for start in range(0, len(indices), step):
        at = np.arange(start, min(start + step, len(indices)))
        u, v = np.searchsorted(indptr, at, side="right") - 1, indices[at]
        once = u < v
        u, v = u[once], v[once]
        e = rng.standard_normal((len(u), width)) * np.sqrt(graph.weights(at[once]))[:, None]
        for column in range(width):
            out[:, column] += np.bincount(u, e[:, column], graph.n_nodes)
            out[:, column] -= np.bincount(v, e[:, column], graph.n_nodes)
    return out
