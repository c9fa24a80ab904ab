"""Records that enter and leave a block, with random stalls."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from cocotb.triggers import RisingEdge
from cocotbext.axi.stream import define_stream
from openstellar.records import Record


def sometimes(probability: float) -> Iterator[bool]:
    """Stalls: each cycle with this probability."""
    return (random.random() < probability for _ in iter(int, 1))


async def offer(dut, clock, name: str, **signals: int) -> None:
    """Holds `name`_valid with `signals` beside it until `name`_ready."""
    for signal, value in signals.items():
        getattr(dut, signal).value = value
    valid, ready = getattr(dut, f"{name}_valid"), getattr(dut, f"{name}_ready")
    valid.value = 1
    while True:
        await RisingEdge(clock)
        if ready.value == 1 and valid.value == 1:
            break
    valid.value = 0


class RecordSource:
    """Drives the port `name` of a block and `name`_valid beside it, and respects `name`_ready if there is one."""

    def __init__(self, dut, name: str, record: str, pauses: float = 0.0) -> None:
        self._name, self._record = name, Record(record)
        ready = [f"{name}_ready"] if hasattr(dut, f"{name}_ready") else []
        bus, self._transaction, source, _, _ = define_stream(f"{record}Source", [name, f"{name}_valid", *ready])
        self._source = source(bus.from_entity(dut), dut.clock, dut.reset)
        if pauses:
            self._source.set_pause_generator(sometimes(pauses))

    async def send(self, fields: dict[str, int | str]) -> None:
        """Queues a record."""
        await self._source.send(self._transaction(**{self._name: self._record.pack(fields)}))

    async def wait(self) -> None:
        """Waits until all records have been accepted."""
        await self._source.wait()


class RecordSink:
    """Receives the records of the port `name`, and drives `name`_ready."""

    def __init__(self, dut, name: str, record: str, pauses: float = 0.0) -> None:
        self._name, self._record = name, Record(record)
        bus, _, _, sink, _ = define_stream(f"{record}Sink", [name, f"{name}_valid", f"{name}_ready"])
        self._sink = sink(bus.from_entity(dut), dut.clock, dut.reset)
        if pauses:
            self._sink.set_pause_generator(sometimes(pauses))

    async def recv(self) -> dict[str, Any]:
        """The next record."""
        return self._record.unpack(getattr(await self._sink.recv(), self._name))

    def taken(self) -> list[dict[str, Any]]:
        """All records that have arrived and were not read."""
        found = []
        while not self._sink.empty():
            found.append(self._record.unpack(getattr(self._sink.recv_nowait(), self._name)))
        return found
