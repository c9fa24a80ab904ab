"""Functions for sweeps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openstellar import cluster
from openstellar.sweep.results import Point, Row

__all__ = ["cluster_row", "flat"]


def cluster_row(point: Point) -> Row:
    """Runs a cluster: the point has arguments of `cluster.describe`. The row is `Run.totals`, flat, without the settings."""
    totals = cluster.run(**point).totals
    return flat({name: value for name, value in totals.items() if name not in ("settings", "balancer")})


def flat(tree: Mapping[str, Any], prefix: str = "") -> Row:
    """Nested dictionaries as one, whose keys are joined by dots: `{"a": {"b": 1}}` becomes `{"a.b": 1}`."""
    row: Row = {}
    for name, value in tree.items():
        if isinstance(value, Mapping):
            row |= flat(value, f"{prefix}{name}.")
        else:
            row[f"{prefix}{name}"] = value
    return row
