"""An imputer of tables that is fitted once, saved, and used again."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from .. import io
from ..errors import InputError
from ..solve import PropagationOptions
from ..trust import FillOptions
from ._fill import fill_table
from ._impute import _warn
from ._keeping import Keeping, as_parts, of_parts
from ._options import TableOptions, plain_kinds
from ._result import TableResult


class TableImputer:
    """Fill tables as one of them was filled: :func:`impute`, kept and used again.

    `fit` decides and learns: the columns with their types and categories, the method of each
    column, its scale, the fields and what trees learn from. `transform` holds all of it, on the
    same table or on a later one, with its own edges: nothing is compared or fitted anew. The table
    and edges of the fit get the cells that :func:`impute` gives them, bit for bit.

    A later table must have the columns of the fit, of the same types. Columns that it has besides
    are left alone. A category that the fit never saw is kept where it stands, informs no other
    cell, and is filled in nowhere; nor is one that no cell of the later table shows. A column
    without a known cell is left alone.

    Parameters
    ----------
    **options
        Those of :func:`impute` but `intervals`, `scores`, `draws`, `progress` and `return_result`.

    Examples
    --------
    >>> import polars as pl
    >>> friends = pl.DataFrame({"a": ["ann", "bob"], "b": ["bob", "cat"]})
    >>> march = pl.DataFrame({"name": ["ann", "bob", "cat"], "age": [30, None, 40]})
    >>> april = pl.DataFrame({"name": ["ann", "bob", "cat"], "age": [32, None, 40]})
    >>> imputer = TableImputer(id="name").fit(march, friends)
    >>> imputer.transform(april, friends)["age"].to_list()
    [32, 36, 40]
    """

    __module__ = "graphfill"

    def __init__(self, **options: Any) -> None:
        self._options = _checked(options)
        self._keeping: Keeping | None = None

    def __repr__(self) -> str:
        if self._keeping is None:
            return "<TableImputer, not fitted>"
        return f"<TableImputer, fitted to {len(self._keeping.columns)} column(s)>"

    def fit(self, table: Any, edges: Any) -> TableImputer:
        """Decide and learn how a table is filled."""
        self._fill(table, edges, Keeping())
        return self

    def fit_transform(self, table: Any, edges: Any, *, return_result: bool = False) -> Any:
        """The same, and fill that table."""
        result = self._fill(table, edges, Keeping())
        return result if return_result else result.table

    def transform(self, table: Any, edges: Any, *, return_result: bool = False) -> Any:
        """Fill a table as the fit decided."""
        result = self._fill(table, edges, self._fitted())
        return result if return_result else result.table

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write all that was learnt into one file, without a pickle.

        Ids are not in it; categories and values of the table are.
        """
        parts = as_parts(self._options, self._fitted())
        io.check_written_here(path, [], overwrite)
        io.write_parts(path, *parts)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> TableImputer:
        """What `save` wrote."""
        imputer = cls()
        imputer._options, imputer._keeping = of_parts(*io.read_parts(path), path)
        return imputer

    def _fill(self, table: Any, edges: Any, keeping: Keeping) -> TableResult:
        options = replace(self._options, types=plain_kinds(self._options.types))
        with keeping.in_use():
            result = fill_table(table, edges, options, keeping=keeping)
        self._take(keeping, result)
        _warn(result)
        return result

    def _take(self, keeping: Keeping, result: TableResult) -> None:
        """Hold later tables to what was learnt of this one."""
        keeping.kept.applies, self._keeping = True, keeping
        if self._options.id is None:
            self._options = replace(self._options, id=result.alignment.id)

    def _fitted(self) -> Keeping:
        if self._keeping is None:
            raise InputError("The imputer is not fitted: call fit or load first.")
        return self._keeping


def _checked(options: dict[str, Any]) -> TableOptions:
    solving = ("normalization", "solver", "n_iter", "tol", "shrinkage", "memory_limit", "threads")
    filling = ("method", "effort", "reliance", "unreached", "seed")
    naming: tuple[str, ...] = (
        "id",
        "source",
        "target",
        "weight",
        "columns",
        "exclude",
        "types",
        "missing",
    )
    naming = (*naming, "values", "mark")
    for name in options:
        if name not in (*solving, *filling, *naming):
            raise InputError(
                f"TableImputer has no option {name!r}: it has {', '.join((*naming, *filling))} and "
                f"{', '.join(solving)}."
            )
    given = {"normalization": "rw", "solver": "exact"} | options
    propagation = PropagationOptions(**{name: given[name] for name in solving if name in given})
    fill = FillOptions(
        **{name: given[name] for name in filling if name in given}, propagation=propagation
    )
    return TableOptions(**{name: given[name] for name in naming if name in given}, fill=fill)


# Doctests are looked for in the module that a class names, which is not this one.
__test__ = {"TableImputer": TableImputer}
