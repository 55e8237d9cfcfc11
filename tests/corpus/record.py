"""What is written down of a run, and how a fresh run compares with it.

A run gives parts by name, each an array or a text. Of an array are kept its dtype and shape, the
SHA-256 of its bytes, some of its cells and, of floats, two sums over all cells, which show changes
in cells that are not among those kept. Of a text is kept the text itself, or its beginning and its
SHA-256 if it is long.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

Parts = Mapping[str, np.ndarray | str]

SAMPLED, SAMPLED_OF_OTHERS = 20, 6  # cells of floats, and of what has to be equal
LONG = 8000  # characters of a text from which only its beginning is kept
BEGINNING = 400
EXCERPT = 60  # characters shown of a line that differs
TOLERANCE = {"float64": 1e-9, "float32": 1e-5}
SMALL = 1e-3  # cells below this share of the typical one are compared with that share
GOLDEN = 0.6180339887498949
FRACTION = re.compile(r"[-+]?\d+\.\d+(?:[eE][-+]?\d+)?|[-+]?\d+[eE][-+]?\d+")

SAME, CLOSE, DIFFERENT = "same bits", "close", "different"


@dataclass(frozen=True)
class Verdict:
    """How one part compares: `largest` relative difference, and a sentence if it is different."""

    kind: str
    largest: float = 0.0
    sentence: str = ""


def entry(value: np.ndarray | str) -> dict[str, Any]:
    """What is kept of one part."""
    if isinstance(value, str):
        if len(value) <= LONG:
            return {"text": value}
        return {"length": len(value), "sha256": _sha(value.encode()), "begins": value[:BEGINNING]}
    array = np.ascontiguousarray(value)
    kept = {
        "dtype": "text" if array.dtype.kind == "U" else array.dtype.name,
        "shape": list(array.shape),
        "sha256": _sha_of_cells(array),
        "sample": [_cell(cell) for cell in array.reshape(-1)[places(array)]],
    }
    if array.dtype.kind == "f":
        kept["norm"], kept["projection"] = _sums(array)
    return kept


def places(array: np.ndarray) -> np.ndarray:
    """Which cells are kept: some that are spread over the whole array."""
    n = SAMPLED if array.dtype.kind == "f" else SAMPLED_OF_OTHERS
    if array.size <= n:
        return np.arange(array.size)
    return np.unique((np.arange(1, n + 1) * GOLDEN % 1 * array.size).astype(np.int64))


def compare(old: Mapping[str, Any], value: np.ndarray | str) -> Verdict:
    """How a fresh value compares with what was kept of an earlier one."""
    new = entry(value)
    if new == old or ("sha256" in old and new.get("sha256") == old["sha256"]):
        return Verdict(SAME)
    if "text" in old and "text" in new:
        return _compare_texts(old["text"], new["text"])
    if "dtype" not in old or "dtype" not in new:
        return Verdict(DIFFERENT, math.inf, "another text" if "begins" in old else "another kind")
    for name in ("dtype", "shape"):
        if old[name] != new[name]:
            return Verdict(DIFFERENT, math.inf, f"{name} {old[name]} became {new[name]}")
    if old["dtype"] in TOLERANCE:
        return _compare_floats(old, new)
    n = sum(a != b for a, b in zip(old["sample"], new["sample"], strict=True))
    return Verdict(DIFFERENT, math.inf, f"{n} of {len(new['sample'])} sampled cells differ")


def compare_run(old: Mapping[str, Any], parts: Parts) -> dict[str, Verdict]:
    """The verdict on every part of a run, also on those that only one side has."""
    verdicts = {}
    for name in [*old, *(name for name in parts if name not in old)]:
        if name not in parts:
            verdicts[name] = Verdict(DIFFERENT, math.inf, "gone")
        elif name not in old:
            verdicts[name] = Verdict(DIFFERENT, math.inf, "new")
        else:
            verdicts[name] = compare(old[name], parts[name])
    return verdicts


def save(path: Path, runs: Mapping[str, Mapping[str, Any]]) -> None:
    """Write what was kept, a line for each part."""
    blocks = []
    for name, parts in runs.items():
        lines = [f"  {json.dumps(key)}: {json.dumps(kept)}" for key, kept in parts.items()]
        blocks.append(f"{json.dumps(name)}: {{\n" + ",\n".join(lines) + "\n}")
    path.write_text("{\n" + ",\n".join(blocks) + "\n}\n")


def load(path: Path) -> dict[str, dict[str, Any]]:
    """Read what was kept, by run and part."""
    return json.loads(path.read_text())


def _compare_floats(old: Mapping[str, Any], new: Mapping[str, Any]) -> Verdict:
    tolerance = TOLERANCE[old["dtype"]]
    one, two = (np.array([float(cell) for cell in kept["sample"]]) for kept in (old, new))
    both = np.isfinite(one) & np.isfinite(two)
    apart = np.where(np.isnan(one) & np.isnan(two) | (one == two), 0.0, np.inf)
    typical = old["norm"] / math.sqrt(max(math.prod(old["shape"]), 1))
    size = np.maximum(np.maximum(abs(one), abs(two)), SMALL * typical)[both]
    apart[both] = abs(one - two)[both] / np.where(size > 0, size, 1.0)
    whole = abs(old["projection"] - new["projection"]) / (old["norm"] or 1.0)
    largest = max(float(apart.max(initial=0.0)), whole)
    if largest <= tolerance:
        return Verdict(CLOSE, largest)
    n = int((apart > tolerance).sum())
    sentence = f"{n} of {len(one)} sampled cells differ"
    if n == 0:
        sentence += f", but all cells together do, by {whole:.1e}"
    return Verdict(DIFFERENT, largest, sentence)


def _compare_texts(one: str, two: str) -> Verdict:
    """Texts are close if only numbers with a fraction differ, and those by rounding."""
    numbers = [[float(found) for found in FRACTION.findall(text)] for text in (one, two)]
    if FRACTION.sub("#", one) == FRACTION.sub("#", two):
        pairs = zip(*numbers, strict=True)
        apart = [abs(a - b) / (max(abs(a), abs(b)) or 1.0) for a, b in pairs]
        largest = max(apart, default=0.0)
        if largest <= TOLERANCE["float64"]:
            return Verdict(CLOSE, largest)
    before, after = one.split("\n"), two.split("\n")
    changed = [(a, b) for a, b in zip(before, after, strict=False) if a != b]
    n = len(changed) + abs(len(before) - len(after))
    first = ": {!r} became {!r}".format(*_excerpts(*changed[0])) if changed else ""
    return Verdict(DIFFERENT, math.inf, f"{n} of {len(before)} lines differ{first}")


def _excerpts(one: str, two: str) -> tuple[str, str]:
    """What two lines have around the first place where they differ."""
    same = next((i for i, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), 0)
    around = slice(max(same - EXCERPT // 2, 0), same + EXCERPT)
    return one[around], two[around]


def _cell(cell: Any) -> Any:
    if isinstance(cell, np.floating):
        return float(str(cell)) if np.isfinite(cell) else str(cell)
    return cell.item()


def _sums(array: np.ndarray) -> tuple[float, float]:
    """The norm of all finite cells, and their sum with weights that differ from cell to cell."""
    cells = array.reshape(-1).astype(np.float64)
    cells = np.where(np.isfinite(cells), cells, 0.0)
    weights = np.arange(1, cells.size + 1) * math.sqrt(2) % 1 - 0.5
    largest = float(abs(cells).max(initial=0.0)) or 1.0
    return largest * float(np.linalg.norm(cells / largest)), float(weights @ cells)


def _sha_of_cells(array: np.ndarray) -> str:
    if array.dtype.kind == "U":  # whatever width the longest cell asks for
        return _sha("\0".join(array.reshape(-1).tolist()).encode())
    return _sha(array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes())


def _sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
