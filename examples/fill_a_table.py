"""Fill a table of people from who is friends with whom.

    python examples/fill_a_table.py

The people are made up (graphfill.cli._town), so that the truth is known.
"""

import numpy as np
import pyarrow as pa

import graphfill as gf
from graphfill.cli._town import make_town

town = make_town(1000, seed=1)
hidden = town.hide(share=0.4, seed=1)
people = pa.table(
    {
        name: pa.array(cells, mask=hidden.get(name, np.zeros(len(cells), dtype=bool)))
        for name, cells in town.people.items()
    }
)
names = town.people["person"]
friends = pa.table({"one": names[town.friends[:, 0]], "other": names[town.friends[:, 1]]})

result = gf.impute(people, friends, id="person", return_result=True)

print(result.table.slice(0, 5).to_string(preview_cols=6))
for column in result.columns:
    if column.n_filled:
        print(
            f"{column.name}: {column.n_filled} cells filled; on cells held out the fill explains "
            f"{column.explained:.0%} of the variance"
        )
city = np.array(result.table["city"].to_pylist())
right = np.mean(city[hidden["city"]] == town.people["city"][hidden["city"]])
print(f"of the hidden cities, {right:.0%} are right")
