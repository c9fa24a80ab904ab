"""Python threads beside the simulation."""

from __future__ import annotations

import threading
import time

import cocotb
from cocotb.clock import Clock
from cocotb.task import bridge, resume
from cocotb.triggers import Timer
from cocotb.utils import get_sim_time


@cocotb.test()
async def a_thread_reads_and_lets_time_pass(dut):
    """A blocking function in a thread of its own reads signals, and calls back into the simulation."""
    dut.wide_in.value = 0
    dut.enable.value = 1
    Clock(dut.clk, 10, "ns").start()

    @resume
    async def pass_time(ns: int) -> None:
        await Timer(ns, "ns")

    @bridge
    def blocking() -> tuple[int, int]:
        before = dut.count.value.to_unsigned()
        pass_time(100)
        return before, dut.count.value.to_unsigned()

    before, after = await blocking()
    assert (after - before) % 256 == 10
    assert get_sim_time("ns") == 100


@cocotb.test()
async def threads_run_while_time_passes(dut):
    """While no callback is due, other threads can run, and they may read signals."""
    Clock(dut.clk, 10, "ns").start()
    seen = []
    stop = threading.Event()

    def look() -> None:
        while not stop.is_set():
            seen.append(dut.count.value.to_unsigned())
            time.sleep(0.001)

    thread = threading.Thread(target=look)
    thread.start()
    started, rounds = len(seen), 0
    # Long enough for the thread to run several times, on any machine.
    while len(seen) - started < 5:
        await Timer(10, "ms")
        rounds += 1
        assert rounds < 100, "the thread never ran"
    stop.set()
    thread.join()
