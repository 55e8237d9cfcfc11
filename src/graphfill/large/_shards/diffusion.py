"""The paper's iteration, barrier by barrier."""

from __future__ import annotations

import numpy as np

from ...solve._solvers import relative
from ...solve._steps import is_measured
from .plan import Outcome, Phase, Plan

Array = np.ndarray


class Diffusion(Plan):
    """z <- scale A z, ``n_iter`` times, as in :func:`graphfill.solve._steps.diffusion`.

    Bits are those of a run in one piece: sums go over the same neighbours in the same order.
    """

    @property
    def n_iter(self) -> int:
        return int(self.manifest.solver["n_iter"])

    def next_phase(self, at: str) -> Phase:
        if at == "residual":
            return Phase(at, ("z",))
        measured = is_measured(self.state["step"], self.n_iter, self.state.get("reference"))
        return Phase("diffuse", ("z",), {"measured": np.ones(1)} if measured else {})

    def took(self, at: str, total: Array | None) -> None:
        state = self.state
        if at == "begin":
            state.update(step=1, at="diffuse" if self.n_iter else "residual")
            return
        if at == "residual":  # of the start, no step being asked for
            state.update(squared=total, reference=total, at="end")
            return
        if total is not None:
            state["squared"] = total
            if state["step"] == 1:
                state["reference"] = total
        state["at"] = "end" if state["step"] == self.n_iter else "diffuse"
        state["step"] += 1

    def share(self) -> float:
        return 1.0 if self.done else float(self.state.get("step", 1) - 1) / max(self.n_iter, 1)

    def share_of_step(self) -> float:
        return 1.0 / self.n_iter if self.state["at"] == "diffuse" else 0.0

    def where(self) -> str:
        return f"step {self.state.get('step', 1) - 1} of {self.n_iter}"

    def outcome(self) -> Outcome:
        state = self.state
        residual = relative(state["squared"], state["reference"])
        return Outcome(np.full(self.lanes, self.n_iter), residual, state["shift"])
