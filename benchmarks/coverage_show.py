"""Tables of the benchmark of coverage, from its lines."""

from __future__ import annotations

import numpy as np

from harness import table

PATTERNS = ("rows", "high", "region")
CLOSE = 0.05

HEAD = """\
Written by `python benchmarks/coverage.py --show --write` from the runs in
benchmarks/results/coverage.jsonl (`python benchmarks/coverage.py`). Of each table a fifth of the
known cells of every column (three tenths of `us_counties`, a third of the town) was hidden and
never used for fitting, choosing or calibrating, and the default was asked for 90 % intervals and 50
draws. Figures are of all hidden cells of all seeds together. Of `county_social_capital` 12 of 57
columns of numbers were used."""
RANDOM = """\
### Intervals and draws of numbers

Cells were hidden at random. Covered is the share of the hidden cells within their intervals; the
least third is that of the cells nearest to known ones, of those farther, or of those farthest. The
width is the median over that of value +- the same everywhere: of the median column, and of the
widest. Columns within are those whose own share is from 0.88 to 0.92; but for noise, those of which
it may be (2 standard errors). Draws is the share within the 5 % and 95 % quantiles of 50 draws.
Wanted were 0.88 to 0.92, at least 0.85 in each third, and a width below 1."""
CATEGORIES = """\
### Probabilities of categories

The calibration error is the mean difference, over ten bins of probability, between how sure the
fill was and how often it was right. Probabilities that are right have the error in the column
beside it, by chance alone, on as many cells. In the set is the share of true values in the sets,
for which 90 % was asked. Wanted was an error of at most 0.03."""
BY_PATTERN = """\
### Cells missing in a pattern

Covered is the share of the hidden cells of numbers within their intervals, expected what the report
says of it. Columns within 5 points are those of which the report is right to 5 points; but for
noise, those of which it may be. Wanted was that for each table and pattern."""


def show(rows: list[dict], by_column: bool = False) -> str:
    names = list(dict.fromkeys(row["set"] for row in rows))
    of = {
        (name, pattern): [row for row in rows if (row["set"], row["pattern"]) == (name, pattern)]
        for name in names
        for pattern in ("random", *PATTERNS)
    }
    at_random = {name: of[name, "random"] for name in names if of[name, "random"]}
    parts = [HEAD, RANDOM, table(*numbers(at_random))]
    if by_column:
        parts.append(table(*columns_table(at_random)))
    parts += [CATEGORIES, table(*categories(at_random))]
    parts += [BY_PATTERN, table(*patterns({key: some for key, some in of.items() if some}))]
    return "\n\n".join(parts) + "\n"


def numbers(runs: dict[str, list[dict]]) -> tuple[list[dict], dict[str, str]]:
    heads = {"set": "table", "seeds": "seeds", "columns": "columns", "cells": "cells",
             "covered": "covered", "third": "least third", "width": "width",
             "widest": "widest column", "within": "columns within",
             "noise": "but for noise", "drawn": "draws", "drawn_third": "least third"}  # fmt: skip
    lines = []
    for name, rows in runs.items():
        by_name = together([row["columns"] for row in rows])
        if not by_name:
            continue
        cells = np.array([sum(c["cells"] for c in some) for some in by_name.values()])
        share = np.array([sum(c["covered"] for c in some) for some in by_name.values()]) / cells
        noise = 2 * np.sqrt(0.09 / cells)
        every = [column for some in by_name.values() for column in some]
        widths = [np.mean([c["narrower"] for c in some if "narrower" in c] or [np.nan])
                  for some in by_name.values()]  # fmt: skip
        within = [np.mean((share >= 0.88 - e) & (share <= 0.92 + e)) for e in (0.0, noise)]
        line = {"set": name, "seeds": len(rows), "columns": len(by_name), "cells": int(cells.sum())}
        line |= {"covered": ratio(every, "covered"), "third": least(every, "thirds")}
        line |= {"width": f"{np.nanmedian(widths):.2f}", "widest": f"{np.nanmax(widths):.2f}"}
        line |= {"within": f"{within[0]:.0%}", "noise": f"{within[1]:.0%}"}
        if all("drawn" in column for column in every):
            line |= {"drawn": ratio(every, "drawn"), "drawn_third": least(every, "drawn_thirds")}
        lines.append(line)
    return lines, heads


def columns_table(runs: dict[str, list[dict]]) -> tuple[list[dict], dict[str, str]]:
    heads = {"set": "table", "column": "column", "cells": "cells", "covered": "covered",
             "third": "least third", "width": "width", "expected": "expected",
             "drawn": "draws"}  # fmt: skip
    lines = []
    for where, rows in runs.items():
        for name, some in together([row["columns"] for row in rows]).items():
            line = {"set": where, "column": name, "cells": sum(c["cells"] for c in some)}
            line |= {"covered": ratio(some, "covered"), "third": least(some, "thirds")}
            widths = [c["narrower"] for c in some if "narrower" in c]
            line["width"] = f"{np.mean(widths):.2f}" if widths else ""
            line["expected"] = f"{np.mean([c['expected'] for c in some]):.3f}"
            line["drawn"] = ratio(some, "drawn") if "drawn" in some[0] else ""
            lines.append(line)
    return lines, heads


def categories(runs: dict[str, list[dict]]) -> tuple[list[dict], dict[str, str]]:
    heads = {"set": "table", "column": "column", "cells": "cells", "error": "calibration error",
             "chance": "by chance", "covered": "in the set"}  # fmt: skip
    lines = []
    for where, rows in runs.items():
        for name, some in together([row["categories"] for row in rows]).items():
            n, sure, right = np.sum([c["bins"] for c in some], axis=0).T
            p = np.divide(sure, n, out=np.zeros(len(n)), where=n > 0)
            chance = np.sqrt(2 / np.pi * n * p * (1 - p)).sum() / n.sum()
            line = {"set": where, "column": name, "cells": int(n.sum())}
            line |= {"error": f"{np.abs(sure - right).sum() / n.sum():.3f}",
                     "chance": f"{chance:.3f}", "covered": ratio(some, "covered")}  # fmt: skip
            lines.append(line)
    return lines, heads


def patterns(runs: dict) -> tuple[list[dict], dict[str, str]]:
    heads = {"set": "table", "pattern": "hidden", "seeds": "seeds", "covered": "covered",
             "expected": "expected", "points": "points too high",
             "close": "columns within 5 points", "noise": "but for noise"}  # fmt: skip
    lines = []
    for (name, pattern), rows in runs.items():
        columns = [column for row in rows for column in row["columns"].values()]
        if not columns:
            continue
        cells = np.array([c["cells"] for c in columns])
        truth = np.array([c["covered"] for c in columns]) / cells
        said = np.array([c["expected"] for c in columns])
        total, of_all = (float(np.average(x, weights=cells)) for x in (said, truth))
        noise = 2 * np.sqrt(said * (1 - said) / cells)
        close, likely = (np.mean(np.abs(said - truth) <= CLOSE + e) for e in (0.0, noise))
        line = {"set": name, "pattern": pattern, "seeds": len(rows), "covered": f"{of_all:.3f}"}
        line |= {"expected": f"{total:.3f}", "points": f"{100 * (total - of_all):+.1f}"}
        lines.append(line | {"close": f"{close:.0%}", "noise": f"{likely:.0%}"})
    return lines, heads


def together(runs: list[dict[str, dict]]) -> dict[str, list[dict]]:
    """By column, what each seed found."""
    names = dict.fromkeys(name for run in runs for name in run)
    return {name: [run[name] for run in runs if name in run] for name in names}


def ratio(columns: list[dict], key: str) -> str:
    return f"{sum(c[key] for c in columns) / sum(c['cells'] for c in columns):.3f}"


def least(columns: list[dict], key: str) -> str:
    inside, cells = np.array([c[key] for c in columns]).sum(axis=0).T
    return f"{(inside / cells).min():.3f}"
