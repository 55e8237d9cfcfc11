"""How the paper splits each set and trains on it."""

from __future__ import annotations

from dataclasses import replace

from ._problem import Setting

BATCH = 1024  # seed nodes where the graph is too large for a step on all of it


def usual_split(name: str) -> str:
    """The kind of split of a set.

    Examples
    --------
    >>> usual_split("cora"), usual_split("arxiv"), usual_split("mixhop-0.3")
    ('paper', 'official', 'thirds')
    """
    if name.startswith("mixhop"):
        return "thirds"
    return "official" if name in ("arxiv", "products") else "paper"


def usual_setting(name: str, method: str, setting: Setting) -> Setting:
    """Larger networks on OGB's two graphs; what trains no network stays as it is."""
    if method.startswith("labels"):
        return setting
    if name == "arxiv":
        return replace(setting, n_layers=3, hidden=256, jumping="max")
    if name == "products":
        return replace(setting, n_layers=3, hidden=256, batch=BATCH)
    return setting
