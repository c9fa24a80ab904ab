"""Attributes and results of verbs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


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
    """Configuration of a card at bring-up."""

    ports: tuple[PortAddress, PortAddress] | None = None
    """Its address in each plane, of one IP version; None: `default_ports` of the host."""
    data_dscp: int = 0
    """Code point of data packets, 6 bits."""
    control_dscp: int = 46
    """Code point of acknowledgements, 6 bits."""
    event_entries: int = 256
    """Entries of the event queue, a power of two up to 2^20."""
    seed: int | None = None
    """Seed of the queue pairs' choices of paths; None: the number of the host."""


@dataclass(frozen=True)
class PathCounts:
    """What a card has counted on one path of a queue pair."""

    sent: int
    """Data packets, retransmissions included."""
    marked: int
    """SACKs that reflect the path with a congestion mark."""
    lost: int
    """Packets that were taken for lost."""


@dataclass(frozen=True)
class Completion:
    """A completion (`ibv_wc`)."""

    wr_id: int
    """Number of the work request; 0 for a receive completion."""
    status: str
    """"Success", or the reason of the failure, by the names of `ibv_wc_status`."""
    opcode: str
    """"Write", "WriteImm", "Nop", or "RecvRdmaWithImm" for an immediate that arrived. Valid only if the status is success."""
    qp: int
    """Local queue pair."""
    bytes: int
    """Bytes of the message."""
    immediate: int | None
    """Immediate of a received WRITE."""


@dataclass(frozen=True)
class Event:
    """An event that has no completion of its own (`ibv_async_event`)."""

    kind: Literal[
        "QueuePairFatal",
        "CompletionLost",
        "ImmediateThreshold",
        "DoorbellRefused",
        "PayloadReadFailed",
        "EntryReadFailed",
        "FlushReadFailed",
    ]
    qp: int | None
    """The queue pair. None for FlushReadFailed, which several may have."""
    status: str | None = None
    """QueuePairFatal: the reason."""
    wr_id: int | None = None
    """CompletionLost: the work request."""
    count: int | None = None
    """ImmediateThreshold: WRITEs with immediate that were received."""
    page: int | None = None
    """DoorbellRefused: the doorbell page that rang for a queue pair of another page."""
    address: int | None = None
    """PayloadReadFailed, EntryReadFailed, FlushReadFailed: the bus address."""
    function: int | None = None
    """FlushReadFailed: the endpoint that wrote, 0 or 1."""


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
    """The path to the peer, and attributes that both ends share."""

    mtu: int = 4096
    """Path MTU in bytes: 256, 512, 1024, 2048, 4096 or 8192."""
    base_rtt_ns: int = 10_000
    """Round trip of an idle network, including PCIe at both ends."""
    gbps: int = 400
    """Rate of both planes together."""
    trimming: bool = False
    """Whether switches trim packets instead of dropping them."""
    policy: Literal["single", "round-robin", "obs", "ev-state", "bitmap", "reps", "mixed", "flow-bender", "hopper", "hp3"] | None = None
    """Policy that chooses the path of each packet; None: "obs", or "single" with one path."""
    paths: int = 128
    """Paths in use: 1, or an even number up to the active values of the profile."""
    profile: int = 0
    """Number of the entropy profile that has the values of the paths (`Device.set_explicit_profile`). Profile 0 has 128 values from the start."""
    max_write_imm: int = 16
    """Most outstanding WRITEs with immediate in each direction, 1 to the card's `write_imm`; both ends use the same number."""
    imm_completions: bool = True
    """Whether received WRITEs with immediate make completions; otherwise they are only counted."""
    sack_every: int | None = None
    """Packets that one SACK may cover while the window is wide, 1 to 63; None: those of 16 KiB, but at least 16."""
