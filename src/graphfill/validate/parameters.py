"""Refusals of parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .errors import InputError


def check_choice(name: str, value: Any, choices: Sequence[Any]) -> None:
    """Refuse a parameter that is none of the words (or switches) it may be."""
    if not any(isinstance(value, type(choice)) and value == choice for choice in choices):
        raise InputError(f"{name} is {value!r} but must be one of {', '.join(map(repr, choices))}.")


def check_flag(name: str, value: Any) -> None:
    """Refuse a switch that is neither True nor False."""
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"{name} is {value!r} but must be True or False.")


def check_number(name: str, value: Any, *, low: float, integer: bool = False) -> None:
    """Refuse a parameter that is not a finite number from ``low`` on."""
    kinds = (int, np.integer) if integer else (int, float, np.integer, np.floating)
    if isinstance(value, bool) or not isinstance(value, kinds) or not low <= value < np.inf:
        kind = "a whole number" if integer else "a number"
        raise InputError(f"{name} is {value!r} but must be {kind} of at least {low}.")
