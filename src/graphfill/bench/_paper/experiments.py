"""Which runs each table and figure takes, the most important first.

An experiment is a set of cells: runs of number 0, which stand for those of all numbers. Runs of a
cell differ in split, mask and seed, and share them with the runs of other cells. A stage is a piece
of the work: its cells are run breadth first, one run of each before the next of any, so that a grid
stopped at any time has something of everything it began.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from .._draws import usual_split
from .._problem import Setting
from .._runs import Run

SETS = ("cora", "citeseer", "pubmed", "photo", "computers")
LARGE = ("arxiv", "products")
MIXHOP = tuple(f"mixhop-0.{tenths}" for tenths in range(10))
SIMPLE = ("zero", "random", "mean", "neighbors")  # fills beside the paper's own
FILLED = ("fp", *SIMPLE, "mgcnn")  # a GNN is trained on what they fill
WHOLE = ("pagnn", "gcnmf")  # take the gaps as they are
FEATURELESS = ("labels", "positional")
# The paper does not say which eigenvectors it takes, and how they are scaled.
FORMS = ("positional-rest", "positional-raw")
BINARY = "full-binary"
PLAIN = "labels-plain"
NOT_BINARY = ("pubmed",)  # the features of the others are 0 and 1 as they are
METHODS = (*FILLED, *WHOLE, *FEATURELESS)
SLOW = ("gcnmf", "mgcnn")
TABLE_1_RATES = (0.5, 0.9, 0.99)
FIGURE_RATES = (0.1, 0.3, 0.5, 0.7, 0.9, 0.99)
# What is also run on the official code's test nodes: a method, and the share missing.
CONTROLLED = (
    *(("fp", rate) for rate in (0.0, *TABLE_1_RATES)),
    *((method, 0.99) for method in ("labels", "positional", *FORMS, "pagnn")),
)
# And in another form: with self-loops, as in the official code; with words that are there or not
# in place of their weights; and labels without self-loops.
VARIED = {("fp", 0.99): "fp-loops", ("fp", 0.0): BINARY, ("labels", 0.99): PLAIN}
EXACT_RATES = (0.9, 0.99, 0.995)
WORST = 0.99
EXPERIMENTS = ("table-1", "table-2", "gcn", "sage", "run-time", "homophily", "exact", "controls")
AS_PAPER = Setting()
# Most epochs of positional encodings on Arxiv, one of them being seconds without a GPU.
ARXIV_EPOCHS = {"positional": 1_200, "positional-rest": 1_000, "positional-raw": 1_000}


@dataclass(frozen=True)
class Scope:
    """How much of it to run."""

    sets: tuple[str, ...] | None = None  # None: all
    runs: int | None = None  # of every cell, in place of the ten (fewer if slow) that are wanted
    setting: Setting = AS_PAPER  # of every network, but for what the paper varies

    @classmethod
    def quick(cls) -> Scope:
        """Two sets, two runs, a hundred epochs: whether it all works, not what comes of it."""
        return cls(("cora", "citeseer", "mixhop-0.0", "mixhop-0.9"), 2, Setting(max_epochs=100))

    def among(self, names: Collection[str]) -> list[str]:
        return [name for name in names if self.sets is None or name in self.sets]


PAPER = Scope()


class Stage(NamedTuple):
    """Cells that are run together, and how often each."""

    name: str
    cells: list[Run]
    runs: int


def cell(
    name: str,
    method: str,
    rate: float = WORST,
    model: str = "gcn",
    scope: Scope = PAPER,
    *,
    mask: str = "uniform",
    split: str | None = None,
) -> Run:
    """The cell of a method on a set as the paper ran it.

    What sees no features has one cell for all rates, filed under rate 0; so do all fills where
    nothing is missing ("full"); what trains no GNN has no model.

    >>> cell("cora", "mean", 0.0) == cell("cora", "full", 0.0)
    True
    >>> cell("cora", "labels").rate, cell("cora", "labels").model
    (0.0, None)
    """
    setting = scope.setting.usual(name, method)
    if name == "arxiv":
        limit = ARXIV_EPOCHS.get(method, setting.max_epochs)
        setting = replace(setting, max_epochs=min(setting.max_epochs, limit))
    if method in (*FEATURELESS, *FORMS, BINARY, PLAIN):
        rate = 0.0
    elif rate == 0.0 and method not in WHOLE:
        method = "full"
    trained = None if method in (*WHOLE, "labels", PLAIN) else model
    return Run(name, method, trained, mask, rate, split or usual_split(name), setting=setting)


def cells(experiment: str, scope: Scope = PAPER) -> list[Run]:
    """The cells of a table or figure, each once."""
    sets, arxiv, mixhop = (scope.among(names) for names in (SETS, ["arxiv"], MIXHOP))
    # With features, only where they are asked for by name: theirs are to be downloaded.
    large = [s for s in LARGE if scope.sets is not None and s in scope.sets]

    def each(
        names: Collection[str],
        methods: Collection[str],
        rates: Collection[float] = (WORST,),
        model: str = "gcn",
        **other: Any,
    ) -> list[Run]:
        return [
            cell(name, method, rate, model, scope, **other)
            for name in names
            for method in methods
            for rate in rates
        ]

    masks, with_none = ("uniform", "structural"), (0.0, *FIGURE_RATES)
    chosen: dict[str, Callable[[], list[Run]]] = {
        "table-1": lambda: each([*sets, *large], ["fp"], (0.0, *TABLE_1_RATES)),
        "table-2": lambda: each(sets, METHODS) + each(arxiv, FEATURELESS),
        "gcn": lambda: each(sets, METHODS, with_none, "gcn"),
        "sage": lambda: each(sets, METHODS, with_none, "sage"),
        "run-time": lambda: each(sets, ("fp", *WHOLE)),
        "homophily": lambda: [
            *each(mixhop, ("fp", "zero"), model="sage"),
            *each(mixhop, ["full"], [0.0], "sage"),
        ],
        "exact": lambda: [
            c for mask in masks for c in each(sets, ("fp", "fp-exact"), EXACT_RATES, mask=mask)
        ],
        "controls": lambda: [
            *(c for m, rate in CONTROLLED for c in each(sets, [m], [rate], split="development")),
            *(
                c
                for c in each(sets, (*VARIED.values(), *FORMS))
                if c.method != BINARY or c.set in NOT_BINARY
            ),
            *each(arxiv, (*FORMS, PLAIN)),
        ],
    }
    return list(dict.fromkeys(chosen[experiment]()))


def stages(experiments: Collection[str], scope: Scope = PAPER) -> list[Stage]:
    """What to run for these experiments, in order; a cell is in the first stage that has it.

    >>> [stage.name for stage in stages(["table-2"], Scope(sets=("cora",)))]
    ['feature propagation', 'labels', 'positional', 'pagnn', 'fills', 'gcnmf', 'mgcnn']
    """
    table_2 = cells("table-2", scope)
    exact, gcn, sage = cells("exact", scope), cells("gcn", scope), cells("sage", scope)
    controls = cells("controls", scope)

    def of(*methods: str) -> list[Run]:
        return [c for c in table_2 if c.method in methods and c.set != "arxiv"]

    arxiv = [c for c in (*table_2, *controls) if c.set == "arxiv"]
    every = [
        Stage("feature propagation", cells("table-1", scope), 10),
        Stage("labels", of("labels"), 10),
        # One official split and no chance in the method: one run is all there is.
        Stage("labels on Arxiv", [c for c in arxiv if c.method in ("labels", PLAIN)], 1),
        Stage("positional", of("positional"), 10),
        Stage("pagnn", of("pagnn"), 10),
        Stage("fills", of(*SIMPLE), 10),
        Stage("controls", [c for c in controls if c.set != "arxiv"], 10),
        Stage("homophily", cells("homophily", scope), 10),
        Stage("exact", exact, 10),
        Stage("gcnmf", of("gcnmf"), 5),
        Stage("mgcnn", of("mgcnn"), 5),
        Stage("figure gcn", [c for c in gcn if c.method not in SLOW], 5),
        Stage("figure sage", [c for c in sage if c.method not in SLOW], 5),
        Stage("figures, slow methods", [c for c in [*gcn, *sage] if c.method in SLOW], 3),
        Stage("positional on Arxiv", [c for c in arxiv if c.method == "positional"], 5),
        Stage("other forms on Arxiv", [c for c in arxiv if c.method in FORMS], 5),
    ]
    asked = {c for experiment in experiments for c in cells(experiment, scope)}
    chosen = []
    for name, members, runs in every:
        mine = [c for c in dict.fromkeys(members) if c in asked]
        asked -= set(mine)
        if mine:
            chosen.append(Stage(name, mine, runs if scope.runs is None else scope.runs))
    return chosen


def wanted(experiments: Collection[str], scope: Scope = PAPER) -> dict[Run, int]:
    """How many runs of each cell there are to be."""
    return {c: stage.runs for stage in stages(experiments, scope) for c in stage.cells}


def breadth_first(stage: Stage) -> Iterator[Run]:
    """A stage's runs: one of every cell, then the next.

    >>> two = Stage("two", [Run("a", "fp"), Run("b", "fp")], 4)
    >>> [(run.set, run.run) for run in breadth_first(two)]
    [('a', 0), ('b', 0), ('a', 1), ('b', 1), ('a', 2), ('b', 2), ('a', 3), ('b', 3)]
    """
    return (replace(c, run=number) for number in range(stage.runs) for c in stage.cells)
