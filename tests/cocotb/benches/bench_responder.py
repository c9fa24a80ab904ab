"""The responder: from outcomes of the receive core to acknowledgements, completions and events."""

from __future__ import annotations

import random

import cocotb
from cocotb.triggers import ClockCycles
from openstellar.records import Record
from servers import start
from streams import RecordSink, RecordSource, offer

MRC_QP, OTHER_QP, RC_QP = 1, 2, 3
FIRST, MAX_WIMM, WINDOW_BITS = 0xFF_FFD0, 8, 64
RC_ACK, SACK, NACK = 0x11, 0xDC, 0xDD
RECEIVED_WITH_IMMEDIATE, UNEXPECTED_EVENT = 0x81, 25
SETTLED = 60


def psn(number: int) -> int:
    """The PSN of packet `number`; they wrap."""
    return (FIRST + number) % (1 << 24)


class Peer:
    """One MRC queue pair: the packets, numbered from 0 on, that the receive core has accepted."""

    def __init__(self, qp: int) -> None:
        self.qp = qp
        self.received: set[int] = set()
        self.expected = 0
        """First packet missing."""

    def arrives(self, number: int, **fields: int | str) -> dict[str, int | str]:
        """A packet arrives for the first time; returns the receive core's outcome, with its acknowledgement request."""
        self.received.add(number)
        while self.expected in self.received:
            self.expected += 1
        base = psn(number) // WINDOW_BITS * WINDOW_BITS
        first = number - (psn(number) - base)
        bitmap = sum(1 << bit for bit in range(WINDOW_BITS) if first + bit < self.expected or first + bit in self.received)
        outcome = {"qp": self.qp, "port": random.randrange(2), "accepted": 1, "mrc": 1, "position": "Only", "psn": psn(number)}
        outcome |= {"ack_req": 1, "epsn": psn(self.expected), "payload_length": 256, "dma_length": 256, "msn": number % (1 << 16)}
        ack = {"kind": "Sack", "qp": self.qp, "psn": psn(number), "cack_psn": psn(self.expected - 1), "bitmap_base": base, "bitmap": bitmap}
        ack["entropy"] = random.getrandbits(32)
        return outcome | {"ack_valid": 1} | {f"ack.{name}": value for name, value in ack.items()} | fields


def signed16(value: int) -> int:
    """Two's complement of 16 bits."""
    return value % (1 << 16)


def sack_of(outcome: dict[str, int | str]) -> dict[str, int]:
    """The expected acknowledgement of a packet."""
    cumulative = outcome["ack.cack_psn"]

    def distance(to: int) -> int:
        ahead = (to - cumulative) % (1 << 24)
        return signed16(ahead if ahead < 1 << 23 else ahead - (1 << 24))

    return {
        "qp": outcome["qp"],
        "port": outcome["port"],
        "opcode": SACK,
        "psn": outcome["psn"],
        "reflected": outcome["ack.entropy"],
        "seth.cack_psn": cumulative,
        "seth.ack_psn_offset": distance(outcome["psn"]),
        "seth.sack_offset": distance(outcome["ack.bitmap_base"]),
        "seth.bitmap": outcome["ack.bitmap"],
    }


class Responder:
    """The block with two MRC queue pairs and one of RC."""

    def __init__(self, dut, pauses: float = 0.0) -> None:
        self.dut = dut
        self.outcomes = RecordSource(dut, "outcome", "RxOutcome", pauses / 2)
        self.answers = RecordSink(dut, "answer", "TxAnswer", pauses)
        self.completions = RecordSink(dut, "completion", "Completion", pauses)

    async def start(self) -> None:
        inputs = ("now", "settings_valid", "arm_valid", "visit_valid", "visit_qp", "visit_port", "visit_forgets", "good_valid", "good_qp", "good_plane", "good_entropy")
        await start(self.dut, plane_up=3, threshold_ready=1, failed_ready=1, **dict.fromkeys(inputs, 0))
        for number, qp in enumerate((MRC_QP, OTHER_QP, RC_QP)):
            part = {"stash": number * MAX_WIMM, "log2_stash": MAX_WIMM.bit_length() - 1}
            fields = {"mrc": int(qp != RC_QP), "mtu_log2": 10, "initial_psn": FIRST, "max_wimm": MAX_WIMM, "sack_every": 1, "completions": 1} | part
            settings = Record("ResponderConfig").pack(fields)
            await offer(self.dut, self.dut.clock, "settings", settings_qp=qp, settings=settings)

    async def settle(self) -> None:
        await self.outcomes.wait()
        await ClockCycles(self.dut.clock, SETTLED)


async def responder(dut, pauses: float = 0.0) -> Responder:
    bench = Responder(dut, pauses)
    await bench.start()
    return bench


def immediate(number: int, value: int) -> dict[str, int]:
    """Fields of the WRITE with immediate `number`."""
    return {"has_immediate": 1, "immediate": value, "rqmsn": number}


@cocotb.test()
async def every_answer_leaves_in_order_and_says_what_had_arrived(dut):
    """Packets of two queue pairs in any order inside a window, with stalls everywhere."""
    bench = await responder(dut, pauses=0.5)
    expected, peers = [], [Peer(MRC_QP), Peer(OTHER_QP)]
    for window in range(4):
        numbers = [(peer, 100 * window + number) for peer in peers for number in range(100)]
        random.shuffle(numbers)
        for peer, number in numbers:
            outcome = peer.arrives(number)
            expected.append(sack_of(outcome))
            await bench.outcomes.send(outcome)
    for answer in expected:
        arrived = await bench.answers.recv()
        assert {name: arrived[name] for name in answer} == answer


@cocotb.test()
async def immediates_complete_in_order_once_all_before_them_has_arrived(dut):
    bench = await responder(dut, pauses=0.3)
    peer, numbers, found = Peer(MRC_QP), {}, []
    packet = 0
    for _ in range(12):
        window = list(range(packet, packet + random.randrange(1, 12)))
        packet = window[-1] + 1
        # As many outstanding immediates as permitted, and not only in the first packets.
        for number in sorted(random.sample(window, min(MAX_WIMM, len(window)))):
            numbers[number] = (len(numbers), random.getrandbits(32))
        random.shuffle(window)
        for number in window:
            fields = immediate(*numbers[number]) if number in numbers else {}
            await bench.outcomes.send(peer.arrives(number, **fields))
            await bench.settle()
            found += bench.completions.taken()
            due = [value for at, (_, value) in sorted(numbers.items()) if at < peer.expected]
            assert [completion["immediate"] for completion in found] == due
    assert {(one["qp"], one["opcode"], one["status"], one["byte_len"]) for one in found} == {(MRC_QP, RECEIVED_WITH_IMMEDIATE, 0, 256)}


@cocotb.test()
async def an_rc_message_completes_with_all_its_bytes(dut):
    bench = await responder(dut, pauses=0.3)
    expected, answers, number = [], [], 0
    for message in range(20):
        lengths = [1024] * random.randrange(4) + [random.randrange(1, 1025)]
        for index, length in enumerate(lengths):
            ends = index + 1 == len(lengths)
            position = {(True, True): "Only", (True, False): "First", (False, True): "Last"}.get((index == 0, ends), "Middle")
            outcome = {"qp": RC_QP, "accepted": 1, "position": position, "psn": psn(number), "payload_length": length}
            outcome |= {"ack_valid": int(ends), "ack.kind": "Ack", "ack.qp": RC_QP, "ack.psn": psn(number), "ack.msn": message + 1, "ack.syndrome": 31}
            if ends:
                outcome |= {"has_immediate": message % 2, "immediate": message}
                answers.append((RC_ACK, psn(number), message + 1, 31))
            number += 1
            await bench.outcomes.send(outcome)
        if message % 2:
            expected.append((RC_QP, sum(lengths), message))
    await bench.settle()
    found = [(one["qp"], one["byte_len"], one["immediate"]) for one in bench.completions.taken()]
    assert found == expected
    acks = [(one["opcode"], one["psn"], one["aeth.msn"], one["aeth.syndrome"]) for one in bench.answers.taken()]
    assert acks == answers


@cocotb.test()
async def a_threshold_is_told_of_once(dut):
    bench = await responder(dut)
    peer = Peer(MRC_QP)
    told = []

    async def watch() -> None:
        while True:
            await ClockCycles(dut.clock, 1)
            if dut.threshold_valid.value == 1:
                told.append((int(dut.threshold_qp.value), int(dut.threshold_count.value)))

    cocotb.start_soon(watch())
    await offer(dut, dut.clock, "arm", arm_qp=MRC_QP, arm_threshold=3)
    for number in range(5):
        await bench.outcomes.send(peer.arrives(number, **immediate(number, number)))
        await bench.settle()
        assert told == [(MRC_QP, 3)] * (number >= 2)


@cocotb.test()
async def more_immediates_than_agreed_fail_the_queue_pair_and_no_other(dut):
    bench = await responder(dut)
    peers = [Peer(MRC_QP), Peer(OTHER_QP)]
    failed = []

    async def watch() -> None:
        while True:
            await ClockCycles(dut.clock, 1)
            if dut.failed_valid.value == 1:
                failed.append(int(dut.failed_qp.value))

    cocotb.start_soon(watch())
    # One immediate beyond the last that fits: number 0 has not arrived.
    await bench.outcomes.send(peers[0].arrives(1, **immediate(MAX_WIMM, 0)))
    await bench.settle()
    [refusal] = bench.answers.taken()
    assert (refusal["opcode"], refusal["neth.reason"], refusal["neth.nack_psn"]) == (NACK, UNEXPECTED_EVENT, psn(1))
    for peer in peers:
        await bench.outcomes.send(peer.arrives(0))
    await bench.settle()
    assert [answer["qp"] for answer in bench.answers.taken()] == [OTHER_QP]
    assert failed == [MRC_QP]
