"""The memory limit is kept, as the operating system counts it."""

import json
import subprocess
import sys

import pytest

CHILD = """
import json, sys, warnings
import numpy as np
import graphfill as gf

def status(key):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(key))

options = json.loads(sys.argv[1])
n, columns = 200_000, 48
rng = np.random.default_rng(0)
weight = rng.random(600_000) if options.pop("weighted") else None
graph = gf.Graph.from_edges(rng.integers(0, n, (2, 600_000)), n_nodes=n, weight=weight)
X = rng.standard_normal((n, columns), dtype=np.float32)
whole_rows = options.pop("whole_rows")
X[rng.random((n, 1) if whole_rows else X.shape)[..., : X.shape[1]].repeat(
    columns if whole_rows else 1, axis=1) < 0.7] = np.nan
warnings.simplefilter("ignore")
fill = getattr(gf, options.pop("fill", "propagate"))
fill(X[:64], gf.Graph.from_edges([0], [1], n_nodes=64))  # everything imported
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")  # the peak starts again from here
before = status("VmRSS")
fill(X, graph, **options)
print(status("VmHWM") - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads Linux's own accounts")
@pytest.mark.parametrize("solver", ["diffusion", "chebyshev", "exact"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("whole_rows", [False, True], ids=["cells", "rows"])
@pytest.mark.parametrize("limit", [110_000_000, 150_000_000, 600_000_000])
def test_limit_is_kept(solver, weighted, whole_rows, limit):
    options = {
        "solver": solver,
        "weighted": weighted,
        "whole_rows": whole_rows,
        "memory_limit": limit,
        "reorder": "auto",
        "threads": 2,
    }
    if solver != "exact":
        options["n_iter"] = 3
    else:
        options["tol"] = 1e-2
    check(options, limit)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads Linux's own accounts")
@pytest.mark.parametrize(
    ("fill", "limit"),
    [("fill_pcfi", 110_000_000), ("fill_pcfi", 200_000_000), ("fill_fisf", 600_000_000)],
)
def test_limit_is_kept_by_what_weighs_by_distance(fill, limit):
    options = {"fill": fill, "weighted": False, "whole_rows": False, "memory_limit": limit}
    check(options | {"n_iter": 3, "threads": 2}, limit)


def check(options, limit):
    """Fill in a process of its own, and look at its peak."""
    done = subprocess.run(
        [sys.executable, "-c", CHILD, json.dumps(options)], capture_output=True, text=True
    )
    if done.returncode:  # refused before any work, in a sentence
        assert "memory_limit is" in done.stderr.splitlines()[-1]
        assert limit < 600_000_000
    else:
        assert int(done.stdout) <= limit
