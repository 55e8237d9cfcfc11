"""``graphfill bench``: list what there is, run it, reproduce the paper."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any

from ..errors import InputError, check_number, option, parameter
from ._draws import usual_split
from ._fills import is_own, versioned
from ._grid import INTERRUPTED, run_and_report
from ._own import ArrayFile, Files, Own
from ._problem import CATALOGUE, Setting, check_name
from ._results import Results, key_of
from ._runs import FULL, LABELS, WITHOUT_FEATURES, WITHOUT_MODEL, Run
from ._table import comparison, overview

RUNS, QUICK_RUNS, QUICK_EPOCHS = 10, 2, 100


def run(options: Any) -> int:
    """Do the task that the command line asked for, its options as attributes."""
    if options.task == "list":
        return show()
    figures = options.task == "paper" and (options.figure or options.all or options.page)
    drawn = ["matplotlib"] if figures else []
    absent = [name for name in ("torch", "torch_geometric", *drawn) if find_spec(name) is None]
    if absent:
        raise InputError(
            f"Experiments take {' and '.join(absent)}, which is not installed: run "
            'pip install "graphfill[bench]".'
        )
    if options.task == "paper":
        from ._paper import command

        return command.run(options)
    return compare(options)


def show() -> int:
    """Print the names that options take, a line each."""
    own = {"FILE.py:FUNCTION": "your own fill or input (examples/own_method.py)"}
    for kind in ("sets", "methods", "models", "masks", "splits"):
        print(f"{kind}:")
        for name, meaning in (CATALOGUE[kind] | (own if kind == "methods" else {})).items():
            print(f"  {name:<18} {meaning}")
    return 0


def compare(options: Any) -> int:
    """Run what was asked for and print the table."""
    runs, files = plan(options)
    results = Results(options.results)
    code = run_and_report(runs, results, options.jobs, not options.quiet, files)
    if code == INTERRUPTED:
        return code
    rows = {key_of(row): row for row in results.rows()}
    # The runs of one line of the table beside each other.
    place = {cell: number for number, cell in enumerate(dict.fromkeys(run.cell for run in runs))}
    runs.sort(key=lambda run: (place[run.cell], run.run))
    table = [rows[run.key] for run in runs if run.key in rows]
    if table:
        print(overview(table).text(options.latex))
    if table and options.against:
        differences = comparison(table, _versioned(options.against))
        print(f"\n{differences.title}\n\n{differences.text(options.latex)}")
    return code


def plan(options: Any) -> tuple[list[Run], dict[str, Own]]:
    """The runs that were asked for, each round of all of them before the next."""
    files = _own_graphs(options)
    if options.against and options.against not in options.methods:
        raise InputError(
            f"{option('against')} is {options.against!r}, which is not run: add it to "
            f"{option('methods')}."
        )
    for kind, names in (
        ("set", options.sets or ()),
        ("model", options.models),
        ("mask", options.masks),
        ("split", [options.split] if options.split else []),
        ("method", [name for name in options.methods if not is_own(name)]),
    ):
        for name in names:
            check_name(kind, name)
    sets = [*(options.sets or ([] if files else ["cora"])), *files]
    methods = [_versioned(name) for name in options.methods]
    setting = Setting(max_epochs=QUICK_EPOCHS) if options.quick else Setting()
    n_runs = options.runs or (QUICK_RUNS if options.quick else RUNS)
    runs = []
    numbers = range(options.first, options.first + n_runs)
    for number, name, method in product(numbers, sets, methods):
        split = options.split or usual_split(name)
        models = [None] if method in WITHOUT_MODEL else list(options.models)
        hidden = list(product(options.masks, options.rates))
        if method in (*WITHOUT_FEATURES, *FULL):
            hidden = [("uniform", 0.0)]  # the same whatever is hidden
        runs += [
            Run(name, method, model, mask, rate, split, number,
                _layered(setting.usual(name, method), method, options.layers))
            for model, (mask, rate) in product(models, hidden)
        ]  # fmt: skip
    return runs, files


def _layered(setting: Setting, method: str, n_layers: int | None) -> Setting:
    """The setting with so many layers, where there is a network and a number was given."""
    if n_layers is None or method in LABELS:
        return setting
    check_number(parameter("layers"), n_layers, low=2, integer=True)
    return replace(setting, n_layers=n_layers)


def _versioned(method: str) -> str:
    return versioned(method) if is_own(method) else method


def _own_graphs(options: Any) -> dict[str, Own]:
    """The user's own graphs by their names, if there are any; a part of one is refused."""
    own = [ArrayFile(str(Path(path).resolve())) for path in options.arrays or ()]
    return {graph.name: graph for graph in own} | _files(options)


def _files(options: Any) -> dict[str, Own]:
    """The graph of a table and a list of edges."""
    given = {"nodes": options.nodes, "edges": options.edges, "label": options.label}
    absent = [option(name) for name, value in given.items() if value is None]
    if 0 < len(absent) < len(given):
        raise InputError(
            f"A graph from files takes {option('nodes')}, {option('edges')} and "
            f"{option('label')}: {' and '.join(absent)} is not given."
        )
    if absent:
        return {}
    nodes, edges = (str(Path(path).resolve()) for path in (options.nodes, options.edges))
    files = Files(nodes, edges, options.label, options.id)
    return {files.name: files}
