"""Refusals of nodes that arrive after an imputer was fitted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, named


def check_fill_kept(kept: Any, imputer: str) -> Any:
    """Return what fit kept; refuse newcomers where there is nothing to fill them from."""
    if kept is None:
        raise InputError(
            f"This {imputer} was fitted with keep_fill=False, so that its filled table is gone: "
            "fit it again with keep_fill=True to fill newcomers from it."
        )
    return kept


def check_newcomer_columns(n_columns: int, n_fitted: int) -> None:
    """Refuse rows that are wider or narrower than those seen in fit."""
    if n_columns != n_fitted:
        raise InputError(
            f"The new rows have {n_columns} column(s) but fit saw {n_fitted}: pass the same "
            "columns, with NaN where nothing is known."
        )


def check_newcomers_named(labels: Any) -> None:
    """Refuse rows without ids where nodes go by id."""
    if labels is None:
        raise InputError(
            "The graph has ids but the new rows have none: pass a pandas table whose index holds "
            "them, or ids=."
        )


def check_newcomer_count(n_ids: int, n_rows: int) -> None:
    """Refuse another number of ids than of rows."""
    if n_ids != n_rows:
        raise InputError(f"There are {n_ids} ids for {n_rows} new row(s): pass one id per row.")


def check_new_ids(ids: list[Any], known: Mapping[Any, int]) -> dict[Any, int]:
    """Position of each new id; refuse one that the graph has already, or that occurs twice."""
    place: dict[Any, int] = {}
    for row, node in enumerate(ids):
        if node in known:
            raise InputError(
                f"The new row {row} has the id {named(node)}, which the fitted graph has already "
                f"(node {known[node]}): pass new nodes only, or fit again to change old ones."
            )
        if node in place:
            raise InputError(
                f"The id {named(node)} occurs twice, in the new rows {place[node]} and {row}: "
                "pass one row per node."
            )
        place[node] = row
    return place


def unknown_end(number: int, node: Any, n_old: int, n_new: int) -> InputError:
    """A new edge that ends at no node."""
    return InputError(
        f"New edge {number} ends at {named(node)}, which is neither one of the {n_old} fitted "
        f"nodes nor one of the {n_new} new ones: add its row, or drop the edge."
    )


def check_some_end_new(source: NDArray[Any], target: NDArray[Any], n_old: int) -> None:
    """Refuse new edges between two old nodes, which would change what was fitted."""
    between_old = (source < n_old) & (target < n_old)
    if between_old.any():
        number = int(np.argmax(between_old))
        raise InputError(
            f"New edge {number} links two fitted nodes (rows {source[number]} and "
            f"{target[number]}; {int(between_old.sum())} such edge(s)): fit again to add edges "
            "between old nodes."
        )


def check_weights_alike(old_weighted: bool, weight: Any) -> None:
    """Refuse edges without weights beside edges that have them."""
    if old_weighted and weight is None:
        raise InputError(
            "The fitted graph has edge weights but the new edges have none: pass weight=, one "
            "number per edge or the name of a column."
        )
