"""Fill the missing cells of a table of real columns from the links between its rows."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import ConvergenceWarning, GraphfillWarning, UnreachedWarning
from ..links import LinkOptions
from ..report import unreached_sentence
from ..solve import PropagationOptions, progress_bar
from ..trust import FillOptions
from ._fill import fill_table
from ._options import TableOptions
from ._result import TableResult

DRAWING = 0.2  # of the progress


def impute(
    table: Any,
    edges: Any = None,
    *,
    id: Any = None,
    source: Any = None,
    target: Any = None,
    weight: Any = None,
    weight_means: str | None = None,
    near: Sequence[Any] | None = None,
    same: Any = (),
    like: Any = (),
    time: Any = None,
    plane: bool | None = None,
    join: bool = False,
    nearest: int | None = None,
    columns: Sequence[Any] | None = None,
    exclude: Sequence[Any] = (),
    types: Mapping[Any, str] | None = None,
    missing: Sequence[Any] = (),
    values: Sequence[Any] = (),
    method: str | None = None,
    effort: str = "balanced",
    reliance: float | str = "held-out",
    normalization: str = "rw",
    solver: str = "exact",
    n_iter: int = 40,
    tol: float | None = None,
    shrinkage: float = 0.0,
    unreached: str = "mean",
    mark: bool = False,
    intervals: float | None = None,
    scores: bool | str = False,
    draws: int = 0,
    memory_limit: int | float | str | None = None,
    threads: int | None = None,
    seed: int = 0,
    progress: bool = False,
    return_result: bool = False,
) -> Any:
    """Fill the missing cells of a table from the rows linked to theirs.

    Numbers, dates and times become one channel each, categories and texts one per value; the
    channels are propagated along the edges, and turned back into cells of the column's own type.
    Known cells come back as they were. A filled number lies within the range of the known ones;
    a filled category is one that was seen.

    Parameters
    ----------
    table : pandas, polars or pyarrow table, or another that narwhals reads
        One row per node. Of an xarray DataArray or Dataset, a row per combination of coordinates,
        which are columns; the result is one again. Null, NaN, NaT and None are missing.
    edges : table of edges, or anything ``Graph.of`` recognises, optional
        Nodes that the table lacks pass information on and are not added to the result. Also
        :class:`graphfill.links.Links`. Without edges, name what links the rows below; rows
        without links are filled from their own columns.
    id, source, target, weight : names of columns, optional
        `id` is guessed (the column whose values are the ends of edges) and so are `source` and
        `target` (by name, or the first two columns); a guess is said in a warning. The nodes of a
        matrix or another graph without ids are the rows in order. In any library, ``id="the row
        number"`` says that edges name rows, counted from 0; in pandas, ``id="the index"`` that
        they name its labels. Edges count equally unless `weight` is named.
    weight_means : {"weight", "distance"}, optional
        Whether edges of larger weight count more, or less: of a distance the inverse is taken.
        Asked for where the name of `weight` sounds like a distance.
    near : two names of columns, optional
        Latitude and longitude, or the coordinates of a plane: rows are linked to the nearest.
    same, like : names of columns, optional
        Rows are linked that share a cell of `same`; and those that are most like each other in
        the columns `like`.
    time : name of a column, optional
        Rows are linked to the next in time: of the same place where `near` or `same` names it.
        How strongly each kind of links counts, and how many there are, is chosen on held-out
        cells. The columns that link rows are not filled.
    plane, join, nearest : optional
        Whether `near` names plane coordinates (by default, if they cannot be degrees); whether
        groups of places that have no link between them get one; and the number of neighbours by
        `near` and `like`, in place of the one that is chosen.
    columns, exclude : names of columns, optional
        Fill only these; leave these alone.
    types : mapping from column to kind, optional
        "number", "integer", "boolean", "category", "date", "time", "duration" or "leave". By
        default the dtype decides, or the cells (text such as "$1,200", "16.3 %" or "12 km" is
        read as numbers, and filled in the same style), but whole numbers whose name or links show
        that they are labels (zones, postal codes) are categories, and a warning says which.
    missing : values that mean missing, such as ``[-1, "unknown"]``; one may come alone
    values : values that often mean missing, such as ``["-", "none"]``, and do not here
        By default a dash, "?", "n/a" and the like are missing, and in a column of numbers also
        "unknown" or "none"; among words these, and -999 among numbers, are kept where they stand,
        inform no other cell and are filled in nowhere. A note says which.
    method : {"auto", "field", "propagation", "neighbors", "mean", "hybrid"}, optional
        By default "auto": column by column, the best of all methods and of their blends, by
        their scores on held-out cells; columns with fewer than 20 known cells are propagated.
        "field": one model of the graph and of all columns together. "propagation": diffusion
        along the edges, each column for itself, which is also the default where one of its own
        options is given (reliance, normalization, solver, n_iter, tol, shrinkage). "neighbors":
        the mean (or most frequent value) of the neighbours. "mean": that of the column, without
        the graph. "hybrid": learners that look at the graph and at the row's other columns.
    effort : {"fast", "balanced", "thorough"}
        Of "auto": no trees; trees on the columns that they help most, for about as long as all
        else takes; or trees on every column.
    intervals : float, optional
        A level such as 0.9: columns ``<name>_low`` and ``<name>_high`` are added that hold the
        truth of so many filled numbers, and ``<name>_probability`` and ``<name>_set`` for
        categories; null for the filled cells of a column with fewer than 50 known ones, or with
        too few for that level.
    scores : bool, "random", "rows", "high" or "region"
        Score the method on held-out cells, beside the column's mean and the neighbours'. With a
        word, also on a fifth of the known cells hidden at random, as whole rows, high values (or
        rare categories) first, or all around some nodes of the graph.
    draws : int
        How many completions to draw: tables whose filled cells differ as far as the truth may
        differ from the fill. Returned is their list, or a result whose `draws` they are. What is
        computed from each of them is put together by :func:`pool`.
    reliance : "held-out", or a number from 0 to 1
        How far to go from the column's mean towards what the graph says. By default fitted per
        column on a fifth of its known cells, hidden for it; 1 where those are too few.
    normalization, solver, n_iter, tol, shrinkage, memory_limit, threads
        As in :func:`propagate`. Channels are standardised first, so that diffusion starts from the
        column's mean.
    unreached : {"mean", "nan"}
        What cells get that nothing known is connected to: the column's mean (or most frequent
        value), or nothing: they stay missing.
    mark : bool
        Add a column ``<name>_filled`` per filled column that says which cells were filled.
    seed : int
        For what is sampled: pairs of neighbours whose agreement is measured.
    progress : bool
        Show a progress bar.
    return_result : bool
        Return a :class:`TableResult`, which holds the table and tells what was done.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"name": ["ann", "bob", "cat"], "age": [30, None, 40]})
    >>> friends = pl.DataFrame({"a": ["ann", "bob"], "b": ["bob", "cat"]})
    >>> impute(people, friends, id="name")["age"].to_list()
    [30, 35, 40]
    """
    fill = FillOptions(
        method=method,
        effort=effort,
        reliance=reliance,
        unreached=unreached,
        intervals=intervals,
        scores=scores,
        draws=draws,
        seed=seed,
        propagation=PropagationOptions(
            normalization=normalization,
            solver=solver,
            n_iter=n_iter,
            tol=tol,
            shrinkage=shrinkage,
            memory_limit=memory_limit,
            threads=threads,
        ),
    )
    links = LinkOptions(
        near=near, same=same, like=like, time=time, plane=plane, join=join, nearest=nearest
    )
    options = TableOptions(
        links=links,
        id=id,
        source=source,
        target=target,
        weight=weight,
        weight_means=weight_means,
        columns=columns,
        exclude=exclude,
        types=types or {},
        missing=missing,
        values=values,
        mark=mark,
        details=return_result and fill.assessed,
        fill=fill,
    )
    with progress_bar(progress) as tick:
        part = DRAWING if draws else 0.0
        result = fill_table(table, edges, options, progress=lambda done: tick((1.0 - part) * done))
        for number in range(draws):
            result.draws.append(result._drawn(number))
            tick(part / draws)
        result._drawing = None
    _warn(result)
    if return_result:
        return result
    return result.draws if draws else result.table


def _warn(result: TableResult) -> None:
    if result.notes:
        warnings.warn(" ".join(result.notes), GraphfillWarning, stacklevel=3)
    sentence = unreached_sentence(result.summary())
    if sentence:
        warnings.warn(sentence, UnreachedWarning, stacklevel=3)
    if result.converged is False:
        warnings.warn(
            f"stopped after {result.n_iter} iterations at a relative residual of "
            f"{result.residual:.1e}: allow more iterations",
            ConvergenceWarning,
            stacklevel=3,
        )
