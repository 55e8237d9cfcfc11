"""Several files whose rows name each other's, filled in one run into a folder."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from .. import io
from ..errors import InputError
from ..report import _text as text
from ..table import TableResult
from ..table._several import Tables, beside, without
from ._options import table_options
from ._progress import say

# What is about one table or its edges.
ALONE = {
    "near": "--near", "same": "--same", "like": "--like", "time": "--time", "report": "--report",
    "keep_links": "--keep-links", "save": "--save", "load": "--load", "draws": "--draws",
    "engine": "--engine", "id": "--id", "columns": "--columns",
}  # fmt: skip

Fill = Callable[..., TableResult]
Read = Callable[[str, dict[str, str]], io.Sheet]


def fill(options: argparse.Namespace, read: Read, fill_one: Fill) -> int:
    """Read all files, fill each and write it under its own name into the folder of the output."""
    import narwhals as nw

    _check(options)
    paths = _paths(options)
    folder = Path(options.output)
    outputs = {name: folder / name for name in paths}
    _check_folder(folder)
    if folder.exists():
        _check_outputs(options, paths, outputs)
    sheets = {name: _read(options, path, read) for name, path in paths.items()}
    frames = {name: nw.from_native(sheet.table, eager_only=True) for name, sheet in sheets.items()}
    tables = Tables(frames, {name: sheet.texts for name, sheet in sheets.items()})
    for path, column, other in options.link:
        tables.add(Path(path).name, column, Path(other or options.table).name)
    if not folder.exists():
        _make(folder)
        _check_outputs(options, paths, outputs)
    summaries, words, converged = {}, [], True
    for name, sheet in sheets.items():
        result = _fill(options, tables, sheet, fill_one)
        io.write_table(outputs[name], result.table, like=sheet, changed=result.filled,
                       overwrite=options.overwrite)  # fmt: skip
        summaries[name] = result.summary() | {"output": str(outputs[name])}
        words.append(f"{name}: {text.of_fill(summaries[name])}")
        converged = converged and result.converged is not False
    say(options, {"tables": summaries, "notes": tables.notes},
        lambda: "\n\n".join([*words, *tables.notes]))  # fmt: skip
    return 3 if options.strict and not converged else 0


def _fill(
    options: argparse.Namespace, tables: Tables, sheet: io.Sheet, fill_one: Fill
) -> TableResult:
    name = sheet.path.name
    extra, kept = tables.extra(name), sheet.table.column_names
    asked = [one for one in options.exclude if one in kept]
    exclude = [*dict.fromkeys([*asked, *tables.key_columns(name), *extra])]
    types = [(column, kind) for column, kind in options.types if column in kept]
    chosen = table_options(options, id=tables.ids.get(name), exclude=exclude, types=types)
    wide = replace(sheet, table=beside(tables.frames[name], extra))
    result = without(fill_one(wide, tables.links(name), chosen), extra)
    result.seconds["total"] = sum(result.seconds.values())
    return result


def _paths(options: argparse.Namespace) -> dict[str, str]:
    """The files by their names, the table first."""
    named = [options.table, *(path for key in options.link for path in (key[0], key[2]) if path)]
    paths: dict[str, str] = {}
    for path in named:
        name = Path(path).name
        if Path(paths.setdefault(name, path)) != Path(path):
            raise InputError(
                f"{paths[name]} and {path} would both be written as {name}: rename one of them."
            )
    return paths


def _read(options: argparse.Namespace, path: str, read: Read) -> io.Sheet:
    """One file, with the kinds of its own columns."""
    if not options.types:
        return read(path, {})
    columns = read(path, {}).table.column_names
    return read(path, {name: kind for name, kind in options.types if name in columns})


def _check_outputs(
    options: argparse.Namespace, paths: dict[str, str], outputs: dict[str, Path]
) -> None:
    inputs = [Path(path) for path in paths.values()]
    for output in outputs.values():
        io.check_output(output, inputs=inputs, overwrite=options.overwrite)


def _check_folder(folder: Path) -> None:
    if folder.suffix or folder.is_file():
        raise InputError(
            f"With --link several files are written: name a folder with --output, not {folder}."
        )


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise InputError(
            f"The folder {folder} cannot be made ({error.strerror}): name another with --output."
        ) from None


def _check(options: argparse.Namespace) -> None:
    """Refuse what is about one table alone."""
    given: dict[str, Any] = vars(options)
    named = next((word for name, word in ALONE.items() if given.get(name)), None)
    if options.edges is not None:
        named = f"A file of edges ({options.edges})"
    if named is not None:
        raise InputError(
            f"{named} is about one table, and --link fills several: leave one of them out."
        )
