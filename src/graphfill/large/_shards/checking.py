"""Whether files that agree with their checksums hold what a cut writes: a checksum can be forged.

Kernels trust the row pointers and columns that they are given, so that these are looked at before.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from ... import kernels
from ...errors import InputError
from ...solve import PropagationOptions
from .storage import RESTORE

Array = np.ndarray


def forged(path: Path, what: str) -> InputError:
    """A file with another content than a cut writes."""
    return InputError(f"{path} does not hold what a cut writes ({what}): {RESTORE}.")


def manifest_fault(manifest: Any) -> str:
    """What is wrong with the numbers of a manifest, or nothing."""
    sizes = manifest.n_rows, manifest.n_columns, manifest.n_components
    counted = [*sizes, manifest.n_entries, manifest.block_rows, *manifest.bounds, *manifest.halo]
    if not all(type(number) is int and 0 <= number < 1 << 48 for number in counted) or not min(
        sizes
    ):
        return "a size is no positive whole number"
    if manifest.dtype not in ("float32", "float64"):
        return f"its values are {manifest.dtype!r}"
    bounds = manifest.bounds
    ascending = all(lo < hi for lo, hi in pairwise(bounds))
    if len(bounds) != manifest.n_shards + 1 or not ascending:
        return "its shards do not follow each other"
    if (bounds[0], bounds[-1]) != (0, manifest.n_rows) or len(manifest.halo) != manifest.n_shards:
        return "its shards do not add up to its rows"
    widths, last = kernels.tile_widths(np.dtype(manifest.dtype)), 0
    for start, stop, width in manifest.tiles:
        if start != last or not 0 < stop - start <= width or width not in widths:
            return "its tiles do not follow each other"
        last = stop
    for entry in (*manifest.shards, manifest.reached):
        if type(entry["size"]) is not int or type(entry["crc32"]) is not int:
            return "a file has no size or no checksum"
        if not isinstance(entry["arrays"], dict):
            return "a file lists no arrays"
    per_column = manifest.known_in_column, manifest.means
    if last != manifest.n_columns or any(len(part) != last for part in per_column):
        return "its tiles do not add up to its columns"
    counts, means = per_column
    if not all(type(one) is int for one in (*counts, manifest.n_unreached, manifest.n_missing)):
        return "a count is no whole number"
    if not all(isinstance(mean, float | int) for mean in means):
        return "a mean is no number"
    return _options_fault(manifest.inputs, manifest.solver)


def _options_fault(inputs: Mapping[str, Any], solver: Mapping[str, Any]) -> str:
    needed = {"diffusion": {"n_iter"}, "exact": {"tol", "max_iter"}}.get(solver["name"], {"name"})
    if set(solver) - {"stop"} != {"name", *needed}:
        return f"its solver is {dict(solver)}"
    if not isinstance(solver.get("stop", 1.0), float):
        return f"it stops at {solver['stop']!r}"
    given = {name: inputs[name] for name in ("normalization", "shrinkage", "self_loops")}
    try:
        PropagationOptions(
            solver=solver["name"], **given, **{name: solver[name] for name in needed}
        )
    except InputError as error:
        return str(error)
    return ""


def shard_fault(manifest: Any, number: int, arrays: Mapping[str, Array]) -> str:
    """What is wrong with the arrays of a shard, or nothing."""
    n = manifest.bounds[number + 1] - manifest.bounds[number]
    dtype, entries, halo = np.dtype(manifest.dtype), arrays["indices"].size, arrays["halo"].size
    shapes = {
        "X": (n, manifest.n_columns), "indptr": (n + 1,), "indices": (entries,), "label": (n,),
        "halo": (halo,), "halo_starts": (manifest.n_shards + 1,), "halo_diagonal": (halo,),
        "nodes": (n,), "weights": (entries,),
    }  # fmt: skip
    whole = {"indptr": "i8", "indices": "i4", "label": "i4", "halo": "i8", "halo_starts": "i8"}
    for name, array in arrays.items():
        kinds = ("i4", "i8") if name == "nodes" else (whole.get(name, dtype),)
        if array.dtype not in kinds or array.shape != shapes.get(name, (n,)):
            return f"{name} is {array.dtype} of shape {array.shape}"
    rows = np.diff(manifest.bounds)
    starts = arrays["halo_starts"]
    for name, pointers, end in (
        ("indptr", arrays["indptr"], entries),
        ("halo_starts", starts, halo),
    ):
        if pointers[0] != 0 or pointers[-1] != end or (pointers[:-1] > pointers[1:]).any():
            return f"{name} does not ascend from 0 to {end}"
    ends = {"indices": n + halo, "label": manifest.n_components, "nodes": manifest.n_rows}
    for name, limit in ends.items():
        if name in arrays and _outside(arrays[name], limit):
            return f"{name} lies beyond {limit}"
    if _outside(arrays["halo"], np.repeat(rows, np.diff(starts))):
        return "halo lies beyond its owners' rows"
    return ""


def _outside(numbers: Array, limit: Any) -> bool:
    """Whether one is negative, or the limit or more."""
    return bool(((numbers < 0) | (numbers >= limit)).any())
