"""Count the walk of one CSV table through ``graphfill impute``.

    python benchmarks/walk.py [--list]

Fills people.csv along friends.csv of ``graphfill demo`` with default options, and lists every
function of the package once, in the order of its first call. Counts the files they stand in, and
the returns: how often the next function stands in another file, one that was left before.

What counts as a function: whatever Python calls, but for the code of modules and the package's own
``__init__.py``, which answers the import of names. Inner functions, lambdas and comprehensions are
part of the function they stand in; functions of one name in one file are one. Bodies of classes,
which run when their module is loaded, count here as Python counts them; the second line of the
output leaves them out, and everything else that is called while modules are loaded.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

CALL = "from graphfill.cli import main; raise SystemExit(main())"


class Step(NamedTuple):
    """The first call of a function: its file, its name, and whether a module was being loaded."""

    file: str
    name: str
    loading: bool


def walk(folder: Path) -> list[Step]:
    """The calls of one fill in this process, nothing of which is loaded yet but the entrance."""
    import graphfill
    from graphfill.cli import main

    package = str(Path(graphfill.__file__).parent) + os.sep
    calls: list[Step] = []

    def called(frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(package):
            return
        if code.co_name != "<module>":
            name = code.co_qualname.split(".<locals>")[0]
            file = code.co_filename.removeprefix(package)
            calls.append(Step(file, name, _is_loading(frame, package)))

    arguments = ["impute", folder / "people.csv", folder / "friends.csv", "-o", folder / "new.csv"]
    with contextlib.redirect_stdout(io.StringIO()):
        threading.setprofile(called)
        sys.setprofile(called)
        try:
            code = main([str(argument) for argument in arguments])
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
    if code:
        raise SystemExit(f"graphfill impute ended with {code}")
    return calls


def first_calls(calls: Iterable[Step]) -> list[Step]:
    """Each function once."""
    found: dict[tuple[str, str], Step] = {}
    for step in calls:
        if step.file != "__init__.py" and not step.name.startswith("<"):
            found.setdefault((step.file, step.name.rpartition(".")[2]), step)
    return list(found.values())


def returns(steps: Iterable[Step]) -> int:
    """How often the walk goes back to a file that it had left."""
    seen: set[str] = set()
    here, count = "", 0
    for step in steps:
        count += step.file != here and step.file in seen
        here = step.file
        seen.add(here)
    return count


def in_words(steps: list[Step]) -> str:
    """The three counts."""
    files = len({step.file for step in steps})
    return f"{files} files, {returns(steps)} returns, {len(steps)} functions"


def _is_loading(frame: FrameType | None, package: str) -> bool:
    """Whether a module of the package is being loaded further up."""
    while frame is not None:
        code = frame.f_code
        if code.co_name == "<module>" and code.co_filename.startswith(package):
            return True
        frame = frame.f_back
    return False


def main() -> None:
    """Make the town in a process of its own, walk, and count."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--list", action="store_true", help="print the walk, too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        demo = [sys.executable, "-c", CALL, "demo", "--folder", name, "--quiet"]
        subprocess.run(demo, check=True)
        calls = walk(folder)
    steps = first_calls(calls)
    if options.list:
        for step in steps:
            print(f"{step.file:40} {step.name}")
    print(in_words(steps))
    alone = first_calls(step for step in calls if not step.loading)
    print(f"without what runs while modules are loaded: {in_words(alone)}")


if __name__ == "__main__":
    main()
