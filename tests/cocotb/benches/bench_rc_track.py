"""RC queue pairs in the receive core: packets in order, and the address of each payload."""

from __future__ import annotations

import random

import cocotb
from openstellar.records import Record
from tokens import TrackingBlock, packet

MTU, SPACING = 1024, 3
QPS = {0: 0xFF_FFFD, 17: 5, 1000: 0x80_0000}
"""Queue pairs and their first PSNs."""
CONTEXTS = {qp: {"state": "Ready", "mode": "Rc", "mtu_log2": 10, "initial_psn": first} for qp, first in QPS.items()}


class Connection:
    """The peer of a queue pair."""

    def __init__(self, qp: int) -> None:
        self.qp, self.psn, self.msn = qp, QPS[qp], 0

    def message(self) -> list[tuple[dict, dict]]:
        """The packets of a WRITE, and the expected output of the block for each."""
        va, rkey, length = random.getrandbits(63), random.getrandbits(32), random.randrange(1, 6 * MTU)
        packets = []
        for offset in range(0, length, MTU):
            starts, ends = offset == 0, offset + MTU >= length
            position = {(True, True): "Only", (True, False): "First", (False, True): "Last"}.get((starts, ends), "Middle")
            reth = {"has_reth": 1, "va": va, "rkey": rkey, "dma_length": length} if starts else {}
            headers = {"position": position, "psn": self.psn, "payload_length": min(MTU, length - offset), **reth}
            self.psn = (self.psn + 1) % (1 << 24)
            self.msn += ends
            told = {"reason": "None", "rc_class": "Expected", "va": va + offset, "rkey": rkey, "rc_epsn": self.psn, "rc_msn": self.msn}
            packets.append((packet(self.qp, CONTEXTS[self.qp], **headers), told))
        return packets

    def stray(self, ahead: int) -> dict[str, int | str]:
        """A packet with an unexpected PSN."""
        headers = {"position": "Only", "has_reth": 1, "psn": (self.psn + ahead) % (1 << 24), "payload_length": 8, "dma_length": 8}
        return packet(self.qp, CONTEXTS[self.qp], **headers)


def block(dut) -> TrackingBlock:
    token = Record("AddressedToken")

    def look() -> dict[str, int | str]:
        found = token.unpack(dut.out_token.value)
        return {**found, **{name: token.value_name(name, found[name]) for name in ("reason", "rc_class")}}

    return TrackingBlock(dut, "QpToken", look, passes_tables=True, spacing=lambda *_: SPACING)


@cocotb.test()
async def payload_follows_payload_message_after_message(dut):
    """Messages of three queue pairs, packet by packet in turn; PSNs wrap."""
    tracker = block(dut)
    await tracker.start(CONTEXTS)
    queues = [[packet for _ in range(40) for packet in connection.message()] for connection in map(Connection, QPS)]
    tokens, expected = [], []
    while any(queues):
        token, told = random.choice([queue for queue in queues if queue]).pop(0)
        tokens.append((token["token.headers.dest_qp"], token))
        expected.append(told)
    for told, found in zip(expected, await tracker.play(tokens), strict=True):
        assert {name: found[name] for name in told} == told


@cocotb.test()
async def a_gap_is_told_of_once_and_closed_by_the_packet_that_was_missing(dut):
    tracker, connection = block(dut), Connection(17)
    await tracker.start(CONTEXTS)
    for _ in range(5):
        strays = [connection.stray(ahead) for ahead in (1, 2, 1 << 22, -1, -(1 << 22))]
        found = await tracker.play([(connection.qp, stray) for stray in strays])
        assert [one["rc_class"] for one in found] == ["Gap", "GapAgain", "GapAgain", "Duplicate", "Duplicate"]
        assert {(one["rc_epsn"], one["rc_msn"]) for one in found} == {(connection.psn, connection.msn)}
        message = connection.message()
        found = await tracker.play([(connection.qp, token) for token, _ in message])
        assert [one["rc_class"] for one in found] == ["Expected"] * len(message)


@cocotb.test()
@cocotb.parametrize(wrong=["position", "short", "long"])
async def a_packet_that_does_not_fit_its_message_is_refused(dut, wrong):
    tracker, connection = block(dut), Connection(1000)
    await tracker.start(CONTEXTS)
    first = {"position": "First", "has_reth": 1, "va": 0x1000, "dma_length": 2 * MTU, "psn": connection.psn, "payload_length": MTU}
    last = {"position": "Last", "psn": connection.psn + 1, "payload_length": MTU}
    bad = {"position": {"position": "Only"}, "short": {"payload_length": MTU - 1}, "long": {"payload_length": MTU + 1}}[wrong]
    reason = "BadSequence" if wrong == "position" else "BadPayloadLength"
    tokens = [packet(connection.qp, CONTEXTS[connection.qp], **headers) for headers in (first, {**last, **bad}, last)]
    found = await tracker.play([(connection.qp, token) for token in tokens])
    assert [one["reason"] for one in found] == ["None", reason, "None"]
    assert (found[2]["va"], found[2]["rc_msn"]) == (0x1000 + MTU, 1)
