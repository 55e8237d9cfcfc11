"""Forged shards for a while: what became of them, as JSON.

python tests/harden/forged.py SECONDS
"""

import json
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np
from large.shards import test_refusals

import graphfill as gf

BATCH = 200


def problem(columns):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, columns))
    X[rng.random(X.shape) < 0.5] = np.nan
    return gf.Graph.from_edges(rng.integers(0, 60, (2, 150)), n_nodes=60), X


if __name__ == "__main__":
    counted: Counter[str] = Counter()
    end, first = time.monotonic() + float(sys.argv[1]), 1000
    while time.monotonic() < end:
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            counted.update(test_refusals.forged_outcomes(problem, place, first, first + BATCH))
        first += BATCH
    print(json.dumps(counted))
