"""Write down the public interface in public.json.

    python tests/interface/record.py [SECTION ...]

To write down that of another checkout, put its ``src`` first in PYTHONPATH. The test compares the
present code with this record: write it anew only where the interface is meant to change.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

RECORD = Path(__file__).with_name("public.json")
# Each section, and the function that describes it.
SECTIONS = {
    "names": "public.names",
    "signatures": "public.signatures",
    "members": "public.members",
    "attributes": "public.attributes",
    "options": "commands.options",
    "exit codes": "commands.exit_codes",
    "JSON keys": "commands.json_keys",
    "shard files": "commands.shard_files",
}


def describe(section: str) -> dict[str, Any]:
    """A section of the interface, as the installed code has it, in the types of JSON."""
    module, _, name = SECTIONS[section].partition(".")
    function: Callable[[], dict[str, Any]] = getattr(import_module(f"interface.{module}"), name)
    return json.loads(json.dumps(function()))


def load() -> dict[str, Any]:
    """What was written down, by section."""
    return json.loads(RECORD.read_text())


def differences(old: Any, new: Any, path: str = "") -> list[str]:
    """What was added, removed or changed, a line each."""
    if isinstance(old, dict) and isinstance(new, dict):
        lines = []
        for key in dict.fromkeys([*old, *new]):
            here = f"{path} / {key}" if path else key
            if key not in new:
                lines.append(f"removed: {here}")
            elif key not in old:
                lines.append(f"added: {here} = {json.dumps(new[key])}")
            else:
                lines += differences(old[key], new[key], here)
        return lines
    if old == new:
        return []
    if isinstance(old, list) and isinstance(new, list):
        lines = [f"removed: {path}: {entry}" for entry in old if entry not in new]
        lines += [f"added: {path}: {entry}" for entry in new if entry not in old]
        return lines or [f"changed: {path}: the order, from {old} to {new}"]
    return [f"changed: {path}: from {json.dumps(old)} to {json.dumps(new)}"]


def main() -> None:
    """Write the record, or some of its sections, and say what changed."""
    sys.path[0] = str(Path(__file__).resolve().parents[1])
    kept = load() if RECORD.exists() else {}
    for section in sys.argv[1:] or SECTIONS:
        found = describe(section)
        for line in differences(kept.get(section, {}), found):
            print(f"{section}: {line}"[:200])
        kept[section] = found
    ordered = {section: kept[section] for section in SECTIONS}
    RECORD.write_text(json.dumps(ordered, indent=1) + "\n")


if __name__ == "__main__":
    main()
