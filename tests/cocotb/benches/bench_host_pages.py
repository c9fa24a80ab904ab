"""BAR0 and BAR2: registers of the physical function, and doorbell pages."""

from __future__ import annotations

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge, with_timeout
from cocotbext.axi import AxiLiteBus, AxiLiteMaster, AxiLiteMasterWrite, AxiLiteWriteBus, AxiStreamBus, AxiStreamSink
from openstellar.records import Record, registers

ALL_ONES = (1 << 64) - 1
DOORBELL = 0
# The first slots of doorbells and of consumer indices; a slot has 8 bytes.
DOORBELL_SLOTS, CONSUMER_SLOTS = 0x800, 0xC00
# The queue pair of page 9.
PAGE, QP = 9, 2


class Bench:
    """The host pages of a card after reset, with one queue pair that has an owner."""

    def __init__(self, dut) -> None:
        self.dut = dut
        self.at = registers()
        Clock(dut.clk, 4, "ns").start()
        self.bar0 = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axil_bar0"), dut.clk, dut.rst)
        self.bar2 = AxiLiteMasterWrite(AxiLiteWriteBus.from_prefix(dut, "s_axil_bar2"), dut.clk, dut.rst)
        self.tables = AxiStreamSink(AxiStreamBus.from_prefix(dut, "m_axis_table"), dut.clk, dut.rst, byte_lanes=1)
        self.seen: dict[str, list[tuple[int, ...]]] = {"doorbell": [], "refused": [], "short_write": [], "wrong_offset": []}

    async def start(self) -> None:
        dut = self.dut
        for name in ("counter_value", "interrupt_pending", "fence_ready", "fence_done", "owner_valid"):
            getattr(dut, name).value = 0
        for name in ("doorbell_ready", "refused_ready"):
            getattr(dut, name).value = 1
        dut.port_up.value = 0b10
        dut.rst.value = 1
        await ClockCycles(dut.clk, 4)
        dut.rst.value = 0
        await ClockCycles(dut.clk, 10)
        dut.owner_qp.value, dut.owner_page.value, dut.owner_present.value = QP, PAGE, 1
        dut.owner_valid.value = 1
        await ClockCycles(dut.clk, 1)
        dut.owner_valid.value = 0
        cocotb.start_soon(self._watch())

    async def _watch(self) -> None:
        """The outputs of the doorbells, cycle by cycle."""
        dut = self.dut
        while True:
            await RisingEdge(dut.clk)
            if dut.doorbell_valid.value == 1:
                self.seen["doorbell"].append((dut.doorbell_qp.value.to_unsigned(), dut.doorbell_producer.value.to_unsigned()))
            if dut.refused_valid.value == 1:
                self.seen["refused"].append((dut.refused_page.value.to_unsigned(), dut.refused_qp.value.to_unsigned()))
            for name in ("short_write", "wrong_offset"):
                if getattr(dut, name).value == 1:
                    self.seen[name].append(())

    async def read(self, name: str, index: int = 0) -> int:
        return await self.bar0.read_qword(self.at[name].offset + 8 * index)

    async def write(self, name: str, value: int, index: int = 0) -> None:
        await self.bar0.write_qword(self.at[name].offset + 8 * index, value)

    async def ring(self, page: int, qp: int, producer: int, offset: int = DOORBELL) -> None:
        await self.bar2.write_qword(page * 4096 + offset, producer << 32 | qp)


@cocotb.test()
async def registers_have_their_reset_values(dut):
    bench = Bench(dut)
    await bench.start()
    for name, register in bench.at.items():
        if name in ("FEATURES", "DATA_PATH", "IMMEDIATES", "PORT_STATE"):
            continue
        for index in range(register.count):
            assert await bench.read(name, index) == register.reset, name
    assert (await bench.read("IDENTITY")).to_bytes(8, "little") == b"STELLAR1"
    # Two endpoints, beats of 1,024 bits; eight entropy profiles, four of which may be explicit; RC queue pairs may have paths; all 1,024 queue pairs have counters.
    assert await bench.read("DATA_PATH") == 10 << 48 | 1 << 40 | 4 << 32 | 8 << 24 | 1024 << 8 | 2
    assert await bench.read("IMMEDIATES") == 14 << 8 | 8
    assert await bench.read("PORT_STATE") == 0b10
    assert await bench.read("UNMAPPED") == 0


@cocotb.test()
async def registers_take_bytes_and_keep_to_their_width(dut):
    bench = Bench(dut)
    await bench.start()
    value = random.getrandbits(64)
    await bench.write("SCRATCH", value)
    await bench.bar0.write(bench.at["SCRATCH"].offset + 3, b"\xab\xcd")
    expected = value.to_bytes(8, "little")
    assert (await bench.read("SCRATCH")).to_bytes(8, "little") == expected[:3] + b"\xab\xcd" + expected[5:]
    await bench.write("MAX_READ", ALL_ONES)
    assert await bench.read("MAX_READ") == 7


@cocotb.test()
async def what_cannot_be_written_is_counted(dut):
    bench = Bench(dut)
    await bench.start()
    await bench.write("IDENTITY", 0)
    await bench.bar0.write(bench.at["FENCE"].offset, b"\x01")
    assert await bench.read("REFUSED") == 2
    assert await bench.bar0.read_qword(0x8000) == ALL_ONES
    await bench.bar0.write_qword(0x8000, 1)
    assert await bench.read("UNMAPPED") == 2


@cocotb.test()
async def a_table_entry_goes_out_as_it_was_written(dut):
    bench = Bench(dut)
    await bench.start()
    bench.tables.pause = True
    words = [random.getrandbits(64) for _ in range(bench.at["TABLE_DATA"].count)]
    for index, word in enumerate(words):
        await bench.write("TABLE_DATA", word, index)
    select = Record("ConfigWrite").fields["select"].values.index("Emtt")
    await bench.write("TABLE_COMMAND", select << 32 | 0x6_2345)
    assert await bench.read("TABLE_COMMAND") == 0b10, "it is under way"
    await bench.write("TABLE_DATA", 0)
    assert await bench.read("REFUSED") == 1, "data must stay until then"
    bench.tables.pause = False
    frame = await with_timeout(bench.tables.recv(), 5, "us")
    written = Record("ConfigWrite").unpack(frame.tdata[0])
    assert (written["select"], written["index"]) == (select, 0x6_2345)
    assert written["entry"] == sum(word << 64 * n for n, word in enumerate(words))
    assert await bench.read("TABLE_COMMAND") == 0
    translations = 1 << (await bench.read("FEATURES") >> 32 & 0xFF)
    await bench.write("TABLE_COMMAND", select << 32 | translations)
    assert await bench.read("TABLE_COMMAND") == 0
    assert await bench.read("REFUSED") == 2, "a row beyond the table"


@cocotb.test()
async def a_page_rings_for_its_own_queue_pairs_only(dut):
    bench = Bench(dut)
    await bench.start()
    await bench.ring(PAGE, QP, 77)
    await bench.ring(PAGE + 1, QP, 78)
    await bench.ring(PAGE, QP + 1, 79)
    await bench.ring(PAGE, QP, 80, offset=16)
    await bench.bar2.write(PAGE * 4096, b"\x00" * 4)
    await ClockCycles(dut.clk, 10)
    assert bench.seen == {"doorbell": [(QP, 77)], "refused": [(PAGE + 1, QP), (PAGE, QP + 1)], "short_write": [()], "wrong_offset": [()]}


@cocotb.test()
async def every_slot_of_a_page_rings_for_its_own_queue_pairs_only(dut):
    bench = Bench(dut)
    await bench.start()
    slots = range(DOORBELL_SLOTS, CONSUMER_SLOTS, 8)
    for producer, slot in enumerate(slots):
        await bench.ring(PAGE, QP, producer, offset=slot)
    await bench.ring(PAGE + 1, QP, 200, offset=slots[-1])
    await bench.ring(PAGE, QP + 1, 201, offset=slots[0])
    await bench.bar2.write(PAGE * 4096 + slots[1], b"\x00" * 4)
    await ClockCycles(dut.clk, 10)
    rung = [(QP, producer) for producer in range(len(slots))]
    assert bench.seen == {"doorbell": rung, "refused": [(PAGE + 1, QP), (PAGE, QP + 1)], "short_write": [()], "wrong_offset": []}
    await bench.ring(PAGE, QP + 1, 202, offset=CONSUMER_SLOTS)
    await bench.ring(PAGE, QP + 1, 203, offset=4096 - 8)
    await ClockCycles(dut.clk, 10)
    assert bench.seen["doorbell"] == rung, "consumer indices are no doorbells"
    assert bench.seen["refused"][2:] == [(PAGE, QP + 1)] * 2


@cocotb.test()
async def a_fence_tells_when_it_is_done(dut):
    bench = Bench(dut)
    await bench.start()
    await bench.write("FENCE", 1)
    await ClockCycles(dut.clk, 4)
    assert dut.fence_valid.value == 1 and await bench.read("FENCE") == 0b10
    dut.fence_ready.value = 1
    await ClockCycles(dut.clk, 2)
    dut.fence_ready.value = 0
    assert await bench.read("FENCE") == 0b10, "taken is not done"
    dut.fence_done.value = 1
    await ClockCycles(dut.clk, 1)
    dut.fence_done.value = 0
    assert await bench.read("FENCE") == 0b01
