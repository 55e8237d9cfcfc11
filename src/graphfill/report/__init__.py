"""One self-contained page about a fill: what was done, and how far to trust it.

Numbers come in as the plain dict of :meth:`graphfill.table._result.TableResult.summary`;
`figures` draws them, `sentences` says them, and `page` puts them together.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from ._page import render
from ._text import of_result, unreached_sentence

__all__ = ["of_result", "render", "unreached_sentence", "write_report"]


def write_report(
    said: dict[str, Any],
    path: str | os.PathLike[str],
    overwrite: bool = False,
    inputs: Sequence[str | os.PathLike[str]] = (),
) -> None:
    """Write the page about a fill; the file appears whole or not at all.

    Parameters
    ----------
    said : the summary of a fill
    path : the page's file
    overwrite : whether the file may replace another
    inputs : files that are never overwritten

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report({"rows": 3, "missing": 0}, pathlib.Path(folder, "report.html"))
    ...     pathlib.Path(folder, "report.html").read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    from ..io import check_written_here, replacing

    check_written_here(path, inputs, overwrite)
    page = render(said).encode("utf-8")
    with replacing(path) as file:
        file.write(page)
