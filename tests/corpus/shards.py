"""Runs of `graphfill.propagate_sharded`."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from corpus.arrays import told
from corpus.problems import lonely, problem

import graphfill as gf

RUNS: dict[str, Callable[[], dict]] = {}


class Here:
    """The least an engine can be: this process."""

    def map(
        self,
        function: Callable[[Any], Any],
        jobs: Sequence[Any],
        tick: Callable[[], None] | None = None,
    ) -> list[Any]:
        results = []
        for job in jobs:
            results.append(function(job))
            if tick is not None:
                tick()
        return results

    def close(self) -> None:
        """Nothing was opened."""


def _sharded(engine: str | None, made: dict[str, Any], **options: Any) -> dict[str, Any]:
    if engine == "local":
        options |= {"engine": "local", "workers": 2}
    else:
        options |= {"engine": Here()}
    return told(gf.propagate_sharded(*problem(**made), **options))


def _unreached() -> dict[str, Any]:
    """Cells that nothing known is connected to."""
    options: dict[str, Any] = {"n_shards": 3, "engine": Here(), "solver": "exact"}
    return told(gf.propagate_sharded(*lonely(), unreached="mean", normalization="rw", **options))


def _again() -> dict[str, Any]:
    """A run whose folder is used again: it has nothing left to do."""
    X, graph = problem()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "shards"
        options: dict[str, Any] = {"n_shards": 3, "engine": Here(), "folder": folder, "n_iter": 12}
        first = gf.propagate_sharded(X, graph, **options)
        files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))
        second = gf.propagate_sharded(X, graph, **options)
    return {"first": first.X, "second": second.X, "files": "\n".join(files)}


RUNS |= {
    "diffusion": partial(_sharded, None, {}, n_shards=4),
    "diffusion float32 rw": partial(
        _sharded, None, {"dtype": "float32", "columns": 35}, n_shards=5, normalization="rw"
    ),
    "diffusion by locality": partial(
        _sharded, None, {"n": 400}, n_shards=4, order="locality", self_loops=True, n_iter=9
    ),
    "diffusion in processes": partial(_sharded, "local", {"weighted": True}, n_shards=4),
    "exact": partial(_sharded, None, {"weighted": True}, n_shards=3, solver="exact"),
    "exact rw float32": partial(
        _sharded, None, {"dtype": "float32"}, n_shards=6, solver="exact", normalization="rw"
    ),
    "exact with shrinkage": partial(
        _sharded, None, {}, n_shards=2, solver="exact", normalization="rw", shrinkage=0.2
    ),
    "exact in processes": partial(
        _sharded, "local", {}, n_shards=4, solver="exact", normalization="rw"
    ),
    "unreached": _unreached,
    "folder used again": _again,
}
