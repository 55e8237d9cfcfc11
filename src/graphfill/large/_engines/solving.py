"""Channels of a table solved over shards, in place of ``propagate``."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...solve._propagate import Result
from .. import _refuse_shards
from .engine import Engine
from .propagate import propagate_sharded


@dataclass
class ShardedSolving:
    """Takes the place of :func:`graphfill.propagate` where tables are filled.

    Each call has a folder of its own, numbered: the same calls made again go on from where the
    ones before were stopped.

    Parameters
    ----------
    engine : Engine
    n_shards : int
    folder : path
        Seen by every worker.
    order : {"given", "locality"}
    """

    engine: Engine
    n_shards: int
    folder: Path
    order: str = "given"
    calls: int = field(default=0, init=False)

    def __call__(self, X: Any, graph: Any, options: Any, progress: Any = False) -> Result:
        """As ``propagate_with``; limits on memory and threads are the workers' affair."""
        _refuse_shards.check_sharded_solver(options.solver)
        names = (
            "normalization",
            "solver",
            "n_iter",
            "tol",
            "max_iter",
            "self_loops",
            "shrinkage",
            "unreached",
        )
        self.calls += 1
        return propagate_sharded(
            X,
            graph,
            n_shards=self.n_shards,
            engine=self.engine,
            folder=self.folder / f"solve-{self.calls:04d}",
            order=self.order,
            progress=progress,
            **{name: getattr(options, name) for name in names},
        )

    def tidy(self) -> None:
        """Remove the folders of all calls, once what they found is written elsewhere."""
        for number in range(1, self.calls + 1):
            shutil.rmtree(self.folder / f"solve-{number:04d}", ignore_errors=True)
