"""Tables of numpy arrays, which become those of pyarrow, pandas and polars."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

__all__ = ["Table", "needed"]


def needed(module: str, what: str, extra: str) -> Any:
    """Imports `module` for `what`. Raises ImportError that says how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(f"{what} needs {module}: pip install 'openstellar-cluster[{extra}]'") from error


class Table(Mapping[str, numpy.ndarray]):
    """Columns by name, all of one length: a mapping to numpy arrays. Times that there are not are NaN, and null in tables of pyarrow."""

    def __init__(self, columns: Mapping[str, numpy.ndarray]) -> None:
        lengths = {name: len(values) for name, values in columns.items()}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"the columns of a table have one length, not {lengths}")
        self._columns = dict(columns)

    def __getitem__(self, name: str) -> numpy.ndarray:
        if name not in self._columns:
            raise KeyError(f"no column {name!r}; there are: {', '.join(self._columns) or 'none'}")
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __repr__(self) -> str:
        return f"Table({self.rows} rows: {', '.join(self._columns)})"

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self._columns.values()), ()))

    def arrow(self) -> pyarrow.Table:
        """As a table of pyarrow. Raises ImportError without pyarrow."""
        pyarrow = needed("pyarrow", "Table.arrow()", "arrow")
        return pyarrow.table({name: pyarrow.array(values, from_pandas=True) for name, values in self._columns.items()})

    def pandas(self) -> pandas.DataFrame:
        """As a data frame of pandas. Raises ImportError without pandas."""
        return needed("pandas", "Table.pandas()", "pandas").DataFrame(self._columns)

    def polars(self) -> polars.DataFrame:
        """As a data frame of polars. Raises ImportError without polars or pyarrow."""
        return needed("polars", "Table.polars()", "polars").from_arrow(self.arrow())
