"""Fixtures of the benches: the simulator, and the directory."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from simulators import SIMULATORS, Simulator

HERE = Path(__file__).parent
# This is a project of its own, which test_runs.py starts with cocotb's pytest plugin.
collect_ignore = ["plugin_example"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--simulator",
        choices=sorted(SIMULATORS),
        default="openstellar",
        help="what runs the benches: openstellar, or stock: cocotb's own runner on the Verilator named by STELLAR_STOCK_VERILATOR",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "repeats: a bench of what a Rust test checks in lockstep too; `./stellar test` leaves it out with -m 'not repeats'"
    )


@pytest.fixture
def simulator(request: pytest.FixtureRequest, tmp_path: Path) -> Simulator:
    """Builds designs and runs benches in a directory of its own."""
    return SIMULATORS[request.config.getoption("--simulator")](tmp_path)


@pytest.fixture
def verilog() -> Path:
    """The directory of the Verilog that only benches use."""
    return HERE / "verilog"


os.environ.setdefault("COCOTB_RANDOM_SEED", "1")
