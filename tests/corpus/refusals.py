"""Runs that are refused: the sentence, and the exit code of the command."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from corpus.command import folder, graphfill
from corpus.problems import problem

import graphfill as gf

RUNS: dict[str, Callable[[], dict]] = {}
PEOPLE = "name,age,city\nann,30,York\nbob,,York\ncat,40,\ndan,50,Bath\n"
FRIENDS = "source,target,closeness\nann,bob,1\nbob,cat,2\ncat,dan,1\n"
SIZE = re.compile(r"[\d.]+ [kMG]?B\b")  # what a fill takes depends on cores and kernels
IMPUTE = "impute people.csv friends.csv -o filled.csv"

# Name, what the command is, and the files that hold something else.
COMMANDS: dict[str, tuple[str, dict[str, str]]] = {
    "no table": ("impute none.csv friends.csv -o filled.csv", {}),
    "no format": ("impute people.xls friends.csv -o filled.csv", {"people.xls": "x"}),
    "no rows": (IMPUTE, {"people.csv": "name,age\n"}),
    "no edges": (IMPUTE, {"friends.csv": ""}),
    "no such column": (f"{IMPUTE} --columns aeg", {}),
    "no such id": (f"{IMPUTE} --id wealth", {}),
    "ids to be filled": (f"{IMPUTE} --columns name", {}),
    "one end only": (f"{IMPUTE} --source source", {}),
    "weight that is no number": (f"{IMPUTE} --weight target", {}),
    "row too long": (IMPUTE, {"people.csv": "name,age\nann,30\nbob,31,Bath\n"}),
    "quote not closed": (IMPUTE, {"people.csv": 'name,age\nann,30\n"bob,31\n'}),
    "name twice": (IMPUTE, {"people.csv": "name,age,age\nann,30,31\n"}),
    "id twice": (f"{IMPUTE} --id name", {"people.csv": PEOPLE + "ann,1,Bath\n"}),
    "id missing": (f"{IMPUTE} --id name", {"people.csv": PEOPLE + ",1,Bath\n"}),
    "strangers only": (IMPUTE, {"friends.csv": "source,target\nx,y\ny,z\n"}),
    "number that is none": (f"{IMPUTE} --type city=number", {}),
    "no kind": (f"{IMPUTE} --type city=colour", {}),
    "output is there": (IMPUTE, {"filled.csv": "mine"}),
    "output is the input": ("impute people.csv friends.csv -o people.csv --overwrite", {}),
    "report that is no page": (f"{IMPUTE} --report page.txt", {}),
    "memory too small": (f"{IMPUTE} --memory-limit 10", {}),
    "memory that is none": (f"{IMPUTE} --memory-limit much", {}),
    "reliance beyond 1": (f"{IMPUTE} --reliance 2", {}),
    "steps without a solver of steps": (f"{IMPUTE} --steps 4", {}),
    "shards without an engine": (f"{IMPUTE} --shards 4", {}),
    "learners in shards": (f"{IMPUTE} --engine local --method hybrid", {}),
    "more shards than rows": (f"{IMPUTE} --engine local --workers 1 --shards 99", {}),
    "no web page": ("check people.csv friends.csv", {"people.csv": "<!doctype html><p>404</p>"}),
    "plan of no Parquet": ("plan people.csv friends.csv", {}),
    "no output named": ("impute people.csv friends.csv", {}),
}


def _command(command: str, files: dict[str, str]) -> dict[str, str]:
    """Run the command in a folder of its own; of a usage, only the sentence is kept."""
    with folder() as place:
        for name, content in ({"people.csv": PEOPLE, "friends.csv": FRIENDS} | files).items():
            (place / name).write_text(content)
        before = {path.name: path.read_bytes() for path in place.iterdir()}
        said = graphfill(place, *command.split())
        after = {path.name: path.read_bytes() for path in place.iterdir()}
    sentence = said["stderr"].rstrip("\n").split("\n")[-1].split("error: ")[-1]
    same = "as they were" if before == after else "changed"
    return {"code": said["code"], "sentence": sentence, "stdout": said["stdout"], "files": same}


for _name, (_line, _files) in COMMANDS.items():
    RUNS[_name] = partial(_command, _line, _files)


def _sentence(call: Callable[[], Any]) -> str:
    try:
        call()
    except Exception as error:
        return f"{type(error).__name__}: {SIZE.sub('<size>', str(error))}"
    return "not refused"


def _arrays() -> dict[str, str]:
    """What `propagate` and its like refuse."""
    X, graph = problem(n=70, columns=2)
    fill = partial(gf.propagate, X, graph)
    shards = partial(gf.propagate_sharded, X, graph)
    infinite = np.where(np.isnan(X), np.inf, X)
    calls: dict[str, Callable[[], Any]] = {
        "solver": partial(fill, solver="magic"),
        "normalization": partial(fill, normalization="none"),
        "unreached": partial(fill, unreached="leave"),
        "n_iter": partial(fill, n_iter=-1),
        "n_iter of half a step": partial(fill, n_iter=1.5),
        "shrinkage": partial(fill, shrinkage=-0.1),
        "tol": partial(fill, tol="small"),
        "self_loops": partial(fill, self_loops="yes"),
        "threads": partial(fill, threads=0),
        "memory": partial(fill, memory_limit=100),
        "memory in words": partial(fill, memory_limit="a lot"),
        "mask of another shape": partial(fill, missing_mask=np.isnan(X)[:5]),
        "mask that leaves NaN": partial(fill, missing_mask=np.zeros(X.shape, dtype=bool)),
        "start of another shape": partial(fill, start=np.zeros((3, 2))),
        "rows": partial(gf.propagate, X[:9], graph),
        "infinite": partial(gf.propagate, infinite, graph),
        "texts": partial(gf.propagate, [["a"], ["b"]], [(0, 1)]),
        "cube": partial(gf.propagate, np.zeros((2, 2, 2)), [(0, 1)]),
        "no graph": partial(gf.propagate, X, 7),
        "ends": partial(gf.Graph.from_edges, [0, 1], [1]),
        "end out of range": partial(gf.Graph.from_edges, [0, 9], [1, 2], n_nodes=5),
        "negative weight": partial(gf.Graph.from_edges, [0], [1], weight=[-1.0]),
        "one way": partial(gf.Graph.from_edges, [0], [1], directed="refuse"),
        "constructor": gf.Graph,
        "shards": partial(shards, n_shards=1000, workers=1),
        "shards by chebyshev": partial(shards, n_shards=2, solver="chebyshev"),
        "hetero": partial(gf.propagate_hetero, {"a": X}, {("a", "r", "b"): ([0], [1])}),
        "imputer": partial(gf.FeaturePropagation(graph, unreached="no").fit, X),
        "newcomers without a kept fill": partial(
            gf.FeaturePropagation(graph).fit(X).transform_new, X[:1], [(0, 70)]
        ),
    }  # fmt: skip
    return {name: _sentence(call) for name, call in calls.items()}


def _tables() -> dict[str, str]:
    """What `impute` refuses."""
    import polars as pl

    table = pl.DataFrame({"name": ["a", "b", "c"], "age": [1, None, 3], "odd": ["x", None, "y"]})
    edges = pl.DataFrame({"source": ["a", "b"], "target": ["b", "c"], "w": [1, -1]})
    fill = partial(gf.impute, table, edges)
    calls: dict[str, Callable[[], Any]] = {
        "id": partial(fill, id="nmae"),
        "columns": partial(fill, columns=["aeg"]),
        "both named and excluded": partial(fill, columns=["age"], exclude=["age"]),
        "types": partial(fill, types={"age": "colour"}),
        "type that does not fit": partial(fill, types={"odd": "number"}),
        "method": partial(fill, method="best"),
        "reliance": partial(fill, reliance=3),
        "intervals": partial(fill, intervals=90),
        "scores": partial(fill, scores="all"),
        "weight": partial(fill, weight="w"),
        "no such weight": partial(fill, weight="v"),
        "unreached": partial(fill, unreached="zero"),
        "no table": partial(gf.impute, [1, 2], edges),
        "no edges": partial(gf.impute, table, 3),
        "strangers only": partial(
            gf.impute, table, pl.DataFrame({"source": ["x"], "target": ["y"]}), id="name"
        ),
        "ids twice": partial(gf.impute, pl.concat([table, table]), edges, id="name"),
        "graph of no library": partial(gf.impute_graph, 7),
    }
    return {name: _sentence(call) for name, call in calls.items()}


RUNS |= {"arrays in Python": _arrays, "tables in Python": _tables}
