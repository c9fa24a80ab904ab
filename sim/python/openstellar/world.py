"""The simulated world without cocotb: a receive lane, its MAC, the PCIe fabric, and host and GPU memory.

    from openstellar import world

    lane = world.Lane(width=512)
    lane.add_qp(100, pd=7)
    lane.add_region(rkey=0x2A5A, va=0x7F00_0000_0000, length=1 << 20, pd=7, memory="gpu")
    for frame in world.write_frames(b"hello" * 1000, qp=100, va=0x7F00_0000_0000, rkey=0x2A5A):
        lane.receive(frame)
    lane.run()
    assert lane.read(0x7F00_0000_0000, 5) == b"hello"

Every run is compared with the software reference: verdicts, acknowledgement requests, TLPs, and every byte of memory. A difference raises
RuntimeError, whose text has its location.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from openstellar import _native

if TYPE_CHECKING:
    import numpy
    from matplotlib.figure import Figure
    from scapy.plist import PacketList

    from openstellar.verbs import PortAddress

__all__ = ["Lane", "MemoryWrite", "table_words", "write_frames"]

CLOCK_PS = 4_000
"""Length of a cycle of the lane in picoseconds: 250 MHz."""


@dataclass(frozen=True)
class MemoryWrite:
    """A memory write TLP that left the lane."""

    clock: int
    """Cycle in which its last beat left."""
    address: int
    """Address of its first byte: a bus address of the GPU if `translated`, else an IO virtual address."""
    translated: bool
    """Address type AT = 10 instead of 00."""
    data: bytes


class Lane:
    """The receive lane of one 200G port (1,024 bits) or 100G port (512 bits), between a simulated MAC and a simulated PCIe fabric with host and GPU memory.

    `pacing` is how frames arrive: at "line" rate, a beat in every cycle ("every-clock"), or in "random" cycles drawn from `seed`. `max_payload` is
    PCIe's, in bytes: 128, 256, 512 or 1024. `waves` names a wave file (FST) to write. The first use of a width builds its model, which takes a while.

    Raises ValueError for an invalid argument, RuntimeError if the model cannot be built.
    """

    def __init__(
        self,
        width: Literal[512, 1024] = 512,
        *,
        pacing: Literal["line", "every-clock", "random"] = "line",
        seed: int = 0,
        max_payload: int = 256,
        waves: str | Path | None = None,
    ) -> None:
        self._lane = _native.Lane(width, pacing, seed, max_payload, waves)

    def add_qp(
        self,
        number: int,
        *,
        mode: Literal["rc", "mrc"] = "mrc",
        pd: int = 1,
        mtu: int = 4096,
        psn: int = 0,
        pkey: int = 0xFFFF,
        remote_write: bool = True,
    ) -> None:
        """Creates queue pair `number` (2 to 1023), ready to receive from `psn` on. `mtu` is the path MTU in bytes."""
        self._lane.add_qp(number, mode, pd, mtu, psn, pkey, remote_write)

    def add_region(
        self,
        *,
        rkey: int,
        va: int,
        length: int,
        pd: int = 1,
        page: int = 2 << 20,
        memory: Literal["gpu", "host"] = "gpu",
    ) -> None:
        """Registers `length` bytes from `va` under `rkey`, on fresh pages of `page` bytes in GPU or host memory."""
        self._lane.add_region(rkey, va, length, pd, page, memory)

    def receive(self, frame: Any, *, mac_error: bool = False) -> None:
        """Queues a frame for reception: bytes from the destination address on, without FCS, or a scapy packet."""
        self._lane.receive(bytes(frame), mac_error)

    def run(self) -> None:
        """Simulates until everything queued is finished and in memory, and compares with the reference."""
        self._lane.run()

    @property
    def verdicts(self) -> list[str]:
        """The outcome of each frame, in order: "None" if it was accepted, otherwise the drop reason."""
        return self._lane.verdicts()

    @property
    def counters(self) -> dict[str, int]:
        """The lane's counters by drop reason; "None" counts accepted packets. Reading them takes cycles."""
        return self._lane.counters()

    @property
    def acks(self) -> list[dict[str, Any]]:
        """Acknowledgement requests to the transmit side, with the fields of their kind."""
        return self._lane.acks()

    @property
    def writes(self) -> list[MemoryWrite]:
        """Memory writes that left the lane, in order."""
        return [MemoryWrite(*write) for write in self._lane.writes()]

    @property
    def time_ps(self) -> int:
        """Simulated time in picoseconds."""
        return self._lane.time_ps()

    def read(self, va: int, length: int) -> bytes:
        """The bytes that the lane wrote to `length` bytes from `va`; bytes that it did not write are zero. Raises ValueError outside of regions."""
        return self._lane.read(va, length)

    def memory(self, va: int, length: int) -> numpy.ndarray:
        """As `read`, but returns an array of bytes."""
        import numpy

        return numpy.frombuffer(self.read(va, length), dtype=numpy.uint8)

    def packets(self) -> PacketList:
        """Every frame received, as scapy packets; RoCE headers are dissected."""
        import scapy.contrib.roce  # binds UDP port 4791
        from scapy.layers.l2 import Ether
        from scapy.plist import PacketList

        return PacketList([Ether(frame) for frame in self._lane.frames()], name="received")

    def throughput(self, window_clocks: int = 64) -> tuple[numpy.ndarray, numpy.ndarray]:
        """Payload written over PCIe: start of each window in nanoseconds, and Gb/s within it."""
        import numpy

        if window_clocks < 1:
            raise ValueError(f"a window holds at least one clock, not {window_clocks}")
        clocks = numpy.array([write.clock for write in self.writes], dtype=numpy.int64)
        sizes = numpy.array([len(write.data) for write in self.writes], dtype=numpy.float64)
        count = int(clocks.max() // window_clocks) + 1 if clocks.size else 0
        written = numpy.bincount(clocks // window_clocks, weights=sizes, minlength=count) if count else numpy.zeros(0)
        nanoseconds = CLOCK_PS / 1000
        return numpy.arange(count) * window_clocks * nanoseconds, written * 8 / (window_clocks * nanoseconds)

    def plot(self, window_clocks: int = 64) -> Figure:
        """Plots throughput over time, and the place of each write. Needs matplotlib."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(9, 5), layout="constrained")
        rate, places = figure.subplots(2, 1, sharex=True)
        times, gigabits = self.throughput(window_clocks)
        rate.step(times, gigabits, where="post")
        rate.set_ylabel("PCIe writes, Gb/s")
        for translated, name in ((True, "GPU (AT = 10)"), (False, "host (AT = 00)")):
            chosen = [write for write in self.writes if write.translated == translated]
            if chosen:
                first = min(write.address for write in chosen)
                x = [write.clock * CLOCK_PS / 1000 for write in chosen]
                places.plot(x, [(write.address - first) / 1024 for write in chosen], ".", label=name)
        places.set_xlabel("time, ns")
        places.set_ylabel("address, KiB from the first")
        if self.writes:
            places.legend()
        return figure

    def close_waves(self) -> None:
        """Finishes the wave file, if there is one."""
        self._lane.close_waves()


def write_frames(
    data: bytes,
    *,
    qp: int,
    va: int,
    rkey: int,
    psn: int = 0,
    mtu: int = 4096,
    mode: Literal["rc", "mrc"] = "mrc",
    msn: int = 0,
    ipv6: bool = False,
    srv6: bool = False,
    source: PortAddress | None = None,
    destination: PortAddress | None = None,
    seed: int = 0,
) -> Sequence[bytes]:
    """The frames of one RDMA WRITE of `data` to `va`, in sending order. Entropy and SRv6 paths are drawn from `seed`.

    A card accepts frames from the `source` that its queue pair knows as its peer, and for the `destination` that is its port. Without both, the
    addresses are those of no card: a lane by itself does not look at them.
    """
    if (source is None) != (destination is None):
        raise ValueError("write_frames takes source and destination, or neither")
    addresses = None if source is None or destination is None else (source._native(), destination._native())
    return _native.write_frames(
        data,
        qp=qp,
        psn=psn,
        va=va,
        rkey=rkey,
        mtu=mtu,
        mrc=mode == "mrc",
        msn=msn,
        ipv6=ipv6,
        srv6=srv6,
        addresses=addresses,
        seed=seed,
    )


def table_words(
    *, qp: int, mode: Literal["rc", "mrc"], pd: int, mtu: int, psn: int, rkey: int, va: int, length: int, bus: int
) -> list[list[int]]:
    """Writes to the lane's table port, for a bench that drives the port itself.

    They create a queue pair, and a region of contiguous 2 MiB GPU pages from bus address `bus` on. Each write is a packed `TableWrite` as 32-bit
    words, lowest first.
    """
    return _native.table_words(qp=qp, mode=mode, pd=pd, mtu=mtu, psn=psn, rkey=rkey, va=va, length=length, bus=bus)
