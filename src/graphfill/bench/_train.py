"""Train a network on some rows, keep the weights of its best validation epoch, test those.

How a model plugs in
--------------------
`fit` trains a `models.network.Network`: a first layer, and further layers that are products
with ``network.operator``. The first layer is a module with two methods::

    part = network.first.prepare(rows)   # once for each set of rows: cut out what they need
    H = network.first(part)              # every epoch: their output before ReLU and dropout

Nothing is dropped out before the first layer, so that its output after a step serves twice: to
judge the weights just reached, and to take the next step from. `fit` asks for two sets of rows:
those that the training loss depends on (with gradient), and the further ones that the validation
rows depend on (without). At the end it asks for all rows once, with the weights that were kept.
A model whose first layer is no fixed matrix times W (the mixture of GCNMF, say) brings a first
layer of its own and takes the further ones from `models.gcn`. Build it under `seeded(seed)`.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from . import _snapshots as snapshots
from ._models.blocks import Sampler, as_tensor, device, receptive_field, whole
from ._models.network import Network
from ._problem import Outcome, Setting, Split
from ._table import AREA


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Torch's random numbers from `seed` within, and as if nothing had happened afterwards."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        yield


@contextmanager
def _no_subnormals() -> Iterator[None]:
    """Gradients below 1e-38 count as zero: a CPU takes thirty times as long for them."""
    flushed = torch.set_flush_denormal(True)
    try:
        yield
    finally:
        if flushed:
            torch.set_flush_denormal(False)


def fit(
    network: Network,
    y: NDArray[np.int64],
    split: Split,
    setting: Setting,
    seed: int,
) -> Outcome:
    """Minimise the cross-entropy of the training rows by Adam, with early stopping.

    An epoch is one step (or one pass over the mini-batches) and the validation accuracy after
    it. Training ends after `setting.patience` epochs without a higher validation accuracy; an
    equal one is no progress, so that of several best epochs the first is kept. The seed is that of
    dropout and of the mini-batches: the same one gives the same bits on one thread. The network
    has the weights of the best epoch afterwards.
    """
    started = time.perf_counter()
    network.to(device())
    optimizer = torch.optim.Adam(
        network.parameters(), lr=setting.lr, weight_decay=setting.weight_decay, fused=True
    )
    rng = np.random.default_rng(seed)
    stopping = _EarlyStopping(network, setting)
    snapshot = snapshots.Snapshot(
        snapshots.file_of(network, y, split, setting, seed),
        {"network": network, "optimizer": optimizer, "stopping": stopping},
        rng.bit_generator,
    )
    with seeded(seed), _no_subnormals():
        snapshot.restore(setting.max_epochs)
        if setting.batch is None:
            epochs = _whole_epochs(network, optimizer, y, split)
        else:
            epochs = _sampled_epochs(network, optimizer, y, split, setting, rng)
        while not stopping.over:
            accuracy = next(epochs)
            stopping.note(accuracy)
            snapshots.report(stopping.epoch, accuracy)
            snapshot.keep()
        snapshot.close(goes_on=not stopping.exhausted)
    network.load_state_dict(stopping.kept)
    logits, truth = scores(network)[split.test], y[split.test]
    two = logits.shape[1] == 2 and 0 < truth.sum() < truth.size
    return Outcome(
        test_accuracy=_accuracy(logits.argmax(1), truth),
        val_accuracy=stopping.best,
        n_epochs=stopping.epoch,
        best_epoch=stopping.best_epoch,
        fill_seconds=0.0,
        # Those of earlier processes too, if it went on from a snapshot.
        train_seconds=snapshot.seconds + time.perf_counter() - started,
        details={AREA: 100.0 * _area(logits[:, 1] - logits[:, 0], truth)} if two else {},
    )


def _area(likelier: NDArray[Any], truth: NDArray[np.int64]) -> float:
    """Under the ROC curve: how often a node of class 1 is the likelier one to be of it."""
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(truth, likelier))


def scores(network: Network) -> NDArray[np.float32]:
    """The score of every class at every node, the higher the likelier."""
    everyone = np.arange(network.operator.shape[0])
    network.eval()
    with torch.no_grad():
        H = network.first(network.first.prepare(everyone))
        return network.rest(H, whole(network.operator, network.n_blocks)).cpu().numpy()


class _EarlyStopping:
    def __init__(self, network: Network, setting: Setting) -> None:
        self._network, self._setting = network, setting
        self.epoch = self.best_epoch = 0
        self.best = -1.0
        self.kept = copy.deepcopy(network.state_dict())

    def note(self, accuracy: float) -> None:
        """One more epoch came to this accuracy."""
        self.epoch += 1
        if accuracy > self.best:
            self.best, self.best_epoch = accuracy, self.epoch
            self._keep(self._network.state_dict())

    @property
    def exhausted(self) -> bool:
        """Whether there was no progress for too long."""
        return self.epoch - self.best_epoch >= self._setting.patience

    @property
    def over(self) -> bool:
        """Whether that was the last epoch."""
        return self.exhausted or self.epoch >= self._setting.max_epochs

    def _keep(self, weights: dict[str, Tensor]) -> None:
        for name, values in weights.items():
            self.kept[name].copy_(values)

    def state_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("epoch", "best_epoch", "best", "kept")}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.epoch, self.best_epoch, self.best = state["epoch"], state["best_epoch"], state["best"]
        self._keep(state["kept"])


def _whole_epochs(
    network: Network, optimizer: torch.optim.Optimizer, y: NDArray[np.int64], split: Split
) -> Iterator[float]:
    """The validation accuracy after each step on all training rows, without end."""
    S, depth = network.operator, network.n_blocks
    learn = receptive_field(S, split.train, depth)
    judge = receptive_field(S, split.val, depth, among=learn.rows)
    part, further = network.first.prepare(learn.rows), network.first.prepare(judge.rows)
    targets, truth = as_tensor(y[split.train]), as_tensor(y[split.val])

    def accuracy(H: Tensor) -> float:
        network.eval()
        with torch.no_grad():
            H = torch.cat([H, network.first(further)])
            predicted = network.rest(H, judge.blocks).argmax(1)
        network.train()
        return _accuracy(predicted, truth)

    network.train()
    H = network.first(part)
    while True:
        logits = network.rest(H, learn.blocks)
        optimizer.zero_grad()
        torch.autograd.backward(functional.cross_entropy(logits, targets))
        optimizer.step()
        H = network.first(part)
        yield accuracy(H.detach())


def _sampled_epochs(
    network: Network,
    optimizer: torch.optim.Optimizer,
    y: NDArray[np.int64],
    split: Split,
    setting: Setting,
    rng: np.random.Generator,
) -> Iterator[float]:
    """The validation accuracy after each pass over mini-batches of training rows, without end."""
    judge = receptive_field(network.operator, split.val, network.n_blocks)
    further = network.first.prepare(judge.rows)
    truth = as_tensor(y[split.val])
    sampler = Sampler(network.operator, setting.fanout)
    size = setting.batch or len(split.train)
    while True:
        network.train()
        for batch in sampler.epoch(network, split.train, size, rng):
            logits = network.rest(network.first(batch.part), batch.blocks)
            optimizer.zero_grad()
            loss = functional.cross_entropy(logits, as_tensor(y[batch.rows]))
            torch.autograd.backward(loss)
            optimizer.step()
        network.eval()
        with torch.no_grad():
            predicted = network.rest(network.first(further), judge.blocks).argmax(1)
        yield _accuracy(predicted, truth)


def _accuracy(predicted: Any, truth: Any) -> float:
    """Percent of rows whose class is right; 0 of none."""
    return 100.0 * int((predicted == truth).sum()) / max(len(truth), 1)
