"""`python -m openstellar.sweep`: a sweep of clusters from a file."""

from __future__ import annotations

import argparse
import sys
import tomllib
from pathlib import Path
from typing import Any

from openstellar import sweep

KEYS = ("base", "grid", "points")


def points_of(path: Path) -> list[dict[str, Any]]:
    """The points of a file: those of `points`, or one empty one, each with every combination of `grid`, over `base`. Raises ValueError with the file."""
    try:
        file = tomllib.loads(path.read_text())
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ValueError(f"{path}: {error}") from error
    if unknown := sorted(file.keys() - set(KEYS)):
        raise ValueError(f"{path}: unknown key {unknown[0]!r}; a sweep has the tables base and grid, and the list points")
    axes = file.get("grid", {})
    if wrong := next((name for name, values in axes.items() if not isinstance(values, list)), None):
        raise ValueError(f"{path}: grid.{wrong} is no list: write {wrong} = [{axes[wrong]!r}]")
    return [file.get("base", {}) | point | more for point in file.get("points", [{}]) for more in sweep.grid(**axes)]


def main() -> int:
    """Runs the sweep, and prints where the results are."""
    parser = argparse.ArgumentParser(prog="./stellar sweep", description="Run a cluster for every point of a file, on Dask.")
    parser.add_argument("file", type=Path, help="TOML: [base], [grid] and [[points]] with arguments of openstellar.cluster.describe (docs/sweeps.md)")
    parser.add_argument("--directory", type=Path, default=Path("out/sweep"), help="where results are kept, and found again [default: %(default)s]")
    parser.add_argument("--table", type=Path, help="also write all rows to one Parquet file")
    parser.add_argument("--workers", type=int, help="processes [default: one per processor]")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="run on the Dask cluster of this scheduler, like tcp://HOST:8786")
    arguments = parser.parse_args()
    try:
        points = points_of(arguments.file)
        result = sweep.run(sweep.cluster_row, points, directory=arguments.directory, workers=arguments.workers, scheduler=arguments.scheduler)
    except (ValueError, ImportError, ConnectionError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    for path in result.broken:
        print(f"a file could not be read, and its point was run again: {path}", file=sys.stderr)
    for failure in result.failed:
        print(f"failed: {failure}\n{failure.traceback}", file=sys.stderr)
    print(f"{len(result.rows)} of {len(points)} points, {result.reused} of them from before; a Parquet file each in {arguments.directory}")
    if arguments.table is not None:
        import pyarrow.parquet

        pyarrow.parquet.write_table(result.table().arrow(), arguments.table)
        print(f"all rows: {arguments.table}")
    return 1 if result.failed else 0


if __name__ == "__main__":
    sys.exit(main())
