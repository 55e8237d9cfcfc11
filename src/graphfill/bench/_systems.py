"""A method, by name, on a problem: fill the features if it does, train, and say how well."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, check_choice, check_number
from ._fills import is_own, resolve
from ._problem import Floats, Outcome, Problem, Setting, check_name

if TYPE_CHECKING:
    from ._train import Fitted

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
    X = _features(problem, method)
    filled = time.perf_counter()
    fitted = _trained(problem, X, model or method, setting)
    done = time.perf_counter()
    return fitted.outcome(
        fill_seconds=0.0 if method in (*FULL, "pagnn") else filled - started,
        train_seconds=max(done - filled, fitted.seconds),  # of an earlier process too
        reconstruction=reconstruction_error(problem, method, X),
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
    truth = problem.dataset.dense()
    hidden = problem.missing & ~np.isnan(truth)
    true, filled = truth[hidden].astype(np.float64), X[hidden].astype(np.float64)
    size = float(np.linalg.norm(true))
    return float(np.linalg.norm(filled - true)) / size if size else None


def _features(problem: Problem, method: str) -> Floats:
    """What the network is given: NaN only for PaGNN, which knows what to do with it."""
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


def _trained(problem: Problem, X: NDArray[Any], model: str, setting: Setting) -> Fitted:
    from . import _train as train
    from ._models import gcn, sage

    networks = {"gcn": gcn.network, "sage": sage.network, "pagnn": gcn.partial_network}
    dataset = problem.dataset
    with train.seeded(problem.seed):
        built = networks[model](X, dataset.graph, dataset.n_classes, setting)
    return train.fit(built, dataset.y, problem.split, setting, problem.seed)
