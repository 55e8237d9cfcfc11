"""GCNMF: the first layer integrates over the missing cells, under a mixture of Gaussians.

References
----------
Taguchi, Liu and Murata, Graph convolutional networks for graphs containing missing features,
2021.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor, nn

from .._problem import Outcome, Problem, Setting
from .._train import fit, seeded
from .blocks import FixedMatrix, as_tensor, operand, receptive_field
from .gcn import Convolution, operator
from .network import Network, widths

N_COMPONENTS = 5
EM_STEPS = 20  # of the mixture the training starts from, which it goes on to change
SPARSE = 0.1  # up to this density a sparse product is the faster one
NO_VARIANCE = 1e-12
FAR = 12.0  # standard deviations; farther out the density is zero but slow to compute


def run(problem: Problem, setting: Setting) -> Outcome:
    """Train GCNMF: its own first layer, then graph convolutions; its mixture counts as the fill."""
    X, y = problem.incomplete(), problem.dataset.y
    start = time.perf_counter()
    mixture = start_mixture(X, N_COMPONENTS, problem.seed)
    seconds = time.perf_counter() - start
    S = operator(problem.dataset.graph)
    n_classes = problem.dataset.n_classes
    with seeded(problem.seed):
        first = MixtureConvolution(X, S, mixture, widths(setting, n_classes)[0])
        network = Network(first, Convolution, S, n_classes, setting)
    outcome = fit(network, y, problem.split, setting, problem.seed)
    return replace(outcome, fill_seconds=seconds)


class Mixture(NamedTuple):
    """Gaussians with diagonal covariances: weights [K], means and variances [K, columns]."""

    weights: NDArray[np.floating]
    means: NDArray[np.floating]
    variances: NDArray[np.floating]


def start_mixture(X: NDArray[np.floating], n_components: int, seed: int) -> Mixture:
    """Fit the mixture to X with missing cells at their column's mean, by a few steps of EM.

    A column without a known cell stays, as zeros.

    >>> X = np.array([[0.0, np.nan], [0.0, np.nan], [9.0, np.nan], [9.0, np.nan]])
    >>> np.sort(start_mixture(X, 2, seed=0).means, axis=0)
    array([[0., 0.],
           [9., 0.]])
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.mixture import GaussianMixture

    known = ~np.isnan(X)
    filled = np.where(known, X, 0.0).astype(np.float64)
    means = filled.sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    np.copyto(filled, means, where=~known)
    model = GaussianMixture(
        min(n_components, len(X)), covariance_type="diag", max_iter=EM_STEPS, random_state=seed
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(filled)
    return Mixture(model.weights_, model.means_, model.covariances_)


class MixtureConvolution(nn.Module):
    r"""The expected output of a graph convolution and ReLU, missing cells being random.

    .. math:: h_i = \sum_k \gamma_{ik} E[\mathrm{ReLU}(N(a_{ik}, s_{ik}))], \quad
        a_k = S (m_k W + b), \quad s_k = (S \odot S) (v_k (W \odot W))

    with m_k the rows of X whose missing cells are at the mean of component k, v_k its variances
    there and 0 elsewhere, and gamma_i the probabilities of the components given the known cells
    of row i.
    Without a missing cell it is ReLU(S (X W + b)). Training starts from the mixture that is given.
    """

    def __init__(
        self, X: NDArray[np.floating], S: sparse.csr_array, mixture: Mixture, width: int
    ) -> None:
        super().__init__()
        known = ~np.isnan(X)
        self._values = sparse.csr_array(np.where(known, X, 0))
        self._known, self._S, self._squares = known, S, S.multiply(S).tocsr()

        def parameter(values: Any) -> nn.Parameter:
            return nn.Parameter(as_tensor(np.asarray(values).astype(X.dtype)))

        self.logits = parameter(np.log(np.maximum(mixture.weights, 1e-12)))
        self.means = parameter(mixture.means.T)
        self.log_variances = parameter(np.log(mixture.variances.T))
        self.weight = parameter(np.zeros((X.shape[1], width)))
        self.bias = parameter(np.zeros(width))
        nn.init.xavier_uniform_(self.weight)

    def prepare(self, rows: NDArray[np.int64]) -> _Part:
        """Cut out what these rows and their neighbours know."""
        field = receptive_field(self._S, rows, 1)
        square = receptive_field(self._squares, rows, 1)
        values, known = self._values[field.rows], self._known[field.rows]
        own, dtype = values[: len(rows)], self._values.dtype
        return _Part(
            S=field.blocks[0].matrix,
            squares=square.blocks[0].matrix,
            values=_fixed(values),
            missing=_Missing(known, dtype),
            own_values=_fixed(own),
            own_squares=_fixed(own.multiply(own).tocsr()),
            own_known=_fixed(sparse.csr_array(known[: len(rows)].astype(dtype))),
        )

    def forward(self, part: _Part) -> Tensor:
        W, variances = self.weight, self.log_variances.exp()
        n_columns, width = W.shape
        # Every component side by side, so that one product serves all: [columns, 2 K width].
        spread = torch.stack([self.means, variances], dim=1)[..., None]
        wide = (spread * torch.stack([W, W * W], dim=1)[:, :, None]).reshape(n_columns, -1)
        m, v = (part.missing @ wide).chunk(2, dim=1)
        base = part.values @ W + self.bias
        m = (m.reshape(len(m), -1, width) + base[:, None]).flatten(1)
        a, s = part.S @ m, part.squares @ v.contiguous()
        E = expected_relu(a, s).view(len(a), -1, width)
        expected: Tensor = (self._responsibilities(part)[:, None] @ E)[:, 0]
        return expected

    def _responsibilities(self, part: _Part) -> Tensor:
        """Probability of each component given what is known of each row, [rows, K].

        The determinant counts per component (summed over all of them it would cancel) and over
        known columns only: over all, the component of least variance would take every row.
        """
        precision = (-self.log_variances).exp()
        distance = (
            part.own_squares @ precision
            - 2.0 * (part.own_values @ (self.means * precision))
            + part.own_known @ (self.means.square() * precision + self.log_variances)
        )
        return (self.logits - 0.5 * distance).softmax(1)


class _ExpectedReLU(torch.autograd.Function):
    r"""E[max(Z, 0)] for Z normal of mean a and variance s.

    .. math:: \sqrt{s} (\varphi(w) + w \Phi(w)), \quad w = a / \sqrt{s}

    and ReLU(a) where s = 0, with no gradient to s.

    >>> expected_relu(torch.tensor([0.0, -1.0, 2.0]), torch.tensor([1.0, 0.0, 0.0]))
    tensor([0.3989, 0.0000, 2.0000])
    """

    @staticmethod
    def forward(ctx: Any, a: Tensor, s: Tensor) -> Tensor:
        random = s > NO_VARIANCE
        root = s.clamp_min(NO_VARIANCE).sqrt_()
        w = (a / root).clamp_(-FAR, FAR)
        below = torch.special.ndtr(w)
        density = (w.square_() * -0.5).exp_().mul_(1.0 / math.sqrt(2.0 * math.pi))
        expected = torch.addcmul(root * density, a, below).clamp_min_(0.0)
        ctx.save_for_backward(a, below, density, root, random)
        return torch.where(random, expected, a.clamp_min(0.0))

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor]:
        a, below, density, root, random = ctx.saved_tensors
        to_a = gradient * torch.where(random, below, (a > 0).to(a.dtype))
        to_s = gradient * torch.where(random, 0.5 * density / root, 0.0)
        return to_a, to_s


expected_relu: Callable[[Tensor, Tensor], Tensor] = _ExpectedReLU.apply


class _Part(NamedTuple):
    """Fixed matrices: of the rows and their neighbours, then of the rows themselves (``own_``)."""

    S: FixedMatrix
    squares: FixedMatrix
    values: FixedMatrix | Tensor
    missing: _Missing
    own_values: FixedMatrix | Tensor
    own_squares: FixedMatrix | Tensor
    own_known: FixedMatrix | Tensor


class _Missing:
    """The 0/1 matrix with a one where a cell is missing, by whichever product is cheapest."""

    def __init__(self, known: NDArray[np.bool_], dtype: np.dtype) -> None:
        self._whole: Tensor | None = None
        if known.mean() < SPARSE:  # few known: everything less what is known
            self._matrix = _fixed(sparse.csr_array(known.astype(dtype)))
            # Where nothing is missing the difference must be zero, not rounding.
            some = ~known.all(axis=1, keepdims=True)
            self._whole = as_tensor(some.astype(dtype))
        else:
            self._matrix = _fixed(sparse.csr_array((~known).astype(dtype)))

    def __matmul__(self, V: Tensor) -> Tensor:
        product = self._matrix @ V
        return product if self._whole is None else (V.sum(0) - product) * self._whole


def _fixed(A: sparse.csr_array) -> FixedMatrix | Tensor:
    return operand(A, SPARSE)
