"""The windows of the receive core: packets in any order, and the set of received PSNs."""

from __future__ import annotations

import random

import cocotb
from openstellar.records import Record
from tokens import Fields, TrackingBlock, packet, table_write

WINDOW, WORD = 4096, 64
SPACING = 8
"""Cycles until the expected PSN after a token is known."""
QPS = {3: 0xFF_FF00, 700: 0, 1023: 0x12_3456}
"""Queue pairs and their first PSNs."""
CONTEXTS = {qp: {"state": "Ready", "mode": "Mrc", "mtu_log2": 12, "initial_psn": first} for qp, first in QPS.items()}
NACK_OUTSIDE_WINDOW, NACK_UNEXPECTED_EVENT = 11, 25


class Window:
    """The packets that a queue pair has received, by distance from its first PSN."""

    def __init__(self, qp: int) -> None:
        self.qp = qp
        self.received: set[int] = set()
        self.expected = 0

    def psn(self, number: int) -> int:
        return (QPS[self.qp] + number) % (1 << 24)

    def has(self, number: int) -> bool:
        return number < self.expected or number in self.received

    def arrives(self, number: int) -> dict[str, int | str]:
        """Packet `number` arrives; returns the expected output of the block."""
        if self.has(number):
            reason = "Duplicate"
        elif number >= self.expected + WINDOW:
            reason = "PsnOutsideWindow"
        else:
            reason = "None"
            self.received.add(number)
            while self.expected in self.received:
                self.received.remove(self.expected)
                self.expected += 1
        psn = self.psn(number)
        told = {"reason": reason, "qp": self.qp, "psn": psn, "epsn": self.psn(self.expected), "accepted": int(reason == "None")}
        if reason == "PsnOutsideWindow":
            return told | {"kind": "Nack", "syndrome": NACK_OUTSIDE_WINDOW}
        first = number - psn % WORD
        bitmap = sum(1 << bit for bit in range(WORD) if self.has(first + bit))
        return told | {"kind": "Sack", "cack_psn": self.psn(self.expected - 1), "bitmap_base": psn - psn % WORD, "bitmap": bitmap}

    def token(self, number: int, **more: int | str) -> dict[str, int | str]:
        headers = {"mrc": 1, "position": "Only", "has_reth": 1, "psn": self.psn(number), "payload_length": 100}
        return packet(self.qp, CONTEXTS[self.qp], **headers) | more


def block(dut) -> TrackingBlock:
    outcome = Record("RxOutcome")
    reasons = outcome.fields["ack.reason"].values

    def look() -> dict[str, int | str]:
        """The decision, and the outcome beside it."""
        if dut.out_counted.value == 0:
            return {}
        told = outcome.unpack(dut.outcome.value) if dut.outcome_valid.value == 1 else {}
        acks = {name.removeprefix("ack."): value for name, value in told.items()}
        if told:
            acks["kind"] = outcome.value_name("ack.kind", told["ack.kind"])
        return {**acks, "reason": reasons[int(dut.out_reason.value)]}

    return TrackingBlock(dut, "TranslatedToken", look, passes_tables=False, spacing=spacing)


def spacing(earlier: Fields, later: Fields) -> int:
    """Packets of a queue pair may be consecutive if their PSNs are less than a window apart."""
    if any(token["token.kind"] != "Packet" for token in (earlier, later)):
        return SPACING
    apart = (later["token.headers.psn"] - earlier["token.headers.psn"]) % (1 << 24)
    return 1 if min(apart, (1 << 24) - apart) < WINDOW else SPACING


async def compare(tracker: TrackingBlock, windows: list[Window], arrivals: list[tuple[Window, int]]) -> None:
    """Packets arrive, and the output of the block equals that of the model."""
    expected = [window.arrives(number) for window, number in arrivals]
    found = await tracker.play([(window.qp, window.token(number)) for window, number in arrivals])
    for told, arrived in zip(expected, found, strict=True):
        assert {name: arrived.get(name) for name in told} == told


@cocotb.test()
async def packets_arrive_in_any_order(dut):
    """Several windows of three queue pairs, shuffled, with duplicates; PSNs wrap."""
    tracker, windows = block(dut), [Window(qp) for qp in QPS]
    await tracker.start(CONTEXTS)
    for lap in range(3):
        arrivals = [(window, lap * 400 + number) for window in windows for number in range(400)]
        arrivals += random.sample(arrivals, 120)
        random.shuffle(arrivals)
        await compare(tracker, windows, arrivals)
        assert [window.expected for window in windows] == [400 * (lap + 1)] * 3


@cocotb.test()
async def the_window_is_4096_packets_from_the_first_that_is_missing(dut):
    tracker, window = block(dut), Window(700)
    await tracker.start(CONTEXTS)
    far = [WINDOW, WINDOW - 1, WINDOW + 5, 0, WINDOW, WINDOW + 1, 1 << 22]
    await compare(tracker, [window], [(window, number) for number in far])
    # The first missing packet closes the gap, and the window moves to its end.
    rest = list(range(1, WINDOW - 1))
    random.shuffle(rest)
    await compare(tracker, [window], [(window, number) for number in rest])
    assert window.expected == WINDOW + 1
    await compare(tracker, [window], [(window, 2 * WINDOW + 1), (window, 2 * WINDOW)])


@cocotb.test()
async def a_packet_that_may_not_write_stops_its_queue_pair_only(dut):
    tracker, (first, second, _) = block(dut), (Window(qp) for qp in QPS)
    await tracker.start(CONTEXTS)
    await compare(tracker, [first], [(first, 0)])
    [refused] = await tracker.play([(first.qp, first.token(1, access_reason="BadKey"))])
    assert (refused["reason"], refused["kind"], refused["syndrome"]) == ("BadKey", "Nack", NACK_UNEXPECTED_EVENT)
    # In the error state it sends no acknowledgements.
    [silent] = await tracker.play([(first.qp, first.token(2))])
    assert silent == {"reason": "WrongState"}
    await compare(tracker, [second], [(second, number) for number in (1, 0)])
    # A new context starts the queue pair again.
    await tracker.play([(first.qp, table_write(first.qp, CONTEXTS[first.qp]))])
    again = Window(first.qp)
    await compare(tracker, [again], [(again, number) for number in (2, 0, 1, 1)])
