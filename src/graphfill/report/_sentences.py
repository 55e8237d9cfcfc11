"""What the page says of a fill in words: first of the whole, then of each column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._words import count, listed, name, named, number, percent

Said = dict[str, Any]
MOST = 20  # warnings of one kind
CLASSES = ("category", "boolean")
BY_OTHER_COLUMNS = ("columns", "hybrid")
PATTERNS = {
    "random": "at random",
    "rows": "with their whole rows",
    "high": "the high or rare values first",
    "region": "all around some nodes",
}
MARKS = {
    "inferable": ("●", "inferable"),
    "weakly": ("◐", "weakly inferable"),
    "not from this graph": ("○", "not from this graph"),
    "unknown": ("?", "unknown"),
    "": ("–", "left alone"),
}


def subject(said: Said) -> str:
    """The table, as its owner calls it."""
    return name((said.get("input") or {}).get("table") or "The table")


def headline(said: Said) -> str:
    """The page's first line."""
    missing, filled = said.get("missing", 0), said.get("filled", 0)
    if not missing:
        return "Nothing was missing"
    if not filled:
        return f"{count(missing, 'cell')} missing, none filled"
    if filled == missing:
        return f"All {count(missing, 'missing cell')} filled" if missing > 1 else "1 cell filled"
    return f"{filled:,} of {count(missing, 'missing cell')} filled"


def in_short(said: Said) -> list[str]:
    """What was filled, how far it can be trusted, and which columns the graph can infer."""
    links = count(said.get("edges", 0), "link")
    size = f"{count(said.get('rows', 0), 'row')} and {links} between them"
    columns = with_gaps(said)
    if not columns:
        return [f"{named(subject(said))} has {size}. No cell is missing in any of its columns."]
    filled = said.get("filled", 0)
    first = (
        f"{named(subject(said))} has {size}. {count(said['missing'], 'cell', 'cells')} in "
        f"{count(len(columns), 'column')} {'was' if said['missing'] == 1 else 'were'} missing; "
    )
    first += f"{filled:,} {'was' if filled == 1 else 'were'} filled. Known cells were not changed."
    told = [first]
    if filled:
        told.append(_overall(said, columns))
    return told + _by_verdict(columns, bool(filled))


def _overall(said: Said, columns: Sequence[Said]) -> str:
    """How many of the filled cells rest on something."""
    filled = sum(column["n_filled"] for column in columns)
    solid = sum(_from_graph(said, column) for column in columns if column["verdict"] == "inferable")
    share = solid / max(filled, 1)
    held = f"{solid:,} of {filled:,} filled cells ({percent(share)})"
    if share >= 0.8:
        return (
            f"Most of the result can be used, within the errors given for each column: {held} are "
            "in columns in which linked rows resemble each other, and have known values to go by."
        )
    if share >= 0.2:
        return (
            f"How far to trust the result depends on the column: {held} are in columns in which "
            "linked rows clearly resemble each other. Be careful with the others."
        )
    return (
        f"Treat the result with caution: only {held} are in columns in which linked rows clearly "
        "resemble each other. The others are little more than averages."
    )


def _by_verdict(columns: Sequence[Said], filled: bool) -> list[str]:
    told = []
    for verdict, form in (
        ("inferable", "The links say a lot about {}."),
        ("weakly", "The links say something, but not much, about {}: use {} with care."),
        ("not from this graph", "The links say next to nothing about {}{}."),
        ("unknown", "Too little is known of {} to tell whether the links say anything."),
    ):
        names = [named(column["name"]) for column in columns if column["verdict"] == verdict]
        if names:
            them = "it" if len(names) == 1 else "them"
            end = them
            if verdict == "not from this graph":
                end = f": do not take what was filled into {them} for facts" if filled else ""
            told.append(form.format(listed(names), end))
    return told


def warnings(said: Said) -> list[str]:
    """What the reader should not miss."""
    told = []
    if said.get("converged") is False:
        told.append(
            f"The calculation stopped before it was finished, after "
            f"{count(said.get('n_iter', 0), 'step')} and with a relative residual of "
            f"{number(said.get('residual'))}: values may still change; allow more steps."
        )
    if said.get("unreached"):
        got = "they stay missing" if stays_missing(said) else "they got the column's usual value"
        if not said.get("filled"):
            got = "they cannot be inferred from the graph"
        told.append(
            f"{count(said['unreached'], 'missing cell')} cannot be reached: no chain of links "
            f"leads from there to a known cell of the same column, so {got} "
            "(see the column for where they are)."
        )
    alone = [c for c in with_gaps(said) if not c["verdict"] and not c["n_filled"]]
    for column in alone[:MOST]:
        why = f": {name(column['note'], 200)}" if column["note"] else ""
        told.append(
            f"{named(column['name'])} was left alone with "
            f"{count(column['n_missing'], 'missing cell')}{why}."
        )
    if alone[MOST:]:
        told.append(f"{count(len(alone) - MOST, 'other column')} with missing cells left alone.")
    if said.get("rows_without_edge"):
        told.append(
            f"{count(said['rows_without_edge'], 'row has', 'rows have')} no link to any other."
        )
    return told


def of_missing(said: Said, column: Said) -> str:
    """What a column lacked, and what it got."""
    missing, filled, lost = column["n_missing"], column["n_filled"], column["n_unreached"]
    rows = said.get("rows") or 0
    known = column.get("n_known")
    total = known + missing if known is not None else rows
    of = f" of {total:,}" if total >= missing else ""
    share = f" ({percent(missing / total)})" if total >= missing else ""
    told = (
        f"{missing:,}{of} cells{share} {'was' if missing == 1 else 'were'} missing; {filled:,} "
        f"{'was' if filled == 1 else 'were'} filled."
    )
    if column["note"] and not filled:
        told += f" The column was left alone: {name(column['note'], 200)}."
    if lost:
        usual = "most frequent value" if column["kind"] in CLASSES else "mean"
        got = "stayed missing" if stays_missing(said) else f"got the column's {usual}"
        told += f" {count(lost, 'cell')} could not be reached"
        told += f" and {got}." if filled else "."
    return told


def of_verdict(column: Said) -> str:
    """Whether the graph can infer a column, and how that was seen."""
    agreed = column["agreement"]
    seen = "" if agreed is None else f" (agreement {agreed:.2f}; 0 is chance, 1 is always the same)"
    told = {
        "inferable": f"Linked rows clearly resemble each other in this column{seen}.",
        "weakly": f"Linked rows resemble each other only a little in this column{seen}.",
        "not from this graph": f"Linked rows hardly resemble each other in this column{seen}: "
        "the graph says next to nothing about its missing cells.",
        "unknown": "Too few linked rows are both known in this column to tell whether they "
        "resemble each other.",
    }.get(column["verdict"], "")
    if column["verdict"] == "not from this graph" and column.get("chosen") in BY_OTHER_COLUMNS:
        told += " Its cells were therefore filled with the help of the other columns."
    return told


def of_scores(column: Said) -> str:
    """How far the chosen method was off on cells that were hidden on purpose."""
    told = []
    held = column.get("n_held_out")
    hidden = f"{count(held, 'known cell')} that were hidden" if held else "known cells hidden"
    by_method = {score["method"]: score for score in column.get("scores") or []}
    ours, plain = by_method.get(column.get("chosen")), by_method.get("mean")
    unit = f" {column['unit']}" if column.get("unit") else ""
    if ours and ours.get("accuracy") is not None:
        told.append(
            f"Tried on {hidden} on purpose, the chosen method named the right value in "
            f"{percent(ours['accuracy'])} of them"
        )
        if plain and plain.get("accuracy") is not None and plain is not ours:
            told[-1] += f", the most frequent value in {percent(plain['accuracy'])}"
    elif ours and ours.get("mae") is not None:
        told.append(
            f"Tried on {hidden} on purpose, the chosen method was off by "
            f"{number(ours['mae'])}{unit} on average"
        )
        if plain and plain.get("mae") is not None and plain is not ours:
            told[-1] += f", the column's mean by {number(plain['mae'])}{unit}"
    elif column["explained"] is not None:
        told.append(
            f"Tried on {hidden} on purpose, the fill explains {percent(column['explained'])} of "
            "what the column's mean leaves open"
        )
    if told:
        told[-1] += "."
    if column.get("why"):
        told.append(name(column["why"], 400))
    told += _of_rehearsal(column, unit)
    return " ".join(told)


def _of_rehearsal(column: Said, unit: str) -> list[str]:
    """How far off it was on cells hidden in a pattern of the user's choice."""
    tried = column.get("rehearsal")
    if not tried:
        return []
    score = next(s for s in tried["scores"] if s["method"] == "chosen")
    if score.get("accuracy") is not None:
        went = f"{percent(score['accuracy'])} were named right"
    else:
        went = f"it was off by {number(score['mae'])}{unit} on average"
    told = f"On {count(tried['n'], 'known cell')} hidden {PATTERNS[tried['pattern']]}, {went}"
    if tried.get("coverage") is not None:
        told += f", and {percent(tried['coverage'])} lay within what was given as sure"
    return [f"{told}."]


def of_intervals(column: Said) -> str:
    """Whether the intervals or sets kept their promise."""
    level, coverage = column.get("interval_level"), column.get("coverage")
    if level is None or coverage is None:
        return ""
    if "highest_level" in column:
        return f"Too few cells are known to give bounds that hold in {percent(level)} of cases."
    what = "sets of values" if column["kind"] in CLASSES else "intervals"
    told = (
        f"The {what} given with the filled cells promise to hold the truth in {percent(level)} of "
        f"cases; on hidden cells they did in {percent(coverage)}."
    )
    width, constant = column.get("median_width"), column.get("constant_width")
    if width is not None:
        unit = f" {column['unit']}" if column.get("unit") else ""
        told += f" Half of them are at most {number(width)}{unit} wide"
        told += (
            f"; intervals of one width for all would be {number(constant)}{unit} wide."
            if constant
            else "."
        )
    return told


def with_gaps(said: Said) -> list[Said]:
    """The columns with missing cells."""
    return [column for column in said.get("columns", []) if column["n_missing"]]


def stays_missing(said: Said) -> bool:
    return (said.get("settings") or {}).get("unreached") == "nan"


def _from_graph(said: Said, column: Said) -> int:
    """Filled cells of a column that are connected to a known one."""
    lost = 0 if stays_missing(said) else column["n_unreached"]
    return max(column["n_filled"] - lost, 0)
