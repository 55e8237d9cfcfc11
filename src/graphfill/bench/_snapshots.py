"""Where a long training stands, kept in a file, so that it goes on from there after any end.

A file is named after all that a training begins with: the weights, the first layer's output, the
graph, the classes, the split, the setting, the seed and the versions. Whatever has changed makes
another name, so no training goes on from what is not its own. The limit on epochs is not in the
name: a training that ended at it goes on when it is raised, with the bits of one that had the
higher limit from the beginning.

While it goes on, a training also reports its epoch and the accuracy there to whoever listens.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import __version__
from ..errors import InputError
from ..io import replacing
from ._problem import Setting, Split

if TYPE_CHECKING:
    from ._models.network import Network

EVERY = 300.0  # seconds of training from one snapshot to the next
REPORT_EVERY = 2.0  # seconds from one report to the next

Listener = Callable[[int, float], None]

folder: Path | None = None  # where they are kept in this process; None: they are not
_listener: Listener | None = None
_last_report = 0.0


def listen(listener: Listener | None) -> None:
    """Report to `listener` from now on, in this process; None: to nobody."""
    global _listener, _last_report
    _listener, _last_report = listener, time.monotonic()


def report(epoch: int, accuracy: float) -> None:
    """Report to whoever listens, if the last report was long enough ago."""
    global _last_report
    if _listener is not None and time.monotonic() - _last_report >= REPORT_EVERY:
        _last_report = time.monotonic()
        _listener(epoch, accuracy)


def file_of(
    network: Network, y: NDArray[np.int64], split: Split, setting: Setting, seed: int
) -> Path | None:
    """The file of a training that begins with this network; None where there are to be none."""
    if folder is None:
        return None
    import torch

    chosen = {key: value for key, value in asdict(setting).items() if key != "max_epochs"}
    digest = blake2b(json.dumps([chosen, seed, __version__, torch.__version__]).encode())
    with torch.no_grad():
        everyone = np.arange(network.operator.shape[0])
        learnt = [*network.state_dict().values(), network.first(network.first.prepare(everyone))]
    S = network.operator
    given = [S.indptr, S.indices, S.data, y, split.train, split.val]
    for values in [*(tensor.cpu().numpy() for tensor in learnt), *given]:
        digest.update(f"{values.dtype}{values.shape}".encode())
        digest.update(np.ascontiguousarray(values).data)
    return folder / f"{digest.hexdigest()[:32]}.pt"


class Snapshot:
    """The file of one training as `file_of` gives it; None: nothing is kept.

    Its parts, by name, have ``state_dict`` and ``load_state_dict``; mini-batches are drawn from
    its `bits`, and dropout from torch's own.
    """

    def __init__(
        self, path: Path | None, parts: dict[str, Any], bits: np.random.BitGenerator
    ) -> None:
        self._path, self._parts, self._bits = path, parts, bits
        self._begun = self._saved = time.monotonic()
        self.seconds = 0.0  # of training before this process took it up

    def restore(self, max_epochs: int) -> None:
        """Bring everything to where the file says it was, unless that is beyond the limit."""
        import torch

        if self._path is None or not self._path.exists():
            return
        try:
            state = torch.load(self._path, weights_only=True)
        except Exception as error:  # damage may raise an error of any kind
            reason = str(error).partition("\n")[0]
            raise InputError(
                f"{self._path} does not say where a training stood ({reason}): delete it, and the "
                "run begins anew."
            ) from None
        if state["parts"]["stopping"]["epoch"] > max_epochs:
            self._path = None  # it is kept for a training with a higher limit
            return
        for name, part in self._parts.items():
            part.load_state_dict(state["parts"][name])
        self._bits.state = json.loads(state["bits"])
        torch.set_rng_state(state["torch"])
        for number, numbers in enumerate(state["cuda"]):
            torch.cuda.set_rng_state(numbers, number)
        self.seconds = state["seconds"]

    def keep(self) -> None:
        """Write the file, if the last time was long enough ago."""
        if self._path is not None and time.monotonic() - self._saved >= EVERY:
            self._write(self._path)
            self._saved = time.monotonic()

    def close(self, goes_on: bool) -> None:
        """The training has ended; `goes_on`: with a higher limit it would go on."""
        if self._path is None:
            return
        if not goes_on:
            self._path.unlink(missing_ok=True)
        elif time.monotonic() - self._begun >= EVERY or self.seconds:
            self._write(self._path)

    def _write(self, path: Path) -> None:
        import torch

        state = {
            "parts": {name: part.state_dict() for name, part in self._parts.items()},
            "bits": json.dumps(self._bits.state),
            "torch": torch.get_rng_state(),
            "cuda": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
            "seconds": self.seconds + time.monotonic() - self._begun,
        }
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with replacing(path) as file:
                torch.save(state, file)
        except (OSError, InputError) as error:  # a full disk must not end the training
            warnings.warn(f"This training would begin anew after a stop: {error}", stacklevel=2)
            self._path = None
