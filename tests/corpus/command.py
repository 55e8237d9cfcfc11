"""The command line as a process of its own, in a folder of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CALL = "from graphfill.cli import main; raise SystemExit(main())"
SECONDS = re.compile(r"\b\d+(?:\.\d+)? (?:s|ms|minutes|hours)\b")
INSTALL = re.compile(r"^graphfill: graphfill was installed without .*\n", re.MULTILINE)
LIMIT = 120  # seconds after which a command is given up


@contextmanager
def folder() -> Iterator[Path]:
    """A temporary folder to work in."""
    with tempfile.TemporaryDirectory(prefix="corpus-") as name:
        yield Path(name).resolve()


def graphfill(place: Path, *arguments: str) -> dict[str, str]:
    """Run the command there: what it printed, what it said on stderr, and its exit code."""
    hidden = ("PYTHONWARNINGS", "GRAPHFILL_TRACEBACK")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    done = subprocess.run(
        [sys.executable, "-c", CALL, *arguments],
        cwd=place,
        env=environment | {"COLUMNS": "100", "PYTHONUTF8": "1", "PYTHONSAFEPATH": "1"},
        capture_output=True,
        text=True,
        timeout=LIMIT,
    )
    said = {"code": str(done.returncode), "stdout": plain(done.stdout, place)}
    complaints = INSTALL.sub("", done.stderr)
    return said | ({"stderr": plain(complaints, place)} if complaints else {})


def plain(text: str, place: Path) -> str:
    """The text without what differs between machines: folders and times."""
    return SECONDS.sub("<time>", text.replace(str(place), "<folder>"))
