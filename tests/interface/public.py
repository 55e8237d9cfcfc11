"""The public interface, as it is found in the code that is installed.

Names, parameters and attributes of what `graphfill` and `graphfill.pyg` export: of a parameter its
name, kind and default, not its annotation. Commands and files are described in commands.py.
"""

from __future__ import annotations

import dataclasses
import inspect
import warnings
from importlib import import_module
from typing import Any

import numpy as np

PACKAGES = ("graphfill", "graphfill.links", "graphfill.pyg")
DEFAULTS = (str, int, float, bool, type(None), tuple)
# Classes of other libraries that callers may rely on.
FOREIGN = ("BaseEstimator", "TransformerMixin", "BaseTransform")


def names() -> dict[str, Any]:
    """What each public package exports."""
    return {package: sorted(import_module(package).__all__) for package in PACKAGES}


def signatures() -> dict[str, Any]:
    """The parameters of every public function and constructor."""
    return {
        f"{package}.{name}": parameters(value)
        for package, name, value in _exported()
        if callable(value)
    }


def members() -> dict[str, Any]:
    """Methods, properties and fields that public classes have of their own, and their bases."""
    described: dict[str, Any] = {}
    for package, name, value in _exported():
        if inspect.isclass(value):
            described[f"{package}.{name}"] = {
                "bases": [base.__name__ for base in value.__mro__[1:] if _is_public(base)],
                "members": _members(value),
            }
    return described


def attributes() -> dict[str, Any]:
    """What objects have that the public functions return, or that were fitted."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = _objects()
    return {name: _attributes(value) for name, value in found.items()}


def parameters(function: Any) -> list[str]:
    """Each parameter as it would be written, without its annotation."""
    try:
        found = inspect.signature(function).parameters.values()
    except ValueError:  # of an exception that is made in C
        return []
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    written, keyword = [], False
    for one in found:
        if one.name.startswith("_"):
            continue
        if one.kind is one.VAR_POSITIONAL:
            keyword = True
        elif one.kind is one.KEYWORD_ONLY and not keyword:
            written.append("*")
            keyword = True
        default = "" if one.default is one.empty else f" = {_default(one.default)}"
        ends = ", /" if one.kind is one.POSITIONAL_ONLY else ""
        written.append(f"{stars.get(one.kind, '')}{one.name}{default}{ends}")
    return written


def _exported() -> list[tuple[str, str, Any]]:
    return [
        (package, name, getattr(import_module(package), name))
        for package in PACKAGES
        for name in sorted(import_module(package).__all__)
    ]


def _is_public(base: type) -> bool:
    exported = any(base is value for _, _, value in _exported())
    return exported or base.__name__ in FOREIGN or issubclass(base, Exception)


def _members(cls: type) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if dataclasses.is_dataclass(cls):
        found |= {field.name: "field" for field in dataclasses.fields(cls)}
    for base in reversed(cls.__mro__):
        if base.__module__.partition(".")[0] != "graphfill":
            continue
        for name, value in vars(base).items():
            if isinstance(value, (classmethod, staticmethod)):
                found[name] = [type(value).__name__, *parameters(value.__func__)]
            elif inspect.isfunction(value):
                found[name] = ["method", *parameters(value)]
            elif name not in found:
                found[name] = "attribute"
    return {name: found[name] for name in sorted(found) if not name.startswith("_")}


def _attributes(value: Any) -> list[str]:
    """Names of public fields, properties and whatever else was set."""
    own = [name for name in dir(type(value)) if not callable(getattr(type(value), name))]
    owners = {name: base for base in reversed(type(value).__mro__) for name in vars(base)}
    kept = {name for name in own if owners[name].__module__.partition(".")[0] == "graphfill"}
    return sorted(name for name in kept | set(getattr(value, "__dict__", ())) if name[0] != "_")


def _objects() -> dict[str, Any]:
    """One of each kind, from the smallest of problems."""
    import polars as pl
    import torch
    from torch_geometric.data import Data

    import graphfill as gf
    from graphfill import pyg

    graph = gf.Graph.from_edges([0, 1, 2], [1, 2, 3], n_nodes=4)
    X = np.array([[1.0], [np.nan], [np.nan], [4.0]])
    table = pl.DataFrame({"name": ["a", "b", "c", "d"], "age": [1, None, None, 4]})
    edges = pl.DataFrame({"source": ["a", "b", "c"], "target": ["b", "c", "d"]})
    result = gf.impute(table, edges, return_result=True)
    imputer = gf.FeaturePropagation(graph, keep_fill=True, add_indicator=True).fit(X)
    imputer.transform_new(X[1:2], [(0, 4)])
    random = gf.RandomImputer(graph).fit(X)
    hetero = gf.propagate_hetero({"a": X, "b": 2}, {("a", "r", "b"): ([0, 1], [0, 1])})
    transform = pyg.FeaturePropagation()
    data = Data(x=torch.from_numpy(X), edge_index=torch.tensor([[0, 1, 2], [1, 2, 3]]))
    assert transform(data).x.shape == (4, 1)
    return {
        "graphfill.Graph": graph,
        "propagate": gf.propagate(X, graph),
        "impute": result,
        "impute .columns[0]": result.columns[0],
        "impute .alignment": result.alignment,
        "propagate_hetero": hetero,
        "FeaturePropagation, fitted": imputer,
        "FeaturePropagation, .newcomers_": imputer.newcomers_,
        "RandomImputer, fitted": random,
        "pyg.FeaturePropagation": transform,
        "pyg.Impute": pyg.Impute(gf.MeanImputer()),
        "pyg.HeteroPropagation": pyg.HeteroPropagation(),
        "pyg.NeighborMeanImputer": pyg.NeighborMeanImputer(),
    }


def _default(value: Any) -> str:
    return repr(value) if isinstance(value, DEFAULTS) else "<made anew>"
