"""openstellar.verbs: the driver on Verilated cards, from Python."""

from __future__ import annotations

import random
import runpy
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from openstellar import verbs, world

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "verbs.py"


@pytest.fixture(scope="module")
def example() -> dict[str, Any]:
    """The objects of the documentation's example: two cards and a lone one after bring-up. Bring-up takes most of a test's time, so the tests share
    them.
    """
    return runpy.run_path(str(EXAMPLE))


@dataclass
class Host:
    """A host with its card open."""

    context: verbs.Context
    pd: verbs.ProtectionDomain
    cq: verbs.CompletionQueue

    def qp(self, **arguments: int) -> verbs.QueuePair:
        return self.pd.create_qp(self.cq, **arguments)


@pytest.fixture
def hosts(example: dict[str, Any]) -> list[Host]:
    """Both hosts of the pair."""
    contexts = [device.open() for device in example["devices"]]
    return [Host(context, context.alloc_pd(), context.create_cq(16)) for context in contexts]


@pytest.fixture(autouse=True)
def no_bad_accesses(example: dict[str, Any]) -> Any:
    """In no test a card accesses memory that is not mapped for it."""
    yield
    assert [example["pair"].bad_accesses(host) for host in (0, 1)] == [0, 0]
    assert example["card"].bad_accesses() == 0


def test_the_example_of_the_documentation_runs(example: dict[str, Any]) -> None:
    """The example compares memory itself."""
    assert [(one.wr_id, one.status, one.opcode, one.bytes) for one in example["done"]] == [
        (1, "Success", "Write", 32 << 10),
        (2, "Success", "WriteImm", 32 << 10),
    ]
    assert (example["arrived"].opcode, example["arrived"].immediate) == ("RecvRdmaWithImm", 0x57E1_1A12)
    assert example["devices"][1].counters()["None"] >= 64
    assert example["devices"][0].attributes["queue_pairs"] > 1000


def test_captures_are_packets_with_times(example: dict[str, Any]) -> None:
    from scapy.contrib.roce import BTH

    pair = example["pair"]
    sent, arrived = (pair.packets(f"h{host}.p0") for host in (0, 1))
    write_opcodes = range(0xC6, 0xCC)
    writes = [packet for packet in sent if packet[BTH].opcode in write_opcodes]
    assert len(writes) == sum(packet[BTH].opcode in write_opcodes for packet in arrived) >= 16
    assert all(later.time >= earlier.time for earlier, later in zip(sent, sent[1:], strict=False))
    with pytest.raises(KeyError, match="there are: h0.p0, h0.p1, h1.p0, h1.p1"):
        pair.packets("h2.p0")


def test_inline_bytes_unsignaled_work_and_fences(hosts: list[Host]) -> None:
    a, b = hosts
    first, second = a.qp(send_entries=8), b.qp()
    verbs.connect(first, second)
    target = b.pd.register(100)
    assert first.post_write(b"sixteen bytes ok", target, remote_offset=3, signaled=False, wr_id=77) == 77
    assert first.post_write(b"", target, immediate=9) == 1
    assert first.post_nop(fence=True) == 2
    assert first.outstanding == 3
    done: list[verbs.Completion] = []
    while len(done) < 2:
        done += a.cq.wait()
    assert [(one.wr_id, one.opcode, one.status) for one in done] == [(1, "WriteImm", "Success"), (2, "Nop", "Success")]
    assert [(one.bytes, one.immediate, one.qp) for one in b.cq.wait()] == [(0, 9, second.number)]
    assert target.load() == bytes(3) + b"sixteen bytes ok" + bytes(81)
    assert target.array(3, 7).tobytes() == b"sixteen"
    assert first.outstanding == 0


def test_entries_of_128_bytes_carry_64_inline(hosts: list[Host]) -> None:
    a, b = hosts
    first, second = a.qp(send_entries=4, inline_bytes=64), b.qp()
    verbs.connect(first, second)
    target = b.pd.register(65 * 64)
    for length in range(65):
        first.post_write(bytes(range(length, 2 * length)), target, remote_offset=64 * length)
        (done,) = a.cq.wait()
        assert done.status == "Success"
    sent = b"".join(bytes(range(length, 2 * length)).ljust(64, b"\0") for length in range(65))
    assert target.load() == sent
    with pytest.raises(ValueError, match="65 bytes inline; an entry of this queue pair holds at most 64"):
        first.post_write(bytes(65), target)


def test_events_and_errors_reach_python(hosts: list[Host]) -> None:
    """A threshold of immediates; a wrong key, which fails the queue pair; the same queue pair after that."""
    a, b = hosts
    first, second = a.qp(), b.qp()
    verbs.connect(first, second, psns=(5, 6))
    source, target = a.pd.register(64), b.pd.register(64)
    b.context.arm_immediates(second, 1)
    first.post_write(source, target, immediate=1)
    event = b.context.wait_event()
    assert event == verbs.Event("ImmediateThreshold", second.number, count=1)
    stale = verbs.RemoteRegion(target.address, target.key ^ 1, 64)
    first.post_write(source, stale)
    with pytest.raises(RuntimeError, match="poll their completions first"):
        source.deregister()
    done: list[verbs.Completion] = []
    while len(done) < 2:
        done += a.cq.wait()
    assert [one.status for one in done] == ["Success", "RemOpErr"]
    assert a.context.wait_event() == verbs.Event("QueuePairFatal", first.number, status="RemOpErr")
    assert a.context.poll_event() is None and first.state == "ERROR"
    with pytest.raises(RuntimeError, match="sends in Rts only"):
        first.post_nop()
    for qp in (first, second):
        qp.reset()
    verbs.connect(first, second)
    first.post_write(b"again", target)
    assert [one.status for one in a.cq.wait()] == ["Success"]
    assert target.load(0, 5) == b"again"
    source.deregister()
    with pytest.raises(RuntimeError, match="deregistered"):
        source.load()


def test_a_lone_card_sends_to_python_and_takes_what_it_is_sent(example: dict[str, Any]) -> None:
    """A message in any order and a damaged frame; a WRITE to a peer that is Python code."""
    from scapy.contrib.roce import BTH
    from scapy.layers.inet import IP

    card, context, qp, memory = (example[name] for name in ("card", "context", "qp", "memory"))
    data = random.Random(4).randbytes(9_000)
    place = example["place"] | {"psn": 105, "msn": 1}
    peer, here = example["peer"], example["here"]
    # The same message as it comes to either port.
    ways = [list(world.write_frames(data, **place, source=source, destination=to)) for source, to in zip(peer, here, strict=True)]
    broken = bytearray(ways[0][0])
    broken[-1] ^= 1
    card.sent()
    card.receive(bytes(broken), 0)
    # Bytes of a stranger, and bytes for one: the card would place them, and then refuse the peer's as duplicates.
    for source, to in ((verbs.default_ports(9)[0], here[0]), (peer[0], verbs.default_ports(9)[0])):
        card.receive(next(iter(world.write_frames(bytes(9_000), **place, source=source, destination=to))), 0)
    for number in reversed(range(len(ways[0]))):
        card.receive(ways[number % 2][number], number % 2)
    card.run(1500)
    assert memory.load(0, len(data)) == data
    sacks = [frame.packet() for frame in card.sent()]
    assert sacks and {(packet[IP].tos >> 2, packet[BTH].opcode, packet[BTH].dqpn) for packet in sacks} == {(26, 0xDC, 0x123)}
    qp.ready_to_send(psn=0x1000)
    qp.post_write(memory, verbs.RemoteRegion(0x7000, 0x55, 5000), length=3000)
    card.run(1500)
    sent = card.sent()
    writes = sorted(frame.packet()[BTH].psn for frame in sent)
    assert writes == [0x1000, 0x1001, 0x1002]
    assert b"".join(frame.data for frame in sent).count(data[:64]) == 1
    assert [frame.time_ns for frame in sent] == sorted(frame.time_ns for frame in sent)


def test_wrong_use_is_answered(example: dict[str, Any], hosts: list[Host]) -> None:
    a, b = hosts
    pair, card = example["pair"], example["card"]
    qp = a.qp()
    region = a.pd.register(100)
    peer = b.qp().connection()
    bad_mac = verbs.Connection(1, 0, (verbs.PortAddress("02:00", "10.0.0.1"),) * 2)
    bad_ip = verbs.Connection(1, 0, (verbs.PortAddress("02:00:00:00:00:01", "10.0.0"),) * 2)
    here = verbs.default_ports(1)[0]
    write_frames = partial(world.write_frames, b"x", qp=2, va=0, rkey=0)
    device, far = example["devices"]
    qp.init()
    for wrong, expected in [
        (lambda: pair.bring_up(2), "no host 2: there are hosts 0 and 1"),
        (lambda: card.receive(b""), "an empty frame"),
        (lambda: card.receive(b"x", 2), "no port 2"),
        (lambda: a.context.create_cq(48), "power of two"),
        (lambda: a.qp(send_entries=1), "send queue of 1 entries"),
        (lambda: a.qp(inline_bytes=65), "inline_bytes is 65"),
        (lambda: a.pd.create_qp(b.cq), "belong to different contexts"),
        (lambda: a.pd.register(0), "at least one byte"),
        (lambda: a.pd.register(1, memory="disk"), 'unknown memory "disk"'),
        (lambda: a.pd.register(1, memory="gpu", page=5000), "no page size of 5000 bytes"),
        (lambda: region.load(99, 2), "2 bytes from 99 on are not in a region of 100 bytes"),
        (lambda: region.store(b"x", 100), "1 bytes from 100 on"),
        (lambda: qp.ready_to_receive(bad_mac), "'02:00' is no MAC address"),
        (lambda: qp.ready_to_receive(bad_ip), '"10.0.0" is no IP address'),
        (lambda: qp.ready_to_receive(peer, verbs.Path(mtu=1500)), "no path MTU of 1500 bytes"),
        (lambda: qp.ready_to_receive(peer, verbs.Path(policy="fastest")), 'unknown policy "fastest"'),
        (lambda: qp.ready_to_receive(peer, verbs.Path(max_write_imm=257)), "max_write_imm is 257"),
        (lambda: qp.ready_to_receive(peer, verbs.Path(profile=8)), "no entropy profile 8: the card has 0 to 7"),
        (lambda: qp.ready_to_receive(peer, verbs.Path(profile=1)), "entropy profile 1 has no values"),
        (lambda: device.set_explicit_profile(4, [1, 2]), "entropy profile 4 cannot have explicit values"),
        (lambda: device.set_explicit_profile(1, [1, 2], [2, 3]), "value 0x2 stands at index 1 and at index 128"),
        (lambda: device.set_generated_profile(1, 0xFFFF, active=2), "above 0xffff"),
        (lambda: qp.post_write(b"x", region, length=1), "slice the bytes instead"),
        (lambda: write_frames(source=here), "source and destination, or neither"),
        (lambda: write_frames(source=here, destination=here, ipv6=True), "the addresses of IPv6 frames are IPv6"),
        (lambda: write_frames(source=here, destination=verbs.PortAddress(here.mac, "::1")), "the addresses of IPv4 frames are IPv4"),
    ]:
        with pytest.raises(ValueError, match=expected):
            wrong()
    with pytest.raises(RuntimeError, match="cannot become Rts"):
        qp.ready_to_send()
    with pytest.raises(RuntimeError, match="made without an interrupt"):
        a.context.create_cq(4, interrupt=False).wait()
    other = a.qp(send_entries=2)
    for each in (device, far):
        each.set_explicit_profile(1, [0x8001, 0x9ABC])
    verbs.connect(other, b.qp(), path=verbs.Path(paths=2, profile=1))
    with pytest.raises(RuntimeError, match="entropy profile 1 is in use"):
        device.set_generated_profile(1, 0x8000, active=2)
    for wrong, expected in [
        (lambda: other.post_write(bytes(33), region), "33 bytes inline"),
        (lambda: other.post_write(region, region, length=101), "do not lie in"),
        (lambda: other.post_write(b.pd.register(8), region), "another protection domain"),
    ]:
        with pytest.raises(ValueError, match=expected):
            wrong()
    other.post_nop(fence=True)
    other.post_nop(fence=True)
    with pytest.raises(RuntimeError, match="send queue of 2 entries is full"):
        other.post_nop()
