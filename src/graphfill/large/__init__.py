"""Beyond memory and beyond one machine: files on disk, shards, engines, estimates."""

from ._engines import propagate_sharded

__all__ = ["propagate_sharded"]
