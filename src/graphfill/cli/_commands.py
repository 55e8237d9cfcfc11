"""What the commands do: read, fill or survey, write, and print what was done."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from .. import errors, io
from ..links import Links
from ..report import _text as text
from ..solve import propagate_with
from ..solve._memory import parse_bytes
from ..table import TableResult
from ..table._fill import fill_table
from ..table._keeping import Keeping
from ..table._options import Naming, Source, TableOptions, plain_kinds
from ..trust import LEARNT, Solve
from . import _again as again
from . import _large as outsized
from ._options import STEPS, table_options
from ._progress import bar_of, byte_bar, say

LEAST_READ = 64 << 20  # bytes


def run(options: argparse.Namespace) -> int:
    """Run the command that was asked for; return its exit code."""
    commands = {
        command.__name__: command
        for command in (impute, check, explain, plan, app, demo, bench, completion)
    }
    with errors.command_line():
        if "steps" in options:
            if options.steps is not None and options.solver == "exact":
                raise errors.InputError(
                    f"--steps {options.steps} is given but --solver exact takes as many as it "
                    "needs: add --solver diffusion to stop after so many, or leave --steps out."
                )
            options.steps = options.steps or STEPS
        return commands[options.command](options)


def impute(options: argparse.Namespace) -> int:
    """Fill a table from file to file."""
    if options.link:
        from ._several import fill

        limit = _limit(options)
        return fill(options, partial(_read_table, options, limit), _fill)
    inputs = [Path(path) for path in input_files(options)]
    outputs = [Path(options.output), *draw_files(options)]
    for output in outputs:
        io.check_output(output, inputs=inputs, overwrite=options.overwrite)
    _check_report(options, [*inputs, *outputs])
    if options.save is not None:
        io.check_written_here(options.save, [*inputs, *outputs], options.overwrite)
    _check_keeping(options, [*inputs, *outputs])
    chosen, keeping = again.options_and_keeping(options)
    with outsized.solving(options) as solve:
        if outsized.from_disk(options):
            with bar_of(options, "filling") as tick:
                result = outsized.fill(options, solve, tick)
        else:
            result = _fill_file(options, chosen, solve, keeping)
    if options.save is not None and keeping is not None:
        with _after(options.output):
            again.save(options, chosen, keeping, result)
    _finish(options, result, text.of_fill, output=str(options.output))
    return 3 if options.strict and result.converged is False else 0


def check(options: argparse.Namespace) -> int:
    """Say what a fill could do, without one."""
    _check_report(options, input_files(options))
    _check_keeping(options, input_files(options))
    table, edges = _read(options)
    with bar_of(options, "scoring") as tick:
        method = "propagation" if options.report is None else "auto"
        chosen = table_options(options, method=method)
        result = _fill(table, edges, chosen, progress=tick, fill=False)
    _finish(options, result, text.of_survey)
    return 0


def explain(options: argparse.Namespace) -> int:
    """Fill the column of one cell, and say what that cell is made of."""
    from ..table._explain import explain_at, no_such_row, row_ids

    picture = options.picture
    if picture is not None:
        if not picture.lower().endswith(".svg"):
            raise errors.InputError(f'The picture {picture} is an SVG: give it the ending ".svg".')
        io.check_written_here(picture, input_files(options), options.overwrite)
    _check_keeping(options, input_files(options))
    table, edges = _read(options)
    errors.check_column_name(options.column, table.table.column_names, table.path.name)
    exclude = options.exclude
    if options.columns is None and options.method not in LEARNT:  # others have no part in it
        exclude = [name for name in table.table.column_names if name != options.column]
    with bar_of(options, "filling") as tick:
        result = _fill(table, edges, table_options(options, exclude=exclude), progress=tick)
    _keep_links(options, result)
    ids, text_ids = row_ids(result), table.texts.get(result.alignment.id)
    words = ids if text_ids is None else text_ids.to_pylist()
    places = {str(word).strip(): place for place, word in enumerate(words)}
    if options.row.strip() not in places:
        raise no_such_row(options.row, result.alignment.id, ids, table.path.name)
    explanation = explain_at(result, places[options.row.strip()], options.column)
    if picture is not None:
        with io.replacing(picture, options.table) as file:
            file.write(explanation.plot().encode())
    summary = explanation.summary() | {"notes": result.notes, "picture": picture}
    say(options, summary, lambda: "\n".join([str(explanation), *result.alignment.guesses]))
    return 0


def demo(options: argparse.Namespace) -> int:
    """A town whose truth is known, through the same files and functions as any table.

    Of countries the files alone are written: nobody knows what their blanks hide.
    """
    folder = Path(options.folder)
    if options.example == "countries":
        from ._countries import in_words, write_countries

        paths = write_countries(folder)
        say(options, {"files": paths}, lambda: in_words(paths))
        return 0
    from ._arguments import build_parser
    from ._town import HIDDEN, make_town

    town = make_town(options.people, options.seed)
    hidden = town.hide(HIDDEN, options.seed)
    town.write(folder, hidden)
    files = [str(folder / name) for name in ("people.csv", "friends.csv")]
    output, page = str(folder / "filled.csv"), str(folder / "report.html")
    asked = ["--id", "person", "--scores", "--report", page, "--overwrite"]
    arguments = build_parser().parse_args(["impute", *files, "-o", output, *asked])
    arguments = argparse.Namespace(**vars(arguments) | vars(options) | {"steps": STEPS})
    result = _fill_file(arguments, table_options(arguments, report_level=None))
    scores = town.scores(hidden, result.table)
    _finish(arguments, result, text.of_demo, output=output, scores=scores)
    return 0


def plan(options: argparse.Namespace) -> int:
    """Say what a fill will take."""
    from . import _plan as command

    summary = command.plan(options)
    say(options, summary, lambda: command.in_words(summary))
    return 0


def app(options: argparse.Namespace) -> int:
    """A page in the browser, which runs the commands above."""
    from ..app import serve

    return serve(options.port, not options.no_browser)


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


def _fill_file(
    options: argparse.Namespace,
    chosen: TableOptions,
    solve: Solve = propagate_with,
    keeping: Keeping | None = None,
) -> TableResult:
    """Read, fill and write."""
    began = time.perf_counter()
    output = Path(options.output)
    table, edges = _read(options)
    read = time.perf_counter()
    held = nullcontext() if keeping is None else keeping.in_use()
    with bar_of(options, "filling") as tick, held:
        result = _fill(table, edges, chosen, progress=tick, solve=solve, keeping=keeping)
    filled = time.perf_counter()
    _write(options, output, result.table, table, result)
    for number, file in enumerate(draw_files(options)):
        _write(options, file, result._drawn(number), table, result)
    written = time.perf_counter()
    writing = {"write": written - filled, "total": written - began}
    result.seconds = {"read": read - began, **result.seconds, **writing}
    return result


def _write(
    options: argparse.Namespace, path: Path, filled: Any, like: io.Sheet, result: TableResult
) -> None:
    with byte_bar(options, f"writing {path.name}") as tick:
        io.write_table(
            path,
            filled,
            like=like,
            changed=result.filled,
            overwrite=options.overwrite,
            progress=tick,
            formula_safe=options.formula_safe,
        )


def draw_files(options: argparse.Namespace) -> list[Path]:
    """The files of the completions, beside the output: filled.1.csv, filled.2.csv, ...

    >>> [str(path) for path in draw_files(argparse.Namespace(output="a.csv.gz", draws=2))]
    ['a.1.csv.gz', 'a.2.csv.gz']
    """
    output = Path(options.output)
    _, ending, compression = io.split_name(output, output=True)
    end = len(ending) + len(compression or "")
    stem, ending = output.name[:-end], output.name[-end:]
    count = vars(options).get("draws") or 0
    return [output.with_name(f"{stem}.{number}{ending}") for number in range(1, count + 1)]


def _limit(options: argparse.Namespace) -> int | None:
    limit = parse_bytes(options.memory_limit)
    # What takes less than the libraries do is not worth a refusal.
    return limit if limit is None else max(limit, LEAST_READ)


def _read_table(
    options: argparse.Namespace, limit: int | None, path: str, types: dict[str, str]
) -> io.Sheet:
    with byte_bar(options, f"reading {Path(path).name}") as tick:
        return io.read_table(
            path,
            progress=tick,
            memory_limit=limit,
            missing=options.missing,
            values=options.value,
            types=types,
            separator=options.separator,
            decimal=options.decimal,
            encoding=options.encoding,
        )


def _read(options: argparse.Namespace) -> tuple[io.Sheet, io.Sheet | None]:
    limit = _limit(options)
    table = _read_table(options, limit, options.table, dict(options.types))
    if options.edges is None:
        return table, None
    with byte_bar(options, f"reading {Path(options.edges).name}") as tick:
        edges = io.read_edges(
            options.edges,
            progress=tick,
            memory_limit=limit,
            header=False if options.no_edge_header else None,
            separator=options.edge_separator,
            encoding=options.edge_encoding,
            missing=options.edge_missing,
        )
    return table, edges


def _fill(
    table: io.Sheet, edges: io.Sheet | Links | None, options: TableOptions, **more: Any
) -> TableResult:
    """Fill or inspect what was read, with the files' notes before the table's own."""
    name = table.path.name
    naming = Naming(table=name, row=table.place, cell_row=lambda row: f"{name}, {table.place(row)}")
    source = Source(
        naming=naming,
        left_alone=table.left_alone,
        texts=table.texts,
        originals=table.originals,
        by_position=False,
        decimal=table.decimal,
    )
    if isinstance(edges, io.Sheet):
        source = replace(
            source,
            naming=replace(naming, edges=edges.path.name, edge_row=edges.place),
            edge_texts=edges.texts,
            edge_originals=edges.originals,
        )
    # Which cells of a CSV file are missing was decided when they were read.
    missing = [] if table.format == "csv" else options.missing
    values = options.values
    if table.format == "csv" and "" in options.missing:  # then what usually means missing is a word
        values = [*values, *io.MISSING]
    kinds = plain_kinds(options.types)
    options = replace(options, types=kinds, missing=missing, values=values)
    ends = edges.table if isinstance(edges, io.Sheet) else edges
    result = fill_table(table.table, ends, options, source=source, **more)
    edge_notes = edges.notes if isinstance(edges, io.Sheet) else ()
    result.notes = [*table.notes, *edge_notes, *result.notes]
    return result


def input_files(options: argparse.Namespace) -> list[str]:
    """The table and the edges, if there are any."""
    return [options.table] if options.edges is None else [options.table, options.edges]


def _check_keeping(options: argparse.Namespace, others: Sequence[Path | str]) -> None:
    """Refuse to keep links where none are made, or in a file that may not be written."""
    if options.keep_links is not None:
        if not table_options(options).links:
            raise errors.InputError(
                "--keep-links writes links that are made of the table: ask for some with --near, "
                "--same, --time or --like, or leave it out."
            )
        io.check_written_here(options.keep_links, others, vars(options).get("overwrite", False))


def _keep_links(options: argparse.Namespace, result: TableResult) -> None:
    path, overwrite = vars(options).get("keep_links"), vars(options).get("overwrite", False)
    if path is not None and result.links is not None:
        result.links.save(path, overwrite=overwrite, inputs=input_files(options))


def _check_report(options: argparse.Namespace, others: Sequence[Path | str]) -> None:
    if options.report is not None:
        if not str(options.report).lower().endswith((".html", ".htm")):
            raise errors.InputError(
                f'The report {options.report} is a web page: give it the ending ".html".'
            )
        io.check_written_here(options.report, others, options.overwrite)


@contextmanager
def _after(output: Path | str | None) -> Iterator[None]:
    """What is refused in here comes after the output was written, and says so."""
    try:
        yield
    except errors.InputError as error:
        if output is None:
            raise
        raise errors.InputError(
            f"{output} is written, but what comes after is not: {error}"
        ) from None


def _finish(
    options: argparse.Namespace, result: TableResult, worded: Callable[..., str], **more: Any
) -> None:
    """Write the page and the links, if they were asked for, and print what was done."""
    with _after(more.get("output")):
        _keep_links(options, result)
    summary = (result.summary() if options.report is None else result._report_summary()) | more
    if options.report is not None:
        import platform
        from importlib.metadata import version

        from ..report import write_report

        names = ("graphfill", "numpy", "scipy", "scikit-learn", "pyarrow")
        versions = {name: version(name) for name in names}
        summary |= {
            "report": str(options.report),
            "input": {"table": str(options.table), "edges": str(options.edges or "")},
            "version": versions["graphfill"],
            "versions": versions | {"python": platform.python_version()},
            "command": ["graphfill", *sys.argv[1:]],
        }
        inputs = input_files(options)
        with _after(more.get("output")):
            page = summary | result._pictures()
            write_report(page, options.report, overwrite=options.overwrite, inputs=inputs)
    say(options, summary, lambda: worded(summary))
