"""`cocotb_test.simulator.run`, implemented with cocotb's own runners."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

from cocotb_tools.runner import get_runner


def run(
    *,
    python_search: Sequence[str],
    verilog_sources: Sequence[str],
    toplevel: str,
    module: str,
    parameters: Mapping[str, object] | None = None,
    sim_build: str,
    extra_env: Mapping[str, str] | None = None,
) -> None:
    """Builds and runs on the runner that the environment variable SIM names."""
    sys.path += [path for path in python_search if path not in sys.path]
    runner = get_runner(os.environ["SIM"])
    runner.build(
        sources=verilog_sources,
        hdl_toplevel=toplevel,
        parameters=parameters or {},
        build_dir=sim_build,
        always=True,
        timescale=("1ns", "1ps"),
    )
    runner.test(test_module=module, hdl_toplevel=toplevel, extra_env=extra_env or {}, build_dir=sim_build)
