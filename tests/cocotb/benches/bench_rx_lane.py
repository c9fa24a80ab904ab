"""The receive lane: frames in at its MAC side, memory writes and acknowledgement requests out."""

from __future__ import annotations

import random
from dataclasses import dataclass

import cocotb
from cocotb.clock import Clock
from cocotb.queue import Queue
from cocotb.triggers import ClockCycles, ReadOnly, RisingEdge, with_timeout
from cocotbext.axi import AxiStreamBus, AxiStreamFrame, AxiStreamSink, AxiStreamSource
from openstellar.world import table_words
from roce import WRITE_FIRST, WRITE_LAST, WRITE_MIDDLE, WRITE_ONLY, roce_write
from streams import sometimes

QP, PD, RKEY, PSN, MTU = 100, 7, 0x2A5A, 0xFFFFFE, 1024
VA, BUS, LENGTH = 0x7F00_0000_0000, 0x20_0000_0000, 1 << 20
ACCEPTED, BAD_ICRC, GAP = 0, 6, 18


@dataclass
class MemoryWrite:
    """A memory write TLP: address on the bus, address type, and the bytes it enables."""

    address: int
    at: int
    data: bytes


def write(opcode: int, psn: int, payload: bytes, *, dma_length: int | None = None, ack: bool = False) -> bytes:
    """A packet of a message to the start of the region."""
    return roce_write(opcode, psn, payload, qp=QP, rkey=RKEY, va=VA, dma_length=dma_length, ack=ack)


class Bench:
    """A reset lane with one queue pair and one region of GPU memory, and everything connected."""

    def __init__(self, dut) -> None:
        self.dut = dut
        self.verdicts: Queue[int] = Queue()
        Clock(dut.clk, 4, "ns").start()

        def stream(name: str) -> AxiStreamBus:
            return AxiStreamBus.from_prefix(dut, name)

        self.mac = AxiStreamSource(stream("s_axis_mac"), dut.clk, dut.rst)
        self.tables = AxiStreamSource(stream("s_axis_table"), dut.clk, dut.rst, byte_lanes=1)
        self.tlps = AxiStreamSink(stream("m_axis_tlp"), dut.clk, dut.rst)
        self.acks = AxiStreamSink(stream("m_axis_ack"), dut.clk, dut.rst, byte_lanes=1)

    async def start(self, mode: str = "rc") -> None:
        self.dut.counter_select.value = 0
        self.dut.rst.value = 1
        await ClockCycles(self.dut.clk, 30)
        self.dut.rst.value = 0
        await ClockCycles(self.dut.clk, 2)
        writes = table_words(qp=QP, mode=mode, pd=PD, mtu=MTU, psn=PSN, rkey=RKEY, va=VA, length=LENGTH, bus=BUS)
        for words in writes:
            value = sum(word << 32 * n for n, word in enumerate(words))
            await self.tables.send(AxiStreamFrame([value]))
        await self.tables.wait()
        cocotb.start_soon(self._watch_verdicts())

    async def _watch_verdicts(self) -> None:
        while True:
            await RisingEdge(self.dut.clk)
            if self.dut.verdict_valid.value == 1:
                self.verdicts.put_nowait(self.dut.verdict_reason.value.to_unsigned())

    async def verdict(self) -> int:
        return await with_timeout(self.verdicts.get(), 10, "us")

    async def memory_write(self) -> MemoryWrite:
        """The next TLP: header fields as in `WriteTlpHeader`, lowest bits first."""
        frame = await with_timeout(self.tlps.recv(compact=False), 10, "us")
        user = frame.tuser[0]
        dwords, first_be, last_be = user >> 64 & 0x7FF, user >> 75 & 0xF, user >> 79 & 0xF
        enables = [first_be, *[0xF] * (dwords - 2), last_be] if dwords > 1 else [first_be]
        data = bytes(byte for n, byte in enumerate(bytes(frame.tdata)[: dwords * 4]) if enables[n // 4] >> n % 4 & 1)
        address = (user & (1 << 62) - 1) << 2
        return MemoryWrite(address + (first_be & -first_be).bit_length() - 1, user >> 62 & 3, data)

    async def memory(self, count: int) -> bytes:
        """The next `count` bytes written, which must be contiguous from the start of the region and translated (AT = 10)."""
        data = b""
        while len(data) < count:
            write = await self.memory_write()
            assert write.at == 0b10, write
            assert write.address == BUS + len(data), write
            data += write.data
        return data


@cocotb.test()
async def one_write_reaches_memory(dut):
    """A packet's payload is written to the GPU's bus address, and acknowledged as requested."""
    bench = Bench(dut)
    await bench.start()
    payload = random.randbytes(333)
    await bench.mac.send(write(WRITE_ONLY, PSN, payload, ack=True))
    assert await bench.verdict() == ACCEPTED
    assert await bench.memory(333) == payload
    ack = (await with_timeout(bench.acks.recv(), 10, "us")).tdata[0]
    # AckRequest: kind 2 bits, reason 5, QP 16, PSN 24.
    assert ack & 3 == 0 and ack >> 7 & 0xFFFF == QP and ack >> 23 & 0xFFFFFF == PSN


@cocotb.test()
@cocotb.parametrize(length=[1, 64, 1023, 1024, 1025, 5000])
async def messages_of_every_length(dut, length):
    """A message of several packets arrives completely, while PCIe stalls the lane and the PSN wraps."""
    bench = Bench(dut)
    bench.tlps.set_pause_generator(sometimes(0.4))
    bench.mac.set_pause_generator(sometimes(0.2))
    await bench.start()
    message = random.randbytes(length)
    parts = [message[at : at + MTU] for at in range(0, length, MTU)]
    for n, part in enumerate(parts):
        first, last = n == 0, n == len(parts) - 1
        opcode = (WRITE_ONLY if last else WRITE_FIRST) if first else (WRITE_LAST if last else WRITE_MIDDLE)
        await bench.mac.send(write(opcode, PSN + n, part, dma_length=length))
    for _ in parts:
        assert await bench.verdict() == ACCEPTED
    assert await bench.memory(length) == message


@cocotb.test()
async def bad_frames_place_nothing(dut):
    """A frame with a wrong iCRC and a frame with a MAC error are dropped and counted; the next good one is placed."""
    bench = Bench(dut)
    await bench.start()
    frame = bytearray(write(WRITE_ONLY, PSN, bytes(100)))
    frame[-1] ^= 1
    await bench.mac.send(bytes(frame))
    reason = await bench.verdict()
    assert reason != ACCEPTED
    good = write(WRITE_ONLY, PSN, b"x" * 100)
    await bench.mac.send(AxiStreamFrame(good, tuser=1))
    assert await bench.verdict() not in (ACCEPTED, reason)
    await bench.mac.send(good)
    assert await bench.verdict() == ACCEPTED
    assert await bench.memory(100) == b"x" * 100
    assert bench.tlps.empty()
    dut.counter_select.value = reason
    await ClockCycles(dut.clk, 4)
    await ReadOnly()
    assert dut.counter_value.value.to_unsigned() == 1


@cocotb.test()
async def a_gap_is_answered_once(dut):
    """RC: a packet beyond the expected PSN is dropped with one NAK, which names the PSN expected."""
    bench = Bench(dut)
    await bench.start()
    for psn in (PSN + 1, PSN + 2):
        await bench.mac.send(write(WRITE_ONLY, psn, bytes(8)))
        assert await bench.verdict() != ACCEPTED
    nak = (await with_timeout(bench.acks.recv(), 10, "us")).tdata[0]
    assert nak & 3 == 1 and nak >> 23 & 0xFFFFFF == PSN
    await ClockCycles(dut.clk, 100)
    assert bench.acks.empty() and bench.tlps.empty()
