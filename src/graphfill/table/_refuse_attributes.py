"""Refusals of graphs whose nodes have attributes."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any

from ..errors import InputError, named


def not_a_library_graph(G: Any) -> InputError:
    """What has no nodes with attributes."""
    return InputError(
        f"impute_graph fills the node attributes of a NetworkX or igraph graph, not of a "
        f"{type(G).__name__}: use impute for a table and its edges."
    )


def check_node_attributes(wanted: Sequence[Any], held: Sequence[Any]) -> None:
    """Refuse the name of an attribute that no node has."""
    for name in wanted:
        if name not in held:
            near = difflib.get_close_matches(str(name), [str(other) for other in held], 1, 0.5)
            some = f"did you mean {near[0]!r}?" if near else f"they have {_listed(held)}."
            raise InputError(f"No node has the attribute {named(name)}; {some}")


def check_some_attribute(names: Sequence[Any]) -> None:
    """Refuse a graph whose nodes hold nothing that could be filled."""
    if not names:
        raise InputError(
            "No node of the graph has an attribute that can be filled: set some on the nodes whose "
            "values are known."
        )


def check_own_options(options: Any) -> None:
    """Refuse options of `impute` that mean nothing where a graph holds table and edges."""
    for name in ("id", "source", "target", "columns", "exclude"):
        if name in options:
            instead = "attributes= names what is filled" if name in ("columns", "exclude") else ""
            raise InputError(
                f"{name}= is an option for tables: a graph knows its nodes and edges"
                f"{'; ' + instead if instead else ''}."
            )


def _listed(names: Sequence[Any]) -> str:
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return ", ".join(map(repr, list(names)[:8])) + more if names else "none at all"
