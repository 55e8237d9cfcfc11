"""Lists of neighbours in text, a node a line: ``ann: bob, cat``."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa

from ...errors import InputError
from .._sheet import Options, Sheet
from .stream import Stream

LINE = re.compile(r"\s*([^:,;|\t]*[^:,;|\t\s])\s*:\s*([^:]*)\Z")
SAMPLE = 1 << 16  # bytes


def read_neighbours(path: Path, options: Options) -> Sheet | None:
    """The edges of such a list; None where the first lines are none."""
    if options.separator is not None:
        return None
    with Stream(path, options, comments=True) as stream:
        start = b""
        while len(start) < SAMPLE and (more := stream.read()):
            start += more
        cut = start[:SAMPLE].decode(errors="ignore")
        lines = cut.splitlines()[: None if len(start) <= SAMPLE else -1]
        if not _is_list([line for line in lines if line.strip()]):
            return None
        text = (start + b"".join(iter(stream.read, b""))).decode()
    mark = next((one for one in ",;" if one in text), None)
    ends: tuple[list[str], list[str]] = ([], [])
    numbers = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        found = LINE.match(line)
        if found is None:
            raise InputError(
                f"{path}, line {number} does not name a node and its neighbours as the lines "
                'before it do ("a: b, c"): write it like them.'
            )
        for other in filter(None, (one.strip() for one in found[2].split(mark))):
            ends[0].append(found[1])
            ends[1].append(other)
            numbers.append(number)
    if not numbers:
        raise InputError(f"{path} names nodes without neighbours alone: it has no edge.")
    texts = {name: pa.chunked_array([pa.array(end, pa.string())])
             for name, end in zip(("source", "target"), ends, strict=True)}  # fmt: skip
    note = f"{path.name} is read as a list of neighbours, a node and those linked to it on a line."
    return Sheet(
        path, "csv", pa.table(texts), texts=dict(texts), notes=[note], line_of=numbers.__getitem__
    )


def _is_list(lines: list[str]) -> bool:
    """Whether every line names a node, and some line several neighbours.

    >>> _is_list(["a: b, c", "b: a"]), _is_list(["a:b", "b:c"]), _is_list(["a,b", "b,c"])
    (True, False, False)
    """
    found = [LINE.match(line) for line in lines]
    several = any(one and re.search(r"\S[\s,;]+\S", one[2]) for one in found)
    return several and all(found)
