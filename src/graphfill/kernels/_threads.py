"""Threads that share ranges of rows.

The compiled loops release the interpreter lock, so plain Python threads run them side by
side; no OpenMP runtime is needed, and none can clash with torch's.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

_pools: dict[int, ThreadPoolExecutor] = {}
# A forked child has none of its parent's threads: a pool kept across the fork would hang.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pools.clear)


def available() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def default_threads() -> int:
    """How many threads to use unless told: as many as cores, or fewer where others are set to.

    That is the first number of OMP_NUM_THREADS, and what torch is set to where it was imported:
    by ``torch.set_num_threads``, or one in a worker of a DataLoader.
    """
    limits = [available()]
    first = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if first.isdecimal():
        limits.append(int(first))
    torch = sys.modules.get("torch")  # no import of torch for it
    if torch is not None:
        limits.append(torch.get_num_threads())
    return max(1, min(limits))


def share(work: Callable[..., Any], pieces: Iterable[tuple[Any, ...]], threads: int) -> list[Any]:
    """``[work(*piece) for piece in pieces]``, by several threads.

    >>> share(lambda lo, hi: hi - lo, [(0, 3), (3, 10)], threads=2)
    [3, 7]
    """
    pieces = list(pieces)
    if threads <= 1 or len(pieces) <= 1:
        return [work(*piece) for piece in pieces]
    if threads not in _pools:
        _pools[threads] = ThreadPoolExecutor(threads, thread_name_prefix=f"graphfill-{threads}")
    return list(_pools[threads].map(lambda piece: work(*piece), pieces))


def cut(n: int, pieces: int) -> list[tuple[int, int]]:
    """The range 0..n in at most ``pieces`` nearly equal parts.

    >>> cut(10, 3)
    [(0, 3), (3, 6), (6, 10)]
    """
    ends = [n * k // pieces for k in range(pieces + 1)]
    return [(lo, hi) for lo, hi in pairwise(ends) if hi > lo]
