"""Read and write tables and edge lists: the only door to the user's files.

What is written differs from what was read in the filled cells only.
"""

from ._atomic import (
    check_demo_folder,
    check_report_name,
    check_written_here,
    no_folder,
    refusal,
    replacing,
    sync_folder,
    unprintable,
    unwritable,
)
from ._columnar import finish, grouping_of, parquet_writer
from ._columns import as_number
from ._files import check_columnar, check_is_file, unreadable
from ._sheet import Options, Sheet, check_header, check_some_rows
from ._tables import check_output, merge, read_edges, read_table, write_table
from ._text import stray_words

__all__ = [
    "Options",
    "Sheet",
    "as_number",
    "check_columnar",
    "check_demo_folder",
    "check_header",
    "check_is_file",
    "check_output",
    "check_report_name",
    "check_some_rows",
    "check_written_here",
    "finish",
    "grouping_of",
    "merge",
    "no_folder",
    "parquet_writer",
    "read_edges",
    "read_table",
    "refusal",
    "replacing",
    "stray_words",
    "sync_folder",
    "unprintable",
    "unreadable",
    "unwritable",
    "write_table",
]
