"""Diffusion and conjugate gradients in torch, on the device where the tensors live.

The same equations, options and stopping rules as in memory (see ``graphfill.solve``): z-space, all
columns at once, each with its own unknown cells and step lengths. Gradients pass to the known cells
and to the weights: through the steps of diffusion one by one, through the limit by another solve.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from ..graph import Graph, graph_components
from ..solve import (
    Operator,
    Problem,
    PropagationOptions,
    Result,
    check_finite,
    check_magnitudes,
    check_row_count,
    finish,
)
from ..solve._scaling import SmallComponents, choose_scales
from ..solve._solvers import Search, relative
from ..solve._steps import is_measured
from ._tensors import entry_keys

BLOCK_CELLS = 1 << 25  # cells solved for at once


def propagate_torch(
    X: Tensor, graph: Graph, *, missing: Tensor, weights: Tensor | None = None, **options: Any
) -> Result:
    """What :func:`graphfill.propagate` computes, to rounding; gradients pass.

    ``weights`` are those of the graph's entries where a gradient is wanted for them.
    ``solver="chebyshev"`` takes plain steps here, whose answer it is.
    """
    check_row_count(len(X), graph.n_nodes)
    narrow = X.is_floating_point() and X.dtype != torch.float64
    given = np.dtype(np.float32 if narrow else np.float64)
    problem = Problem.of(PropagationOptions(**options), graph, given)
    columns = X.reshape(len(X), -1).to(getattr(torch, problem.dtype.name))
    hidden = missing.reshape(len(X), -1)
    if bool((columns.detach().isinf() & ~hidden).any()):
        check_finite(columns.detach().masked_fill(hidden, 0.0).cpu().numpy())
    # Neighbours are added up, and squares are to find the residual.
    largest = torch.where(hidden, 0.0, columns.detach().abs()).amax(dim=0).cpu().numpy()
    check_magnitudes(largest, largest.dtype)
    label = graph_components(graph)[1]
    filler = TorchFill(graph, problem, label, X.device)
    if weights is not None:
        filler.track(graph, weights)
    width = max(1, BLOCK_CELLS // len(X))
    parts = [
        filler.fill(columns[:, start : start + width], ~hidden[:, start : start + width])
        for start in range(0, columns.shape[1], width)
    ]
    filled, n_iter, residuals, reached = zip(*parts, strict=True)
    out = torch.cat(filled, dim=1).reshape(X.shape)
    return finish(
        problem,
        out.to(X.dtype) if X.is_floating_point() else out,
        n_iter=np.concatenate(n_iter),
        residuals=np.concatenate(residuals),
        label=label,
        reached=np.concatenate(reached, axis=1),
        known_in_column=(~hidden).sum(dim=0).cpu().numpy(),
    )


class TorchFill:
    """The normalised graph as one sparse CSR tensor and its row factors, and how to solve on it."""

    def __init__(
        self, graph: Graph, problem: Problem, label: np.ndarray, device: torch.device
    ) -> None:
        operator = Operator(graph, problem.options, problem.dtype)
        n = operator.n_nodes
        ones = np.ones(len(operator.indices), dtype=operator.dtype)
        values = ones if operator.weights is None else operator.weights
        self.A = torch.sparse_csr_tensor(
            torch.tensor(operator.indptr),
            torch.tensor(operator.indices.astype(np.int64)),
            torch.tensor(values),
            size=(n, n),
            check_invariants=False,
        ).to(device)
        self.problem, self.device = problem, device
        self.dtype = getattr(torch, problem.dtype.name)
        self.diagonal, self.scale, self.to_z, self.from_z = (
            self._tensor(values)[:, None]
            for values in (operator.diagonal, operator.scale, operator.to_z, operator.from_z)
        )
        self._operator = operator
        self.values: Tensor | None = None  # of A, where they want a gradient
        self.label = torch.tensor(label.astype(np.int64), device=device)
        self.n_components = operator.components.count
        self.n_scales = 1
        if problem.resolution and problem.centre != "mean":
            small = SmallComponents(operator.components, operator.passes, operator.diagonal)
            self.n_scales = len(small)
            if small:
                self.component = torch.tensor(small.component.astype(np.int64), device=device)

    def track(self, graph: Graph, weights: Tensor) -> None:
        """Make all that follows from the weights a function of these, one per entry of the graph.

        The operator may have loops that the graph lacks, and weights times a power of two.
        """
        operator, options = self._operator, self.problem.options
        place = torch.searchsorted(
            entry_keys(operator.indptr, operator.indices),
            entry_keys(graph.indptr, graph.indices),
        )
        ones = torch.ones(len(operator.indices), dtype=torch.float64)
        values = ones.index_copy(0, place, weights.double().cpu()).to(self.device)
        values = values * 2.0**operator.span.exponent
        self.rows = torch.repeat_interleave(torch.tensor(operator.indptr).diff()).to(self.device)
        degree = values.new_zeros(operator.n_nodes).index_add(0, self.rows, values)[:, None]
        degree = torch.where(degree > 0, degree, 1.0)  # isolated nodes keep their zeros
        linked = self.diagonal > 0
        self.diagonal = torch.where(linked, (1.0 + options.shrinkage) * degree, 0.0).to(self.dtype)
        self.scale = torch.where(linked, 1.0 / self.diagonal, 0.0)
        if options.normalization == "sym":
            self.from_z = degree.sqrt().to(self.dtype)
            self.to_z = 1.0 / self.from_z
        self.values = values.to(self.dtype)

    def times(self, z: Tensor) -> Tensor:
        """A z."""
        if self.values is None:
            return self.A @ z
        product: Tensor = Product.apply(z, self.values, self)  # type: ignore[no-untyped-call]
        return product

    def entry_sums(self, left: Tensor, right: Tensor) -> Tensor:
        """The gradient to each entry (i, j) of A: the sum of left_i right_j over the columns."""
        columns, total = self.A.col_indices(), torch.zeros_like(self.A.values())
        width = max(1, BLOCK_CELLS // max(len(columns), 1))
        for start in range(0, left.shape[1], width):
            lanes = slice(start, start + width)
            total += (left[self.rows, lanes] * right[columns, lanes]).sum(dim=1)
        return total

    def fill(self, x: Tensor, known: Tensor) -> tuple[Tensor, np.ndarray, np.ndarray, np.ndarray]:
        """Some columns, filled; their iterations, residuals, and the components that know them."""
        z = torch.where(known, x * self.to_z, torch.zeros((), dtype=x.dtype, device=x.device))
        shift, factor = self._scales(z, known)
        z = torch.where(known, (z - shift) * factor, z)
        if self.problem.options.exact:
            z, n_iter, residuals = Limit.apply(  # type: ignore[no-untyped-call]
                z, self.values, self.diagonal, known, self
            )
        else:
            z, n_iter, residuals = self._diffusion(z, known)
        filled = (z / factor + shift) * self.from_z
        if self.problem.keep_range:
            low = torch.where(known, x, torch.inf).amin(dim=0)
            kept = filled.clamp(low, torch.where(known, x, -torch.inf).amax(dim=0))
            filled = filled + (kept - filled).detach()  # gradients are those of the mean it is
        reached = self._sums(known.float(), self.label, self.n_components) > 0
        filled = torch.where(reached[self.label], filled, self._unreached(x, known))
        return torch.where(known, x, filled), n_iter, residuals, reached.cpu().numpy()

    def _tensor(self, values: np.ndarray) -> Tensor:
        return torch.tensor(values, device=self.device, dtype=self.dtype)

    @staticmethod
    def _sums(values: Tensor, label: Tensor, n_groups: int) -> Tensor:
        """Column sums of the rows of each group."""
        sums = torch.zeros((n_groups, values.shape[1]), dtype=values.dtype, device=values.device)
        return sums.index_add_(0, label, values)

    def _scales(self, z: Tensor, known: Tensor) -> tuple[Tensor, Tensor]:
        """What z is measured from, and then multiplied by: per column, or per cell where the
        components of a column differ much in size."""
        centre = self.problem.centre
        z = z if centre == "mean" else z.detach()  # else the answer does not depend on it
        shift, one = torch.zeros_like(z[0]), torch.ones((), dtype=z.dtype, device=z.device)
        if centre != "zero":
            weight = self.diagonal.detach()
            weight = weight if centre == "degree" else torch.ones_like(weight)
            total = (weight * z).sum(dim=0, dtype=torch.float64)
            weights = (weight * known).sum(dim=0, dtype=torch.float64)
            shift = torch.where(weights > 0, total / weights.clamp(min=1e-300), 0.0).to(z.dtype)
        if self.n_scales > 1:
            terms, sums = (self.diagonal.detach() * known).double(), []
            for _ in range(3):  # of weight, weight z and weight z^2
                sums.append(self._sums(terms, self.component, self.n_scales).cpu().numpy())
                terms = terms * z
            columns = shift.cpu().numpy()
            chosen = choose_scales(sums, columns, self.problem.dtype, centred=centre == "degree")
            if chosen is not None:
                shifts, factors = (self._tensor(part)[self.component] for part in chosen)
                return shifts, factors
        return shift, one

    def _unreached(self, x: Tensor, known: Tensor) -> Tensor:
        """What cells get that nothing known is connected to."""
        unreached = self.problem.options.unreached
        if unreached != "mean":
            return torch.full_like(x[0], 0.0 if unreached == "zero" else torch.nan)
        total = torch.where(known, x, torch.zeros_like(x)).sum(dim=0, dtype=torch.float64)
        return (total / known.sum(dim=0).clamp(min=1)).to(x.dtype)

    def _residual(self, z: Tensor, known: Tensor, source: Tensor | float = 0.0) -> Tensor:
        return torch.where(known, 0.0, source + (self.A @ z - self.diagonal * z))

    def _diffusion(self, start: Tensor, known: Tensor) -> tuple[Tensor, np.ndarray, np.ndarray]:
        """z_u <- D_uu^-1 (A z)_u, out of place so that gradients pass."""
        n_iter, z = self.problem.options.n_iter, start
        reference: np.ndarray | None = None
        if not n_iter:
            r = self._residual(z, known).detach()
            reference = squared = _dot(r, self.scale.detach() * r)
        for step in range(1, n_iter + 1):
            new = torch.where(known, start, self.scale * self.times(z))
            if is_measured(step, n_iter, reference):
                change = (new - z).detach()
                squared = _dot(change, self.diagonal.detach() * change)
                reference = squared if reference is None else reference
            z = new
        assert reference is not None
        return z, np.full(z.shape[1], n_iter), relative(squared, reference)

    @torch.no_grad()
    def conjugate_gradients(
        self, z: Tensor, known: Tensor, source: Tensor | float = 0.0
    ) -> tuple[Tensor, np.ndarray, np.ndarray]:
        """L_uu z_u = A_uk z_k + source with D as preconditioner, by the rules of `Search`."""
        problem, max_iter = self.problem, self.problem.options.max_iter
        r = self._residual(z, known, source)
        squared = _dot(r, self.scale * r)
        floor = problem.resolution**2 * _dot(z, self.diagonal * z)
        search = Search.start(squared, np.maximum(squared, floor), problem.stop)
        while search.active.any():
            p = self._tensor(search.active) * self.scale * r
            while search.active.any():
                q = torch.where(known, 0.0, self.diagonal * p - self.A @ p)
                search.set_length(_dot(p, q), max_iter)
                alpha = self._tensor(search.alpha)
                z, r = z + alpha * p, r - alpha * q
                search.set_direction(_dot(r, self.scale * r))
                active, beta = self._tensor(search.active), self._tensor(search.beta)
                p = active * self.scale * r + beta * p
            if search.settle(_dot(z, self.diagonal * z), problem.dtype):
                break
            r = self._residual(z, known, source)
            search.restart(_dot(r, self.scale * r), max_iter)
        return z, search.iterations, search.residual()


def _dot(a: Tensor, b: Tensor) -> np.ndarray:
    """a . b per column; in float64, as squares of float32 numbers may be no float32."""
    return (a.double() * b).sum(dim=0).cpu().numpy()


class Product(torch.autograd.Function):
    """A z as a function of z and of the entries of the symmetric matrix A."""

    @staticmethod
    def forward(ctx: Any, z: Tensor, values: Tensor, filler: TorchFill) -> Tensor:
        ctx.save_for_backward(z)
        ctx.filler = filler
        return filler.A @ z

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None]:
        (z,) = ctx.saved_tensors
        return ctx.filler.A @ gradient, ctx.filler.entry_sums(gradient, z), None


class Limit(torch.autograd.Function):
    """The solution of diagonal z - A z = 0 at unknown cells, as a function of all three.

    With y the solution of L_uu y_u = g_u for a gradient g, and y_k = 0, the gradients are
    g_k + A_ku y_u to the known cells, y_i z_j to A_ij and -y_i z_i to the diagonal.
    """

    @staticmethod
    def forward(
        ctx: Any, z: Tensor, values: Tensor | None, diagonal: Tensor, known: Tensor, fill: TorchFill
    ) -> tuple[Tensor, np.ndarray, np.ndarray]:
        solved, n_iter, residuals = fill.conjugate_gradients(z, known)
        ctx.save_for_backward(solved, known)
        ctx.fill = fill
        return solved, n_iter, residuals

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor, *_: Any) -> tuple[Tensor | None, ...]:
        (z, known), fill = ctx.saved_tensors, ctx.fill
        y, _, _ = fill.conjugate_gradients(torch.zeros_like(z), known, gradient)
        to_known = torch.where(known, gradient + fill.A @ y, 0.0)
        tracked = fill.values is not None
        to_diagonal = -(y * z).sum(dim=1, keepdim=True) if tracked else None
        return to_known, fill.entry_sums(y, z) if tracked else None, to_diagonal, None, None
