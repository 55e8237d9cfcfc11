"""Incomes of American counties, from neighbouring counties and from the row's other columns.

    GRAPHFILL_DATA=folder python examples/counties.py

Hides a third of the known incomes, fills them with 90 % intervals, and compares with the truth.
"""

import os
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa

import graphfill as gf

path = Path(os.environ.get("GRAPHFILL_DATA", ".")) / "us_counties.npz"
if not path.is_file():
    sys.exit("Set GRAPHFILL_DATA to the folder with us_counties.npz to run this example.")
with np.load(path, allow_pickle=False) as data:
    fips, (source, target) = data["fips"], data["edge_index"]
    columns = dict(zip(data["x_columns"].tolist(), data["x"].T.astype(np.float64), strict=True))

income = columns["median_income_2016"]
rng = np.random.default_rng(0)
hidden = ~np.isnan(income) & (rng.random(len(income)) < 1 / 3)
counties = pa.table(
    {
        "fips": fips,
        "income": pa.array(income, mask=hidden | np.isnan(income)),
        "bachelors": pa.array(columns["bachelor_rate_2016"], from_pandas=True),
        "unemployed": pa.array(columns["unemployment_rate_2016"], from_pandas=True),
    }
)
borders = pa.table({"one": fips[source], "other": fips[target]})

result = gf.impute(
    counties, borders, id="fips", source="one", target="other",
    method="auto", intervals=0.9, return_result=True,
)  # fmt: skip

truth = income[hidden]
filled, low, high = (
    result.table[name].to_numpy()[hidden] for name in ("income", "income_low", "income_high")
)
mean_error = np.abs(truth - income[~hidden & ~np.isnan(income)].mean()).mean()
covered = np.mean((low <= truth) & (truth <= high))
print(f"{hidden.sum()} incomes hidden and filled by {result.columns[1].details['chosen']!r}")
print(f"mean error: {np.abs(filled - truth).mean():,.0f} dollars; by the mean {mean_error:,.0f}")
print(f"90 % intervals hold {covered:.1%} of the hidden incomes, median width "
      f"{np.median(high - low):,.0f} dollars")  # fmt: skip
