"""How many different things a whole holds, from how often each was seen in a sample."""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def expected_distinct(times_seen: Array, n_draws: float) -> int:
    r"""Different things among `n_draws`, given how often each was seen in a sample of them.

    With d seen, f_1 of them once and f_2 twice in m draws, about
    :math:`f_0 = f_1^2 / 2 f_2` were missed (Chao's estimate), and so many more draws find

    .. math:: d + f_0 (1 - (1 - f_1 / (m f_0 + f_1))^{n - m})

    Examples
    --------
    >>> expected_distinct(np.array([1, 1, 2, 2]), 6)
    4
    >>> expected_distinct(np.array([1, 1, 1, 1]), 8)
    8
    """
    d, m = len(times_seen), float(times_seen.sum())
    more = max(n_draws - m, 0.0)
    once = float(np.count_nonzero(times_seen == 1))
    twice = float(np.count_nonzero(times_seen == 2))
    if not once or not more:
        return d
    if not twice:  # nothing came back: as far as can be told, nothing ever will
        return int(d + more * once / m)
    missed = once**2 / (2 * twice)
    found = missed * -np.expm1(more * np.log1p(-once / (m * missed + once)))
    return int(d + min(found, more))
