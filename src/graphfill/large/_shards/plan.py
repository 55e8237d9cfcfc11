"""What comes after a barrier: a solver whose state is written to disk at every barrier.

A :class:`Plan` holds no arrays of rows. It says which step all shards take next, takes in the
sums that come back, and keeps what it needs in a plain ``state`` that JSON can hold, so that a
run goes on from any barrier.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...solve import centre_of
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

    Attributes
    ----------
    centre : {"zero", "mean", "degree"}
        What z is measured from, as in memory.
    state : dict
        Arrays over all lanes and plain values; ``state["at"]`` names the next step, or "end".
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

    @abstractmethod
    def share_of_step(self) -> float:
        """How much of the work the next step is, as far as one can tell."""

    @abstractmethod
    def where(self) -> str:
        """How far it has come, in words."""

    @abstractmethod
    def outcome(self) -> Outcome:
        """The result of a finished run."""


def make_plan(manifest: Manifest, state: dict[str, Any] | None = None) -> Plan:
    """The plan of the solver that a manifest names, from its start or from a state."""
    from .conjugate_gradients import ConjugateGradients
    from .diffusion import Diffusion

    kind = {"diffusion": Diffusion, "exact": ConjugateGradients}[manifest.solver["name"]]
    return kind(manifest, state)
