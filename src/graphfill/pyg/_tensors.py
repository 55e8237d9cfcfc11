"""What PyG data hold: edges in any of their forms, weights, the graphs of a batch, masks."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.utils import coalesce

from ..errors import GraphfillWarning, InputError, cell, first_cell, shown, warn_caller
from ..graph import Graph, as_array, check_edge_weights, two_rows, weight_attribute
from ..solve import check_dense, check_missing_mask, check_shape
from ._base import WEIGHT


def features_of(data: Any, name: str, where: str = "") -> Tensor:
    """The features to fill; refuses data without them, and what holds no real numbers."""
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
    check_dense(values)
    check_shape(tuple(values.shape))
    if values.is_complex():
        raise InputError(
            f"{name!r} has dtype {values.dtype} but must be real: pass the real and the imaginary "
            "part as columns, torch.view_as_real(x).flatten(1)."
        )
    check_values(name, values)
    return values


def check_values(name: str, tensor: Any) -> None:
    """Refuse a tensor that has a shape but no values."""
    if getattr(tensor, "is_meta", False):
        raise InputError(
            f"{name!r} is a tensor on the device 'meta', which holds no values: load the data "
            "onto a real device first."
        )


def graph_of(
    data: Any, n_nodes: int, *, edge_weight: str | None = WEIGHT, directed: str = "symmetrize"
) -> tuple[Graph, Tensor | None]:
    """The graph of a Data or Batch, and a weight per entry where these want a gradient.

    Edges are ``edge_index``, or else ``adj_t``, dense or sparse, whose loops and weights count as
    they do for PyG. ``edge_weight`` names the attribute that weights come from; None ignores them.
    """
    options: dict[str, Any] = {"self_loops": True, "directed": directed}
    name = "adj_t" if getattr(data, "edge_index", None) is None else "edge_index"
    edges = getattr(data, name, None)
    check_values(name, edges)
    weights = weights_of(data, edge_weight, of_matrix=is_sparse(edges))
    if is_sparse(edges):
        indptr, indices, values = compressed(edges, weights)
        if edge_weight is None:
            values = None
        elif wants_gradient(weights if isinstance(weights, Tensor) else edges):
            refuse_gradient(f"the weights of a sparse {name}", "pass edge_index and edge_weight")
        return Graph.from_csr(indptr, indices, values, **options), None
    if weights is None or edges is None:
        return Graph.from_pyg(data, n_nodes=n_nodes, **options), None
    ends = torch.as_tensor(two_rows(edges, name))
    if weights.numel() == ends.shape[1]:  # or it is refused below
        # Of an edge that is listed twice PyG adds up the weights, as in a matrix.
        ends, weights = coalesce(ends, weights.reshape(-1).to(ends.device))
    listed = Data(edge_index=ends, edge_weight=weights.detach())
    graph = Graph.from_pyg(listed, n_nodes=n_nodes, edge_weight=WEIGHT, **options)
    return graph, entry_weights(graph, ends, weights) if wants_gradient(weights) else None


def weights_of(data: Any, name: str | None, *, of_matrix: bool = False) -> Tensor | None:
    """The attribute of that name as a tensor; data need not have one of PyG's own name.

    A sparse matrix has values, to which others are preferred only where they are named.
    """
    if name is None or (of_matrix and name in (WEIGHT, "adj_t", "edge_index")):
        return None
    if name == WEIGHT and getattr(data, name, None) is None:
        return None
    weights = weight_attribute(data, name)
    check_values(name, weights)
    return weights if isinstance(weights, Tensor) else torch.from_numpy(as_array(weights))


def wants_gradient(values: Any) -> bool:
    """Whether a gradient is to pass to this tensor."""
    return torch.is_grad_enabled() and getattr(values, "requires_grad", False)


def refuse_gradient(what: str, advice: str) -> None:
    """Refuse to fill where a gradient would be dropped."""
    raise InputError(
        f"A gradient is wanted for {what}, through which none passes here: {advice}, or fill under "
        "torch.no_grad()."
    )


def entry_weights(graph: Graph, ends: Tensor, weights: Tensor) -> Tensor:
    """The weight of each entry of a graph as a function of those of its edges, each listed once.

    Of the two directions the mean is taken, or the one that there is; an edge of weight 0 is none.
    """
    kept = weights.detach() != 0
    (source, target), weights = ends[:, kept], weights[kept].double().cpu()
    keys = entry_keys(graph.indptr, graph.indices)
    n = graph.n_nodes
    place = torch.searchsorted(keys, torch.cat([source * n + target, target * n + source]))
    both = torch.cat([weights, weights])
    total = torch.zeros(len(keys), dtype=torch.float64).index_add(0, place, both)
    return total / torch.bincount(place, minlength=len(keys))


def entry_keys(indptr: Any, indices: Any) -> Tensor:
    """The entries of a matrix with sorted rows as ascending numbers: row x n + column."""
    n = len(indptr) - 1
    rows = np.repeat(np.arange(n), np.diff(indptr))
    return torch.from_numpy(rows * n + indices.astype(np.int64))


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


def mask_of(data: Any, missing_mask: Any) -> Any:
    """The mask, or the attribute that it names."""
    if not isinstance(missing_mask, str):
        return missing_mask
    mask = getattr(data, missing_mask, None)
    if mask is None:
        raise InputError(
            f"{type(data).__name__} has no {missing_mask!r} to take missing_mask from; it has: "
            f"{', '.join(map(repr, data.keys())) or 'nothing'}."
        )
    return mask


def missing_cells(x: Tensor, missing_mask: Any) -> Tensor:
    """True where a cell is NaN or masked; refuses a mask that calls a NaN known.

    A mask with one entry per node masks its whole row.
    """
    nan = x.isnan() if x.is_floating_point() else torch.zeros_like(x, dtype=torch.bool)
    if missing_mask is None:
        return nan
    check_values("missing_mask", missing_mask)
    try:
        mask = torch.as_tensor(missing_mask, device=x.device)
    except (TypeError, ValueError, RuntimeError):
        raise InputError(
            f"missing_mask is {shown(missing_mask)} but must be a tensor of bool like X, or the "
            "name of an attribute that is."
        ) from None
    if mask.dtype == torch.bool and mask.shape == x.shape[:1]:
        mask = mask.reshape(-1, *[1] * (x.ndim - 1)).expand(x.shape)
    if mask.dtype != torch.bool or mask.shape != x.shape or bool((nan & ~mask).any()):
        cells = x.detach().double().reshape(len(x), -1).cpu().numpy()
        check_missing_mask(mask.cpu().numpy(), cells, tuple(x.shape))
    if mask.any() and not mask.all() and not nan.any():
        zero = x == 0
        if bool(zero[~mask].all()) and not bool(zero[mask].all()):
            warn_caller(
                "Every cell that missing_mask calls known is 0, and some that it calls missing are "
                "not: the mask must be True where a cell is missing (is it inverted?).",
                GraphfillWarning,
            )
    return mask


def as_floats(x: Tensor, missing: Tensor) -> Tensor:
    """Integers as floats of torch's default type; refuses known ones that it does not hold."""
    if x.is_floating_point():
        return x
    dtype = torch.get_default_dtype()
    floats = x.to(dtype)
    changed = (floats.double() != x.double()) & ~missing
    if bool(changed.any()):
        row, column = first_cell(changed.reshape(len(x), -1).cpu().numpy())
        raise InputError(
            f"The cell at {cell(row, column)} holds {x.reshape(len(x), -1)[row, column]}, which "
            f"{dtype} does not hold exactly: pass x.double() to fill in float64."
        )
    return floats


def known_means(x: Tensor, missing: Tensor, starts: Tensor) -> Tensor:
    """Mean of the known cells of each column in each graph, 0 without any; one row per node."""
    sizes = starts.diff().to(x.device)
    graph = torch.repeat_interleave(torch.arange(len(sizes), device=x.device), sizes)
    zero = torch.zeros((), dtype=torch.float64, device=x.device)
    total = torch.zeros((len(sizes), *x.shape[1:]), dtype=torch.float64, device=x.device)
    count = total.clone()
    total.index_add_(0, graph, torch.where(missing, zero, x.double()))
    count.index_add_(0, graph, (~missing).double())
    return (total / count.clamp(min=1.0))[graph]


def with_indicator(x: Tensor, missing: Tensor) -> Tensor:
    """The columns, and after them one per column: 1 where a cell was missing."""
    columns = x.reshape(len(x), -1)
    return torch.cat([columns, missing.reshape(columns.shape).to(x.dtype)], dim=1)
