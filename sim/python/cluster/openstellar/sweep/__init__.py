"""Many runs, each a point with its own settings: in parallel on Dask, resumable, with results in Parquet (docs/sweeps.md).

    from openstellar import cluster, sweep

    if __name__ == "__main__":  # workers are processes, which import this file
        points = sweep.grid(policy=["obs", "reps"], paths=[4, 128], seed=range(1, 6), workload=[cluster.permutation(bytes=2_000_000)])
        result = sweep.run(sweep.cluster_row, points, directory="out/sweep")
        print(result.table().pandas().groupby(["policy", "paths"])["flows.fct_us.mean"].mean())

Dask does the scheduling: on this machine without anything else, or on the machines of `scheduler="tcp://HOST:8786"`, with the same script and the same
results. A point's file is named after everything that decides its result, so what is there already is not run again.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from openstellar.sweep.execution import completed
from openstellar.sweep.progress import Progress
from openstellar.sweep.results import Failure, Point, Row, Sweep
from openstellar.sweep.rows import cluster_row, flat
from openstellar.sweep.store import Store

__all__ = ["Failure", "Sweep", "cluster_row", "flat", "grid", "run"]


def grid(**axes: Iterable[Any]) -> list[Point]:
    """The points with every combination of the values of the axes; the last axis changes first. Raises ValueError for an axis without values."""
    lists = {name: list(values) for name, values in axes.items()}
    if empty := [name for name, values in lists.items() if not values]:
        raise ValueError(f"axis {empty[0]!r} has no values: give at least one, or leave it out")
    return [dict(zip(lists, values, strict=True)) for values in itertools.product(*lists.values())]


def run(
    function: Callable[[Point], Row],
    points: Iterable[Point],
    *,
    directory: str | Path,
    workers: int | None = None,
    scheduler: str | None = None,
    processes: bool = True,
    progress: bool = True,
) -> Sweep:
    """Calls `function` for every point, and keeps its row: a dictionary of numbers, texts, None, and lists or dictionaries of them.

    `function` is one of a module that workers can import, and depends on its point alone; `cluster_row` runs a cluster. `directory` keeps a Parquet file
    per point: what an earlier sweep finished is read, what it did not is run, and a file that cannot be read is set aside and its point is run again.
    `workers` (None: one per processor) are processes here, or threads without `processes`; with the address of a Dask `scheduler` those of its cluster
    are taken, which need nothing but the package: rows come back here and are written here. A point that fails does not end the sweep; `Sweep.failed` names it.
    `progress` shows lines on standard error.

    Raises ValueError for a point that JSON cannot hold or that is there twice, and for both `workers` and `scheduler`; ImportError without Dask or pyarrow;
    ConnectionError if no scheduler answers.
    """
    if workers is not None and (scheduler is not None or workers < 1):
        raise ValueError(f"workers={workers} with scheduler={scheduler!r}: give a number of workers of 1 or more, or a scheduler, which has its own")
    points = list(points)
    store = Store(Path(directory), function)
    keys = store.keys(points)
    rows = {key: row for key in keys if (row := store.read(key)) is not None}
    missing = [(key, point) for key, point in zip(keys, points, strict=True) if key not in rows]
    reused, failed = len(rows), {}
    with Progress(len(points), reused, enabled=progress) as shown:
        for key, point, outcome in completed(function, missing, workers=workers, scheduler=scheduler, processes=processes):
            if not isinstance(outcome, Failure):
                outcome = store.write(key, point, outcome)
            if isinstance(outcome, Failure):
                failed[key] = outcome
            else:
                rows[key] = outcome
            shown.step(isinstance(outcome, Failure))
    finished = [(point, rows[key]) for key, point in zip(keys, points, strict=True) if key in rows]
    return Sweep(
        points=[point for point, _ in finished],
        rows=[row for _, row in finished],
        failed=[failed[key] for key in keys if key in failed],
        reused=reused,
        broken=store.broken,
    )
