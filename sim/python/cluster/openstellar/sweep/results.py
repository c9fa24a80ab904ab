"""What a sweep gives."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy

from openstellar.cluster.tables import Table

__all__ = ["Failure", "Point", "Row", "Sweep", "canonical"]

Point = dict[str, Any]
"""The settings of a run."""
Row = dict[str, Any]
"""The results of a run."""


def canonical(value: Any) -> str:
    """The one JSON text of a value. Raises ValueError if JSON cannot hold it."""
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValueError(f"JSON cannot hold the point {value!r}: {error}; use numbers, texts, lists and dictionaries") from error


@dataclass(frozen=True)
class Failure:
    """A point whose run failed."""

    point: Point
    """Its settings."""
    error: str
    """Type and text of the exception."""
    traceback: str
    """Where it was raised; empty if the worker itself ended."""

    def __str__(self) -> str:
        return f"{canonical(self.point)}: {self.error}"


@dataclass(frozen=True)
class Sweep:
    """The results of a sweep, in the order of its points, whatever the number of workers."""

    points: list[Point]
    """The points that are finished."""
    rows: list[Row]
    """Their results."""
    failed: list[Failure] = field(default_factory=list)
    """The points that failed; another sweep runs them again."""
    reused: int = 0
    """How many rows are those of an earlier sweep."""
    broken: list[Path] = field(default_factory=list)
    """Files that could not be read, where they were set aside."""

    def raise_failures(self) -> None:
        """Raises RuntimeError with the settings, the error and the traceback of every point that failed, if one did."""
        if self.failed:
            texts = [f"{failure}\n{failure.traceback}" for failure in self.failed]
            raise RuntimeError(f"{len(texts)} of {len(texts) + len(self.rows)} points failed:\n" + "\n".join(texts))

    def table(self) -> Table:
        """A row per finished point, with its settings and results. Settings that are lists or dictionaries are JSON texts; what a point has not is None.

        Raises ValueError if a setting and a result have one name.
        """
        plain = [{name: _plain(value) for name, value in point.items()} for point in self.points]
        for point, row in zip(plain, self.rows, strict=True):
            if both := sorted(point.keys() & row.keys()):
                raise ValueError(f"{both[0]!r} is a setting and a result: rename the result")
        rows = [point | row for point, row in zip(plain, self.rows, strict=True)]
        names = dict.fromkeys(name for row in rows for name in row)
        return Table({name: _array([row.get(name) for row in rows]) for name in names})


def _plain(value: Any) -> Any:
    return canonical(value) if isinstance(value, (list, tuple, dict)) else value


def _array(values: list[Any]) -> numpy.ndarray:
    """Numbers as such, everything else as objects."""
    is_number = all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values)
    return numpy.array(values) if is_number else numpy.array([*values, None], dtype=object)[:-1]
