"""Results as a notebook shows them: the verdict, a line per column, the notes folded away."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from ._text import column_lines, of_result
from ._words import Summary


def html_of_result(summary: Summary) -> str:
    """A `TableResult` in a notebook."""
    first = of_result(summary).split("\n\n")[0]
    parts = [f"<p>{escape(line)}</p>" for line in first.split("\n")]
    if summary["missing"]:
        heads, rows, meanings = column_lines(summary)
        parts += [
            html_table(heads, rows),
            *(f"<p><small>{escape(m)}</small></p>" for m in meanings),
        ]
    if summary["notes"]:
        notes = "".join(f"<li>{escape(str(note))}</li>" for note in summary["notes"])
        count = len(summary["notes"])
        word = "note" if count == 1 else "notes"
        parts.append(f"<details><summary>{count} {word}</summary><ul>{notes}</ul></details>")
    return "\n".join(parts)


def html_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of escaped texts.

    >>> html_table(["a"], [["<b>"]])
    '<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>&lt;b&gt;</td></tr></tbody></table>'
    """
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
