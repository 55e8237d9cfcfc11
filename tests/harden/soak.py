"""Fills one after another, at once, and after a fork: the same answers, and no growth of memory.

python tests/harden/soak.py 300
"""

from __future__ import annotations

import multiprocessing
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa

import graphfill as gf

WARM = 30  # fills until all that is kept has been made
THREADS = 8


def table(seed: int = 0, n: int = 300) -> tuple[pa.Table, pa.Table]:
    """People with a number and a category, and a ring with some more links."""
    rng = np.random.default_rng(seed)
    x = np.cumsum(rng.normal(size=n))
    city = np.where(np.sin(np.arange(n) / 20) > 0, "York", "Bath")
    lost = rng.random((2, n)) < 0.3
    people = pa.table(
        {
            "id": np.arange(n),
            "x": [None if m else float(v) for v, m in zip(x, lost[0], strict=True)],
            "city": [None if m else str(v) for v, m in zip(city, lost[1], strict=True)],
        }
    )
    ends = rng.integers(0, n, (2, n))
    return people, pa.table({"s": [*range(n), *ends[0]], "t": [*range(1, n), 0, *ends[1]]})


def filled(seed: int = 0) -> list[list[object]]:
    people, links = table(seed)
    whole = gf.impute(people, links, id="id", method="propagation", threads=2)
    return [column.to_pylist() for column in whole.columns]


def memory() -> int:
    """Bytes that the process holds."""
    pages = Path("/proc/self/statm").read_text().split()[1]
    return int(pages) * 4096


def growth(fills: int) -> float:
    """The share by which memory grows from the first fills to the last."""
    expected = filled()
    for _ in range(WARM):
        filled()
    before = memory()
    for _ in range(fills):
        assert filled() == expected
    return memory() / before - 1.0


def at_once(fills: int, threads: int = THREADS) -> int:
    """How many of the answers that threads gave at once are wrong."""
    expected = [filled(seed) for seed in range(4)]
    with ThreadPoolExecutor(threads) as pool:
        answers = pool.map(lambda k: filled(k % 4) == expected[k % 4], range(fills))
    return sum(not right for right in answers)


def in_processes(method: str, processes: int = 4) -> int:
    """How many processes, begun after a fill, gave another answer."""
    expected = filled()
    with multiprocessing.get_context(method).Pool(2) as pool:
        answers = pool.map_async(filled, [0] * processes).get(timeout=300)
    return sum(answer != expected for answer in answers)


if __name__ == "__main__":
    print(f"growth {growth(int(sys.argv[1])):.3f}")
    print("wrong of threads", at_once(10 * THREADS))
    print("wrong after fork", in_processes("fork"), "after spawn", in_processes("spawn"))
