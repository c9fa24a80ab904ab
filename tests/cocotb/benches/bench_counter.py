"""Objects, triggers and writes of cocotb on a small design."""

from __future__ import annotations

import random

import cocotb
from cocotb.clock import Clock
from cocotb.handle import Immediate
from cocotb.triggers import ClockCycles, Combine, FallingEdge, First, NextTimeStep, ReadOnly, ReadWrite, RisingEdge, Timer, ValueChange
from cocotb.triggers import SimTimeoutError
from cocotb.utils import get_sim_time


async def start(dut) -> None:
    dut.enable.value = 0
    dut.wide_in.value = 0
    Clock(dut.clk, 10, "ns").start()
    await RisingEdge(dut.clk)


@cocotb.test()
async def registers_are_read_before_the_edge(dut):
    await start(dut)
    before = dut.count.value.to_unsigned()
    dut.enable.value = 1
    await RisingEdge(dut.clk)
    assert dut.count.value.to_unsigned() == before
    await ReadOnly()
    assert dut.count.value.to_unsigned() == before + 1
    await FallingEdge(dut.clk)
    assert dut.count.value.to_unsigned() == before + 1


@cocotb.test()
async def wide_values_pass_through(dut):
    await start(dut)
    for _ in range(20):
        value = random.getrandbits(100) & ~1
        dut.wide_in.value = value
        await ClockCycles(dut.clk, 2)
        assert dut.wide_out.value.to_unsigned() == value
        assert len(dut.wide_out.value) == 100


@cocotb.test()
async def phases_of_a_time_step(dut):
    await start(dut)
    dut.one_bit.value = 1
    await ReadWrite()
    assert dut.one_bit.value == 1
    now = get_sim_time("ns")
    await ReadOnly()
    assert get_sim_time("ns") == now
    await NextTimeStep()
    assert get_sim_time("ns") == now + 5
    dut.one_bit.value = Immediate(0)
    assert dut.one_bit.value == 0


@cocotb.test()
async def the_first_of_several(dut):
    await start(dut)
    dut.enable.value = 1
    change, timer = ValueChange(dut.count), Timer(100, "ns")
    assert await First(change, timer) is change
    dut.enable.value = 0
    await ClockCycles(dut.clk, 2)
    assert await First(ValueChange(dut.count), timer) is timer
    started = get_sim_time("ns")
    await Combine(Timer(3, "ns"), Timer(7, "ns"))
    assert get_sim_time("ns") == started + 7


@cocotb.test(timeout_time=1, timeout_unit="us", expect_error=SimTimeoutError)
async def a_test_that_hangs_times_out(dut):
    await start(dut)
    await RisingEdge(dut.done)


@cocotb.test()
async def sleeping_is_exact(dut):
    await start(dut)
    dut.enable.value = 1
    await RisingEdge(dut.clk)
    before = dut.count.value.to_unsigned()
    await Timer(1, "us")
    # The trigger fires in the time step of an edge, before the edge.
    assert dut.count.value.to_unsigned() == (before + 100) % 256
