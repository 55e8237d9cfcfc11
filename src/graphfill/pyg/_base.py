"""What all transforms have in common: what data they take, and how they print."""

# mypy: allow-subclassing-any
from __future__ import annotations

import inspect
import sys
from typing import Any
from zlib import crc32

import numpy as np
import torch
from sklearn.base import BaseEstimator
from torch import Tensor
from torch_geometric.data import Data, HeteroData
from torch_geometric.transforms import BaseTransform

from ..errors import InputError, shown

WEIGHT = "edge_weight"  # the attribute that PyG itself takes weights from


class Transform(BaseTransform):
    """A transform that refuses in words what it does not fill.

    It prints every argument that is not the default: by what a ``pre_transform`` prints, PyG
    decides whether data on disk were made by the same one.
    """

    _fills: tuple[tuple[type, ...], str] = (Data, HeteroData), "Data, Batch and HeteroData"
    _instead = "apply it to Data(x=..., edge_index=...)"

    def __call__(self, data: Any) -> Any:
        kinds, names = self._fills
        if not isinstance(data, kinds):
            advice = self._instead
            if isinstance(data, (list, tuple)):
                advice = "apply it to each of them, or to Batch.from_data_list(...)"
            raise InputError(
                f"{type(self).__name__} fills {names}, not {type(data).__name__}: {advice}."
            )
        return super().__call__(data)

    def _defaults(self) -> dict[str, Any]:
        """The arguments by name, with their defaults."""
        parameters = inspect.signature(type(self)).parameters.values()
        named = (one for one in parameters if one.kind is not one.VAR_KEYWORD)
        return {one.name: one.default for one in named}

    def _arguments(self) -> list[str]:
        """The arguments that are not the default, as they are typed."""
        values = {name: getattr(self, name) for name in self._defaults()}
        return [
            f"{name}={printed(value)}"
            for name, value in values.items()
            if printed(value) != printed(self._defaults()[name])
        ]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self._arguments())})"


def printed(value: Any) -> str:
    """An argument as text; of an array its shape and a checksum of what it holds."""
    if isinstance(value, Tensor) or (isinstance(value, np.ndarray) and value.dtype != object):
        cells = torch.as_tensor(value).detach().cpu().contiguous()
        checksum = crc32(cells.reshape(-1).view(torch.uint8).numpy().tobytes())
        return f"{str(cells.dtype).removeprefix('torch.')}{list(cells.shape)}:{checksum:08x}"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key!r}: {printed(one)}' for key, one in value.items())}}}"
    if isinstance(value, BaseEstimator):
        with np.printoptions(threshold=sys.maxsize):
            return str(value.__repr__(N_CHAR_MAX=sys.maxsize))
    return repr(value)


def check_attribute_name(name: str, value: Any, optional: bool = False) -> None:
    """Refuse what is no name of an attribute of the data."""
    if isinstance(value, str) or (optional and value is None):
        return
    raise InputError(
        f"{name} is {shown(value) if isinstance(value, (int, float)) else type(value).__name__} "
        "but must be the name of an attribute of the data: set the attribute, and pass its name."
    )
