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


@pytest.mark.parametrize(
    ("module", "allowed"),
    [
        ("validate", set()),
        ("threads", set()),
        ("kernels", set()),
        ("ids", set()),
        ("edges", set()),
        ("graph", set()),
        ("operator", set()),
        ("ordering", set()),
        ("memory", set()),
        ("solvers", set()),
        ("fill", set()),
        ("layout", set()),
        ("container", set()),
        ("solve", set()),
        ("imputers", {"sklearn"}),
        *(
            (name, set())
            for name in (
                "agreement",
                "alignment",
                "attributes",
                "arguments",
                "bench",
                "bench.arguments",
                "bench.data",
                "bench.grid",
                "bench.systems",
                "cells",
                "channels",
                "classes",
                "clues",
                "cli",
                "columns",
                "commands",
                "dates",
                "demo",
                "dialect",
                "distributed",
                "edge_ends",
                "folds",
                "formats",
                "hetero",
                "id_column",
                "id_search",
                "intervals",
                "io",
                "judgement",
                "kinds",
                "learner",
                "objects",
                "option_values",
                "portrait",
                "printing",
                "rehearsal",
                "reliance",
                "report",
                "scores",
                "shards",
                "steps",
                "summary",
                "survey",
                "table",
                "table_fill",
                "table_result",
                "text",
                "town",
                "trust",
            )
        ),
    ],
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


def test_no_refusal_hides_another_of_its_name():
    import importlib
    import pkgutil

    from graphfill import validate

    home = {}
    for found in pkgutil.iter_modules(validate.__path__):
        module = importlib.import_module(f"graphfill.validate.{found.name}")
        for name, value in vars(module).items():
            if getattr(value, "__module__", "") == module.__name__ and not name.startswith("_"):
                assert home.setdefault(name, found.name) == found.name
    assert len(home) > 100
