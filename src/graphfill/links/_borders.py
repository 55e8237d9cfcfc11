"""Regions linked where they touch: by shared corners (queen) or shared sides (rook)."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import io
from ..errors import InputError, check_column_name, named
from ._links import Links
from ._relation import Relation, relation_of

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
POLYGONS = ("Polygon", "MultiPolygon", "GeometryCollection")


def borders(regions: Any, *, id: Any = None, queen: bool = True) -> Links:
    """Link regions that share a border.

    Two regions touch where their outlines have a corner in common (queen), or a side between two
    corners (rook): by the same numbers, as the maps of one source have them. Regions that only
    overlap do not.

    Parameters
    ----------
    regions : path of a GeoJSON file, its content as a dict, or a GeoPandas frame
        A row for every feature, in order.
    id : name of a property (or column), optional
        What regions are called where the links are written down. By default the ids of the
        features, if they have some.
    queen : bool
        False: a corner alone is no border.

    Examples
    --------
    >>> def square(x, y):
    ...     ring = [[x, y], [x + 1, y], [x + 1, y + 1], [x, y + 1], [x, y]]
    ...     return {"type": "Feature", "properties": {"name": f"{x}{y}"},
    ...             "geometry": {"type": "Polygon", "coordinates": [ring]}}
    >>> board = {"type": "FeatureCollection",
    ...          "features": [square(x, y) for x in (0, 1) for y in (0, 1)]}
    >>> borders(board).graph.n_edges, borders(board, queen=False).graph.n_edges
    (6, 4)
    """
    import pyarrow as pa

    try:
        shapes, ids = _shapes(regions, id)
        values = None if ids is None else pa.array(ids)
    except (pa.ArrowException, OverflowError, TypeError):
        raise InputError(
            "The ids of the map's regions are of several types, or no texts or numbers: name "
            "another property as id."
        ) from None
    relation = border_relation(shapes, queen)
    notes: tuple[str, ...] = ()
    if relation.n_unlinked:
        notes = (f"{relation.n_unlinked:,} region(s) have no outline, and hence no border.",)
    return Links(relation.graph, len(shapes), (relation,), (1.0,), notes, values)


def properties_of(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """The properties of every feature of a GeoJSON file, "id" for its own id among them."""
    return [_properties(feature) for feature in _features(_load(path), str(path))]


def border_relation(shapes: Sequence[Any], queen: bool) -> Relation:
    """Regions, as GeoJSON geometries (or None), linked to those that they touch."""
    points, regions, sides = [], [], []
    start = 0
    n_without = 0
    for region, shape in enumerate(shapes):
        rings = list(_rings(shape, region)) if shape else []
        n_without += not rings
        for ring in rings:
            at = np.arange(start, start + len(ring))
            points.append(ring)
            regions.append(np.full(len(ring), region))
            sides.append(np.column_stack([at[:-1], at[1:]]))
            start += len(ring)
    if not points:
        raise InputError("No region of the map has an outline: pass polygons.")
    corners = np.unique(np.concatenate(points) + 0.0, axis=0, return_inverse=True)[1].ravel()
    owner = np.concatenate(regions)
    if queen:
        shared = corners
    else:
        both = np.concatenate(sides)
        ends = np.sort(corners[both], axis=1)
        owner, real = owner[both[:, 0]], ends[:, 0] != ends[:, 1]
        shared = ends[:, 0] * (int(corners.max()) + 1) + ends[:, 1]
        owner, shared = owner[real], shared[real]
    pairs = _pairs(shared, owner, len(shapes))
    words = "a common border" if queen else "a common side"
    return relation_of(f"by {words}", pairs, None, len(shapes), n_unlinked=n_without)


def _pairs(shared: Integers, owner: Integers, n: int) -> tuple[Integers, Integers]:
    """Pairs of different owners of the same thing."""
    once = np.unique(shared.astype(np.int64) * n + owner)
    shared, owner = once // n, once % n
    found = [np.empty((2, 0), dtype=np.int64)]
    ahead = 1
    while ahead < len(shared):
        same = shared[ahead:] == shared[:-ahead]
        if not same.any():
            break
        found.append(np.vstack([owner[:-ahead][same], owner[ahead:][same]]))
        ahead += 1
    source, target = np.concatenate(found, axis=1)
    return source, target


def _rings(shape: Mapping[str, Any], region: int) -> Iterator[Floats]:
    """The outlines of a region, holes included."""
    kind = shape.get("type")
    if kind not in POLYGONS:
        raise InputError(
            f"Region {region} is a {kind}, which has no border: pass polygons, or link points "
            "to the nearest with near."
        )
    try:
        if kind == "GeometryCollection":
            for part in shape["geometries"]:
                yield from _rings(part, region)
            return
        polygons = [shape["coordinates"]] if kind == "Polygon" else shape["coordinates"]
        for polygon in polygons:
            for ring in polygon:
                yield np.array([point[:2] for point in ring], dtype=np.float64).reshape(-1, 2)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise InputError(
            f"The outline of region {region} is no list of points ({type(error).__name__}): export "
            "the map again."
        ) from None


# -- maps in their forms --


def _shapes(regions: Any, id: Any) -> tuple[list[Any], list[Any] | None]:
    """The geometry of every region, and their ids."""
    if hasattr(regions, "geometry") and hasattr(type(regions), "columns"):  # GeoPandas
        shapes = [None if one is None or one.is_empty else one.__geo_interface__
                  for one in regions.geometry]  # fmt: skip
        if id is None:
            return shapes, None
        check_column_name(id, list(regions.columns), "the map")
        return shapes, _checked_ids(list(regions[id]), id)
    held = regions if isinstance(regions, Mapping) else _load(regions)
    features = _features(held, "The map" if isinstance(regions, Mapping) else str(regions))
    shapes = [feature.get("geometry") for feature in features]
    properties = [_properties(feature) for feature in features]
    if id is None:
        ids = [one.get("id") for one in properties]
        return shapes, None if None in ids or len(set(ids)) < len(ids) else ids
    check_column_name(id, list(dict.fromkeys(key for one in properties for key in one)), "the map")
    return shapes, _checked_ids([one.get(id) for one in properties], id)


def _checked_ids(ids: list[Any], name: Any) -> list[Any]:
    seen: dict[Any, int] = {}
    for region, one in enumerate(ids):
        if one is None or one != one:
            raise InputError(f"Region {region} of the map has no {name!r}: name another property.")
        if one in seen:
            raise InputError(
                f"Regions {seen[one]} and {region} of the map have the same {name!r}, "
                f"{named(one)}: name another property, or dissolve them into one."
            )
        seen[one] = region
    return ids


def _load(path: Any) -> Any:
    if not isinstance(path, (str, os.PathLike)):
        raise InputError(
            f"A map is a GeoJSON file, its content or a GeoPandas frame, not a "
            f"{type(path).__name__}: read it with geopandas.read_file."
        )
    try:
        return json.loads(Path(path).read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise io.unreadable(path, error) from None
    except (ValueError, RecursionError):
        raise InputError(
            f"{path} is no GeoJSON: convert it (such as geopandas.read_file(path).to_file("
            "'map.geojson'))."
        ) from None


def _features(held: Any, holder: str) -> list[Any]:
    features = held.get("features") if isinstance(held, Mapping) else None
    if not isinstance(features, list) or not all(isinstance(one, Mapping) for one in features):
        raise InputError(
            f"{holder} has no list of features, as a GeoJSON map has: export it again."
        )
    if not features:
        raise InputError(f"{holder} has no region: there is nothing to link.")
    return features


def _properties(feature: Mapping[str, Any]) -> dict[str, Any]:
    own = {} if feature.get("id") is None else {"id": feature["id"]}
    properties = feature.get("properties")
    return own | (dict(properties) if isinstance(properties, Mapping) else {})
