"""Summaries in words, drawn from the same numbers as the JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Said = dict[str, Any]


def of_fill(said: Said) -> str:
    """What `graphfill impute` did."""
    if not said["missing"]:
        where = " in the columns asked for" if _some_left_out(said) else ""
        first = f"Nothing is missing{where}: the table is written as it came to {said['output']}."
        return "\n".join([first, *_notes(said)])
    written = [f"Written to {said['output']}", *_report(said)]
    took = f" in {said['seconds']['total']:.1f} s"
    return "\n".join([_filled(said, took), "", *_columns(said), *_notes(said), "", *written])


def of_result(said: Said) -> str:
    """What `graphfill.impute` did: a `TableResult` as it is printed."""
    if not said["missing"]:
        return "\n".join([f"Nothing is missing ({_size(said)}).", *_notes(said)])
    return "\n".join([_filled(said), "", *_columns(said), *_notes(said)])


def _filled(said: Said, took: str = "") -> str:
    """How many cells were filled, and what kept others from it."""
    head = f"Filled {said['filled']:,} of {said['missing']:,} missing cells ({_size(said)}){took}."
    if said["unreached"]:
        words = {
            "mean": "got their column's mean or most frequent value",
            "columns": "were filled from their row's other columns",
            "nothing": "stay missing",
        }
        default = "nothing" if said["settings"]["unreached"] == "nan" else "mean"
        kinds = {c.get("unreached_got") or default for c in said["columns"] if c["n_unreached"]}
        got = " or ".join(words[kind] for kind in sorted(kinds or {default}))
        head += (
            f"\n{said['unreached']:,} of them are connected to nothing known of their column and "
            f"{got}."
        )
    if said["converged"] is False:
        head += f"\nNot converged: relative residual {said['residual']:.1e}."
    return head


def of_survey(said: Said) -> str:
    """What `graphfill check` found."""
    if not said["missing"]:
        where = " in the columns asked for" if _some_left_out(said) else ""
        return "\n".join([f"Nothing is missing{where} ({_size(said)}).", *_notes(said)])
    reached = said["missing"] - said["unreached"]
    fillable = [c for c in said["columns"] if c["verdict"]]
    good = [c["name"] for c in fillable if c["verdict"] in ("inferable", "weakly")]
    head = f"{said['missing']:,} cells are missing ({_size(said)})"
    alone = sum(c["n_missing"] for c in said["columns"] if not c["verdict"])
    head += f"; the graph reaches {reached - alone:,} of them."
    verdict = (
        f"Neighbours agree beyond chance in {len(good)} of {len(fillable)} columns with missing "
        f"cells{': ' if good else ''}{', '.join(good)}."
    )
    return "\n".join([head, verdict, "", *_columns(said), *_notes(said), *_report(said)])


def of_demo(said: Said) -> str:
    """How well the demo did on the cells whose truth it kept."""
    rows = [
        (
            score["column"],
            score["measure"],
            f"{score['mean']:.4g}",
            f"{score['graphfill']:.4g}",
            _change(score["graphfill"], score["mean"]),
        )
        for score in said["scores"]
    ]
    head = (
        f"Made a town ({_size(said)}), blanked {said['missing']:,} cells, filled them in "
        f"{said['seconds']['total']:.1f} s and compared with the truth:"
    )
    table = text_table(("column", "", "column mean", "graphfill", ""), rows)
    note = "(For words, the column's mean is its most frequent value.)"
    where = f"The filled table is {said['output']}, the report on it {said['report']}"
    return "\n".join([head, "", *table, "", note, where])


def _change(ours: float, plain: float) -> str:
    if not plain:
        return "as good" if not ours else "worse"
    less = 1 - ours / plain
    return f"{less:.0%} less" if less >= 0 else f"{-less:.0%} more"


def _some_left_out(said: Said) -> bool:
    return any(column["note"] == "not asked for" for column in said["columns"])


def _report(said: Said) -> list[str]:
    return [f"Report: {said['report']}"] if said.get("report") else []


def _size(said: Said) -> str:
    return f"{said['rows']:,} rows, {said['edges']:,} edges"


def _notes(said: Said) -> list[str]:
    if not said["notes"]:
        return []
    return ["", "Notes:", *(f"  - {note}" for note in said["notes"])]


def _columns(said: Said) -> list[str]:
    """One line per column with missing cells."""
    rows = []
    for column in said["columns"]:
        if not column["n_missing"]:
            continue
        agreed = column["agreement"]
        rows.append(
            (
                str(column["name"]),
                column["kind"],
                f"{column['n_missing']:,}",
                f"{column['n_filled']:,}",
                f"{column['n_unreached']:,}",
                "" if agreed is None else f"{agreed:.2f}",
                _held_out(column),
                _rehearsed(column),
                column.get("chosen") or "",
                column["verdict"],
            )
        )
    head = (
        "column",
        "kind",
        "missing",
        "filled",
        "unreached",
        "agreement",
        "held out",
        _pattern(said),
        "by",
        "",
    )
    drop = [j for j in (3, 6, 7, 8) if not any(row[j].strip("0") for row in rows)]  # nothing to say
    kept = [j for j in range(len(head)) if j not in drop]
    return text_table([head[j] for j in kept], [[row[j] for j in kept] for row in rows])


def _pattern(said: Said) -> str:
    """The head of the column about cells hidden in a pattern."""
    pattern = said["settings"].get("scores")
    return f"{pattern} hidden" if isinstance(pattern, str) else ""


def _rehearsed(column: Said) -> str:
    tried = column.get("rehearsal")
    return _score_of("chosen", tried["scores"]) if tried else ""


def _held_out(column: Said) -> str:
    """How well the fill did on cells held out: by the method's score, or the variance explained."""
    explained = "" if column["explained"] is None else f"R2 {column['explained']:.2f}"
    return _score_of(column.get("chosen"), column.get("scores") or ()) or explained


def _score_of(method: str | None, scores: Sequence[Said]) -> str:
    for score in scores:
        if score["method"] == method:
            return f"R2 {score['r2']:.2f}" if "r2" in score else f"{score['accuracy']:.0%} right"
    return ""


def text_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns of text, numbers to the right.

    Examples
    --------
    >>> print("\\n".join(text_table(("name", "n"), [("a", "1"), ("bc", "10")])))
      name   n
      a      1
      bc    10
    """
    cells = [head, *rows]
    widths = [max(len(row[j]) for row in cells) for j in range(len(head))]
    right = [all(_numeric(row[j]) for row in rows) for j in range(len(head))]
    return [
        "  "
        + "  ".join(
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(row, widths, right, strict=True)
        ).rstrip()
        for row in cells
    ]


def _numeric(cell: str) -> bool:
    return not cell or cell[0].isdigit() or cell[0] == "-"


def unreached_sentence(summary: dict[str, Any]) -> str:
    """What became of missing cells that the graph does not reach; nothing where there are none."""
    words = {
        "mean": "given their column's mean or most frequent value",
        "columns": "filled from their row's other columns",
        "nothing": "left missing",
    }
    counts: dict[str, int] = {}
    for column in summary["columns"]:
        if column["n_unreached"]:
            got = column["unreached_got"]
            counts[got] = counts.get(got, 0) + column["n_unreached"]
    if not counts:
        return ""
    head = (
        f"{sum(counts.values()):,} of {summary['missing']:,} missing cells cannot be inferred from "
        "the graph (nothing known of their column is connected to them) and were "
    )
    if len(counts) == 1:
        return head + words[next(iter(counts))]
    return head + " or ".join(f"{words[got]} ({n:,})" for got, n in counts.items())
