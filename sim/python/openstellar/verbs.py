"""Verbs: the project's driver on simulated hosts with Verilated cards.

What is called here is the driver itself (`driver/`, docs/driver.md). It writes the card's registers, work queue entries and doorbells, and reads
completion rings in simulated host memory, as it does on any card.

    from openstellar import verbs

    pair = verbs.CardPair()
    a, b = (pair.bring_up(host).open() for host in (0, 1))
    source = a.alloc_pd().register(4096)
    ...

`verbs.CardPair` is two hosts, cabled port to port. `verbs.LoneCard` is one NIC by itself: frames come from Python and go to Python.
docs/examples/verbs.py shows both.

Time passes while the driver waits for the card, in register accesses, and in `run`; between calls it stands still. ValueError says that
something cannot be, RuntimeError that it cannot be now, or that the card did not do it.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Literal

from openstellar import _native

if TYPE_CHECKING:
    import numpy
    from scapy.packet import Packet
    from scapy.plist import PacketList

__all__ = [
    "CardPair", "Completion", "CompletionQueue", "Connection", "Context", "Device", "DeviceConfig", "Event", "LoneCard", "MemoryRegion",
    "Path", "PortAddress", "ProtectionDomain", "QueuePair", "RemoteRegion", "SentFrame", "connect",
]  # fmt: skip

CLOCK_NS = 4
"""Nanoseconds of the cards' clock: 250 MHz."""


@dataclass(frozen=True)
class PortAddress:
    """Address of a port; of a peer's port, the MAC address is that of the next hop."""

    mac: str
    """Six bytes in hexadecimal, separated by colons."""
    ip: str
    """IPv4 or IPv6."""

    def _native(self) -> tuple[bytes, str]:
        try:
            mac = bytes.fromhex(self.mac.replace(":", ""))
        except ValueError:
            mac = b""
        if len(mac) != 6:
            raise ValueError(f"{self.mac!r} is no MAC address: write it as 02:00:00:00:00:01")
        return mac, self.ip


def default_ports(host: int) -> tuple[PortAddress, PortAddress]:
    """Addresses of a host's ports, one in each plane: 10.PLANE.0.HOST+1."""
    first, second = (PortAddress(f"02:00:00:{plane:02x}:00:{host + 1:02x}", f"10.{plane}.0.{host + 1}") for plane in (0, 1))
    return first, second


@dataclass(frozen=True)
class DeviceConfig:
    """What a card is told at bring-up."""

    ports: tuple[PortAddress, PortAddress] | None = None
    """Its address in each plane, of one IP version; None: `default_ports` of the host."""
    data_dscp: int = 0
    """Code point of data packets, 6 bits."""
    control_dscp: int = 46
    """Code point of acknowledgements, 6 bits."""
    event_entries: int = 256
    """Entries of the event queue, a power of two up to 2^20."""
    seed: int | None = None
    """Where the queue pairs' choices of paths begin; None: the number of the host."""


@dataclass(frozen=True)
class Completion:
    """A completion (`ibv_wc`)."""

    wr_id: int
    """Of the work request; 0 for something received."""
    status: str
    """"Success", or why not, by the names of `ibv_wc_status`."""
    opcode: str
    """"Write", "WriteImm", "Nop", or "RecvRdmaWithImm" for an immediate that arrived. Means nothing unless the status is success."""
    qp: int
    """Local queue pair."""
    bytes: int
    """Bytes of the message."""
    immediate: int | None
    """Of a WRITE with immediate that was received."""


@dataclass(frozen=True)
class Event:
    """Something that happened without a completion of its own (`ibv_async_event`)."""

    kind: Literal["QueuePairFatal", "CompletionLost", "ImmediateThreshold", "DoorbellRefused"]
    qp: int
    status: str | None = None
    """QueuePairFatal: why."""
    wr_id: int | None = None
    """CompletionLost: of the work request."""
    count: int | None = None
    """ImmediateThreshold: WRITEs with immediate that were received."""
    page: int | None = None
    """DoorbellRefused: the doorbell page that wrote for a queue pair it does not own."""


@dataclass(frozen=True)
class Connection:
    """A queue pair, for its peer."""

    qp: int
    """Its number, 24 bits."""
    psn: int
    """First PSN it sends, 24 bits."""
    ports: tuple[PortAddress, PortAddress]

    def _native(self) -> tuple[int, int, list[tuple[bytes, str]]]:
        return self.qp, self.psn, [port._native() for port in self.ports]


@dataclass(frozen=True)
class RemoteRegion:
    """A memory region, for the peer that writes to it."""

    address: int
    rkey: int
    length: int


@dataclass(frozen=True)
class Path:
    """The way to the peer, and what both ends agree on."""

    mtu: int = 4096
    """Path MTU in bytes: 256, 512, 1024, 2048 or 4096."""
    base_rtt_ns: int = 10_000
    """Round trip when nothing else is on the way, PCIe at both ends included."""
    gbps: int = 400
    """Rate of both planes together."""
    trimming: bool = False
    """Switches trim packets instead of dropping them."""
    policy: Literal["single", "round-robin", "obs", "ev-state"] | None = None
    """How the next packet's path is chosen; None: "obs", or "single" with one path."""
    paths: int = 128
    """Paths in use: 1, or an even number up to 128."""
    max_write_imm: int = 16
    """Most WRITEs with immediate under way in each direction, 1 to 16."""
    imm_completions: bool = True
    """WRITEs with immediate that arrive make completions; otherwise they are only counted."""
    sack_every: int = 16
    """Packets that one SACK may answer while the window is wide, 1 to 32."""


class MemoryRegion:
    """Memory that the card may use for the queue pairs of a protection domain, made by `ProtectionDomain.register`."""

    def __init__(self, native: _native.MemoryRegion) -> None:
        self._native = native
        self.address, self.key, self.length = native.place()

    @property
    def remote(self) -> RemoteRegion:
        """What the peer has to know of it."""
        return RemoteRegion(self.address, self.key, self.length)

    def store(self, data: bytes, offset: int = 0) -> None:
        """Writes as the host's processor or GPU does. Raises ValueError if it does not fit."""
        self._native.store(offset, bytes(data))

    def load(self, offset: int = 0, length: int | None = None) -> bytes:
        """Reads as the host's processor or GPU does, to the end by default. Raises ValueError beyond it."""
        return self._native.load(offset, self.length - offset if length is None else length)

    def array(self, offset: int = 0, length: int | None = None) -> numpy.ndarray:
        """As `load`, as an array of bytes."""
        import numpy

        return numpy.frombuffer(self.load(offset, length), dtype=numpy.uint8)

    def deregister(self) -> None:
        """Takes it from the card and frees its memory. Raises RuntimeError while posted work requests use it."""
        self._native.deregister()


class CompletionQueue:
    """A completion queue, made by `Context.create_cq`. Each of its queue pairs has a ring of its own in it."""

    def __init__(self, native: _native.CompletionQueue) -> None:
        self._native = native

    def poll(self, most: int = 64) -> list[Completion]:
        """Up to `most` completions that are there, those of a queue pair in order. No time passes but that of the register access."""
        return [Completion(**fields) for fields in self._native.poll(most, None)]

    def wait(self, most: int = 64, *, timeout_ns: int = 1_000_000) -> list[Completion]:
        """The same, and waits for the first by the queue's interrupt; none if `timeout_ns` of simulated time have passed.

        Raises RuntimeError if the queue was made without an interrupt.
        """
        return [Completion(**fields) for fields in self._native.poll(most, timeout_ns)]


class QueuePair:
    """A queue pair of MRC, made by `ProtectionDomain.create_qp` in state RESET. `connect` brings two to RTS."""

    def __init__(self, native: _native.QueuePair) -> None:
        self._native = native
        self.number = native.number()
        self._wr_ids: Iterator[int] = count(1)

    @property
    def state(self) -> str:
        """"RESET", "INIT", "RTR", "RTS" or "ERROR". The card's own changes are seen when completions or events are polled."""
        return self._native.state()

    @property
    def outstanding(self) -> int:
        """Work requests that have not completed."""
        return self._native.outstanding()

    def connection(self, psn: int = 0) -> Connection:
        """What its peer has to know, if it will send from `psn` on."""
        qp, psn, ports = self._native.connection(psn)
        first, second = (PortAddress(bytes(mac).hex(":"), ip) for mac, ip in ports)
        return Connection(qp, psn, (first, second))

    def reset(self) -> None:
        """To RESET: nothing of it is left."""
        self._native.to_reset()

    def init(self, *, pkey: int = 0xFFFF, remote_write: bool = True) -> None:
        """RESET to INIT, with its partition key and whether the peer may write."""
        self._native.to_init(pkey, remote_write)

    def ready_to_receive(self, peer: Connection, path: Path | None = None) -> None:
        """INIT to RTR, towards this peer."""
        self._native.to_rtr(peer._native(), asdict(path or Path()))

    def ready_to_send(
        self, psn: int = 0, *, timeout_ns: int = 250_000, retry_count: int = 7, window: int = 1024, early_loss: int = 128
    ) -> None:
        """RTR to RTS: sends from `psn` on, which the peer was told.

        `timeout_ns` is the retransmission timeout of a first transmission, growing linearly for `retry_count` times; `window` the most packets under
        way; `early_loss` how many behind the latest acknowledged packet one counts as lost, from 128 on, or 0 to wait for the timeout.
        """
        self._native.to_rts(psn, timeout_ns, retry_count, window, early_loss)

    def error(self) -> None:
        """To ERROR: what is posted completes as flushed."""
        self._native.to_error()

    def post_write(
        self,
        local: MemoryRegion | bytes,
        remote: MemoryRegion | RemoteRegion,
        *,
        length: int | None = None,
        local_offset: int = 0,
        remote_offset: int = 0,
        immediate: int | None = None,
        wr_id: int | None = None,
        signaled: bool = True,
        fence: bool = False,
    ) -> int:
        """Posts an RDMA WRITE, with immediate if `immediate` is given (`ibv_post_send`). Returns the number its completion has.

        `local` is a region, of which `length` bytes from `local_offset` on are sent (all that is left, by default), or up to 16 bytes that come
        with the entry. `remote` is the peer's region or what it told of it; the card there judges whether the bytes lie in it. Raises
        ValueError for what cannot be posted, RuntimeError if the send queue is full or the state is not RTS.
        """
        region, inline = None, None
        if isinstance(local, MemoryRegion):
            length = local.length - local_offset if length is None else length
            region = (local._native, local_offset, length)
        else:
            if length is not None or local_offset:
                raise ValueError("length and local_offset are for regions: slice the bytes instead")
            inline = bytes(local)
        if isinstance(remote, MemoryRegion):
            remote = remote.remote
        wr_id = next(self._wr_ids) if wr_id is None else wr_id
        self._native.post_write(wr_id, region, inline, (remote.address + remote_offset, remote.rkey), immediate, signaled, fence)
        return wr_id

    def post_nop(self, *, wr_id: int | None = None, fence: bool = False) -> int:
        """Posts a work request that completes when everything before it has. Returns the number its completion has."""
        wr_id = next(self._wr_ids) if wr_id is None else wr_id
        self._native.post_nop(wr_id, fence)
        return wr_id


class ProtectionDomain:
    """What queue pairs may reach, made by `Context.alloc_pd`."""

    def __init__(self, native: _native.ProtectionDomain) -> None:
        self._native = native

    def register(
        self, length: int, *, memory: Literal["host", "gpu"] = "host", page: int = 64 << 10, remote_write: bool = True
    ) -> MemoryRegion:
        """Registers fresh memory: zeroed host memory behind the IOMMU, or GPU memory at its final addresses, which TLPs carry with AT = 10.

        GPU memory comes in whole pages of `page` bytes (4 KiB, 64 KiB, 2 MiB, 1 GiB). `remote_write` lets the peer write.
        """
        return MemoryRegion(self._native.register(length, memory, page, remote_write))

    def create_qp(self, cq: CompletionQueue, *, send_entries: int = 128) -> QueuePair:
        """A queue pair whose completions go to `cq`; its send queue has `send_entries` places, a power of two from 2 to 2^15."""
        return QueuePair(self._native.create_qp(cq._native, send_entries))


class Context:
    """A user of the card, with a doorbell page of its own, made by `Device.open`."""

    def __init__(self, native: _native.Context) -> None:
        self._native = native
        self.page = native.page()

    def alloc_pd(self) -> ProtectionDomain:
        """A protection domain."""
        return ProtectionDomain(self._native.alloc_pd())

    def create_cq(self, entries: int = 64, *, interrupt: bool = True) -> CompletionQueue:
        """A completion queue with room for `entries` completions of each queue pair, a power of two; with `interrupt` it can be waited on."""
        return CompletionQueue(self._native.create_cq(entries, interrupt))

    def poll_event(self) -> Event | None:
        """The next event of this context's objects, if there is one."""
        return self._event(None)

    def wait_event(self, *, timeout_ns: int = 1_000_000) -> Event | None:
        """The same, and waits for it; none if `timeout_ns` of simulated time have passed."""
        return self._event(timeout_ns)

    def _event(self, timeout_ns: int | None) -> Event | None:
        fields = self._native.event(timeout_ns)
        return None if fields is None else Event(**fields)

    def arm_immediates(self, qp: QueuePair, count: int) -> None:
        """Asks for one event when `qp` has received `count` WRITEs with immediate since it was ready to receive."""
        self._native.arm_immediates(qp._native, count)


class Device:
    """A card that is up, made by `CardPair.bring_up` or `LoneCard.bring_up`. It is reset when all that was made from it is gone."""

    def __init__(self, native: _native.Device) -> None:
        self._native = native
        self.attributes: dict[str, int | tuple[int, int]] = native.describe()
        """What was found at bring-up, and how much of everything the card has (`ibv_device_attr`)."""

    def open(self) -> Context:
        """A user of the card."""
        return Context(self._native.open())

    def counters(self) -> dict[str, int]:
        """Packets received by the reason they were dropped for, "None" those that were accepted; only what is not zero. Read from the card."""
        return dict(self._native.counters())


class _Hosts:
    """What simulated hosts have in common."""

    def __init__(self, native: _native.Cards) -> None:
        self._native = native

    def _bring_up(self, host: int, config: DeviceConfig | None) -> Device:
        config = config or DeviceConfig()
        ports = [port._native() for port in config.ports or default_ports(host)]
        seed = host if config.seed is None else config.seed
        return Device(
            self._native.bring_up(host, ports, config.data_dscp, config.control_dscp, config.event_entries, seed)
        )

    def run(self, clocks: int) -> None:
        """Lets time pass, 4 ns per clock."""
        self._native.run(clocks)

    @property
    def time_ns(self) -> int:
        """Simulated time since power-up."""
        return self._native.clocks() * CLOCK_NS


class CardPair(_Hosts):
    """Two hosts, 0 and 1, with a Verilated card each; 200G cables of 100 ns from each port to the same port of the other.

    The first one builds the card's model, which takes minutes unless it is in the cache. `captures` keeps every frame.
    """

    def __init__(self, *, captures: bool = False) -> None:
        super().__init__(_native.Cards.pair(captures))

    def bring_up(self, host: int, config: DeviceConfig | None = None) -> Device:
        """Resets the card of a host and brings it up."""
        return self._bring_up(host, config)

    def strays(self, host: int) -> int:
        """Accesses of a host's card to memory that is not mapped for it, so far: none, unless something is wrong."""
        return self._native.strays(host)

    def captures(self) -> dict[str, bytes]:
        """What has passed each port so far, by its name ("h0.p0" and so on): a pcapng file. Empty unless asked for at the start."""
        return dict(self._native.captures())

    def packets(self, port: str) -> PacketList:
        """Every frame that crossed `port` so far, either way, as scapy packets with their times. Raises KeyError with the ports there are."""
        import scapy.contrib.roce  # binds UDP port 4791
        from scapy.utils import PcapNgReader

        captures = self.captures()
        if port not in captures:
            raise KeyError(f"no capture of port {port!r}; there are: {', '.join(captures) or 'none, captures are off'}")
        with PcapNgReader(io.BytesIO(captures[port])) as reader:
            return reader.read_all()


@dataclass(frozen=True)
class SentFrame:
    """A frame that has left a card."""

    time_ns: float
    """When its last beat left."""
    port: int
    data: bytes = field(repr=False)
    """Destination address to iCRC."""

    def packet(self) -> Packet:
        """As a scapy packet."""
        import scapy.contrib.roce  # binds UDP port 4791
        from scapy.layers.l2 import Ether

        return Ether(self.data)


class LoneCard(_Hosts):
    """One host with a Verilated card: a whole NIC by itself, whose wires end in Python."""

    def __init__(self) -> None:
        super().__init__(_native.Cards.lone())

    def bring_up(self, config: DeviceConfig | None = None) -> Device:
        """Resets the card and brings it up."""
        return self._bring_up(0, config)

    def receive(self, frame: bytes | Packet, port: int = 0) -> None:
        """A frame, destination address to iCRC, begins to arrive at a port, behind those that are still arriving there."""
        self._native.receive(port, bytes(frame))

    def sent(self) -> list[SentFrame]:
        """What has left the card since the last call, in order of time."""
        return [SentFrame(time / 1000, port, data) for time, port, data in self._native.take_sent()]

    def strays(self) -> int:
        """Accesses of the card to memory that is not mapped for it, so far: none, unless something is wrong."""
        return self._native.strays(0)


def connect(first: QueuePair, second: QueuePair, *, psns: tuple[int, int] = (0, 0), path: Path | None = None) -> None:
    """Brings two queue pairs in state RESET to RTS towards each other; `psns` are the first PSNs that they send."""
    told = [qp.connection(psn) for qp, psn in zip((first, second), psns, strict=True)]
    for qp, peer in ((first, told[1]), (second, told[0])):
        qp.init()
        qp.ready_to_receive(peer, path)
    for qp, psn in zip((first, second), psns, strict=True):
        qp.ready_to_send(psn)
