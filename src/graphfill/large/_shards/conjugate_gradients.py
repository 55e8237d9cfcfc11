"""The exact solution by conjugate gradients, barrier by barrier."""

from __future__ import annotations

import numpy as np

from ...solve._solvers.conjugate_gradients import share_solved
from ...solve._solvers.system import relative, resolution
from .plan import Outcome, Phase, Plan

Array = np.ndarray


class ConjugateGradients(Plan):
    """Solve L_uu z_u = A_uk z_k as :func:`graphfill.solve._solvers.conjugate_gradients` does.

    Two barriers per iteration: ``direction`` returns p . L p, from which the step length alpha
    follows; ``step_residual`` returns r . D^-1 r, from which beta and the end follow. In the
    end ``finish`` takes the last step, and ``residual`` checks the true residual where rounding
    could have hidden it.
    """

    @property
    def centre(self) -> str:
        inputs = self.manifest.inputs
        if inputs["shrinkage"] > 0:
            return "mean" if inputs["normalization"] == "rw" else "zero"
        return "degree"

    def next_phase(self, at: str) -> Phase:
        state = self.state
        if at == "residual":
            return Phase(at, ("z",))
        if at == "step_residual":
            return Phase(at, ("r", "p"), {"alpha": state["alpha"]})
        if at == "finish":
            return Phase(at, ("z", "p"), {"alpha": state["alpha"]})
        lanes = {name: state[name] for name in ("alpha", "beta")}
        lanes["gamma"] = state["active"].astype(float)
        return Phase(at, ("z", "r", "p"), lanes)

    def took(self, at: str, total: Array | None) -> None:
        assert total is not None
        getattr(self, f"_after_{at}")(total)

    def _after_begin(self, squares: Array) -> None:
        tol = self.manifest.solver["tol"]
        floor = resolution(tol, np.dtype(self.manifest.dtype)) ** 2 * squares
        self.state.update(at="residual", floor=floor, iterations=np.zeros(self.lanes, dtype=int))
        self.state["settled"] = np.zeros(self.lanes, dtype=bool)

    def _after_residual(self, total: Array) -> None:
        state, max_iter = self.state, self.manifest.solver["max_iter"]
        if "reference" not in state:
            state["reference"] = np.maximum(total, state["floor"])
            stop = self.manifest.solver.get("stop", self.manifest.solver["tol"])
            state["goal"] = stop**2 * state["reference"]
            active = total > state["goal"]
            state["true"] = total
        else:
            true = np.where(state["settled"], state["true"], total)
            # Give up where the last start gained next to nothing: precision is exhausted.
            helped = (true > state["goal"]) & (true < 0.25 * state["started_from"])
            active = helped & (state["iterations"] < max_iter) & ~state["settled"]
            state["true"] = true
        state.update(rho=state["true"].copy(), active=active, started_from=state["true"].copy())
        state.update(alpha=np.zeros(self.lanes), beta=np.zeros(self.lanes))
        state["at"] = "direction" if active.any() else "end"

    def _after_direction(self, curvature: Array) -> None:
        state, max_iter = self.state, self.manifest.solver["max_iter"]
        active = state["active"] & (curvature > 0) & (state["iterations"] < max_iter)
        alpha = np.divide(state["rho"], curvature, out=np.zeros(self.lanes), where=active)
        state.update(active=active, alpha=alpha, iterations=state["iterations"] + active)
        state["at"] = "step_residual"

    def _after_step_residual(self, new: Array) -> None:
        state, active, rho = self.state, self.state["active"], self.state["rho"]
        beta = np.divide(new, rho, out=np.zeros(self.lanes), where=active & (rho > 0))
        rho = np.where(active, new, rho)
        active = active & (rho > 0.8 * state["goal"])  # leaves room for the drift
        beta[~active] = 0.0
        state.update(rho=rho, active=active, beta=beta)
        state["at"] = "direction" if active.any() else "finish"

    def _after_finish(self, squares: Array) -> None:
        state, eps = self.state, 4.0 * np.finfo(self.manifest.dtype).eps
        drift = state["iterations"] ** 2 * eps**2 * squares
        calm = drift < 0.01 * state["goal"]
        start = 0
        for *_, width in self.manifest.tiles:  # a tile is checked as one, as in one piece
            lanes = slice(start, start + width)
            if calm[lanes].all() and not state["settled"][lanes].all():
                state["true"][lanes] = state["rho"][lanes]
                state["settled"][lanes] = True
            start += width
        state["at"] = "end" if state["settled"].all() else "residual"

    def share(self) -> float:
        state = self.state
        if self.done or "goal" not in state:
            return float(self.done)
        return share_solved(state["rho"], state["reference"], 0.8 * state["goal"])

    def share_of_step(self) -> float:
        return 0.0

    def where(self) -> str:
        iterations = self.state.get("iterations")
        return f"iteration {0 if iterations is None else int(iterations.max())}"

    def outcome(self) -> Outcome:
        state = self.state
        residual = relative(state["true"], state["reference"])
        return Outcome(state["iterations"], residual, state["shift"])
