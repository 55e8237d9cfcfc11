"""What one column's section shows: tables and figures, as far as the numbers are there."""

from __future__ import annotations

from typing import Any

from . import _figures as figures
from ._words import NOTHING, Summary, alike, name, number, percent, shown

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


def section(column: Summary, key: str, *, draw: bool) -> Summary:
    """A column with its tables and figures; without `draw` there are no figures.

    `key` is unique on the page.
    """
    short, full = name(column["name"], 80), name(column["name"], 2000)
    return column | {
        "key": key,
        "short": short,
        "full": full if full != short else "",
        "score_table": _score_table(column),
        "least": _least(column),
        "figures": _drawn(column, key, short) if draw else {},
    }


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
        (shown(score["method"], empty="(empty)"), score["method"] == column["chosen"], cells)
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


def _cell(value: Any) -> str:
    if value is None:
        return NOTHING
    return number(value) if isinstance(value, float) else shown(value, 40, "(empty)")


# -- figures --


def _drawn(column: Summary, key: str, title: str) -> dict[str, str]:
    counts = [(row["distance"], row["cells"]) for row in column["distance"]]
    distance = figures.distance_bars(f"{key}-distance", counts, name=title) if counts else ""
    drawn = {
        "scores": _score_figure(column, f"{key}-scores"),
        "shares": _value_figure(column, f"{key}-shares", title),
        "calibration": _calibration_figure(column, f"{key}-calibration"),
        "distance": distance,
    }
    return {what: figure for what, figure in drawn.items() if figure}


def _score_figure(column: Summary, key: str) -> str:
    for measure, words in (("rmse", "Error"), ("accuracy", "Share right")):
        scores = column["scores"][:METHODS]
        values = [(shown(score["method"]), score.get(measure)) for score in scores]
        if any(value is not None for _, value in values):
            chosen = shown(column["chosen"])
            written = percent if measure == "accuracy" else None
            return figures.score_bars(key, values, chosen=chosen, measure=words, written=written)
    return ""


def _value_figure(column: Summary, key: str, title: str) -> str:
    shares = column["distribution"]
    known = [share or 0.0 for share in shares.get("known") or []]
    filled = [share or 0.0 for share in shares.get("filled") or []]
    edges, values = shares.get("edges") or [], shares.get("values") or []
    if known and len(known) == len(filled):
        if len(edges) == len(known) + 1 and None not in edges:
            return figures.histogram(key, edges, known, filled, name=title)
        if len(values) == len(known):
            return figures.category_bars(key, values, known, filled, name=title)
    return ""


def _calibration_figure(column: Summary, key: str) -> str:
    for x, y, promised, held in (
        ("nominal", "actual", "Promised", "Within the interval"),
        ("confidence", "accuracy", "Stated probability", "Right"),
    ):
        points = [(point.get(x), point.get(y)) for point in column["calibration"]]
        points = [point for point in points if None not in point]
        if points:
            return figures.calibration(key, points, promised=promised, held=held)
    return ""
