"""Diffusion and conjugate gradients in torch, on the device where the tensors live.

The same equations as the CPU kernels (see ``operator``): z-space, all columns at once, each
with its own unknown cells and step lengths.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from ..graph import _refuse_matrices
from ..graph._components import graph_components
from ..graph._graph import Graph
from ..solve._convergence import has_converged, warn_of_residual
from ..solve._operator import Operator
from ..solve._propagate import DEFAULT_TOL, Result, warn_of
from ..solve._solvers import resolution
from ..solve._weight_span import Span

BLOCK_CELLS = 1 << 25  # cells solved for at once


class TorchOperator:
    """The normalised graph as one sparse CSR tensor and its row factors."""

    def __init__(self, operator: Operator, label: np.ndarray, device: torch.device) -> None:
        dtype = getattr(torch, operator.dtype.name)
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

        def column(values: np.ndarray) -> Tensor:
            return torch.tensor(values, device=device, dtype=dtype)[:, None]

        self.diagonal, self.scale = column(operator.diagonal), column(operator.scale)
        self.to_z, self.from_z = column(operator.to_z), column(operator.from_z)
        self.label = torch.tensor(label.astype(np.int64), device=device)
        self.n_components = operator.components.count

    def reached(self, known: Tensor) -> Tensor:
        """[component, column]: whether anything is known there."""
        count = torch.zeros((self.n_components, known.shape[1]), device=known.device)
        return count.index_add_(0, self.label, known.to(count.dtype)) > 0


def propagate_torch(
    X: Tensor,
    graph: Graph,
    *,
    missing: Tensor,
    normalization: str = "sym",
    solver: str = "diffusion",
    n_iter: int = 40,
    tol: float | None = None,
    max_iter: int = 10_000,
    self_loops: bool = False,
    shrinkage: float = 0.0,
    unreached: str = "zero",
) -> Result:
    """What :func:`graphfill.propagate` computes, to rounding; gradients pass through diffusion.

    ``solver="chebyshev"`` takes plain steps here, whose answer it is.
    """
    _refuse_matrices.check_row_count(len(X), graph.n_nodes)
    dtype = X.dtype if X.dtype in (torch.float32, torch.float64) else torch.float32
    exact = solver == "exact"
    span = Span.of(graph, self_loops=self_loops, shrinkage=shrinkage)
    if not X.is_floating_point() or span.dtype(np.dtype(np.float32), exact=exact) == np.float64:
        dtype = torch.float64
    columns, hidden = X.reshape(len(X), -1).to(dtype), missing.reshape(len(X), -1)
    if bool((columns.detach().isinf() & ~hidden).any()):
        _refuse_matrices.check_finite(columns.detach().masked_fill(hidden, 0.0).cpu().numpy())
    # Neighbours are added up, and squares are to find the residual.
    largest = torch.where(hidden, 0.0, columns.detach().abs()).amax(dim=0).cpu().numpy()
    _refuse_matrices.check_magnitudes(largest, largest.dtype)
    name = str(dtype).removeprefix("torch.")
    own = "float64" if not X.is_floating_point() or X.dtype == torch.float64 else "float32"
    label = graph_components(graph)[1]
    operator = Operator(
        graph,
        normalization=normalization,
        self_loops=self_loops,
        dtype=np.dtype(name),
        shrinkage=shrinkage,
    )
    on_device = TorchOperator(operator, label, X.device)
    tolerance = DEFAULT_TOL[own] if tol is None else tol
    centre = "zero"
    if shrinkage > 0:
        centre = "mean" if normalization == "rw" else "zero"
    elif exact:
        centre = "degree"

    parts, steps, residuals, reaches = [], 0, [], []
    for block in _blocks(*columns.shape):
        x, known = columns[:, block], ~hidden[:, block]
        start = torch.where(known, x * on_device.to_z, torch.zeros((), dtype=dtype).to(x))
        shift = _centre(on_device, start, known, centre)
        start = torch.where(known, start - shift, start)
        if exact:
            z, taken, residual = _conjugate_gradients(
                on_device,
                start.detach(),
                known,
                span.tolerance(tolerance),
                max_iter,
                resolution(tolerance, operator.dtype),
            )
        else:
            z, taken, residual = _diffusion(on_device, start, known, n_iter)
        reached = on_device.reached(known)
        filler = _filler(x, known, unreached)
        filled = torch.where(reached[on_device.label], (z + shift) * on_device.from_z, filler)
        parts.append(torch.where(known, x, filled))
        steps = max(steps, taken)
        residuals.append(residual.cpu().numpy())
        reaches.append(reached.cpu().numpy())
    reached_all = np.concatenate(reaches, axis=1)
    residual_all = np.concatenate(residuals)
    asked = tolerance if exact else tol
    n_missing = int(hidden.sum())
    blurred = exact and n_missing > 0 and span.blurs(operator.dtype)
    out = torch.cat(parts, dim=1).reshape(X.shape)
    result = Result(
        out.to(X.dtype) if X.is_floating_point() else out,
        n_iter=steps,
        residual=float(residual_all.max()),
        residuals=residual_all,
        converged=has_converged(residual_all, asked, blurred),
        n_unreached=int(operator.components.sizes @ (~reached_all).sum(axis=1)),
        _label=label,
        _reached=reached_all,
    )
    known_in_column = (~hidden).sum(dim=0).cpu().numpy()
    warn_of(result, n_missing, unreached, known_in_column, None)
    if result.converged is False:
        limits = max_iter, operator.dtype, span if blurred else None
        warn_of_residual(steps, result.residual, asked, solver, *limits)
    return result


def _blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
    width = max(1, BLOCK_CELLS // n_rows)
    return (slice(start, start + width) for start in range(0, n_columns, width))


def _centre(operator: TorchOperator, z: Tensor, known: Tensor, centre: str) -> Tensor:
    """What z is measured from, per column: see ``fill``."""
    if centre == "zero":
        return torch.zeros(z.shape[1], dtype=z.dtype, device=z.device)
    weight = operator.diagonal if centre == "degree" else torch.ones_like(operator.diagonal)
    total = (weight * z).sum(dim=0, dtype=torch.float64)
    weights = (weight * known).sum(dim=0, dtype=torch.float64)
    return torch.where(weights > 0, total / weights.clamp(min=1e-300), 0.0 * total).to(z.dtype)


def _filler(x: Tensor, known: Tensor, unreached: str) -> Tensor:
    if unreached != "mean":
        return torch.full_like(x[0], 0.0 if unreached == "zero" else torch.nan)
    total = torch.where(known, x, torch.zeros_like(x)).sum(dim=0, dtype=torch.float64)
    return (total / known.sum(dim=0).clamp(min=1)).to(x.dtype)


def _diffusion(
    operator: TorchOperator, start: Tensor, known: Tensor, n_iter: int
) -> tuple[Tensor, int, Tensor]:
    """z_u <- D_uu^-1 (A z)_u, out of place so that gradients pass."""
    z = start
    reference = squared = torch.zeros(z.shape[1], dtype=torch.float64, device=z.device)
    if not n_iter:
        r = torch.where(known, 0.0, operator.A @ z - operator.diagonal * z).detach()
        reference = squared = (operator.scale * r**2).sum(dim=0, dtype=torch.float64)
    for step in range(n_iter):
        new = torch.where(known, start, operator.scale * (operator.A @ z))
        if step in (0, n_iter - 1):
            change = (new - z).detach()
            squared = (operator.diagonal * change**2).sum(dim=0, dtype=torch.float64)
            reference = squared if step == 0 else reference
        z = new
    return z, n_iter, _relative(squared, reference)


def _conjugate_gradients(
    operator: TorchOperator,
    z: Tensor,
    known: Tensor,
    tol: float,
    max_iter: int,
    resolution: float,
) -> tuple[Tensor, int, Tensor]:
    """L_uu z_u = A_uk z_k with D as preconditioner; restarted from the true residual."""
    zero = torch.zeros((), dtype=z.dtype, device=z.device)

    def dot(a: Tensor, b: Tensor) -> Tensor:
        return (a * b).sum(dim=0, dtype=torch.float64)

    def residual(z: Tensor) -> Tensor:
        return torch.where(known, zero, operator.A @ z - operator.diagonal * z)

    r = residual(z)
    true = dot(r, operator.scale * r)
    floor = resolution**2 * dot(z, operator.diagonal * z)
    reference = torch.maximum(true, floor)
    goal = tol**2 * reference
    active = true > goal
    steps = 0
    while bool(active.any()) and steps < max_iter:
        started_from, rho = true, true.clone()
        p = torch.where(active, operator.scale * r, zero)
        while bool(active.any()) and steps < max_iter:
            q = torch.where(known, zero, operator.diagonal * p - operator.A @ p)
            curvature = dot(p, q)
            active = active & (curvature > 0)
            alpha = torch.where(active, rho / curvature.clamp(min=1e-300), 0.0).to(z.dtype)
            z, r = z + alpha * p, r - alpha * q
            new = dot(r, operator.scale * r)
            beta = torch.where(active, new / rho.clamp(min=1e-300), 0.0).to(z.dtype)
            rho = torch.where(active, new, rho)
            active = active & (rho > 0.8 * goal)
            p = torch.where(active, operator.scale * r + beta * p, zero)
            steps += 1
        r = residual(z)
        true = dot(r, operator.scale * r)
        # Give up where the last start gained next to nothing: precision is exhausted.
        active = (true > goal) & (true < 0.25 * started_from)
    return z, steps, _relative(true, reference)


def _relative(squared: Tensor, reference: Tensor) -> Tensor:
    ratio = squared / torch.where(reference > 0, reference, torch.ones_like(reference))
    return torch.where(reference > 0, ratio, torch.zeros_like(ratio)).sqrt()
