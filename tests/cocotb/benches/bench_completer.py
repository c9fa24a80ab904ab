"""The host's accesses to BARs: a root complex and AMD's UltraScale+ block, both of cocotbext-pcie, around `completer_512`."""

from __future__ import annotations

import random

import cocotb
from cocotb.triggers import Timer
from cocotbext.axi import AxiStreamBus
from cocotbext.pcie.core import RootComplex
from cocotbext.pcie.xilinx.us import UltraScalePlusPcieDevice
from pcie import enumerated, until
from streams import sometimes

MEMORY = 8192


class Host:
    """A root complex that has enumerated the card, and its windows of the card's BARs."""

    def __init__(self, dut, pauses: float = 0.0) -> None:
        self.dut = dut
        self.root = RootComplex()
        self.block = UltraScalePlusPcieDevice(
            max_payload_size=512,
            enable_extended_tag=True,
            user_clk=dut.user_clk,
            user_reset=dut.user_reset,
            cq_bus=AxiStreamBus.from_prefix(dut, "m_axis_cq"),
            cc_bus=AxiStreamBus.from_prefix(dut, "s_axis_cc"),
        )
        self.root.make_port().connect(self.block)
        function = self.block.functions[0]
        function.configure_bar(0, 1 << 16, ext=True)
        function.configure_bar(2, 1 << 28, ext=True)
        if pauses:
            self.block.cq_source.set_pause_generator(sometimes(pauses))
            self.block.cc_sink.set_pause_generator(sometimes(pauses))

    async def start(self) -> None:
        device = await enumerated(self.root, self.block)
        self.registers, self.doorbells = device.bar_window[0], device.bar_window[2]


@cocotb.test()
async def bytes_written_at_any_place_are_read_at_any_place(dut):
    """Lengths up to two read requests, so that completions end at several boundaries, and writes to several payloads."""
    host = Host(dut, pauses=0.2)
    await host.start()
    expected = bytearray(MEMORY)
    for _ in range(60):
        at = random.randrange(MEMORY - 1)
        data = random.randbytes(min(random.choice((1, 2, 4, 8, 64, 700)), MEMORY - at))
        await host.registers.write(at, data)
        expected[at : at + len(data)] = data
        at = random.randrange(MEMORY - 1)
        count = min(random.choice((1, 3, 4, 8, 16, 200, 1000)), MEMORY - at)
        assert await host.registers.read(at, count, timeout=20, timeout_unit="us") == expected[at : at + count], f"{count} bytes at {at}"
    assert await host.registers.read(0, MEMORY, timeout=50, timeout_unit="us") == expected


@cocotb.test()
async def doorbells_pass_one_by_one_and_cannot_be_read(dut):
    host = Host(dut)
    await host.start()
    for n in range(20):
        await host.doorbells.write_qword(4096 * n, n)
    await until(lambda: dut.doorbells.value == 20, "twenty doorbells have come")
    assert dut.doorbell_enable.value == 0xFF
    try:
        await host.doorbells.read_dword(0, timeout=20, timeout_unit="us")
    except Exception as error:  # noqa: BLE001, the root complex raises no class of its own
        assert "Unsuccessful" in str(error), error
    else:
        raise AssertionError("a read of doorbell pages succeeds")
    await Timer(100, "ns")
    assert dut.refused_count.value == 1
    await host.registers.write_dword(0, 0x1234)
    assert await host.registers.read_dword(0, timeout=20, timeout_unit="us") == 0x1234, "the completer goes on"
