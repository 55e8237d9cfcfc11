"""Runs of `graphfill.impute` on tables of pandas, polars and pyarrow."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from corpus.cells import in_words, parts_of
from corpus.problems import friends, graph_of, people, shuffled

import graphfill as gf

RUNS: dict[str, Callable[[], dict]] = {}
NULLABLE = {"age": "Int64", "member": "boolean", "city": "category"}
NAMES = {"id": "person", "source": "person", "target": "friend"}


def as_table(library: str, columns: dict[str, list[Any]]) -> Any:
    """The columns as a table of this library, each with the type that is usual there."""
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    if library == "polars":
        return pl.DataFrame(columns)
    if library == "pyarrow":
        return pa.table(columns)
    frame = pd.DataFrame(columns)
    frame = frame.astype({name: kind for name, kind in NULLABLE.items() if name in frame})
    for name, read in (("seen", pd.to_datetime), ("worked", pd.to_timedelta)):
        if name in frame:
            frame[name] = read(frame[name])
    return frame


def _filled(
    library: str,
    rows: dict[str, list[Any]] | None = None,
    edges: dict[str, list[Any]] | None = None,
    /,
    *,
    said: bool = False,
    **options: Any,
) -> dict[str, Any]:
    """Fill, and give the table and, if asked for, what was said of it."""
    table = as_table(library, rows or people())
    links = as_table(library, edges or friends())
    names = {} if "id" in options else NAMES
    result = gf.impute(table, links, return_result=True, **names, **options)
    words = {"summary": in_words(result.summary()), "in words": repr(result)} if said else {}
    if said:  # how long it took is no part of it
        words["in words"] = words["in words"].rpartition(" s.")[0].rpartition(" in ")[0]
    return parts_of(result.table) | words


def _in_rows(library: str, seed: int, texts: bool, **options: Any) -> dict[str, Any]:
    """Rows in another order than the ids."""
    columns = shuffled(people(texts=texts), seed)
    return _filled(library, columns, shuffled(friends(texts=texts), seed), **options)


RUNS |= {
    "pandas": partial(_filled, "pandas", said=True),
    "polars": partial(_filled, "polars"),
    "pyarrow": partial(_filled, "pyarrow"),
    "pandas shuffled": partial(_in_rows, "pandas", 1, texts=False),
    "polars shuffled, ids of text": partial(_in_rows, "polars", 2, texts=True),
    "pyarrow shuffled, ids of text, weighted": partial(
        _in_rows, "pyarrow", 3, texts=True, weight="closeness"
    ),
    "guessed names": lambda: parts_of(
        gf.impute(as_table("polars", people(texts=True)), as_table("polars", friends(texts=True)))
    ),
    "tiny": partial(_filled, "polars", people(40), friends(40)),
    "neighbors": partial(_filled, "pandas", method="neighbors", said=True),
    "mean": partial(_filled, "pyarrow", method="mean", said=True),
    "hybrid": partial(_filled, "pandas", method="hybrid", columns=["age", "city"]),
    "auto": partial(
        _filled, "polars", method="auto", scores=True, said=True, columns=["height", "city"]
    ),
    "auto shuffled": partial(
        _in_rows, "polars", 4, texts=False, method="auto", columns=["income", "member"]
    ),
    "scores": partial(_filled, "pandas", scores=True, said=True),
    "scores of regions": partial(_filled, "polars", scores="region", columns=["age", "city"]),
    "scores of rows": partial(
        _filled, "polars", scores="rows", columns=["age", "city"], said=True, method="neighbors"
    ),
    "scores of high values": partial(
        _filled, "pyarrow", scores="high", columns=["income", "member"], said=True
    ),
    "intervals": partial(_filled, "polars", intervals=0.8, mark=True),
    "intervals of hybrid": partial(
        _filled,
        "pandas",
        intervals=0.9,
        method="hybrid",
        columns=["joined", "city"],
    ),
    "intervals of many rows": partial(
        _filled,
        "polars",
        people(600),
        friends(600),
        intervals=0.9,
        columns=["income", "city"],
        said=True,
    ),
    "mark": partial(_filled, "pyarrow", mark=True),
    "reliance 1": partial(_filled, "pandas", reliance=1.0),
    "reliance 0.5, diffusion sym": partial(
        _filled, "polars", reliance=0.5, solver="diffusion", normalization="sym", n_iter=15
    ),
    "chebyshev with shrinkage": partial(
        _filled, "pyarrow", solver="chebyshev", shrinkage=0.1, reliance=1.0
    ),
    "memory limit": partial(_filled, "polars", memory_limit="200kB", threads=2),
    "another seed": partial(_filled, "pandas", seed=11, columns=["age", "income"], said=True),
}


def _far_apart(unreached: str) -> dict[str, Any]:
    """People whom nobody knows, and some in a part that knows no city."""
    columns, links = people(230), friends(200)
    for i in range(215, 230):
        columns["city"][i] = None
    links["person"] += list(range(215, 224))
    links["friend"] += list(range(216, 225))
    links["closeness"] += [1] * 9
    return _filled("polars", columns, links, unreached=unreached, said=True)


def _chosen() -> dict[str, Any]:
    """Some columns only, types by hand, markers of missing cells, and a column left alone."""
    columns = people()
    columns["age"] = [-1 if age is None else age for age in columns["age"]]
    columns["city"] = ["unknown" if city is None else city for city in columns["city"]]
    columns["grade"] = [None if i % 4 == 0 else i % 5 for i in range(200)]
    columns["note"] = [None if i % 2 else f"note {i}" for i in range(200)]
    names = ["age", "city", "height", "grade", "note"]
    return _filled(
        "pandas",
        columns,
        columns=names,
        missing=[-1, "unknown"],
        types={"grade": "category", "height": "number"},
        said=True,
    )


def _excluded() -> dict[str, Any]:
    """All columns but some, one of them by its type."""
    left = {"exclude": ["joined", "seen"], "types": {"worked": "leave", "age": "number"}}
    return _filled("pyarrow", said=True, **left)


def _by_position() -> dict[str, Any]:
    """Ids that are row numbers or labels of an index, and edges that are no table."""
    import pandas as pd
    import scipy.sparse

    n = 100
    columns = people(n)
    del columns["person"]
    links = as_table("pandas", {key: friends(n)[key] for key in ("person", "friend")})
    frame = as_table("pandas", columns)
    numbered = gf.impute(frame, links, id="the row number", reliance=1.0)
    labels = np.array([f"p{i:04d}" for i in range(n)])
    named = pd.DataFrame({name: labels[links[name]] for name in links})
    frame.index = labels
    labelled = gf.impute(frame, named, id="the index", reliance=1.0)
    graph = graph_of(n)
    A = scipy.sparse.csr_array(
        (np.ones(len(graph.indices)), graph.indices, graph.indptr), shape=(n, n)
    )
    by_matrix = gf.impute(as_table("polars", columns), A, reliance=1.0, columns=["age", "city"])
    parts = {f"numbered {name}": part for name, part in parts_of(numbered).items()}
    parts |= {f"labelled {name}": part for name, part in parts_of(labelled).items()}
    return parts | {f"matrix {name}": part for name, part in parts_of(by_matrix).items()}


def _strangers() -> dict[str, Any]:
    """Edges that name nodes that the table lacks."""
    columns = {name: cells[:160] for name, cells in people().items()}
    return _filled("pandas", columns, said=True)


def _narrow_types() -> dict[str, Any]:
    """Columns of narrow and unusual types, which they keep."""
    import polars as pl

    made = pl.DataFrame(people()).with_columns(
        pl.col("age").cast(pl.Int8),
        pl.col("height").cast(pl.Float32),
        pl.col("city").cast(pl.Categorical),
        pl.col("seen").dt.replace_time_zone("UTC").dt.cast_time_unit("ms"),
    )
    return parts_of(gf.impute(made, pl.DataFrame(friends()), **NAMES))


def _nothing_missing() -> dict[str, Any]:
    """A table without a missing cell."""
    columns = {"person": list(range(30)), "x": list(range(30))}
    return _filled("pyarrow", columns, friends(30), said=True)


RUNS |= {
    "unreached mean": partial(_far_apart, "mean"),
    "unreached nan": partial(_far_apart, "nan"),
    "chosen columns": _chosen,
    "excluded columns": _excluded,
    "rows by position": _by_position,
    "strangers": _strangers,
    "narrow types": _narrow_types,
    "nothing missing": _nothing_missing,
}
