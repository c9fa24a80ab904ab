"""Completion queues, event queue and MSI-X, up to the memory and the interrupts of a root complex."""

from __future__ import annotations

import random
import struct

import cocotb
from cocotb.triggers import RisingEdge, Timer, with_timeout
from cocotbext.pcie.core.caps import PciCapId
from openstellar.records import Record
from pcie import PENDING, VECTORS, Endpoint, until

QP, LOG2_ENTRIES, VECTOR = 1, 3, 5
CQE, EQE = 32, 16
DOORBELL_REFUSED = 4


class Rings(Endpoint):
    """One completion queue and the event queue in host memory, and an interrupt vector."""

    async def start(self) -> None:
        await super().start()
        self.memory = self.root.mem_pool.alloc_region(4096)
        ring = Record("RingConfig")
        base = self.memory.get_absolute_address(0)
        await self.offer("ring", ring_qp=QP, ring=ring.pack(valid=1, interrupts=1, vector=VECTOR, log2_entries=LOG2_ENTRIES, base=base))
        await self.offer("event_ring", event_ring=ring.pack(valid=1, log2_entries=4, base=base + 2048))
        # The root complex writes the table in BAR4, as an operating system does.
        assert await self.device.alloc_irq_vectors(1, VECTORS) == VECTORS
        self.interrupt = self.device.msi_vectors[VECTOR]
        self.vectors = self.device.bar_window[4]

    async def complete(self, wr_id: int) -> None:
        fields = {"qp": QP, "status": 0, "opcode": 1, "wr_id": wr_id, "byte_len": wr_id * 3}
        await self.command(self.completions, "Completion", fields)

    async def consume(self, index: int, arm: bool) -> None:
        await self.offer("consumer", consumer_qp=QP, consumer_index=index, consumer_arm=int(arm))

    def entry(self, index: int) -> dict[str, int]:
        """A completion queue entry as the host sees it."""
        at = index % (1 << LOG2_ENTRIES) * CQE
        return Record("CompletionEntry").unpack(int.from_bytes(self.memory.mem[at : at + CQE], "little"))

    def is_new(self, index: int) -> bool:
        """The expected phase is that of the reader's round; it begins with 1."""
        return self.entry(index)["phase"] == 1 - (index >> LOG2_ENTRIES) % 2


@cocotb.test()
async def completions_come_in_order_round_after_round(dut):
    bench = Rings(dut, pauses=0.2)
    await bench.start()
    ids = [random.getrandbits(30) for _ in range(3 << LOG2_ENTRIES)]
    for index, wr_id in enumerate(ids):
        await bench.complete(wr_id)
        await until(lambda index=index: bench.is_new(index), f"entry {index} is written", 5)
        entry = bench.entry(index)
        assert (entry["wr_id"], entry["qp"], entry["byte_len"]) == (wr_id, QP, wr_id * 3 & 0xFFFF_FFFF)
        await bench.consume(index + 1, False)


@cocotb.test()
async def an_armed_queue_interrupts_once_and_after_its_entry(dut):
    bench = Rings(dut)
    await bench.start()
    found = []
    bench.interrupt.cb.append(lambda: note(found, bench))
    await bench.complete(7)
    await Timer(2, "us")
    assert found == [], "nobody asked for an interrupt"
    await bench.consume(1, True)
    await bench.complete(8)
    await bench.complete(9)
    await with_timeout(bench.interrupt.event.wait(), 5, "us")
    await Timer(2, "us")
    assert found == [8], "one interrupt, and the entry it announces was there"


@cocotb.test()
async def the_table_reads_as_the_host_wrote_it(dut):
    """The root complex writes double words; other hosts write words of 64 bits, and single bytes."""
    bench = Rings(dut, pauses=0.2)
    await bench.start()
    for vector, message in enumerate(bench.device.msi_vectors):
        entry = await bench.vectors.read(16 * vector, 16)
        assert entry == struct.pack("<QLL", message.addr, message.data, 0), f"vector {vector}"
    await bench.vectors.write_qword(16 * 63 + 8, 1 << 32 | 0x1234_5678)
    await bench.vectors.write_byte(16 * 63 + 2, 0xEE)
    await bench.vectors.write_byte(16 * 63 + 13, 0xFF)
    low, high, data, control = struct.unpack("<LLLL", await bench.vectors.read(16 * 63, 16))
    last = bench.device.msi_vectors[63].addr
    assert (low, high) == (last & 0xFF00_FFFF | 0xEE_0000, last >> 32)
    assert (data, control) == (0x1234_5678, 1), "reserved bits stay zero"
    assert await bench.vectors.read(PENDING, 16) == bytes(16)
    assert await bench.vectors.read(4096 - 8, 8) == bytes(8)


@cocotb.test()
async def a_mask_holds_an_interrupt_back_and_shows_it_as_pending(dut):
    bench = Rings(dut)
    await bench.start()
    control = 16 * VECTOR + 12
    masks = [
        (lambda on: bench.vectors.write_dword(control, on), "the vector's mask"),
        (lambda on: bench.device.capability_write_word(PciCapId.MSIX, 2, 0x8000 | on << 14), "the function's mask"),
        (lambda on: bench.device.capability_write_word(PciCapId.MSIX, 2, (1 - on) << 15), "MSI-X off"),
    ]
    for index, (mask, what) in enumerate(masks):
        bench.interrupt.event.clear()
        await mask(1)
        await bench.consume(index, True)
        await bench.complete(index)
        await until(lambda index=index: bench.is_new(index), f"entry {index} is written", 5)
        await Timer(2, "us")
        assert not bench.interrupt.event.is_set(), what
        assert await bench.vectors.read_qword(PENDING) == 1 << VECTOR, what
        await mask(0)
        await with_timeout(bench.interrupt.event.wait(), 5, "us")
        assert await bench.vectors.read_qword(PENDING) == 0, what


async def note(found: list[int], bench: Rings) -> None:
    """The interrupt handler: reads the entry that the interrupt announced."""
    assert bench.is_new(1)
    found.append(bench.entry(1)["wr_id"])


@cocotb.test()
async def a_full_ring_loses_completions_and_says_so(dut):
    bench = Rings(dut)
    await bench.start()
    lost = []

    async def watch() -> None:
        while True:
            await RisingEdge(dut.user_clk)
            if dut.completion_lost.value == 1:
                lost.append(1)

    cocotb.start_soon(watch())
    for wr_id in range((1 << LOG2_ENTRIES) + 2):
        await bench.complete(wr_id)
    await until(lambda: len(lost) == 2, "two completions are lost", 5)

    def event(n: int) -> dict[str, int]:
        return Record("EventEntry").unpack(int.from_bytes(bench.memory.mem[2048 + n * EQE :][:EQE], "little"))

    await until(lambda: event(0)["phase"] == 1, "the event is written", 5)
    # The queue is overrun once, whatever it loses afterwards.
    await Timer(2, "us")
    assert (event(0)["source"], event(1)["phase"]) == (QP, 0)
    assert [bench.entry(index)["wr_id"] for index in range(1 << LOG2_ENTRIES)] == list(range(1 << LOG2_ENTRIES))


@cocotb.test()
async def a_refused_doorbell_is_an_event(dut):
    bench = Rings(dut)
    await bench.start()
    await bench.offer("refused", refused_page=0x1234, refused_qp=77)

    def event() -> dict[str, int]:
        return Record("EventEntry").unpack(int.from_bytes(bench.memory.mem[2048 : 2048 + EQE], "little"))

    await until(lambda: event()["phase"] == 1, "the event is written", 5)
    assert (event()["kind"], event()["source"], event()["data"]) == (DOORBELL_REFUSED, 0x1234, 77)
