"""Arrays of xarray in and out."""

import warnings

import numpy as np
import pandas as pd
import pytest

import graphfill as gf

xarray = pytest.importorskip("xarray")


def readings(seed=0):
    draw = np.random.default_rng(seed)
    weather = draw.normal(size=(200, 1)).cumsum(axis=0)
    truth = 10 + weather + draw.normal(size=(200, 4)) / 5
    hours = pd.date_range("2024-03-01", periods=200, freq="h")
    array = xarray.DataArray(
        truth, dims=("time", "station"), name="pm", attrs={"units": "µg/m³"},
        coords={"time": hours, "station": list("abcd"),
                "lat": ("station", [48.1, 48.2, 48.3, 48.4]),
                "lon": ("station", [11.1, 11.2, 11.1, 11.3])},
    )  # fmt: skip
    return array, array.where(draw.random((200, 4)) > 0.3)


def fill(array, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gf.GraphfillWarning)
        return gf.impute(array, time="time", near=("lat", "lon"), effort="fast", **options)


def test_an_array_comes_back_as_one():
    truth, holed = readings()
    filled = fill(holed)
    assert isinstance(filled, xarray.DataArray)
    assert filled.dims == holed.dims
    assert (filled.name, filled.attrs, filled.dtype) == ("pm", holed.attrs, holed.dtype)
    xarray.testing.assert_equal(filled.coords.to_dataset(), holed.coords.to_dataset())
    known = holed.notnull().values
    assert (filled.values[known] == truth.values[known]).all()
    assert np.abs(filled - truth).values[~known].mean() < 0.4


def test_a_turned_dataset_and_its_bounds():
    _, holed = readings()
    both = xarray.Dataset({"pm": holed, "no2": holed.T * 2})
    filled = fill(both, intervals=0.9)
    assert isinstance(filled, xarray.Dataset)
    assert filled["no2"].dims == ("station", "time")
    assert not filled["no2"].isnull().any()
    missing = holed.isnull()
    assert (filled["pm_low"] <= filled["pm"]).where(missing, True).all()
    known = both["no2"].notnull()
    assert (filled["no2"] == both["no2"]).where(known, True).all()


def test_refusals():
    _, holed = readings()
    with pytest.raises(gf.InputError, match="have different dimensions"):
        fill(xarray.Dataset({"pm": holed, "mean": holed.mean("time")}))
    with pytest.raises(gf.InputError, match="has no variable"):
        fill(xarray.Dataset())
