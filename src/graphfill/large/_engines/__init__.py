"""Runs the shards of a graph on an engine: local processes, Dask or Spark.

State lives in the shards' folder and nowhere else; an engine provides a map with a barrier.
"""

from .clusters import DaskEngine, SparkEngine
from .driver import open_engine, run
from .engine import LocalEngine
from .propagate import ShardedSolving, propagate_sharded

__all__ = ["DaskEngine", "LocalEngine", "ShardedSolving", "SparkEngine"]
__all__ += ["open_engine", "propagate_sharded", "run"]
