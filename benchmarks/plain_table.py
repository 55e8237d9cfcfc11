"""The peer of tables.py: the same 40-step job as anyone would write it with pandas and SciPy.

    python benchmarks/plain_table.py NODES.parquet EDGES.parquet OUTPUT.parquet

Numbers are standardised, categories become indicator columns, known cells are reset after each
step; dates count as numbers; filled cells are written back in the column's own type.
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import scipy.sparse

STEPS = 40


def main(nodes_path: str, edges_path: str, output: str) -> None:
    """Read, encode, diffuse, decode, write."""
    nodes, edges = pd.read_parquet(nodes_path), pd.read_parquet(edges_path)
    row = pd.Series(np.arange(len(nodes)), index=nodes["id"])
    u, v = row.reindex(edges["source"]).to_numpy(), row.reindex(edges["target"]).to_numpy()
    n = len(nodes)
    A = scipy.sparse.coo_matrix((np.ones(len(u)), (u, v)), shape=(n, n)).tocsr()
    A = A + A.T
    A.data[:] = 1.0
    degree = np.maximum(np.asarray(A.sum(axis=1)).ravel(), 1.0)
    P = scipy.sparse.diags(1.0 / degree) @ A

    blocks, decoders = [], []
    for name in nodes.columns.drop("id"):
        block, decode = encode(nodes[name])
        decoders.append((name, len(blocks) and sum(b.shape[1] for b in blocks), block, decode))
        blocks.append(block)
    X = np.concatenate(blocks, axis=1)
    known = ~np.isnan(X)
    Z = np.where(known, X, 0.0)
    for _ in range(STEPS):
        Z = np.where(known, X, P @ Z)
    for name, start, block, decode in decoders:
        nodes[name] = decode(Z[:, start : start + block.shape[1]])
    nodes.to_parquet(output)


def encode(column: pd.Series):
    """Channels of a column, NaN where missing, and the way back."""
    missing = column.isna().to_numpy()
    if pd.api.types.is_bool_dtype(column) or (
        column.dtype == object and column.dropna().isin([True, False]).all()
    ):
        values = column.astype("Float64").to_numpy(dtype=float, na_value=np.nan)
        mean = np.nanmean(values)

        def decode(Z):
            return column.where(~missing, Z[:, 0] + mean > 0.5)

        return (values - mean)[:, None], decode
    if pd.api.types.is_numeric_dtype(column) or pd.api.types.is_datetime64_any_dtype(column):
        moment = pd.api.types.is_datetime64_any_dtype(column)
        values = (
            column.to_numpy(dtype="datetime64[us]").astype(float)
            if moment
            else column.to_numpy(dtype=float, na_value=np.nan)
        )
        values = np.where(missing, np.nan, values)
        mean, scale = np.nanmean(values), np.nanstd(values)

        def decode(Z):
            filled = Z[:, 0] * scale + mean
            if moment:
                filled = pd.Series(filled.astype("int64").astype("datetime64[us]"))
            elif pd.api.types.is_integer_dtype(column):
                filled = pd.Series(np.rint(filled).astype("int64"))
            return column.where(~missing, filled)

        return ((values - mean) / scale)[:, None], decode
    dummies = pd.get_dummies(column).astype(float)
    share = dummies.to_numpy()[~missing].mean(axis=0)
    values = np.where(missing[:, None], np.nan, dummies.to_numpy() - share)

    def decode(Z):
        return column.where(~missing, dummies.columns.to_numpy()[(Z + share).argmax(axis=1)])

    return values, decode


if __name__ == "__main__":
    main(*sys.argv[1:])
