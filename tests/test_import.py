"""What importing graphfill costs, and which heavy packages each module pulls in."""

import subprocess
import sys

import pytest

HEAVY = ("sklearn", "pandas", "polars", "pyarrow", "torch", "networkx", "igraph", "matplotlib")


def fresh(code):
    """What a new interpreter prints."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def heavy_after(code):
    listed = f"import sys; print(*[m for m in {HEAVY!r} if m in sys.modules])"
    return set(fresh(f"{code}; {listed}").split())


def test_import_is_light_and_quick():
    assert heavy_after("import graphfill") == set()
    timed = "import time; t = time.perf_counter(); import graphfill; print(time.perf_counter() - t)"
    assert min(float(fresh(timed)) for _ in range(5)) < 0.1


ROOMS = (
    "errors",
    "kernels",
    "graph",
    "solve",
    "hetero",
    "trust",
    "table",
    "io",
    "links",
    "report",
    "large",
    "app",
    "cli",
)


@pytest.mark.parametrize(
    ("module", "allowed"),
    [(room, set()) for room in (*ROOMS, "bench", "cli._arguments")] + [("imputers", {"sklearn"})],
)
def test_each_module_alone_loads_only_what_it_may(module, allowed):
    # scikit-learn imports pandas by itself where it is installed: only our own imports count.
    block = "import sys; sys.modules['pandas'] = None" if module == "imputers" else "pass"
    loaded = heavy_after(f"{block}; import graphfill.{module}")
    assert loaded - {"pandas"} <= allowed


def test_filling_does_not_need_scikit_learn():
    code = (
        "import sys; sys.modules['sklearn'] = None; import graphfill as gf; "
        "print(gf.propagate([1.0, None, 3.0], gf.Graph.from_edges([0, 1], [1, 2]), "
        "normalization='rw', solver='exact').X.tolist())"
    )
    assert fresh(code) == "[1.0, 2.0, 3.0]"


def test_public_names_resolve_in_any_order_of_import():
    code = (
        "import graphfill.imputers, graphfill.solve, graphfill as gf; "
        "print(all(callable(getattr(gf, name)) for name in gf.__all__ if name != '__version__'))"
    )
    assert fresh(code) == "True"
    assert "propagate" in fresh("import graphfill; print(dir(graphfill))")
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = __import__("graphfill").nothing
