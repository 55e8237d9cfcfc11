"""From arguments to an exit code: signals, warnings and errors as one line each."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import warnings
from collections.abc import Sequence
from types import FrameType
from typing import Any

from ._arguments import build_parser, joined

REFUSED, SIGNALLED = 1, 128
ENDING = ("SIGINT", "SIGTERM", "SIGHUP")
_received: list[int] = []  # signals to end


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code: one sentence on stderr where it is not 0."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by who called: no file of ours may get its number
            setattr(sys, name, open(os.devnull, "r+"))  # noqa: SIM115
    if arguments is not None:
        return _main(arguments)
    code = _main(sys.argv[1:])
    for name in ENDING:  # all is done, and the exit code says how: a signal changes nothing
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    if code:  # Arrow's threads that were reading ahead could abort an orderly exit
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return code


def _main(arguments: Sequence[str]) -> int:
    options, before = None, None
    try:
        _received.clear()
        for name in ENDING:
            number = getattr(signal, name, signal.SIGTERM)  # Windows has no SIGHUP
            if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup has it
                signal.signal(number, _end)
        with warnings.catch_warnings():
            _warn_in_one_line()
            options = build_parser().parse_args(joined(arguments))
            before = _identity(options)
            from . import _commands as commands

            return int(commands.run(options))
    except KeyboardInterrupt:
        return _ended(options, before)
    except BrokenPipeError:  # the reader of our output went away
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return REFUSED
    except Exception as error:
        if os.environ.get("GRAPHFILL_TRACEBACK"):
            raise
        if _received:  # a library that was being loaded turned the interrupt into another error
            return _ended(options, before)
        return _say(_sentence(error), REFUSED)


def _end(number: int, frame: FrameType | None) -> None:
    """Stop at a signal: what has begun is undone on the way out."""
    _received.append(number)
    raise KeyboardInterrupt


def _ended(options: argparse.Namespace | None, before: tuple[int, int] | None) -> int:
    number = _received[0] if _received else signal.SIGINT
    word = "interrupted" if number == signal.SIGINT else "terminated"
    state = "the output had been written already"
    if _identity(options) == before:
        state = "no output was written"
    return _say(f"{word}; {state}", SIGNALLED + number)


def _identity(options: argparse.Namespace | None) -> tuple[int, int] | None:
    """Which file the output is now; a complete new one is another file."""
    try:
        status = os.stat(options.output)  # type: ignore[union-attr]
    except (AttributeError, OSError):
        return None
    return status.st_ino, status.st_mtime_ns


def _warn_in_one_line() -> None:
    """Warnings as a line each, without the source that Python would quote; ours alone."""

    def show(message: Warning | str, category: type[Warning], *rest: Any) -> None:
        _say(str(message), 0)

    if not sys.warnoptions:
        warnings.simplefilter("ignore")
        warnings.filterwarnings("default", module="graphfill", category=UserWarning)
    warnings.showwarning = show  # type: ignore[assignment]


def _say(sentence: str, code: int) -> int:
    """One line on stderr."""
    from ..errors import printable

    print(f"graphfill: {printable(sentence)}", file=sys.stderr)
    return code


def _sentence(error: Exception) -> str:
    from ..errors import InputError

    if isinstance(error, InputError):
        return str(error)
    if isinstance(error, MemoryError):
        return (
            "There is not enough memory: fill fewer columns at a time with --columns, or set "
            "--memory-limit."
        )
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror}."
    return (
        f"This should not have happened ({type(error).__name__}: {error}): please report it, with "
        "what GRAPHFILL_TRACEBACK=1 adds."
    )
