"""``graphfill bench``: list what there is, run it, reproduce the paper."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from itertools import product
from pathlib import Path

from . import _refuse
from ._data import SETS, Files
from ._fills import is_own, versioned
from ._grid import run_grid
from ._masks import MASKS
from ._overview import overview
from ._problem import Setting
from ._protocol import usual_setting, usual_split
from ._results import Results, key_of
from ._runs import Run
from ._splits import SPLITS
from ._systems import FULL, METHODS, MODELS, WITHOUT_FEATURES, WITHOUT_MODEL

RUNS, QUICK_RUNS, QUICK_EPOCHS = 10, 2, 100
INTERRUPTED = 130


def run(options: argparse.Namespace) -> int:
    """Do the task that was asked for; return the exit code."""
    if options.task == "list":
        return show()
    if options.task == "paper":
        _refuse.check_installed(("torch", "torch_geometric", "matplotlib"))
        from ._paper import command

        return int(command.run(options))
    _refuse.check_installed(("torch", "torch_geometric"))
    return compare(options)


def show() -> int:
    """Print the names that options take, a line each."""
    kinds = {
        "sets": SETS,
        "methods": METHODS | {"FILE.py:FUNCTION": "your own fill (examples/own_method.py)"},
        "models": MODELS,
        "masks": MASKS,
        "splits": SPLITS,
    }
    for kind, names in kinds.items():
        print(f"{kind}:")
        for name, meaning in names.items():
            print(f"  {name:<18} {meaning}")
    return 0


def compare(options: argparse.Namespace) -> int:
    """Run what was asked for and print the table."""
    runs, files = plan(options)
    results = Results(options.results)
    try:
        grid = run_grid(runs, results, options.jobs, not options.quiet, files=files)
    except KeyboardInterrupt:
        print(f"graphfill: interrupted; finished runs are in {results.path}, and the same command "
              "goes on from there", file=sys.stderr)  # fmt: skip
        return INTERRUPTED
    rows = {key_of(row): row for row in results.rows()}
    table = [rows[run.key] for run in by_cell(runs) if run.key in rows]
    if table:
        print(overview(table))
    for sentence in grid.sentences():
        print(f"graphfill: {sentence}", file=sys.stderr)
    return 1 if grid.failures else 0


def plan(options: argparse.Namespace) -> tuple[list[Run], dict[str, Files]]:
    """The runs that were asked for, each round of all of them before the next."""
    _refuse.check_files_together(options.nodes, options.edges, options.label)
    files = {}
    if options.nodes is not None:
        nodes, edges = (str(Path(path).resolve()) for path in (options.nodes, options.edges))
        own = Files(nodes, edges, options.label, options.id)
        files = {own.name: own}
    for kind, names, known in (
        ("set", options.sets or (), SETS),
        ("model", options.models, MODELS),
        ("mask", options.masks, MASKS),
        ("split", [options.split] if options.split else [], SPLITS),
        ("method", [name for name in options.methods if not is_own(name)], METHODS),
    ):
        for name in names:
            _refuse.check_name(kind, name, known)
    sets = [*(options.sets or ([] if files else ["cora"])), *files]
    methods = [versioned(name) if is_own(name) else name for name in options.methods]
    setting, n_runs = Setting(), options.runs or RUNS
    if options.quick:
        setting = replace(setting, max_epochs=QUICK_EPOCHS)
        n_runs = options.runs or QUICK_RUNS
    runs = []
    for number, name, method in product(range(n_runs), sets, methods):
        split = options.split or usual_split(name)
        models = [None] if method in WITHOUT_MODEL else options.models
        hidden = list(product(options.masks, options.rates))
        if method in (*WITHOUT_FEATURES, *FULL):
            hidden = [("uniform", 0.0)]  # the same whatever is hidden
        how = usual_setting(name, method, setting)
        runs += [
            Run(name, method, model, mask, rate, split, number, how)
            for model, (mask, rate) in product(models, hidden)
        ]
    return runs, files


def by_cell(runs: list[Run]) -> list[Run]:
    """The runs of one line of the table beside each other."""
    cells = list(dict.fromkeys(replace(run, run=0) for run in runs))
    place = {cell: number for number, cell in enumerate(cells)}
    return sorted(runs, key=lambda run: (place[replace(run, run=0)], run.run))
