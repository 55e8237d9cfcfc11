"""From the options that were typed to the one object that functions take."""

from __future__ import annotations

import argparse
from typing import Any

from ..links import LinkOptions
from ..solve import PropagationOptions
from ..table._options import TableOptions
from ..trust import FillOptions

LINKING = ("near", "same", "time", "like", "plane", "join", "nearest")
NAMED = ("id", "source", "target", "weight", "weight_means", "columns")
LEVEL = 0.9  # of the intervals in a report
STEPS = 40  # of diffusion, as in the paper


def table_options(options: argparse.Namespace, **changed: Any) -> TableOptions:
    """What was asked for; `changed` overrides some of it, and what a command lacks is default."""
    given = vars(options) | changed
    level, report = given.get("intervals"), given.get("report")
    report_level = None if report is None else given.get("report_level", LEVEL)
    propagation = PropagationOptions(
        normalization=given.get("normalization", "rw"),
        solver=given.get("solver", "exact"),
        n_iter=given.get("steps") or STEPS,
        tol=given.get("tol"),
        shrinkage=given.get("shrinkage", 0.0),
        memory_limit=given.get("memory_limit"),
        threads=given.get("threads"),
    )
    fill = FillOptions(
        method=given.get("method"),
        effort=given.get("effort", "balanced"),
        reliance=given.get("reliance", "held-out"),
        unreached="nan" if given.get("unreached") == "leave" else "mean",
        # A report shows intervals; they are written only if asked for.
        intervals=report_level if level is None else level,
        scores=given.get("scores", False),
        draws=given.get("draws") or 0,
        seed=given.get("seed", 0),
        propagation=propagation,
    )
    links = LinkOptions(**{name: given[name] for name in LINKING if name in given})
    return TableOptions(
        links=links,
        **{name: given.get(name) for name in NAMED},
        exclude=given.get("exclude") or (),
        types=dict(given.get("types") or ()),
        missing=given.get("missing") or [],
        values=given.get("value") or [],
        mark=given.get("mark", False),
        add_bounds=level is not None,
        details=report is not None,
        fill=fill,
    )
