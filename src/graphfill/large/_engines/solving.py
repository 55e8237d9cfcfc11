"""Channels of a table solved over shards, in place of ``propagate``."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ...errors import InputError, option, parameter, switch
from ...solve import PropagationOptions, Result
from .engine import Engine
from .propagate import propagate_sharded


@dataclass
class ShardedSolving:
    """Takes the place of ``propagate_with`` where tables are filled.

    Each call has a numbered folder of its own: the same calls made again go on from where the
    ones before were stopped.
    """

    engine: Engine
    n_shards: int
    folder: Path  # that every worker sees
    order: str = "given"  # or "locality"
    calls: int = field(default=0, init=False)

    def __call__(
        self,
        X: Any,
        graph: Any,
        options: PropagationOptions,
        *,
        progress: bool | Callable[[float], None] = False,
    ) -> Result:
        """As ``propagate_with``; the order of nodes, memory and threads are the workers' affair."""
        check_sharded_solver(options.solver)
        own = ("reorder", "memory_limit", "threads")
        shared = {name: value for name, value in asdict(options).items() if name not in own}
        self.calls += 1
        return propagate_sharded(
            X,
            graph,
            n_shards=self.n_shards,
            engine=self.engine,
            folder=self.folder / f"solve-{self.calls:04d}",
            order=self.order,
            progress=progress,
            **shared,
        )

    def tidy(self) -> None:
        """Remove the folders of all calls, once their results are written elsewhere."""
        for number in range(1, self.calls + 1):
            shutil.rmtree(self.folder / f"solve-{number:04d}", ignore_errors=True)


def check_sharded_solver(solver: str) -> None:
    """Refuse a solver that works in one piece only."""
    if solver not in ("diffusion", "exact"):
        raise InputError(
            f"{parameter('solver')} {solver} works in one piece, not in shards: choose diffusion "
            "or exact."
        )


def check_sharded_method(method: str, asked: Sequence[str]) -> None:
    """Refuse what looks at all columns at once, where a few are in memory at a time."""
    if method in ("hybrid", "auto"):
        raise InputError(
            f"{parameter('method')} {method} looks at all columns at once, which needs them in "
            "memory: choose propagation, neighbors or mean, or a higher limit."
        )
    if asked:
        raise InputError(
            f"{switch(asked[0])} looks at all columns at once, which needs them in memory: leave "
            "it out, or choose a higher limit."
        )


def check_engine_options(engine: str | None, given: dict[str, Any]) -> None:
    """Refuse options of an engine where none is named."""
    for name, value in given.items():
        if engine is None and value is not None:
            raise InputError(
                f"{parameter(name)} is for an engine: name it with {option('engine')}, or leave it "
                "out."
            )
