"""STELLAR, figure 6: what a guest's start pays for pinning its memory, all of it first or on first use (PVDMA)."""

from __future__ import annotations

import ctypes
import hashlib
import json
import mmap
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy
import pandas
from matplotlib.figure import Figure as Plot

from figures.figure import Band, Figure, Findings, Scale

BLOCK = 2 << 20
ROOT = Path(__file__).parents[1]
# Section 3.1: 1.6 TB take 390 s.
PAPER_BLOCK_S = 390 / (1.6e12 / BLOCK)


def points(scale: Scale) -> list[dict[str, Any]]:
    """Amounts of memory to pin, and one point for the model's counts."""
    sizes = (64, 128, 256, 512, 1024, 2048) if scale.is_full else (64, 128, 256, 512)
    return [{"mebibytes": size, "seed": seed} for size in sizes for seed in scale.seeds] + [{"mebibytes": 0, "seed": 0, "service": service()}]


def service() -> str:
    """A digest of the service's sources, so that its counts are those of today."""
    files = sorted((ROOT / "virt").rglob("*.rs"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]


def measure(point: dict[str, Any]) -> dict[str, Any]:
    """CPU seconds to pin memory that nothing has touched, block by block as the service does; or the blocks that the service counts."""
    if point["mebibytes"] == 0:
        return {"counts": counts()}
    size = point["mebibytes"] << 20
    libc = ctypes.CDLL(None, use_errno=True)
    with mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        costs = []
        for offset in range(0, size, BLOCK):
            # The kernel works on this thread's time; that of other programs does not count.
            before = time.thread_time()
            if libc.mlock(ctypes.c_void_p(start + offset), ctypes.c_size_t(BLOCK)) != 0:
                limit = "raise the limit of locked memory (ulimit -l)"
                raise OSError(ctypes.get_errno(), f"mlock of {offset + BLOCK} bytes failed: {limit}")
            costs.append(time.thread_time() - before)
        libc.munlock(ctypes.c_void_p(start), ctypes.c_size_t(size))
    return {"seconds": sum(costs), "median_block_us": float(numpy.median(costs)) * 1e6}


def counts() -> list[dict[str, Any]]:
    """Blocks that the service of `virt/` pins for guests of several sizes, and the seconds that the paper's costs give: the example start_up."""
    command = ["cargo", "run", "--quiet", "-p", "stellar-virt", "--example", "start_up", "--", "--json"]
    return json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)


def findings(rows: pandas.DataFrame, scale: Scale) -> Findings:
    """The cost of a block is measured, the number of blocks is counted; their product is the pinning part of a start."""
    pins = rows[rows.mebibytes > 0]
    counted = pandas.DataFrame(next(row for row in rows.counts if isinstance(row, list)))
    best = pins.groupby("mebibytes").seconds.min()
    blocks = best.index.to_numpy() * (1 << 20) / BLOCK
    block_s = float((best.to_numpy() * blocks).sum() / (blocks**2).sum())
    residue = best.to_numpy() / (block_s * blocks) - 1
    table = pandas.DataFrame(
        {
            "memory, GB": counted.memory / 1e9,
            "blocks, all pinned": counted.full_blocks,
            "blocks, PVDMA, 1 GB used": counted.used_blocks,
            "all pinned, measured cost, s": counted.full_blocks * block_s,
            "PVDMA, measured cost, s": counted.used_blocks * block_s,
            "all pinned, paper's cost, s": counted.full_blocks * PAPER_BLOCK_S,
        }
    )
    measured = pandas.DataFrame({"MiB": best.index, "blocks": blocks, "pinned in, ms": best.to_numpy() * 1e3, "us per block": best.to_numpy() / blocks * 1e6})
    found = Findings(tables=[("Pinning on this machine (CPU time, the least of the repetitions)", measured), ("Pinning while a guest starts", table)])
    small, large = counted[counted.memory == 160_000_000_000].iloc[0], counted[counted.memory == 1_600_000_000_000].iloc[0]
    found.bands = [
        Band("pinning of n blocks / n times the cost of one, largest deviation", float(numpy.abs(residue).max()), 0, 0.25, paper="time grows with memory", why="other work on the machine has slowed some of the pinning."),
        Band("blocks of a start with PVDMA, 1.6 TB / 160 GB", large.used_blocks / small.used_blocks, 1, 1, paper="the difference of 11 s between both is not pinning"),
        Band("all pinned, 1.6 TB: blocks", float(large.full_blocks), 762_939, 762_940, paper="all memory of the container"),
    ]
    found.plots.append(("pvdma-6", plot(table)))
    found.notes += [
        f"A block costs {block_s * 1e6:.0f} us here (mlock of 2 MiB that nothing has touched: the kernel clears it and locks it; the IOMMU's part is missing) and {PAPER_BLOCK_S * 1e6:.0f} us in the paper (390 s for 1.6 TB). The paper's cost is a curve of its own; nothing here is fitted to it.",
        "The paper's whole starts also have a guest kernel, a container and the hypervisor's work, which cannot be measured here. So no ratio of whole starts is given; the model with the paper's costs is in docs/virtual_devices.md.",
        "The paper's numbers do not agree: 390 s of pinning and less than 20 s with PVDMA make a ratio of at least 20.5; it says up to 15x in one place and 30x in another.",
    ]
    return found


def plot(table: pandas.DataFrame) -> Plot:
    """Seconds of pinning over memory."""
    drawing = Plot(figsize=(7, 4), layout="constrained")
    axes = drawing.add_subplot()
    for column, style in (("all pinned, measured cost, s", "o-"), ("PVDMA, measured cost, s", "o-"), ("all pinned, paper's cost, s", ":")):
        axes.loglog(table["memory, GB"], table[column], style, label=column.removesuffix(", s"))
    axes.set_xlabel("guest memory, GB")
    axes.set_ylabel("pinning, s")
    axes.legend()
    return drawing


FIGURE = Figure(
    name="pvdma-6",
    title="Pinning while a guest starts, all memory and on first use",
    source="STELLAR, figure 6, section 5",
    setup="mlock of blocks of 2 MiB on this machine; the blocks of guests from 16 GB to 1.6 TB are counted by running the PVDMA service, whose guest uses 1 GB while it starts.",
    parts="The service that counts is the real one (virt/); the pins are those of this machine's kernel; their product is a model. No Verilog runs.",
    points=points,
    measure=measure,
    findings=findings,
    quick_seeds=3,
    full_seeds=10,
)
