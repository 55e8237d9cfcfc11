"""How long a call takes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


def timed(work: Callable[..., T], *arguments: Any, times: int = 1) -> tuple[float, T]:
    """The best of some times, and what came out."""
    best = float("inf")
    for _ in range(times):
        began = time.perf_counter()
        result = work(*arguments)
        best = min(best, time.perf_counter() - began)
    return best, result
