"""Refusals of parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .errors import InputError
from .wording import parameter


def check_choice(name: str, value: Any, choices: Sequence[Any]) -> None:
    """Refuse a parameter that is none of the words (or switches) it may be."""
    if not any(isinstance(value, type(choice)) and value == choice for choice in choices):
        raise InputError(f"{name} is {value!r} but must be one of {', '.join(map(repr, choices))}.")


def check_flag(name: str, value: Any) -> None:
    """Refuse a switch that is neither True nor False."""
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"{name} is {value!r} but must be True or False.")


def check_scores(value: Any, patterns: Sequence[str]) -> None:
    """Refuse what is neither a switch nor a pattern of hiding."""
    if not isinstance(value, (bool, np.bool_)) and value not in patterns:
        raise InputError(
            f"{parameter('scores')} is {value!r} but must be True, False or the way in which known "
            f"cells are hidden: {', '.join(map(repr, patterns))}."
        )


def check_number(name: str, value: Any, *, low: float, integer: bool = False) -> None:
    """Refuse a parameter that is not a finite number from ``low`` on."""
    kinds = (int, np.integer) if integer else (int, float, np.integer, np.floating)
    if isinstance(value, bool) or not isinstance(value, kinds) or not low <= value < np.inf:
        kind = "a whole number" if integer else "a number"
        raise InputError(f"{name} is {value!r} but must be {kind} of at least {low}.")


def check_steps_of_solver(steps: int | None, solver: str) -> None:
    """Refuse a number of steps for a solver that takes as many as it needs."""
    if steps is not None and solver == "exact":
        raise InputError(
            f"--steps {steps} is given but --solver exact takes as many as it needs: add --solver "
            "diffusion to stop after so many, or leave --steps out."
        )


def not_a_size(limit: str) -> InputError:
    """A text that is no number of bytes."""
    return InputError(
        f'{parameter("memory_limit")}={limit!r} is not a size; write for example "4GB".'
    )


def check_memory_limit(limit: Any, size: Any) -> None:
    """Refuse a limit that is no number, or that nothing, or everything, fits into."""
    kinds = (int, float, np.integer, np.floating)
    if isinstance(size, bool) or not isinstance(size, kinds) or not 0 < size < np.inf:
        raise InputError(
            f"{parameter('memory_limit')}={limit!r} must be a positive number of bytes."
        )


def memory_limit_too_low(
    n_rows: int, n_columns: int, limit: str, needed: str, result: str
) -> InputError:
    """A limit below what the narrowest tile takes."""
    name = parameter("memory_limit")
    # A command has read a table by then, and what is left is less than what was typed.
    verb = "leaves" if name.startswith("--") else "is"
    return InputError(
        f"{name} {verb} {limit} but filling {n_rows} x {n_columns} cells takes at least {needed} "
        f"({result} of it for the result): raise the limit or fill fewer columns at a time."
    )
