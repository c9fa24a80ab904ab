"""The speed table: clock cycles per second on both simulators."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

import stock
from openstellar.designs import write
from output import captured
from simulators import SIMULATORS

BENCHES = stock.ROOT / "tests" / "cocotb"


def rates(text: str) -> dict[str, float]:
    """The rows that a run of bench_speed printed."""
    return {name: float(rate) for name, rate in re.findall(r"RATE (.+) (\d+)", text)}


def measure(cycles: int, repeat: int) -> int:
    """Prints the table. Returns 1 if one of our rows is slower than stock, or less than three times as fast while Python sleeps."""
    stock.use()
    os.environ["SPEED_CYCLES"] = str(cycles)
    print("| design | Python | OpenStellar, cycles/s | stock, cycles/s | ratio |\n|---|---|---|---|---|", flush=True)
    slow = 0
    with tempfile.TemporaryDirectory() as directory:
        work = Path(directory)
        _, lane = write(work / "verilog", "rx_lane_512")
        designs = {
            "counter": [BENCHES / "verilog" / "counter.v"],
            "rx_lane_axis": [lane, BENCHES / "verilog" / "rx_lane_axis.v"],
        }
        for top, sources in designs.items():
            best: dict[str, dict[str, float]] = {}
            for name in ("openstellar", "stock"):
                folder = work / name / top
                folder.mkdir(parents=True)
                simulator = SIMULATORS[name](folder)
                simulator.optimize = True
                for run in range(repeat):
                    log = folder / f"run{run}.log"
                    with captured(log):
                        simulator.run("bench_speed", top, sources)
                    for row, rate in rates(log.read_text()).items():
                        known = best.setdefault(row, {})
                        known[name] = max(rate, known.get(name, 0))
            for row, found in best.items():
                ratio = found["openstellar"] / found["stock"]
                slow += ratio < (3 if row == "free-running" else 1)
                print(f"| {top} | {row} | {found['openstellar']:,.0f} | {found['stock']:,.0f} | {ratio:.2f} |", flush=True)
    return 1 if slow else 0
