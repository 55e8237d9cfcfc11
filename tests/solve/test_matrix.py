"""Every kind of table comes back as the kind it was, and refusals name the cell."""

import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
import torch

from graphfill.errors import InputError
from graphfill.solve._arrays import CellTypeError
from graphfill.solve._matrix import open_matrix

NAN = float("nan")


def fill(container, value=9.0):
    """Every missing cell = value, in the working dtype."""
    return np.where(container.missing_mask, container.values.dtype.type(value), container.values)


def roundtrip(X, **options):
    container = open_matrix(X, **options)
    return container.rebuild(fill(container))


# -- arrays --


@pytest.mark.parametrize(
    ("dtype", "working"),
    [("f2", "f4"), ("f4", "f4"), ("f8", "f8"), (">f4", "f4"), (">f8", "f8"), ("g", "f8")],
)
def test_floats_keep_their_dtype(dtype, working):
    X = np.array([[1 / 3, NAN], [2.0, -0.0]], dtype=dtype)
    container = open_matrix(X)
    assert container.values.dtype == working
    out = container.rebuild(fill(container))
    assert out.dtype == X.dtype
    assert out[0, 1] == 9
    known = ~np.isnan(X)
    assert out[known].tobytes() == X[known].tobytes()


@pytest.mark.parametrize("dtype", ["i1", "u4", "i8", "?"])
def test_integers_and_booleans_become_float64(dtype):
    out = roundtrip(np.array([[1, 0], [1, 1]], dtype=dtype))
    assert out.dtype == np.float64
    np.testing.assert_array_equal(out, [[1, 0], [1, 1]])


BIG = 2**53 + 1


@pytest.mark.parametrize(
    ("X", "where"),
    [
        (np.array([[1], [BIG]]), "row 1, column 0"),
        (np.array([BIG, None], dtype=object), "row 0, column 0"),
        (torch.tensor([1, -BIG]), "row 1, column 0"),
        (pd.DataFrame({"a": pd.array([1, None, BIG], dtype="Int64")}), "row 2, column 'a'"),
        (pd.DataFrame({"a": pd.Series([None, BIG], dtype=object)}), "row 1, column 'a'"),
        (pl.DataFrame({"a": [1, None, BIG]}), "row 2, column 'a'"),
        (pa.table({"a": [BIG, None]}), "row 0, column 'a'"),
    ],
)
def test_integers_that_no_float_holds_are_refused(X, where):
    with pytest.raises(InputError, match=f"The cell at {where} holds -?{BIG}, which no float"):
        open_matrix(X)


def test_integers_that_a_float_holds_or_that_come_back_untouched():
    assert roundtrip(pl.DataFrame({"a": [2**53, None, -(2**60)]}))["a"].to_list()[2] == -(2**60)
    whole = roundtrip(pd.DataFrame({"id": [BIG, BIG + 2], "x": [NAN, 1.0]}))
    assert whole["id"].tolist() == [BIG, BIG + 2]
    hidden = roundtrip(np.array([[BIG], [1]]), missing_mask=np.array([[True], [False]]))
    assert hidden.ravel().tolist() == [9.0, 1.0]


@pytest.mark.parametrize(
    "X",
    [
        np.array([1, NAN], dtype=np.float16),
        torch.tensor([1, NAN], dtype=torch.float16),
        pd.DataFrame({"a": np.array([1, NAN], dtype=np.float16)}),
        pd.DataFrame({"a": np.array([1, NAN], dtype=np.float16), "b": [1.0, 2.0]}),
    ],
)
def test_fills_beyond_a_narrow_type_are_refused(X):
    container = open_matrix(X)
    assert np.isfinite(np.asarray(container.rebuild(fill(container, 65504.0)))).all()
    with pytest.raises(InputError, match="A filled value is beyond the range of float16: pass X"):
        container.rebuild(fill(container, 84853.0))


def test_contiguous_floats_are_shared_and_read_only():
    X = np.arange(6.0).reshape(3, 2)
    values = open_matrix(X).values
    assert np.shares_memory(values, X)
    assert not values.flags.writeable
    assert X.flags.writeable


def test_other_layouts_are_made_contiguous():
    X = np.asfortranarray(np.arange(6.0).reshape(3, 2))
    for view in (X, X[::-1], X[:, ::2]):
        values = open_matrix(view).values
        assert values.flags.c_contiguous
        np.testing.assert_array_equal(values, view)


def test_one_dimension_is_one_column_and_comes_back_as_one():
    container = open_matrix(np.array([1.0, NAN]))
    assert container.values.shape == (2, 1)
    np.testing.assert_array_equal(container.rebuild(fill(container)), [1, 9])


def test_lists_and_objects_hold_numbers_and_none():
    np.testing.assert_array_equal(roundtrip([[1, None], [True, 2.5]]), [[1, 9], [1, 2.5]])
    X = np.array([[1, None, np.float32(2)], [NAN, pd.NA, np.True_]], dtype=object)
    np.testing.assert_array_equal(roundtrip(X), [[1, 9, 2], [9, 9, 1]])


def test_masked_arrays_are_missing_where_masked():
    X = np.ma.array([[1.0, np.inf], [3.0, NAN]], mask=[[False, True], [False, False]])
    out = roundtrip(X)
    assert isinstance(out, np.ma.MaskedArray)
    np.testing.assert_array_equal(out, [[1, 9], [3, 9]])


def test_new_columns_follow_the_kept_ones():
    container = open_matrix(np.array([[1.0, NAN]], dtype=np.float32))
    out = container.rebuild(np.array([[9.0, 1.0]]), columns=[1], names=["gone"])
    assert out.dtype == np.float32
    np.testing.assert_array_equal(out, [[9, 1]])


# -- tensors --


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32, torch.float64])
def test_tensors_keep_dtype_and_device(dtype):
    X = torch.tensor([[1 / 3, NAN], [2.0, 3.0]], dtype=dtype, requires_grad=True)
    container = open_matrix(X)
    assert container.values.dtype == (np.float64 if dtype == torch.float64 else np.float32)
    out = container.rebuild(fill(container))
    assert (out.dtype, out.device) == (dtype, X.device)
    assert not out.requires_grad
    assert torch.equal(out, torch.nan_to_num(X, nan=9.0))


def test_tensor_of_integers_and_of_one_dimension():
    assert roundtrip(torch.tensor([1, 2])).dtype == torch.float64
    mask = torch.tensor([True, False])
    assert roundtrip(torch.tensor([1.0, 2.0]), missing_mask=mask).tolist() == [9, 2]


# -- dataframes --


def test_pandas_keeps_index_names_and_dtypes():
    X = pd.DataFrame(
        {
            "double": [1 / 3, NAN, 2],
            "single": np.array([NAN, 1, 2], dtype="f4"),
            "nullable": pd.array([1.5, None, 2], dtype="Float64"),
            "count": pd.array([1, None, 3], dtype="Int64"),
            "arrow": pd.array([1, None, 3], dtype="int64[pyarrow]"),
            "object": pd.Series([1, None, 2.5], dtype=object),
            "large": [2**60 + 1, 2, 3],
            "flag": [True, False, True],
        },
        index=["c", "a", "b"],
    )
    before = X.copy()
    out = roundtrip(X)
    pd.testing.assert_frame_equal(X, before)
    expected = {
        "double": "float64",
        "single": "float32",
        "nullable": "Float64",
        "count": "Float64",
        "arrow": "double[pyarrow]",
        "object": "float64",
        "large": "int64",
        "flag": "bool",
    }
    assert out.dtypes.astype(str).to_dict() == expected
    assert out.index.equals(X.index)
    assert out["count"].tolist() == [1, 9, 3]
    assert out["arrow"].tolist() == [1, 9, 3]
    assert out["large"].tolist() == [2**60 + 1, 2, 3]
    assert not out.isna().any(axis=None)


def test_pandas_repeated_and_numbered_column_names():
    X = pd.DataFrame([[1.0, NAN], [NAN, 2.0]], columns=["a", "a"])
    out = roundtrip(X)
    assert list(out.columns) == ["a", "a"]
    np.testing.assert_array_equal(out, [[1, 9], [9, 2]])
    assert list(roundtrip(pd.DataFrame([[1.0, NAN]])).columns) == [0, 1]


def test_pandas_series_keeps_its_name():
    X = pd.Series([1.0, NAN], index=["x", "y"], name="age")
    pd.testing.assert_series_equal(roundtrip(X), pd.Series([1.0, 9.0], ["x", "y"], name="age"))
    assert roundtrip(pd.Series([1.0, NAN])).name is None


def test_pandas_rows_and_columns_are_known_by_name():
    container = open_matrix(pd.DataFrame({"a": [1.0]}, index=["x"]))
    assert container.feature_names == ["a"]
    assert list(container.row_ids) == ["x"]


def test_polars_keeps_names_and_dtypes():
    X = pl.DataFrame(
        {
            "double": [1.5, NAN, None],
            "single": pl.Series([1, None, 2], dtype=pl.Float32),
            "count": [1, None, 3],
            "flag": [True, None, False],
            "empty": pl.Series([None] * 3, dtype=pl.Null),
            "whole": [2**60 + 1, 2, 3],
        }
    )
    out = roundtrip(X)
    assert out.dtypes == [pl.Float64, pl.Float32, pl.Float64, pl.Float64, pl.Float64, pl.Int64]
    assert out.to_dict(as_series=False) == {
        "double": [1.5, 9, 9],
        "single": [1, 9, 2],
        "count": [1, 9, 3],
        "flag": [1, 9, 0],
        "empty": [9, 9, 9],
        "whole": [2**60 + 1, 2, 3],
    }
    assert open_matrix(X.select("single")).values.dtype == np.float32


def test_polars_series():
    X = pl.Series("age", [1, None], dtype=pl.Float32)
    out = roundtrip(X)
    assert (out.name, out.dtype, out.to_list()) == ("age", pl.Float32, [1, 9])


def test_pyarrow_keeps_names_types_and_metadata():
    X = pa.table(
        {
            "double": [1.5, NAN, None],
            "half": pa.array([np.float16(1), None, np.float16(2)], pa.float16()),
            "count": [1, None, 2**60],
            "empty": pa.nulls(3),
            "whole": [1, 2, 3],
        }
    ).replace_schema_metadata({"made": "here"})
    out = roundtrip(X)
    assert out.schema.types == [pa.float64(), pa.float16(), pa.float64(), pa.float64(), pa.int64()]
    assert out.schema.metadata == {b"made": b"here"}
    assert out["double"].to_pylist() == [1.5, 9, 9]
    assert out["count"].to_pylist() == [1, 9, 2.0**60]


@pytest.mark.parametrize(
    ("X", "nulls"),
    [
        (pd.DataFrame({"a": pd.array([1, None], dtype="Float64")}), lambda a: a.isna().tolist()),
        (pl.DataFrame({"a": [1.0, None]}), lambda a: a.is_null().to_list()),
        (pa.table({"a": [1.0, None]}), lambda a: a.is_null().to_pylist()),
    ],
    ids=["pandas", "polars", "pyarrow"],
)
def test_what_stays_missing_stays_null(X, nulls):
    container = open_matrix(X)
    out = container.rebuild(fill(container, NAN))
    assert nulls(out["a"]) == [False, True]


@pytest.mark.parametrize(("dtype", "working"), [("f4", "f4"), ("f8", "f8")])
def test_sparse_columns_of_pandas_stay_sparse(dtype, working):
    cells = pd.arrays.SparseArray(np.array([1.0, NAN, 3.0], dtype=dtype))
    X = pd.DataFrame({"a": cells})
    assert open_matrix(X).values.dtype == working
    for table in (X, X["a"]):
        out = roundtrip(table)
        pd.testing.assert_series_equal(
            (out if out.ndim == 1 else out["a"]).sparse.to_dense(),
            pd.Series([1.0, 9.0, 3.0], name="a", dtype=dtype),
        )
    beside = roundtrip(X.assign(b=pd.arrays.SparseArray([0, 0, 7])))
    assert beside["b"].tolist() == [0, 0, 7]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_take_new_columns(make):
    container = open_matrix(make({"a": [1, 2], "b": [NAN, 4.0]}))
    filled = np.array([[9.0, 1.0], [4.0, 0.0]])
    out = container.rebuild(filled, columns=[1], names=["b was missing"])
    columns = out.column_names if isinstance(out, pa.Table) else list(out.columns)
    assert columns == ["b", "b was missing"]
    np.testing.assert_array_equal(np.asarray(out), [[9, 1], [4, 0]])


# -- masks --


def test_masked_numbers_are_missing_and_the_input_is_untouched():
    X = np.array([[1.0, 2.0], [NAN, np.inf]])
    before = X.copy()
    mask = np.array([[False, True], [True, True]])
    np.testing.assert_array_equal(roundtrip(X, missing_mask=mask), [[1, 9], [9, 9]])
    np.testing.assert_array_equal(X, before)


def test_a_mask_that_says_what_nan_says_costs_no_copy():
    X = np.array([[1.0, NAN]])
    assert np.shares_memory(open_matrix(X, missing_mask=np.isnan(X)).values, X)


def test_mask_of_a_frame_may_be_a_frame():
    X = pd.DataFrame({"i": [1, 2]})
    assert roundtrip(X, missing_mask=pd.DataFrame({"i": [True, False]}))["i"].tolist() == [9, 2]


@pytest.mark.parametrize(
    ("mask", "sentence"),
    [
        ([[False, False], [True, False]], "row 0, column 1 is NaN but missing_mask calls it known"),
        ([[0, 1], [0, 0]], "dtype int64 but must be boolean"),
        ([True, False], r"shape \(2,\) but X has shape \(2, 2\)"),
    ],
)
def test_masks_refused(mask, sentence):
    with pytest.raises(InputError, match=sentence):
        open_matrix(np.array([[1.0, NAN], [2.0, 3.0]]), missing_mask=np.array(mask))


# -- refusals --


@pytest.mark.parametrize(
    ("X", "sentence"),
    [
        ([[1, "a"], [2, 3]], "row 0, column 1 holds 'a'"),
        (np.array([[1, 2], [{}, 3]], dtype=object), "row 1, column 0 holds {}"),
        (pd.DataFrame({"b": [1, [2]]}, dtype=object), r"row 1, column 'b' holds \[2\]"),
        (np.array([["1.5"]], dtype=object), "row 0, column 0 holds '1.5'"),
        (np.array([[10**400]], dtype=object), "beyond the range of a float"),
        ([[1], [2, 3]], "rows of X differ in length"),
        (np.array([["a"]]), "dtype <U1, which holds no numbers"),
        (np.array([[1j]]), "Complex data not supported"),
        (np.array(["2020-01-01"], dtype="M8[D]"), "days since a date"),
        (pd.DataFrame({"b": ["x"]}), "Column 'b' has dtype"),
        (pd.DataFrame({"b": pd.Categorical([1])}), "Column 'b' has dtype category"),
        (pd.DataFrame({"b": pd.to_datetime(["2020-01-01"])}), "Column 'b'.*days since a date"),
        (pl.DataFrame({"b": ["x"]}), "Column 'b' has dtype String"),
        (pl.DataFrame({"b": pl.Series([0]).cast(pl.Date)}), "Column 'b'.*days since a date"),
        (pa.table({"b": ["x"]}), "Column 'b' has dtype String"),
        (np.array([[1.0, 2.0], [np.inf, 3.0]]), r"row 1, column 0 is infinite \(inf\)"),
        (pd.DataFrame({"b": [1.0, -np.inf]}), r"row 1, column 'b' is infinite \(-inf\)"),
        (np.zeros((0, 3)), r"0 sample\(s\)"),
        (np.zeros((3, 0)), r"0 feature\(s\)"),
        (pd.DataFrame(index=[1, 2]), r"0 feature\(s\)"),
        (pl.DataFrame({"a": []}), r"0 sample\(s\)"),
        (np.zeros((2, 2, 2)), r"ndarray of 3 dimension\(s\)"),
        (None, r"NoneType of 0 dimension\(s\)"),
        (pl.LazyFrame({"a": [1]}), r"LazyFrame of 0 dimension\(s\)"),
        (scipy.sparse.eye_array(3), "cannot tell a missing cell from a zero"),
        (torch.eye(3).to_sparse(), "cannot tell a missing cell from a zero"),
    ],
)
def test_refused_with_a_sentence(X, sentence):
    with pytest.raises(InputError, match=sentence):
        open_matrix(X)


def test_a_cell_that_is_no_number_is_a_type_error_too():
    with pytest.raises(CellTypeError):
        open_matrix([["a"]])
    assert issubclass(CellTypeError, TypeError)


def test_arrays_need_no_library_of_tables_or_tensors():
    code = (
        "import sys, numpy as np; from graphfill.solve._matrix import open_matrix;"
        "open_matrix(np.ones((2, 2))).rebuild(np.ones((2, 2)));"
        "heavy = {'pandas', 'polars', 'pyarrow', 'torch', 'sklearn', 'narwhals'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
