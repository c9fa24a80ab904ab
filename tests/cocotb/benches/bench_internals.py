"""Signals inside the design: read by name, deposited, forced."""

from __future__ import annotations

import cocotb
from cocotb.clock import Clock
from cocotb.handle import Force, Release
from cocotb.triggers import ClockCycles, ReadOnly, RisingEdge, Timer


async def start(dut) -> None:
    dut.wide_in.value = 0
    dut.enable.value = 1
    Clock(dut.clk, 10, "ns").start()
    await RisingEdge(dut.clk)


@cocotb.test()
async def instances_arrays_and_parameters_have_names(dut):
    await start(dut)
    await ClockCycles(dut.clk, 8)
    cell = dut.lane[1].u_cell
    assert cell.STEP.value.to_unsigned() == 2 and dut.LIMIT.value.to_unsigned() == 200
    assert cell.count.value == dut.lane[1].value.value
    assert len(cell.history) == 4
    assert [word.value.to_unsigned() % 2 for word in cell.history if word.value != 0] != []
    assert len(dut.lane) == 2 and {child._name for child in dut} >= {"clk", "lane", "LIMIT", "wide_out"}


@cocotb.test()
async def a_register_takes_a_deposit(dut):
    await start(dut)
    dut.lane[0].u_cell.count.value = 100
    await ReadOnly()
    await RisingEdge(dut.clk)
    await ReadOnly()
    assert 100 < dut.count.value.to_unsigned() <= 102
    await Timer(1, "ns")
    dut.lane[0].u_cell.history[2].value = 77
    await ReadOnly()
    assert dut.lane[0].u_cell.history[2].value.to_unsigned() == 77


@cocotb.test()
async def a_forced_register_keeps_its_value(dut):
    await start(dut)
    dut.lane[0].u_cell.count.value = Force(50)
    await ClockCycles(dut.clk, 5)
    assert dut.count.value.to_unsigned() == 50
    dut.lane[0].u_cell.count.value = Release()
    await ClockCycles(dut.clk, 5)
    assert dut.count.value.to_unsigned() > 50


@cocotb.test()
async def an_output_can_be_forced(dut):
    await start(dut)
    dut.done.value = Force(1)
    await ClockCycles(dut.clk, 3)
    assert dut.done.value == 1
    dut.done.value = Release()
    await ClockCycles(dut.clk, 3)
    assert dut.done.value == 0
