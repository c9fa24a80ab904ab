"""The DMA read engine, `request_stream` and `completion_stream`, reading the memory of a root complex."""

from __future__ import annotations

import random

import cocotb
from cocotb.triggers import Timer, with_timeout
from pcie import TRANSLATED, UNTRANSLATED, Endpoint, segments

FAILED = 1


async def ask(bench: Endpoint, length: int, user: int, where: dict[str, int]) -> None:
    await bench.command(bench.reads, "ReadCommand", {"length": length, "user": user, **where})


async def payload(bench: Endpoint) -> tuple[bytes, int, bool]:
    """The result of the next command: bytes, its user word, and whether it failed."""
    frame = await with_timeout(bench.payloads.recv(compact=True), 50, "us")
    # `compact` converts an array to one value if all bytes are equal.
    return bytes(frame.tdata), frame.tuser >> 1, bool(frame.tuser & FAILED)


@cocotb.test()
@cocotb.parametrize(pauses=[0.0, 0.3])
async def reads_of_every_length_and_alignment_return_in_order(dut, pauses):
    bench = Endpoint(dut, pauses)
    await bench.start()
    region = bench.root.mem_pool.alloc_region(1 << 16)
    region.mem[:] = memory = random.randbytes(1 << 16)
    commands = []
    for user, length in enumerate((1, 2, 3, 4, 5, 63, 64, 65, 511, 512, 513, 1024, 1500, 2047, 4095, 4096, 4097, 8192)):
        cut = random.randrange(1, length + 1)
        # A command's segments end with their pages.
        here, there = random.randrange(0, 3 << 13), random.randrange(1 << 15, (1 << 16) - 8192)
        first, second = (region.get_absolute_address(here), TRANSLATED), (region.get_absolute_address(there), UNTRANSLATED)
        await ask(bench, length, 0xABCD_0000 + user, segments(first, length, second, cut))
        commands.append(memory[here : here + cut] + memory[there : there + length - cut])
    for user, expected in enumerate(commands):
        assert await payload(bench) == (expected, 0xABCD_0000 + user, False)
    assert {tlp.at for tlp in bench.block.sent} == {TRANSLATED, UNTRANSLATED}
    for tlp in bench.block.sent:
        assert tlp.length * 4 <= 512 and tlp.address % 4096 + tlp.length * 4 <= 4096


@cocotb.test()
async def more_than_fits_waits_for_room(dut):
    """The ring holds 128 KiB. Further commands are accepted as payload leaves, and nothing is lost while the receiver stalls."""
    bench = Endpoint(dut)
    await bench.start()
    region = bench.root.mem_pool.alloc_region(1 << 18)
    region.mem[:] = memory = random.randbytes(1 << 18)
    bench.payloads.pause = True
    base = region.get_absolute_address(0)
    for n in range(48):
        await ask(bench, 4096, n, segments((base + n * 4096, UNTRANSLATED), 4096))
    await Timer(20, "us")
    bench.payloads.pause = False
    for n in range(48):
        assert await payload(bench) == (memory[n * 4096 : (n + 1) * 4096], n, False)


@cocotb.test()
async def a_read_of_nothing_fails_alone(dut):
    """The root complex answers an unmapped address with Unsupported Request."""
    bench = Endpoint(dut)
    await bench.start()
    region = bench.root.mem_pool.alloc_region(4096)
    region.mem[:] = memory = random.randbytes(4096)
    good = segments((region.get_absolute_address(5), UNTRANSLATED), 100)
    await ask(bench, 100, 1, good)
    await ask(bench, 100, 2, segments((0xDEAD_0000_0000, UNTRANSLATED), 100))
    await ask(bench, 100, 3, good)
    assert await payload(bench) == (memory[5:105], 1, False)
    _, user, failed = await payload(bench)
    assert (user, failed) == (2, True)
    assert await payload(bench) == (memory[5:105], 3, False)
    assert dut.bad_completions.value.to_unsigned() == 1 and dut.unexpected.value.to_unsigned() == 0
