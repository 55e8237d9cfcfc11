"""What graphfill raises and warns with."""

from __future__ import annotations


class InputError(ValueError):
    """The input cannot be used; the message says why and what to do."""


class GraphfillWarning(UserWarning):
    """Something the user should know about a result that was still produced."""


class ConvergenceWarning(GraphfillWarning):
    """The answer may be farther from the limit than the tolerance asked for."""


class UnreachedWarning(GraphfillWarning):
    """Some missing cells cannot be inferred from the graph."""


class SymmetrizedWarning(GraphfillWarning):
    """Directed or asymmetric edges were made undirected."""
