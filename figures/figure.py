"""What every figure has: points to run, what is measured at each, and what follows from the measurements."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pandas

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Plot

__all__ = ["REFERENCE", "Band", "Figure", "Findings", "Scale", "all_finish"]

REFERENCE = (
    "Decisions of the cards (paths, windows, retransmissions) are those of the software reference, which lockstep tests hold the Verilog to. The fabric, its "
    "switches and all times are a model. No Verilog runs."
)
"""What is hardware, locked reference and model in a figure that runs clusters."""


@dataclass(frozen=True)
class Scale:
    """How much is run."""

    name: str
    """"quick" or "full"."""
    seeds: range
    """Seeds of every setting."""

    @property
    def is_full(self) -> bool:
        """Whether this is the long form."""
        return self.name == "full"


@dataclass(frozen=True)
class Band:
    """A value that the paper, or the reference measurements, bound."""

    what: str
    value: float
    low: float
    high: float
    unit: str = ""
    paper: str = ""
    """What the paper says, or where the band comes from."""
    why: str = ""
    """If the value is known to be outside: why."""

    @property
    def holds(self) -> bool:
        """Whether the value is within the band; what could not be measured (NaN) is not."""
        return self.low <= self.value <= self.high

    @property
    def verdict(self) -> str:
        """As `./stellar figures pcie` says it."""
        return "PASS" if self.holds else "OUTSIDE"


def all_finish(rows: pandas.DataFrame) -> Band:
    """The band of the column `unfinished`: every flow of every run finishes."""
    return Band("flows that did not finish", float(rows.unfinished.sum()), 0, 0)


@dataclass
class Findings:
    """What follows from the measurements."""

    tables: list[tuple[str, pandas.DataFrame]] = field(default_factory=list)
    """Titles and tables."""
    plots: list[tuple[str, Plot]] = field(default_factory=list)
    """Names of files and plots."""
    bands: list[Band] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What a reader has to know: differences from the paper's set-up, arithmetic that does not agree with itself."""


@dataclass(frozen=True)
class Figure:
    """A figure of a paper."""

    name: str
    """On the command line."""
    title: str
    source: str
    """Paper, figure, section."""
    setup: str
    """What is run here, and how it differs from the paper's experiment."""
    parts: str
    """What is hardware, what is the locked reference, what is a baseline that is in neither, what is a model."""
    points: Callable[[Scale], list[dict[str, Any]]]
    measure: Callable[[dict[str, Any]], dict[str, Any]]
    """Runs on a worker."""
    findings: Callable[[pandas.DataFrame, Scale], Findings]
    """From a row per point, with its settings and measurements."""
    quick_seeds: int = 2
    full_seeds: int = 6
    missing: Callable[[], str | None] = lambda: None
    """Why it cannot be run here, if it cannot."""

    def scale(self, *, full: bool) -> Scale:
        """The scale of this figure."""
        return Scale("full", range(1, self.full_seeds + 1)) if full else Scale("quick", range(1, self.quick_seeds + 1))
