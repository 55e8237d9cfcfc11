"""What comes after a barrier: a solver whose state is written to disk at every barrier.

A :class:`Plan` holds no arrays of rows. It says which step all shards take next, takes in the
sums that come back, and keeps what it needs in a plain ``state`` that JSON can hold, so that a
run goes on from any barrier.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, fields
from itertools import pairwise
from typing import Any

import numpy as np

from ...errors import InputError
from ...solve import centre_of
from ...solve._solvers import Search, relative, resolution
from ...solve._steps import is_measured
from .manifest import Manifest

Array = np.ndarray


@dataclass(frozen=True)
class Phase:
    """One step for all shards: its name, what it reads, and numbers per column."""

    step: str
    reads: tuple[str, ...] = ()
    lanes: dict[str, Array] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """Per column: iterations, relative residual, and what was subtracted from z."""

    n_iter: Array
    residual: Array
    shift: Array


class Plan(ABC):
    """A solver between barriers.

    Its ``state`` holds arrays over all lanes and plain values; ``state["at"]`` names the next
    step, or "end". Its ``centre`` ("zero", "mean" or "degree") is what z is measured from.
    """

    def __init__(self, manifest: Manifest, state: dict[str, Any] | None = None):
        self.manifest, self.lanes = manifest, manifest.lanes
        inputs, exact = manifest.inputs, manifest.solver["name"] == "exact"
        self.centre = centre_of(inputs["normalization"], inputs["shrinkage"], exact)
        if state is None:
            state = {"at": "begin" if self.centre == "zero" else "centre"}
            state["shift"] = np.zeros(self.lanes)
        self.state: dict[str, Any] = {
            name: np.array(value) if isinstance(value, list) else value
            for name, value in state.items()
        }
        for name, value in self.state.items():
            if isinstance(value, np.ndarray) and (
                value.shape != (self.lanes,) or value.dtype.kind not in "bif"
            ):
                raise InputError(
                    f"The barriers in {manifest.folder} do not hold what a run writes ({name}): "
                    "delete the last one to go on from the one before."
                )

    @property
    def done(self) -> bool:
        return bool(self.state["at"] == "end")

    def plain_state(self) -> dict[str, Any]:
        """The state as JSON can hold it."""
        return {
            name: value.tolist() if isinstance(value, np.ndarray) else value
            for name, value in self.state.items()
        }

    def phase(self) -> Phase:
        """The step to take next."""
        at, state = self.state["at"], self.state
        if at == "centre":
            return Phase(at, lanes={"plain": np.ones(1)} if self.centre == "mean" else {})
        if at == "begin":
            return Phase(at, lanes={"shift": state["shift"]})
        return self.next_phase(at)

    def after(self, total: Array | None, more: Array | None) -> None:
        """Take in the sums that a step returned, added up over all shards."""
        at = self.state["at"]
        if at == "centre":
            assert total is not None
            assert more is not None
            shift = np.divide(total, more, out=np.zeros(self.lanes), where=more > 0)
            # Rounded to the tiles' type, so that adding it back undoes subtracting it.
            self.state["shift"] = shift.astype(self.manifest.dtype).astype(np.float64)
            self.state["at"] = "begin"
        else:
            self.took(at, total)

    @abstractmethod
    def next_phase(self, at: str) -> Phase:
        """The solver's own steps."""

    @abstractmethod
    def took(self, at: str, total: Array | None) -> None:
        """The solver's own steps, done."""

    @abstractmethod
    def share(self) -> float:
        """How much of the work is done, 0 to 1."""

    def share_of_step(self) -> float:
        """How much of the work the next step is, as far as one can tell."""
        return 0.0

    @abstractmethod
    def where(self) -> str:
        """How far it has come, in words."""

    @abstractmethod
    def outcome(self) -> Outcome:
        """The result of a finished run."""


class Diffusion(Plan):
    """z <- scale A z, ``n_iter`` times, as in :func:`graphfill.solve._solvers.diffusion`.

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
        state, solver, dtype = self.state, self.manifest.solver, np.dtype(self.manifest.dtype)
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
            ends = np.cumsum([width for *_, width in self.manifest.tiles]).tolist()
            tiles = [slice(lo, hi) for lo, hi in pairwise([0, *ends])]
            state["at"] = "end" if search.settle(total, dtype, tiles) else "residual"
        state.update(vars(search))

    def _search(self) -> Search:
        return Search(**{field.name: self.state[field.name] for field in fields(Search)})

    def share(self) -> float:
        if self.done or "goal" not in self.state:
            return float(self.done)
        return self._search().share()

    def where(self) -> str:
        iterations = self.state.get("iterations")
        return f"iteration {0 if iterations is None else int(iterations.max())}"

    def outcome(self) -> Outcome:
        search = self._search()
        return Outcome(search.iterations, search.residual(), self.state["shift"])


def make_plan(manifest: Manifest, state: dict[str, Any] | None = None) -> Plan:
    """The plan of the solver that a manifest names, from its start or from a state."""
    kind = {"diffusion": Diffusion, "exact": ConjugateGradients}[manifest.solver["name"]]
    return kind(manifest, state)
