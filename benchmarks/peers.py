"""Feature Propagation as each library offers it, behind one interface.

Every peer gets the same problem, keeps what it may prepare once, and
``run(n_steps)`` returns the table after that many steps, float32.
"""

from __future__ import annotations

import warnings

import numpy as np
import torch
from torch_geometric.data import Data
from torch_geometric.transforms import FeaturePropagation

import graphfill as gf
from problems import Problem


class Peer:
    """One library's diffusion of one problem."""

    name = "peer"

    def __init__(self, problem: Problem):
        self.problem = problem

    def run(self, n_steps: int) -> np.ndarray:
        """The table after ``n_steps`` steps."""
        raise NotImplementedError


class Graphfill(Peer):
    """graphfill's paper mode; the graph is built once."""

    def __init__(self, problem: Problem, *, reorder: bool | str = "auto", graph=None):
        super().__init__(problem)
        word = {False: "off", True: "on"}.get(reorder, reorder)
        self.name = f"graphfill, reorder {word}"
        self.reorder = reorder
        self.graph = graph or gf.Graph.from_edges(problem.edge_index, n_nodes=problem.n_nodes)

    def run(self, n_steps: int) -> np.ndarray:
        r = fill(self.problem, self.graph, n_iter=n_steps, reorder=self.reorder)
        if r.n_iter != n_steps:
            raise RuntimeError(f"graphfill took {r.n_iter} steps where {n_steps} were asked for")
        return r.X


class PyG(Peer):
    """torch_geometric.transforms.FeaturePropagation on edge_index, as its docstring shows."""

    name = "PyG"

    def run(self, n_steps: int) -> np.ndarray:
        return pyg_transform(self.problem.edge_index, self.problem.X, n_steps)


class SciPy(Peer):
    """S @ X in float32, then the known cells put back."""

    name = "SciPy"

    def __init__(self, problem: Problem):
        super().__init__(problem)
        self.known_values = problem.X.ravel()[problem.known_cells]

    def run(self, n_steps: int) -> np.ndarray:
        S, known, values = self.problem.S, self.problem.known_cells, self.known_values
        X = self.problem.zeroed
        for _ in range(n_steps):
            X = S @ X
            X.ravel()[known] = values
        return X


class TorchCSR(Peer):
    """torch.sparse_csr_tensor @ X, then the known cells put back.

    int32 indices: about a tenth faster than int64 with the MKL wheels.
    """

    name = "torch CSR"

    def __init__(self, problem: Problem):
        super().__init__(problem)
        S = problem.S
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "sparse CSR support is in beta"
            self.S = torch.sparse_csr_tensor(
                torch.from_numpy(S.indptr), torch.from_numpy(S.indices),
                torch.from_numpy(S.data), size=S.shape,
            )  # fmt: skip
        self.known = torch.from_numpy(problem.known_cells)
        self.known_values = torch.from_numpy(problem.X.ravel()[problem.known_cells])

    def run(self, n_steps: int) -> np.ndarray:
        X = torch.from_numpy(self.problem.zeroed)
        for _ in range(n_steps):
            X = self.S @ X
            X.view(-1)[self.known] = self.known_values
        return X.numpy()


def fill(problem: Problem, graph, **how):
    """gf.propagate in the paper's normalisation; its warnings are not what is measured."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return gf.propagate(problem.X, graph, normalization="sym", **how)


def pyg_transform(edge_index: np.ndarray, X: np.ndarray, n_steps: int) -> np.ndarray:
    """PyG's whole transform: mask, normalised adjacency, ``n_steps`` steps."""
    x = torch.from_numpy(X)
    data = Data(x=x, edge_index=torch.from_numpy(edge_index))
    transform = FeaturePropagation(missing_mask=torch.isnan(x), num_iterations=n_steps)
    return transform(data).x.numpy()
