"""Feature Propagation as a PyG transform."""

# mypy: allow-subclassing-any
from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import IterDataPipe
from torch_geometric.data import HeteroData
from torch_geometric.data.datapipes import functional_transform
from torch_geometric.transforms import BaseTransform

# PyG's own registers its name when it is imported: it has to come first.
from torch_geometric.transforms import FeaturePropagation as _PyGFeaturePropagation  # noqa: F401

from .. import errors
from ..errors import InputError
from ..graph._graph import Graph
from ..solve import (
    PropagationOptions,
    Result,
    check_row_count,
    open_matrix,
    propagate_with,
    warn_of,
)
from . import _tensors as tensors
from ._base import WEIGHT, check_attribute_name
from ._hetero_transform import TypedTransform, check_steps
from ._torch_solver import propagate_torch

Weighted = tuple[Graph, Tensor | None]  # a graph, and its weights where they want a gradient
ON_CPU_ALONE = ("reorder", "memory_limit", "threads")  # options that torch has no use for


class FeaturePropagation(TypedTransform):
    r"""Fill missing node features by diffusing the known ones along the edges.

    .. math:: X \leftarrow D^{-1/2} A D^{-1/2} X, \quad \text{known cells held fixed}

    A superset of PyG's transform of that name (functional name ``feature_propagation``): called
    with its arguments, it returns its values on undirected graphs. Beyond that, NaN is missing
    without a mask; the transform holds no graph and fills any Data, Batch or HeteroData; known
    cells keep their bits, tensors of floats their dtype and all their device (integers with missing
    cells come back in torch's default dtype). A Batch is filled in one call, with the values its
    graphs would get one by one.

    Parameters
    ----------
    missing_mask : bool tensor, or the name of an attribute that is one, optional
        True where a cell is missing; must cover every NaN. Of the shape of the features, or one
        entry per node. For HeteroData a dict by node type, or a name.
    num_iterations, n_iter : int
        Steps of diffusion, 40 by default; two names of one number. Not for the exact solver.
    solver, tol, max_iter, normalization, self_loops, shrinkage, unreached
        As in :func:`graphfill.propagate`.
    edge_weight : str, optional
        The attribute to take weights from, where the data have it; an ``adj_t`` has its values.
        None ignores weights. ``edge_attr`` is no weight unless named.
    directed : {"symmetrize", "refuse"}
        Take each edge both ways, with a `SymmetrizedWarning` if some are listed one way only, or
        refuse these (of a Data or Batch; those of a HeteroData are taken both ways).
    add_indicator : bool
        Append one column per column, 1 where a cell was missing.
    attr : str
        The attribute to fill.
    backend : {"auto", "torch", "cpu"}
        "cpu" runs graphfill's kernels, "torch" runs on the tensors' device. "auto" is "cpu"
        unless the tensors live elsewhere or a gradient has to pass, to the features or to the
        weights beside an ``edge_index``. A HeteroData is filled by the CPU's kernels.
    threads : int, optional
        Of the CPU kernels; by default as many as torch is set to (one in a DataLoader's worker).
    weights, shared, like
        For HeteroData, as in :class:`HeteroPropagation`.

    Examples
    --------
    >>> import torch
    >>> from torch_geometric.data import Data
    >>> triangle = torch.tensor([[0, 1, 1, 2, 2, 0], [1, 0, 2, 1, 0, 2]])
    >>> data = Data(x=torch.tensor([1.0, 3.0, float("nan")]), edge_index=triangle)
    >>> FeaturePropagation()(data).x.round(decimals=4)
    tensor([1., 3., 2.])
    """

    __module__ = "graphfill.pyg"

    def __init__(
        self,
        missing_mask: Any = None,
        num_iterations: int | None = None,
        *,
        n_iter: int | None = None,
        solver: str = "diffusion",
        tol: float | None = None,
        max_iter: int = 10_000,
        normalization: str = "sym",
        self_loops: bool = False,
        shrinkage: float = 0.0,
        unreached: str = "zero",
        edge_weight: str | None = WEIGHT,
        directed: str = "symmetrize",
        add_indicator: bool = False,
        attr: str = "x",
        backend: str = "auto",
        threads: int | None = None,
        weights: Any = None,
        shared: Any = None,
        like: dict[str, str | None] | None = None,
    ) -> None:
        if num_iterations is not None and n_iter is not None and num_iterations != n_iter:
            raise InputError(
                f"num_iterations is {num_iterations} and n_iter is {n_iter}, which are two names "
                "of one number: pass one of them."
            )
        given = n_iter if num_iterations is None else num_iterations
        steps = 40 if given is None else given
        errors.check_number("num_iterations", steps, low=0, integer=True)
        errors.check_choice("directed", directed, ("symmetrize", "refuse"))
        errors.check_choice("backend", backend, ("auto", "torch", "cpu"))
        errors.check_flag("add_indicator", add_indicator)
        check_attribute_name("attr", attr)
        check_attribute_name("edge_weight", edge_weight, optional=True)
        self.options = PropagationOptions(
            normalization=normalization,
            solver=solver,
            n_iter=steps,
            tol=tol,
            max_iter=max_iter,
            self_loops=self_loops,
            shrinkage=shrinkage,
            unreached=unreached,
            threads=threads,
        )
        check_steps(given, self.options)
        self.missing_mask, self.attr, self.edge_weight = missing_mask, attr, edge_weight
        self.directed, self.add_indicator, self.backend = directed, add_indicator, backend
        self.types = {"weights": weights, "shared": shared, "like": like}

    @property
    def num_iterations(self) -> int:
        """PyG's name of `n_iter`."""
        return self.options.n_iter

    @num_iterations.setter
    def num_iterations(self, steps: int) -> None:
        self.options = replace(self.options, n_iter=steps)

    def forward(self, data: Any) -> Any:
        if isinstance(data, HeteroData):
            if self.directed == "refuse":
                raise InputError(
                    "directed='refuse' is for Data, but edges of HeteroData are taken both ways: "
                    "leave it out."
                )
            if self.backend == "torch":
                raise InputError(
                    "backend='torch' is for Data, but HeteroData is filled by the CPU's kernels: "
                    "leave it out."
                )
            return super().forward(data)
        for name in ("weights", "shared", "like"):
            if self.types[name] is not None:
                advice = "edge_weight= names the attribute with a weight per edge"
                raise InputError(
                    f"{name}= is for HeteroData, but this is {type(data).__name__}: leave it out"
                    f"{f' ({advice})' if name == 'weights' else ''}."
                )
        x = tensors.features_of(data, self.attr)
        missing = tensors.missing_cells(x, tensors.mask_of(data, self.missing_mask))
        graph, weights = tensors.graph_of(
            data, len(x), edge_weight=self.edge_weight, directed=self.directed
        )
        check_row_count(len(x), graph.n_nodes)
        filled = x  # as it is if nothing is missing, integers too
        if bool(missing.any()):
            if not x.is_floating_point():
                open_matrix(x, missing_mask=missing)  # refuses integers that no float holds
            floats = tensors.as_floats(x, missing)
            filled = self._fill(floats, missing, (graph, weights), tensors.graph_starts(data))
        if self.add_indicator:
            filled = tensors.with_indicator(filled, missing)
        setattr(data, self.attr, filled)
        return data

    def _fill(self, x: Tensor, missing: Tensor, graph: Weighted, starts: Tensor | None) -> Tensor:
        """Fill one graph, or the graphs of a batch as if one by one.

        Only a column's mean depends on the other graphs, so where a mean is needed, that of each
        graph is put in here.
        """
        unreached = self.options.unreached
        centred = self.options.shrinkage > 0 and self.options.normalization == "rw"
        if starts is None or not (unreached == "mean" or centred):
            solved: Tensor = self._solve(x, missing, graph, self.options).X
            return solved
        means = tensors.known_means(x, missing, starts)
        wide = x.double() - means if centred else x
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", errors.UnreachedWarning)
            result = self._solve(wide, missing, graph, replace(self.options, unreached="nan"))
        if result.n_unreached:
            known = (~missing).reshape(len(x), -1).sum(dim=0).cpu().numpy()
            warn_of(result, int(missing.sum()), unreached, known, None)
        filled = result.X + means if centred else result.X
        filler = torch.full_like(means, torch.nan if unreached == "nan" else 0.0)
        filler = means if unreached == "mean" else filler
        filled = torch.where(filled.isnan(), filler.to(filled.dtype), filled)
        return torch.where(missing, filled.to(x.dtype), x)

    def _solve(
        self, x: Tensor, missing: Tensor, weighted: Weighted, options: PropagationOptions
    ) -> Result:
        backend, (graph, weights) = self.backend, weighted
        tracked = tensors.wants_gradient(x)
        if backend == "auto":
            elsewhere = x.device.type != "cpu"
            backend = "torch" if elsewhere or tracked or weights is not None else "cpu"
        if backend == "torch":
            given = {k: value for k, value in vars(options).items() if k not in ON_CPU_ALONE}
            return propagate_torch(x, graph, missing=missing, weights=weights, **given)
        if weights is not None:
            tensors.refuse_gradient(f"{self.edge_weight!r}", "leave out backend='cpu'")
        if tracked:
            errors.warn_caller(
                f"{self.attr!r} requires a gradient, which does not pass through the CPU's "
                "kernels, so the result is detached: backend 'auto' or 'torch' keeps it.",
                errors.GraphfillWarning,
            )
        return propagate_with(x, graph, options, missing_mask=missing)

    def _arguments(self) -> list[str]:
        """As PyG prints its own transform, and then what else is not the default."""
        named = ("n_iter=", "num_iterations=")
        parts = [part for part in super()._arguments() if not part.startswith(named)]
        if not self.options.exact or self.options.n_iter != 40:
            parts.insert(0, f"num_iterations={self.num_iterations}")
        if isinstance(self.missing_mask, Tensor):
            share = 100 * float(self.missing_mask.float().mean())
            parts.insert(0, f"missing_features={share:.1f}%")
        return parts


def _register(name: str, transform: type[BaseTransform]) -> None:
    """Let ``datapipe.name(...)`` make this transform; PyG's class itself stays as it is."""
    IterDataPipe.functions.pop(name, None)  # a name that is taken cannot be registered
    functional_transform(name)(transform)


_register("feature_propagation", FeaturePropagation)
