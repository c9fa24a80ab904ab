"""What verbs are told, and what they tell."""

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
    """Path MTU in bytes: 256, 512, 1024, 2048, 4096 or 8192."""
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
    sack_every: int | None = None
    """Packets that one SACK may answer while the window is wide, 1 to 63; None: those of 16 KiB, but 16 at least."""
