"""openstellar.fabric: two hosts on a fabric, from Python."""

from __future__ import annotations

import pytest
from openstellar import fabric

LOSSY = ("p0.leaf0-spine5", 0.3)


def test_a_lossy_run_is_whole_and_can_be_looked_at(tmp_path) -> None:
    done = fabric.run(bytes=2 << 20, loss=LOSSY, seed=3)
    report = done.report
    assert report["bytes"] == 2 << 20
    assert report["completions"]["succeeded"] == 1
    assert report["requester"]["retransmissions"] > 0
    loads = done.path_loads()
    assert len(loads) == 128
    assert loads.sum() == report["requester"]["packets"]
    assert len(done.series("cwnd")) == len(done.series("time_ns")) > 1
    assert len(done.captures) == 4
    for port in done.captures:
        packets = done.packets(port)
        assert packets and all(packet["UDP"].dport == 4791 for packet in packets)
    done.plot().savefig(tmp_path / "run.png")
    assert (tmp_path / "run.png").stat().st_size > 1000


def test_a_seed_decides_everything() -> None:
    runs = [fabric.run(bytes=300_000, loss=LOSSY, seed=seed) for seed in (1, 1, 2)]
    assert runs[0] == runs[1]
    assert runs[0].captures != runs[2].captures


def test_transports_and_policies_can_be_chosen() -> None:
    rc = fabric.run(bytes=100_000, mode="rc", captures=False)
    assert (rc.report["mode"], rc.report["path_loads"], rc.captures) == ("rc", [25], {})
    single = fabric.run(bytes=100_000, paths=1, captures=False)
    assert single.report["policy"] == "single"
    turns = fabric.run(bytes=1 << 20, paths=4, policy="round-robin", captures=False)
    assert set(turns.path_loads()[:4]) == {64}


def test_scenarios_run_by_name() -> None:
    names = fabric.scenarios()
    assert len(names) > 10
    done = fabric.run_scenario(next(iter(names)))
    assert done.report["completions"]["failed"] == 0


def test_wrong_arguments_are_answered(tmp_path) -> None:
    broken = tmp_path / "broken.toml"
    broken.write_text("[[hosts]]\n")
    for wrong, expected in [
        (lambda: fabric.run(mode="uc"), 'unknown mode "uc"'),
        (lambda: fabric.run(mode="rc", policy="obs"), "RC has one path"),
        (lambda: fabric.run(policy="random"), "single, round-robin, obs, ev-state, bitmap, reps, mixed, flow-bender, hopper, hp3"),
        (lambda: fabric.run(bytes=0), "byte"),
        (lambda: fabric.run(paths=129), "129"),
        (lambda: fabric.run(loss=("p0.leaf0-spine55", 0.1)), "p0.leaf0-spine5"),
        (lambda: fabric.run(loss=("p0.leaf0-spine5", 1.5)), "1.5"),
        (lambda: fabric.run(topology=broken), "broken.toml"),
        (lambda: fabric.run_scenario("lost-sack"), "lost-sacks"),
    ]:
        with pytest.raises(ValueError, match=expected):
            wrong()
    with pytest.raises(FileNotFoundError):
        fabric.run(topology=tmp_path / "nowhere.toml")
    with pytest.raises(KeyError, match="there are: none"):
        fabric.run(bytes=1000, captures=False).packets("a")
