"""Simulations that end with an error."""

from __future__ import annotations

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge, Timer


@cocotb.test()
async def good(dut):
    await Timer(1, "ns")


@cocotb.test()
async def failing(dut):
    await Timer(1, "ns")
    assert dut.count.value.to_unsigned() == 200, "the count is not 200"


@cocotb.test()
async def finishing(dut):
    """The design ends the simulation."""
    Clock(dut.clk, 10, "ns").start()
    dut.wide_in.value = (1 << 100) - 1
    await ClockCycles(dut.clk, 10)


@cocotb.test()
async def running_dry(dut):
    """There are no more events."""
    await RisingEdge(dut.clk)
