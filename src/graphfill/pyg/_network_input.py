"""The chosen input of a network as a PyG transform."""

# mypy: allow-subclassing-any
from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from .. import imputers
from ..errors import GraphfillWarning, InputError, check_choice, check_number, warn_caller
from . import _tensors as tensors
from ._base import WEIGHT, Transform, check_attribute_name


class NetworkInput(Transform):
    """Put the best input for a network in place of features with gaps.

    See :func:`graphfill.network_input`: a fill of the features, scaled, with or without the graph's
    leading eigenvectors and the training labels, propagated so that no training node sees its own.
    Labels of validation nodes take part in the choice alone, those of test nodes in nothing.

    Parameters
    ----------
    attr : str
        The features; NaN is missing.
    label : str
        The attribute with the classes.
    train, validation : str, optional
        The attributes that are True for nodes to train on, and to choose by; one that the data do
        not have is as good as none.
    missing_mask, edge_weight, directed
        As in :class:`FeaturePropagation`.
    seed, threads
        As in :func:`graphfill.network_input`.

    Attributes
    ----------
    chosen : graphfill.NetworkInput
        What was chosen for the last data, and why: print it.

    Examples
    --------
    >>> import torch
    >>> from torch_geometric.data import Data
    >>> path = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
    >>> x = torch.tensor([[1.0], [float("nan")], [3.0], [2.0]])
    >>> transform = NetworkInput()
    >>> transform(Data(x=x, edge_index=path)).x.isnan().any()
    tensor(False)
    >>> transform.chosen.judged_by
    'nothing'
    """

    __module__ = "graphfill.pyg"
    _fills = (Data,), "Data"
    _instead = "apply it to one node type at a time"

    def __init__(
        self,
        attr: str = "x",
        *,
        label: str = "y",
        train: str | None = "train_mask",
        validation: str | None = "val_mask",
        missing_mask: Any = None,
        edge_weight: str | None = WEIGHT,
        directed: str = "symmetrize",
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        check_choice("directed", directed, ("symmetrize", "refuse"))
        check_number("seed", seed, low=0, integer=True)
        for name, value in (("attr", attr), ("label", label)):
            check_attribute_name(name, value)
        for name, some in (
            ("train", train),
            ("validation", validation),
            ("edge_weight", edge_weight),
        ):
            check_attribute_name(name, some, optional=True)
        self.attr, self.label, self.train, self.validation = attr, label, train, validation
        self.missing_mask, self.edge_weight, self.directed = missing_mask, edge_weight, directed
        self.seed, self.threads = seed, threads
        self.chosen: imputers.NetworkInput | None = None

    def forward(self, data: Any) -> Any:
        x = tensors.features_of(data, self.attr)
        starts = tensors.graph_starts(data)
        if starts is not None:
            raise InputError(
                f"NetworkInput makes the input of one graph but this Batch holds {len(starts) - 1} "
                "(their columns would differ): give it one Data, or use FeaturePropagation."
            )
        missing = tensors.missing_cells(x, tensors.mask_of(data, self.missing_mask))
        graph, weights = tensors.graph_of(
            data, len(x), edge_weight=self.edge_weight, directed=self.directed
        )
        if weights is not None:
            tensors.refuse_gradient(f"{self.edge_weight!r}", "detach it")
        if tensors.wants_gradient(x):
            warn_caller(
                f"{self.attr!r} requires a gradient, which does not pass through the choice of an "
                "input, so the result is detached.",
                GraphfillWarning,
            )
        self.chosen = imputers.network_input(
            tensors.as_floats(x, missing).detach(),
            graph,
            self._labels(data, self.train, len(x)),
            validation=self._labels(data, self.validation, len(x)),
            missing_mask=missing.cpu().numpy(),
            seed=self.seed,
            threads=self.threads,
        )
        setattr(data, self.attr, self.chosen.X)
        return data

    def _labels(self, data: Any, name: str | None, n_nodes: int) -> Tensor | None:
        """The classes of the nodes of a mask, -1 for others; None without the mask or classes."""
        mask = None if name is None else getattr(data, name, None)
        y = getattr(data, self.label, None)
        if mask is None or y is None:
            return None
        mask, y = torch.as_tensor(mask).cpu(), torch.as_tensor(y).cpu()
        if mask.dtype != torch.bool or mask.shape != (n_nodes,):
            hint = ""
            if mask.ndim == 2:
                hint = f" (of several splits choose one: data.{name} = data.{name}[:, 0])"
            raise InputError(
                f"{name!r} has dtype {mask.dtype} and shape {tuple(mask.shape)} but must be one "
                f"bool per node{hint}."
            )
        if y.ndim == 2 and y.shape[1] == 1:
            y = y[:, 0]
        if y.shape != (n_nodes,):
            raise InputError(
                f"{self.label!r} has shape {tuple(y.shape)} but must hold one class per node: of "
                "nodes with several labels choose one label at a time."
            )
        return torch.where(mask, y.double(), torch.nan)
