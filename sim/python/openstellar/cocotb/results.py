"""Outcomes of cocotb tests, from the results.xml that a run leaves."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Outcome", "read_results"]


@dataclass(frozen=True)
class Outcome:
    """The outcome of one test."""

    passed: bool
    sim_time_ns: float
    """Simulated time it took; not a number for a test that did not run."""
    wall_s: float
    """Wall time it took."""
    message: str
    """The reason of a failure."""


def read_results(path: Path) -> dict[str, Outcome]:
    """The outcomes in a results.xml by name of module and test. Skipped tests are left out.

    Raises FileNotFoundError if there is no file, because the run ended before its first test.
    """
    outcomes = {}
    for case in ElementTree.parse(path).iter("testcase"):
        if case.find("skipped") is not None:
            continue
        problem = next((found for tag in ("failure", "error") for found in case.iter(tag)), None)
        properties = {found.get("name"): found.get("value") for found in case.iter("property")}
        outcomes[f"{case.get('classname')}.{case.get('name')}"] = Outcome(
            passed=problem is None,
            sim_time_ns=float(properties.get("sim_time_duration") or "nan"),
            wall_s=float(case.get("time") or "nan"),
            message="" if problem is None else (problem.get("message") or problem.text or "").strip(),
        )
    return outcomes
