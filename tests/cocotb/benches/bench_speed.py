"""Rows of the speed table. Each prints `RATE <name> <cycles per second>`; the warm-up is not measured."""

from __future__ import annotations

import os
import time

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge, Timer

PERIOD_NS = 4
CYCLES = int(os.environ.get("SPEED_CYCLES", "20000"))


async def start(dut) -> None:
    for name in ("enable", "wide_in", "rst"):
        if hasattr(dut, name):
            getattr(dut, name).value = 0
    Clock(dut.clk, PERIOD_NS, "ns").start()
    await Timer(PERIOD_NS * 100, "ns")


def report(name: str, cycles: int, started: float) -> None:
    print(f"RATE {name} {cycles / (time.perf_counter() - started):.0f}")


@cocotb.test()
async def every_edge(dut):
    await start(dut)
    edge = RisingEdge(dut.clk)
    started = time.perf_counter()
    for _ in range(CYCLES):
        await edge
    report("every edge", CYCLES, started)


@cocotb.test()
async def free_running(dut):
    await start(dut)
    cycles = CYCLES * 10
    started = time.perf_counter()
    await Timer(PERIOD_NS * cycles, "ns")
    report("free-running", cycles, started)
