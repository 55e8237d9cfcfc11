"""A regression on a table with blanks: fitted to 20 completions, and pooled by Rubin's rules.

    GRAPHFILL_DATA=folder python examples/pool_a_regression.py

Votes in American counties on four columns, three tenths of the cells of each hidden. One filled
table is too sure of its coefficients, as if filled cells had been observed. Needs statsmodels.
"""

import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd

import graphfill as gf

path = Path(os.environ.get("GRAPHFILL_DATA", ".")) / "us_counties.npz"
if not path.is_file():
    sys.exit("Set GRAPHFILL_DATA to the folder with us_counties.npz to run this example.")

import statsmodels.api as sm  # noqa: E402  (only once there is something to do)

OUTCOME = "dem_share_2016"
COLUMNS = ["bachelor_rate_2016", "median_income_2016", "unemployment_rate_2016", "r_death_2016"]


def regression(table: pd.DataFrame):
    return sm.OLS(table[OUTCOME], sm.add_constant(table[COLUMNS])).fit()


with np.load(path, allow_pickle=False) as data:
    fips, (source, target) = data["fips"], data["edge_index"]
    cells = pd.DataFrame(data["x"].astype(np.float64), columns=data["x_columns"].tolist())
counties = cells[[OUTCOME, *COLUMNS]].assign(fips=fips).dropna()
borders = pd.DataFrame({"one": fips[source], "other": fips[target]})

seen, rng = counties.copy(), np.random.default_rng(0)
for name in (OUTCOME, *COLUMNS):
    seen[name] = seen[name].mask(rng.random(len(seen)) < 0.3)

result = gf.impute(
    seen, borders, id="fips", source="one", target="other", draws=20, return_result=True
)
fits = [regression(table) for table in result.draws]
pooled = gf.pool([fit.params for fit in fits], [fit.bse**2 for fit in fits], n=len(seen))
print(pooled)

full, single = regression(counties), regression(result.table)
beside = pd.DataFrame(
    {
        "nothing hidden": full.params,
        "pooled": pooled.estimate,
        "in its interval": (pooled.low <= full.params) & (full.params <= pooled.high),
        "one fill": single.params,
        "std. error, pooled": pooled.standard_error,
        "one fill's": single.bse,
    }
)
print(beside.to_string(float_format="{:.3g}".format))
