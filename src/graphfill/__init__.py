"""Fill the blanks in data that lives on a graph.

>>> import graphfill as gf
>>> friends = gf.Graph.from_edges(["ann", "bob"], ["bob", "eve"])
>>> gf.propagate([30.0, None, 40.0], friends, normalization="rw", solver="exact").X
array([30., 35., 40.])
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import links as links
    from .errors import (
        ConvergenceWarning,
        GraphfillWarning,
        InputError,
        SymmetrizedWarning,
        UnreachedWarning,
    )
    from .graph import Graph
    from .hetero import HeteroResult, propagate_hetero
    from .imputers import (
        FISF,
        PCFI,
        FeaturePropagation,
        FieldImputer,
        MeanImputer,
        NeighborMeanImputer,
        NetworkInput,
        RandomImputer,
        SpectralImputer,
        ZeroImputer,
        network_input,
    )
    from .large import propagate_sharded
    from .solve import (
        Result,
        SpectralResult,
        fill_field,
        fill_fisf,
        fill_pcfi,
        fill_spectral,
        propagate,
    )
    from .table import (
        Explanation,
        Pooled,
        TableImputer,
        TableResult,
        explain,
        impute,
        near_copies,
        pool,
    )
    from .table._attributes import impute_graph
    from .table._several import impute_tables

__version__ = "0.1.0"

# Public names and the packages they live in: loaded on first use, so that importing
# graphfill costs next to nothing and scikit-learn only loads with the imputers.
_HOMES = {
    "links": "links",
    "Graph": "graph",
    "propagate": "solve",
    "fill_field": "solve",
    "fill_fisf": "solve",
    "fill_pcfi": "solve",
    "fill_spectral": "solve",
    "SpectralResult": "solve",
    "Result": "solve",
    "impute": "table",
    "impute_graph": "table._attributes",
    "impute_tables": "table._several",
    "explain": "table",
    "near_copies": "table",
    "pool": "table",
    "Pooled": "table",
    "propagate_hetero": "hetero",
    "propagate_sharded": "large",
    "HeteroResult": "hetero",
    "TableImputer": "table",
    "TableResult": "table",
    "Explanation": "table",
    "FISF": "imputers",
    "PCFI": "imputers",
    "FeaturePropagation": "imputers",
    "FieldImputer": "imputers",
    "MeanImputer": "imputers",
    "NeighborMeanImputer": "imputers",
    "NetworkInput": "imputers",
    "network_input": "imputers",
    "RandomImputer": "imputers",
    "SpectralImputer": "imputers",
    "ZeroImputer": "imputers",
    "ConvergenceWarning": "errors",
    "GraphfillWarning": "errors",
    "InputError": "errors",
    "SymmetrizedWarning": "errors",
    "UnreachedWarning": "errors",
}

__all__ = [
    "FISF",
    "PCFI",
    "ConvergenceWarning",
    "Explanation",
    "FeaturePropagation",
    "FieldImputer",
    "Graph",
    "GraphfillWarning",
    "HeteroResult",
    "InputError",
    "MeanImputer",
    "NeighborMeanImputer",
    "NetworkInput",
    "Pooled",
    "RandomImputer",
    "Result",
    "SpectralImputer",
    "SpectralResult",
    "SymmetrizedWarning",
    "TableImputer",
    "TableResult",
    "UnreachedWarning",
    "ZeroImputer",
    "__version__",
    "explain",
    "fill_field",
    "fill_fisf",
    "fill_pcfi",
    "fill_spectral",
    "impute",
    "impute_graph",
    "impute_tables",
    "near_copies",
    "network_input",
    "pool",
    "propagate",
    "propagate_hetero",
    "propagate_sharded",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'graphfill' has no attribute {name!r}")
    home = import_module(f".{_HOMES[name]}", __name__)
    value = home if name == "links" else getattr(home, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
