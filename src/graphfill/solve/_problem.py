"""The options, what follows from them before solving, and the result with its warnings.

The same in memory, over shards and in torch: a :class:`Problem` is made of the options before, and
:func:`finish` makes a :class:`Result` of the answer, and warns where it is not what was asked for.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import (
    ConvergenceWarning,
    UnreachedWarning,
    check_choice,
    check_flag,
    check_number,
    warn_caller,
)
from ..kernels import default_threads
from ._memory import parse_bytes
from ._scaling import Span
from ._solvers import resolution

Array = np.ndarray

DEFAULT_TOL = {"float32": 1e-6, "float64": 1e-10}
# A search in float32 that ends above the default, but below this, was stopped by rounding alone: it
# builds up over the iterations that smooth columns take of which few cells are known.
FLOAT32_HOLDS = 1e-4


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
        """Threads to use: as many as asked for, or by default."""
        return self.threads or default_threads()

    @property
    def exact(self) -> bool:
        """Whether the limit is solved for, and not a number of steps taken."""
        return self.solver == "exact"


@dataclass
class Result:
    """What :func:`propagate` returns.

    Attributes
    ----------
    X : same kind as the input
        The filled matrix; known cells have the bits they had.
    n_iter : int
        Steps taken: the most any column took.
    residual : float
        The largest relative residual of any column; see :func:`propagate`.
    residuals : ndarray [columns]
    converged : bool or None
        Whether every column reached ``tol`` (in float32, unless it was passed, 1e-4: what rounding
        leaves of it), and weights lie near enough to each other for that to tell; None when no
        ``tol`` was asked for.
    n_unreached : int
        How many missing cells cannot be inferred from the graph.
    unreached : ndarray of bool [nodes, columns]
        Which they are; made on first use.
    """

    __module__ = "graphfill"

    X: Any
    n_iter: int
    residual: float
    residuals: Array
    converged: bool | None
    n_unreached: int
    _label: Array = field(repr=False)
    _reached: Array = field(repr=False)

    @cached_property
    def unreached(self) -> Array:
        return np.asarray(~self._reached[self._label])


def centre_of(normalization: str, shrinkage: float, exact: bool) -> str:
    """What z is measured from: "zero", "mean" or "degree".

    Nothing, the mean of the column's known cells, or their mean weighted by degree. A constant
    lies in the null space of L, so centring leaves the exact solution as it is and starts the
    search from that constant; shrinkage pulls towards the centre.
    """
    if shrinkage > 0:
        return "mean" if normalization == "rw" else "zero"
    return "degree" if exact else "zero"


@dataclass(frozen=True)
class Problem:
    """Options, and what follows from them for values of one type on one graph."""

    options: PropagationOptions
    span: Span
    dtype: np.dtype  # to compute in
    tol: float  # the relative residual to reach, where there is one to reach
    direct: bool = False  # whether to solve by elimination

    @classmethod
    def of(
        cls, options: PropagationOptions, graph: Any, dtype: np.dtype, *, direct: bool = False
    ) -> Problem:
        """The problem of filling values of this type, float32 or float64."""
        span = Span.of(graph, self_loops=options.self_loops, shrinkage=options.shrinkage)
        tol = DEFAULT_TOL[dtype.name] if options.tol is None else float(options.tol)
        computed = span.dtype(dtype, exact=options.exact)
        return cls(options, span, computed, tol, direct and options.exact)

    @property
    def solver(self) -> str:
        return "direct" if self.direct else self.options.solver

    @property
    def stop(self) -> float:
        """The residual at which a search stops.

        Far below a rounding, numbers come near the smallest that there are, and their
        ratios are no longer numbers.
        """
        return max(self.span.tolerance(self.tol), float(np.finfo(self.dtype).eps ** 1.5))

    def held(self, n_iter: int) -> float:
        """The residual that an answer is held to, after so many iterations of the exact solver."""
        stopped = n_iter >= self.options.max_iter
        if self.options.tol is not None or self.dtype != np.float32 or stopped:
            return self.tol
        return FLOAT32_HOLDS

    @property
    def resolution(self) -> float:
        """Residuals are relative to no less than this share of the known cells' norm."""
        return resolution(self.tol, self.dtype) if self.options.exact else 0.0

    @property
    def centre(self) -> str:
        options = self.options
        return centre_of(options.normalization, options.shrinkage, options.exact)

    @property
    def blurred(self) -> bool:
        """Whether weights lie so far apart that residuals do not show all errors."""
        return self.solver == "exact" and self.span.blurs(self.dtype)

    @property
    def keep_range(self) -> bool:
        """Whether to bring what lies beyond the known cells of its column back to them."""
        return self.options.normalization == "rw" and self.options.exact


def finish(
    problem: Problem,
    X: Any,
    *,
    n_iter: Array,
    residuals: Array,
    label: Array,
    reached: Array,
    known_in_column: Array,
    names: list[Any] | None = None,
) -> Result:
    """The result, after warnings of what could not be filled, or not as well as asked for.

    Arrays are per column, but for the component of each node and [components, columns], whether
    anything is known there.
    """
    n_missing = len(label) * len(known_in_column) - int(known_in_column.sum())
    blurred = problem.blurred and n_missing > 0
    exact = problem.options.exact
    tol = problem.held(int(n_iter.max())) if exact else problem.options.tol
    sizes = np.bincount(label, minlength=len(reached))
    result = Result(
        X,
        n_iter=int(n_iter.max()),
        residual=float(residuals.max()),
        residuals=residuals,
        converged=None if tol is None else bool((residuals <= tol).all()) and not blurred,
        n_unreached=int(sizes @ (~reached).sum(axis=1)),
        _label=label,
        _reached=reached,
    )
    warn_of(result, n_missing, problem.options.unreached, known_in_column, names)
    if result.converged is False:
        warn_caller(_why_not(result, problem, tol, blurred), ConvergenceWarning)
    return result


def warn_of(
    result: Result,
    n_missing: int,
    unreached: str,
    known_in_column: Array,
    names: list[Any] | None,
    added: str = "",
) -> None:
    """Warn of the cells that cannot be inferred from the graph, and got what is `added` besides."""
    if not result.n_unreached:
        return
    filler = {
        "zero": f"filled with 0{added}",
        "mean": f"filled with the column mean{added}",
        "nan": "left NaN",
    }
    text = (
        f"{result.n_unreached} of {n_missing} missing cells cannot be inferred from the graph "
        f"(no known cell of their column is connected to them) and were {filler[unreached]}"
    )
    empty = np.flatnonzero(known_in_column == 0)
    if len(empty):
        shown = [names[c] if names else int(c) for c in empty[:5]]
        more = f" and {len(empty) - 5} more" if len(empty) > 5 else ""
        text += f"; columns without any known cell: {', '.join(map(repr, shown))}{more}"
    warn_caller(text, UnreachedWarning)


def _why_not(result: Result, problem: Problem, tol: float | None, blurred: bool) -> str:
    """Why the answer may be off, and what to do."""
    dtype, solver = problem.dtype, problem.solver
    if blurred:
        return (
            f"the weights span {problem.span.decades:.0f} decades, more than {dtype} resolves: "
            "parts of the graph that hang on the rest by weak edges alone may be filled wrongly; "
            "leave out the weakest edges, take the logarithm or a root of the weights, or pass "
            "shrinkage=0.01"
        )
    if solver in ("diffusion", "chebyshev"):
        advice = 'allow more iterations (n_iter), or use solver="exact"'
    elif solver == "exact" and result.n_iter >= problem.options.max_iter:
        advice = "allow more iterations (max_iter)"
    elif dtype == np.float32:
        advice = "float32 holds no more digits, pass float64 or a larger tol"
    else:
        advice = "float64 holds no more digits, pass a larger tol"
    return (
        f"stopped after {result.n_iter} iterations at a relative residual of "
        f"{result.residual:.1e}, above tol={tol:.1e}: {advice}"
    )
