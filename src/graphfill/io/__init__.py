"""Read and write tables and edge lists: the only door to the user's files.

What is written differs from what was read in the filled cells only.
"""

from ._missing_words import AMONG_NUMBERS, MISSING, PERHAPS, SURELY, as_number
from ._parts import read_parts, write_parts
from ._path import (
    check_columnar,
    check_is_file,
    check_unchanged,
    split_name,
    unreadable,
    version_of,
)
from ._sheet import KINDS, Options, Sheet, check_header, check_some_rows, machine_memory
from ._tables import (
    check_output,
    check_written_here,
    merge,
    read_edges,
    read_table,
    refusal,
    replacing,
    sync_folder,
    unwritable,
    write_table,
)

__all__ = ["AMONG_NUMBERS", "KINDS", "MISSING", "PERHAPS", "SURELY", "Options", "Sheet"]
__all__ += ["as_number", "merge", "read_edges", "read_table"]
__all__ += ["check_columnar", "check_header", "check_is_file", "check_output", "check_some_rows"]
__all__ += ["check_written_here", "machine_memory", "refusal", "replacing", "split_name"]
__all__ += ["read_parts", "sync_folder", "write_parts"]
__all__ += ["check_unchanged", "unreadable", "unwritable", "version_of", "write_table"]
