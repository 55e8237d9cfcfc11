"""What it takes to say what a filled cell is made of, on us_counties.

    python benchmarks/explain.py [--every 100]

Hides 30 % of the cells, fills them by default (which blends fields and trees in most columns) and
by propagation, and prints by column how long `explain` takes a cell (median and longest, CPU time,
the first left out: it sets up the equations), and how long `near_copies` takes for all cells.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from pathlib import Path

import numpy as np

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))


def measure(method: str, every: int) -> None:
    from real_tables import counties, hide

    import graphfill as gf

    truth, edges = counties()
    table, _ = hide(truth, 0.3, 0)
    result = gf.impute(table, edges, id="fips", method=method, return_result=True)
    ids, everything = table["fips"].to_pylist(), []
    for summary in result.columns:
        if summary.name not in result.filled:
            continue
        took = []
        for row in np.flatnonzero(result.filled[summary.name])[::every].tolist():
            began = time.process_time()
            gf.explain(result, ids[row], summary.name)
            took.append(1e3 * (time.process_time() - began))
        parts = summary.details.get("parts") or [{"method": summary.details.get("chosen", method)}]
        by = " + ".join(part["method"] for part in parts)
        print(f"{summary.name:32} {np.median(took[1:]):6.1f} {max(took[1:]):6.1f} ms  {by}")
        everything += took[1:]
    began = time.process_time()
    n_copies = len(gf.near_copies(result))
    seconds = time.process_time() - began
    print(f"{method}: {np.median(everything):.1f} ms a cell (median of {len(everything)} cells)")
    print(f"{n_copies} near copies among {result.n_filled:,} cells, found in {seconds:.1f} s\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--every", type=int, default=100, help="so many-th cell of a column")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for method in ("propagation", "auto"):
        measure(method, options.every)


if __name__ == "__main__":
    main()
