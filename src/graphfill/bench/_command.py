"""``graphfill bench``: list what there is, run it, reproduce the paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

from ..errors import InputError, option
from ._data import SETS, Files
from ._fills import is_own, versioned
from ._grid import INTERRUPTED, run_and_report
from ._masks import MASKS
from ._problem import Setting, check_name
from ._results import Results, key_of
from ._runs import Run
from ._splits import SPLITS, usual_split
from ._systems import FULL, METHODS, MODELS, WITHOUT_FEATURES, WITHOUT_MODEL
from ._table import overview

RUNS, QUICK_RUNS, QUICK_EPOCHS = 10, 2, 100


T = TypeVar("T")


@dataclass(frozen=True)
class RunOptions:
    """What to run, on which sets or files, and where its rows go."""

    sets: Sequence[str] | None = None
    methods: Sequence[str] = ("fp",)
    models: Sequence[str] = ("gcn",)
    rates: Sequence[float] = (0.99,)
    masks: Sequence[str] = ("uniform",)
    split: str | None = None
    runs: int | None = None
    quick: bool = False
    nodes: str | None = None
    edges: str | None = None
    label: str | None = None
    id: str | None = None
    jobs: int | None = None
    results: str = "runs.parquet"
    quiet: bool = False


def run(options: Any) -> int:
    """Do the task that the command line asked for, its options as attributes."""
    if options.task == "list":
        return show()
    if options.task == "paper":
        _check_installed("torch", "torch_geometric", "matplotlib")
        from ._paper import command

        return command.run(chosen(command.PaperOptions, options))
    _check_installed("torch", "torch_geometric")
    return compare(chosen(RunOptions, options))


def chosen(kind: type[T], options: Any) -> T:
    """The fields of a dataclass out of the options of the command line."""
    given = vars(options)
    return kind(**{field.name: given[field.name] for field in fields(kind)})  # type: ignore[arg-type]


def _check_installed(*packages: str) -> None:
    absent = [name for name in packages if find_spec(name) is None]
    if absent:
        raise InputError(
            f"Experiments take {' and '.join(absent)}, which is not installed: run "
            'pip install "graphfill[bench]".'
        )


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


def compare(options: RunOptions) -> int:
    """Run what was asked for and print the table."""
    runs, files = plan(options)
    results = Results(options.results)
    code = run_and_report(runs, results, options.jobs, not options.quiet, files)
    if code == INTERRUPTED:
        return code
    rows = {key_of(row): row for row in results.rows()}
    table = [rows[run.key] for run in by_cell(runs) if run.key in rows]
    if table:
        print(overview(table))
    return code


def plan(options: RunOptions) -> tuple[list[Run], dict[str, Files]]:
    """The runs that were asked for, each round of all of them before the next."""
    files = _files(options)
    for kind, names, known in (
        ("set", options.sets or (), SETS),
        ("model", options.models, MODELS),
        ("mask", options.masks, MASKS),
        ("split", [options.split] if options.split else [], SPLITS),
        ("method", [name for name in options.methods if not is_own(name)], METHODS),
    ):
        for name in names:
            check_name(kind, name, known)
    sets = [*(options.sets or ([] if files else ["cora"])), *files]
    methods = [versioned(name) if is_own(name) else name for name in options.methods]
    setting, n_runs = Setting(), options.runs or RUNS
    if options.quick:
        setting = replace(setting, max_epochs=QUICK_EPOCHS)
        n_runs = options.runs or QUICK_RUNS
    runs = []
    for number, name, method in product(range(n_runs), sets, methods):
        split = options.split or usual_split(name)
        models = [None] if method in WITHOUT_MODEL else list(options.models)
        hidden = list(product(options.masks, options.rates))
        if method in (*WITHOUT_FEATURES, *FULL):
            hidden = [("uniform", 0.0)]  # the same whatever is hidden
        runs += [
            Run(name, method, model, mask, rate, split, number, setting.usual(name, method))
            for model, (mask, rate) in product(models, hidden)
        ]
    return runs, files


def _files(options: RunOptions) -> dict[str, Files]:
    """The user's own graph by its name, if there is one; a part of one is refused."""
    given = {"nodes": options.nodes, "edges": options.edges, "label": options.label}
    absent = [option(name) for name, value in given.items() if value is None]
    if 0 < len(absent) < len(given):
        raise InputError(
            f"A graph from files takes {option('nodes')}, {option('edges')} and "
            f"{option('label')}: {' and '.join(absent)} is not given."
        )
    if options.nodes is None or options.edges is None or options.label is None:
        return {}
    nodes, edges = (str(Path(path).resolve()) for path in (options.nodes, options.edges))
    files = Files(nodes, edges, options.label, options.id)
    return {files.name: files}


def by_cell(runs: list[Run]) -> list[Run]:
    """The runs of one line of the table beside each other."""
    place = {cell: number for number, cell in enumerate(dict.fromkeys(run.cell for run in runs))}
    return sorted(runs, key=lambda run: (place[run.cell], run.run))
