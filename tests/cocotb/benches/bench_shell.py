"""Ports that nothing drives, as in the empty shells that tests of bus models have for a design."""

from __future__ import annotations

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles


@cocotb.test()
async def an_output_that_nothing_drives_keeps_what_is_written(dut):
    Clock(dut.clk, 10, "ns").start()
    dut.spare.value = 5
    await ClockCycles(dut.clk, 3)
    assert dut.spare.value.to_unsigned() == 5
