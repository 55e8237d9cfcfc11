"""``graphfill bench paper``: run what a table or figure takes, then write and print it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from .. import _refuse
from .._grid import run_grid
from .._results import Results
from .._runs import Run
from . import page, spectral, tables
from .experiments import EXPERIMENTS, LARGE, MIXHOP, PAPER, SETS, Scope, breadth_first, stages
from .figures import FIGURES
from .measured import Measured

DOCS = Path("docs", "paper")  # in a checkout
FOLDER = Path("graphfill-paper")  # elsewhere
INTERRUPTED = 130


def run(options: argparse.Namespace) -> int:
    """Do what was asked for; return the exit code.

    Rows that are in the results already are not run again. With nothing asked for by name, the
    first table is meant.
    """
    scope = scope_of(options)
    path, folder = places(options)
    chosen, drawn = wishes(options)
    results = Results(path)
    code = 0
    if not options.page:
        try:
            code = _run(results, chosen, scope, options)
        except KeyboardInterrupt:
            print(f"graphfill: interrupted; finished runs are in {path}, and the same command goes "
                  "on from there", file=sys.stderr)  # fmt: skip
            return INTERRUPTED
        if "spectral" in drawn and page.read_spectrum(folder) is None:
            page.write_spectrum(spectral.of_cora(), folder)
    rows = results.rows()
    # However narrow this command, files are about all that was ever run.
    everything = Measured(rows, scope if options.quick else PAPER)
    named = [name for name in tables.TABLES if name in chosen or options.all or options.page]
    if "table-2" in named and "reconstruction" not in named:
        named.append("reconstruction")  # of the same runs
    page.write_tables(everything, folder, named)
    page.write_figures(everything, folder, page.read_spectrum(folder), drawn)
    if options.all or options.page:
        print(f"{page.write_page(everything, rows, folder)} is written, of {len(rows)} runs.")
    else:
        _show(Measured(rows, scope), named, drawn, folder)
    return code


def scope_of(options: argparse.Namespace) -> Scope:
    """How much to run; names of sets are checked."""
    scope = Scope.quick() if options.quick else PAPER
    for name in options.sets or ():
        _refuse.check_name("set", name, (*SETS, *LARGE, *MIXHOP))
    if options.sets:
        scope = replace(scope, sets=tuple(options.sets))
    return scope if options.runs is None else replace(scope, runs=options.runs)


def places(options: argparse.Namespace) -> tuple[Path, Path]:
    """The results file, and the folder of what is made from it.

    Quick runs have a folder of their own: they say whether it works, and not what comes of it.
    So has what comes of a file that was named, whose own folder may hold a README of its own.
    """
    folder = DOCS if DOCS.is_dir() else FOLDER
    if options.quick:
        folder = FOLDER / "quick"
    path = folder / "runs.parquet"
    if options.results is not None:
        path = Path(options.results)
        folder = path.parent / FOLDER
    return path, folder if options.out is None else Path(options.out)


def wishes(options: argparse.Namespace) -> tuple[list[str], Sequence[str]]:
    """Experiments to run and figures to draw."""
    if options.all or options.page:
        return list(EXPERIMENTS), FIGURES
    chosen = [f"table-{number}" for number in dict.fromkeys(options.table)]
    drawn = list(dict.fromkeys(options.figure))
    if not chosen and not drawn:
        chosen = ["table-1"]
    return [*chosen, *(name for name in drawn if name in EXPERIMENTS)], drawn


def _run(results: Results, chosen: Sequence[str], scope: Scope, options: argparse.Namespace) -> int:
    """Whatever has no row yet, in the order of the stages."""
    runs = [
        Run(cell.set, cell.method, cell.model, cell.mask, cell.rate, cell.split, number,
            cell.setting)
        for stage in stages(chosen, scope)
        for cell, number in breadth_first(stage)
    ]  # fmt: skip
    grid = run_grid(runs, results, options.jobs, not options.quiet)
    for sentence in grid.sentences():
        print(f"graphfill: {sentence}", file=sys.stderr)
    return 1 if grid.failures else 0


def _show(measured: Measured, named: Sequence[str], drawn: Sequence[str], folder: Path) -> None:
    for name in named:
        table = tables.TABLES[name](measured)
        print(f"{table.title}\n\n{table.markdown()}\n")
    for name in drawn:
        path = folder / "figures" / f"{name}.svg"
        if name == "spectral":
            spectrum = page.read_spectrum(folder)
            print("" if spectrum is None else f"{spectrum.finding()}.")
        if path.exists():
            print(f"{path} is drawn.")
