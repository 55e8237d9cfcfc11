"""One tile of the problem, and its exact solution by conjugate gradients.

Every solver, here and in ``_steps``, works on one tile, a :class:`System`, in z-space (see
``_operator``), and reports per column the residual ``||b - L_uu z_u|| / ||b_0||`` in the norm of
D^-1, where b_0 is the residual of the solver's plain start (all zeros, or the column's mean for
``exact``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np

from ..kernels import Passes, empty_tile

Array = np.ndarray
Progress = Callable[[float], None]  # called with each further share of the tile that is solved

DRIFT = 4.0  # times eps and the norm of z, by which the residual drifts in a step, about
ROOM = 0.8  # of the goal is aimed at, which leaves room for the drift
HELPED = 0.25  # of the residual at most must be left for another start to be worth it


class Workspace:
    """Hands out tiles; ``release`` takes back all of them for the next round.

    Fresh memory costs more to touch than to compute with.

    Examples
    --------
    >>> workspace = Workspace()
    >>> first = workspace.tile(3, 2, np.dtype("float32"))
    >>> workspace.release()
    >>> workspace.tile(3, 2, np.dtype("float32")) is first
    True
    """

    def __init__(self) -> None:
        self._free: list[Array] = []
        self._lent: list[Array] = []

    def tile(self, n_rows: int, width: int, dtype: np.dtype) -> Array:
        """An uninitialised tile."""
        for k, tile in enumerate(self._free):
            if tile.shape == (n_rows, width) and tile.dtype == dtype:
                self._lent.append(self._free.pop(k))
                return tile
        # Tiles of another width are of rounds gone by.
        self._free = [tile for tile in self._free if tile.shape[1] == width]
        tile = empty_tile(n_rows, width, dtype)
        self._lent.append(tile)
        return tile

    def release(self) -> None:
        self._free += self._lent
        self._lent = []


@dataclass
class System:
    """(D - A)_uu z_u = b for one tile of columns, each with its own unknown cells.

    The passes go over A, or over A_uu alone when whole rows are known or missing; then ``source``
    is A_uk z_k. Solvers overwrite z, which holds the known values and the start.
    """

    passes: Passes
    diagonal: Array  # of L
    scale: Array  # its inverse
    known: Array
    z: Array
    source: Array | None = None
    reference: Array | None = None  # squared norm of b_0 per column; None when z starts there
    resolution: float = 0.0  # share of the values' norm that rounding may leave of a zero b_0
    floor: Array | float = 0.0  # least reference, so that this is not taken for one
    workspace: Workspace = field(default_factory=Workspace)

    def reference_or(self, at_start: Array) -> Array:
        """What residuals are relative to, given the squared residual at the start."""
        reference = at_start if self.reference is None else self.reference
        return np.asarray(np.maximum(reference, self.floor))

    def tile(self, *, zero: bool = False) -> Array:
        """Another tile of the same shape."""
        n_rows, width = self.z.shape
        tile = self.workspace.tile(n_rows, width, self.z.dtype)
        if zero:
            tile.fill(0)
        return tile

    def copy(self) -> Array:
        """A copy of z."""
        tile = self.tile()
        np.copyto(tile, self.z)
        return tile


@dataclass
class Solution:
    """The solved tile, the iterations each column took, and its relative residual."""

    z: Array
    n_iter: Array
    residual: Array


def resolution(tol: float, dtype: np.dtype) -> float:
    """Below this share of the values' norm, b_0 may be nothing but rounding.

    Examples
    --------
    >>> resolution(1e-10, np.dtype("float64")) < 1e-5
    True
    >>> resolution(1e-100, np.dtype("float64"))  # never more than the values themselves
    1.0
    """
    eps = 2.0 * float(np.finfo(dtype).eps)
    return 1.0 if tol <= eps else eps / tol


def relative(squared: Array, reference: Array) -> Array:
    """sqrt(squared / reference), 0 where both are 0."""
    ratio = np.divide(squared, reference, out=np.zeros_like(squared), where=reference > 0)
    return np.asarray(np.sqrt(ratio))


@dataclass
class Search:
    """The state of conjugate gradients between two sums: numbers per column, and no vectors.

    Where the vectors z, r (residual), p (direction) and q = L p live is the caller's affair. It
    computes sums over all rows and hands them in, in this order::

        search = Search.start(r . r / D, ...)
        while search.active.any():
            p = r / D where active, else 0
            while search.active.any():
                search.set_length(p . q, ...);  r -= alpha q
                search.set_direction(r . r / D);  z += alpha p;  p = active r / D + beta p
            if search.settle(D z . z, ...): break
            search.restart(r . r / D of r = b - L z, ...)

    In finite precision the updated residual drifts from the true one, b - L z, by about
    eps ||z|| a step. Where that could matter, a column that claims convergence is checked
    against its true residual, and starts again from there as long as that helps.
    """

    iterations: Array
    settled: Array  # whether `true` is final
    reference: Array  # squared residual that others are relative to
    goal: Array  # squared residual to reach
    true: Array  # squared residual, as last computed from z
    rho: Array  # squared residual, as updated
    active: Array
    started_from: Array  # `true` at the last (re)start
    alpha: Array  # length of the step along p
    beta: Array  # how much of p the next direction keeps

    @classmethod
    def start(cls, squared: Array, reference: Array, tol: float) -> Search:
        """From the squared residual of the start; ``tol`` is relative to ``reference``."""
        goal, zero = tol**2 * reference, np.zeros(len(squared))
        active, rho, started_from = squared > goal, squared.copy(), squared.copy()
        residuals = reference, goal, squared, rho, active, started_from
        return cls(zero.astype(int), zero.astype(bool), *residuals, zero, zero.copy())

    def set_length(self, curvature: Array, max_iter: int) -> None:
        """Take in p . L p; a column without curvature (or with NaN) goes no further."""
        self.active = self.active & (curvature > 0) & (self.iterations < max_iter)
        self.iterations = self.iterations + self.active
        self.alpha = np.divide(self.rho, curvature, out=np.zeros(len(curvature)), where=self.active)

    def set_direction(self, squared: Array) -> None:
        """Take in the squared residual after the step."""
        going = self.active & (self.rho > 0)
        self.beta = np.divide(squared, self.rho, out=np.zeros(len(squared)), where=going)
        self.rho = np.where(self.active, squared, self.rho)
        self.active = self.active & (self.rho > ROOM * self.goal)
        self.beta[~self.active] = 0.0

    def settle(
        self, squares: Array, dtype: np.dtype, tiles: Iterable[slice] = (slice(None),)
    ) -> bool:
        """Accept the updated residuals of tiles in which no column can have drifted far.

        ``squares`` are the sums of D z^2. Returns whether all columns are settled; else the true
        residual has to be computed, and handed to :meth:`restart`.
        """
        drift = self.iterations**2 * (DRIFT * np.finfo(dtype).eps) ** 2 * squares
        calm = drift < 0.01 * self.goal
        self.true, self.settled = self.true.copy(), self.settled.copy()
        for lanes in tiles:  # a tile is checked as one, wherever it is solved
            if calm[lanes].all() and not self.settled[lanes].all():
                self.true[lanes] = self.rho[lanes]
                self.settled[lanes] = True
        return bool(self.settled.all())

    def restart(self, squared: Array, max_iter: int) -> None:
        """Take in the true squared residual; go on from there where that is worth it."""
        self.true = np.where(self.settled, self.true, squared)
        # Give up where the last start gained next to nothing: precision is exhausted.
        helped = (self.true > self.goal) & (self.true < HELPED * self.started_from)
        self.active = helped & (self.iterations < max_iter) & ~self.settled
        self.rho, self.started_from = self.true.copy(), self.true.copy()
        self.alpha, self.beta = np.zeros(len(squared)), np.zeros(len(squared))

    def share(self) -> float:
        """How much of the way down to the goal the slowest column has come, in digits."""
        target = ROOM * self.goal
        far = self.rho > target
        if not far.any() or not (target[far] > 0).all():
            return 1.0 if not far.any() else 0.0
        reference = self.reference[far]
        way = np.log(reference / self.rho[far]) / np.log(reference / target[far])
        return float(np.clip(way.min(), 0.0, 1.0))

    def residual(self) -> Array:
        """The relative residual."""
        return relative(self.true, self.reference)


def conjugate_gradients(system: System, tol: float, max_iter: int, tick: Progress) -> Solution:
    """Solve L_uu z_u = A_uk z_k, L = D - A, preconditioned by D.

    Minimises the Dirichlet energy 1/2 sum_ij a_ij (z_i - z_j)^2 over the unknown cells.
    L_uu is symmetric and positive definite on reached cells; on unreached ones the right
    side is zero and nothing moves. Every column has its own step lengths and stops by
    itself (see :class:`Search`), so its bits do not depend on its neighbours in the tile.
    """
    passes, diagonal, known, z = system.passes, system.diagonal, system.known, system.z
    r, p, q = system.tile(), system.tile(zero=True), system.tile()

    squared = passes.residual(diagonal, known, z, r, system.source)
    search = Search.start(squared, system.reference_or(squared), tol)

    def take_step() -> None:
        lanes = search.alpha, search.beta, search.active.astype(float)
        passes.step_direction(diagonal, known, r, p, z, *lanes)

    shown = 0.0
    while search.active.any():
        take_step()  # of length 0: p = r / diagonal
        while search.active.any():
            search.set_length(passes.laplacian(diagonal, known, p, q), max_iter)
            search.set_direction(passes.step_residual(diagonal, known, q, r, search.alpha))
            tick(max(0.0, search.share() - shown))
            shown = max(shown, search.share())
            take_step()
        if search.settle(passes.squares(diagonal, known, z), z.dtype):
            break
        search.restart(passes.residual(diagonal, known, z, r, system.source), max_iter)
    tick(1.0 - shown)
    return Solution(z, search.iterations, search.residual())
