"""How to propagate, as one object: checked when it is made, and passed on whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..errors import check_choice, check_flag, check_number
from ..kernels import available
from ._memory import parse_bytes


@dataclass(frozen=True, kw_only=True)
class PropagationOptions:
    """The options of :func:`graphfill.propagate`, where each is described.

    Examples
    --------
    >>> PropagationOptions(solver="exact", memory_limit="1 kB").memory_limit
    1000
    """

    normalization: str = "sym"
    solver: str = "diffusion"
    n_iter: int = 40
    tol: float | None = None
    max_iter: int = 10_000
    self_loops: bool = False
    shrinkage: float = 0.0
    unreached: str = "zero"
    reorder: bool | str = "auto"
    memory_limit: Any = None  # as given: 4e9 or "4GB"; in bytes once checked
    threads: int | None = None

    def __post_init__(self) -> None:
        check_choice("normalization", self.normalization, ("sym", "rw"))
        check_choice("solver", self.solver, ("diffusion", "chebyshev", "exact"))
        check_choice("unreached", self.unreached, ("zero", "mean", "nan"))
        if self.reorder != "auto":
            check_flag("reorder", self.reorder)
        check_flag("self_loops", self.self_loops)
        check_number("n_iter", self.n_iter, low=0, integer=True)
        check_number("max_iter", self.max_iter, low=1, integer=True)
        check_number("shrinkage", self.shrinkage, low=0)
        if self.tol is not None:
            check_number("tol", self.tol, low=0)
        if self.threads is not None:
            check_number("threads", self.threads, low=1, integer=True)
        object.__setattr__(self, "memory_limit", parse_bytes(self.memory_limit))

    @property
    def n_threads(self) -> int:
        """Threads to use: as many as asked for, or as there are cores."""
        return self.threads or available()

    @property
    def exact(self) -> bool:
        """Whether the limit is solved for, and not a number of steps taken."""
        return self.solver == "exact"
