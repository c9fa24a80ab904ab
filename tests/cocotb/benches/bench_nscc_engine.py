"""The congestion windows: the effects of SACKs, marks and losses."""

from __future__ import annotations

import random

import cocotb
from servers import Server, start

QP, MTU = 3, 4096
BASE_RTT = 700  # ticks of 8 ns: 5.6 us
LARGEST, SMALLEST = 1 << 20, MTU
SETTINGS = {
    "base_rtt": BASE_RTT, "target": BASE_RTT * 3 // 2, "qa_threshold": 4 * BASE_RTT, "qa_gate": 3, "min_cwnd": SMALLEST, "max_cwnd": LARGEST,
    "alpha": 1 << 12, "fi": 4096, "eta": 38 << 8, "fi_scale": 1 << 11, "adjust_bytes": 32768,
}  # fmt: skip


class Window(Server):
    """One queue pair's window. Per SACK, time advances by a packet's share of a round trip."""

    def __init__(self, dut) -> None:
        super().__init__(dut, "NsccRequest", "NsccResponse", "NsccConfig")
        self.now = 1000

    async def configure(self) -> int:
        return (await self.ask(op="Configure", qp=QP, now=self.now, settings=SETTINGS))["cwnd"]

    async def sack(self, *, ecn: bool, rtt: int = BASE_RTT, size: int = MTU, penalty: int = 0) -> int:
        self.now += 100
        answer = await self.ask(
            op="Ack", qp=QP, now=self.now, sample=1, bytes=size, rtt_valid=1, rtt=rtt, ecn=int(ecn), in_flight=64 * MTU, penalty=penalty
        )
        return answer["cwnd"]


async def window(dut) -> Window:
    server = Window(dut)
    await start(dut)
    assert await server.configure() == LARGEST
    return server


@cocotb.test()
async def marks_and_delay_shrink_the_window_and_a_short_queue_grows_it(dut):
    server = await window(dut)
    congested = [await server.sack(ecn=True, rtt=3 * BASE_RTT) for _ in range(200)]
    assert congested[-1] < LARGEST // 2
    relieved = [await server.sack(ecn=False) for _ in range(400)]
    assert relieved[-1] > 2 * congested[-1]


@cocotb.test()
async def a_loss_takes_its_bytes(dut):
    server = await window(dut)
    assert (await server.ask(op="Loss", qp=QP, bytes=10_000))["cwnd"] == LARGEST - 10_000
    assert (await server.ask(op="Query", qp=QP))["cwnd"] == LARGEST - 10_000
    # The window never falls below its minimum.
    assert (await server.ask(op="Loss", qp=QP, bytes=(1 << 24) - 1))["cwnd"] == SMALLEST


@cocotb.test()
async def whatever_comes_the_window_stays_within_its_bounds(dut):
    server = await window(dut)
    for _ in range(300):
        if random.random() < 0.05:
            size = (await server.ask(op="Loss", qp=QP, bytes=random.randrange(1 << 16)))["cwnd"]
        else:
            ecn, rtt = random.random() < 0.5, random.randrange(BASE_RTT, 8 * BASE_RTT)
            size = await server.sack(ecn=ecn, rtt=rtt, size=random.randrange(1, 1 << 16))
        assert SMALLEST <= size <= LARGEST


@cocotb.test()
async def queue_pairs_do_not_share_a_window(dut):
    server = await window(dut)
    other = (await server.ask(op="Configure", qp=QP + 1, now=0, settings={**SETTINGS, "max_cwnd": 100_000}))["cwnd"]
    assert other == 100_000
    await server.ask(op="Loss", qp=QP, bytes=50_000)
    assert (await server.ask(op="Query", qp=QP + 1))["cwnd"] == 100_000
