"""The transmit window: packets that were sent, acknowledged and lost."""

from __future__ import annotations

import random

import cocotb
from cocotb.triggers import RisingEdge
from openstellar.records import Record
from servers import Server, start

QP, FIRST = 2, 0xFF_FFF0
IN_FLIGHT, ACKED, LOST = 1, 2, 3
BURST = 32


def psn(offset: int) -> int:
    """The PSN of the packet `offset` after the first; they wrap."""
    return (FIRST + offset) & 0xFF_FFFF


class Window(Server):
    """One queue pair's window."""

    def __init__(self, dut) -> None:
        super().__init__(dut, "WindowRequest", "WindowResponse")
        self.dut = dut
        self.sent = Record("SentPacket")

    async def push(self, lengths: list[int]) -> dict[str, int]:
        """New packets, in bursts. The packets of a burst leave one per cycle, on paths in turn."""
        edge = RisingEdge(self.dut.clock)
        for start_of_burst in range(0, len(lengths), BURST):
            burst = lengths[start_of_burst : start_of_burst + BURST]
            state = await self.ask(op="Allocate", qp=QP, count=len(burst), bytes=sum(burst))
            for n, length in enumerate(burst, start_of_burst):
                self.dut.sent_packet_valid.value = 1
                self.dut.sent_packet.value = self.sent.pack(ev=n % 16, at=0x100 + n, length=length, slot=7)
                await edge
            self.dut.sent_packet_valid.value = 0
            await edge
        return state

    async def sack(self, cumulative: int, acked: int, bitmap: int = 0) -> dict[str, int]:
        """A SACK of everything before `cumulative`, and from there on of the packets in `bitmap`; it names packet `acked`."""
        stamp = 0x100 + acked
        return await self.ask(
            op="Sack", qp=QP, cack=psn(cumulative - 1), acked=psn(acked), base=psn(cumulative), bitmap=bitmap, stamp=stamp
        )


async def window(dut) -> Window:
    server = Window(dut)
    await start(dut, sent_packet_valid=0)
    await server.ask(op="Configure", qp=QP, psn=FIRST)
    return server


@cocotb.test()
async def packets_count_until_they_are_acknowledged(dut):
    server = await window(dut)
    lengths = [random.randrange(1, 4097) for _ in range(40)]
    state = await server.push(lengths)
    assert (state["una"], state["next_psn"], state["in_flight"]) == (FIRST, psn(40), sum(lengths))
    state = await server.sack(25, 24)
    assert (state["una"], state["in_flight"], state["answered"]) == (psn(25), sum(lengths[25:]), 1)
    read = await server.ask(op="Read", qp=QP, psn=psn(30))
    assert (read["state"], read["sent.length"], read["sent.ev"]) == (IN_FLIGHT, lengths[30], 30 % 16)


@cocotb.test()
async def a_bitmap_acknowledges_behind_a_hole(dut):
    server = await window(dut)
    await server.push([1000] * 20)
    state = await server.sack(4, 9, bitmap=0b10_1010)
    assert (state["una"], state["in_flight"]) == (psn(4), 13_000)
    states = [(await server.ask(op="Read", qp=QP, psn=psn(n)))["state"] for n in range(4, 11)]
    assert states == [IN_FLIGHT, ACKED, IN_FLIGHT, ACKED, IN_FLIGHT, ACKED, IN_FLIGHT]
    # Filling the holes moves the window over packets that were acknowledged before.
    state = await server.sack(9, 8)
    assert (state["una"], state["in_flight"]) == (psn(10), 10_000)


@cocotb.test()
async def a_lost_packet_is_sent_again_on_another_path(dut):
    server = await window(dut)
    await server.push([500] * 8)
    state = await server.ask(op="MarkLost", qp=QP, psn=psn(3), **{"sent.retries": 1})
    # Packet 3 took path 3, which is of plane 1.
    assert (state["lost"], state["first_lost1"], state["in_flight"]) == (0b10, psn(3), 3500)
    assert (await server.ask(op="Read", qp=QP, psn=psn(3)))["state"] == LOST
    sent = {"sent.ev": 6, "sent.at": 0x900, "sent.length": 500, "sent.retries": 1}
    state = await server.ask(op="MarkRetransmitted", qp=QP, psn=psn(3), **sent)
    assert (state["lost"], state["in_flight"]) == (0, 4000)
    read = await server.ask(op="Read", qp=QP, psn=psn(3))
    assert (read["state"], read["sent.ev"], read["sent.retries"]) == (IN_FLIGHT, 6, 1)


@cocotb.test()
async def a_sack_of_what_was_never_sent_changes_nothing(dut):
    server = await window(dut)
    before = await server.push([100] * 5)
    state = await server.sack(9, 8)
    names = Record("WindowResponse").fields["verdict"].values
    assert names[state["verdict"]] == "Inconsistent"
    assert (state["una"], state["in_flight"]) == (before["una"], before["in_flight"])
