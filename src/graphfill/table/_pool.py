r"""Estimates from several completions, put together by Rubin's rules.

With estimates Q_k and their variances U_k (squared standard errors) from m completions,

.. math:: \bar Q = \tfrac1m \sum Q_k, \quad \bar U = \tfrac1m \sum U_k, \quad
          B = \tfrac1{m-1} \sum (Q_k - \bar Q)^2, \quad T = \bar U + (1 + 1/m) B

The standard error is sqrt(T). With l = (1 + 1/m) B / T, the degrees of freedom are
v = (m - 1) / l^2 (Rubin 1987); where those of complete data, v_0, are known, they are
1 / (1/v + 1/w) with w = (v_0 + 1) / (v_0 + 3) v_0 (1 - l) (Barnard and Rubin 1999). The fraction of
missing information is (r + 2 / (v + 3)) / (r + 1), with r = (1 + 1/m) B / U.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..report import html_table

Floats = NDArray[np.float64]

FIELDS = ("estimate", "standard_error", "df", "missing_information", "low", "high")


@dataclass(frozen=True, repr=False)
class Pooled:
    """What :func:`pool` returns; each attribute is a number, or one per name.

    Attributes
    ----------
    estimate, standard_error : of the quantity
    df : degrees of freedom of Student's distribution around the estimate
    missing_information : share of what complete data would say about it that is missing
    low, high : the ends of its interval
    level : of that interval
    n_draws : completions it comes from
    """

    __module__ = "graphfill"

    estimate: Any
    standard_error: Any
    df: Any
    missing_information: Any
    low: Any
    high: Any
    level: float
    n_draws: int

    def __repr__(self) -> str:
        heads, rows = self._cells()
        width = max(len(row[0]) for row in rows)
        lines = [self._title(), " " * width + "".join(f"{head:>12}" for head in heads[1:])]
        lines += [f"{name:<{width}}" + "".join(f"{c:>12}" for c in cells) for name, *cells in rows]
        return "\n".join(line.rstrip() for line in lines)

    def _repr_html_(self) -> str:
        return f"<p>{self._title()}</p>\n{html_table(*self._cells())}"

    def _title(self) -> str:
        return f"Pooled from {self.n_draws} completions"

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        """The heads and rows of a table of all quantities."""
        names = [str(name) for name in getattr(self.estimate, "index", [])]
        rows = np.column_stack([np.ravel(np.asarray(getattr(self, name))) for name in FIELDS])
        if not names:
            names = [str(number) for number in range(len(rows))] if np.ndim(self.estimate) else [""]
        share = f"{self.level:.0%}".replace("%", " %")
        heads = ["", "estimate", "std. error", "df", "missing", f"{share} from", "to"]
        return heads, [
            [name, *(f"{cell:.4g}" for cell in row)] for name, row in zip(names, rows, strict=True)
        ]


def pool(
    estimates: Sequence[Any], variances: Sequence[Any], n: int | None = None, level: float = 0.95
) -> Pooled:
    """Put the estimates from several completions together, by Rubin's rules.

    Parameters
    ----------
    estimates : one per completion: a number, a vector, or a pandas Series, whose names are kept
    variances : the squared standard error of each of them, in the same form
    n : int, optional
        Rows of the table: with complete data the degrees of freedom are n less the number of
        estimates (the coefficients of a regression). By default they are taken as infinite.
    level : of the interval

    Examples
    --------
    >>> pool([1.0, 2.0, 3.0], [1.0, 1.0, 1.0])
    Pooled from 3 completions
        estimate  std. error          df     missing   95 % from          to
               2       1.528       6.125      0.6654      -1.719       5.719
    """
    import scipy.stats

    Q, U = _stacked(estimates, "estimates"), _stacked(variances, "variances")
    _check(Q, U, n, level)
    m = len(Q)
    mean, within = Q.mean(axis=0), U.mean(axis=0)
    between = (1.0 + 1.0 / m) * Q.var(axis=0, ddof=1)
    total = within + between
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(total > 0, between / total, 0.0)
        v = np.where(share > 0, (m - 1) / share**2, np.inf)
        if n is not None:
            df = n - Q[0].size
            v = 1.0 / (1.0 / v + 1.0 / ((df + 1.0) / (df + 3.0) * df * (1.0 - share)))
        r = between / within
        missing = np.where(np.isinf(r), 1.0, (r + 2.0 / (v + 3.0)) / (r + 1.0))
    error = np.sqrt(total)
    reach = scipy.stats.t.ppf((1.0 + level) / 2.0, np.maximum(v, 1e-9)) * error
    parts: dict[str, Any] = dict(
        zip(FIELDS, (mean, error, v, missing, mean - reach, mean + reach), strict=True)
    )
    parts = {name: _like(part, estimates[0]) for name, part in parts.items()}
    return Pooled(**parts, level=level, n_draws=m)


def _stacked(values: Sequence[Any], word: str) -> Floats:
    """[completions, ...]"""
    if len({np.shape(value) for value in values}) > 1:
        raise InputError(f"The {word} of the completions differ in length: pass one for each name.")
    names = [list(value.index) for value in values if hasattr(value, "index")
             and hasattr(value, "to_numpy")]  # fmt: skip
    if any(some != names[0] for some in names):
        raise InputError(f"The {word} of the completions differ in their names: pass them alike.")
    return np.asarray([np.asarray(value, dtype=np.float64) for value in values])


def _check(Q: Floats, U: Floats, n: int | None, level: float) -> None:
    if Q.shape != U.shape:
        raise InputError(
            f"The estimates are {Q.shape} but the variances {U.shape}: pass one variance, the "
            "squared standard error, for each estimate."
        )
    if len(Q) < 2:
        raise InputError(
            f"There are {len(Q)} estimate(s) but pooling takes at least 2: draw more completions."
        )
    if not (np.isfinite(Q).all() and np.isfinite(U).all() and (U >= 0).all()):
        raise InputError(
            "An estimate or variance is not finite, or a variance is below 0: pass squared "
            "standard errors."
        )
    if n is not None and not n > Q[0].size:
        raise InputError(
            f"n is {n!r} but there are {Q[0].size} estimate(s): pass the number of rows, which is "
            "larger."
        )
    if not 0 < level < 1:
        raise InputError(f"level is {level!r} but must be between 0 and 1, such as 0.95.")


def _like(values: Floats, first: Any) -> Any:
    """A number, a vector or a Series, as the estimates are."""
    if np.ndim(values) == 0:
        return float(values)
    if hasattr(first, "index") and hasattr(first, "to_numpy"):
        return type(first)(values, index=first.index)
    return values
