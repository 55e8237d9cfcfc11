"""What is filled: a graph and a table of a given size, 99 % of its cells missing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

import graphs
from harness import Options

ARXIV_NODES, ARXIV_EDGES, _ = graphs.SIZES["arxiv"]


@dataclass
class Problem:
    """Both directions of every edge (int64 [2, 2E]) and X (float32, NaN is missing)."""

    name: str
    n_nodes: int
    edge_index: np.ndarray
    X: np.ndarray

    @cached_property
    def known_cells(self) -> np.ndarray:
        """Flat positions of the known cells."""
        return np.flatnonzero(~np.isnan(self.X.ravel()))

    @cached_property
    def zeroed(self) -> np.ndarray:
        """X with 0 in the missing cells."""
        return np.nan_to_num(self.X)

    @cached_property
    def S(self) -> sp.csr_array:
        """D^-1/2 A D^-1/2, float32, int32 indices, sorted rows."""
        row, col = self.edge_index.astype(np.int32)
        shape = (self.n_nodes, self.n_nodes)
        S = sp.csr_array((np.ones(row.size, dtype=np.float32), (row, col)), shape=shape)
        S.sort_indices()
        scale = np.maximum(np.diff(S.indptr), 1).astype(np.float32) ** -0.5
        S.data *= scale[S.indices]
        S.data *= np.repeat(scale, np.diff(S.indptr))
        return S


def relative_residual(problem: Problem, filled: np.ndarray, columns=slice(None)) -> float:
    """Largest over columns of |(S x - x)_u| / |(S x_k)_u|, in float64, u the missing cells.

    0 at the fixed point; computed here, independently of what any solver claims.
    """
    S = problem.S.astype(np.float64)
    missing = np.isnan(problem.X[:, columns])
    x = filled[:, columns].astype(np.float64)
    pull = np.linalg.norm(np.where(missing, S @ problem.zeroed[:, columns], 0), axis=0)
    miss = np.linalg.norm(np.where(missing, S @ x - x, 0), axis=0)
    return float(np.max(miss[pull > 0] / pull[pull > 0], initial=0.0))


@dataclass(frozen=True)
class Case:
    """A problem by name: how to load it and how to time it.

    ``level`` is the first of quick, default, full at which the case is run.
    """

    name: str
    load: Callable[[Options], Problem]
    level: str = "default"
    few: int = 2
    many: int = 12
    rounds: int = 5
    pyg_bar: float = 1.0

    def skipped(self, options: Options) -> str:
        """Why the case is not run under these options; empty when it is."""
        if options.quick and self.level != "quick":
            return "not in --quick"
        if self.level == "full" and not options.full:
            return "needs --full"
        return ""


def path_of_ten(options: Options) -> Problem:
    """A path of ten nodes, four columns, one known cell each."""
    nodes = np.arange(9)
    X = np.full((10, 4), np.nan, dtype=np.float32)
    X[[0, 3, 6, 9], range(4)] = 1.0
    return Problem("path-10", 10, graphs.both_directions(np.stack([nodes, nodes + 1])), X)


def generated(size: str, *, shuffled: bool):
    """Loader of a generated community graph with normal features."""

    def load(options: Options) -> Problem:
        n_nodes, _, n_columns = graphs.SIZES[size]
        edges = graphs.cached_community_graph(size, shuffled=shuffled, folder=options.cache)
        X = graphs.features(n_nodes, n_columns, 0.99, seed=options.seed)
        return Problem(size, n_nodes, graphs.both_directions(edges), X)

    return load


def real(name: str, n_columns: int):
    """Loader of a real graph with normal features."""

    def load(options: Options) -> Problem:
        n_nodes, edges = graphs.real_graph(name)
        X = graphs.features(n_nodes, n_columns, 0.99, seed=options.seed)
        return Problem(name, n_nodes, graphs.both_directions(edges), X)

    return load


def real_table(name: str, missing: float = 0.99, *, by_node: bool = False):
    """Loader of a real graph with its own features, cells or whole nodes hidden."""

    def load(options: Options) -> Problem:
        n_nodes, edges = graphs.real_graph(name)
        X = graphs.real_features(name)
        rng = np.random.default_rng(options.seed)
        hidden = rng.random((n_nodes, 1) if by_node else X.shape) < missing
        X[np.broadcast_to(hidden, X.shape)] = np.nan
        return Problem(name, n_nodes, graphs.both_directions(edges), X)

    return load


def _generated_cases(size, **how):
    return [
        Case(f"{size} {order}", generated(size, shuffled=order == "shuffled"), **how | own)
        for order, own in (("shuffled", {}), ("ordered", {"pyg_bar": 0.35}))
    ]


PATH = Case("path-10", path_of_ten, "quick", few=20, many=2020)
CORA = Case("cora", real_table("cora"), "quick", few=10, many=60)
ARXIV = _generated_cases("arxiv", level="quick", pyg_bar=0.25)
REAL = [
    Case("ogbn_arxiv_graph", real("ogbn_arxiv_graph", 128)),
    Case("flickr_asu", real("flickr_asu", 64)),
    Case("world_highways 2 columns", real("world_highways", 2), few=10, many=60),
    Case("world_highways 32 columns", real("world_highways", 32)),
]
TENTH = _generated_cases("products/10", rounds=3, pyg_bar=0.25)
FULL = _generated_cases("products", level="full", rounds=2, many=8, pyg_bar=0.35)
