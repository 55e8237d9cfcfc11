"""Which loops are run: those of the C extension, or NumPy's and SciPy's where it is not there."""

from __future__ import annotations

import os
import warnings
from types import ModuleType

from ..errors import GraphfillWarning

__all__ = ["implementation", "loops"]

implementation = "scipy"
loops: ModuleType
if os.environ.get("GRAPHFILL_KERNELS") != "scipy":
    try:
        from . import _compiled as loops

        implementation = "compiled"
    except ImportError:
        text = (
            "graphfill was installed without its compiled kernels and runs on SciPy, several "
            "times slower; reinstall it where a C compiler is found"
        )
        warnings.warn(text, GraphfillWarning, stacklevel=1)
if implementation == "scipy":
    from . import _scipy as loops
