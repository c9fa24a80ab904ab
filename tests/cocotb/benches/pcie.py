"""The PCIe side of `pcie_endpoint_axis` against cocotbext-pcie: a root complex, its memory, and AMD's UltraScale+ block."""

from __future__ import annotations

from cocotb.triggers import RisingEdge, Timer
from cocotbext.axi import AxiStreamBus, AxiStreamFrame, AxiStreamSink, AxiStreamSource
from cocotbext.pcie.core import RootComplex
from cocotbext.pcie.core.tlp import Tlp
from cocotbext.pcie.xilinx.us import UltraScalePlusPcieDevice
from openstellar.records import Record
from streams import offer, sometimes

BEAT = 64
TRANSLATED, UNTRANSLATED = 0b10, 0b00
# MSI-X: vectors, and the offset of their pending bits in BAR4.
VECTORS, PENDING = 64, 0x800


class Block(UltraScalePlusPcieDevice):
    """AMD's block, with a record of the TLPs that it sent upstream."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self.sent: list[Tlp] = []

    async def send(self, tlp: Tlp) -> None:
        self.sent.append(tlp)
        await super().send(tlp)


class Endpoint:
    """The card behind a root complex, enumerated and with bus master enabled."""

    def __init__(self, dut, pauses: float = 0.0) -> None:
        self.dut = dut
        self.root = RootComplex()
        self.block = Block(
            max_payload_size=512,
            enable_extended_tag=True,
            rq_straddle=True,
            rc_4tlp_straddle=True,
            user_clk=dut.user_clk,
            user_reset=dut.user_reset,
            rq_bus=AxiStreamBus.from_prefix(dut, "s_axis_rq"),
            rc_bus=AxiStreamBus.from_prefix(dut, "m_axis_rc"),
            cq_bus=AxiStreamBus.from_prefix(dut, "m_axis_cq"),
            cc_bus=AxiStreamBus.from_prefix(dut, "s_axis_cc"),
            cfg_max_payload=dut.cfg_max_payload,
            cfg_max_read_req=dut.cfg_max_read_req,
            cfg_interrupt_msix_enable=dut.cfg_interrupt_msix_enable,
            cfg_interrupt_msix_mask=dut.cfg_interrupt_msix_mask,
            # The table in BAR4 has a size of vectors less one.
            pf0_msix_enable=True,
            pf0_msix_table_size=VECTORS - 1,
            pf0_msix_table_bir=4,
            pf0_msix_pba_bir=4,
            pf0_msix_pba_offset=PENDING,
        )
        self.block.functions[0].configure_bar(4, 1 << 12, ext=True)
        self.root.make_port().connect(self.block)

        def stream(name: str) -> AxiStreamBus:
            return AxiStreamBus.from_prefix(dut, name)

        ports = (dut.user_clk, dut.user_reset)
        self.places = AxiStreamSource(stream("s_axis_place"), *ports, byte_lanes=1)
        self.reads = AxiStreamSource(stream("s_axis_read"), *ports, byte_lanes=1)
        self.payloads = AxiStreamSink(stream("m_axis_read"), *ports)
        self.completions = AxiStreamSource(stream("s_axis_completion"), *ports, byte_lanes=1)
        for name in ("frame_write", "refused_valid", "ring_valid", "event_ring_valid", "consumer_valid", "read_timeout"):
            getattr(dut, name).value = 0
        if pauses:
            for port in (self.block.rq_sink, self.block.rc_source, self.block.cq_source, self.block.cc_sink, self.payloads):
                port.set_pause_generator(sometimes(pauses))

    async def start(self) -> None:
        """Enumerates, with a maximum payload of 256 and a maximum read request of 512 bytes."""
        self.device = await enumerated(self.root, self.block)
        await self.device.set_master()
        # The read engine clears its tags after a reset.
        await Timer(1200, "ns")
        self.block.sent.clear()

    async def command(self, port: AxiStreamSource, record: str, fields: dict[str, int]) -> None:
        """Sends a record."""
        await port.send(AxiStreamFrame([Record(record).pack(fields)]))

    async def offer(self, name: str, **signals: int) -> None:
        """Holds `name`_valid with `signals` beside it until `name`_ready."""
        await offer(self.dut, self.dut.user_clk, name, **signals)

    async def frame(self, beat: int, data: bytes) -> None:
        """Puts a frame into the packet buffer from `beat` on."""
        self.dut.frame_write.value = 1
        for n in range(0, len(data), BEAT):
            self.dut.frame_beat.value = (beat + n // BEAT) % 4096
            self.dut.frame_data.value = int.from_bytes(data[n : n + BEAT], "little")
            await RisingEdge(self.dut.user_clk)
        self.dut.frame_write.value = 0


async def enumerated(root: RootComplex, block: UltraScalePlusPcieDevice):
    """Enumerates, with a maximum payload of 256 and a maximum read request of 512 bytes. Returns the card as the root complex sees it."""
    # PCIe encodes these sizes as a shift of 128 bytes.
    root.max_payload_size = 1
    root.max_read_request_size = 2
    await root.enumerate()
    device = root.find_device(block.functions[0].pcie_id)
    await device.enable_device()
    return device


def segments(first: tuple[int, int], length: int, second: tuple[int, int] | None = None, cut: int | None = None) -> dict[str, int]:
    """The segments of `length` bytes: address and address type of the first segment, and of the second from `cut` bytes on."""
    address, at = first
    there, other = second or (0, UNTRANSLATED)
    return {
        "segments.first_length": length if cut is None else cut,
        "segments.first_address": address,
        "segments.first_translated": int(at == TRANSLATED),
        "segments.second_address": there,
        "segments.second_translated": int(other == TRANSLATED),
    }


async def until(condition, what: str, microseconds: int = 20) -> None:
    """Waits until `condition()` holds."""
    for _ in range(microseconds * 10):
        if condition():
            return
        await Timer(100, "ns")
    raise AssertionError(f"after {microseconds} us still not: {what}")
