"""What PyG data hold: edges in any of their forms, the graphs of a batch, masks."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..errors import InputError
from ..graph import Graph, as_array, check_edge_weights, weight_attribute
from ..solve import check_missing_mask


def features_of(data: Any, name: str, where: str = "") -> Tensor:
    """The features to fill; refuses data without them."""
    values = getattr(data, name, None)
    if values is None:
        raise InputError(
            f"{where or type(data).__name__} has no {name!r} to fill; it has: "
            f"{', '.join(map(repr, data.keys())) or 'nothing'} (attr= names another)."
        )
    if not isinstance(values, Tensor):
        raise InputError(
            f"{name!r} is a {type(values).__name__} but must be a tensor, one row per node."
        )
    return values


def graph_of(
    data: Any, n_nodes: int, *, edge_weight: str | None = None, directed: str = "symmetrize"
) -> Graph:
    """The graph of a Data or Batch: edge_index, or adj_t, dense or sparse.

    Loops that the data list are kept, as PyG does. ``edge_weight`` names the attribute that
    weights come from; for a sparse tensor that is its own name.
    """
    for name in ("edge_index", "adj_t"):
        edges = getattr(data, name, None)
        if edges is None or not is_sparse(edges):
            continue
        weights = None
        if edge_weight not in (None, name):
            weights = weight_attribute(data, edge_weight)
        indptr, indices, values = compressed(edges, weights)
        weights = None if edge_weight is None else values
        return Graph.from_csr(indptr, indices, weights, self_loops=True, directed=directed)
    return Graph.from_pyg(
        data, n_nodes=n_nodes, edge_weight=edge_weight, self_loops=True, directed=directed
    )


def is_sparse(edges: Any) -> bool:
    """Whether edges are a sparse matrix: of torch, or a torch_sparse.SparseTensor."""
    if isinstance(edges, Tensor):
        return edges.layout is not torch.strided
    return hasattr(edges, "csr")


def compressed(A: Any, weights: Any = None) -> tuple[Any, Any, Any]:
    """indptr, indices and values of a sparse matrix of any layout.

    With `weights`, one per entry in the order in which the matrix lists them, these are the values.
    """
    if isinstance(A, Tensor):
        A = A.detach().cpu()
        A = A if weights is None else _with_values(A, weights)
        A = A if A.layout is torch.sparse_csr else A.to_sparse_csr()
        indptr, indices, values = A.crow_indices(), A.col_indices(), A.values()
    else:
        indptr, indices, values = A.cpu().csr()
        values = values if weights is None else weights
    return indptr.numpy(), indices.numpy(), values


def _with_values(A: Tensor, weights: Any) -> Tensor:
    """The matrix with other values: in its own layout, since another has another order."""
    values = torch.from_numpy(check_edge_weights(as_array(weights), A._nnz()))
    if A.layout is torch.sparse_coo:
        return torch.sparse_coo_tensor(A._indices(), values, A.shape, check_invariants=False)
    by_row = A.layout is torch.sparse_csr
    starts, ends = (
        (A.crow_indices(), A.col_indices()) if by_row else (A.ccol_indices(), A.row_indices())
    )
    return torch.sparse_compressed_tensor(
        starts, ends, values, A.shape, layout=A.layout, check_invariants=False
    )


def graph_starts(data: Any) -> Tensor | None:
    """Where each graph of a batch begins, and the end; None for a single graph."""
    ptr = getattr(data, "ptr", None)
    return ptr if isinstance(ptr, Tensor) and len(ptr) > 2 else None


def missing_cells(x: Tensor, missing_mask: Any) -> Tensor:
    """True where a cell is NaN or masked; refuses a mask that calls a NaN known."""
    nan = x.isnan() if x.is_floating_point() else torch.zeros_like(x, dtype=torch.bool)
    if missing_mask is None:
        return nan
    mask = torch.as_tensor(missing_mask, device=x.device)
    if mask.dtype != torch.bool or mask.shape != x.shape or bool((nan & ~mask).any()):
        cells = x.detach().double().reshape(len(x), -1).cpu().numpy()
        check_missing_mask(mask.cpu().numpy(), cells, tuple(x.shape))
    return mask


def known_means(x: Tensor, missing: Tensor, starts: Tensor) -> Tensor:
    """Mean of the known cells of each column in each graph, 0 without any; one row per node."""
    sizes = starts.diff().to(x.device)
    graph = torch.repeat_interleave(torch.arange(len(sizes), device=x.device), sizes)
    zero = torch.zeros((), dtype=torch.float64, device=x.device)
    total = torch.zeros((len(sizes), *x.shape[1:]), dtype=torch.float64, device=x.device)
    count = total.clone()
    total.index_add_(0, graph, torch.where(missing, zero, x.detach().double()))
    count.index_add_(0, graph, (~missing).double())
    return (total / count.clamp(min=1.0))[graph]


def with_indicator(x: Tensor, missing: Tensor) -> Tensor:
    """The columns, and after them one per column: 1 where a cell was missing."""
    columns = x.reshape(len(x), -1)
    return torch.cat([columns, missing.reshape(columns.shape).to(x.dtype)], dim=1)
