"""Held-out scores and intervals on cells never seen: graphfill against scikit-learn's imputers.

    python benchmarks/trust.py run [--sets us_counties town ...] [--seeds 20]
    python benchmarks/trust.py report

`run` hides 30 % of the known cells of each table, fills them by every method and by `auto` with
90 % intervals, and writes one line per set and seed to results/trust.jsonl; a finished line is
not run again, so that an interrupted run resumes. `report` prints the
tables and writes them into docs/trust.md.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import warnings
from pathlib import Path

import numpy as np

from harness import write_part

os.environ.setdefault("OMP_NUM_THREADS", "1")  # two processes share the cores better than threads
HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests"))

LEVEL, HIDDEN = 0.9, 0.3
BINS = 10
RESULTS = HERE / "results" / "trust.jsonl"
SKLEARN_SEEDS = {"debian_bookworm": 1}
CLASS_SEEDS = {"debian_bookworm": 5}  # its 58 sections take minutes
MOST_DONORS = 10_000
METHODS = (
    "mean", "neighbors", "propagation", "diffusion", "propagation-sym", "diffusion-sym",
    "columns-linear", "columns-stacked", "columns", "hybrid-linear", "hybrid-stacked", "hybrid",
)  # fmt: skip
SKLEARN = ("SimpleImputer", "KNNImputer", "IterativeImputer")


def tables() -> dict:
    """The sets by name: functions that return a table and its edges."""
    from real_tables import TABLES, electric, town

    return TABLES | {"electric": electric, "town": town}


def run_one(name: str, seed: int) -> dict:
    """Scores of every method, column by column, on the hidden cells of one draw."""
    import narwhals as nw
    from real_tables import hide

    from graphfill.solve import propagate_with
    from graphfill.table._alignment import align
    from graphfill.table._columns import open_column
    from graphfill.table._inspect import column_agreement
    from graphfill.table._options import Source, TableOptions
    from graphfill.trust import FillOptions, fill_columns
    from graphfill.trust._features import distance_to_known
    from graphfill.trust._hiding import _by_recipe

    truth, edges = tables()[name]()
    seen, hidden = hide(truth, HIDDEN, seed)
    ids = TableOptions(id=truth.column_names[0])
    aligned = align(nw.from_native(seen, eager_only=True), edges, ids, Source())
    if aligned.order is not None:  # rows in the order of the graph's nodes
        truth, seen = truth.take(aligned.order), seen.take(aligned.order)
        hidden = {n: cells[aligned.order] for n, cells in hidden.items()}
    frame, graph = nw.from_native(seen, eager_only=True), aligned.graph
    columns = {n: open_column(frame.get_column(n)) for n in truth.column_names[1:]}
    columns = {n: c for n, c in columns.items() if c.n_channels}
    informative = {n: column_agreement(c, graph, seed).beyond_chance for n, c in columns.items()}
    start = time.perf_counter()
    wanted = [n for n, c in columns.items() if not c.is_class or seed < CLASS_SEEDS.get(name, 99)]
    options = FillOptions(method="auto", intervals=LEVEL, seed=seed)
    fills, _ = fill_columns(columns, wanted, graph, lambda: informative, options)
    plain = _by_recipe(columns, fills, graph, options, propagate_with)
    row = {"set": name, "seed": seed, "columns": {}}
    for column_name, fill in fills.items():
        one = fill.assessment
        if one is None:
            continue
        column, sure, filled = columns[column_name], fill.bounds, fill.predictions
        rows = np.flatnonzero(hidden[column_name])
        place = np.searchsorted(one.target.missing, rows)
        actual = true_levels(column, frame, truth, column_name, rows)
        alternatives = plain[column_name] | one.learnt
        steps = distance_to_known(graph, ~column.missing)[rows]
        said = {
            "chosen": one.chosen,
            "informative": informative[column_name],
            "classes": one.target.n_classes,
            "n": len(rows),
            "test": {m: error(one.target.n_classes, p[place], actual)
                     for m, p in alternatives.items()},
        }  # fmt: skip
        said["test"]["auto"] = error(one.target.n_classes, filled[place], actual)
        if one.target.n_classes:
            right = filled[place].argmax(axis=1) == actual
            said["bins"] = calibration_bins(sure.probability[place], right)
        else:
            inside = (actual >= sure.low[place]) & (actual <= sure.high[place])
            said["covered"] = float(inside.mean())
            said["thirds"] = [
                [int(inside[part].sum()), len(part)]
                for part in np.array_split(np.argsort(steps, kind="stable"), 3)
            ]
            said["width"] = float(np.median(sure.high[place] - sure.low[place]))
            said["constant_width"] = sure.constant_width
        row["columns"][column_name] = said
    row["seconds"] = time.perf_counter() - start
    if seed < SKLEARN_SEEDS.get(name, 10):
        add_sklearn(row, columns, frame, truth, hidden)
    return row


def true_levels(column, frame, truth, name, rows) -> np.ndarray:
    """The truth of hidden cells in the column's levels; -1 for a class that is not seen at all."""
    levels, known = column.levels(), np.flatnonzero(~column.missing)
    values = truth[name].to_pylist()
    if column.is_class:
        number = {values[row]: levels[row] for row in known}
        return np.array([number.get(values[row], -1.0) for row in rows])
    numbers = np.array([np.nan if v is None else float(v) for v in values])
    ends = known[[np.argmin(numbers[known]), np.argmax(numbers[known])]]
    slope = np.diff(levels[ends])[0] / np.diff(numbers[ends])[0] if len(set(ends)) > 1 else 0.0
    return levels[ends[0]] + slope * (numbers[rows] - numbers[ends[0]])


def error(classes: int, predicted: np.ndarray, actual: np.ndarray) -> float:
    """Root mean squared error in standard deviations, or share of wrong classes."""
    if classes:
        return float(np.mean(predicted.argmax(axis=1) != actual))
    return float(np.sqrt(np.mean((predicted[:, 0] - actual) ** 2)) / np.std(actual))


def calibration_bins(sure: np.ndarray, right: np.ndarray) -> list[list[float]]:
    """Per bin of probability: cells, sum of probabilities, number right."""
    at = np.minimum((sure * BINS).astype(int), BINS - 1)
    return [[int((at == b).sum()), float(sure[at == b].sum()), int(right[at == b].sum())]
            for b in range(BINS)]  # fmt: skip


def add_sklearn(row, columns, frame, truth, hidden) -> None:
    """The same scores for scikit-learn's imputers on the same cells; classes as indicators."""
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer

    blocks, places, at = [], {}, 0
    for name, column in columns.items():
        levels = column.levels()
        block = levels[:, None]
        if column.is_class:
            block = np.equal(levels[:, None], np.arange(column.n_classes)).astype(float)
            block[column.missing] = np.nan
        blocks.append(block)
        places[name] = slice(at, at + block.shape[1])
        at += block.shape[1]
    X = np.concatenate(blocks, axis=1)
    some = np.sort(np.random.default_rng(0).permutation(len(X))[:MOST_DONORS])
    for imputer in (SimpleImputer(), KNNImputer(), IterativeImputer(max_iter=20, random_state=0)):
        # Neighbours are searched for and among some rows: for all 63,436 it takes hours.
        part = some if isinstance(imputer, KNNImputer) else np.arange(len(X))
        filled = imputer.fit_transform(X[part])
        for name, column in columns.items():
            places_of_hidden = np.flatnonzero(hidden[name][part])
            actual = true_levels(column, frame, truth, name, part[places_of_hidden])
            value = error(column.n_classes, filled[places_of_hidden, places[name]], actual)
            row["columns"][name]["test"][type(imputer).__name__] = value


def run(options) -> None:
    """Run what is not there yet, a line at a time."""
    done = {(row["set"], row["seed"]) for row in read()}
    todo = [(name, seed) for seed in range(options.seeds) for name in options.sets
            if (name, seed) not in done and seed % options.of == options.part]  # fmt: skip
    RESULTS.parent.mkdir(exist_ok=True)
    for number, (name, seed) in enumerate(todo):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            row = run_one(name, seed)
        with RESULTS.open("a") as file:
            file.write(json.dumps(row, default=float) + "\n")
        print(f"{number + 1}/{len(todo)} {name} {seed}: {row['seconds']:.0f} s", flush=True)


def read() -> list[dict]:
    if not RESULTS.exists():
        return []
    return [json.loads(line) for line in RESULTS.read_text().splitlines()]


# -- tables --

HEAD = """\
Written by `python benchmarks/trust.py report` from the runs in benchmarks/results/trust.jsonl
(`python benchmarks/trust.py run`). Of each table 30 % of the known cells were hidden and never
used for fitting, choosing or calibrating; all figures are of those cells, averaged over the seeds.
"""


def report() -> None:
    """Coverage, calibration, and every method's error, by column, into docs/trust.md."""
    by_column: dict = {}
    for row in read():
        for name, said in row["columns"].items():
            by_column.setdefault((row["set"], name), []).append(said)
    lines = [HEAD, *coverage(by_column), *calibration(by_column), *errors(by_column),
             *explained(by_column)]  # fmt: skip
    text = "\n".join(lines) + "\n"
    print(text)
    write_part("trust.md", text)


def coverage(by_column: dict) -> list[str]:
    """Share of hidden numbers within their 90 % intervals."""
    lines = [
        "### 90 % intervals of numbers",
        "",
        "Covered: of all hidden cells; of the third of them (near, farther, farthest from a known",
        "cell) that is covered least. Width: median over that of value +- the same everywhere.",
        "Wanted: 0.88 to 0.92, at least 0.85, below 1.",
        "",
        "| table | column | seeds | covered | least third | width | |",
        "|---|---|---|---|---|---|---|",
    ]
    for (where, name), runs in by_column.items():
        if "covered" not in runs[0]:
            continue
        covered = np.mean([r["covered"] for r in runs])
        thirds = np.sum([r["thirds"] for r in runs], axis=0)
        least = (thirds[:, 0] / thirds[:, 1]).min()
        plain = np.mean([r["constant_width"] for r in runs])
        width = np.mean([r["width"] for r in runs]) / plain
        missed = [word for word, ok in (
            ("coverage", 0.88 <= covered <= 0.92), ("third", least >= 0.85), ("width", width < 1),
        ) if not ok]  # fmt: skip
        note = f"missed: {', '.join(missed)}" if missed else ""
        lines.append(f"| {where} | {name} | {len(runs)} | {covered:.3f} | {least:.3f} | "
                     f"{width:.2f} | {note} |")  # fmt: skip
    return lines


def calibration(by_column: dict) -> list[str]:
    """How far probabilities are from the share right, over ten bins."""
    lines = ["", "### Probabilities of categories", "", "Wanted: a calibration error of at most "
             "0.03.", "", "| table | column | seeds | calibration error | |",
             "|---|---|---|---|---|"]  # fmt: skip
    for (where, name), runs in by_column.items():
        if "bins" in runs[0]:
            bins = np.sum([r["bins"] for r in runs], axis=0)
            off = np.abs(bins[:, 1] - bins[:, 2]).sum() / bins[:, 0].sum()
            note = "" if off <= 0.03 else "missed"
            lines.append(f"| {where} | {name} | {len(runs)} | {off:.3f} | {note} |")
    return lines


def errors(by_column: dict) -> list[str]:
    """RMSE in standard deviations, or share wrong; auto against the best single method."""
    methods = [*METHODS, "auto", *SKLEARN]
    lines = ["", "### Every method", "", "RMSE in standard deviations of the hidden cells, or "
             "share of wrong categories, averaged over the seeds",
             "that tried every method shown in the row; a method that fewer than half of a "
             "column's seeds tried is left",
             "out of its row, and named below. Auto to best: auto's score over that of the best "
             "single method (RMSE; for",
             "categories the share right), each pair on the seeds that tried both.", "",
             "| table | column | seeds | " + " | ".join(methods) + " | auto to best | chosen |",
             "|" + "---|" * (len(methods) + 5)]  # fmt: skip
    better = {name: [0, 0] for name in SKLEARN}
    left_out = []
    for (where, name), runs in by_column.items():
        tried = {m: sum(m in r["test"] for r in runs) for m in methods}
        shown = [m for m in methods if 2 * tried[m] >= len(runs)]
        left_out += rarely_tried(where, name, runs, [m for m in methods if m not in shown])
        common = [r["test"] for r in runs if all(m in r["test"] for m in shown)]
        mean = {m: np.mean([test[m] for test in common]) for m in shown}
        ratio = to_best(runs, [m for m in shown if m not in ("auto", *SKLEARN)])
        chosen = [r["chosen"] for r in runs]
        often = max(set(chosen), key=chosen.count)
        cells = " | ".join(f"{mean[m]:.3f}" if m in mean else "" for m in methods)
        lines.append(f"| {where} | {name} | {len(common)} | {cells} | {ratio:.3f} | "
                     f"{often} {chosen.count(often)}/{len(runs)} |")  # fmt: skip
        if np.mean([r["informative"] for r in runs]) > 0.5:
            for peer in SKLEARN:
                both = [r["test"] for r in runs if peer in r["test"]]
                ours, theirs = (np.mean([t[m] for t in both] or [0]) for m in ("auto", peer))
                better[peer][0] += bool(ours < theirs)
                better[peer][1] += bool(both)
    lines.append("")
    for peer, (won, of) in better.items():
        lines.append(f"- auto is better than {peer} on {won} of {of} columns in which neighbours "
                     "agree (on the seeds that tried both).")  # fmt: skip
    lines += [
        "",
        f"KNNImputer was given {MOST_DONORS:,} rows, drawn at random, where there are more.",
    ]
    if left_out:
        lines += ["", "Left out, with their scores on the seeds that did try them:", "", *left_out]
    return lines


def rarely_tried(where: str, name: str, runs: list, methods: list[str]) -> list[str]:
    """A line for each set of seeds that alone tried some of the methods, beside auto on these."""
    by_seeds: dict = {}
    for method in methods:
        seeds = tuple(k for k, r in enumerate(runs) if method in r["test"])
        if seeds:
            by_seeds.setdefault(seeds, []).append(method)
    lines = []
    for seeds, tried in by_seeds.items():
        scores = [f"{m} {np.mean([runs[k]['test'][m] for k in seeds]):.3f}"
                  for m in (*tried, "auto")]  # fmt: skip
        lines.append(f"- {where}, {name}, {len(seeds)} of {len(runs)} seeds: {', '.join(scores)}.")
    return lines


def to_best(runs: list, methods: list[str]) -> float:
    """Auto's score over that of the single method that it compares worst with."""
    ratios = []
    for method in methods:
        both = [(r["test"]["auto"], r["test"][method]) for r in runs if method in r["test"]]
        ours, theirs = np.mean(both, axis=0)
        ratios.append((1 - ours) / (1 - theirs) if runs[0]["classes"] else ours / theirs)
    return min(ratios) if runs[0]["classes"] else max(ratios)


def explained(by_column: dict) -> list[str]:
    """R2 of numbers, mean over the seeds that all four ran."""
    methods = ("propagation", "KNNImputer", "IterativeImputer", "auto")
    lines = ["", "### R2 on hidden cells", "", "| table | column | seeds | " + " | ".join(methods)
             + " |", "|" + "---|" * (len(methods) + 3)]  # fmt: skip
    for (where, name), runs in by_column.items():
        full = [r["test"] for r in runs if all(m in r["test"] for m in methods)]
        if full and not runs[0]["classes"]:
            values = [np.mean([1 - t[m] ** 2 for t in full]) for m in methods]
            cells = " | ".join(f"{value:.3f}" for value in values)
            lines.append(f"| {where} | {name} | {len(full)} | {cells} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("run", "report"))
    parser.add_argument("--sets", nargs="+", default=None)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--part", type=int, default=0, help="of --of: seeds shared by processes")
    parser.add_argument("--of", type=int, default=1)
    options = parser.parse_args()
    options.sets = options.sets or list(tables())
    run(options) if options.what == "run" else report()


if __name__ == "__main__":
    main()
