"""Runs the shards of a graph on an engine: local processes, Dask or Spark.

State lives in the shards' folder and nowhere else; an engine provides a map with a barrier.
"""

from .dask import DaskEngine
from .driver import run
from .engine import Engine, open_engine
from .local import LocalEngine
from .propagate import propagate_sharded
from .solving import ShardedSolving
from .spark import SparkEngine

__all__ = [
    "DaskEngine",
    "Engine",
    "LocalEngine",
    "ShardedSolving",
    "SparkEngine",
    "open_engine",
    "propagate_sharded",
    "run",
]
