"""What travels to a worker, and what comes back."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

Array = np.ndarray


@dataclass(frozen=True)
class Job:
    """One step of one shard: small, so that it travels well.

    Attributes
    ----------
    folder, shard : whose
    step : name of the step, a key of STEPS
    version : of the arrays it writes
    reads : the version of each array it reads
    lanes : numbers per column that the step needs
    """

    folder: str
    shard: int
    step: str
    version: int
    reads: dict[str, int] = field(default_factory=dict)
    lanes: dict[str, Array] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.step}, version {self.version}, shard {self.shard} of {self.folder}"


@dataclass(frozen=True)
class Done:
    """What a step returns: checksums of what it wrote, and sums per block of rows."""

    checksums: dict[str, int] = field(default_factory=dict)
    sums: Array | None = None
    more: Array | None = None
