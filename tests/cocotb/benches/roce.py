"""RoCEv2 frames, made by scapy."""

from __future__ import annotations

from scapy.compat import raw
from scapy.contrib.roce import BTH
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Raw

DESTINATION_MAC, DESTINATION_IP = "02:00:00:00:00:02", "10.0.0.2"
WRITE_ONLY, WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST = 0x0A, 0x06, 0x07, 0x08


def roce_write(
    opcode: int, psn: int, payload: bytes, *, qp: int, rkey: int, va: int, dma_length: int | None = None, ack: bool = False
) -> bytes:
    """An RC WRITE packet over IPv4, with its iCRC computed by scapy."""
    reth = b""
    if opcode in (WRITE_ONLY, WRITE_FIRST):
        length = len(payload) if dma_length is None else dma_length
        reth = va.to_bytes(8, "big") + rkey.to_bytes(4, "big") + length.to_bytes(4, "big")
    pad = -len(payload) % 4
    bth = BTH(opcode=opcode, dqpn=qp, psn=psn & 0xFFFFFF, padcount=pad, ackreq=int(ack), migreq=1)
    ip = IP(src="10.0.0.1", dst=DESTINATION_IP, ttl=64, flags="DF", id=0)
    link = Ether(src="02:00:00:00:00:01", dst=DESTINATION_MAC)
    return raw(link / ip / UDP(sport=0xC123, dport=4791, chksum=0) / bth / Raw(reth + payload + bytes(pad)))
