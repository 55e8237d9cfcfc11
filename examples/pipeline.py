"""Predict a column of US counties from others with gaps, filled by different imputers.

    GRAPHFILL_DATA=... python examples/pipeline.py

Four cells in ten of the predictors are hidden. The imputers see the same table; graphfill's also
sees which counties share a border, and finds each row of a fold on the map by its id (the index).
"""

import os
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import KFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import graphfill as gf

path = Path(os.environ.get("GRAPHFILL_DATA", ".")) / "us_counties.npz"
if not path.is_file():
    sys.exit("Set GRAPHFILL_DATA to the folder with us_counties.npz to run this example.")
warnings.simplefilter("ignore", gf.UnreachedWarning)  # islands without a border

data = np.load(path, allow_pickle=False)
counties = pd.DataFrame(
    data["x"].astype(float), index=data["fips"], columns=[str(name) for name in data["x_columns"]]
)
borders = gf.Graph.from_edges(*data["fips"][data["edge_index"]], nodes=data["fips"])

target = "dem_share_2016"  # a party's share of the vote; that of 2012 would give it away
counties = counties[counties[target].notna()].drop(columns="dem_share_2012")
y = counties.pop(target)
hidden = np.random.default_rng(0).random(counties.shape) < 0.4
X = counties.mask(hidden)
print(
    f"{len(X)} counties, {X.shape[1]} predictors of {target!r}, {X.isna().mean().mean():.0%} gaps"
)

imputers = {
    "column mean": SimpleImputer(),
    "5 most alike counties": KNNImputer(),
    "neighbours on the map": gf.FeaturePropagation(
        borders, normalization="rw", solver="exact", unreached="mean"
    ),
}
folds = KFold(3, shuffle=True, random_state=0)
for model in (RidgeCV(np.logspace(-2, 3, 6)), HistGradientBoostingRegressor(max_iter=60)):
    print(f"\n{type(model).__name__}: R2 on counties held out, 3 folds")
    for name, imputer in imputers.items():
        # The scaler's pandas output keeps the index, by which rows find their county.
        scaler = StandardScaler().set_output(transform="pandas")
        scores = cross_validate(make_pipeline(scaler, imputer, model), X, y, cv=folds)
        print(f"  {name:24}{scores['test_score'].mean():6.3f}")
