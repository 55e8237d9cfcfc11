"""A worker process of :class:`~.local.LocalEngine`: jobs come in, results go out."""

from __future__ import annotations

import os
import pickle
from typing import Any, BinaryIO


def main() -> None:
    """Serve until the driver closes the pipe, also by dying."""
    jobs = os.fdopen(os.dup(0), "rb")
    results = os.fdopen(os.dup(1), "wb")
    # What a job prints must not get between the results, nor may it read the jobs.
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    while (job := receive(jobs)) is not None:
        function, argument = job
        answer: tuple[bool, Any]
        try:
            answer = True, function(argument)
        except Exception as error:
            answer = False, error
        send(results, answer)


def send(pipe: BinaryIO, message: Any) -> None:
    """Write one message."""
    try:
        data = pickle.dumps(message)
    except Exception as error:  # an exception that cannot travel: its text can
        data = pickle.dumps((False, RuntimeError(f"{message!r} cannot be sent: {error}")))
    pipe.write(len(data).to_bytes(8, "little") + data)
    pipe.flush()


def receive(pipe: BinaryIO) -> Any:
    """Read one message; None when the other side is gone."""
    header = pipe.read(8)
    if len(header) < 8:
        return None
    data = pipe.read(size := int.from_bytes(header, "little"))
    return pickle.loads(data) if len(data) == size else None


if __name__ == "__main__":
    main()
