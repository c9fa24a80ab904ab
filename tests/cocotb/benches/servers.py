"""Blocks with a request port and a response port, each with one record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, with_timeout
from cocotbext.axi.stream import define_stream
from openstellar.records import Record

PERIOD_NS = 4


async def start(dut, **inputs: int) -> None:
    """Clock and reset of a block; its other inputs have the values `inputs`."""
    Clock(dut.clock, PERIOD_NS, "ns").start()
    for name, value in inputs.items():
        getattr(dut, name).value = value
    dut.reset.value = 1
    await ClockCycles(dut.clock, 4)
    dut.reset.value = 0
    # Memories are cleared after a reset.
    await ClockCycles(dut.clock, 80)


class Server:
    """The port `request` of a block, with registers beside it if `settings` names their record, and its port `response`."""

    def __init__(self, dut, request: str, response: str, settings: str | None = None) -> None:
        self.request, self.response = Record(request), Record(response)
        self.settings = Record(settings) if settings else None
        signals = ["request", "request_valid", "request_ready", *(["settings"] if settings else [])]
        bus, self._transaction, source, _, _ = define_stream("Request", signals)
        answers, _, _, _, monitor = define_stream("Response", ["response", "response_valid"])
        self._requests = source(bus.from_entity(dut), dut.clock, dut.reset)
        self._responses = monitor(answers.from_entity(dut), dut.clock, dut.reset)

    async def send(self, *, settings: Mapping[str, int | str] | None = None, **fields: Any) -> None:
        """Sends a request; the response comes later."""
        transaction = self._transaction(request=self.request.pack(fields))
        if self.settings is not None:
            transaction.settings = self.settings.pack(settings or {})
        await self._requests.send(transaction)

    async def answer(self) -> dict[str, int]:
        """The next response."""
        response = await with_timeout(self._responses.recv(), 2, "us")
        return self.response.unpack(response.response)

    async def ask(self, *, settings: Mapping[str, int | str] | None = None, **fields: Any) -> dict[str, int]:
        """Sends a request and waits for the response."""
        await self.send(settings=settings, **fields)
        return await self.answer()

    def is_silent(self) -> bool:
        """Checks that there is no unexpected response."""
        return self._responses.empty()
