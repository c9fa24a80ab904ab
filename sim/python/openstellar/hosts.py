"""Two hosts with NICs on a fabric, step by step: register memory, post work, advance time, inspect the results.

    from openstellar import hosts

    world = hosts.World(nic="rtl", qps=2, loss=("p0.leaf0-spine5", 0.01))
    source = world.sender.register(1 << 20, memory="gpu")
    target = world.receiver.register(1 << 20, memory="host", page=4096)
    source.store(b"some payload")
    work = world.sender.write(source, target, length=4096)
    world.run()
    assert target.load(0, 12) == b"some payload"
    print(world.sender.completions()[work], world.sender.counters().requester["retransmissions"])
    world.result().plot()

NICs are the software reference of the transport or Verilated cards. Everything is a function of arguments, seed and calls.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from openstellar import _native
from openstellar.fabric import Run, topology_text

if TYPE_CHECKING:
    import numpy

__all__ = ["Completion", "Counters", "Event", "Host", "Region", "World"]

PICOSECONDS = 1000
"""Picoseconds per nanosecond."""


@dataclass(frozen=True)
class Completion:
    """A completion queue entry, and the time at which it arrived."""

    time_ps: int
    qp: int
    wr_id: int
    """The number that `Host.write` returned; 0 on the receive side."""
    status: str
    """"Success", or the reason of the failure, by the names of `ibv_wc_status`."""
    opcode: str
    """"Write" or "WriteImm", or "RecvRdmaWithImm" for an immediate that arrived."""
    bytes: int
    immediate: int


@dataclass(frozen=True)
class Event:
    """An event queue entry, and the time at which it arrived."""

    time_ps: int
    kind: str
    source: int
    """Queue pair, or doorbell page."""
    data: int


@dataclass(frozen=True)
class Counters:
    """Counters of a NIC."""

    requester: dict[str, int]
    """Counters of a queue pair's requester: packets, retransmissions, timeouts, SACKs and so on."""
    receiver: dict[str, int]
    """Counters of the whole receive side: frames by drop reason; "None" counts accepted frames."""
    path_loads: list[int]
    """Data packets of the queue pair by entropy value index; even indices are plane 0."""


class Region:
    """Registered memory of a host, made by `Host.register`."""

    def __init__(self, host: Host, number: int, length: int) -> None:
        self.host, self.number, self.length = host, number, length
        self.va, self.key = host._native.place(host.index, number)

    def store(self, data: bytes, offset: int = 0) -> None:
        """Writes as the host's processor or GPU would. Raises ValueError if the data does not fit."""
        self.host._native.store(self.host.index, self.number, offset, bytes(data))

    def load(self, offset: int = 0, length: int | None = None) -> bytes:
        """Reads as the host's processor or GPU would, to the end by default. Bytes that were never written contain a pattern of seed and address."""
        length = self.length - offset if length is None else length
        return self.host._native.load(self.host.index, self.number, offset, length)

    def array(self, offset: int = 0, length: int | None = None) -> numpy.ndarray:
        """As `load`, but returns an array of bytes."""
        import numpy

        return numpy.frombuffer(self.load(offset, length), dtype=numpy.uint8)

    def deregister(self) -> None:
        """Deregisters and unmaps it. The NIC must not access it afterwards."""
        self.host._native.deregister(self.host.index, self.number)


class Host:
    """A host with its NIC, its memory and its side of the queue pairs."""

    def __init__(self, native: _native.Hosts, index: int, name: str) -> None:
        self._native, self.index, self.name = native, index, name

    def register(
        self, length: int, *, memory: Literal["gpu", "host"] = "gpu", page: int = 64 << 10, offset: int = 0
    ) -> Region:
        """Registers `length` bytes of fresh memory on pages of `page` bytes (4 KiB, 64 KiB, 2 MiB, 1 GiB), from `offset` of the first page on."""
        return Region(self, self._native.register(self.index, length, memory, page, offset), length)

    def write(
        self,
        local: Region,
        remote: Region,
        *,
        length: int | None = None,
        local_offset: int = 0,
        remote_offset: int = 0,
        qp: int | None = None,
        immediate: int | None = None,
    ) -> int:
        """Posts an RDMA WRITE now: a work queue entry in host memory and a doorbell. Returns the number it completes with.

        `length` is the whole of `local` by default, `qp` the first queue pair. Raises ValueError for bytes outside of a region or a region of the
        wrong host, RuntimeError when the send queue is full.
        """
        if local.host is not self:
            raise ValueError(f"the local region is {local.host.name}'s, the work is posted at {self.name}")
        if remote.host is self:
            raise ValueError(f"both regions are {self.name}'s")
        length = local.length - local_offset if length is None else length
        qp = self._native.qps()[0] if qp is None else qp
        return self._native.write(
            self.index,
            remote.host.index,
            qp,
            (local.number, local_offset),
            (remote.number, remote_offset),
            length,
            immediate,
        )

    def completions(self) -> list[Completion]:
        """Completions at this host so far, in order."""
        return [Completion(**fields) for fields in self._native.completions(self.index)]

    def events(self) -> list[Event]:
        """Events of the NIC so far."""
        return [Event(*event) for event in self._native.events(self.index)]

    def counters(self, qp: int | None = None) -> Counters:
        """Counters of the NIC, for queue pair `qp` (the first by default). Raises ValueError if it does not exist."""
        return Counters(*self._native.counters(self.index, self._native.qps()[0] if qp is None else qp))

    def set_port(self, port: int, up: bool) -> None:
        """Notifies the NIC that the link of a port came up or went down."""
        self._native.set_port(self.index, port, up)


class World:
    """The first and the last host of a topology, and `qps` queue pairs between them; arguments as in `openstellar.fabric.run`.

    Raises ValueError for invalid arguments, RuntimeError if the world cannot be built from them.
    """

    def __init__(
        self,
        *,
        topology: str | Path | None = None,
        nic: Literal["reference", "rtl"] = "reference",
        qps: int = 1,
        mode: Literal["mrc", "rc"] = "mrc",
        paths: int = 128,
        policy: Literal["single", "round-robin", "obs", "ev-state", "bitmap", "reps", "mixed", "flow-bender", "hopper", "hp3"] | None = None,
        loss: tuple[str, float] | None = None,
        mtu: int = 4096,
        seed: int = 1,
        captures: bool = True,
    ) -> None:
        self._native = _native.Hosts(topology_text(topology), nic, qps, mode, paths, policy, loss, mtu, seed, captures)
        names, self.nic = self._native.describe()
        self.sender, self.receiver = (Host(self._native, index, name) for index, name in enumerate(names))
        self.qps = self._native.qps()
        """Numbers of the queue pairs, the same at both hosts."""

    @property
    def time_ns(self) -> float:
        """Simulated time now, in nanoseconds."""
        return self._native.now_ps() / PICOSECONDS

    def run(self, limit_ns: float = 1e10) -> None:
        """Simulates until everything posted has completed. Raises RuntimeError if that takes longer than `limit_ns` of simulated time."""
        self._native.run(int(limit_ns * PICOSECONDS))

    def run_until(self, time_ns: float) -> None:
        """Simulates until a time, also if work is outstanding then."""
        self._native.run_until(int(time_ns * PICOSECONDS))

    def result(self) -> Run:
        """Compares every byte that was written and the order of completions. Returns numbers, captures and plots.

        The report counts only the work of the sender. Raises RuntimeError with the first difference.
        """
        report, files = self._native.report()
        return Run(json.loads(report), dict(files))
