"""Tables of real columns: aligned with their edges, filled, and given back in their own types."""

from ._explain import explain, near_copies
from ._explanation import Explanation
from ._impute import impute
from ._imputer import TableImputer
from ._pool import Pooled, pool
from ._result import TableResult

__all__ = ["Explanation", "Pooled", "TableImputer", "TableResult", "explain", "impute"]
__all__ += ["near_copies", "pool"]
