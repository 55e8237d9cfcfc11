"""The paper's iteration."""

from __future__ import annotations

import numpy as np

from .system import Progress, Solution, System, relative


def is_measured(step: int, n_iter: int, reference: np.ndarray | None) -> bool:
    """Whether step 1, 2, ... measures the residual: the last does, for the answer, and the first
    where there is no ``reference`` yet, for what residuals are relative to."""
    return step == n_iter or (step == 1 and reference is None)


def diffusion(system: System, n_iter: int, tick: Progress) -> Solution:
    """Run z_u <- D_uu^-1 (A_uu z_u + A_uk z_k), known cells held fixed, ``n_iter`` times.

    The residual comes free with the last step: D (z_k+1 - z_k) is the residual of z_k. It
    only shrinks from step to step, so what is reported bounds that of the result.

    References
    ----------
    Rossi et al., On the Unreasonable Effectiveness of Feature Propagation in Learning on
    Graphs with Missing Node Features, 2022, Algorithm 1.
    """
    passes, scale, known = system.passes, system.scale, system.known
    z, spare = system.z, system.copy()
    width = z.shape[1]
    reference, squared = system.reference, np.zeros(width)
    for step in range(1, n_iter + 1):
        if is_measured(step, n_iter, reference):
            squared = passes.diffuse_measured(scale, known, z, spare, system.source)
            reference = squared if reference is None else reference
        else:
            passes.diffuse(scale, known, z, spare, system.source)
        z, spare = spare, z
        tick(1.0 / n_iter)
    if not n_iter:
        squared = passes.residual(system.diagonal, known, z, spare, system.source)
        reference = system.reference_or(squared)
    assert reference is not None
    return Solution(z, np.full(width, n_iter), relative(squared, reference))
