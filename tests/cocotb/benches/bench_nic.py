"""The card: frames at both ports, the host's accesses to BARs, TLPs at both PCIe endpoints."""

from __future__ import annotations

import random
from ipaddress import ip_address

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge, with_timeout
from cocotbext.axi.stream import define_stream
from openstellar.records import Record, registers
from rq_monitor import RequestMonitor
from roce import DESTINATION_IP, DESTINATION_MAC, WRITE_ONLY, roce_write

BEAT = 128
QP, PD, RKEY, VA, PAGE_SIZE, PSN = 100, 7, 0x2A5A, 0x7F00_0000_0000, 1 << 21, 0xFFFFFE
BUS, LENGTH = 0x20_0000_0000, 1 << 22
EVENTS, DOORBELL_REFUSED = 0x5_0000, 4
TAG = 0x5A
MacBus, MacBeat, MacSource, _, _ = define_stream("Mac", ["data", "bytes", "last", "error", "valid"])


class Card:
    """The card after reset, with software's side of its BARs: requests and completions of AMD's block, 1,024 bits."""

    def __init__(self, dut) -> None:
        self.dut = dut
        self.at = registers()
        self.command = Record("ConfigWrite").fields["select"].values
        Clock(dut.clock, 4, "ns").start()
        self.macs = [MacSource(MacBus.from_prefix(dut, f"rx{n}"), dut.clock, dut.reset) for n in range(2)]
        self.endpoints = [RequestMonitor(dut, f"rq{n}") for n in range(2)]
        self.descriptor, self.completion = Record("CqDescriptor"), Record("CcDescriptor")

    async def start(self) -> None:
        dut = self.dut
        for name in ("cq_tvalid", "cq1_tvalid", "rc0_tvalid", "rc1_tvalid"):
            getattr(dut, name).value = 0
        for name in ("cc_tready", "cq_tlast", "tx0_ready", "tx1_ready"):
            getattr(dut, name).value = 1
        dut.port_up.value = 3
        dut.reset.value = 1
        await ClockCycles(dut.clock, 4)
        dut.reset.value = 0
        # Tables are cleared after a reset.
        await ClockCycles(dut.clock, 70_000)

    async def request(self, bar: int, offset: int, data: int | None = None) -> None:
        """A read of 64 bits of a BAR, or a write of `data`."""
        request_type, count = (0, 4) if data is None else (1, 6)
        descriptor = self.descriptor.pack(address_dw=offset >> 2, dword_count=2, request_type=request_type, bar_id=bar, tag=TAG)
        self.dut.cq_tdata.value = descriptor | (data or 0) << 128
        self.dut.cq_tkeep.value = (1 << count) - 1
        # Byte enables of the first double word, and of the last.
        self.dut.cq_tuser.value = 0xF << 16 | 0xF
        self.dut.cq_tvalid.value = 1
        while True:
            await RisingEdge(self.dut.clock)
            if self.dut.cq_tready.value == 1:
                break
        self.dut.cq_tvalid.value = 0

    async def write(self, name: str, value: int, index: int = 0) -> None:
        await self.request(0, self.at[name].offset + 8 * index, value)

    async def read(self, name: str) -> int:
        await self.request(0, self.at[name].offset)
        while self.dut.cc_tvalid.value != 1:
            await RisingEdge(self.dut.clock)
        beat = self.dut.cc_tdata.value.to_unsigned()
        completion = self.completion.unpack(beat & (1 << 96) - 1)
        assert (completion["status"], completion["byte_count"], completion["dword_count"]) == (0, 8, 2)
        assert (completion["tag"], completion["lower_address"]) == (TAG, self.at[name].offset & 0x7F)
        assert (self.dut.cc_tkeep.value, self.dut.cc_tlast.value) == (0x1F, 1)
        await RisingEdge(self.dut.clock)
        return beat >> 96 & (1 << 64) - 1

    async def table(self, select: str, index: int, record: str, **fields: int | str) -> None:
        """Writes a table entry and waits until the write is complete."""
        entry = Record(record).pack(fields)
        for word in range(-(-Record(record).width // 64)):
            await self.write("TABLE_DATA", entry >> 64 * word & (1 << 64) - 1, word)
        await self.write("TABLE_COMMAND", self.command.index(select) << 32 | index)
        # A write takes effect two cycles later.
        await ClockCycles(self.dut.clock, 4)
        while await self.read("TABLE_COMMAND"):
            pass

    async def receiver(self) -> None:
        """A queue pair that receives over RC, and a region of two pages, one of the GPU and one of the host."""
        await self.table("Responder", QP, "ResponderConfig", mtu_log2=12, initial_psn=PSN, max_wimm=16, sack_every=1)
        await self.table(
            "Mr", RKEY >> 8, "MrEntry", valid=1, key=RKEY & 0xFF, pd=PD, remote_write=1, page_size="Size2M", base_va=VA, length=LENGTH
        )
        for page, owner in enumerate(("Gpu", "Host")):
            await self.table("Emtt", page, "EmttEntry", valid=1, owner=owner, frame=(BUS >> 12) + page * (PAGE_SIZE >> 12))
        await self.table(
            "Qp", QP, "QpContext", state="Ready", mode="Rc", pd=PD, pkey=0xFFFF, mtu_log2=12, initial_psn=PSN, remote_write=1
        )
        for port in range(2):
            await self.table("Port", port, "PortConfig", mac=int(DESTINATION_MAC.replace(":", ""), 16), ip=int(ip_address(DESTINATION_IP)))
        await self.write("MAX_PAYLOAD", 1)

    async def arrive(self, port: int, frame: bytes) -> None:
        """A frame comes from the MAC of `port`."""
        for at in range(0, len(frame), BEAT):
            part = frame[at : at + BEAT]
            await self.macs[port].send(
                MacBeat(data=int.from_bytes(part, "little"), bytes=len(part), last=int(at + BEAT >= len(frame)))
            )

    async def memory_write(self, endpoint: int) -> tuple[int, int, bytes]:
        """The next write of an endpoint: address, address type, bytes from the first to the last that is enabled."""
        request = await with_timeout(self.endpoints[endpoint].writes.get(), 10, "us")
        address, data = request.enabled()
        return address, request.descriptor["at"], data

    def is_quiet(self) -> bool:
        """No endpoint has written anything that was not looked at."""
        return all(endpoint.writes.empty() for endpoint in self.endpoints)


@cocotb.test()
async def a_write_at_either_port_leaves_by_its_endpoint(dut):
    """The eMTT decides the address type of each page. Payload is placed by whichever port received it."""
    card = Card(dut)
    await card.start()
    assert (await card.read("IDENTITY")).to_bytes(8, "little") == b"STELLAR1"
    await card.receiver()
    for n, (port, va, at) in enumerate([(0, VA + 5, 0b10), (1, VA + PAGE_SIZE, 0b00), (1, VA + 4096, 0b10)]):
        payload = random.randbytes(100 + 33 * n)
        await card.arrive(port, roce_write(WRITE_ONLY, PSN + n, payload, qp=QP, rkey=RKEY, va=va))
        assert await card.memory_write(port) == (BUS + va - VA, at, payload)
    assert card.is_quiet()
    assert dut.payload_mismatch.value == 0


@cocotb.test()
async def a_damaged_frame_is_counted_by_its_reason(dut):
    card = Card(dut)
    await card.start()
    await card.receiver()
    frame = bytearray(roce_write(WRITE_ONLY, PSN, bytes(64), qp=QP, rkey=RKEY, va=VA))
    frame[-1] ^= 1
    await card.arrive(0, bytes(frame))
    await with_timeout(RisingEdge(dut.verdict_valid), 5, "us")
    await RisingEdge(dut.clock)
    reason = dut.verdict_reason.value.to_unsigned()
    assert Record("AckRequest").value_name("reason", reason) == "BadIcrc"
    await card.write("COUNTER_SELECT", reason)
    await ClockCycles(dut.clock, 10)
    assert await card.read("COUNTER_VALUE") == 1
    assert card.is_quiet()


@cocotb.test()
async def a_foreign_doorbell_is_reported_to_the_host(dut):
    card = Card(dut)
    await card.start()
    await card.table("EventQueue", 0, "RingConfig", valid=1, log2_entries=4, base=EVENTS)
    await card.request(2, 0x77 << 12, 3 << 32 | QP)
    address, at, entry = await card.memory_write(0)
    event = Record("EventEntry").unpack(int.from_bytes(entry, "little"))
    assert (address, at) == (EVENTS, 0)
    assert (event["kind"], event["source"], event["data"], event["phase"]) == (DOORBELL_REFUSED, 0x77, QP, 1)
