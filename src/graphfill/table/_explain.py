"""Why a cell was filled with what it was: the known cells behind it, and their weights."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, check_column_name, check_number, named
from ..trust import Reasons
from ._explanation import MOST_CLASSES, Explanation
from ._id_search import INDEX, id_holder
from ._result import TableResult

if TYPE_CHECKING:
    import narwhals as nw

Rows = NDArray[np.intp]

CERTAIN = 2  # of the least and of the most certain cells of a column, in a report
COPY = 0.9  # the weight from which on a cell is nearly a copy of another
NO_WEIGHT = 1e-12  # what rounding leaves


def explain(result: TableResult, row: Any, column: Any) -> Explanation:
    r"""Say which known cells a filled one is made of, and with what weight.

    .. math:: x = \sum_k w_k x_k + (1 - \sum_k w_k) \bar x

    with :math:`\bar x` the column's mean: of a propagated cell, w_k is how often a random walk from
    the row meets its first known cell at k (times the reliance), and the same numbers make up the
    filled cell. A field, trees and a blend also look at other columns, in units of their standard
    deviation (or on the scale of ranks); see :class:`Explanation` for their weights.

    Parameters
    ----------
    result : TableResult
        Of :func:`impute` with ``return_result=True``.
    row : id of the row, as in the table; its number where rows go by number
    column : name of the column

    Returns
    -------
    Explanation

    Examples
    --------
    >>> import polars as pl
    >>> from graphfill import impute
    >>> people = pl.DataFrame({"name": ["ann", "bob", "cat"], "age": [30, None, 40]})
    >>> friends = pl.DataFrame({"a": ["ann", "bob"], "b": ["bob", "cat"]})
    >>> print(explain(impute(people, friends, id="name", return_result=True), "bob", "age"))
    Row bob, column age: 35.
    It comes 100% from 2 known cells through the graph.
    Weights: ann (30) 50% and cat (40) 50%.
    """
    ids = row_ids(result)
    place = next((place for place, id in enumerate(ids) if id == row), None)
    if place is None:
        raise no_such_row(row, result.alignment.id, ids)
    return explain_at(result, place, column)


def explain_at(result: TableResult, place: int, column: Any) -> Explanation:
    """The same for the row at a place of the table, counted from 0."""
    frame = _frame_of(result)
    check_column_name(column, frame.columns, "the table")
    ids, cells = row_ids(result), frame.get_column(column)
    value = cells[[place]].to_list()[0]
    _check_filled(result, place, ids[place], column, value)
    explanation = Explanation(ids[place], column, value, None)
    missing = result.filled[column] | result.unreached[column]
    explanation.n_known = int(np.count_nonzero(~missing))
    influence = result._influences.get(column)
    if influence is not None:
        order = result.alignment.order
        node = place if order is None else int(np.flatnonzero(order == place)[0])
        reasons = influence.of(node)
        _add_cells(explanation, result, frame, reasons, node, place)
        if _is_class(result, column):
            explanation.probabilities = _probabilities(explanation, reasons, cells, ~missing)
    columns = [list(part) for part in zip(*explanation._cells, strict=True)] or [[], [], []]
    explanation.weights = _table(frame, dict(zip(("id", "value", "weight"), columns, strict=True)))
    return explanation


def _add_cells(
    explanation: Explanation,
    result: TableResult,
    frame: nw.DataFrame[Any],
    reasons: Reasons,
    node: int,
    place: int,
) -> None:
    """Take the cells of the column and of the row, and the shares."""
    ids, far = row_ids(result), 0.0
    cells = dict(reasons.cells)
    nodes, weights = cells.pop(explanation.column, (np.empty(0, np.intp), np.empty(0)))
    order = np.argsort(-np.abs(weights).round(12), kind="stable")
    order = order[np.abs(weights[order]) > NO_WEIGHT]
    rows = _rows(result, nodes[order]).tolist()
    values = frame.get_column(explanation.column)[rows].to_list()
    kept = weights[order].tolist()
    explanation._cells = list(zip([ids[row] for row in rows], values, kept, strict=True))
    own = {name: float(weights[nodes == node].sum()) for name, (nodes, weights) in cells.items()}
    for name in sorted(own, key=lambda name: -abs(round(own[name], 12))):
        far += float(np.abs(cells[name][1]).sum()) - abs(own[name])
        if abs(own[name]) > NO_WEIGHT:
            explanation.columns[name] = own[name]
            explanation._values[name] = frame.get_column(name)[[place]].to_list()[0]
    explanation._links = reasons.links
    explanation.share_graph = sum(map(abs, kept)) + far + reasons.links
    explanation.share_columns = float(sum(map(abs, explanation.columns.values())))
    explanation.share_mean = 1.0 - explanation.share_graph - explanation.share_columns
    if explanation._cells:
        id, _, weight = explanation._cells[0]
        if weight >= COPY * max(1.0, explanation.share_graph):
            explanation.nearly_copy_of = id


def near_copies(result: TableResult, threshold: float = COPY) -> Any:
    """The filled cells that are nearly a copy of one known cell of their column.

    One weight (see :func:`explain`) of theirs is `threshold` or more. Where a value should not be
    passed on as it is, these are the cells that do so. Weights are those of :func:`explain`,
    whatever the method; a column of which it knows none is left out.

    Returns
    -------
    table of ``id``, ``column``, ``copy_of`` and ``weight``, of the kind that was filled

    Examples
    --------
    >>> import polars as pl
    >>> from graphfill import impute
    >>> people = pl.DataFrame({"name": ["ann", "bob"], "age": [30, None]})
    >>> friends = pl.DataFrame({"a": ["ann"], "b": ["bob"]})
    >>> near_copies(impute(people, friends, id="name", return_result=True)).rows()
    [('bob', 'age', 'ann', 1.0)]
    """
    check_number("threshold", threshold, low=0)
    frame = _frame_of(result)
    ids = row_ids(result)
    copies: dict[str, list[Any]] = {"id": [], "column": [], "copy_of": [], "weight": []}
    for column, influence in result._influences.items():
        nodes, sources, weights = influence.copies(threshold)
        rows, others = _rows(result, nodes), _rows(result, sources)
        for at in np.argsort(rows):
            copies["id"].append(ids[rows[at]])
            copies["column"].append(column)
            copies["copy_of"].append(ids[others[at]])
            copies["weight"].append(float(weights[at]))
    return _table(frame, copies)


def add_reasons(result: TableResult, by_certainty: Mapping[str, Rows]) -> None:
    """Add to the summaries what the least and the most certain cells of each column are made of.

    `by_certainty` has the rows that were missing, the least certain first.
    """
    for summary in result.columns:
        if summary.name not in result.filled or summary.name not in by_certainty:
            continue
        rows = by_certainty[summary.name]
        rows = rows[result.filled[summary.name][rows]]
        most = rows[CERTAIN:][::-1][:CERTAIN]
        summary.details["reasons"] = [
            {"certain": certain} | explain_at(result, row, summary.name).summary(MOST_CLASSES)
            for certain, some in (("least", rows[:CERTAIN]), ("most", most))
            for row in some.tolist()
        ]


for _public in (explain, near_copies):
    _public.__module__ = "graphfill"


def row_ids(result: TableResult) -> list[Any]:
    """The ids of the rows, as the table has them."""
    frame = _frame_of(result)
    id = result.alignment.id
    if id is None:
        return list(range(len(frame)))
    if id == INDEX and id not in frame.columns:
        return list(frame.to_native().index)
    return list(frame.get_column(id).to_list())


def _frame_of(result: Any) -> nw.DataFrame[Any]:
    import narwhals as nw
    from narwhals import dependencies

    if not isinstance(result, TableResult) or not dependencies.is_into_dataframe(result.table):
        held = result.table if isinstance(result, TableResult) else result
        raise InputError(
            f"A {type(held).__name__} does not say how its cells were filled: pass what impute "
            "returns for a table with return_result=True."
        )
    return nw.from_native(result.table, eager_only=True)


def _rows(result: TableResult, nodes: Rows) -> Rows:
    """The rows of the table that nodes are."""
    return nodes if result.alignment.order is None else result.alignment.order[nodes]


def _is_class(result: TableResult, column: Any) -> bool:
    kinds = {summary.name: summary.kind for summary in result.columns}
    return kinds[column] in ("category", "boolean")


def _probabilities(
    explanation: Explanation, reasons: Reasons, cells: nw.Series[Any], known: NDArray[np.bool_]
) -> dict[Any, float]:
    """By class, what was predicted, or its weights and its part of the column's share."""
    total: dict[Any, float] = defaultdict(float)
    if reasons.probabilities is not None:
        total |= zip(reasons.classes, reasons.probabilities.tolist(), strict=True)
        return dict(sorted(total.items(), key=lambda item: -round(item[1], 12)))
    assert explanation.share_mean is not None
    for value in cells.filter(known.tolist()).to_list():
        total[value] += explanation.share_mean / explanation.n_known
    for _, value, weight in explanation._cells:
        total[value] += weight
    return dict(sorted(total.items(), key=lambda item: -round(item[1], 12)))


def _table(frame: nw.DataFrame[Any], columns: dict[str, list[Any]]) -> Any:
    import narwhals as nw

    weights = np.array(columns["weight"], dtype=np.float64)  # floats even where there are none
    return nw.to_native(nw.from_dict(columns | {"weight": weights}, backend=frame.implementation))


# -- refusals --


def no_such_row(row: Any, id: Any, ids: Sequence[Any], holder: str = "the table") -> InputError:
    """A row that the table lacks."""
    where = holder if id is None else f"{id_holder(id)} of {holder}"
    return InputError(f"There is no row {named(row)} in {where}: name one such as {named(ids[0])}.")


def _check_filled(result: TableResult, place: int, row: Any, column: Any, value: Any) -> None:
    """Refuse a cell that was not filled."""
    cell = f"Row {named(row)}, column {column!r}"
    if column in result.filled and result.filled[column][place]:
        return
    if column in result.unreached and result.unreached[column][place]:
        raise InputError(
            f"{cell} is missing still, since no known cell is connected to it: there is nothing to "
            "explain."
        )
    if value is None or value != value:
        raise InputError(f"{cell} was left alone: name a column that was filled.")
    raise InputError(f"{cell} was known and is as it came: name a cell that was filled.")
