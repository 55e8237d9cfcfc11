"""The documentation's pages, taken apart: fenced blocks, and paragraphs outside of them."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
GENERATED = ("speed.md",)  # a benchmark writes it whole
# What benchmarks write into a page, with the command that did.
MEASURED = re.compile(r"<!-- measured -->.*?`python benchmarks/.*?<!-- end of measured -->", re.S)
FENCE = re.compile(r"^(?P<ticks>```+)(?P<kind>[^\n`]*)\n(?P<text>.*?)^(?P=ticks)[ ]*$", re.M | re.S)


@dataclass(frozen=True)
class Block:
    """A fenced block: what it is fenced as, its text, and the line it starts on."""

    kind: str
    text: str
    line: int


def pages():
    """Every page written by hand."""
    found = [path for path in (ROOT / "docs").glob("*.md") if path.name not in GENERATED]
    return [ROOT / "README.md", *sorted(found)]


def blocks(page):
    """The fenced blocks of a page, in order."""
    text = page.read_text()
    return [
        Block(match["kind"].strip(), match["text"], text.count("\n", 0, match.start("text")))
        for match in FENCE.finditer(text)
    ]


def paragraphs(page):
    """What is written by hand outside of fenced blocks."""
    text = MEASURED.sub("", FENCE.sub("", page.read_text()))
    return [part.strip() for part in re.split(r"\n\s*\n", text) if part.strip()]
