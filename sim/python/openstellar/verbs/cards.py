"""Simulated hosts with Verilated cards."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from openstellar import _native
from openstellar.verbs.attributes import DeviceConfig, default_ports
from openstellar.verbs.objects import Device

if TYPE_CHECKING:
    from scapy.packet import Packet
    from scapy.plist import PacketList

CLOCK_NS = 4
"""Nanoseconds per cycle of the cards' clock: 250 MHz."""


class _Hosts:
    """Common base of simulated hosts."""

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
        """Advances time, 4 ns per cycle."""
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

    def bad_accesses(self, host: int) -> int:
        """Accesses of a host's card to memory that is not mapped for it, so far. Zero unless there is an error."""
        return self._native.bad_accesses(host)

    def captures(self) -> dict[str, bytes]:
        """The frames that have passed each port so far, by its name ("h0.p0" and so on): a pcapng file. Empty without `captures`."""
        return dict(self._native.captures())

    def packets(self, port: str) -> PacketList:
        """Every frame that crossed `port` so far, in both directions, as scapy packets with their times. Raises KeyError with the existing ports."""
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
    """Time at which its last beat left."""
    port: int
    data: bytes = field(repr=False)
    """Destination address to iCRC."""

    def packet(self) -> Packet:
        """As a scapy packet."""
        import scapy.contrib.roce  # binds UDP port 4791
        from scapy.layers.l2 import Ether

        return Ether(self.data)


class LoneCard(_Hosts):
    """One host with a Verilated card: a whole NIC by itself, whose frames Python sends and receives."""

    def __init__(self) -> None:
        super().__init__(_native.Cards.lone())

    def bring_up(self, config: DeviceConfig | None = None) -> Device:
        """Resets the card and brings it up."""
        return self._bring_up(0, config)

    def receive(self, frame: bytes | Packet, port: int = 0) -> None:
        """Sends a frame, destination address to iCRC, to a port. It begins to arrive behind those that are still arriving there."""
        self._native.receive(port, bytes(frame))

    def sent(self) -> list[SentFrame]:
        """The frames that have left the card since the last call, in order of time."""
        return [SentFrame(time / 1000, port, data) for time, port, data in self._native.take_sent()]

    def bad_accesses(self) -> int:
        """Accesses of the card to memory that is not mapped for it, so far. Zero unless there is an error."""
        return self._native.bad_accesses(0)
