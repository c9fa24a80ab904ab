"""The objects of verbs. Each wraps an object of the driver."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import count
from typing import TYPE_CHECKING, Literal

from openstellar import _native
from openstellar.verbs.attributes import Completion, Connection, Event, Path, PathCounts, PortAddress, RemoteRegion

if TYPE_CHECKING:
    import numpy


class MemoryRegion:
    """Memory that the card may use for the queue pairs of a protection domain, made by `ProtectionDomain.register`."""

    def __init__(self, native: _native.MemoryRegion) -> None:
        self._native = native
        self.address, self.key, self.length = native.place()

    @property
    def remote(self) -> RemoteRegion:
        """What the peer needs to write to it."""
        return RemoteRegion(self.address, self.key, self.length)

    def store(self, data: bytes, offset: int = 0) -> None:
        """Writes as the host's processor or GPU would. Raises ValueError if the data does not fit."""
        self._native.store(offset, bytes(data))

    def load(self, offset: int = 0, length: int | None = None) -> bytes:
        """Reads as the host's processor or GPU would, to the end by default. Raises ValueError beyond it."""
        return self._native.load(offset, self.length - offset if length is None else length)

    def array(self, offset: int = 0, length: int | None = None) -> numpy.ndarray:
        """As `load`, but returns an array of bytes."""
        import numpy

        return numpy.frombuffer(self.load(offset, length), dtype=numpy.uint8)

    def deregister(self) -> None:
        """Deregisters it and frees its memory. Raises RuntimeError while posted work requests use it."""
        self._native.deregister()


class CompletionQueue:
    """A completion queue, made by `Context.create_cq`. It has a ring for each of its queue pairs."""

    def __init__(self, native: _native.CompletionQueue) -> None:
        self._native = native

    def poll(self, most: int = 64) -> list[Completion]:
        """Up to `most` completions that have arrived, those of a queue pair in order. Only the register access takes simulated time."""
        return [Completion(**fields) for fields in self._native.poll(most, None)]

    def wait(self, most: int = 64, *, timeout_ns: int = 1_000_000) -> list[Completion]:
        """As `poll`, but waits for the first one with the queue's interrupt. Returns none after `timeout_ns` of simulated time.

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
        """"RESET", "INIT", "RTR", "RTS" or "ERROR". Changes by the card become visible when completions or events are polled."""
        return self._native.state()

    @property
    def outstanding(self) -> int:
        """Work requests that have not completed."""
        return self._native.outstanding()

    def counters(self) -> dict[str, int]:
        """What the card has counted for this queue pair since it was configured, read from the card. The names are explained in docs/driver.md."""
        return dict(self._native.counters())

    def deny_path(self, index: int) -> None:
        """Keeps data and probes off a path until `allow_path`, in state RTS; `ValueError` for a path that it does not have, or for the last one. Bit 0 of `index` is the port."""
        self._native.deny_path(index)

    def allow_path(self, index: int) -> None:
        """Allows a path that was denied."""
        self._native.allow_path(index)

    @property
    def denied_paths(self) -> list[int]:
        """The paths that are denied."""
        return self._native.denied_paths()

    def path_counts(self) -> dict[int, PathCounts]:
        """What the card has counted on each path, by its index (backups from 128 on), since the first call after it came to RTS: the first call returns zeros. It counts up to 4,095 packets on a path between two calls."""
        return {index: PathCounts(*counts) for index, *counts in self._native.path_counts()}

    def connection(self, psn: int = 0) -> Connection:
        """What its peer needs to connect, if it will send from `psn` on."""
        qp, psn, ports = self._native.connection(psn)
        first, second = (PortAddress(bytes(mac).hex(":"), ip) for mac, ip in ports)
        return Connection(qp, psn, (first, second))

    def reset(self) -> None:
        """To RESET: all of its state is discarded."""
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
        """RTR to RTS. The first packet has `psn`, which the peer must know: it is part of `connection`.

        `timeout_ns` is the retransmission timeout of a first transmission; it doubles with each retry. `retry_count` retries may go by without progress; `window` is the maximum number of packets in
        flight. A packet counts as lost if it is `early_loss` or more behind the latest acknowledged packet (128 or more; 0 waits for the timeout).
        """
        self._native.to_rts(psn, timeout_ns, retry_count, window, early_loss)

    def error(self) -> None:
        """To ERROR: posted work requests complete as flushed."""
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

        `local` is a region, of which `length` bytes from `local_offset` on are sent (all that is left, by default), or inline bytes, as many as an entry of the queue pair holds.
        `remote` is the peer's region or its description; the card there checks whether the bytes lie in it. Raises ValueError for an invalid work
        request, RuntimeError if the send queue is full or the state is not RTS.
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
    """The memory that queue pairs may access, made by `Context.alloc_pd`."""

    def __init__(self, native: _native.ProtectionDomain) -> None:
        self._native = native

    def register(
        self, length: int, *, memory: Literal["host", "gpu"] = "host", page: int = 64 << 10, remote_write: bool = True
    ) -> MemoryRegion:
        """Registers fresh memory: zeroed host memory behind the IOMMU, or GPU memory at its final addresses, which TLPs carry with AT = 10.

        GPU memory comes in whole pages of `page` bytes (4 KiB, 64 KiB, 2 MiB, 1 GiB). `remote_write` lets the peer write.
        """
        return MemoryRegion(self._native.register(length, memory, page, remote_write))

    def create_qp(self, cq: CompletionQueue, *, send_entries: int = 128, inline_bytes: int = 32) -> QueuePair:
        """A queue pair whose completions go to `cq`; its send queue has `send_entries` places, a power of two from 2 to 2^15.

        A work request may have `inline_bytes` bytes of inline data, up to 64; with more than 32, places have 128 bytes in place of 64.
        """
        return QueuePair(self._native.create_qp(cq._native, send_entries, inline_bytes))


class Context:
    """A context of the card, with a doorbell page of its own, made by `Device.open`."""

    def __init__(self, native: _native.Context) -> None:
        self._native = native
        self.page = native.page()

    def alloc_pd(self) -> ProtectionDomain:
        """A protection domain."""
        return ProtectionDomain(self._native.alloc_pd())

    def create_cq(self, entries: int = 64, *, interrupt: bool = True) -> CompletionQueue:
        """A completion queue with space for `entries` completions of each queue pair, a power of two. With `interrupt`, a program can wait on it."""
        return CompletionQueue(self._native.create_cq(entries, interrupt))

    def poll_event(self) -> Event | None:
        """The next event of this context's objects, if there is one."""
        return self._event(None)

    def wait_event(self, *, timeout_ns: int = 1_000_000) -> Event | None:
        """As `poll_event`, but waits for it. Returns none after `timeout_ns` of simulated time."""
        return self._event(timeout_ns)

    def _event(self, timeout_ns: int | None) -> Event | None:
        fields = self._native.event(timeout_ns)
        return None if fields is None else Event(**fields)

    def arm_immediates(self, qp: QueuePair, count: int) -> None:
        """Requests one event when `qp` has received `count` WRITEs with immediate since it was ready to receive."""
        self._native.arm_immediates(qp._native, count)


class Device:
    """A card after bring-up, made by `CardPair.bring_up` or `LoneCard.bring_up`. It is reset when all objects made from it are gone."""

    def __init__(self, native: _native.Device) -> None:
        self._native = native
        self.attributes: dict[str, int | tuple[int, int]] = native.describe()
        """What bring-up found, and the sizes of the card's tables (`ibv_device_attr`)."""

    def open(self) -> Context:
        """A context of the card."""
        return Context(self._native.open())

    def set_generated_profile(self, number: int, base: int, *, active: int, backups: int = 0, stride_log2: int = 0) -> None:
        """Gives an entropy profile that no queue pair has values at distances of 2^`stride_log2` from `base` on: those of the active paths, then of the backups."""
        self._native.set_generated_profile(number, base, stride_log2, active, backups)

    def set_explicit_profile(self, number: int, active: Sequence[int], backups: Sequence[int] = ()) -> None:
        """Gives an entropy profile that no queue pair has these values: that of path n, and that of backup 128 + n. Even ones are of port 0. Only the first
        `attributes["explicit_profiles"]` profiles can have them."""
        self._native.set_explicit_profile(number, list(active), list(backups))

    def counters(self) -> dict[str, int]:
        """Packets received, by drop reason; "None" counts accepted packets. Only counters that are not zero. Read from the card."""
        return dict(self._native.counters())


def connect(first: QueuePair, second: QueuePair, *, psns: tuple[int, int] = (0, 0), path: Path | None = None) -> None:
    """Brings two queue pairs in state RESET to RTS towards each other; `psns` are the first PSNs that they send."""
    told = [qp.connection(psn) for qp, psn in zip((first, second), psns, strict=True)]
    for qp, peer in ((first, told[1]), (second, told[0])):
        qp.init()
        qp.ready_to_receive(peer, path)
    for qp, psn in zip((first, second), psns, strict=True):
        qp.ready_to_send(psn)
