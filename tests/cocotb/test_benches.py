"""Runs every bench. `--simulator stock` runs those that do not depend on this simulator on stock cocotb and Verilator."""

from __future__ import annotations

from pathlib import Path

import pytest
from blocks import BENCHES, Bench
from openstellar.cocotb.results import Outcome
from simulators import Simulator


def all_passed(outcomes: dict[str, Outcome], count: int) -> None:
    """All tests of the bench ran and passed."""
    assert len(outcomes) == count, outcomes
    assert [name for name, outcome in outcomes.items() if not outcome.passed] == []


@pytest.mark.parametrize("signals", ["ports", "all"])
def test_counter(simulator: Simulator, verilog: Path, signals: str) -> None:
    all_passed(simulator.run("bench_counter", "counter", [verilog / "counter.v"], signals=signals), 6)


def parameter(bench: Bench) -> pytest.ParameterSet:
    """The bench with its name and mark."""
    return pytest.param(bench, id=bench.module, marks=[pytest.mark.repeats] if bench.repeats else [])


@pytest.mark.parametrize("bench", [parameter(bench) for bench in BENCHES])
def test_block(simulator: Simulator, bench: Bench) -> None:
    all_passed(bench.run(simulator), bench.tests)


def test_internal_signals(simulator: Simulator, verilog: Path) -> None:
    if simulator.name == "stock":
        pytest.skip("stock cocotb on Verilator cannot force signals that are not declared forceable")
    all_passed(simulator.run("bench_internals", "counter", [verilog / "counter.v"], signals="all"), 4)


def test_mistakes(simulator: Simulator, verilog: Path) -> None:
    if simulator.name == "stock":
        pytest.skip("stock cocotb answers these otherwise")
    all_passed(simulator.run("bench_mistakes", "counter", [verilog / "counter.v"], signals="all"), 4)


def test_threads(simulator: Simulator, verilog: Path) -> None:
    if simulator.name == "stock":
        pytest.skip("stock cocotb does not promise it")
    all_passed(simulator.run("bench_threads", "counter", [verilog / "counter.v"]), 2)


@pytest.mark.parametrize("signals", ["ports", "all"])
def test_undriven_ports(simulator: Simulator, verilog: Path, signals: str) -> None:
    if simulator.name == "stock":
        pytest.skip("stock Verilator does not keep what is written to such a port")
    all_passed(simulator.run("bench_shell", "counter", [verilog / "counter.v"], signals=signals), 1)
