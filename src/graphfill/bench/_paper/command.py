"""``graphfill bench paper``: run what a table or figure takes, then write and print it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...io import replacing
from .._grid import INTERRUPTED, run_and_report
from .._problem import check_name
from .._results import Results
from .._table import Table
from . import spectral
from .convergence import convergence
from .experiments import EXPERIMENTS, PAPER, SETS, Scope, breadth_first, stages
from .figures import CAPTIONS, FIGURES, write_figures
from .measured import Measured
from .spectral import Spectrum
from .tables import TABLES

DOCS = Path("docs", "paper")  # in a checkout
FOLDER = Path("graphfill-paper")  # elsewhere
STEPWISE = "convergence"  # a table that takes no run


def scope_of(options: Any) -> Scope:
    """How much to run; names of sets are checked."""
    scope = Scope.quick() if options.quick else PAPER
    for name in options.sets or ():
        check_name("set", name)
    if options.sets:
        scope = replace(scope, sets=tuple(options.sets))
    return scope if options.runs is None else replace(scope, runs=options.runs)


def places(options: Any) -> tuple[Path, Path]:
    """The results file, and the folder of what is made from it.

    Quick runs have a folder of their own: they test the command and not the paper. So have the
    tables of a results file that was named, whose own folder may hold another README.
    """
    folder = DOCS if DOCS.is_dir() else FOLDER
    if options.quick:
        folder = FOLDER / "quick"
    path = folder / "runs.parquet"
    if options.results is not None:
        path = Path(options.results)
        folder = path.parent / FOLDER
    return path, folder if options.out is None else Path(options.out)


def chosen(options: Any) -> tuple[list[str], Sequence[str]]:
    """Experiments to run and figures to draw; the first table if nothing is named."""
    if options.all or options.page:
        return list(EXPERIMENTS), FIGURES
    experiments = [
        f"table-{number}" for number in dict.fromkeys(options.table) if number != STEPWISE
    ]
    drawn = list(dict.fromkeys(options.figure))
    if not experiments and not drawn and not options.table:
        experiments = ["table-1"]
    return [*experiments, *(name for name in drawn if name in EXPERIMENTS)], drawn


def run(options: Any) -> int:
    """Do what was asked for, but for rows that are in the results; return the exit code."""
    scope, (path, folder) = scope_of(options), places(options)
    experiments, drawn = chosen(options)
    results = Results(path)
    code = 0
    if not options.page:
        runs = [run for stage in stages(experiments, scope) for run in breadth_first(stage)]
        code = run_and_report(runs, results, options.jobs, not options.quiet)
        if code == INTERRUPTED:
            return code
        if "spectral" in drawn and read_spectrum(folder) is None:
            write(folder / "tables" / "spectral.csv", spectral.of_cora().csv())
        if STEPWISE in options.table:
            steps = convergence(scope.sets or SETS)
            write_table(steps, folder)
            print(f"{steps.title}\n\n{steps.markdown()}\n")
    rows = results.rows()
    everything = options.all or options.page
    named = [name for name in TABLES if name in experiments or everything]
    if "table-2" in named and "reconstruction" not in named:
        named.append("reconstruction")  # of the same runs
    if "table-1" in named and "drops" not in named:
        named.append("drops")
    # The files are about all that was ever run, however little this command asks for.
    measured = Measured(rows, scope if options.quick else PAPER)
    tables = write_tables(measured, folder, named)
    write_figures(measured, folder, read_spectrum(folder), drawn)
    if everything:
        if folder != DOCS:  # whose page is written by hand
            write(folder / "README.md", page(tables, folder))
        print(f"The tables and figures of {len(rows)} runs are in {folder}.")
    else:
        _show(Measured(rows, scope), named, drawn, folder)
    return code


def write_tables(measured: Measured, folder: Path, names: Sequence[str]) -> list[Table]:
    """Each table that has rows, as Markdown and CSV."""
    tables = [table for name in names if (table := TABLES[name](measured)).rows]
    for table in tables:
        write_table(table, folder)
    return tables


def write_table(table: Table, folder: Path) -> None:
    """As Markdown and CSV."""
    write(folder / "tables" / f"{table.name}.md", f"{table.title}\n\n{table.markdown()}\n")
    write(folder / "tables" / f"{table.name}.csv", table.csv())


def page(tables: Sequence[Table], folder: Path) -> str:
    """All tables and figures, one after the other, for folders without a page of their own."""
    parts = ["# The Feature Propagation paper: tables and figures"]
    for table in tables:
        parts += [f"## {table.title}", table.markdown(), f"[CSV](tables/{table.name}.csv)"]
    for name in FIGURES:
        if (folder / "figures" / f"{name}.svg").exists():
            parts.append(f"![{CAPTIONS[name]}](figures/{name}.svg)")
    return "\n\n".join(parts) + "\n"


def read_spectrum(folder: Path) -> Spectrum | None:
    """What was computed before; drawing it again takes no run."""
    try:
        return Spectrum.from_csv((folder / "tables" / "spectral.csv").read_text("utf-8"))
    except FileNotFoundError:
        return None


def write(path: Path, text: str) -> None:
    """A text that appears whole or not at all; its folder is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as file:
        file.write(text.encode("utf-8"))


def _show(measured: Measured, named: Sequence[str], drawn: Sequence[str], folder: Path) -> None:
    for name in named:
        table = TABLES[name](measured)
        print(f"{table.title}\n\n{table.markdown()}\n")
    for name in drawn:
        path = folder / "figures" / f"{name}.svg"
        if path.exists():
            print(f"{path} is drawn.")
