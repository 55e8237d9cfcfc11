"""A graph and a matrix cut into shards of rows, on disk; one step of one shard.

No engine is imported here: see :mod:`graphfill.large._engines` for what runs the steps.

>>> import tempfile
>>> import graphfill as gf
>>> from graphfill.large._shards import cut
>>> ring = gf.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
>>> with tempfile.TemporaryDirectory() as folder:
...     manifest = cut(ring, [1.0, None, 3.0, None], 2, folder)
>>> manifest.bounds, manifest.halo  # each half needs both rows of the other
([0, 2, 4], [2, 2])
"""

from .cutting import cut
from .manifest import open_manifest
from .shard import join

__all__ = ["cut", "join", "open_manifest"]
