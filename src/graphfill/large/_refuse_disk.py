"""Refusals of files that are filled without being read whole."""

from __future__ import annotations

from ..errors import InputError, option


def limit_too_low_for_files(limit: str, least: str, n_nodes: int, n_columns: int) -> InputError:
    """A limit that one column at a time would exceed."""
    return InputError(
        f"{option('memory_limit').rstrip('=')} {limit} cannot be kept: {n_nodes:,} node(s) and one "
        f"of {n_columns:,} column(s) at a time take {least}: raise it, or use a machine with more "
        "memory."
    )


def no_edges_to_guess_by(edges: str) -> InputError:
    """Ids that cannot be guessed."""
    return InputError(f"{edges} lists no edge to guess the ids by: name them with {option('id')}.")
