"""openstellar.hosts: a world of two hosts, step by step."""

from __future__ import annotations

import random
import runpy
from pathlib import Path

import pytest
from openstellar import hosts

LOSSY = ("p0.leaf0-spine5", 0.3)


@pytest.mark.parametrize("nic", ["reference", "rtl"])
def test_what_is_posted_arrives(nic: str) -> None:
    """Host memory and GPU memory, unaligned, with an immediate, over a link that loses frames; for both kinds of NIC."""
    world = hosts.World(nic=nic, qps=2, loss=LOSSY, seed=5)
    assert (world.sender.name, world.receiver.name) == ("h0", "h7")
    data = random.Random(nic).randbytes(60_000)
    source = world.sender.register(len(data), memory="host", page=4096, offset=123)
    target = world.receiver.register(1 << 17, memory="gpu", offset=77)
    before = target.load()
    source.store(data)
    first = world.sender.write(source, target, remote_offset=1000)
    second = world.sender.write(source, target, length=500, local_offset=3, remote_offset=70_001, qp=world.qps[1], immediate=0xABCD)
    world.run()
    after = target.load()
    assert after[1000 : 1000 + len(data)] == data
    assert after[70_001:70_501] == data[3:503]
    assert after[:1000] == before[:1000] and after[70_501:] == before[70_501:]
    done = {completion.wr_id: completion for completion in world.sender.completions()}
    assert {number: one.status for number, one in done.items()} == {first: "Success", second: "Success"}
    assert (done[second].opcode, done[second].qp) == ("WriteImm", world.qps[1])
    [arrived] = world.receiver.completions()
    assert (arrived.opcode, arrived.immediate, arrived.bytes) == ("RecvRdmaWithImm", 0xABCD, 500)
    counters = world.sender.counters()
    assert counters.requester["packets"] == sum(counters.path_loads) >= 15
    assert world.receiver.counters().receiver["None"] >= 16
    result = world.result()
    assert result.report["bytes"] == 60_500
    assert result.packets("h0.p0") and world.time_ns > 0


def test_time_passes_as_far_as_asked() -> None:
    world = hosts.World(captures=False)
    source, target = world.sender.register(1 << 20), world.receiver.register(1 << 20)
    world.sender.write(source, target)
    world.run_until(10_000)
    assert world.sender.completions() == [] and 0 < world.sender.counters().requester["packets"] < 256
    world.run()
    assert [done.status for done in world.sender.completions()] == ["Success"]
    assert (target.array() == source.array()).all()


def test_a_region_that_is_gone_is_refused() -> None:
    world = hosts.World()
    source, target = world.sender.register(4096), world.receiver.register(4096)
    target.deregister()
    world.sender.write(source, target)
    world.run()
    assert [done.status for done in world.sender.completions()] == ["RemOpErr"]
    assert [event.kind for event in world.sender.events()] == ["QpError"]


def test_a_dead_plane_is_left(tmp_path: Path) -> None:
    world = hosts.World(seed=2)
    source, target = world.sender.register(1 << 18), world.receiver.register(1 << 18)
    for host in (world.sender, world.receiver):
        host.set_port(1, False)
    world.sender.write(source, target)
    world.run()
    assert sum(world.sender.counters().path_loads[1::2]) == 0
    world.result().plot().savefig(tmp_path / "plot.png")


def test_wrong_use_is_answered() -> None:
    world = hosts.World(captures=False)
    source, target = world.sender.register(4096), world.receiver.register(4096)
    for wrong, expected in [
        (lambda: hosts.World(nic="silicon"), 'unknown NIC "silicon": use "reference" or "rtl"'),
        (lambda: hosts.World(mtu=1500), "no path MTU of 1500 bytes"),
        (lambda: hosts.World(qps=0), "0 queue pairs"),
        (lambda: world.sender.register(0), "at least one byte"),
        (lambda: world.sender.register(10, page=5000), "no page size of 5000 bytes"),
        (lambda: world.sender.register(10, memory="disk"), 'unknown memory "disk"'),
        (lambda: world.sender.write(source, target, length=4097), "4097 bytes from 0 on are not in a region of 4096 bytes"),
        (lambda: world.sender.write(source, target, remote_offset=1), "4096 bytes from 1 on"),
        (lambda: world.sender.write(target, source), "the local region is h7's"),
        (lambda: world.sender.write(source, source), "both regions are h0's"),
        (lambda: source.store(bytes(10), 4090), "10 bytes from 4090 on"),
        (lambda: world.sender.counters(77), "no queue pair 77; there are: 2 to 2"),
        (lambda: world.sender.set_port(2, False), "no port 2"),
    ]:
        with pytest.raises(ValueError, match=expected):
            wrong()
    with pytest.raises(RuntimeError, match="no queue pair 9"):
        world.sender.write(source, target, qp=9)
    world.sender.write(source, target)
    with pytest.raises(RuntimeError, match="1 work request.s. not completed"):
        world.run(limit_ns=100)


def test_the_example_of_the_documentation_runs(capsys: pytest.CaptureFixture[str]) -> None:
    example = Path(__file__).parents[2] / "docs" / "examples" / "two_hosts.py"
    runpy.run_path(str(example))
    printed = capsys.readouterr().out
    assert "Success" in printed and "retransmissions" in printed
