"""How the fixed point is approached: one solver per file.

Each works on one tile, a :class:`System`, in z-space (see ``_operator``), and reports per
column the residual ``||b - L_uu z_u|| / ||b_0||`` in the norm of D^-1, where b_0 is the
residual of the solver's plain start (all zeros, or the column's mean for ``exact``).
"""

from .chebyshev import chebyshev
from .conjugate_gradients import Search, conjugate_gradients
from .diffusion import diffusion, is_measured
from .direct import direct
from .system import Progress, Solution, System, Workspace, relative, resolution

__all__ = [
    "Progress",
    "Search",
    "Solution",
    "System",
    "Workspace",
    "chebyshev",
    "conjugate_gradients",
    "diffusion",
    "direct",
    "is_measured",
    "relative",
    "resolution",
]
