"""What a long run says of itself while it goes on: the epoch, and the accuracy there."""

from __future__ import annotations

import time
from collections.abc import Callable

EVERY = 2.0  # seconds

Listener = Callable[[int, float], None]

_listener: Listener | None = None
_last = 0.0


def listen(listener: Listener | None) -> None:
    """Have `listener` told from now on, in this process; None: nobody."""
    global _listener, _last
    _listener, _last = listener, time.monotonic()


def beat(epoch: int, accuracy: float) -> None:
    """Tell whoever listens, if it was not told just now."""
    global _last
    if _listener is not None and time.monotonic() - _last >= EVERY:
        _last = time.monotonic()
        _listener(epoch, accuracy)
