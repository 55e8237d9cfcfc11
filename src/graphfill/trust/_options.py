"""How a table is filled, as one object: checked when it is made, and passed on whole."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, check_choice, check_number, option, parameter
from ..solve import PropagationOptions, propagate_with
from ._channels import Recipe, Solve
from ._folds import PATTERNS

LEARNT = ("field", "hybrid", "auto")  # methods that compare all columns on held-out cells
EFFORTS = ("fast", "balanced", "thorough")
METHODS = ("auto", "field", "propagation", "neighbors", "mean", "hybrid")
# The recipes that propagate, among which "auto" chooses.
VARIANTS: dict[str, dict[str, Any]] = {
    "propagation": {"normalization": "rw", "solver": "exact", "tol": 1e-6},
    "diffusion": {"normalization": "rw", "solver": "diffusion", "n_iter": 40},
    "propagation-sym": {"normalization": "sym", "solver": "exact", "tol": 1e-6},
    "diffusion-sym": {"normalization": "sym", "solver": "diffusion", "n_iter": 40},
}


@dataclass(frozen=True, kw_only=True)
class FillOptions:
    """The options of :func:`graphfill.impute` that decide what is filled in.

    Examples
    --------
    >>> FillOptions().method, FillOptions(reliance=0.5).method, FillOptions(method="mean").assessed
    ('auto', 'propagation', False)
    """

    method: str | None = None
    effort: str = "balanced"
    reliance: float | str = "held-out"
    unreached: str = "mean"
    intervals: float | None = None
    scores: bool | str = False
    draws: int = 0
    seed: int = 0
    # Of each row, a number: known cells of rows with the same one are hidden together.
    together: NDArray[np.int64] | None = field(default=None, compare=False, repr=False)
    layout: Any = field(default=None, compare=False, repr=False)  # of series, or None
    rows_apart: bool = False  # links are for propagation alone, not for fields
    propagation: PropagationOptions = field(
        default_factory=lambda: PropagationOptions(normalization="rw", solver="exact")
    )

    def __post_init__(self) -> None:
        if self.method is None:
            object.__setattr__(self, "method", self._default_method())
        check_choice("method", self.method, METHODS)
        check_choice("effort", self.effort, EFFORTS)
        check_choice("unreached", self.unreached, ("mean", "nan"))
        _check_reliance(self.reliance)
        _check_level(self.intervals)
        _check_scores(self.scores)
        check_number("draws", self.draws, low=0, integer=True)
        check_number("seed", self.seed, low=0, integer=True)

    def _default_method(self) -> str:
        """ "auto"; "propagation" where something was asked for that only it takes."""
        usual = PropagationOptions(
            normalization="rw",
            solver="exact",
            memory_limit=self.propagation.memory_limit,
            threads=self.propagation.threads,
        )
        asked = self.propagation != usual or self.reliance != "held-out"
        return "propagation" if asked else "auto"

    def along(
        self, together: NDArray[np.int64] | None, layout: Any, rows_apart: bool
    ) -> FillOptions:
        """The same for rows with links of these kinds."""
        return replace(self, together=together, layout=layout, rows_apart=rows_apart)

    @property
    def assessed(self) -> bool:
        """Whether methods are scored on held-out cells."""
        asked = bool(self.scores) or self.intervals is not None or self.draws > 0
        return asked or self.method in LEARNT

    @property
    def pattern(self) -> str | None:
        """In which known cells are also hidden and filled, to see how well that goes."""
        return self.scores if isinstance(self.scores, str) else None

    def recipes(self, solve: Solve = propagate_with) -> dict[str, Recipe]:
        """The recipes to score beside each other, from the simplest on."""
        propagation = {"propagation": self.propagation}
        if self.method == "auto":
            propagation = {name: replace(self.propagation, **how) for name, how in VARIANTS.items()}
        rest = self.reliance, self.seed, solve
        plain = {name: Recipe(name, self.propagation, *rest) for name in ("mean", "neighbors")}
        return plain | {
            name: Recipe("propagation", how, *rest) for name, how in propagation.items()
        }


def _check_reliance(reliance: Any) -> None:
    number = isinstance(reliance, (int, float)) and not isinstance(reliance, bool)
    if reliance != "held-out" and not (number and 0 <= reliance <= 1):
        raise InputError(
            f"{option('reliance')} is {reliance!r} but must be 'held-out' or a number from 0 to 1."
        )


def _check_level(level: Any) -> None:
    number = isinstance(level, (int, float)) and not isinstance(level, bool)
    if level is not None and not (number and 0 < level < 1):
        raise InputError(
            f"{option('intervals')} is {level!r} but must be a share between 0 and 1, such as 0.9."
        )


def _check_scores(value: Any) -> None:
    if not isinstance(value, (bool, np.bool_)) and value not in PATTERNS:
        raise InputError(
            f"{parameter('scores')} is {value!r} but must be True, False or the way in which known "
            f"cells are hidden: {', '.join(map(repr, PATTERNS))}."
        )
