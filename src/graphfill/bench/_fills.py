"""Fills by name: the features with gaps, the graph and a seed in, the features without gaps out."""

from __future__ import annotations

import hashlib
import sys
import warnings
from collections.abc import Callable
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, UnreachedWarning, cell, first_cell
from ..graph._graph import Graph
from ..solve import fill_fisf, fill_pcfi, fill_spectral, propagate
from ._problem import Floats, Problem, check_name

Fill = Callable[[Floats, Graph, int], Floats]

STEPS = 40  # of diffusion, as in the paper
threads: int | None = None  # cores a fill may use; one where runs are spread over processes


def _quiet(fill: Fill) -> Fill:
    def quiet(X: Floats, graph: Graph, seed: int) -> Floats:
        with warnings.catch_warnings():
            # At 99 % missing some columns are bound to have no known cell.
            warnings.simplefilter("ignore", UnreachedWarning)
            return fill(X, graph, seed)

    return quiet


def _propagated(**options: Any) -> Fill:
    return _quiet(lambda X, graph, seed: propagate(X, graph, threads=threads, **options).X)


def _imputed(name: str, seeded: bool = False, **options: Any) -> Fill:
    def fill(X: Floats, graph: Graph, seed: int) -> Floats:
        from .. import imputers  # scikit-learn with it

        if seeded:
            options["random_state"] = seed
        filled: Floats = getattr(imputers, name)(graph, **options).fit_transform(X)
        return filled

    return _quiet(fill)


FILLS: dict[str, Fill] = {
    "fp": _propagated(solver="diffusion", n_iter=STEPS),
    "fp-exact": _propagated(solver="exact", tol=1e-5),
    "fp-loops": _propagated(solver="diffusion", n_iter=STEPS, self_loops=True),
    "spectral": _quiet(
        lambda X, graph, seed: fill_spectral(X, graph, seed=seed, threads=threads).X
    ),
    "zero": _imputed("ZeroImputer"),
    "random": _imputed("RandomImputer", seeded=True),
    "mean": _imputed("MeanImputer"),
    "neighbors": _imputed("NeighborMeanImputer"),
    "mim": _imputed("ZeroImputer", add_indicator="all"),  # more columns, the others as they were
    "pcfi": _quiet(lambda X, graph, seed: fill_pcfi(X, graph, threads=threads).X),
    "fisf": _quiet(lambda X, graph, seed: fill_fisf(X, graph, seed=seed, threads=threads).X),
}
INPUTS = ("chosen", "chosen-train")  # columns for a network, no fill of those there are


def makes_input(method: str) -> bool:
    """Whether a method gives columns of its own: one of `INPUTS`, or a function with `labels`."""
    if not is_own(method):
        return method in INPUTS
    return "labels" in signature(load_function(method)).parameters


def make_input(problem: Problem, method: str) -> tuple[Floats, dict[str, float | str]]:
    """What such a method gives the network, and what it chose.

    It sees the labels of training nodes, -1 for all others; "chosen" chooses by those of
    validation nodes as well.
    """
    dataset, split, y = problem.dataset, problem.split, problem.dataset.y
    labels, validation = np.full((2, len(y)), -1)
    labels[split.train], validation[split.val] = y[split.train], y[split.val]
    X = problem.incomplete()
    if is_own(method):
        made = _called(method, lambda own: own(X, dataset.graph, problem.seed, labels=labels))
        return _check_numbers(_bare(method), made, len(y)), {}
    from ..imputers import network_input

    found = network_input(
        X,
        dataset.graph,
        labels,
        validation=validation if method == "chosen" else None,
        seed=problem.seed,
        threads=threads,
    )
    return found.X, {"blocks": " + ".join(found.blocks)}


def is_own(method: str) -> bool:
    """Whether a method is a function of the user's: path/to/file.py:function, module:function."""
    return ":" in method


def versioned(name: str) -> str:
    """A user's function by its name and eight letters that change with its file.

    So a row of the record is that of the function as it was, and not as it is now.
    """
    load_function(name)  # refuses what is no function
    home = name.rpartition(":")[0]
    file = home if home.endswith(".py") else getattr(sys.modules[home], "__file__", None)
    digest = hashlib.sha256(Path(file).read_bytes() if file else b"").hexdigest()
    return f"{_bare(name)}@{digest[:8]}"


def resolve(name: str) -> Fill:
    """The fill of this name, or the user's own function, whose answer is checked.

    The name is one of `FILLS`, or ``path/to/file.py:function`` or ``module:function``; what
    `versioned` adds is ignored.

    >>> path = Graph.from_edges([0, 1], [1, 2])
    >>> resolve("mean")(np.array([[1], [np.nan], [3]], np.float32), path, 0).ravel()
    array([1., 2., 3.], dtype=float32)
    """
    if not is_own(name):
        check_name("fill", name, FILLS)
        return FILLS[name]

    def fill(X: Floats, graph: Graph, seed: int) -> Floats:
        filled = _called(name, lambda own: own(X.copy(), graph, seed))
        check_filled(_bare(name), filled, X)
        return filled.astype(np.float32, copy=False)

    load_function(name)  # refuses what is no function
    return fill


def _called(name: str, call: Callable[[Callable[..., Any]], Any]) -> NDArray[Any]:
    """What a function of the user's returns."""
    function = load_function(name)
    try:
        return np.asarray(call(function))
    except Exception as error:
        raise InputError(
            f"Method {_bare(name)!r} failed ({type(error).__name__}: {error}): it is called with "
            "the features (NaN where missing), the graph and a seed, and with labels= if it has "
            "that parameter."
        ) from error


def load_function(name: str) -> Callable[..., Any]:
    """A function named by its file or module and its own name."""
    home, _, function = _bare(name).rpartition(":")
    try:
        module = _load_file(Path(home)) if home.endswith(".py") else import_module(home)
    except Exception as error:
        raise _not_a_function(name, f"{type(error).__name__}: {error}") from error
    loaded: Callable[..., Any] | None = getattr(module, function, None)
    if not callable(loaded):
        raise _not_a_function(name, f"{home} has no function {function!r}")
    return loaded


def _not_a_function(name: str, reason: str) -> InputError:
    return InputError(
        f"Method {name!r} cannot be loaded ({reason}): write path/to/file.py:function or "
        "module:function."
    )


def check_filled(name: str, filled: NDArray[Any], X: Floats) -> None:
    """Refuse a fill of another shape, with gaps, or with other values where they were known."""
    if filled.shape != X.shape:
        raise InputError(
            f"Method {name!r} returned an array of shape {filled.shape} but was given one of "
            f"{X.shape}: return the features with their gaps filled."
        )
    single = _check_numbers(name, filled, len(X))
    changed = ~np.isnan(X) & (single != X)
    if changed.any():
        row, column = first_cell(changed)
        raise InputError(
            f"Method {name!r} changed the known cell at {cell(row, column)} from "
            f"{X[row, column]:g} to {filled[row, column]:g}: keep known cells as they are."
        )


def _check_numbers(name: str, made: NDArray[Any], n_rows: int) -> Floats:
    """The numbers as networks are trained in; refuses what is none, and other numbers of rows."""
    if made.ndim != 2 or len(made) != n_rows or not made.shape[1]:
        raise InputError(
            f"Method {name!r} returned an array of shape {made.shape}: return one row for each of "
            f"the {n_rows} nodes, and at least one column."
        )
    if made.dtype.kind not in "fiub":
        raise InputError(
            f"Method {name!r} returned an array of {made.dtype}: return numbers, float32."
        )
    with np.errstate(over="ignore"):
        single = made.astype(np.float32)
    finite = np.isfinite(single)
    if not finite.all():
        row, column = first_cell(~finite)
        raise InputError(
            f"Method {name!r} left {made[row, column]} at {cell(row, column)}: return a number "
            "that is finite in float32 in every cell."
        )
    return single


def _bare(name: str) -> str:
    """The name without what `versioned` added."""
    home, _, function = name.rpartition(":")
    return f"{home}:{function.partition('@')[0]}"


def _load_file(path: Path) -> Any:
    key = f"graphfill_own_{path.stem}"
    spec = spec_from_file_location(key, path.resolve(strict=True))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[key] = module  # dataclasses and pickles look their module up
    spec.loader.exec_module(module)
    return module
