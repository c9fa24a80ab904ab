"""Each test makes a mistake and checks the error."""

from __future__ import annotations

import cocotb
import pytest
from cocotb.triggers import Timer


@cocotb.test()
async def an_unknown_signal_is_answered_with_the_closest_names(dut):
    with pytest.raises(AttributeError, match="counter contains no child object named wide_ou; closest: wide_out"):
        dut.wide_ou.value = 1
    with pytest.raises(KeyError, match="closest: enable"):
        dut["enabel"]
    assert not hasattr(dut, "tready"), "asking is no mistake"
    assert dut._get("tready") is None
    await Timer(1, "ns")


@cocotb.test()
async def an_output_cannot_be_written(dut):
    with pytest.raises(TypeError, match="`counter.done` is an output of the design and cannot be written; use Force"):
        dut.done.value = 1
    with pytest.raises(TypeError, match="immutable"):
        dut.LIMIT.value = 3
    await Timer(1, "ns")


@cocotb.test()
async def a_value_must_fit(dut):
    with pytest.raises((ValueError, OverflowError), match="range"):
        dut.wide_in.value = 1 << 100
    with pytest.raises((ValueError, OverflowError), match="2 is not convertible"):
        dut.enable.value = 2
    await Timer(1, "ns")


@cocotb.test()
async def there_is_one_simulation_in_a_process(dut):
    with pytest.raises(RuntimeError, match="a simulation of `counter` exists in this process already"):
        cocotb.simulator.load("openstellar.json", [])
    await Timer(1, "ns")
