"""Completion queues, event queue and MSI-X, up to the memory and the interrupts of a root complex."""

from __future__ import annotations

import random

import cocotb
from cocotb.triggers import RisingEdge, Timer, with_timeout
from openstellar.records import Record
from pcie import Endpoint, until

QP, LOG2_ENTRIES, VECTOR = 1, 3, 5
CQE, EQE = 32, 16
DOORBELL_REFUSED = 4


class Rings(Endpoint):
    """One completion queue and the event queue in host memory, and an interrupt vector."""

    async def start(self) -> None:
        await super().start()
        self.memory = self.root.mem_pool.alloc_region(4096)
        [self.interrupt] = self.root.msi_region.alloc_vectors(1)
        ring = Record("RingConfig")
        base = self.memory.get_absolute_address(0)
        await self.offer("ring", ring_qp=QP, ring=ring.pack(valid=1, interrupts=1, vector=VECTOR, log2_entries=LOG2_ENTRIES, base=base))
        await self.offer("event_ring", event_ring=ring.pack(valid=1, log2_entries=4, base=base + 2048))
        entry = Record("InterruptEntry").pack(address=self.interrupt.addr, data=self.interrupt.data)
        await self.offer("vector", vector=VECTOR, vector_entry=entry)

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
            await RisingEdge(dut.completion_lost)
            lost.append(1)

    cocotb.start_soon(watch())
    for wr_id in range((1 << LOG2_ENTRIES) + 2):
        await bench.complete(wr_id)
    await until(lambda: len(lost) == 2, "two completions are lost", 5)
    kinds = [Record("EventEntry").unpack(int.from_bytes(bench.memory.mem[2048 + n * EQE :][:EQE], "little")) for n in range(2)]
    assert [kind["phase"] for kind in kinds] == [1, 1] and all(kind["source"] == QP for kind in kinds)
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
