"""Verbs: the project's driver on simulated hosts with Verilated cards.

The functions call the driver itself (`driver/`, docs/driver.md). It writes the card's registers, work queue entries and doorbells, and reads
completion rings in simulated host memory, as it does on any card.

    from openstellar import verbs

    pair = verbs.CardPair()
    contexts = [pair.bring_up(host).open() for host in (0, 1)]
    domains = [context.alloc_pd() for context in contexts]
    queues = [context.create_cq() for context in contexts]
    first, second = (pd.create_qp(cq) for pd, cq in zip(domains, queues))
    verbs.connect(first, second)
    source, target = domains[0].register(4096), domains[1].register(4096, memory="gpu")
    source.store(b"some payload")
    first.post_write(source, target, immediate=7)
    [received], [sent] = queues[1].wait(), queues[0].wait()
    assert target.load(0, 12) == b"some payload" and received.immediate == 7 and sent.status == "Success"

`verbs.CardPair` is two hosts, cabled port to port. `verbs.LoneCard` is one NIC by itself: Python sends and receives its frames.
docs/examples/verbs.py shows both.

Time passes while the driver waits for the card, in register accesses, and in `run`; between calls it stands still. ValueError means an invalid
argument. RuntimeError means that a call is not possible now, or that the card did not execute it.
"""

from openstellar.verbs.attributes import Completion, Connection, DeviceConfig, Event, Path, PathCounts, PortAddress, RemoteRegion, default_ports
from openstellar.verbs.cards import CardPair, LoneCard, SentFrame
from openstellar.verbs.objects import CompletionQueue, Context, Device, MemoryRegion, ProtectionDomain, QueuePair, connect

__all__ = [
    "CardPair", "Completion", "CompletionQueue", "Connection", "Context", "Device", "DeviceConfig", "Event", "LoneCard", "MemoryRegion",
    "Path", "PathCounts", "PortAddress", "ProtectionDomain", "QueuePair", "RemoteRegion", "SentFrame", "connect", "default_ports",
]  # fmt: skip
