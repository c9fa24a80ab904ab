"""Runs the same benches on both simulators, and lists the differences of their outcomes."""

from __future__ import annotations

import math
import os
import tempfile
import time
from pathlib import Path

import stock
from blocks import BENCHES, COUNTER, Bench
from openstellar.cocotb.results import Outcome
from output import captured
from simulators import SIMULATORS


def differences(ours: dict[str, Outcome], stocks: dict[str, Outcome]) -> list[str]:
    """Tests that only one side has, or whose outcome or simulated time differs."""
    found = [f"{name}: only on one side" for name in sorted(ours.keys() ^ stocks.keys())]
    for name in sorted(ours.keys() & stocks.keys()):
        one, other = ours[name], stocks[name]
        if one.passed != other.passed:
            words = {True: "passes", False: "fails"}
            found.append(f"{name}: {words[one.passed]} here, {words[other.passed]} on stock")
        elif math.isnan(one.sim_time_ns) and math.isnan(other.sim_time_ns):
            pass  # a test without a simulation
        elif not math.isclose(one.sim_time_ns, other.sim_time_ns, abs_tol=1e-6):
            found.append(f"{name}: {one.sim_time_ns} ns here, {other.sim_time_ns} ns on stock")
    return found


def choose(only: list[str] | None) -> list[Bench]:
    """The benches, or those with one of `only` in their name. Raises ValueError if a name matches none."""
    benches = [COUNTER, *BENCHES]
    for text in only or []:
        if not any(text in bench.module for bench in benches):
            raise ValueError(f"no bench has {text!r} in its name; there are: {', '.join(bench.module for bench in benches)}")
    return [bench for bench in benches if only is None or any(text in bench.module for text in only)]


def compare(benches: list[Bench]) -> int:
    """Runs benches on both simulators. Returns 1 if anything differs or fails."""
    stock.use()
    os.environ.setdefault("COCOTB_RANDOM_SEED", "1")
    problems = 0
    with tempfile.TemporaryDirectory() as directory:
        work = Path(directory)
        for bench in benches:
            outcomes, seconds = {}, {}
            for name in ("openstellar", "stock"):
                # Benches of one design follow each other in one directory, so the design is built once.
                folder = work / name / bench.design
                folder.mkdir(parents=True, exist_ok=True)
                started = time.monotonic()
                simulator = SIMULATORS[name](folder)
                # The wall time of a run is not compared, so stock models may be slow.
                simulator.optimize = False
                with captured(work / f"{name}-{bench.module}.log"):
                    outcomes[name] = bench.run(simulator)
                seconds[name] = time.monotonic() - started
            found = differences(outcomes["openstellar"], outcomes["stock"])
            found += [f"{test}: fails on both" for test, o in outcomes["openstellar"].items() if not o.passed]
            took = f"{seconds['openstellar']:.0f} s here and {seconds['stock']:.0f} s on stock, builds included"
            print(f"{bench.module}: {len(outcomes['openstellar'])} tests, {len(found)} differences or failures ({took})", flush=True)
            for line in found:
                print(f"  {line}")
            problems += len(found)
    return 1 if problems else 0
