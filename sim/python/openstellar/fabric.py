"""Two hosts on a fabric with loss, marks and many paths. Their NICs are the software reference of the transport, or Verilated cards.

`run` executes a whole run in one call. `openstellar.hosts` is the same world step by step: memory, posts, time.

    from openstellar import fabric

    run = fabric.run(bytes=8 << 20, paths=128, loss=("p0.leaf0-spine5", 0.01))
    print(run.report["goodput_gbps"], run.report["requester"]["retransmissions"])
    run.plot().savefig("run.png")

Each run checks every byte of memory and the order of completions; a difference raises RuntimeError.
"""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from openstellar import _native

if TYPE_CHECKING:
    import numpy
    from matplotlib.figure import Figure
    from scapy.plist import PacketList

__all__ = ["Run", "run", "run_scenario", "scenarios"]


@dataclass(frozen=True)
class Run:
    """The results of a run."""

    report: dict[str, Any]
    """The report, as `./stellar world --json` prints it; times in nanoseconds, sizes in bytes."""
    captures: dict[str, bytes]
    """A pcapng file per host port, by the port's name."""

    def packets(self, port: str) -> PacketList:
        """Every frame that crossed `port`, in both directions, as scapy packets with their times. Raises KeyError with the existing ports."""
        import scapy.contrib.roce  # binds UDP port 4791
        from scapy.utils import PcapNgReader

        if port not in self.captures:
            raise KeyError(f"no capture of port {port!r}; there are: {', '.join(self.captures) or 'none'}")
        with PcapNgReader(io.BytesIO(self.captures[port])) as reader:
            return reader.read_all()

    def series(self, name: Literal["time_ns", "goodput_gbps", "cwnd", "in_flight", "rtt_ns"]) -> numpy.ndarray:
        """A time series of the report as an array: one value per sample."""
        import numpy

        return numpy.asarray(self.report["series"][name])

    def path_loads(self) -> numpy.ndarray:
        """Data packets by entropy value index; even indices are plane 0."""
        import numpy

        return numpy.asarray(self.report["path_loads"], dtype=numpy.int64)

    def plot(self) -> Figure:
        """Goodput, congestion window and load per path. Needs matplotlib."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(9, 7), layout="constrained")
        rate, window, paths = figure.subplots(3, 1)
        microseconds = self.series("time_ns") / 1000
        rate.step(microseconds, self.series("goodput_gbps"))
        rate.axhline(self.report["wire_limit_gbps"], linestyle=":", color="grey")
        rate.set_ylabel("goodput, Gb/s")
        window.plot(microseconds, self.series("cwnd") / 1024, label="window")
        window.plot(microseconds, self.series("in_flight") / 1024, label="in flight")
        window.set_ylabel("KiB")
        window.set_xlabel("time, us")
        window.legend()
        loads = self.path_loads()
        paths.bar(range(len(loads)), loads)
        paths.set_ylabel("data packets")
        paths.set_xlabel("entropy value index")
        return figure


def run(
    *,
    topology: str | Path | None = None,
    nic: Literal["reference", "rtl"] = "reference",
    bytes: int = 1 << 20,
    qps: int = 1,
    mode: Literal["mrc", "rc"] = "mrc",
    paths: int = 128,
    policy: Literal["single", "round-robin", "obs", "ev-state", "bitmap", "reps", "mixed", "flow-bender", "hopper", "hp3"] | None = None,
    loss: tuple[str, float] | None = None,
    mtu: int = 4096,
    seed: int = 1,
    captures: bool = True,
) -> Run:
    """Each of `qps` queue pairs writes one message of `bytes` from GPU memory of the first host to GPU memory of the last.

    `topology` is a TOML file (docs/fabric.md); None is a leaf-spine of two planes. `nic` is the software reference of the transport, or "rtl": two
    Verilated cards, whose model takes minutes to build the first time. `loss` names a link and the probability that it loses a frame. `captures`
    keeps every frame four times: turn it off for long runs.

    Raises ValueError for an invalid argument, RuntimeError if the run fails.
    """
    report, files = _native.run_pair(
        topology=topology_text(topology),
        nic=nic,
        bytes=bytes,
        qps=qps,
        mode=mode,
        paths=paths,
        policy=policy,
        loss=loss,
        mtu=mtu,
        seed=seed,
        captures=captures,
    )
    return Run(json.loads(report), dict(files))


def topology_text(topology: str | Path | None) -> tuple[str, str] | None:
    """Name and text of a topology file, for the native library."""
    return (str(topology), Path(topology).read_text()) if topology is not None else None


def run_scenario(name: str, seed: int = 1, *, nic: Literal["reference", "rtl"] = "reference", shrink: int = 1) -> Run:
    """Runs one of `scenarios`. Raises ValueError with the closest names if the scenario does not exist.

    `shrink`, 1 to 16, divides the length of its messages, in scenarios that mean the same with shorter ones. Between Verilated cards 8 is a good
    choice.
    """
    report, files = _native.run_scenario(name, nic, seed, shrink)
    return Run(json.loads(report), dict(files))


def scenarios() -> dict[str, str]:
    """Names and descriptions of the scenarios."""
    return dict(_native.scenarios())
