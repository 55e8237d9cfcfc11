"""The exact solution, by conjugate gradients on all columns of a tile at once."""

from __future__ import annotations

import numpy as np

from .system import Progress, Solution, System, relative


def conjugate_gradients(system: System, tol: float, max_iter: int, tick: Progress) -> Solution:
    """Solve L_uu z_u = A_uk z_k, L = D - A, preconditioned by D.

    Minimises the Dirichlet energy 1/2 sum_ij a_ij (z_i - z_j)^2 over the unknown cells.
    L_uu is symmetric and positive definite on reached cells; on unreached ones the right
    side is zero and nothing moves. Every column has its own step lengths and stops by
    itself, so its bits do not depend on its neighbours in the tile.

    In finite precision the updated residual drifts from the true one, b - L z, by about
    eps ||z|| a step. Where that could matter, a column that claims convergence is checked
    against its true residual, and starts again from there as long as that helps.
    """
    passes, diagonal, known = system.passes, system.diagonal, system.known
    z, width = system.z, system.z.shape[1]
    r, p, q = system.tile(), system.tile(zero=True), system.tile()

    rho = passes.residual(diagonal, known, z, r, system.source)
    reference = system.reference_or(rho)
    goal = tol**2 * reference
    target = 0.8 * goal  # leaves room for the drift
    eps = 4.0 * np.finfo(z.dtype).eps
    iterations = np.zeros(width, dtype=int)
    alpha, beta = np.zeros(width), np.zeros(width)
    true = rho
    active = rho > goal
    shown = 0.0
    while active.any():
        started_from = true.copy()
        # The first direction of the (re)start: p = r / diagonal where active, else 0.
        passes.step_direction(diagonal, known, r, p, z, alpha, beta, active.astype(float))
        while active.any():
            curvature = passes.laplacian(diagonal, known, p, q)
            active &= (curvature > 0) & (iterations < max_iter)
            iterations += active
            alpha = np.divide(rho, curvature, out=np.zeros(width), where=active)
            new = passes.step_residual(diagonal, known, q, r, alpha)
            beta = np.divide(new, rho, out=np.zeros(width), where=active & (rho > 0))
            rho = np.where(active, new, rho)
            solved = share_solved(rho, reference, target)
            tick(max(0.0, solved - shown))
            shown = max(shown, solved)
            active &= rho > target
            beta[~active] = 0.0
            passes.step_direction(diagonal, known, r, p, z, alpha, beta, active.astype(float))
        drift = iterations**2 * eps**2 * passes.squares(diagonal, known, z)
        if (drift < 0.01 * goal).all():
            true = rho
            break
        true = passes.residual(diagonal, known, z, r, system.source)
        # Give up where the last start gained next to nothing: precision is exhausted.
        active = (true > goal) & (true < 0.25 * started_from) & (iterations < max_iter)
        rho, alpha, beta = true.copy(), np.zeros(width), np.zeros(width)
    tick(1.0 - shown)
    return Solution(z, iterations, relative(true, reference))


def share_solved(rho: np.ndarray, reference: np.ndarray, target: np.ndarray) -> float:
    """How much of the way down to the target the slowest column has come, in digits."""
    far = rho > target
    if not far.any() or not (target[far] > 0).all():
        return 1.0 if not far.any() else 0.0
    way = np.log(reference[far] / rho[far]) / np.log(reference[far] / target[far])
    return float(np.clip(way.min(), 0.0, 1.0))
