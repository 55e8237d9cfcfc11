"""The licences of the packages that graphfill asks for, as a table.

python tests/harden/licences.py EXTRA ...
"""

import re
import sys
from importlib.metadata import PackageNotFoundError, metadata, requires


def needed(name: str, extras: set[str], found: dict[str, str]) -> dict[str, str]:
    """By package, what its metadata say; packages that packages ask for included."""
    for line in requires(name) or []:
        asked, _, marker = line.partition(";")
        extra = re.search(r"extra *== *['\"]([^'\"]+)", marker)
        other = re.match(r"[A-Za-z0-9._-]+", asked).group()
        if (extra and extra[1] not in extras) or other in found or other == name:
            continue
        try:
            found[other] = licence(other)
        except PackageNotFoundError:  # of another system or Python
            continue
        needed(other, set(), found)
    return found


def licence(name: str) -> str:
    """The expression, the classifier or the first line of the text."""
    said = metadata(name)
    classed = [line.rpartition(" :: ")[2] for line in said.get_all("Classifier") or ()
               if line.startswith("License ::")]  # fmt: skip
    lines = (said["License"] or "unknown").strip().splitlines()
    return said["License-Expression"] or ", ".join(classed) or lines[0]


if __name__ == "__main__":
    print("| package | licence |\n|---|---|")
    for package, terms in sorted(needed("graphfill", set(sys.argv[1:]), {}).items(), key=str):
        print(f"| {package} | {terms} |")
