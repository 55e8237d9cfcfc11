"""Refusals of experiments: sets, splits, masks, fills and the record of what was run."""

from __future__ import annotations

import difflib
import os
from collections.abc import Collection, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, cell, first_cell, option


def check_name(kind: str, name: Any, names: Collection[str]) -> None:
    """Refuse the name of a set, method, model, mask or split that there is none of."""
    if name in names:
        return
    near = difflib.get_close_matches(str(name), list(names), 1, 0.5)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names)}."
    raise InputError(f"There is no {kind} {name!r}: {hint}")


def check_installed(packages: Sequence[str]) -> None:
    """Refuse experiments without the packages they take."""
    absent = [name for name in packages if find_spec(name) is None]
    if absent:
        raise InputError(
            f"Experiments take {' and '.join(absent)}, which is not installed: run "
            'pip install "graphfill[bench]".'
        )


# -- sets --


def no_data(name: str, file: str | None, reason: str) -> InputError:
    """A set that is neither in the user's folder nor to be had."""
    if file is None:
        return InputError(
            f"The set {name!r} is not here and cannot be downloaded ({reason}): connect to the "
            "network first."
        )
    where = "has none" if os.environ.get("GRAPHFILL_DATA") else "is not set"
    return InputError(
        f"The set {name!r} is not here: put {file} into the folder that GRAPHFILL_DATA names "
        f"(which {where}), or have it downloaded, which failed ({reason})."
    )


def check_digest(path: Any, expected: str, found: str) -> None:
    """Refuse a file that is not the one the published figures were computed from."""
    if expected != found:
        raise InputError(
            f"{path} is not the file that is known by its name (its SHA-256 begins with "
            f"{found[:12]}, not {expected[:12]}): get it again, or remove it so that it is "
            "downloaded."
        )


def unreadable_set(path: Any, reason: Any) -> InputError:
    """A file of a set that does not hold what it should."""
    return InputError(f"{path} cannot be read ({reason}): remove it so that it is downloaded.")


def download_failed(url: str, reason: Any) -> InputError:
    """A download that did not come to its end."""
    return InputError(f"{url} could not be downloaded ({reason}): nothing is kept; try again.")


def check_has_features(name: str, method: str, n_features: int) -> None:
    """Refuse to fill what is not there."""
    if n_features == 0:
        raise InputError(
            f"The set {name!r} has no features here, which method {method!r} takes: run 'labels' "
            "or 'positional' on it, or unset GRAPHFILL_DATA so that it is downloaded with them."
        )


def check_complete(name: str, n_gaps: int) -> None:
    """Refuse the true features of a set that has gaps of its own."""
    if n_gaps:
        raise InputError(
            f"Method 'full' takes a table without gaps but {n_gaps} cells of {name!r} are missing: "
            "leave 'full' out."
        )


def check_labels(name: Any, n_classes: int, n_labelled: int) -> None:
    """Refuse a column that cannot be learnt."""
    if n_classes < 2:
        raise InputError(
            f"Column {name!r} has {n_classes} class(es) in {n_labelled} labelled row(s) but there "
            f"is nothing to learn below 2: name another with {option('label')}."
        )


def check_columns_to_learn_from(n_channels: int, holder: Any) -> None:
    """Refuse a table of nothing but ids and labels."""
    if n_channels == 0:
        raise InputError(
            f"There is no column of numbers or categories in {holder} beside its ids and labels: "
            "add one, for there is nothing to hide and fill."
        )


def check_files_together(nodes: Any, edges: Any, label: Any) -> None:
    """Refuse a part of a graph from files."""
    given = {"nodes": nodes, "edges": edges, "label": label}
    absent = [option(name) for name, value in given.items() if value is None]
    if 0 < len(absent) < len(given):
        raise InputError(
            f"A graph from files takes {option('nodes')}, {option('edges')} and "
            f"{option('label')}: {' and '.join(absent)} is not given."
        )


# -- splits and masks --


def check_class_size(name: str, label: int, size: int, wanted: int, where: str = "") -> None:
    """Refuse a class with too few nodes to train on."""
    if size < wanted:
        raise InputError(
            f"Class {label} of {name!r} has {size} node(s){where} but the split takes {wanted} of "
            f"each class to train on: use {option('split')} thirds."
        )


def check_rest(name: str, size: int, wanted: int, part: str) -> None:
    """Refuse a part of a split that takes all nodes there are, and leaves none to test on."""
    if size <= wanted:
        raise InputError(
            f"The split takes {wanted} nodes of {name!r} for {part}, and some more to test on, but "
            f"there are {size} for both: use {option('split')} thirds."
        )


def no_official_split(name: str) -> InputError:
    """A set that comes without a split."""
    return InputError(
        f"The set {name!r} comes without an official split: use {option('split')} paper or thirds."
    )


def check_rate(rate: Any) -> None:
    """Refuse a share of cells that is none."""
    number = isinstance(rate, (int, float, np.floating)) and not isinstance(rate, bool)
    if not (number and 0 <= rate < 1):
        raise InputError(f"The rate is {rate!r} but must be a share of cells, from 0 to below 1.")


def mask_needs_split(kind: str) -> InputError:
    """A mask that tells training nodes from others, and is not told them."""
    return InputError(f"The mask {kind!r} depends on who is trained on: pass split=.")


# -- a user's own method --


def not_a_function(name: str, reason: Any) -> InputError:
    """A method that is neither known nor a function of the user's."""
    return InputError(
        f"Method {name!r} cannot be loaded ({reason}): write path/to/file.py:function or "
        "module:function."
    )


def failed_fill(name: str, error: Exception) -> InputError:
    """A user's function that raised."""
    return InputError(
        f"Method {name!r} failed ({type(error).__name__}: {error}): it is called with the features "
        "(NaN where missing), the graph and a seed."
    )


def check_filled_matrix(name: str, filled: NDArray[Any], X: NDArray[Any]) -> None:
    """Refuse a fill of another shape, with gaps, or with other values where they were known."""
    if filled.shape != X.shape:
        raise InputError(
            f"Method {name!r} returned an array of shape {filled.shape} but was given one of "
            f"{X.shape}: return the features with their gaps filled."
        )
    if filled.dtype.kind not in "fiub":
        raise InputError(
            f"Method {name!r} returned an array of {filled.dtype}: return numbers, float32."
        )
    with np.errstate(over="ignore"):
        finite = np.isfinite(filled.astype(np.float32))  # which networks are trained in
    if not finite.all():
        row, column = first_cell(~finite)
        raise InputError(
            f"Method {name!r} left {filled[row, column]} at {cell(row, column)}: return a number "
            "that is finite in float32 in every cell."
        )
    changed = ~np.isnan(X) & (filled.astype(np.float32) != X)
    if changed.any():
        row, column = first_cell(changed)
        raise InputError(
            f"Method {name!r} changed the known cell at {cell(row, column)} from "
            f"{X[row, column]:g} to {filled[row, column]:g}: keep known cells as they are."
        )


# -- runs and their record --


def check_model(method: str, model: str | None, takes_model: bool) -> None:
    """Refuse a network where there is none to choose, and none where there is."""
    if takes_model == (model is None):
        rest = "takes a model: name gcn or sage" if takes_model else "takes no model: give None"
        raise InputError(f"Method {method!r} {rest} (it was given {model!r}).")


def unreadable_results(path: Any, reason: Any) -> InputError:
    """A file that is no record of runs."""
    return InputError(
        f"{path} is not a record of runs ({reason}): name another file with {option('results')}."
    )


def unreadable_snapshot(path: Any, reason: Any) -> InputError:
    """A file that does not say where a training stood."""
    return InputError(
        f"{path} does not say where a training stood ({reason}): delete it, and the run begins "
        "anew."
    )


def worker_died(code: int | None) -> str:
    """What is said of a run whose process ended."""
    how = f"was ended by signal {-code}" if code is not None and code < 0 else f"ended with {code}"
    return f"Its process {how} (out of memory?): run it again with fewer {option('jobs')}."
