"""The exact solution by conjugate gradients, barrier by barrier."""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from ...solve._solvers import Search, resolution
from .plan import Outcome, Phase, Plan

Array = np.ndarray


class ConjugateGradients(Plan):
    """Solve L_uu z_u = A_uk z_k by the :class:`Search` that a run in memory makes.

    Two barriers per iteration: ``direction`` returns p . L p, from which the step length alpha
    follows; ``step_residual`` returns r . D^-1 r, from which beta and the end follow. In the
    end ``finish`` takes the last step, and ``residual`` checks the true residual where rounding
    could have hidden it.
    """

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
        state, solver = self.state, self.manifest.solver
        dtype = np.dtype(self.manifest.dtype)
        if at == "begin":
            state.update(at="residual", floor=resolution(solver["tol"], dtype) ** 2 * total)
            state["iterations"] = np.zeros(self.lanes, dtype=int)
            state["settled"] = np.zeros(self.lanes, dtype=bool)
            return
        if at == "residual" and "reference" not in state:
            stop = solver.get("stop", solver["tol"])
            search = Search.start(total, np.maximum(total, state["floor"]), stop)
        else:
            search = self._search()
        if at == "residual":
            if "reference" in state:
                search.restart(total, solver["max_iter"])
            state["at"] = "direction" if search.active.any() else "end"
        elif at == "direction":
            search.set_length(total, solver["max_iter"])
            state["at"] = "step_residual"
        elif at == "step_residual":
            search.set_direction(total)
            state["at"] = "direction" if search.active.any() else "finish"
        else:
            state["at"] = "end" if search.settle(total, dtype, self._tiles()) else "residual"
        state.update(vars(search))

    def _search(self) -> Search:
        return Search(**{field.name: self.state[field.name] for field in fields(Search)})

    def _tiles(self) -> list[slice]:
        ends = np.cumsum([width for *_, width in self.manifest.tiles]).tolist()
        return [slice(lo, hi) for lo, hi in zip([0, *ends], ends, strict=False)]

    def share(self) -> float:
        if self.done or "goal" not in self.state:
            return float(self.done)
        return self._search().share()

    def share_of_step(self) -> float:
        return 0.0

    def where(self) -> str:
        iterations = self.state.get("iterations")
        return f"iteration {0 if iterations is None else int(iterations.max())}"

    def outcome(self) -> Outcome:
        search = self._search()
        return Outcome(search.iterations, search.residual(), self.state["shift"])
