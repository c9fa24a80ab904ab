"""The end of the transmit lane: records and payload in, frames out. scapy computes the expected frames, iCRC and checksums included."""

from __future__ import annotations

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge, with_timeout
from cocotbext.axi import AxiStreamBus, AxiStreamFrame, AxiStreamSink, AxiStreamSource
from openstellar.records import Record
from scapy.compat import raw
from scapy.contrib.roce import BTH
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Packet, Raw
from streams import sometimes

WRITE_ONLY, WRITE_MIDDLE, ACKNOWLEDGE = 0x0A, 0x07, 0x11
SOURCE, DESTINATION = 0x0200_0000_0001, 0x0200_0000_0002


def mac(number: int) -> str:
    return ":".join(f"{byte:02x}" for byte in number.to_bytes(6, "big"))


class Item:
    """A random packet: scapy's frame, and the record that must give the same."""

    def __init__(self, opcode: int, payload: bytes = b"", *, tagged: bool = False, version6: bool = False) -> None:
        dscp, ecn, hops, sport = random.randrange(64), random.randrange(4), random.randrange(1, 256), random.randrange(1 << 16)
        qp, psn, ident, flow = (random.randrange(1 << bits) for bits in (24, 24, 16, 20))
        va, rkey, dma_length = (random.getrandbits(bits) for bits in (64, 32, 32))
        syndrome, msn = random.randrange(1 << 8), random.randrange(1 << 24)
        bits = 128 if version6 else 32
        addresses = [random.getrandbits(bits) | 1 << (bits - 2) for _ in range(2)]
        self.payload = payload
        extension = b""
        if opcode == WRITE_ONLY:
            extension = va.to_bytes(8, "big") + rkey.to_bytes(4, "big") + dma_length.to_bytes(4, "big")
        elif opcode == ACKNOWLEDGE:
            extension = bytes([syndrome]) + msn.to_bytes(3, "big")
        pad = -len(payload) % 4
        bth = BTH(opcode=opcode, migreq=1, padcount=pad, dqpn=qp, ackreq=1, psn=psn)
        link: Packet = Ether(src=mac(SOURCE), dst=mac(DESTINATION))
        if tagged:
            link = link / Dot1Q(prio=5, id=0, vlan=0x123)
        text = [".".join(str(byte) for byte in address.to_bytes(4, "big")) for address in addresses] if not version6 else [
            ":".join(f"{address >> shift & 0xFFFF:x}" for shift in range(112, -1, -16)) for address in addresses
        ]  # fmt: skip
        network: Packet
        if version6:
            network = IPv6(src=text[0], dst=text[1], tc=dscp << 2 | ecn, fl=flow, hlim=hops)
        else:
            network = IP(src=text[0], dst=text[1], tos=dscp << 2 | ecn, ttl=hops, id=ident, flags="DF")
        self.frame = raw(link / network / UDP(sport=sport, dport=4791, chksum=0) / bth / Raw(extension + payload + bytes(pad)))
        self.record = Record("TxPacket").pack(
            {
                "ethernet.destination": DESTINATION, "ethernet.source": SOURCE, "ethernet.tagged": int(tagged), "ethernet.tag": 5 << 13 | 0x123,
                "ip.version6": int(version6), "ip.source": addresses[0], "ip.destination": addresses[1], "ip.dscp": dscp, "ip.ecn": ecn,
                "ip.hop_limit": hops, "ip.identification": ident, "ip.flow_label": flow, "udp_source": sport, "udp_destination": 4791,
                "bth.opcode": opcode, "bth.mig_req": 1, "bth.ack_req": 1, "bth.pkey": 0xFFFF, "bth.dest_qp": qp, "bth.psn": psn,
                "extensions.reth.va": va, "extensions.reth.rkey": rkey, "extensions.reth.dma_length": dma_length,
                "extensions.aeth.syndrome": syndrome, "extensions.aeth.msn": msn, "payload_length": len(payload),
            }
        )  # fmt: skip


class Bench:
    """A reset transmit front with everything connected."""

    def __init__(self, dut) -> None:
        self.dut = dut
        Clock(dut.clk, 4, "ns").start()

        def stream(name: str) -> AxiStreamBus:
            return AxiStreamBus.from_prefix(dut, name)

        self.packets = AxiStreamSource(stream("s_axis_packet"), dut.clk, dut.rst, byte_lanes=1)
        self.payloads = AxiStreamSource(stream("s_axis_payload"), dut.clk, dut.rst)
        self.mac = AxiStreamSink(stream("m_axis_mac"), dut.clk, dut.rst)
        self.left_out = 0
        cocotb.start_soon(self._count())

    async def start(self) -> None:
        self.dut.rst.value = 1
        await ClockCycles(self.dut.clk, 5)
        self.dut.rst.value = 0
        await ClockCycles(self.dut.clk, 2)

    async def _count(self) -> None:
        while True:
            await RisingEdge(self.dut.clk)
            self.left_out += self.dut.left_out.value == 1

    async def send(self, item: Item, *, failed: bool = False, answers: bool = False) -> None:
        await self.packets.send(AxiStreamFrame([item.record], tuser=int(answers)))
        if failed:
            await self.payloads.send(AxiStreamFrame(bytes(64), tuser=1))
        elif item.payload:
            await self.payloads.send(AxiStreamFrame(item.payload))

    async def frame(self) -> bytes:
        """The next frame to the MAC."""
        return bytes((await with_timeout(self.mac.recv(), 20, "us")).tdata)


@cocotb.test()
@cocotb.parametrize(version6=[False, True], tagged=[False, True])
async def frames_are_those_scapy_makes(dut, version6, tagged):
    """Payloads with lengths around the ends of beats, and packets without payload, while the MAC stalls the lane."""
    bench = Bench(dut)
    bench.mac.set_pause_generator(sometimes(0.3))
    bench.payloads.set_pause_generator(sometimes(0.2))
    await bench.start()
    lengths = [1, 2, 3, 4, 5, 61, 64, 65, 127, 129, 1000, 4096, 8192]
    items = [Item(random.choice([WRITE_ONLY, WRITE_MIDDLE]), random.randbytes(n), tagged=tagged, version6=version6) for n in lengths]
    items += [Item(ACKNOWLEDGE, tagged=tagged, version6=version6) for _ in range(4)]
    random.shuffle(items)
    for item in items:
        await bench.send(item)
    for n, item in enumerate(items):
        assert await bench.frame() == item.frame, f"frame {n} of {len(item.payload)} bytes of payload"
    assert dut.payload_mismatch.value == 0


@cocotb.test()
async def a_frame_without_its_payload_is_left_out(dut):
    bench = Bench(dut)
    await bench.start()
    items = [Item(WRITE_ONLY, random.randbytes(600)) for _ in range(5)]
    for n, item in enumerate(items):
        await bench.send(item, failed=n in (1, 3))
    for n in (0, 2, 4):
        assert await bench.frame() == items[n].frame
    await ClockCycles(dut.clk, 100)
    assert bench.mac.empty() and dut.payload_mismatch.value == 0
    assert bench.left_out == 2


@cocotb.test()
async def a_frame_that_has_begun_never_pauses(dut):
    """After the first beat of a frame, every cycle has one, because the MAC must not wait inside a frame."""
    bench = Bench(dut)
    bench.payloads.set_pause_generator(sometimes(0.5))
    await bench.start()
    items = [Item(WRITE_MIDDLE, random.randbytes(random.randrange(200, 4097))) for _ in range(6)]
    for item in items:
        await bench.send(item)
    for item in items:
        received = await with_timeout(bench.mac.recv(compact=False), 20, "us")
        beats = -(-len(item.frame) // 64)
        assert received.sim_time_end - received.sim_time_start == (beats - 1) * 4000, "a clock without a beat"


@cocotb.test()
async def acknowledgements_pass_requests_that_wait_for_payload(dut):
    bench = Bench(dut)
    bench.payloads.pause = True
    await bench.start()
    requests = [Item(WRITE_ONLY, random.randbytes(600)) for _ in range(20)]
    answers = [Item(ACKNOWLEDGE) for _ in range(40)]
    for item in requests:
        await bench.send(item)
    for item in answers:
        await bench.send(item, answers=True)
    for item in answers:
        assert await bench.frame() == item.frame
    await ClockCycles(dut.clk, 100)
    assert bench.mac.empty()
    bench.payloads.pause = False
    for item in requests:
        assert await bench.frame() == item.frame
