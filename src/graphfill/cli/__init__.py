"""The command line: graphfill impute | check | plan | demo | bench | completion."""

from ._main import main

__all__ = ["main"]
