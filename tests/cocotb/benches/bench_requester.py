"""The requester: from a doorbell to packets on 16 paths, and from SACKs and timers to retransmissions and completions."""

from __future__ import annotations

import random

import cocotb
from bench_nscc_engine import SETTINGS as NSCC
from cocotb.triggers import ClockCycles, RisingEdge
from cocotb.utils import get_sim_time
from openstellar.records import Record
from servers import PERIOD_NS, start
from streams import RecordSink, RecordSource, offer

QP, PAGE, PD, LKEY, MTU, LOG2_ENTRIES = 5, 3, 7, 0x15A, 1024, 3
RING, FIRST = 0x50_0000_0000, 0xFF_FFE8
PATHS, ENTROPY = 16, 0xC000
TICK_NS = 8
TIMEOUT_TICKS, RETRIES, EARLY_LOSS = 1000, 2, 8
WRITE, LINE_BYTES = 1, 64
SUCCESS, WR_FLUSH_ERR, RETRY_EXC_ERR = 0, 5, 12
WINDOW_BITS = 64


def psn(number: int) -> int:
    """The PSN of packet `number`; they wrap."""
    return (FIRST + number) % (1 << 24)


class Peer:
    """The packets that have arrived at the peer, and the peer's SACKs."""

    def __init__(self) -> None:
        self.received: set[int] = set()
        self.expected = 0

    def takes(self, packet: dict[str, int]) -> dict[str, int | str]:
        """A packet arrives; returns its SACK."""
        number = (packet["psn"] - FIRST) % (1 << 24)
        self.received.add(number)
        while self.expected in self.received:
            self.expected += 1
        cumulative = self.expected - 1
        first = number - packet["psn"] % WINDOW_BITS
        bitmap = sum(1 << bit for bit in range(WINDOW_BITS) if first + bit < self.expected or first + bit in self.received)
        seth = {"cack_psn": psn(cumulative), "ack_psn_offset": (number - cumulative) % (1 << 16), "mpr": 8}
        seth |= {"sack_offset": (first - cumulative) % (1 << 16), "bitmap": bitmap}
        told = {"kind": "Sack", "qp": QP, "port": packet["port"], "reflected": packet["entropy"], "cc_state.timestamp": packet["timestamp"]}
        return told | {f"seth.{name}": value for name, value in seth.items()}


class Requester:
    """One queue pair of the block, with its send queue in host memory. Payload lies at virtual addresses equal to PCIe addresses."""

    def __init__(self, dut) -> None:
        self.dut = dut
        self.posted = 0
        self.memory: dict[int, int] = {}
        self.fetches = RecordSink(dut, "fetch", "WqeFetch", pauses=0.3)
        self.entries = RecordSource(dut, "fetched", "WqeFetched")
        self.locates = RecordSink(dut, "xlate_req", "TranslateRequest", pauses=0.3)
        self.located = RecordSource(dut, "xlate_rsp", "TranslateResponse")
        self.completions = RecordSink(dut, "cqe", "Completion", pauses=0.3)
        self.controls = RecordSource(dut, "control", "ControlPacket")
        self.ports = [RecordSink(dut, f"tx{port}", "TxRequest", pauses=0.3) for port in range(2)]

    async def start(self, early_loss: int) -> None:
        dut = self.dut
        inputs = ("configure_valid", "profile_valid", "values_valid", "doorbell_valid", "fault_valid", "flush_valid", "now", "doorbell_pushed")
        cocotb.start_soon(self.keep_time())
        await start(dut, plane_up=3, failure_ready=1, **dict.fromkeys(inputs, 0))
        # Schedulers and windows are cleared after a reset.
        await ClockCycles(dut.clock, 1000)
        cocotb.start_soon(self.answer_fetches())
        cocotb.start_soon(self.answer_locates())
        dut.profile_index.value = 0
        dut.profile.value = Record("EntropyProfileEntry").pack(base=ENTROPY, stride_log2=0, active=PATHS, backups=2)
        dut.profile_valid.value = 1
        await ClockCycles(dut.clock, 1)
        dut.profile_valid.value = 0
        requester = {"valid": 1, "pd": PD, "mtu_log2": 10, "mpr": 1024, "rto": TIMEOUT_TICKS, "retry_budget": RETRIES}
        requester |= {"early_loss": early_loss, "page": PAGE, "first_psn": FIRST}
        spray = {"policy": "Obs", "paths": PATHS, "seed": 0x1234_5678, "probe_interval": 125_000}
        queue = {"base": RING, "log2_entries": LOG2_ENTRIES, "mtu_log2": 10, "max_wimm": 4}
        await self.configure("Requester", settings_requester=Record("RequesterConfig").pack(requester))
        await self.configure("Spray", settings_spray=Record("SprayConfig").pack(spray))
        await self.configure("Nscc", settings_nscc=Record("NsccConfig").pack(NSCC))
        await self.configure("SendQueue", settings_queue=Record("SendQueueConfig").pack(queue))

    async def configure(self, kind: str, **settings: int) -> None:
        code = Record("ConfigureKind").fields[""].number("configure", kind)
        await offer(self.dut, self.dut.clock, "configure", configure=code, configure_qp=QP, **settings)

    async def keep_time(self) -> None:
        """The time for retransmission timers."""
        while True:
            await ClockCycles(self.dut.clock, TICK_NS // PERIOD_NS)
            self.dut.now.value = int(get_sim_time("ns")) // TICK_NS

    async def answer_fetches(self) -> None:
        while True:
            fetch = await self.fetches.recv()
            await ClockCycles(self.dut.clock, random.randrange(1, 30))
            for number in range(fetch["lines"]):
                line = self.memory[fetch["address"] + number * LINE_BYTES]
                await self.entries.send({"qp": fetch["qp"], "behind": fetch["lines"] - 1 - number, "line": line})

    async def answer_locates(self) -> None:
        while True:
            asked = await self.locates.recv()
            assert (asked["pd"], asked["lkey"]) == (PD, LKEY)
            where = {"segments.first_length": asked["length"], "segments.first_address": asked["va"] + asked["offset"]}
            await self.located.send({"qp": asked["qp"], **where})

    async def post(self, length: int) -> dict[str, int]:
        """Writes an entry and rings the doorbell."""
        slot = self.posted
        self.posted += 1
        entry = {"opcode": WRITE, "signaled": 1, "slot": slot, "length": length, "wr_id": 0x1000 + slot}
        local = random.getrandbits(40)
        entry |= {"remote_va": random.getrandbits(40), "rkey": random.getrandbits(32), "source": local | LKEY << 64}
        self.memory[RING + slot % (1 << LOG2_ENTRIES) * LINE_BYTES] = Record("Wqe").pack(entry)
        await offer(self.dut, self.dut.clock, "doorbell", doorbell_qp=QP, doorbell_producer=slot + 1)
        return entry

    async def packets(self, count: int, clocks: int = 4000) -> list[dict[str, int]]:
        """The next `count` packets of both ports."""
        found: list[dict[str, int]] = []
        for _ in range(clocks):
            for port, sink in enumerate(self.ports):
                packets = sink.taken()
                assert all(packet["port"] == port == packet["entropy"] % 2 for packet in packets)
                found += packets
            if len(found) >= count:
                break
            await RisingEdge(self.dut.clock)
        assert len(found) == count, f"{len(found)} packets in {clocks} clocks, not {count}"
        return found

    async def completed(self, count: int) -> list[tuple[int, int]]:
        """The next `count` completions: number and status."""
        found = [await self.completions.recv() for _ in range(count)]
        return [(one["wr_id"], one["status"]) for one in found]


async def requester(dut, early_loss: int = EARLY_LOSS) -> Requester:
    """`early_loss` 0: no early loss detection, and no tail probes."""
    bench = Requester(dut)
    await bench.start(early_loss)
    return bench


@cocotb.test()
async def messages_leave_as_packets_over_all_paths_and_complete_in_order(dut):
    """Every packet has the address of its payload and its target; SACKs come in any order."""
    bench, peer = await requester(dut), Peer()
    entries, expected = [], []
    for length in (1, 20_000, MTU, MTU + 1, 11_111):
        entry = await bench.post(length)
        entries.append(entry)
        expected += [(entry, offset) for offset in range(0, length, MTU)]
    packets = await bench.packets(len(expected))
    packets.sort(key=lambda packet: (packet["psn"] - FIRST) % (1 << 24))
    for number, (packet, (entry, offset)) in enumerate(zip(packets, expected, strict=True)):
        assert (packet["psn"], packet["qp"], packet["retransmission"]) == (psn(number), QP, 0)
        assert packet["length"] == min(MTU, entry["length"] - offset)
        assert (packet["reth.va"], packet["reth.rkey"], packet["reth.dma_length"]) == (entry["remote_va"] + offset, entry["rkey"], entry["length"])
        assert (packet["segments.first_address"], packet["segments.first_length"]) == (entry["source"] % (1 << 64) + offset, packet["length"])
    # Each rotation uses every path of a plane once.
    for plane in range(2):
        loads = [sum(packet["entropy"] == path for packet in packets) for path in range(ENTROPY + plane, ENTROPY + PATHS, 2)]
        assert sum(loads) > 0 and max(loads) - min(loads) <= 1, f"plane {plane}: {loads}"
    random.shuffle(packets)
    # The disorder is small enough that early loss detection retransmits nothing: blocks of a few packets, in order.
    packets.sort(key=lambda packet: (packet["psn"] - FIRST) % (1 << 24) // (EARLY_LOSS // 2))
    for packet in packets:
        await bench.controls.send(peer.takes(packet))
    assert await bench.completed(len(entries)) == [(entry["wr_id"], SUCCESS) for entry in entries]
    assert await bench.packets(0) == []


@cocotb.test()
async def what_was_lost_is_sent_again_on_another_path_after_the_timeout(dut):
    bench, peer = await requester(dut, early_loss=0), Peer()
    entry = await bench.post(20 * MTU)
    packets = await bench.packets(20)
    packets.sort(key=lambda packet: (packet["psn"] - FIRST) % (1 << 24))
    lost = packets.pop(3)
    for packet in packets:
        await bench.controls.send(peer.takes(packet))
    [again] = await bench.packets(1, clocks=2 * TIMEOUT_TICKS * TICK_NS // PERIOD_NS)
    assert (again["psn"], again["retransmission"]) == (lost["psn"], 1)
    assert again["entropy"] != lost["entropy"]
    assert (again["reth.va"], again["length"]) == (lost["reth.va"], lost["length"])
    await bench.controls.send(peer.takes(again))
    assert await bench.completed(1) == [(entry["wr_id"], SUCCESS)]


@cocotb.test()
async def a_silent_peer_fails_the_queue_pair_when_the_retries_are_spent(dut):
    bench = await requester(dut, early_loss=0)
    entries = [await bench.post(100), await bench.post(2 * MTU)]
    sent = await bench.packets(3)
    # Timeouts grow by one timeout each.
    for retry in range(1, RETRIES + 1):
        again = await bench.packets(3, clocks=(retry + 1) * TIMEOUT_TICKS * TICK_NS // PERIOD_NS)
        assert {packet["psn"] for packet in again} == {packet["psn"] for packet in sent}
        assert all(packet["retransmission"] for packet in again)
    completions = await bench.completed(2)
    assert [wr_id for wr_id, _ in completions] == [entry["wr_id"] for entry in entries]
    # Both messages are outstanding. The one whose packet times out first fails. Ports retransmit in turn, so it may be either.
    assert sorted(status for _, status in completions) == sorted([RETRY_EXC_ERR, WR_FLUSH_ERR])
    assert await bench.packets(0) == []
