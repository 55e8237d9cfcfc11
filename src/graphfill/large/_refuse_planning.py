"""Refusals of what cannot be planned."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..errors import InputError, option


def check_planned_file(path: Path, endings: Sequence[str]) -> None:
    """Refuse a file that does not say how large it is."""
    if not path.name.lower().endswith(tuple(endings)):
        raise InputError(
            f"{path.name} is no Parquet file, and only those say how large they are without being "
            "read: convert it to plan with it (graphfill impute reads it as it is)."
        )


def check_worker_memory(size: int, least: int, said: tuple[str, str], n_shards: int) -> None:
    """Refuse workers that cannot hold a single shard."""
    if size < least:
        raise InputError(
            f"{option('worker_memory').rstrip('=')} {said[0]} cannot hold one of {n_shards:,} "
            f"shard(s), which takes {said[1]}: name more {option('shards').rstrip('=')}."
        )
