"""The tables of one column's section, as far as the numbers are there."""

from __future__ import annotations

import re
from typing import Any

from ._words import NOTHING, Summary, alike, name, number, one_method, percent, shown

METHODS = 12
MEASURES = {
    "mae": "mean error",
    "rmse": "RMS error",
    "r2": "R²",
    "accuracy": "right",
    "f1": "F1",
    "log_loss": "log loss",
}
ROWS = 10
_METHOD = re.compile(r"(?<=that of )[\w-]+|(?<=as good as )[\w-]+")  # in why one was chosen


def section(column: Summary, key: str) -> Summary:
    """A column with its tables; `key` is unique on the page."""
    short, full = name(column["name"], 80), name(column["name"], 2000)
    return column | {
        "key": key,
        "short": short,
        "full": full if full != short else "",
        "shown_scores": column["scores"][:METHODS],
        "mean_errors": _mean_errors(column),
        "why": _METHOD.sub(lambda found: one_method(found[0], column), column["why"]),
        "score_table": _score_table(column),
        "least": _least(column),
        "reason_rows": [_reasons(reasons) for reasons in column["reasons"][:ROWS]],
    }


def _mean_errors(column: Summary) -> dict[str, str]:
    """By method, written as the table of scores writes them."""
    scores = column["scores"][:METHODS]
    errors = alike([score.get("mae") for score in scores])
    return {score["method"]: error for score, error in zip(scores, errors, strict=True)}


# -- tables: a head, whether each of its columns is numbers, and rows --


def _score_table(column: Summary) -> Summary | None:
    scores = column["scores"][:METHODS]
    unit = f" ({shown(column['unit'], 20)})" if column["unit"] else ""
    heads, by_measure = [], []
    for measure, words in MEASURES.items():
        values = [score.get(measure) for score in scores]
        if any(value is not None for value in values):
            heads.append(words + (unit if measure in ("mae", "rmse") else ""))
            by_measure.append([*map(percent, values)] if measure == "accuracy" else alike(values))
    rows = [
        (
            shown(one_method(score["method"], column), empty="(empty)"),
            score["method"] == column["chosen"],
            cells,
        )
        for score, cells in zip(scores, zip(*by_measure, strict=True), strict=False)
    ]
    by_error = any(score.get("rmse") is not None for score in scores)
    return {"heads": heads, "rows": rows, "by_error": by_error} if rows else None


def _least(column: Summary) -> Summary | None:
    """The rows to look at first: their id, and cells under heads that say if they are numbers."""
    rows = column["least_trusted"][:ROWS]
    if not any("probability" in row for row in rows):
        parts = {"value": "filled with", "low": "at least", "high": "at most"}
        heads = [(head, True) for head in parts.values()]
        cells = [[_cell(row.get(part)) for part in parts] for row in rows]
    else:
        heads = [("filled with", False), ("probability", True), ("or else", False)]
        cells = []
        for row in rows:
            others = [value for value in row.get("set") or [] if value != row.get("value")][:5]
            listed = ", ".join(shown(other, 30) for other in others) or NOTHING
            cells.append([_cell(row.get("value")), percent(row.get("probability")), listed])
    texts = [(_cell(row.get("id")), texts) for row, texts in zip(rows, cells, strict=True)]
    return {"heads": heads, "rows": texts} if rows else None


def _reasons(reasons: Summary) -> list[str]:
    """What one cell is made of: the row, its value, the shares and what has the largest weights."""
    names = ("graph", "columns", "mean")
    shares = [reasons.get(f"share_{name}") for name in names]
    parts = [
        *((part["id"], part) for part in reasons["weights"]),
        *((part["column"], part) for part in reasons["columns"]),
    ]
    parts.sort(key=lambda part: -abs(part[1]["weight"]))
    largest = [f"{_cell(of)} ({_cell(p['value'])}) {percent(p['weight'])}" for of, p in parts]
    return [
        _cell(reasons["row"]),
        str(reasons["certain"]),
        _cell(reasons["value"]),
        *(NOTHING if share is None else percent(round(share, 6)) for share in shares),
        "; ".join(largest) or NOTHING,
    ]


def _cell(value: Any) -> str:
    if value is None:
        return NOTHING
    return number(value) if isinstance(value, float) else shown(value, 40, "(empty)")
