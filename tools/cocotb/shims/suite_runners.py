"""A pytest plugin that registers this project's runner, and the stock one with lint not stopping the build, under names for SIM."""

from __future__ import annotations

from collections.abc import Sequence

from cocotb_tools.runner import SUPPORTED_RUNNERS, Verilator
from openstellar.cocotb import Runner


class Stock(Verilator):
    """cocotb's runner for Verilator. The suites have lint warnings, which do not stop this project's builds either."""

    def _build_command(self) -> Sequence[list[str]]:
        verilate, make = super()._build_command()
        return [[*verilate, "-Wno-fatal"], make]


SUPPORTED_RUNNERS["openstellar"] = Runner
SUPPORTED_RUNNERS["stock"] = Stock
