"""Arrays of xarray as tables, a row per combination of coordinates, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import InputError

UNNAMED = "value"  # the column of an array without a name


def is_xarray(table: Any) -> bool:
    """Whether a table is a DataArray or a Dataset; without importing xarray."""
    own = type(table).__module__.partition(".")[0] == "xarray"
    return own and type(table).__name__ in ("DataArray", "Dataset")


def from_xarray(array: Any) -> tuple[Any, Callable[[Any], Any]]:
    """A pandas table with coordinates and variables as columns, and what makes an array of it."""
    single = type(array).__name__ == "DataArray"
    name = array.name if single and array.name is not None else UNNAMED
    whole = array.to_dataset(name=name) if single else array
    names = list(whole.data_vars)
    if not names:
        raise InputError("The dataset has no variable: there is nothing to fill.")
    dims = whole[names[0]].dims
    for other in names[1:]:
        if set(whole[other].dims) != set(dims):
            raise InputError(
                f"Variables {names[0]!r} and {other!r} have different dimensions, {dims} and "
                f"{whole[other].dims}: fill one at a time, such as dataset[[{other!r}]]."
            )
    if not dims:
        raise InputError(f"The array {name!r} has no dimension: there is nothing to infer from.")
    table = whole.to_dataframe(dim_order=list(dims)).reset_index()
    shape = [whole.sizes[dim] for dim in dims]

    def back(filled: Any) -> Any:
        result = whole.copy()
        for column in filled.columns:
            if column in names or column not in table.columns:
                cells = filled[column].to_numpy().reshape(shape)
                attributes = whole[column].attrs if column in names else {}
                result[column] = (dims, cells, attributes)
                if column in names and np.issubdtype(whole[column].dtype, np.number):
                    result[column] = result[column].astype(whole[column].dtype)
                if column in names:
                    result[column] = result[column].transpose(*whole[column].dims)
        alone = single and list(result.data_vars) == [name]
        return result[name].rename(array.name) if alone else result

    return table, back
