"""Feature Propagation as a PyG transform."""

from __future__ import annotations

import warnings
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
from ..solve import check_dense, check_row_count, check_shape, open_matrix
from ..solve._propagate import Result, propagate, warn_of
from . import _refuse
from ._hetero_transform import fill_hetero
from ._tensors import graph_of, graph_starts, known_means, missing_cells, with_indicator
from ._torch_solver import propagate_torch

N_ITER = 40


class FeaturePropagation(BaseTransform):
    r"""Fill missing node features by diffusing the known ones along the edges.

    .. math:: X \leftarrow D^{-1/2} A D^{-1/2} X, \quad \text{known cells held fixed}

    A superset of PyG's transform of that name (functional name ``feature_propagation``): called
    with its arguments, it returns its values on undirected graphs. Beyond that, NaN is missing
    without a mask; the transform holds no graph and fills any Data, Batch or HeteroData; known
    cells keep their bits, tensors of floats their dtype and all their device (integers with missing
    cells come back as float64). A Batch is filled in one call, with the values its graphs would
    get one by one.

    Parameters
    ----------
    missing_mask : bool tensor of the shape of the features, optional
        True where a cell is missing; must cover every NaN. For HeteroData a dict by node type.
    num_iterations, n_iter : int
        Steps of diffusion, 40 by default; two names of one number.
    solver, tol, max_iter, normalization, self_loops, shrinkage, unreached
        As in :func:`graphfill.propagate`.
    edge_weight : str, optional
        The attribute to take weights from. ``edge_attr`` is no weight unless named.
    directed : {"symmetrize", "refuse"}
        Take each edge both ways, or refuse edges that are not listed alike in both directions
        (of a Data or Batch; those of a HeteroData are taken both ways).
    add_indicator : bool
        Append one column per column, 1 where a cell was missing.
    attr : str
        The attribute to fill.
    backend : {"auto", "torch", "cpu"}
        "cpu" runs graphfill's kernels, "torch" runs on the tensors' device. "auto" is "cpu"
        unless the tensors live elsewhere or a gradient has to pass (through diffusion). A
        HeteroData is filled by the CPU's kernels.
    threads : int, optional
        Of the CPU kernels; all available cores by default.
    weights, shared, like
        For HeteroData, as in :class:`HeteroPropagation`.

    Examples
    --------
    >>> from torch_geometric.data import Data
    >>> triangle = torch.tensor([[0, 1, 2], [1, 2, 0]])
    >>> data = Data(x=torch.tensor([1.0, 3.0, float("nan")]), edge_index=triangle)
    >>> FeaturePropagation()(data).x.round(decimals=4)
    tensor([1., 3., 2.])
    """

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
        edge_weight: str | None = None,
        directed: str = "symmetrize",
        add_indicator: bool = False,
        attr: str = "x",
        backend: str = "auto",
        threads: int | None = None,
        weights: Any = None,
        shared: Any = None,
        like: dict[str, str] | None = None,
    ) -> None:
        self.num_iterations = _refuse.check_steps(num_iterations, n_iter, N_ITER)
        errors.check_number("num_iterations", self.num_iterations, low=0, integer=True)
        errors.check_choice("solver", solver, ("diffusion", "chebyshev", "exact"))
        errors.check_choice("normalization", normalization, ("sym", "rw"))
        errors.check_choice("unreached", unreached, ("zero", "mean", "nan"))
        errors.check_choice("directed", directed, ("symmetrize", "refuse"))
        errors.check_choice("backend", backend, ("auto", "torch", "cpu"))
        errors.check_flag("self_loops", self_loops)
        errors.check_flag("add_indicator", add_indicator)
        errors.check_number("shrinkage", shrinkage, low=0)
        errors.check_number("max_iter", max_iter, low=1, integer=True)
        if tol is not None:
            errors.check_number("tol", tol, low=0)
        self.missing_mask = missing_mask
        self.solver, self.tol, self.max_iter = solver, tol, max_iter
        self.normalization, self.self_loops = normalization, self_loops
        self.shrinkage, self.unreached = shrinkage, unreached
        self.edge_weight, self.directed = edge_weight, directed
        self.add_indicator, self.attr = add_indicator, attr
        self.backend, self.threads = backend, threads
        self.weights, self.shared, self.like = weights, shared, like

    def forward(self, data: Any) -> Any:
        if isinstance(data, HeteroData):
            _refuse.check_typed_options(self.directed, self.backend)
            return fill_hetero(
                data,
                attr=self.attr,
                missing_mask=self.missing_mask,
                edge_weight=self.edge_weight,
                add_indicator=self.add_indicator,
                weights=self.weights,
                shared=self.shared,
                like=self.like,
                threads=self.threads,
                unreached=self.unreached,
                **self._options(),
            )
        x = _refuse.check_feature_attribute(data, self.attr)
        check_dense(x)
        check_shape(tuple(x.shape))
        missing = missing_cells(x, self.missing_mask)
        graph = graph_of(data, len(x), edge_weight=self.edge_weight, directed=self.directed)
        check_row_count(len(x), graph.n_nodes)
        filled = x  # as it is if nothing is missing, integers too
        if bool(missing.any()):
            if not x.is_floating_point():
                open_matrix(x, missing_mask=missing)  # refuses integers that no float holds
            filled = self._fill(x, missing, graph, graph_starts(data))
        setattr(data, self.attr, with_indicator(filled, missing) if self.add_indicator else filled)
        return data

    def _options(self) -> dict[str, Any]:
        return {
            "solver": self.solver,
            "n_iter": self.num_iterations,
            "tol": self.tol,
            "max_iter": self.max_iter,
            "normalization": self.normalization,
            "self_loops": self.self_loops,
            "shrinkage": self.shrinkage,
        }

    def _fill(self, x: Tensor, missing: Tensor, graph: Any, starts: Tensor | None) -> Tensor:
        """Fill one graph, or the graphs of a batch as if one by one.

        Only a column's mean depends on the other graphs, so where one is called for, it is put
        in by hand.
        """
        by_mean = self.unreached == "mean"
        centred = self.shrinkage > 0 and self.normalization == "rw"
        if starts is None or not (by_mean or centred):
            return self._solve(x, missing, graph, self.unreached).X
        means = known_means(x, missing, starts)
        wide = x.double() - means if centred else x
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", errors.UnreachedWarning)
            result = self._solve(wide, missing, graph, "nan")
        if result.n_unreached:
            known = (~missing).reshape(len(x), -1).sum(dim=0).cpu().numpy()
            warn_of(result, int(missing.sum()), self.unreached, known, None)
        filled = result.X + means if centred else result.X
        filler = means if by_mean else torch.full_like(means, 0.0)
        if self.unreached == "nan":
            filler = torch.full_like(means, torch.nan)
        filled = torch.where(filled.isnan(), filler.to(filled.dtype), filled)
        dtype = x.dtype if x.is_floating_point() else filled.dtype
        return torch.where(missing, filled.to(dtype), x.to(dtype))

    def _solve(self, x: Tensor, missing: Tensor, graph: Any, unreached: str) -> Result:
        options = self._options() | {"unreached": unreached}
        backend = self.backend
        tracked = x.requires_grad and torch.is_grad_enabled()
        if backend == "auto":
            elsewhere = x.device.type != "cpu"
            backend = "torch" if elsewhere or (tracked and self.solver != "exact") else "cpu"
        if tracked and (backend == "cpu" or self.solver == "exact"):
            _refuse.warn_detached(self.attr)
        if backend == "torch":
            return propagate_torch(x, graph, missing=missing, **options)
        return propagate(x, graph, missing_mask=missing, threads=self.threads, **options)

    def __repr__(self) -> str:
        said = []
        if isinstance(self.missing_mask, Tensor):
            share = 100 * float(self.missing_mask.float().mean())
            said.append(f"missing_features={share:.1f}%")
        if self.solver != "diffusion":
            said.append(f"solver={self.solver!r}")
        if self.solver != "exact":
            said.append(f"num_iterations={self.num_iterations}")
        for name, default in (("normalization", "sym"), ("attr", "x"), ("edge_weight", None)):
            if getattr(self, name) != default:
                said.append(f"{name}={getattr(self, name)!r}")
        return f"{type(self).__name__}({', '.join(said)})"


def _register(name: str, transform: type[BaseTransform]) -> None:
    """Let ``datapipe.name(...)`` make this transform; PyG's class itself stays as it is."""
    IterDataPipe.functions.pop(name, None)  # a name that is taken cannot be registered
    functional_transform(name)(transform)


_register("feature_propagation", FeaturePropagation)
