"""What one column's section shows: tables and figures, as far as the numbers are there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import _figures as figures
from . import _sentences as sentences
from ._words import alike, filled_in, name, number, percent, shown

Said = dict[str, Any]
METHODS = 12
MEASURES = {
    "mae": "mean error",
    "rmse": "RMS error",
    "r2": "R²",
    "accuracy": "right",
    "f1": "F1",
    "log_loss": "log loss",
}
SHARES = ("accuracy",)
GROUPS = ROWS = 10


def column_view(said: Said, column: Said, key: str, *, draw: bool) -> Said:
    """All that the template needs to know of a column.

    Parameters
    ----------
    key : unique on the page
    draw : False leaves the figures out, to save bytes
    """
    symbol, verdict = sentences.MARKS.get(column["verdict"], ("?", name(column["verdict"])))
    full = name(column["name"], 2000)
    return {
        "key": key,
        "name": name(column["name"], 80),
        "full": full if full != name(column["name"], 80) else "",
        "kind": shown(column["kind"]),
        "symbol": symbol,
        "verdict": verdict,
        "n_missing": f"{column['n_missing']:,}",
        "n_filled": f"{column['n_filled']:,}",
        "missing": sentences.of_missing(said, column),
        "trust": sentences.of_verdict(column),
        "scored": sentences.of_scores(column),
        "intervals": sentences.of_intervals(column),
        "scores": _scores(column),
        "groups": _groups(column),
        "least": _least(column),
        "score_caption": _score_caption(column),
        "figures": _drawn(column, key) if draw else {},
    }


# -- tables: a head, whether each of its columns is numbers, and rows --


def _scores(column: Said) -> Said | None:
    scores = (column.get("scores") or [])[:METHODS]
    measures = [m for m in MEASURES if any(score.get(m) is not None for score in scores)]
    if not measures:
        return None
    by_measure = []
    for measure in measures:
        values = [score.get(measure) for score in scores]
        by_measure.append([*map(percent, values)] if measure in SHARES else alike(values))
    unit = f" ({shown(column['unit'], 20)})" if column.get("unit") else ""
    heads = [MEASURES[m] + (unit if m in ("mae", "rmse") else "") for m in measures]
    rows = [
        (filled_in(score["method"]), score["method"] == column.get("chosen"), cells)
        for score, cells in zip(scores, zip(*by_measure, strict=True), strict=True)
    ]
    return {"heads": heads, "rows": rows}


def _groups(column: Said) -> Said | None:
    groups = column.get("unreached_groups") or []
    if not groups:
        return None
    rows = [
        (
            f"{group['rows']:,}",
            f"{group['cells']:,}",
            ", ".join(shown(example, 30) for example in group.get("examples", [])[:5]),
        )
        for group in groups[:GROUPS]
    ]
    total = column.get("n_unreached_groups") or len(groups)
    return {"rows": rows, "total": f"{total:,}", "more": total > len(rows)}


def _least(column: Said) -> Said | None:
    rows = (column.get("least_trusted") or [])[:ROWS]
    if not rows:
        return None
    if any("probability" in row for row in rows):
        heads = [("filled with", False), ("probability", True), ("or else", False)]
        cells = [
            (
                _cell(row.get("value")),
                percent(row.get("probability")),
                ", ".join(shown(other, 30) for other in _others(row)) or "–",
            )
            for row in rows
        ]
    else:
        heads = [("filled with", True), ("at least", True), ("at most", True)]
        cells = [
            (_cell(row.get("value")), _cell(row.get("low")), _cell(row.get("high"))) for row in rows
        ]
    return {
        "heads": heads,
        "rows": [(_cell(row.get("id")), texts) for row, texts in zip(rows, cells, strict=True)],
    }


def _others(row: Said) -> list[Any]:
    return [value for value in row.get("set") or [] if value != row.get("value")][:5]


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    return number(value) if isinstance(value, float) else filled_in(value, 40)


# -- figures --


def _drawn(column: Said, key: str) -> dict[str, str]:
    drawn = {
        "scores": _score_figure(column, f"{key}-scores"),
        "shares": _value_figure(column, f"{key}-shares"),
        "calibration": _calibration_figure(column, f"{key}-calibration"),
        "distance": _distance_figure(column, f"{key}-distance"),
    }
    return {what: figure for what, figure in drawn.items() if figure}


def _score_figure(column: Said, key: str) -> str:
    scores = (column.get("scores") or [])[:METHODS]
    for measure in ("rmse", "accuracy"):
        values = [(shown(score["method"]), score.get(measure)) for score in scores]
        if any(value is not None for _, value in values):
            return figures.score_bars(
                key,
                values,
                chosen=shown(column.get("chosen") or ""),
                measure="Error" if measure == "rmse" else "Share right",
                written=percent if measure in SHARES else None,
            )
    return ""


def _score_caption(column: Said) -> str:
    if any(score.get("rmse") is not None for score in column.get("scores") or []):
        unit = f", in {shown(column['unit'], 20)}" if column.get("unit") else ""
        return f"Root mean square error{unit}: shorter is better. The solid bar was chosen."
    return "Share of hidden cells named right: longer is better. The solid bar was chosen."


def _value_figure(column: Said, key: str) -> str:
    shares = column.get("distribution") or {}
    known, filled = (
        [share or 0.0 for share in shares.get(side) or []] for side in ("known", "filled")
    )
    if not known or len(known) != len(filled):
        return ""
    title = name(column["name"], 80)
    edges = shares.get("edges") or []
    if len(edges) == len(known) + 1 and None not in edges:
        return figures.histogram(key, edges, known, filled, name=title)
    if len(shares.get("values") or []) == len(known):
        return figures.category_bars(key, shares["values"], known, filled, name=title)
    return ""


def _calibration_figure(column: Said, key: str) -> str:
    points = column.get("calibration") or []
    promised = _points(points, "nominal", "actual")
    if promised:
        return figures.calibration(key, promised, promised="Promised", held="Within the interval")
    sure = _points(points, "confidence", "accuracy")
    if sure:
        return figures.calibration(key, sure, promised="Stated probability", held="Right")
    return ""


def _points(points: Sequence[Said], x: str, y: str) -> list[tuple[float, float]]:
    return [
        (point[x], point[y])
        for point in points
        if point.get(x) is not None and point.get(y) is not None
    ]


def _distance_figure(column: Said, key: str) -> str:
    counts = [(row["distance"], row["cells"]) for row in column.get("distance") or []]
    title = name(column["name"], 80)
    return figures.distance_bars(key, counts, name=title) if counts else ""
