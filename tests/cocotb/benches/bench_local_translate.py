"""Regions and eMTT of the transmit side: the PCIe addresses of a packet's payload."""

from __future__ import annotations

import random

import cocotb
from cocotb.triggers import ClockCycles
from openstellar.records import Record
from servers import Server, start

PD, KEY, INDEX, VA, FIRST_PAGE = 9, 0x5A, 3, 0x7F00_1234_5678, 16
PAGE = 4096
LENGTH = 10 * PAGE
LKEY = INDEX << 8 | KEY


class Located(Server):
    """A region of host and GPU pages in random order."""

    def __init__(self, dut) -> None:
        super().__init__(dut, "TranslateRequest", "TranslateResponse")
        self.dut = dut
        self.frames = [(0x20_0000_0000 >> 12) + n * 7 % 16 for n in range(LENGTH // PAGE + 1)]

    async def table(self, select: str, index: int, entry: int) -> None:
        self.dut.table_write.value = Record("TableWrite").pack(select=select, index=index, entry=entry)
        self.dut.table_valid.value = 1
        await ClockCycles(self.dut.clock, 1)
        self.dut.table_valid.value = 0

    async def register(self) -> None:
        for n, frame in enumerate(self.frames):
            entry = Record("EmttEntry").pack(valid=1, owner="Gpu" if n % 3 else "Host", frame=frame)
            await self.table("Emtt", FIRST_PAGE + n, entry)
        region = Record("MrEntry").pack(
            valid=1, key=KEY, pd=PD, page_size="Size4K", base_va=VA, length=LENGTH, first_emtt=FIRST_PAGE
        )
        await self.table("Mr", INDEX, region)

    def expected(self, offset: int, length: int) -> dict[str, int]:
        """The expected lengths, addresses and address types (AT = 10 or not), page by page."""
        page, at = divmod(VA % PAGE + offset, PAGE)
        pages = range(page, page + (at + length - 1) // PAGE + 1)
        where = {"first_length": min(length, PAGE - at), "has_third": int(len(pages) == 3)}
        for name, n in zip(("first", "second", "third"), pages, strict=False):
            where[f"{name}_address"] = self.frames[n] * PAGE + (at if n == page else 0)
            where[f"{name}_translated"] = int(n % 3 != 0)
        return where


async def located(dut) -> Located:
    server = Located(dut)
    await start(dut, table_valid=0)
    await server.register()
    return server


@cocotb.test()
async def every_packet_is_found_in_its_pages(dut):
    server = await located(dut)
    for _ in range(200):
        offset = random.randrange(LENGTH)
        length = random.randrange(1, min(8192, LENGTH - offset) + 1)
        found = await server.ask(qp=5, pd=PD, lkey=LKEY, va=VA, message_length=LENGTH, offset=offset, length=length)
        assert not found["fault"] and found["qp"] == 5
        for field, value in server.expected(offset, length).items():
            assert found[f"segments.{field}"] == value, field


@cocotb.test()
@cocotb.parametrize(wrong=["lkey", "pd", "bounds", "page"])
async def what_may_not_be_read_is_a_fault(dut, wrong):
    server = await located(dut)
    good = {"qp": 1, "pd": PD, "lkey": LKEY, "va": VA, "message_length": 100, "offset": 0, "length": 100}
    assert not (await server.ask(**good))["fault"]
    bad = {"lkey": {"lkey": LKEY ^ 1}, "pd": {"pd": PD + 1}, "bounds": {"message_length": LENGTH + 1}, "page": {}}[wrong]
    if wrong == "page":
        await server.table("Emtt", FIRST_PAGE, 0)
    assert (await server.ask(**{**good, **bad}))["fault"]
