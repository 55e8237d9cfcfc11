"""The sentences of the page: first about the whole fill, then about each column."""

from __future__ import annotations

from collections.abc import Sequence

from ._text import unreached_kinds
from ._words import Summary, count, listed, name, named, number, percent

MOST = 20  # warnings of one kind
CLASSES = ("category", "boolean")
BY_OTHER_COLUMNS = ("columns", "hybrid")
PATTERNS = {
    "random": "at random",
    "rows": "with their whole rows",
    "high": "the high or rare values first",
    "region": "all around some nodes",
}
UNREACHED = {
    "columns": "were filled from their row's other columns",
    "mean": "got the column's usual value",
    "nothing": "stay missing",
}


def subject(summary: Summary) -> str:
    """The table, as its owner calls it."""
    return name(summary["input"].get("table") or "The table")


def headline(summary: Summary) -> str:
    """The page's first line."""
    missing, filled = summary["missing"], summary["filled"]
    if not missing:
        return "Nothing was missing"
    if not filled:
        return f"{count(missing, 'cell')} missing, none filled"
    if filled == missing:
        return f"All {count(missing, 'missing cell')} filled" if missing > 1 else "1 cell filled"
    return f"{filled:,} of {count(missing, 'missing cell')} filled"


def in_short(summary: Summary) -> list[str]:
    """What was filled, how far it can be trusted, and which columns the graph can infer."""
    columns, missing, filled = with_gaps(summary), summary["missing"], summary["filled"]
    size = (
        f"{named(subject(summary))} has {count(summary['rows'], 'row')} and "
        f"{count(summary['edges'], 'link')} between them."
    )
    if not columns:
        return [f"{size} No cell is missing in any of its columns."]
    sentences = [
        f"{size} {count(missing, 'cell')} in {count(len(columns), 'column')} {_were(missing)} "
        f"missing; {filled:,} {_were(filled)} filled. Known cells were not changed."
    ]
    if filled:
        sentences.append(_overall(columns))
    return sentences + _by_verdict(columns, bool(filled))


def _overall(columns: Sequence[Summary]) -> str:
    """How many of the filled cells are of inferable columns and connected to a known cell."""
    filled = sum(column["n_filled"] for column in columns)
    solid = 0
    for column in columns:
        if column["verdict"] == "inferable":
            others = column["n_unreached"] if column["unreached_got"] != "nothing" else 0
            solid += max(column["n_filled"] - others, 0)
    share = solid / max(filled, 1)
    cells = f"{solid:,} of {filled:,} filled cells ({percent(share)})"
    if share >= 0.8:
        return (
            f"Most of the result can be used, within the errors given for each column: {cells} are "
            "in columns in which linked rows resemble each other, and have known values to go by."
        )
    if share >= 0.2:
        return (
            f"How far to trust the result depends on the column: {cells} are in columns in which "
            "linked rows clearly resemble each other. Be careful with the others."
        )
    return (
        f"Treat the result with caution: only {cells} are in columns in which linked rows clearly "
        "resemble each other. The others are little more than averages."
    )


def _by_verdict(columns: Sequence[Summary], filled: bool) -> list[str]:
    sentences = []
    for verdict, form in (
        ("inferable", "The links say a lot about {}."),
        ("weakly", "The links say something, but not much, about {}: use {} with care."),
        ("not from this graph", "The links say next to nothing about {}{}."),
        ("unknown", "Too little is known of {} to tell whether the links say anything."),
    ):
        names = [named(column["name"]) for column in columns if column["verdict"] == verdict]
        if names:
            end = them = "it" if len(names) == 1 else "them"
            if verdict == "not from this graph":
                end = f": do not take what was filled into {them} for facts" if filled else ""
            sentences.append(form.format(listed(names), end))
    return sentences


def warnings(summary: Summary) -> list[str]:
    """What the reader should not miss."""
    sentences = []
    if summary["converged"] is False:
        sentences.append(
            f"The calculation stopped before it was finished, after "
            f"{count(summary['n_iter'], 'step')} and with a relative residual of "
            f"{number(summary['residual'])}: values may still change; allow more steps."
        )
    if summary["unreached"]:
        kinds = unreached_kinds(summary)
        got = [f"{n:,} {UNREACHED[kind]}" for kind, n in kinds.items()]
        if len(kinds) == 1:
            got = [f"they {UNREACHED[kind]}" for kind in kinds]
        if not summary["filled"]:
            got = ["they cannot be inferred from the graph"]
        sentences.append(
            f"{count(summary['unreached'], 'missing cell')} cannot be reached: no chain of links "
            f"leads from there to a known cell of the same column, so {listed(got)} "
            "(see the column for where they are)."
        )
    left_alone = [c for c in with_gaps(summary) if not c["verdict"] and not c["n_filled"]]
    for column in left_alone[:MOST]:
        why = f": {name(column['note'], 200)}" if column["note"] else ""
        sentences.append(
            f"{named(column['name'])} was left alone with "
            f"{count(column['n_missing'], 'missing cell')}{why}."
        )
    if left_alone[MOST:]:
        others = count(len(left_alone) - MOST, "other column")
        sentences.append(f"{others} with missing cells left alone.")
    if summary["rows_without_edge"]:
        rows = count(summary["rows_without_edge"], "row has", "rows have")
        sentences.append(f"{rows} no link to any other.")
    return sentences


def of_missing(summary: Summary, column: Summary) -> str:
    """What a column lacked, and what it got."""
    missing, filled, unreached = column["n_missing"], column["n_filled"], column["n_unreached"]
    known = column["n_known"]
    total = known + missing if known is not None else summary["rows"]
    cells = f"{missing:,} cells"
    if total >= missing:
        cells = f"{missing:,} of {total:,} cells ({percent(missing / total)})"
    text = f"{cells} {_were(missing)} missing; {filled:,} {_were(filled)} filled."
    if column["note"] and not filled:
        text += f" The column was left alone: {name(column['note'], 200)}."
    if unreached:
        usual = "most frequent value" if column["kind"] in CLASSES else "mean"
        got = {
            "columns": f"{_were(unreached)} filled from the row's other columns",
            "mean": f"got the column's {usual}",
            "nothing": "stayed missing",
        }[column["unreached_got"]]
        text += f" {count(unreached, 'cell')} could not be reached{f' and {got}' * bool(filled)}."
    return text


def of_verdict(column: Summary) -> str:
    """Whether the graph can infer a column, and how that was seen."""
    agreed = column["agreement"]
    seen = "" if agreed is None else f" (agreement {agreed:.2f}; 0 is chance, 1 is always the same)"
    text = {
        "inferable": f"Linked rows clearly resemble each other in this column{seen}.",
        "weakly": f"Linked rows resemble each other only a little in this column{seen}.",
        "not from this graph": f"Linked rows hardly resemble each other in this column{seen}: "
        "the graph says next to nothing about its missing cells.",
        "unknown": "Too few linked rows are both known in this column to tell whether they "
        "resemble each other.",
    }.get(column["verdict"], "")
    if column["verdict"] == "not from this graph" and column["chosen"] in BY_OTHER_COLUMNS:
        text += " Its cells were therefore filled with the help of the other columns."
    return text


def of_scores(column: Summary) -> str:
    """How far the chosen method was off on cells that were hidden on purpose."""
    held = column["n_held_out"]
    hidden = f"{count(held, 'known cell')} that were hidden" if held else "known cells hidden"
    by_method = {score["method"]: score for score in column["scores"]}
    ours, plain = by_method.get(column["chosen"], {}), by_method.get("mean", {})
    sentences, did = [], ""
    if ours.get("accuracy") is not None:
        did = f"the chosen method named the right value in {percent(ours['accuracy'])} of them"
        if plain.get("accuracy") is not None and plain is not ours:
            did += f", the most frequent value in {percent(plain['accuracy'])}"
    elif ours.get("mae") is not None:
        did = f"the chosen method was off by {_amount(ours['mae'], column)} on average"
        if plain.get("mae") is not None and plain is not ours:
            did += f", the column's mean by {_amount(plain['mae'], column)}"
    elif column["explained"] is not None:
        explained = percent(column["explained"])
        did = f"the fill explains {explained} of what the column's mean leaves open"
    if did:
        sentences.append(f"Tried on {hidden} on purpose, {did}.")
    if column["why"]:
        sentences.append(name(column["why"], 400))
    if column["rehearsal"]:
        sentences.append(_of_rehearsal(column, column["rehearsal"]))
    return " ".join(sentences)


def _of_rehearsal(column: Summary, tried: Summary) -> str:
    """How far off it was on cells hidden in a pattern of the user's choice."""
    score = next(s for s in tried["scores"] if s["method"] == "chosen")
    if score.get("accuracy") is not None:
        went = f"{percent(score['accuracy'])} were named right"
    else:
        went = f"it was off by {_amount(score['mae'], column)} on average"
    if tried.get("coverage") is not None:
        went += f", and {percent(tried['coverage'])} lay within what was given as sure"
    return f"On {count(tried['n'], 'known cell')} hidden {PATTERNS[tried['pattern']]}, {went}."


def of_intervals(column: Summary) -> str:
    """Whether the intervals or sets kept their promise."""
    level, coverage = column["interval_level"], column["coverage"]
    if level is None or coverage is None:
        return ""
    if "highest_level" in column:
        return f"Too few cells are known to give bounds that hold in {percent(level)} of cases."
    what = "sets of values" if column["kind"] in CLASSES else "intervals"
    text = (
        f"The {what} given with the filled cells promise to hold the truth in {percent(level)} of "
        f"cases; on hidden cells they did in {percent(coverage)}."
    )
    width, constant = column["median_width"], column["constant_width"]
    if width is not None:
        text += f" Half of them are at most {_amount(width, column)} wide"
        if constant:
            text += f"; intervals of one width for all would be {_amount(constant, column)} wide"
        text += "."
    return text


def with_gaps(summary: Summary) -> list[Summary]:
    """The columns with missing cells."""
    return [column for column in summary["columns"] if column["n_missing"]]


def _were(n: int) -> str:
    return "was" if n == 1 else "were"


def _amount(value: float | None, column: Summary) -> str:
    """A number with the column's unit."""
    return number(value) + (f" {column['unit']}" if column["unit"] else "")
