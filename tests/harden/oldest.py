"""The oldest versions that pyproject.toml allows, one a line for pip.

    python tests/harden/oldest.py EXTRA ...

prints `name==version` for the dependencies, and for those of the extras named.
"""

import re
import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[2] / "pyproject.toml"


def oldest(extras: list[str]) -> list[str]:
    """Requirements at their lower bounds; one without a bound stays as it is."""
    project = tomllib.loads(PROJECT.read_text())["project"]
    wanted = list(project["dependencies"])
    for extra in extras:
        wanted += project["optional-dependencies"][extra]
    found = [re.sub(r">=([^,;]+)", r"==\1", one) for one in wanted]
    return [one for one in found if not one.startswith(f"{project['name']}[")]


if __name__ == "__main__":
    print(*oldest(sys.argv[1:]), sep="\n")
