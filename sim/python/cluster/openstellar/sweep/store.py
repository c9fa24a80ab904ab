"""A Parquet file per point, named after everything that decides its contents."""

from __future__ import annotations

import hashlib
import inspect
import os
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from openstellar import cluster
from openstellar.cluster.tables import needed
from openstellar.sweep.results import Failure, Point, Row, canonical

__all__ = ["Store"]

_POINT = b"openstellar.point"
"""Key of a file's metadata: the point as JSON, for readers, and to check the file against its name."""


class Store:
    """The results of `function` in a directory."""

    def __init__(self, directory: Path, function: Callable[[Point], Row]) -> None:
        self._parquet = needed("pyarrow.parquet", "a sweep", "sweep")
        self._arrow = needed("pyarrow", "a sweep", "sweep")
        self._directory = directory
        self._function = _identity(function)
        self.broken: list[Path] = []
        directory.mkdir(parents=True, exist_ok=True)

    def keys(self, points: list[Point]) -> list[str]:
        """A key for each point. Raises ValueError for points that JSON cannot hold, and for equal ones."""
        texts = [canonical(point) for point in points]
        times = Counter(texts)
        if twice := next((text for text in texts if times[text] > 1), None):
            raise ValueError(f"the point {twice} is there twice: give every point once")
        return [self._key(text) for text in texts]

    def _key(self, text: str) -> str:
        return hashlib.sha256(f"{self._function}\n{text}".encode()).hexdigest()[:32]

    def path(self, key: str) -> Path:
        """The file of a key."""
        return self._directory / f"{key}.parquet"

    def read(self, key: str) -> Row | None:
        """The row of a key; None if there is none, or no file that can be read: that one is set aside."""
        path = self.path(key)
        if not path.exists():
            return None
        try:
            table = self._parquet.read_table(path)
            text = (table.schema.metadata or {}).get(_POINT, b"").decode()
            if self._key(text) != key or table.num_rows != 1:
                raise ValueError("another point")
            return table.to_pylist()[0]
        except (OSError, ValueError):  # those of pyarrow are ValueErrors, too
            aside = path.with_suffix(".broken")
            os.replace(path, aside)
            self.broken.append(aside)
            return None

    def write(self, key: str, point: Point, row: Row) -> Row | Failure:
        """Keeps a row, and returns it as it will be read. A file is there with all of it or not at all, whenever the process ends."""
        path = self.path(key)
        part = path.with_suffix(f".{os.getpid()}.part")
        try:
            table = self._arrow.Table.from_pylist([row])
            table = table.replace_schema_metadata({_POINT: canonical(point).encode()})
            self._parquet.write_table(table, part)
        except (ValueError, TypeError, NotImplementedError) as error:
            part.unlink(missing_ok=True)
            return Failure(point, f"its row cannot be kept: {error}", repr(row))
        os.replace(part, path)
        return table.to_pylist()[0]


def _identity(function: Callable[[Point], Row]) -> str:
    """What decides the rows of a function: its name, the texts of its file and of those that it uses, and the sources of the simulation."""
    texts = b"".join(path.read_bytes() for path in _files(function))
    return f"{function.__module__}.{function.__qualname__} {hashlib.sha256(texts).hexdigest()} {cluster.sources()}"


def _files(function: Callable[[Point], Row]) -> list[Path]:
    """The file of a function, and those of the modules beside it from which its file takes something."""
    own = inspect.getsourcefile(function)
    if own is None:
        return []
    found = {Path(own)}
    for value in function.__globals__.values():
        module = value if inspect.ismodule(value) else sys.modules.get(getattr(value, "__module__", None) or "")
        source = getattr(module, "__file__", None)
        if source is not None and Path(source).parent == Path(own).parent:
            found.add(Path(source))
    return sorted(found)
