"""Summaries as plain text, worded from the same numbers as the JSON."""

from __future__ import annotations

from collections.abc import Sequence

from ._words import Summary, count, explained, listed, method_words, shown

# What cells out of the graph's reach got: in a summary, and in a warning.
UNREACHED = {
    "columns": ("were filled from their row's other columns",) * 2,
    "mean": (
        "got their column's mean or most frequent value",
        "were given their column's mean or most frequent value",
    ),
    "nothing": ("stay missing", "were left missing"),
}
# Verdicts on a fill by what it explains of held-out cells, from the best on.
SCALE = (
    "well inferred",
    "fairly well inferred",
    "roughly inferred",
    "weakly inferred",
    "hardly better than the mean",
)
MEANINGS = {
    "agreement": "of linked rows; 0 is chance, 1 is always the same.",
    "explained": "how much of what the mean leaves open is right when known cells are hidden.",
}
UNLINKED = (
    "Nothing links the rows. A fill takes each of these cells from its row's other columns, and "
    "says how well that did on known cells that were hidden."
)
MOST_LETTERS = 40  # of a column's name


def of_fill(summary: Summary) -> str:
    """What `graphfill impute` did."""
    if not summary["missing"]:
        end = f": the table is written as it came to {summary['output']}."
        return "\n".join([f"{_nothing_missing(summary)}{end}", *_notes(summary)])
    took = f" in {summary['seconds']['total']:.1f} s"
    written = ["", f"Written to {summary['output']}", *_report(summary)]
    done = [_filled(summary, took), *_verdicts(summary), *_columns(summary)]
    return "\n".join([*done, *_notes(summary), *written])


def of_result(summary: Summary) -> str:
    """What `graphfill.impute` did: a `TableResult` as it is printed."""
    if not summary["missing"]:
        return "\n".join([f"Nothing is missing ({_size(summary)}).", *_notes(summary)])
    done = [_filled(summary), *_verdicts(summary), *_columns(summary)]
    return "\n".join([*done, *_notes(summary)])


def of_survey(summary: Summary) -> str:
    """What `graphfill check` saw."""
    if not summary["missing"]:
        return "\n".join([f"{_nothing_missing(summary)} ({_size(summary)}).", *_notes(summary)])
    fillable = [c for c in summary["columns"] if c["verdict"]]
    compared = [c for c in fillable if c.get("links") != "unknown"]
    good = [str(c["name"]) for c in compared if c.get("links") in ("inferable", "weakly")]
    agree = (
        f"Neighbours agree beyond chance in {len(good)} of {len(compared)} columns with missing "
        f"cells{': ' if good else ''}{listed(good)}."
    )
    if len(compared) < len(fillable):
        rest = count(len(fillable) - len(compared), "column")
        agree = f"{agree if compared else ''} In {rest} too few linked rows are both known to tell."
    alone = sum(c["n_missing"] for c in summary["columns"] if not c["verdict"])
    reached = f"; the graph reaches {summary['missing'] - summary['unreached'] - alone:,} of them"
    if not summary["edges"]:
        reached, agree = "", UNLINKED
    return "\n".join(
        [
            f"{summary['missing']:,} cells are missing ({_size(summary)}){reached}.",
            agree.strip(),
            *_verdicts(summary),
            *_columns(summary),
            *_notes(summary),
            *_report(summary),
        ]
    )


def of_demo(summary: Summary) -> str:
    """How well the demo did on the cells whose truth it kept."""
    rows = [
        (
            score["column"],
            score["measure"],
            f"{score['mean']:.4g}",
            f"{score['graphfill']:.4g}",
            _change(score["graphfill"], score["mean"]),
        )
        for score in summary["scores"]
    ]
    return "\n".join(
        [
            f"Made a town ({_size(summary)}), blanked {summary['missing']:,} cells, filled them in "
            f"{summary['seconds']['total']:.1f} s and compared with the truth:",
            "",
            *text_table(("column", "", "column mean", "graphfill", ""), rows),
            "",
            "(For words, the column's mean is its most frequent value.)",
            f"The filled table is {summary['output']}, the report on it {summary['report']}",
        ]
    )


def _change(ours: float, plain: float) -> str:
    if not plain:
        return "as good" if not ours else "worse"
    less = 1 - ours / plain
    return f"{less:.0%} less" if less >= 0 else f"{-less:.0%} more"


def unreached_kinds(summary: Summary) -> dict[str, int]:
    """How many cells that nothing known is connected to got what: a key of `UNREACHED` each.

    A column whose summary does not say got what the settings ask for.
    """
    asked = "nothing" if summary["settings"].get("unreached") == "nan" else "mean"
    kinds = dict.fromkeys(UNREACHED, 0)
    for column in summary["columns"]:
        kinds[column.get("unreached_got") or asked] += column["n_unreached"]
    return {kind: n for kind, n in kinds.items() if n} or {asked: summary["unreached"]}


def unreached_sentence(summary: Summary) -> str:
    """The warning about cells that nothing known is connected to; "" where there are none."""
    if not summary["unreached"]:
        return ""
    kinds = unreached_kinds(summary)
    counted = ", ".join(f"{n:,} {UNREACHED[kind][1]}" for kind, n in kinds.items())
    got = f": {counted}" if len(kinds) > 1 else f" and {UNREACHED[next(iter(kinds))][1]}"
    return (
        f"{summary['unreached']:,} of {summary['missing']:,} missing cells cannot be inferred from "
        f"the graph (nothing known of their column is connected to them){got}"
    )


def _filled(summary: Summary, took: str = "") -> str:
    """How many cells were filled, and what kept others from it."""
    lines = [
        f"Filled {summary['filled']:,} of {summary['missing']:,} missing cells ({_size(summary)})"
        f"{took}."
    ]
    if summary["unreached"]:
        (first, n), *others = unreached_kinds(summary).items()
        got = [
            f"{n:,} of them are connected to nothing known of their column and "
            f"{UNREACHED[first][0]}",
            *(f"{n:,} {UNREACHED[kind][0]}" for kind, n in others),
        ]
        lines.append(f"{'; '.join(got)}.")
    if summary["converged"] is False:
        lines.append(f"Not converged: relative residual {summary['residual']:.1e}.")
    return "\n".join(lines)


def _nothing_missing(summary: Summary) -> str:
    some_left_out = any(column["note"] == "not asked for" for column in summary["columns"])
    return f"Nothing is missing{' in the columns asked for' if some_left_out else ''}"


def _report(summary: Summary) -> list[str]:
    return [f"Report: {summary['report']}"] if summary.get("report") else []


def _size(summary: Summary) -> str:
    return f"{count(summary['rows'], 'row')}, {count(summary['edges'], 'edge')}"


def _notes(summary: Summary) -> list[str]:
    notes = [f"  - {note}" for note in summary["notes"]]
    return ["", "Notes:", *notes] if notes else []


def _verdicts(summary: Summary) -> list[str]:
    """How many columns were filled how well, where held-out cells say so and columns are many."""
    scored = [c for c in summary["columns"] if c["verdict"] in SCALE]
    if len(scored) < 2:
        return []
    counts = [(words, sum(c["verdict"] == words for c in scored)) for words in SCALE]
    counted = ", ".join(f"{n:,} {words}" for words, n in counts if n)
    return [f"By known cells that were hidden, columns are: {counted}."]


def _columns(summary: Summary) -> list[str]:
    """One line per column with missing cells."""
    heads, rows, meanings = column_lines(summary)
    table = text_table(heads, rows)
    return ["", *table, "", *(f"  {line}" for line in meanings)] if meanings else ["", *table]


def column_lines(summary: Summary) -> tuple[list[str], list[list[str]], list[str]]:
    """The heads and cells of a table of the columns with missing cells, and what heads mean."""
    hidden = f"{summary['settings'].get('scores')} hidden"  # in the pattern that was asked for
    rows = [
        {
            "column": shown(column["name"], MOST_LETTERS, "(no name)"),
            "kind": column["kind"],
            "missing": f"{column['n_missing']:,}",
            "filled": f"{column['n_filled']:,}",
            "unreached": f"{column['n_unreached']:,}",
            "agreement": "" if column["agreement"] is None else f"{column['agreement']:.2f}",
            "explained": explained(column),
            hidden: _score_of("chosen", (column.get("rehearsal") or {}).get("scores")),
            "": column["verdict"],
            "by": method_words(column),
        }
        for column in summary["columns"]
        if column["n_missing"]
    ]
    empty = [head for head in rows[0] if not any(row[head].strip("0") for row in rows)]
    dropped = {"filled", "unreached", "agreement", "explained", hidden, "by"}.intersection(empty)
    if all(row["filled"] == row["missing"] for row in rows):
        dropped.add("filled")
    if not summary["edges"]:
        dropped.add("unreached")
    heads = [head for head in rows[0] if head not in dropped]
    meanings = [f"{head}: {words}" for head, words in MEANINGS.items() if head in heads]
    return heads, [[row[head] for head in heads] for row in rows], meanings


def _score_of(method: str | None, scores: Sequence[Summary] | None) -> str:
    for score in scores or ():
        if score["method"] == method:
            return f"R2 {score['r2']:.2f}" if "r2" in score else f"{score['accuracy']:.0%} right"
    return ""


def text_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns of text, numbers to the right.

    >>> print("\\n".join(text_table(("name", "n"), [("a", "1"), ("bc", "10")])))
      name   n
      a      1
      bc    10
    """
    columns = []
    for name, *cells in zip(head, *rows, strict=True):
        numeric = all(not cell or cell[0].isdigit() or cell[0] == "-" for cell in cells)
        width = max(map(len, [name, *cells]))
        columns.append([f"{cell:{'>' if numeric else '<'}{width}}" for cell in [name, *cells]])
    return [f"  {'  '.join(row).rstrip()}" for row in zip(*columns, strict=True)]
