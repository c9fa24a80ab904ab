"""A project for cocotb's pytest plugin: fixtures build the design, and tests of the design stand beside the test that simulates it."""

from pathlib import Path

import cocotb_tools._pytest.mark as mark
import pytest
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, ReadOnly


@pytest.fixture
def counter(hdl):
    """The built design."""
    hdl.toplevel = "counter"
    hdl.sources = [Path(__file__).parent.parent / "verilog" / "counter.v"]
    hdl.build()
    return hdl


@mark.cocotb_runner()
def test_simulation(counter):
    """Runs the tests below on the design."""
    counter.test()


@mark.cocotb_test()
async def test_counts(dut):
    Clock(dut.clk, 10, "ns").start()
    dut.enable.value = 1
    await ClockCycles(dut.clk, 5)
    await ReadOnly()
    assert dut.count.value.to_unsigned() == 5


@mark.cocotb_test()
async def test_fails(dut):
    assert dut.count.value.to_unsigned() == 77
