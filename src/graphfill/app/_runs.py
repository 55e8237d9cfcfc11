"""The command, run on the files that the page was given: one run at a time, in its own folder."""

from __future__ import annotations

import csv
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from io import BufferedIOBase, StringIO
from pathlib import Path, PurePosixPath
from threading import Lock, Thread
from typing import Any

from ..errors import InputError

READING = "id source target weight exclude type missing separator decimal encoding edge-separator"
READING += " edge-encoding edge-missing no-edge-header seed near same time like plane join nearest"
FILLING = "method effort reliance unreached mark scores formula-safe"
SWITCHES = ("--mark", "--no-edge-header", "--scores", "--plane", "--join", "--formula-safe")
PROGRESS = re.compile(r"progress: (.+) ([\d.]+)")
SPEAKER = re.compile(r"^graphfill(?: \w+: error)?: ")
REPORT = "report.html"


class Runs:
    """The files, the run that is under way or was the last, and what came of it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self._said = folder / "files", folder / "said.json"
        self.folder.mkdir()
        self.files: dict[str, str] = {}  # by what they are: "table" and "edges"
        self.state: dict[str, Any] = {"running": False}
        self._child: subprocess.Popen[str] | None = None
        self._lock = Lock()

    def take(self, role: str, name: str, body: BufferedIOBase, size: int) -> None:
        """Keep an uploaded file, under its own name as far as that is one."""
        name = PurePosixPath(name.replace("\\", "/")).name
        name = re.sub(r"[^\w .()+-]", "_", name).lstrip(". -")[-100:] or role
        other = self.files.get("edges" if role == "table" else "table")
        with self._lock:
            if self.state["running"]:
                raise InputError("The files are being read: wait, or press Stop.")
            if name == other:
                raise InputError(f"The table and the links are both called {name}: rename one.")
            for old in (self.files.pop(role, None), self.state.get("output"), REPORT):
                if old:
                    (self.folder / old).unlink(missing_ok=True)
            path, left = self.folder / name, size
            with path.open("wb") as file:
                while left and (part := body.read(min(left, 1 << 20))):
                    left -= file.write(part)
            if left:
                path.unlink()
                raise InputError(f"{name} did not arrive whole: choose it again.")
            self.files[role] = name
            self.state = {"running": False}

    def start(self, command: str, asked: Mapping[str, Any]) -> None:
        """Run `check` or `impute` on the files."""
        more = options(str(asked.get("options") or ""), command)
        if columns := asked.get("columns"):
            line = StringIO()
            csv.writer(line, lineterminator="").writerow(map(str, columns))
            more.append(f"--columns={line.getvalue()}")
        with self._lock:
            if self.state["running"]:
                raise InputError("The files are being read already: wait, or press Stop.")
            roles = ("table", "edges") if asked.get("edges") else ("table",)
            if not self.files.keys() >= {*roles}:
                raise InputError("Choose the table first.")
            output = None
            if command == "impute":
                more += ["--intervals=0.9"] if asked.get("intervals") else []
                stem, dot, ending = self.files["table"].partition(".")
                output = f"{stem}-filled{dot}{ending}"
                while output in self.files.values():
                    output = f"filled-{output}"
                more += [f"--output={output}", f"--report={REPORT}", "--overwrite"]
            # -P: a file that was uploaded must not be taken for a module.
            python = [sys.executable, "-P", "-m", "graphfill", command, *more, "--json", "--"]
            try:
                with self._said.open("wb") as said:
                    self._child = subprocess.Popen(
                        [*python, *(self.files[role] for role in roles)], cwd=self.folder,
                        env=os.environ | {"GRAPHFILL_PROGRESS": "lines"}, stdin=subprocess.DEVNULL,
                        stdout=said, stderr=subprocess.PIPE, encoding="utf-8", errors="replace",
                    )  # fmt: skip
            except (OSError, ValueError) as error:
                raise InputError(f"The command cannot be started ({error}).") from None
            self.state = {"running": True, "command": command, "output": output}
        Thread(target=self._follow, args=(self._child, output), daemon=True).start()

    def _follow(self, child: subprocess.Popen[str], output: str | None) -> None:
        last = ""
        assert child.stderr is not None
        with child.stderr:
            for line in child.stderr:
                if found := PROGRESS.fullmatch(line.strip()):
                    self.state |= {"stage": found[1], "share": float(found[2])}
                elif line.strip():
                    last = SPEAKER.sub("", line.strip())
        ended: dict[str, Any] = {"running": False}
        if child.wait():
            ended["error"] = last or "The command ended before it was done."
        else:
            summary = json.loads(self._said.read_text(encoding="utf-8"))
            ended |= {"summary": summary, "filled": output is not None}
        with self._lock:
            self.state |= ended

    def stop(self) -> None:
        """End the run that is under way; the command undoes what it has begun."""
        if self._child is not None and self._child.poll() is None:
            self._child.terminate()
            self._child.wait()


def options(text: str, command: str) -> list[str]:
    """The options that may be typed in the page: none that names a file, one argument each.

    >>> options("--id person --missing='?' --mark", "impute")
    ['--id=person', '--missing=?', '--mark']
    """
    allowed = {f"--{name}" for name in f"{READING} {FILLING}".split()}
    try:
        words = shlex.split(text)
    except ValueError:
        raise InputError(f"A quotation mark is not closed in {text!r}.") from None
    found: list[str] = []
    for word in words:
        open_end = found and "=" not in found[-1] and found[-1] not in SWITCHES
        if open_end and not word.startswith("--"):
            found[-1] += f"={word}"
        elif word.partition("=")[0] in allowed:
            found.append(word)
        else:
            raise InputError(
                f"The option {word!r} cannot be given here; those that can are "
                f"{', '.join(sorted(allowed))}."
            )
    reading = {f"--{name}" for name in READING.split()}
    return [word for word in found if command == "impute" or word.partition("=")[0] in reading]
