"""Points on Dask: its scheduler decides which worker runs which point, and when."""

from __future__ import annotations

import logging
import os
import pickle
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

from openstellar.cluster.tables import needed
from openstellar.sweep.results import Failure, Point, Row

__all__ = ["completed"]

_ANSWER_SECONDS = 10
"""A scheduler that has not answered by then is not there."""


def completed(
    function: Callable[[Point], Row],
    missing: list[tuple[str, Point]],
    *,
    workers: int | None,
    scheduler: str | None,
    processes: bool,
) -> Iterator[tuple[str, Point, Row | Failure]]:
    """Calls `function` for every point on Dask. Yields key, point and outcome as they come."""
    distributed = needed("distributed", "a sweep", "sweep")
    # By cloudpickle alone: Dask would send functions of modules by name, also of those that a script has registered to be sent by value.
    code = needed("cloudpickle", "a sweep", "sweep").dumps(function)
    if not missing:
        return
    with ExitStack() as stack:
        client = stack.enter_context(_client(stack, distributed, min(workers or _processors(), len(missing)), scheduler, processes))
        # Not by content: Dask would take a point that fails once for one that always does.
        futures = {client.submit(_call, code, point, pure=False): (key, point) for key, point in missing}
        for future in distributed.as_completed(list(futures)):
            key, point = futures.pop(future)
            yield key, point, _outcome(future, point)


def _client(stack: ExitStack, distributed: Any, workers: int, scheduler: str | None, processes: bool) -> Any:
    if scheduler is None:
        # A worker has the point that it runs and no other, so that one that ends takes nothing else with it.
        dask = needed("dask", "a sweep", "sweep")
        stack.enter_context(dask.config.set({"distributed.scheduler.worker-saturation": 1.0}))
        local = distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=processes,
            # Dask opens a port for its pages in any case: a free one, for this machine only.
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
        )
        return distributed.Client(stack.enter_context(local))
    try:
        return distributed.Client(scheduler, timeout=_ANSWER_SECONDS)
    except (OSError, ValueError) as error:
        advice = "start one with `dask scheduler`, check the address (tcp://HOST:8786), or leave it out to run here"
        raise ConnectionError(f"no Dask scheduler answers at {scheduler!r}: {advice}") from error


def _processors() -> int:
    return len(os.sched_getaffinity(0))


def _call(code: bytes, point: Point) -> Row | Failure:
    """On a worker. What the function, or its code, raises is a result, so that its traceback is that of the worker; that of pyo3 for a panic is no Exception."""
    try:
        function = pickle.loads(code)
        row = function(point)
        if not isinstance(row, dict):
            raise TypeError(f"{function.__qualname__} returned {type(row).__name__}: the row of a point is a dictionary")
        return row
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # noqa: BLE001
        return Failure(point, f"{type(error).__name__}: {error}", traceback.format_exc())


def _outcome(future: Any, point: Point) -> Row | Failure:
    """The result of a future; a worker that ended is a failure of the point that it ran."""
    try:
        return future.result()
    except Exception as error:  # noqa: BLE001
        return Failure(point, f"{type(error).__name__}: {error}", "")
