"""One local page to fill a table with: files in, the command run on them, its report and table out.

`_server` answers the browser on this machine alone, `_runs` starts the command and follows it.
"""

from ._server import serve

__all__ = ["serve"]
