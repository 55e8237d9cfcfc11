"""What a fitted table is held to: its columns, their types and scales, and how they are filled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, named, option
from ..report import listed
from ..solve import Coupling, FieldModel, PropagationOptions
from ..trust import Blend, Choice, FillOptions, Kept, RankScale
from ._column import Column
from ._options import Source, TableOptions

FORMAT = "graphfill table imputer"
VERSION = 2
MODEL = ("exponent", "centre", "scale", "varying")  # arrays of a field
COUPLING = ("modes", "rows", "links")


@dataclass
class Keeping:
    """A fit's columns, by name: kind, type, and scale ({} for one that is left alone).

    While a table is fitted this is written; once ``kept.applies``, later tables are held to it.
    """

    columns: dict[str, dict[str, Any]] = field(default_factory=dict)
    kept: Kept = field(default_factory=lambda: Kept(trees={}))
    path: Any = None  # of the file that it was read from

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Refuse a file with which nothing can be done: those that were forged hold anything."""
        try:
            yield
        except (ArithmeticError, LookupError, TypeError, AttributeError, ValueError) as error:
            if isinstance(error, InputError) or self.path is None:
                raise
            reason = f"{type(error).__name__}: {' '.join(str(error).split())[:100]}"
            raise InputError(
                f"What {self.path} holds cannot be used ({reason}): fit and save the imputer again."
            ) from error

    def prepare(
        self, options: TableOptions, source: Source, names: Sequence[str]
    ) -> tuple[TableOptions, Source, list[str]]:
        """How a later table with these columns is opened, and a note on what is new in it."""
        if not self.kept.applies:
            return options, source, []
        for name, one in self.columns.items():
            if one["learnt"] and name not in names:
                raise InputError(
                    f"There is no column {name!r} in {source.naming.table}, which the imputer was "
                    "fitted with: add it, or fit the imputer again."
                )
        ids = options.id
        extra = [name for name in names if name not in self.columns and name != ids]
        kinds = {n: "category" for n, one in self.columns.items() if one["kind"] == "category"}
        alone = {n: "as in the fit" for n, one in self.columns.items() if not one["learnt"]}
        options = replace(
            options,
            columns=[name for name in options.columns or () if name in names] or None,
            exclude=[*(name for name in options.exclude if name in names), *extra],
            types={n: k for n, k in (kinds | dict(options.types)).items() if n in names},
        )
        note = f"New since the fit and left alone: {listed([repr(name) for name in extra])}."
        source = replace(source, left_alone=alone | dict(source.left_alone))
        return options, source, [note] if extra else []

    def settle(self, columns: Mapping[str, Column], holder: str) -> list[str]:
        """Write columns down, or hold them to what was written; notes on what the fit never saw."""
        notes = []
        for name, column in columns.items():
            if not self.kept.applies:
                self.columns[name] = {
                    "kind": column.kind,
                    "type": column.type,
                    "learnt": column.learnt() if column.n_channels else {},
                }
                continue
            one = self.columns.get(name)
            if not one or not one["learnt"] or column.missing.all():
                continue
            if not _same_type(one["type"], column.type) or not column.n_channels:
                raise InputError(
                    f"Column {name!r} of {holder} is of the type {column.type}, but was of the "
                    f"type {one['type']} in the fit: convert it, or fit the imputer again."
                )
            column.hold(one["learnt"])
            notes += _unseen_note(column)
            if column.missing.any() and not self.kept.has_method(name):
                notes.append(
                    f"Column {name!r} had no missing cell in the fit, so that no method was chosen "
                    "for it: it is propagated."
                )
        return notes


def _same_type(old: str, new: str) -> bool:
    """Whether a column is what it was; pandas makes floats of integers with gaps."""
    classes, floats = {"text", "category"}, {"double", "float"}
    whole = old.startswith(("int", "uint")) or new.startswith(("int", "uint"))
    either = {old, new}
    return old == new or either <= classes or either <= floats or (whole and bool(either & floats))


def _unseen_note(column: Column) -> list[str]:
    unseen = np.flatnonzero(column.unseen)
    if not len(unseen):
        return []
    return [
        f"Column {column.name!r} has {len(unseen):,} cell(s) of categories that the fit never saw: "
        "they are kept, inform no other cell, and are filled in nowhere."
    ]


# -- as plain numbers and arrays --


def as_parts(
    options: TableOptions, keeping: Keeping
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """A record for JSON, and the arrays beside it."""
    kept, arrays = keeping.kept, {}  # type: tuple[Kept, dict[str, NDArray[Any]]]
    for name in keeping.columns:
        if not isinstance(name, str):
            raise InputError(f"The column {named(name)} cannot be saved: name columns by texts.")
    for number, model in enumerate(kept.fields.values()):
        arrays |= {f"field{number}.{part}": getattr(model, part) for part in MODEL}
        if model.coupling is not None:
            parts = {part: getattr(model.coupling, part) for part in COUPLING}
            arrays |= {f"field{number}.{part}": array for part, array in parts.items()}
    for use, scales in kept.scales.items():
        for number, scale in enumerate(scales.values()):
            part = f"{use}{number}"
            arrays |= {f"{part}.values": scale.known, f"{part}.scores": scale.normal}
    for number, (X, y, *_) in enumerate((kept.trees or {}).values()):
        arrays |= {f"trees{number}.inputs": X, f"trees{number}.levels": y}
    fill = replace(options.fill, intervals=None, scores=False, draws=0, together=None, layout=None)
    options = replace(options, fill=fill, details=False, add_bounds=True, links=None)
    for marker in (*options.missing, *options.values):
        if not isinstance(marker, (str, int, float)):
            raise InputError(
                f"{option('missing')} holds {named(marker)}, which a file cannot keep: use texts "
                "and numbers."
            )
    return {
        "format": FORMAT,
        "version": VERSION,
        "options": asdict(options),
        "columns": keeping.columns,
        "choices": {name: asdict(choice) for name, choice in kept.choices.items()},
        "reliances": kept.reliances,
        "coupled": kept.columns,
        "fields": list(kept.fields),
        "scales": {use: list(scales) for use, scales in kept.scales.items()},
        "trees": {name: how for name, (_, _, *how) in (kept.trees or {}).items()},
    }, arrays


def of_parts(
    record: Any, arrays: Mapping[str, NDArray[Any]], path: Any
) -> tuple[TableOptions, Keeping]:
    """What was saved; refused where a part is missing or of another version."""
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise InputError(f"{path} holds something else than a saved imputer: name another file.")
    if record.get("version") != VERSION:
        raise InputError(
            f"{path} is of version {record.get('version')!r} but this graphfill reads version "
            f"{VERSION}: fit and save the imputer again."
        )
    try:
        fill = dict(record["options"]["fill"])
        known = {one.name for one in fields(PropagationOptions)}
        propagation = {n: v for n, v in fill.pop("propagation").items() if n in known}
        filling = FillOptions(**fill, propagation=PropagationOptions(**propagation))
        options = TableOptions(**record["options"] | {"fill": filling})
        kept = Kept(
            applies=True,
            choices={name: _choice(choice) for name, choice in record["choices"].items()},
            reliances=dict(record["reliances"]),
            columns={name: (one, two) for name, (one, two) in record["coupled"].items()},
            trees={
                name: (arrays[f"trees{k}.inputs"], arrays[f"trees{k}.levels"], *how)
                for k, (name, how) in enumerate(record["trees"].items())
            },
        )
        for k, name in enumerate(record["fields"]):
            exponent, centre, scaling, varying = (arrays[f"field{k}.{part}"] for part in MODEL)
            model = FieldModel(exponent, centre, scaling, varying, None)
            if f"field{k}.modes" in arrays:
                coupling = Coupling(*(arrays[f"field{k}.{part}"] for part in COUPLING))
                model = replace(model, coupling=coupling)
            kept.fields[name] = model
        for use, names in record["scales"].items():
            for k, name in enumerate(names):
                scale = arrays[f"{use}{k}.values"], arrays[f"{use}{k}.scores"]
                kept.scales.setdefault(use, {})[name] = RankScale.of_table(*scale)
        columns = {
            str(name): {"kind": one["kind"], "type": one["type"], "learnt": one["learnt"]}
            for name, one in record["columns"].items()
        }
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        what = f"the part {error}" if isinstance(error, KeyError) else "a part of the right form"
        raise InputError(f"{path} lacks {what}: fit and save the imputer again.") from error
    return options, Keeping(columns, kept, path)


def _choice(record: dict[str, Any]) -> Choice:
    blend = record["blend"]
    if blend is not None:
        steps = blend["steps"]
        blend = Blend(dict(blend["weights"]), None if steps is None else tuple(steps))
    return Choice(record["chosen"], record["why"], record["scores"], blend)
