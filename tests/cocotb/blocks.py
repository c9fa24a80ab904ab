"""The benches of the project's blocks: one per top-level block, the same list for every simulator."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from openstellar.cocotb.results import Outcome
from openstellar.designs import write
from openstellar.records import Record
from simulators import Simulator

VERILOG = Path(__file__).parent / "verilog"


@dataclass(frozen=True)
class Bench:
    """A module of tests, and the design for them."""

    module: str
    blocks: tuple[str, ...]
    """Names of the project's blocks in the design; a wrapper may need none."""
    tests: int
    wrapper: str | None = None
    """The wrapper around them, in a file of its name; without one the only block is the top."""
    parameters: dict[str, int] = field(default_factory=dict)
    repeats: bool = False
    """Whether a Rust test runs the block in lockstep with its reference too, so that this bench is one more example of how to write one."""

    @property
    def design(self) -> str:
        """Name of the design to build, which benches may share."""
        return self.wrapper or self.blocks[0]

    def run(self, simulator: Simulator) -> dict[str, Outcome]:
        """The outcome of each test."""
        if self.wrapper is None:
            return simulator.run_block(self.module, *self.blocks)
        sources = [VERILOG / f"{self.wrapper}.v"]
        if self.blocks:
            sources.insert(0, write(simulator.directory / "verilog", *self.blocks)[1])
        return simulator.run(self.module, self.wrapper, sources, parameters=self.parameters)


COUNTER = Bench("bench_counter", (), 6, "counter")
"""The benches of small designs, on which all simulators must agree."""

PCIE = (
    "dma_write_512",
    "dma_read_512",
    "host_queues_512",
    "write_arbiter_512",
    "request_stream_512",
    "completion_stream_512",
    "completer_512",
    "bar_decoder",
)

BENCHES = (
    Bench("bench_rx_lane", ("rx_lane_512",), 9, "rx_lane_axis"),
    Bench("bench_parse", ("parse",), 4),
    Bench("bench_tx_frame_builder", ("tx_frame_builder_512",), 7, "tx_frame_builder_axis", {"PACKET_BITS": Record("TxPacket").width}),
    Bench("bench_dma_write", PCIE, 2, "pcie_endpoint_axis"),
    Bench("bench_dma_read", PCIE, 4, "pcie_endpoint_axis"),
    Bench("bench_completer", ("completer_512",), 2, "completer_axis"),
    Bench("bench_host_queues", PCIE, 6, "pcie_endpoint_axis"),
    Bench("bench_host_pages", ("registers", "doorbells"), 7, "host_pages_axil"),
    Bench("bench_local_translate", ("local_translate",), 5, repeats=True),
    Bench("bench_spray_engine", ("spray_engine",), 6, repeats=True),
    Bench("bench_nscc_engine", ("nscc_engine",), 4, repeats=True),
    Bench("bench_tx_window", ("tx_window",), 4, repeats=True),
    Bench("bench_message_table", ("message_table",), 9, repeats=True),
    Bench("bench_responder", ("responder",), 5, repeats=True),
    Bench("bench_psn_track", ("psn_track",), 3, repeats=True),
    Bench("bench_rc_track", ("rc_track",), 5),
    Bench("bench_requester", ("requester_engine_16",), 3, repeats=True),
    Bench("bench_nic", ("nic",), 3),
)
