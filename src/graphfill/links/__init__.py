"""Links from what people have in place of a list of edges: places, keys, times, alike columns.

>>> import pyarrow as pa
>>> from graphfill import links
>>> towns = pa.table({"lat": [48.0, 48.1, 50.0], "lon": [11.0, 11.0, 8.0]})
>>> links.near(towns, "lat", "lon", k=1)
<Links: 2 links between 3 rows, by nearness in 'lat', 'lon'>
"""

from ._borders import borders
from ._borders import properties_of as properties_of
from ._coordinates import find_coordinates as find_coordinates
from ._coordinates import flat as flat
from ._links import Links, like, near, same, time
from ._links import linked as linked
from ._options import LinkOptions as LinkOptions
from ._relation import Relation as Relation
from ._relation import relation_of as relation_of
from ._relation import reordered as reordered
from ._relation import union as union
from ._request import Request as Request
from ._request import open_request as open_request

__all__ = ["Links", "borders", "like", "near", "same", "time"]
