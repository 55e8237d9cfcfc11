"""What the commands show while they work, and print when they are done."""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..errors import InputError, printable
from ..report._words import finite


@contextmanager
def bar_of(options: argparse.Namespace, stage: str) -> Iterator[Callable[[float], None]]:
    """A progress bar with the time left, for stages that take more than a second.

    Or, with GRAPHFILL_PROGRESS=lines, a line on stderr for each percent, for programs to read.
    """
    if os.environ.get("GRAPHFILL_PROGRESS") == "lines":
        yield _in_lines(stage)
        return
    from tqdm import tqdm

    with tqdm(
        total=1.0,
        desc=printable(stage),
        delay=1.0,
        leave=False,
        disable=options.quiet or not sys.stderr.isatty(),
        bar_format="{desc} {percentage:3.0f}% |{bar:30}| {elapsed} so far, {remaining} left",
    ) as bar:
        yield bar.update


def _in_lines(stage: str) -> Callable[[float], None]:
    done, said = 0.0, -1

    def tick(share: float) -> None:
        nonlocal done, said
        done += share
        if int(100 * done) > said:
            said = int(100 * done)
            print(f"progress: {printable(stage)} {min(done, 1.0):.2f}", file=sys.stderr, flush=True)

    return tick


@contextmanager
def byte_bar(
    options: argparse.Namespace, stage: str
) -> Iterator[Callable[[int, int | None], None]]:
    """The same for work that counts what is done; the total is None where it is not known."""
    with bar_of(options, stage) as tick:
        shown = 0.0

        def counted(done: int, total: int | None) -> None:
            nonlocal shown
            share = done / total if total else 0.0
            tick(max(0.0, share - shown))
            shown = max(shown, share)

        yield counted


def say(options: argparse.Namespace, summary: dict[str, Any], worded: Callable[[], str]) -> None:
    """Print what was done: as JSON, for people to read, or not at all."""
    if options.json:
        text = json.dumps(finite(summary), default=str, allow_nan=False)
    elif not options.quiet:
        text = printable(worded(), keep="\n")
    else:
        return
    # Not every terminal has every letter: a name in a summary is no reason to fail.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        print(text, flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        output = summary.get("output")
        rest = "" if output is None else f", but {output} is written"
        raise InputError(f"The summary cannot be printed ({error.strerror}){rest}.") from None
