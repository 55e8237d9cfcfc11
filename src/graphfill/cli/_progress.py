"""What the commands show while they work, and say when they are done."""

from __future__ import annotations

import argparse
import io
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..io import unprintable


@contextmanager
def bar_of(options: argparse.Namespace, stage: str) -> Iterator[Callable[[float], None]]:
    """A progress bar with the time left, for stages that take more than a second."""
    from tqdm import tqdm

    with tqdm(
        total=1.0,
        desc=stage,
        delay=1.0,
        leave=False,
        disable=options.quiet or not sys.stderr.isatty(),
        bar_format="{desc} {percentage:3.0f}% |{bar:30}| {elapsed} so far, {remaining} left",
    ) as bar:
        yield bar.update


@contextmanager
def byte_bar(
    options: argparse.Namespace, stage: str
) -> Iterator[Callable[[int, int | None], None]]:
    """The same for work that counts what is done, and knows of how much in all or not."""
    with bar_of(options, stage) as tick:
        shown = 0.0

        def counted(done: int, total: int | None) -> None:
            nonlocal shown
            share = done / total if total else 0.0
            tick(max(0.0, share - shown))
            shown = max(shown, share)

        yield counted


def say(options: argparse.Namespace, said: dict[str, Any], readable: Callable[[], str]) -> None:
    """Print what was done: as JSON, for people to read, or not at all."""
    if options.json:
        text = json.dumps(_finite(said), default=_plain, allow_nan=False)
    elif not options.quiet:
        text = readable()
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
        raise unprintable(error, said.get("output")) from None


def _finite(value: Any) -> Any:
    """The same with None in place of NaN and infinities, which JSON does not have."""
    if isinstance(value, dict):
        return {key: _finite(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(entry) for entry in value]
    if isinstance(value, (float, np.floating)):
        return float(value) if np.isfinite(value) else None
    return value


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else str(value)
