"""Tables of real columns: aligned with their edges, filled, and given back in their own types."""

from ._impute import impute
from ._result import TableResult

__all__ = ["TableResult", "impute"]
