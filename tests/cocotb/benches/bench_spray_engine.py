"""The spray engine: the path of each packet."""

from __future__ import annotations

import cocotb
from cocotb.triggers import ClockCycles
from openstellar.records import Record
from servers import Server, start

QP, PATHS, BASE = 1, 16, 0xC000


async def engine(dut, policy: str, paths: int = PATHS) -> Server:
    """A block with one queue pair on `paths` paths, in both planes."""
    server = Server(dut, "SprayRequest", "SprayResponse", "SprayConfig")
    await start(dut, plane_up=3, profile_valid=0, values_valid=0)
    dut.profile_index.value = 0
    dut.profile.value = Record("EntropyProfileEntry").pack(base=BASE, stride_log2=0, active=PATHS, backups=2)
    dut.profile_valid.value = 1
    await ClockCycles(dut.clock, 1)
    dut.profile_valid.value = 0
    await ClockCycles(dut.clock, 1)
    await server.ask(op="Configure", qp=QP, settings={"policy": policy, "paths": paths, "seed": 0x1234_5678, "probe_interval": 1250})
    return server


async def rotation(server: Server) -> list[int]:
    """The paths of the packets of one rotation, plane by plane in turn."""
    choices = [await server.ask(op="Choose", qp=QP, plane=n % 2, count=1) for n in range(PATHS)]
    assert all(choice["found"] and choice["index"] % 2 == n % 2 for n, choice in enumerate(choices))
    assert all(choice["entropy"] == BASE + choice["index"] for choice in choices)
    return [choice["index"] for choice in choices]


@cocotb.test()
@cocotb.parametrize(policy=["RoundRobin", "Obs", "EvState"])
async def a_rotation_takes_every_path_once(dut, policy):
    server = await engine(dut, policy)
    orders = [await rotation(server) for _ in range(3)]
    assert all(sorted(order) == list(range(PATHS)) for order in orders)
    # Oblivious spraying draws a new order each time; round robin keeps its own.
    assert (orders[0] == orders[1]) == (policy == "RoundRobin")


@cocotb.test()
async def a_burst_is_as_many_single_choices(dut):
    server = await engine(dut, "Obs")
    await server.send(op="Choose", qp=QP, plane=1, count=8)
    burst = [(await server.answer())["index"] for _ in range(8)]
    assert sorted(burst) == list(range(1, PATHS, 2))
    await ClockCycles(dut.clock, 100)
    assert server.is_silent()


@cocotb.test()
async def a_path_that_failed_is_left_alone(dut):
    """Feedback excludes an entropy value under the policy that uses feedback."""
    server = await engine(dut, "EvState")
    await server.ask(op="Feedback", qp=QP, index=5, feedback="AlwaysSkip")
    chosen = {(await server.ask(op="Choose", qp=QP, plane=1, count=1))["index"] for _ in range(3 * PATHS)}
    assert 5 not in chosen and chosen >= {1, 3, 7, 9, 11, 13, 15}


@cocotb.test()
async def a_dead_plane_is_not_usable(dut):
    server = await engine(dut, "Obs")
    assert (await server.ask(op="Query", qp=QP))["usable"] == 0b11
    dut.plane_up.value = 0b01
    assert (await server.ask(op="Query", qp=QP))["usable"] == 0b01
    assert not (await server.ask(op="Choose", qp=QP, plane=1, count=1))["found"]
