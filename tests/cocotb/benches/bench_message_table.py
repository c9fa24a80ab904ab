"""The send queues: from a doorbell to entries in host memory, to messages, to completions in order."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import cocotb
from cocotb.triggers import ClockCycles
from openstellar.records import Record
from servers import Server, start
from streams import RecordSink, RecordSource

QP, MTU_LOG2, LOG2_ENTRIES, MAX_WIMM = 2, 10, 3, 2
BASE, FIRST = 0x50_0000_0000, 0xFF_FFFA
NOP, WRITE, WRITE_IMM = 0, 1, 2
SUCCESS, LOC_QP_OP_ERR, WR_FLUSH_ERR, RETRY_EXC_ERR = 0, 2, 5, 12
LINE_BYTES = 64


@dataclass
class Entry:
    """A work queue entry as it was posted."""

    fields: dict[str, int]
    packets: int = field(init=False)
    """The work queue entry of the message."""

    def __post_init__(self) -> None:
        blocks = -(-self.fields["length"] // (1 << MTU_LOG2))
        self.packets = 0 if self.fields["opcode"] == NOP else max(blocks, 1)

    def completion(self, status: int = SUCCESS) -> dict[str, int]:
        """The work requests that must complete."""
        entry = self.fields
        return {"qp": QP, "status": status, "opcode": entry["opcode"], "wr_id": entry["wr_id"], "byte_len": entry["length"]}


class SendQueue(Server):
    """One queue pair's send queue, in a host memory with random latency, and a completion queue that stalls."""

    def __init__(self, dut) -> None:
        super().__init__(dut, "MessageRequest", "MessageResponse", "SendQueueConfig")
        self.dut = dut
        self.memory: dict[int, int] = {}
        self.posted: list[Entry] = []
        self.reads = 0
        self.fetches = RecordSink(dut, "fetch", "WqeFetch", pauses=0.4)
        self.entries = RecordSource(dut, "fetched", "WqeFetched")
        self.completions = RecordSink(dut, "cqe", "Completion", pauses=0.4)

    async def answer_fetches(self) -> None:
        """Reads of host memory, of one or more entries; a read of an address that was not written fails."""
        while True:
            fetch = await self.fetches.recv()
            self.reads += 1
            await ClockCycles(self.dut.clock, random.randrange(1, 20))
            addresses = range(fetch["address"], fetch["address"] + fetch["lines"] * LINE_BYTES, LINE_BYTES)
            error = int(not all(address in self.memory for address in addresses))
            for behind, address in zip(reversed(range(fetch["lines"])), addresses):
                line = self.memory.get(address, 0)
                await self.entries.send({"qp": fetch["qp"], "error": error, "behind": behind, "line": line})

    async def push(self, entry: Entry) -> None:
        """The latest entry is pushed with the doorbell that follows."""
        packed = Record("Wqe").pack(entry.fields)
        self.dut.pushed.value = Record("WqeFetched").pack(qp=QP, error=0, line=packed)
        self.dut.pushed_producer.value = len(self.posted) % (1 << 16)
        self.dut.pushed_valid.value = 1
        await ClockCycles(self.dut.clock, 1)
        self.dut.pushed_valid.value = 0

    async def post(self, *, pushed: bool = False, **fields: int) -> Entry:
        """Writes an entry and rings the doorbell."""
        slot = len(self.posted)
        defaults = {"opcode": WRITE, "signaled": 1, "length": 100, "wr_id": 0x1000 + slot, "slot": slot}
        entry = Entry({**defaults, **fields})
        self.memory[BASE + slot % (1 << LOG2_ENTRIES) * LINE_BYTES] = Record("Wqe").pack(entry.fields)
        self.posted.append(entry)
        if pushed:
            await self.push(entry)
        assert (await self.doorbell(slot + 1))["found"]
        return entry

    async def doorbell(self, producer: int) -> dict[str, int]:
        return await self.ask(op="Doorbell", qp=QP, slot=producer % (1 << 16))

    async def current(self, psn: int, tries: int = 20) -> dict[str, int]:
        """The message of a new packet. If its entry is still being read, the request is repeated."""
        for _ in range(tries):
            found = await self.ask(op="NextMessage", qp=QP, psn=psn)
            if found["found"]:
                break
            await ClockCycles(self.dut.clock, 40)
        return found

    async def complete(self, before: int) -> dict[str, int]:
        """Acknowledges everything before this PSN."""
        return await self.ask(op="Complete", qp=QP, psn=before)

    async def completed(self) -> list[dict[str, int]]:
        """Completions since the last call."""
        await ClockCycles(self.dut.clock, 200)
        names = ("qp", "status", "opcode", "wr_id", "byte_len")
        return [{name: cqe[name] for name in names} for cqe in self.completions.taken()]


async def send_queue(dut) -> SendQueue:
    queue = SendQueue(dut)
    await start(dut, pushed_valid=0, pushed=0, pushed_producer=0)
    cocotb.start_soon(queue.answer_fetches())
    settings = {"base": BASE, "log2_entries": LOG2_ENTRIES, "mtu_log2": MTU_LOG2, "max_wimm": MAX_WIMM}
    await queue.ask(op="Configure", qp=QP, settings=settings)
    return queue


def any_entry() -> dict[str, int]:
    """An entry that can be executed."""
    opcode = random.choice([NOP, WRITE, WRITE, WRITE_IMM])
    return {
        "opcode": opcode,
        "signaled": random.randrange(2),
        "length": 0 if opcode == NOP else random.choice([0, 1, 1024, 1025, random.randrange(20_000)]),
        "remote_va": random.getrandbits(64),
        "rkey": random.getrandbits(32),
        "immediate": random.getrandbits(32),
        "source": random.getrandbits(64 + 32),
    }


@cocotb.test()
async def messages_start_and_complete_in_order_round_after_round(dut):
    """Random entries through several rounds of the ring, as many posted ahead as fit, compared with a model of a few lines."""
    queue = await send_queue(dut)
    psn = msn = rqmsn = 0
    for _ in range(8):
        posted = [await queue.post(**any_entry()) for _ in range(random.randrange(1, 1 << LOG2_ENTRIES))]
        expected = []
        for entry in posted:
            expected += [entry.completion()] * entry.fields["signaled"]
            if not entry.packets:
                continue
            found = await queue.current((FIRST + psn) % (1 << 24))
            assert found["found"], entry
            message = {name.removeprefix("message."): value for name, value in found.items()}
            for name in ("slot", "length", "remote_va", "rkey"):
                assert message[name] == entry.fields[name], name
            # Local address and L_Key; what lies behind them has no meaning.
            assert message["source"] % (1 << 96) == entry.fields["source"]
            immediate = entry.fields["opcode"] == WRITE_IMM
            assert (message["first"], message["packets"]) == ((FIRST + psn) % (1 << 24), entry.packets)
            assert (message["msn"], message["rqmsn"]) == (msn, rqmsn if immediate else 0)
            # A later packet of the message finds it again.
            last = (FIRST + psn + entry.packets - 1) % (1 << 24)
            assert (await queue.current(last))["message.slot"] == entry.fields["slot"]
            psn, msn, rqmsn = psn + entry.packets, msn + 1, rqmsn + immediate
            # A part of it was not acknowledged, so nothing completes.
            await queue.complete(last)
            await queue.complete((last + 1) % (1 << 24))
        # NOPs behind the last message start at the next request, and complete with it.
        await queue.current((FIRST + psn) % (1 << 24), tries=3)
        await queue.complete((FIRST + psn) % (1 << 24))
        assert await queue.completed() == expected


@cocotb.test()
async def a_packet_finds_its_message_among_the_outstanding_ones(dut):
    queue = await send_queue(dut)
    owners, psn = [], FIRST
    for length in (1, 5000, 1024, 3000, 0, 2049):
        entry = await queue.post(length=length)
        assert (await queue.current(psn % (1 << 24)))["found"]
        owners += [entry.fields["slot"]] * entry.packets
        psn += entry.packets
    for offset in random.sample(range(len(owners)), len(owners)):
        found = await queue.ask(op="LookupByPsn", qp=QP, psn=(FIRST + offset) % (1 << 24))
        assert (found["found"], found["message.slot"]) == (1, owners[offset])
    assert not (await queue.ask(op="LookupByPsn", qp=QP, psn=psn % (1 << 24)))["found"]


@cocotb.test()
async def no_more_immediates_are_outstanding_than_the_peer_takes(dut):
    queue = await send_queue(dut)
    for _ in range(MAX_WIMM + 1):
        await queue.post(opcode=WRITE_IMM)
    for number in range(MAX_WIMM):
        assert (await queue.current((FIRST + number) % (1 << 24)))["message.rqmsn"] == number
    held = (FIRST + MAX_WIMM) % (1 << 24)
    assert not (await queue.current(held))["found"]
    await queue.complete((FIRST + 1) % (1 << 24))
    assert (await queue.current(held))["message.rqmsn"] == MAX_WIMM


@cocotb.test()
async def an_entry_that_came_with_its_doorbell_is_not_read(dut):
    queue = await send_queue(dut)
    for number in range(3):
        entry = await queue.post(pushed=True, length=number)
        found = await queue.current((FIRST + number) % (1 << 24))
        assert (found["found"], found["message.slot"], found["message.length"]) == (1, number, number), entry
    assert queue.reads == 0
    await queue.post()
    assert (await queue.current((FIRST + 3) % (1 << 24)))["message.slot"] == 3
    assert queue.reads == 1


@cocotb.test()
@cocotb.parametrize(wrong=["slot", "opcode", "memory"])
async def an_entry_that_cannot_be_executed_stops_the_queue(dut, wrong):
    queue = await send_queue(dut)
    await queue.post()
    await queue.post(**{"slot": {"slot": 7}, "opcode": {"opcode": 9}, "memory": {}}[wrong])
    if wrong == "memory":
        del queue.memory[BASE + ENTRY_BYTES]
    await queue.post()
    assert (await queue.current(FIRST))["found"]
    assert not (await queue.current((FIRST + 1) % (1 << 24)))["found"]
    told = await queue.complete((FIRST + 1) % (1 << 24))
    assert (told["found"], told["slot"], told["status"]) == (1, 1, LOC_QP_OP_ERR)
    assert [cqe["wr_id"] for cqe in await queue.completed()] == [0x1000]


@cocotb.test()
async def a_flush_completes_everything_and_blames_the_one_that_failed(dut):
    queue = await send_queue(dut)
    posted = [await queue.post(signaled=number % 2) for number in range(5)]
    for number in range(3):
        assert (await queue.current((FIRST + number) % (1 << 24)))["found"]
    await queue.ask(op="Flush", qp=QP, failed=1, slot=1, status=RETRY_EXC_ERR)
    await ClockCycles(dut.clock, 1000)
    expected = [entry.completion(RETRY_EXC_ERR if slot == 1 else WR_FLUSH_ERR) for slot, entry in enumerate(posted)]
    assert await queue.completed() == expected
    # Entries that are posted later are flushed too.
    late = await queue.post()
    await ClockCycles(dut.clock, 400)
    assert await queue.completed() == [late.completion(WR_FLUSH_ERR)]


@cocotb.test()
async def a_doorbell_beyond_the_ring_is_refused(dut):
    queue = await send_queue(dut)
    assert not (await queue.doorbell((1 << LOG2_ENTRIES) + 1))["found"]
    assert not (await queue.current(FIRST, tries=2))["found"]
    await queue.post()
    assert (await queue.current(FIRST))["found"]
