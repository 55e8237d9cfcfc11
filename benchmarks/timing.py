"""Clocks: the best of interleaved rounds, and the time of one step without set-up."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

from peers import Peer


def seconds(work: Callable[[], object]) -> float:
    """Wall time of one call; its result is dropped before the clock is read."""
    gc.collect()
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def interleaved(works: dict[str, Callable[[], object]], rounds: int, record) -> dict[str, list]:
    """Wall times of each work, one of each per round, so that noise falls on all alike."""
    times: dict[str, list] = {name: [] for name in works}
    for turn in range(rounds):
        for name, work in works.items():
            times[name].append(seconds(work))
            record(kind="timing", who=name, round=turn, seconds=times[name][-1])
    return times


def per_step(peers: list[Peer], few: int, many: int, rounds: int, record) -> dict[str, float]:
    """Seconds per step of each peer.

    The best run of ``many`` steps minus the best of ``few``, over the difference:
    whatever a library does once per call cancels, for all in the same way.
    """
    works = {}
    for peer in peers:
        works[f"{peer.name} @ {few}"] = lambda peer=peer: peer.run(few)
        works[f"{peer.name} @ {many}"] = lambda peer=peer: peer.run(many)
    times = interleaved(works, rounds, record)
    answer = {}
    for peer in peers:
        low, high = min(times[f"{peer.name} @ {few}"]), min(times[f"{peer.name} @ {many}"])
        answer[peer.name] = (high - low) / (many - few)
    return answer
