"""Runs that were written down anew since the corpus was first recorded, and why.

All others still have the record of the code before its modules moved into rooms.
"""

BY_ID = "held-out cells are drawn in the order of the ids, and columns are summed in it"
ONE_FILL = "a column is filled by one call whether or not it is scored, so reliance is fitted once"
KEY = "the summary has a new key, unreached_got; no cell changed"
LIMIT = "a limit below what the channels take is refused by the same sentence as any other"
PYG = "a transform prints all its arguments; weights listed twice add up; integers become float32"

CHANGED = {
    **dict.fromkeys(
        (
            "tables: pandas shuffled",
            "tables: polars shuffled, ids of text",
            "tables: pyarrow shuffled, ids of text, weighted",
            "tables: auto shuffled",
            "files: from disk, shuffled, ids of text",
            "files: from disk, numbers, weighted",
        ),
        BY_ID,
    ),
    **dict.fromkeys(
        (
            "tables: auto",
            "tables: scores",
            "tables: scores of regions",
            "tables: scores of rows",
            "tables: scores of high values",
            "tables: intervals",
            "tables: intervals of many rows",
            "files: impute as JSON, scores",
            "files: demo",
            "reports: impute",
            "reports: check",
            "reports: result",
        ),
        ONE_FILL,
    ),
    **dict.fromkeys(
        (
            "tables: pandas",
            "tables: neighbors",
            "tables: mean",
            "tables: another seed",
            "tables: unreached mean",
            "tables: unreached nan",
            "tables: chosen columns",
            "tables: excluded columns",
            "tables: strangers",
            "tables: nothing missing",
            "files: impute as JSON",
            "files: check as JSON",
        ),
        KEY,
    ),
    **dict.fromkeys(
        (
            "ecosystem: pyg weighted",
            "ecosystem: pyg torch",
            "ecosystem: pyg torch float64 rw",
            "ecosystem: pyg torch exact",
            "ecosystem: pyg torch chebyshev",
            "ecosystem: pyg masked",
            "ecosystem: pyg hetero",
            "ecosystem: pyg hetero standardized",
            "ecosystem: pyg hetero by the plain transform",
        ),
        PYG,
    ),
    "refusals: memory too small": LIMIT,
}
