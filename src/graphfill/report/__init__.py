"""One self-contained page about a fill: what was done, and how far to trust it.

Numbers come in as the plain dict of :meth:`graphfill.table._result.TableResult.summary`;
`_page` puts them into the templates, which hold the sentences and draw the figures, and `_text`
words them for a terminal.
"""

from ._notebook import html_of_result, html_table
from ._page import labelled_bars, render, write_report
from ._text import of_result, text_table, unreached_sentence
from ._words import listed

__all__ = [
    "html_of_result",
    "html_table",
    "labelled_bars",
    "listed",
    "of_result",
    "render",
    "text_table",
    "unreached_sentence",
    "write_report",
]
