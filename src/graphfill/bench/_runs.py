"""One run: what it is called in the record, and how it is done."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from . import _data as data
from ._draws import checksum, draw_mask, draw_split
from ._problem import Dataset, Outcome, Problem, Setting
from ._results import Key, Row, key_of
from ._systems import FULL, WITHOUT_FEATURES, check_model

DEFAULT = Setting()
SYSTEM = "graphfill.bench._systems:run"
PACKAGES = ("graphfill", "torch", "torch_geometric", "numpy")

System = Callable[[Problem, str, str | None, Setting], Outcome]


@dataclass(frozen=True)
class Run:
    """A set, a method and a network, what is hidden, who is trained on, and the run's number.

    The number is the seed of the split, of the mask and of the training: runs of the same number
    have the same split and mask, whatever the method.
    """

    set: str
    method: str
    model: str | None = "gcn"
    mask: str = "uniform"
    rate: float = 0.99
    split: str = "paper"
    run: int = 0
    setting: Setting = DEFAULT

    @property
    def key(self) -> Key:
        return key_of(self.named())

    def named(self) -> Row:
        """The key columns of its row."""
        return asdict(self) | {"setting": canonical(self.setting)}

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> Run | None:
        """The run of a row; None where its setting is one that this version does not know."""
        changes = json.loads(row["setting"] or "{}")
        if "fanout" in changes:
            changes["fanout"] = tuple(changes["fanout"])
        if not changes.keys() <= asdict(DEFAULT).keys():
            return None
        model, mask, rate = row["model"] or None, row["mask"] or "uniform", float(row["rate"])
        return cls(row["set"], row["method"], model, mask, round(rate, 6), row["split"],
                   int(row["run"]), Setting(**changes))  # fmt: skip

    @property
    def cell(self) -> Run:
        """What it shares with the runs of other numbers, as run 0: one line of a table."""
        return replace(self, run=0)

    def __str__(self) -> str:
        parts = [self.set, self.method, self.model, f"{self.rate:g} {self.mask}", self.split]
        if self.setting != DEFAULT:
            parts.append(canonical(self.setting))
        return ", ".join(part for part in [*parts, f"run {self.run}"] if part)


def canonical(setting: Setting) -> str:
    """What differs from the defaults, as one text for one setting.

    >>> canonical(Setting(max_epochs=100, hidden=256))
    '{"hidden": 256, "max_epochs": 100}'
    """
    plain = asdict(DEFAULT)
    changed = {name: value for name, value in asdict(setting).items() if value != plain[name]}
    return json.dumps(changed, sort_keys=True)


def pose(run: Run, dataset: Dataset) -> Problem:
    """The problem of a run: its split and its mask drawn."""
    if run.method not in WITHOUT_FEATURES:
        dataset.check_has_features(run.method)
    split = draw_split(dataset, run.split, run.run)
    rate = 0.0 if run.method in FULL else run.rate
    missing = None
    if run.method not in WITHOUT_FEATURES:
        missing = draw_mask(dataset, run.mask, rate, run.run, split)
    if run.method in FULL and missing is not None:
        dataset.check_complete(missing)
    return Problem(dataset, split, missing, run.run)


def execute(run: Run, files: Mapping[str, data.Files], system: System) -> Row:
    """Do a run and return its row of the record."""
    check_model(run.method, run.model)
    problem = pose(run, _dataset(run.set, files.get(run.set)))
    began = time.perf_counter()
    outcome = system(problem, run.method, run.model, run.setting)
    seconds = time.perf_counter() - began
    # What an earlier process trained counts, though it was not waited for here.
    seconds = max(seconds, outcome.fill_seconds + outcome.train_seconds)
    return {
        **run.named(),
        "seed": run.run,
        **asdict(outcome),
        "details": json.dumps(outcome.details, sort_keys=True, default=_plain),
        "n_missing": 0 if problem.missing is None else problem.dataset.count_cells(problem.missing),
        "mask_checksum": checksum(problem.missing),
        "seconds": seconds,
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": versions(),
    }


@lru_cache(maxsize=1)
def versions() -> str:
    """Of what a run depends on, as JSON."""
    numbers = {}
    for name in PACKAGES:
        try:
            numbers[name] = version(name.replace("_", "-"))
        except PackageNotFoundError:
            numbers[name] = "none"
    return json.dumps(numbers)


@lru_cache(maxsize=8)  # an experiment alternates between the paper's five
def _dataset(name: str, files: data.Files | None) -> Dataset:
    return data.load(name) if files is None else files.load()


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else str(value)
