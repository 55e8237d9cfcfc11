"""What the commands do: read, fill or survey, write, and say so."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from .. import errors, io
from ..report import _text as summary
from ..table._fill import fill_table
from ..table._options import Naming, Source, TableOptions, plain_kinds
from ..table._result import TableResult
from . import _large as outsized
from ._demo import DEMO_FILES, HIDDEN, town_scores, write_town
from ._options import STEPS, table_options
from ._progress import bar_of, byte_bar, say
from ._town import make_town


def run(options: argparse.Namespace) -> int:
    """Run the command that was asked for; return its exit code."""
    commands: dict[str, Callable[[argparse.Namespace], int]] = {
        "impute": impute,
        "check": check,
        "plan": plan,
        "demo": demo,
        "bench": bench,
        "completion": completion,
    }
    with errors.command_line():
        if "steps" in options:
            errors.check_steps_of_solver(options.steps, options.solver)
            options.steps = options.steps or STEPS
        return commands[options.command](options)


def impute(options: argparse.Namespace) -> int:
    """Fill a table from file to file."""
    output = Path(options.output)
    inputs = [Path(options.table), Path(options.edges)]
    io.check_output(output, inputs=inputs, overwrite=options.overwrite)
    _check_report(options, [*inputs, output])
    with outsized.solving(options) as propagate:
        if outsized.from_disk(options):
            return _impute_from_disk(options, propagate)
        return _impute_in_memory(options, propagate)


def _impute_from_disk(options: argparse.Namespace, propagate: Callable[..., Any]) -> int:
    with bar_of(options, "filling") as tick:
        result = outsized.fill(options, propagate, tick)
    return _done(options, result)


def _impute_in_memory(options: argparse.Namespace, propagate: Callable[..., Any]) -> int:
    began = time.perf_counter()
    output = Path(options.output)
    table, edges = _read(options)
    read = time.perf_counter()
    with bar_of(options, "filling") as tick:
        result = _fill(table, edges, table_options(options), solve=propagate, progress=tick)
    filled = time.perf_counter()
    with byte_bar(options, f"writing {output.name}") as tick:
        io.write_table(
            output,
            result.table,
            like=table,
            changed=result.filled,
            overwrite=options.overwrite,
            progress=tick,
        )
    written = time.perf_counter()
    result.seconds = {
        "read": read - began,
        **result.seconds,
        "write": written - filled,
        "total": written - began,
    }
    return _done(options, result)


def _done(options: argparse.Namespace, result: TableResult) -> int:
    """Say what was done, now that it is written."""
    said = result.summary() | {"output": str(options.output)}
    _report(options, said)
    say(options, said, lambda: summary.of_fill(said))
    return 3 if options.strict and result.converged is False else 0


def check(options: argparse.Namespace) -> int:
    """Say what a fill could do, without one."""
    _check_report(options, [Path(options.table), Path(options.edges)])
    table, edges = _read(options)
    with bar_of(options, "scoring") as tick:
        method = "propagation" if options.report is None else "auto"
        chosen = table_options(options, method=method)
        result = _fill(table, edges, chosen, fill=False, progress=tick)
    said = result.summary()
    _report(options, said)
    say(options, said, lambda: summary.of_survey(said))
    return 0


def demo(options: argparse.Namespace) -> int:
    """A town whose truth is known, through the same files and functions as any table."""
    folder = Path(options.folder)
    io.check_demo_folder(folder, DEMO_FILES)
    town = make_town(options.people, options.seed)
    hidden = town.hide(HIDDEN, options.seed)
    people, friends = write_town(folder, town, hidden)
    arguments = argparse.Namespace(**vars(options) | {"table": people, "edges": friends})
    began = time.perf_counter()
    table, edges = _read(arguments, defaults=True)
    report = folder / "report.html"
    chosen = replace(table_options(options, id="person", scores=True), details=True)
    result = _fill(table, edges, chosen)
    output = folder / "filled.csv"
    io.write_table(output, result.table, like=table, changed=result.filled, overwrite=True)
    result.seconds["total"] = time.perf_counter() - began
    scores = town_scores(town, hidden, result)
    said = result.summary() | {"output": str(output), "report": str(report), "scores": scores}
    arguments.report, arguments.overwrite = str(report), True
    _report(arguments, said)
    say(options, said, lambda: summary.of_demo(said))
    return 0


def plan(options: argparse.Namespace) -> int:
    """Say what a fill will take."""
    from . import _plan as command

    said = command.plan(options)
    say(options, said, lambda: command.in_words(said))
    return 0


def bench(options: argparse.Namespace) -> int:
    """Experiments."""
    from ..bench import _command as command

    return command.run(options)


def completion(options: argparse.Namespace) -> int:
    """Print the completion script of a shell."""
    import shtab

    from ._arguments import build_parser

    print(shtab.complete(build_parser(complete=shtab.FILE), shell=options.shell))
    return 0


# -- pieces --


def _check_report(options: argparse.Namespace, others: list[Path]) -> None:
    if options.report is not None:
        io.check_report_name(options.report)
        io.check_written_here(options.report, others, options.overwrite)


def _report(options: argparse.Namespace, said: dict[str, Any]) -> None:
    """Write the page, if one was asked for."""
    if options.report is None:
        return
    import platform
    from importlib.metadata import version

    from ..report import write_report

    names = ("graphfill", "numpy", "scipy", "scikit-learn", "pyarrow")
    said |= {
        "report": str(options.report),
        "input": {"table": str(options.table), "edges": str(options.edges)},
        "version": version("graphfill"),
        "versions": {name: version(name) for name in names} | {"python": platform.python_version()},
        "command": [Path(sys.argv[0]).name, *sys.argv[1:]],
    }
    write_report(said, options.report, overwrite=options.overwrite)


def _read(options: argparse.Namespace, defaults: bool = False) -> tuple[io.Sheet, io.Sheet]:
    reading: dict[str, Any] = {}
    edge_reading: dict[str, Any] = {}
    if not defaults:
        edge_reading = {
            "header": False if options.no_edge_header else None,
            "separator": options.edge_separator,
            "encoding": options.edge_encoding,
            "missing": options.edge_missing,
        }
        reading = {
            "missing": options.missing,
            "types": dict(options.types),
            "separator": options.separator,
            "decimal": options.decimal,
            "encoding": options.encoding,
        }
    with byte_bar(options, f"reading {Path(options.table).name}") as tick:
        table = io.read_table(options.table, progress=tick, **reading)
    with byte_bar(options, f"reading {Path(options.edges).name}") as tick:
        edges = io.read_edges(options.edges, progress=tick, **edge_reading)
    return table, edges


def _fill(table: io.Sheet, edges: io.Sheet, options: TableOptions, **how: Any) -> TableResult:
    """Fill or inspect what was read, with the files' notes before the table's own."""
    naming = Naming(
        table=table.path.name,
        edges=edges.path.name,
        row=_places(table),
        edge_row=_places(edges),
        cell_row=lambda row: f"{table.path.name}, {_places(table)(row)}",
    )
    source = Source(
        naming=naming,
        left_alone=table.left_alone,
        texts=table.texts,
        edge_texts=edges.texts,
        originals=table.originals,
        edge_originals=edges.originals,
        by_position=False,
    )
    # Which cells of a CSV file are missing was decided when they were read.
    missing = [] if table.format == "csv" else options.missing
    options = replace(options, types=plain_kinds(options.types), missing=missing)
    result = fill_table(table.table, edges.table, options, source=source, **how)
    result.notes = [*table.notes, *edges.notes, *result.notes]
    return result


def _places(sheet: io.Sheet) -> Callable[[int], str]:
    """How a row is found in its file: by line in text, by number elsewhere."""
    word = "line" if sheet.format in ("csv", "json") else "row"
    return lambda row: f"{word} {sheet.line_of(row)}"
