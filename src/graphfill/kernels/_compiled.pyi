"""Signatures of the compiled extension; _tiles, _compiled_graphs and _forest explain them."""

from collections.abc import Callable
from typing import Any

PASSES: tuple[str, ...]
WIDTHS: dict[str, list[int]]

tile_pass: Callable[..., None]
survey: Callable[..., None]
pack: Callable[..., None]
unpack: Callable[..., None]
edge_count: Callable[..., None]
edge_bucket: Callable[..., None]
edge_merge: Callable[..., None]
edge_degrees: Callable[..., None]
edge_mirror: Callable[..., None]
components: Callable[..., int]
cluster: Callable[..., int]
grow_forest: Callable[..., None]
select_rows: Callable[..., None]
hop: Callable[..., int]

def __getattr__(name: str) -> Any: ...
