"""One run: what it is called in the record, and how it is done by a method."""

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
from numpy.typing import NDArray

from ..errors import InputError, check_choice, check_number
from . import _data as data
from ._draws import checksum, draw_mask, draw_split
from ._fills import is_own, make_input, makes_input, resolve
from ._own import Own
from ._problem import Dataset, Floats, Outcome, Problem, Setting, check_name
from ._results import Key, Row, key_of

FULL = ("full", "full-binary")
LABELS = ("labels", "labels-plain")
WITHOUT_MODEL = (*LABELS, "pagnn", "gcnmf")
WITHOUT_FEATURES = (*LABELS, "positional", "positional-rest", "positional-raw")


def run(problem: Problem, method: str, model: str | None, setting: Setting) -> Outcome:
    """Run one method once; all randomness comes from ``problem.seed``.

    The method is one of the catalogue, or a fill of the user's own (see `resolve`). The model is
    trained on the filled features; None for methods that are models themselves.
    """
    check(problem, method, model, setting)
    if method in LABELS:
        from ._models import featureless

        return featureless.run_labels(problem, self_loops=method == "labels")
    if method == "gcnmf":
        from ._models import gcnmf

        return gcnmf.run(problem, setting)
    started = time.perf_counter()
    X, details = _features(problem, method)
    filled = time.perf_counter()
    fitted = _trained(problem, X, model or method, setting)
    done = time.perf_counter()
    return replace(
        fitted,
        fill_seconds=0.0 if method in (*FULL, "pagnn") else filled - started,
        train_seconds=max(done - filled, fitted.train_seconds),  # of an earlier process too
        reconstruction=reconstruction_error(problem, method, X),
        details=fitted.details | details,
    )


def check(problem: Problem, method: str, model: str | None, setting: Setting) -> None:
    """Refuse what cannot be run, before anything is."""
    if not is_own(method):
        check_name("method", method)
    check_model(method, model)
    if model is not None:
        check_name("model", model)
    check_number("n_layers", setting.n_layers, low=2, integer=True)
    check_number("max_epochs", setting.max_epochs, low=1, integer=True)
    check_choice("jumping", setting.jumping, (None, "max"))
    if method not in WITHOUT_FEATURES:
        problem.dataset.check_has_features(method)


def check_model(method: str, model: str | None) -> None:
    """Refuse a network where there is none to choose, and none where there is."""
    takes_model = method not in WITHOUT_MODEL
    if takes_model == (model is None):
        rest = "takes a model: name gcn or sage" if takes_model else "takes no model: give None"
        raise InputError(f"Method {method!r} {rest} (it was given {model!r}).")


def reconstruction_error(problem: Problem, method: str, X: Floats) -> float | None:
    """||X - true|| / ||true|| over the hidden cells, as far as the truth is known.

    None where nothing was hidden, nothing filled, or all that was hidden is 0.
    """
    if problem.missing is None or method in (*FULL, "pagnn", *WITHOUT_FEATURES):
        return None
    if makes_input(method):
        return None
    truth = problem.dataset.dense()
    hidden = problem.missing & ~np.isnan(truth)
    own = X[:, : hidden.shape[1]]  # an indicator's columns come after
    true, filled = truth[hidden].astype(np.float64), own[hidden].astype(np.float64)
    size = float(np.linalg.norm(true))
    return float(np.linalg.norm(filled - true)) / size if size else None


def _features(problem: Problem, method: str) -> tuple[Floats, dict[str, float | str]]:
    """What the network is given, and what was chosen by the way.

    NaN only for PaGNN, which knows what to do with it.
    """
    if makes_input(method):
        return make_input(problem, method)
    return _filled(problem, method), {}


def _filled(problem: Problem, method: str) -> Floats:
    dataset, seed = problem.dataset, problem.seed
    if method in FULL:
        X = dataset.dense()
        dataset.check_complete(np.isnan(X))
        return X if method == "full" else (X != 0).astype(X.dtype)
    if method in WITHOUT_FEATURES:
        from ._models import featureless

        if method == "positional-rest":  # the first is the roots of the degrees
            return featureless.unit_rows(featureless.encode(dataset.graph, k=21)[:, 1:])
        raw = featureless.encode(dataset.graph, k=20)
        # The paper does not say how it scales them; this comes nearest to its figures.
        return raw if method == "positional-raw" else featureless.unit_rows(raw)
    X = problem.incomplete()
    if method == "pagnn" or not np.isnan(X).any():
        return X
    if method == "mgcnn":
        from ._models import mgcnn

        return mgcnn.fill(X, dataset.graph, seed)
    return resolve(method)(X, dataset.graph, seed)


def _trained(problem: Problem, X: NDArray[Any], model: str, setting: Setting) -> Outcome:
    from . import _train as train
    from ._models import gcn, sage

    networks = {"gcn": gcn.network, "sage": sage.network, "pagnn": gcn.partial_network}
    dataset = problem.dataset
    with train.seeded(problem.seed):
        built = networks[model](X, dataset.graph, dataset.n_classes, setting)
    return train.fit(built, dataset.y, problem.split, setting, problem.seed)


DEFAULT = Setting()
SYSTEM = "graphfill.bench._runs:run"
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


def execute(run: Run, files: Mapping[str, Own], system: System) -> Row:
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
def _dataset(name: str, files: Own | None) -> Dataset:
    return data.load(name) if files is None else files.load()


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else str(value)
