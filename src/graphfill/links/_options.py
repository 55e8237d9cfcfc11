"""What rows are to be linked by, as one object: checked when it is made, and passed on whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import InputError, check_flag, check_number, option, parameter


@dataclass(frozen=True, kw_only=True)
class LinkOptions:
    """How rows without a list of edges are linked.

    Attributes
    ----------
    near : two columns, latitude and longitude or plane coordinates
    same : columns whose equal cells link rows
    like : columns by which rows are alike
    time : the column that says when
    plane : whether coordinates lie in a plane; None: as their values say
    join : whether groups of places without a link between them get the shortest
    nearest : how many neighbours by `near` and by `like`; None: chosen on held-out cells

    Examples
    --------
    >>> LinkOptions(same="household").same
    ('household',)
    """

    near: Sequence[Any] | None = None
    same: Sequence[Any] = ()
    like: Sequence[Any] = ()
    time: Any = None
    plane: bool | None = None
    join: bool = False
    nearest: int | None = None

    def __post_init__(self) -> None:
        for name in ("near", "same", "like"):
            given = getattr(self, name)
            if given is not None:
                columns = (given,) if isinstance(given, str) else tuple(given)
                object.__setattr__(self, name, columns)
                _check_different(name, columns)
        if self.near is not None and len(self.near) != 2:
            raise InputError(
                f"{parameter('near')} names {len(self.near)} column(s) but takes two: latitude and "
                "longitude, or the two coordinates of a plane."
            )
        if self.nearest is not None:
            check_number(parameter("nearest"), self.nearest, low=1, integer=True)
            if self.near is None and not self.like:
                raise InputError(
                    f"{parameter('nearest')} says how many neighbours, which {option('near')} or "
                    f"{option('like')} looks for: name one of them, or leave it out."
                )
        check_flag(parameter("join"), self.join)
        for name in ("plane", "join"):
            if getattr(self, name) and self.near is None:
                raise InputError(
                    f"{parameter(name)} is about places: name their columns with {option('near')}, "
                    "or leave it out."
                )

    def __bool__(self) -> bool:
        """Whether any link is asked for."""
        return bool(self.near or self.same or self.like or self.time is not None)

    @property
    def columns(self) -> tuple[Any, ...]:
        """The columns that rows are linked by."""
        when = () if self.time is None else (self.time,)
        return (*(self.near or ()), *self.same, *self.like, *when)


def _check_different(name: str, columns: Sequence[Any]) -> None:
    """Refuse a column that is named twice."""
    for number, column in enumerate(columns):
        if column in columns[:number]:
            raise InputError(f"{parameter(name)} names column {column!r} twice: name it once.")
