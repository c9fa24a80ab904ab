"""The parser of the receive lane: the fields that scapy wrote into a packet, and the reason against it."""

from __future__ import annotations

import random
from ipaddress import ip_address

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge
from openstellar.records import Record
from scapy.compat import raw
from scapy.contrib.roce import BTH
from scapy.layers.inet import ICMP, IP, TCP, UDP, IPOption, fragment
from scapy.layers.inet6 import IPv6, IPv6ExtHdrHopByHop, fragment6
from scapy.packet import Packet, Raw

PERIOD_NS, PORT = 4, 4791
LATENCY = 5
"""Cycles from a packet to its headers (`LATENCY` in `hdl/rx_pipeline/src/parse.rs`)."""
HEADERS = Record("PacketHeaders")
POSITIONS = {6: "First", 7: "Middle", 8: "Last", 9: "Last", 10: "Only", 11: "Only"}
"""Positions of RC WRITE opcodes."""
WITH_RETH, WITH_IMMEDIATE = {6, 10, 11}, {9, 11}


async def parse(dut, packets: list[bytes], other_mac: bool = False) -> list[dict[str, int]]:
    """Sends packets, which begin with the IP header, one per cycle; returns the headers of each."""
    Clock(dut.clock, PERIOD_NS, "ns").start()
    dut.udp_port.value = PORT
    info, window = Record("FrameInfo"), len(dut.in_window) // 8
    found = []
    for packet in packets + packets[-1:] * LATENCY:
        # Bytes beyond the end of a packet may have any value.
        beginning = (packet + random.randbytes(window))[:window]
        dut.in_window.value = int.from_bytes(beginning, "little")
        dut.in_info.value = info.pack({"outer.ipv6": int(packet[0] >> 4 == 6), "outer.other_mac": int(other_mac), "bytes": len(packet)})
        await RisingEdge(dut.clock)
        found.append(HEADERS.unpack(dut.out_headers.value))
    return found[LATENCY:]


async def reasons(dut, packets: list[Packet]) -> list[str]:
    """The reason against each packet."""
    return [HEADERS.value_name("reason", headers["reason"]) for headers in await parse(dut, [raw(packet) for packet in packets])]


def any_ip(ipv6: bool) -> Packet:
    """An IP header with random values, without "do not fragment"."""
    traffic_class = random.getrandbits(8)
    if ipv6:
        return IPv6(src="2001:db8::1", dst="2001:db8::2", tc=traffic_class, fl=random.getrandbits(20))
    return IP(src="10.0.0.1", dst="10.0.0.2", tos=traffic_class, id=random.getrandbits(16), flags=0)


def any_write(ip: Packet, length: int) -> tuple[Packet, dict[str, int | str]]:
    """An RC WRITE packet with random fields and `length` bytes of payload, and the headers to expect."""
    opcode = random.choice(list(POSITIONS))
    bits = random.getrandbits
    fields: dict[str, int | str] = {"reason": "None", "position": POSITIONS[opcode], "payload_length": length}
    fields |= {"ack_req": bits(1), "solicited": bits(1), "pkey": bits(16), "dest_qp": bits(24), "psn": bits(24)}
    extension = b""
    if opcode in WITH_RETH:
        reth = {"va": (bits(64), 8), "rkey": (bits(32), 4), "dma_length": (bits(32), 4)}
        extension += b"".join(value.to_bytes(size, "big") for value, size in reth.values())
        fields |= {"has_reth": 1, **{name: value for name, (value, _) in reth.items()}}
    if opcode in WITH_IMMEDIATE:
        immediate = bits(32)
        extension += immediate.to_bytes(4, "big")
        fields |= {"has_immediate": 1, "immediate": immediate}
    pad = -length % 4
    udp = UDP(sport=bits(16), dport=PORT, chksum=0)
    bth = BTH(opcode=opcode, solicited=fields["solicited"], padcount=pad, pkey=fields["pkey"], dqpn=fields["dest_qp"])
    bth.ackreq, bth.psn = fields["ack_req"], fields["psn"]
    ipv6 = isinstance(ip, IPv6)
    fields["payload_offset"] = (40 if ipv6 else 20) + 8 + 12 + len(extension)
    fields["entropy"] = (ip.fl & 0xFFFF) << 16 | udp.sport if ipv6 else udp.sport
    fields["ecn_ce"] = int((ip.tc if ipv6 else ip.tos) & 3 == 3)
    return ip / udp / bth / Raw(extension + random.randbytes(length + pad)), fields


@cocotb.test()
async def fields_are_those_that_scapy_wrote(dut):
    """RC WRITE packets over both IP versions, one per cycle."""
    writes = [any_write(any_ip(ipv6=random.random() < 0.5), random.choice([0, 1, 64, random.randrange(8193)])) for _ in range(300)]
    found = await parse(dut, [raw(packet) for packet, _ in writes])
    for (packet, expected), headers in zip(writes, found, strict=True):
        assert headers == HEADERS.unpack(HEADERS.pack(expected)), packet.summary()


@cocotb.test()
async def every_piece_of_a_fragmented_write_is_a_fragment(dut):
    """Scapy fragments packets as a router (IPv4) or a sender (IPv6) does."""
    pieces = []
    for ipv6 in [False, True] * 20:
        packet, _ = any_write(any_ip(ipv6=ipv6), random.randrange(1500, 8192))
        pieces += fragment6(IPv6(raw(packet)), 1280) if ipv6 else fragment(packet, fragsize=random.choice([576, 1280, 1480]))
    assert len(pieces) >= 80
    assert set(await reasons(dut, pieces)) == {"IpFragment"}


@cocotb.test()
async def a_write_for_another_address_is_foreign(dut):
    """The address of the port is written as Python's `ipaddress` reads it, the packets as scapy does."""
    for ipv6, own, other in [(False, "10.0.0.2", "10.0.0.3"), (True, "2001:db8::2", "2001:db8:0:1::2")]:
        writes = []
        for destination in (own, other) * 10:
            ip = any_ip(ipv6)
            ip.dst = destination
            writes.append(raw(any_write(ip, random.randrange(200))[0]))

        dut.own.value = Record("OwnAddress").pack({"checked": 1, "known": 1, "ip": int(ip_address(own))})
        expected = ["None", "ForeignDestination"] * 10
        assert [HEADERS.value_name("reason", headers["reason"]) for headers in await parse(dut, writes)] == expected
        found = await parse(dut, writes, other_mac=True)
        assert {HEADERS.value_name("reason", headers["reason"]) for headers in found} == {"ForeignDestination"}
        dut.own.value = 0
        assert {headers["reason"] for headers in await parse(dut, writes, other_mac=True)} == {0}


@cocotb.test()
async def what_is_not_a_good_write_has_its_reason(dut):
    def write(ip: Packet | None = None, length: int = 8) -> Packet:
        return any_write(ip or any_ip(ipv6=False), length)[0]

    def changed(layer: type[Packet], **values: int) -> Packet:
        packet = write()
        for name, value in values.items():
            setattr(packet[layer], name, value)
        return packet

    length = len(raw(write()))
    cases = [
        (any_ip(ipv6=False) / TCP(), "NotRoce"),
        (any_ip(ipv6=True) / TCP(), "NotRoce"),
        (write(any_ip(ipv6=True) / IPv6ExtHdrHopByHop()), "NotRoce"),
        (IP(flags="MF") / ICMP() / Raw(bytes(64)), "NotRoce"),
        (write(IP(options=[IPOption(b"\x01\x01\x01\x00")])), "NotRoce"),
        (changed(IP, chksum=1), "BadIpChecksum"),
        (changed(IP, chksum=1, frag=3), "BadIpChecksum"),
        (changed(IP, frag=3), "IpFragment"),
        (changed(UDP, dport=53), "WrongUdpPort"),
        (changed(UDP, len=length), "BadLength"),
        (changed(BTH, version=1), "UnsupportedOpcode"),
        (changed(BTH, opcode=0x64), "UnsupportedOpcode"),
    ]
    packets, expected = zip(*cases, strict=True)
    assert await reasons(dut, list(packets)) == list(expected)
