"""A process that does runs one after the other: pickled orders on stdin, answers on stdout.

An answer is a row, or a sentence that says why there is none; before it come, every few seconds of
a long run, the epoch and the accuracy there.

``python -m graphfill.bench._worker`` is started by :mod:`graphfill.bench._grid`, which is the only
one to write to it.
"""

from __future__ import annotations

import os
import pickle
import sys
from contextlib import suppress
from importlib import import_module
from typing import Any, BinaryIO

from ..errors import InputError, command_line
from . import _snapshots as snapshots

LATE = ("graphfill.imputers", "torch", "graphfill.bench._train", "graphfill.bench._models.gcn",
        "graphfill.bench._models.sage")  # fmt: skip


def main() -> None:
    """Answer orders until there are no more."""
    # What a library or a user's method prints must not come between the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    with suppress(BrokenPipeError, KeyboardInterrupt), command_line():
        serve(sys.stdin.buffer, answers)


def serve(orders: BinaryIO, answers: BinaryIO) -> None:
    """The first order says by what system, from which files, and where a training is kept.

    Each other order is a run.
    """
    try:
        system_name, files, snapshots.folder = pickle.load(orders)
    except EOFError:
        return
    system = None

    def answer(kind: str, what: Any) -> None:
        pickle.dump((kind, what), answers)
        answers.flush()

    snapshots.listen(lambda epoch, accuracy: answer("epoch", (epoch, accuracy)))
    while True:
        try:
            run = pickle.load(orders)
        except EOFError:  # there are no more orders, or nobody to give them
            return
        try:
            if system is None:
                system = _ready(system_name)
            from ._runs import execute

            row = execute(run, files, system)
        except Exception as error:
            answer("sentence", _sentence(error))
        else:
            answer("row", row)


def _ready(system_name: str) -> Any:
    """The system, once fills know that the cores are shared by processes.

    What it loads late is loaded now: the time of an import is no part of a run's.
    """
    from . import _fills as fills
    from ._runs import SYSTEM

    fills.threads = 1
    if system_name == SYSTEM:
        for name in LATE:
            with suppress(ImportError):  # the run that needs it reports it
                import_module(name)
    return fills.load_function(system_name)


def _sentence(error: Exception) -> str:
    if isinstance(error, InputError):
        return str(error)
    if os.environ.get("GRAPHFILL_TRACEBACK"):
        import traceback

        return "".join(traceback.format_exception(error))
    return f"It failed ({type(error).__name__}: {error}); GRAPHFILL_TRACEBACK=1 tells where."


if __name__ == "__main__":
    main()
