"""Requests out of AMD's requester request stream of 1,024 bits with straddle (PG346)."""

from __future__ import annotations

from dataclasses import dataclass

import cocotb
from cocotb.queue import Queue
from cocotb.triggers import RisingEdge
from openstellar.records import Record

BEAT, SLOT, DWORD, DESCRIPTOR = 128, 32, 4, 16
MEMORY_READ, MEMORY_WRITE = 0, 1


@dataclass
class Request:
    """A request: the fields of its descriptor, byte enables, payload."""

    descriptor: dict[str, int]
    first_be: int
    last_be: int
    payload: bytes

    def enabled(self) -> tuple[int, bytes]:
        """Address and bytes of a write, from the first byte that is enabled to the last."""
        first, last = self.first_be, self.last_be or self.first_be
        lead = (first & -first).bit_length() - 1
        end = len(self.payload) - (DWORD - last.bit_length())
        return (self.descriptor["address_dw"] << 2) + lead, self.payload[lead:end]


class RequestMonitor:
    """Collects the writes of the stream `prefix` of a design, which is always ready. Reads are checked, and left out."""

    def __init__(self, dut, prefix: str) -> None:
        self._dut, self._prefix = dut, prefix
        self._descriptor = Record("RqDescriptor")
        self.writes: Queue[Request] = Queue()
        self._signal("tready").value = 1
        cocotb.start_soon(self._run())

    def _signal(self, name: str):
        return getattr(self._dut, f"{self._prefix}_{name}")

    async def _run(self) -> None:
        open_bytes, enables = b"", (0, 0)
        while True:
            await RisingEdge(self._dut.clock)
            if self._signal("tvalid").value != 1:
                continue
            data = self._signal("tdata").value.to_unsigned().to_bytes(BEAT, "little")
            user = self._signal("tuser").value.to_unsigned()
            starts = [SLOT * (user >> 44 + 2 * n & 3) for n in range(4) if user >> 40 + n & 1]
            ends = [DWORD * ((user >> 56 + 5 * n & 31) + 1) for n in range(4) if user >> 52 + n & 1]
            pieces = [0, *starts] if open_bytes else starts
            begun = 0
            for place in pieces:
                if not open_bytes:
                    enables = (user >> 4 * begun & 15, user >> 16 + 4 * begun & 15)
                    begun += 1
                end = next((end for end in ends if end > place), BEAT)
                open_bytes += data[place:end]
                if end in ends:
                    self._complete(open_bytes, enables)
                    open_bytes = b""

    def _complete(self, data: bytes, enables: tuple[int, int]) -> None:
        descriptor = self._descriptor.unpack(int.from_bytes(data[:DESCRIPTOR], "little"))
        payload = data[DESCRIPTOR:]
        is_write = descriptor["request_type"] == MEMORY_WRITE
        assert is_write or descriptor["request_type"] == MEMORY_READ
        assert len(payload) == DWORD * descriptor["dword_count"] * is_write, "a request is as long as it says"
        if is_write:
            self.writes.put_nowait(Request(descriptor, *enables, payload))
