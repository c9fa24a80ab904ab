"""The DMA write engine and `request_stream`, writing to the memory of a root complex."""

from __future__ import annotations

import random

import cocotb
from cocotb.triggers import RisingEdge, with_timeout
from pcie import TRANSLATED, UNTRANSLATED, Endpoint, segments, until

GUARD = 64


async def place(bench: Endpoint, beat: int, offset: int, payload: bytes, where: dict[str, int]) -> None:
    """Makes the engine write `payload`, which lies `offset` bytes into a frame at `beat`."""
    await bench.frame(beat, random.randbytes(offset) + payload + random.randbytes(4))
    beats = -(-(offset + len(payload) + 4) // 64)
    fields = {"place": 1, "span.start": beat, "span.beats": beats, "offset": offset, "length": len(payload), **where}
    await bench.command(bench.places, "PlaceCommand", fields)


async def fence(bench: Endpoint) -> None:
    """Waits until every earlier write has left."""
    await bench.command(bench.places, "PlaceCommand", {"fence": 1})
    await with_timeout(RisingEdge(bench.dut.fence_done), 20, "us")


@cocotb.test()
async def payloads_of_every_length_and_alignment_land_byte_for_byte(dut):
    """Two segments in both kinds of memory, PCIe that stalls the engine, and bytes around the target that must not change."""
    bench = Endpoint(dut, pauses=0.3)
    await bench.start()
    host, gpu = bench.root.mem_pool.alloc_region(1 << 16), bench.root.mem_pool.alloc_region(1 << 16)
    images = []
    for region in (host, gpu):
        images.append(bytearray(random.randbytes(len(region.mem))))
        region.mem[:] = images[-1]
    beat, targets = 4000, [GUARD, GUARD]
    for length in (1, 2, 3, 4, 5, 63, 64, 65, 255, 256, 257, 1023, 1500, 4096, 4097, 8192):
        payload, offset, cut = random.randbytes(length), random.randrange(54, 118), random.randrange(1, length + 1)
        # In hardware a page ends where the first segment ends; for the engine these are two ranges of addresses.
        targets = [at + random.randrange(1, 9) for at in targets]
        parts = [payload[:cut], payload[cut:]]
        first = (host.get_absolute_address(targets[0]), UNTRANSLATED)
        second = (gpu.get_absolute_address(targets[1]), TRANSLATED)
        for n, part in enumerate(parts):
            images[n][targets[n] : targets[n] + len(part)] = part
            targets[n] += len(part)
        await place(bench, beat, offset, payload, segments(first, length, second, cut))
        beat = (beat + 80) % 4096
    await fence(bench)
    await until(lambda: bytes(host.mem) == images[0] and bytes(gpu.mem) == images[1], "memory is as it must be")
    for tlp in bench.block.sent:
        assert tlp.length * 4 <= 256, "longer than the maximum payload"
        assert tlp.address % 4096 + tlp.length * 4 <= 4096, "crosses 4 KiB"
        in_gpu = tlp.address >= gpu.get_absolute_address(0)
        assert tlp.at == (TRANSLATED if in_gpu else UNTRANSLATED), tlp


@cocotb.test()
async def a_fence_waits_for_what_is_before_it(dut):
    bench = Endpoint(dut)
    await bench.start()
    region = bench.root.mem_pool.alloc_region(8192)
    bench.block.rq_sink.pause = True
    payload = random.randbytes(2000)
    await place(bench, 0, 60, payload, segments((region.get_absolute_address(0), UNTRANSLATED), 2000))
    waiting = cocotb.start_soon(fence(bench))
    for _ in range(300):
        await RisingEdge(dut.user_clk)
        assert dut.fence_done.value == 0, "TLPs are still here"
    bench.block.rq_sink.pause = False
    await waiting
    # Beats that have left may still be in the shim and on the link.
    await until(lambda: bytes(region.mem[:2000]) == payload, "the payload is there", 2)
