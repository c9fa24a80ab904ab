"""openstellar.world: the lane with MAC, PCIe and memories, from Python."""

from __future__ import annotations

import random
import runpy
from pathlib import Path

import numpy
import pytest
from openstellar import world

VA, RKEY, QP = 0x7F00_0000_0123, 0x2A5A, 100


def lane(**arguments: object) -> world.Lane:
    """A lane with an MRC queue pair and a region of GPU memory."""
    built = world.Lane(512, **arguments)
    built.add_qp(QP, pd=7, mtu=1024)
    built.add_region(rkey=RKEY, va=VA, length=1 << 20, pd=7)
    return built


def message(data: bytes, **arguments: object) -> list[bytes]:
    """Frames for that lane."""
    return list(world.write_frames(data, qp=QP, va=VA, rkey=RKEY, mtu=1024, **arguments))


@pytest.mark.parametrize("pacing", ["line", "every-clock", "random"])
def test_a_message_in_any_order_reaches_memory(pacing: str) -> None:
    rng = random.Random(pacing)
    nic = lane(pacing=pacing, seed=3)
    data = rng.randbytes(20_000)
    frames = message(data, srv6=pacing == "random", ipv6=pacing != "line", seed=1)
    rng.shuffle(frames)
    for frame in frames:
        nic.receive(frame)
    nic.run()
    assert nic.verdicts == ["None"] * 20
    assert nic.read(VA, len(data)) == data
    assert nic.read(VA + len(data), 4) == bytes(4)
    assert nic.counters["None"] == 20
    assert [ack["kind"] for ack in nic.acks] == ["Sack"] * 20
    assert max(ack["cack_psn"] for ack in nic.acks if ack["cack_psn"] < 1 << 23) == 19
    assert all(write.translated for write in nic.writes)


def test_host_memory_goes_untranslated_and_rc_in_order() -> None:
    nic = world.Lane(512, max_payload=128)
    nic.add_qp(QP, mode="rc", pd=7, mtu=1024)
    nic.add_region(rkey=RKEY, va=VA, length=1 << 16, pd=7, page=4096, memory="host")
    data = random.Random(1).randbytes(9_000)
    for frame in message(data, mode="rc"):
        nic.receive(frame)
    nic.run()
    assert nic.read(VA, len(data)) == data
    assert not any(write.translated for write in nic.writes)
    assert max(len(write.data) for write in nic.writes) == 128


def test_what_is_dropped_is_counted_and_says_why() -> None:
    nic = lane()
    frame = bytearray(message(b"x" * 100)[0])
    frame[-1] ^= 1
    nic.receive(frame)
    nic.receive(message(b"y" * 100)[0], mac_error=True)
    nic.run()
    assert nic.verdicts == ["BadIcrc", "MacError"]
    assert (nic.counters["BadIcrc"], nic.counters["MacError"], nic.counters["None"]) == (1, 1, 0)
    assert nic.acks == [] and nic.writes == []


def test_captures_arrays_and_plots(tmp_path: Path) -> None:
    from scapy.contrib.roce import BTH

    nic = lane(waves=tmp_path / "waves.fst")
    data = bytes(range(256)) * 40
    for frame in message(data):
        nic.receive(frame)
    nic.run()
    packets = nic.packets()
    assert len(packets) == 10 and [packet[BTH].psn for packet in packets] == list(range(10))
    array = nic.memory(VA, len(data))
    assert array.dtype == numpy.uint8 and bytes(array) == data
    times, gigabits = nic.throughput(window_clocks=32)
    assert numpy.isclose(gigabits.sum() * 32 * 4 / 8, len(data))
    assert len(times) == len(gigabits) and times[1] - times[0] == 32 * 4
    nic.plot().savefig(tmp_path / "plot.png")
    assert (tmp_path / "plot.png").stat().st_size > 1000
    nic.close_waves()
    assert (tmp_path / "waves.fst").stat().st_size > 1000
    assert nic.time_ps % world.CLOCK_PS == 0


def test_wrong_arguments_are_answered() -> None:
    nic = lane()
    for wrong, expected in [
        (lambda: world.Lane(300), "no lane of 300 bits"),
        (lambda: world.Lane(512, pacing="fast"), 'unknown pacing "fast"'),
        (lambda: world.Lane(512, max_payload=300), "300"),
        (lambda: nic.add_qp(5, mode="uc"), 'unknown mode "uc"'),
        (lambda: nic.add_qp(5, mtu=1500), "no path MTU of 1500 bytes"),
        (lambda: nic.add_region(rkey=0x300, va=0, length=0), "at least one byte"),
        (lambda: nic.add_region(rkey=0x300, va=0, length=1, page=5000), "no page size of 5000 bytes"),
        (lambda: nic.add_region(rkey=0x300, va=0, length=1, memory="disk"), 'unknown memory "disk"'),
        (lambda: nic.receive(b""), "an empty frame"),
        (lambda: nic.read(0x1000, 1), "no region has a page at 0x1000"),
        (lambda: nic.throughput(0), "at least one clock"),
        (lambda: world.table_words(qp=1, mode="rc", pd=1, mtu=256, psn=0, rkey=1, va=0, length=1, bus=4096), "2 MiB"),
    ]:
        with pytest.raises(ValueError, match=expected):
            wrong()
    with pytest.raises(RuntimeError, match="5000"):
        nic.add_qp(5000)


def test_the_example_of_the_documentation_runs(capsys: pytest.CaptureFixture[str]) -> None:
    example = Path(__file__).parents[2] / "docs" / "examples" / "receive_lane.py"
    runpy.run_path(str(example))
    printed = capsys.readouterr().out
    assert "25 packets" in printed and "'Duplicate': 1" in printed
