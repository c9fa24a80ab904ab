"""Thousands of endpoints on one fabric: every host has the card of the transport's software reference (docs/cluster.md).

    from openstellar import cluster

    run = cluster.run(
        topology=cluster.leaf_spine(leaves=4, hosts=60, spines=60),
        workload=cluster.permutation(bytes=2_000_000, ranks=30),
        policy="obs",
        paths=128,
        seed=1,
    )
    print(run.totals["flows"]["fct_us"]["mean"], run.hash)
    run.flows.pandas().groupby("src").fct_us.max()
    run.queues["with_line"].max()

A run is a function of its description: topology, workload, options and seed. `describe` makes the description, a value of dictionaries, lists, texts and
numbers that JSON can hold; `execute` runs one. `openstellar.sweep` runs many.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy

from openstellar.cluster import _native
from openstellar.cluster.tables import Table

__all__ = [
    "Run",
    "Table",
    "all_to_all",
    "describe",
    "execute",
    "fat_tree",
    "flow_file",
    "goal",
    "incast",
    "leaf_spine",
    "matrix",
    "permutation",
    "policies",
    "ring",
    "run",
    "sources",
    "topology_file",
    "tree",
]

Description = dict[str, Any]
"""A part of a run's description, or all of it: what JSON can hold."""


@dataclass(frozen=True)
class Run:
    """The results of a run."""

    totals: dict[str, Any]
    """Flow completion times, packets, uplinks, settings and the hash, as `./stellar cluster --json` prints them, without the lists of flows and uplinks."""
    flows: Table
    """A row per flow: `id`, `src`, `dst`, `bytes`; microseconds `start_us`, `fct_us` (to the sender's last acknowledgement) and `received_us` (to the arrival of
    the last byte), NaN if it did not happen; `failed` (the status, or None)."""
    uplinks: Table
    """A row per channel from a switch with hosts to another switch: `link`, `from`, `to`, `rate_gbps`, `bytes`, `frames`, `marked`, `dropped`, `max_waiting` and
    `mean_waiting` (bytes), `use` (part of the simulated time in which the line was busy with these bytes)."""
    queues: Table
    """A row per uplink and sample: `time_us`, `uplink` (row of `uplinks`), `waiting`, `with_line` (with the frame on the line, as htsim counts), `sent_bytes`."""
    cpu_seconds: float
    """CPU time of the run."""

    @property
    def hash(self) -> str:
        """Hash over time, host, port and length of every frame that a host sent or received: two runs with one hash are the same run."""
        return self.totals["hash"]


def leaf_spine(
    *,
    leaves: int = 2,
    hosts: int = 60,
    spines: int = 60,
    planes: Literal[1, 2] = 1,
    host_link: Description | None = None,
    spine_link: Description | None = None,
    overrides: list[Description] | None = None,
    events: list[Description] | None = None,
    reroute_ns: float | None = None,
) -> Description:
    """`leaves` of `hosts` each, every leaf connected to every spine: 200 Gb/s, 1 us per hop, queues of 4.15 MB, ECN from 41.5 to 157.7 KB.

    With two `planes` every host has a port in each. The keys of the other arguments are those of a topology file (docs/fabric.md): settings of all links
    of a kind, like `spine_link={"rate_gbps": 400}`; of particular ones, like `overrides=[{"link": "p0.leaf0-spine3", "set": {"loss": 0.01}}]`; links that
    change, like `events=[{"at_us": 100, "link": "p0.leaf0-spine3", "up": False}]`.
    """
    built_in: Description = {"leaves": leaves, "hosts": hosts, "spines": spines, "planes": planes}
    parts = {"host_link": host_link, "spine_link": spine_link, "overrides": overrides, "events": events, "reroute_ns": reroute_ns}
    return {"leaf-spine": built_in | {name: part for name, part in parts.items() if part is not None}}


def topology_file(path: str | Path) -> Description:
    """A topology file (docs/fabric.md). Its text becomes part of the description. Raises OSError if it cannot be read."""
    return {"toml": _named_text(path)}


def fat_tree(path: str | Path) -> Description:
    """A fat tree of htsim (`.topo`). Raises OSError if it cannot be read."""
    return {"fat-tree": _named_text(path)}


def permutation(*, bytes: int, ranks: int | None = None) -> Description:
    """Each of `ranks` hosts of every leaf (None: all) sends `bytes` to a host of another leaf, and receives as many."""
    return {"permutation": {"bytes": bytes, "ranks": ranks}}


def incast(*, bytes: int, ranks: int | None = None) -> Description:
    """`ranks` hosts (None: all others) send `bytes` each to one host."""
    return {"incast": {"bytes": bytes, "ranks": ranks}}


def all_to_all(*, bytes: int, ranks: int | None = None) -> Description:
    """Each of the first `ranks` hosts (None: all) sends `bytes` to each other."""
    return {"all-to-all": {"bytes": bytes, "ranks": ranks}}


def ring(*, bytes: int, ranks: int | None = None) -> Description:
    """An AllReduce of `bytes` per rank in a ring of `ranks` hosts (None: all)."""
    return {"ring": {"bytes": bytes, "ranks": ranks}}


def tree(*, bytes: int, ranks: int | None = None) -> Description:
    """An AllReduce of `bytes` per rank in a binary tree of `ranks` hosts (None: all)."""
    return {"tree": {"bytes": bytes, "ranks": ranks}}


def matrix(text: str, *, file: str = "matrix") -> Description:
    """The text of a connection matrix of htsim (`.cm`), with triggers: flows of any start and order. Errors call it `file`."""
    return {"matrix": {"file": file, "text": text}}


def goal(text: str, *, file: str = "schedule") -> Description:
    """The text of a schedule in GOAL, as ATLAHS and LogGOPSim read it. Rank i is host i. Errors call it `file`."""
    return {"goal": {"file": file, "text": text}}


def flow_file(text: str, *, file: str = "flows") -> Description:
    """The text of a flow file of ConWeave's simulator. Errors call it `file`."""
    return {"flows": {"file": file, "text": text}}


def describe(
    *,
    workload: Description,
    topology: Description | None = None,
    balancer: str | None = None,
    transport: Literal["mrc", "rc"] = "mrc",
    congestion: Literal["nscc", "dcqcn", "dcqcn-2015"] = "nscc",
    policy: str | None = None,
    paths: int = 128,
    mtu: int = 4096,
    sack_every: int = 4,
    rto_us: int = 250,
    window: int = 1024,
    early_loss: int = 0,
    queue_pairs: Literal["per-flow", "per-pair"] = "per-flow",
    addressing: Literal["ipv4", "srv6"] = "ipv4",
    telemetry_us: int = 0,
    path_loads: bool = False,
    sample_us: int = 5,
    sample_window: tuple[int, int] | None = None,
    limit_us: int = 1_000_000,
    seed: int = 1,
) -> Description:
    """The description of a run; nothing is checked yet.

    `workload` and `topology` (None: 2 leaves of 60 hosts and 60 spines) come from the functions of this module. `balancer` is how switches choose, like
    "let-flow,gap_us=50". `congestion` "dcqcn" is a baseline that the card does not have. `policy` is one of `policies`
    (None: "obs", or "single" with one path). `window` is the most packets of
    a queue pair in flight, up to 4,096. `early_loss` is a distance in packets, 0 is off. With
    `addressing` "srv6" packets have source routes. `telemetry_us` is the length of a sample of the policy "placed". Queues of
    uplinks are sampled every `sample_us` microseconds (0: not) within `sample_window`. The run ends at `limit_us` of simulated time, if flows are not done.
    """
    options = {
        "transport": transport,
        "congestion": congestion,
        "policy": policy,
        "paths": paths,
        "mtu": mtu,
        "sack_every": sack_every,
        "rto_us": rto_us,
        "window": window,
        "early_loss": early_loss,
        "queue_pairs": queue_pairs,
        "addressing": addressing,
        "telemetry_us": telemetry_us,
        "path_loads": path_loads,
        "sample_us": sample_us,
        "sample_window": list(sample_window) if sample_window is not None else None,
        "limit_us": limit_us,
        "seed": seed,
    }
    return {"topology": topology if topology is not None else leaf_spine(), "balancer": balancer, "workload": workload, "options": options}


def execute(description: Description) -> Run:
    """Runs what `describe` has made. Other threads of Python go on meanwhile.

    Raises ValueError, with what is wrong, where, and what to do, for a description that cannot be run; RuntimeError if the run fails.
    """
    text = json.dumps(description)
    before = time.thread_time()
    try:
        report, uplinks, flows, queues = _native.run(text)
    except ValueError as error:
        raise _located(error, text) from None
    spent = time.thread_time() - before
    totals = json.loads(report)
    for name in ("flow_results", "uplink_bytes", "cpu_seconds", "packets_per_second"):
        del totals[name]
    return Run(totals, _flows(flows), _uplinks(json.loads(uplinks), totals["simulated_us"]), _queues(queues), spent)


def run(**arguments: Any) -> Run:
    """Runs a cluster: `execute` of what `describe` makes of the arguments, with its errors. Raises TypeError for an unknown argument."""
    return execute(describe(**arguments))


def policies() -> dict[str, str]:
    """Names of the path policies, and what they do."""
    return dict(_native.policies())


def sources() -> str:
    """A digest of the sources that decide what a run gives: results of equal digests and descriptions are equal."""
    return _native.sources()


def _located(error: ValueError, text: str) -> ValueError:
    """An error in the description's text names a column; people see what is there instead."""
    message, found, column = str(error).partition(" at line 1 column ")
    if not found:
        return error
    end = int(column)
    return ValueError(f"{message}, at the end of `{text[max(0, end - 40) : end]}`")


def _named_text(path: str | Path) -> Description:
    return {"file": str(path), "text": Path(path).read_text()}


def _flows(columns: dict[str, Any]) -> Table:
    times = ("start_us", "fct_us", "received_us")
    arrays = {name: numpy.frombuffer(values, "<f8" if name in times else "<u8") for name, values in columns.items() if name != "failed"}
    return Table(arrays | {"failed": numpy.array(columns["failed"], dtype=object)})


def _queues(columns: dict[str, bytes]) -> Table:
    return Table({name: numpy.frombuffer(values, "<f8" if name == "time_us" else "<u8") for name, values in columns.items()})


def _uplinks(rows: list[dict[str, Any]], simulated_us: float) -> Table:
    names = ("link", "from", "to", "rate_gbps", "bytes", "frames", "marked", "dropped", "max_waiting", "mean_waiting")
    columns = {name: numpy.array([row[name] for row in rows]) for name in names}
    carried = columns["rate_gbps"] * 1e3 / 8 * simulated_us
    use = numpy.divide(columns["bytes"], carried, out=numpy.zeros(len(rows)), where=carried > 0)
    return Table(columns | {"use": use})
