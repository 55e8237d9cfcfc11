"""The command as it is installed, beside the interpreter that runs the tests."""

import os
import subprocess
import sys
from pathlib import Path

GRAPHFILL = Path(sys.executable).with_name("graphfill")
# An install without compiled kernels warns of it, which is not what is tested.
ENVIRONMENT = os.environ | {"PYTHONWARNINGS": "ignore"}


def graphfill(*arguments, **options):
    """Run the command; text in and out."""
    settings = {"capture_output": True, "text": True, "timeout": 120, "env": ENVIRONMENT}
    return subprocess.run([GRAPHFILL, *map(str, arguments)], **settings | options)


def contents(folder):
    """Everything in a folder: bytes of files, targets of links, kinds of other things."""
    found = {}
    for path in sorted(Path(folder).rglob("*")):
        kind = "link" if path.is_symlink() else "folder" if path.is_dir() else "other"
        what = os.readlink(path) if path.is_symlink() else None
        if path.is_file():
            kind, what = f"{kind} file", path.read_bytes()
        found[str(path.relative_to(folder))] = kind, what
    return found
