"""Flows of the figures, as texts of connection matrices (htsim's .cm) and flow files (ConWeave's)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy

__all__ = ["Job", "flow_text", "rings", "rounds"]


@dataclass(frozen=True)
class Job:
    """An AllReduce in a ring: in each of `steps` steps every rank sends `part` bytes to the next one, once it has the part of the step before."""

    hosts: list[int]
    part: int
    steps: int
    start_us: float = 0.0

    @property
    def flows(self) -> int:
        """Number of its flows."""
        return len(self.hosts) * self.steps


def rings(jobs: list[Job], nodes: int) -> str:
    """The matrix of jobs side by side. Flows are numbered from 1 on: job after job, step after step, rank after rank."""
    lines: list[str] = []
    triggers = 0
    identity = 1
    for job in jobs:
        ranks = len(job.hosts)
        for step in range(job.steps):
            for rank, host in enumerate(job.hosts):
                # Trigger of what arrives at a rank in a step; the last step starts nothing.
                start = f"start {job.start_us * 1e6:.0f}" if step == 0 else f"trigger {triggers + (step - 1) * ranks + rank + 1}"
                peer = (rank + 1) % ranks
                done = f" recv_done_trigger {triggers + step * ranks + peer + 1}" if step + 1 < job.steps else ""
                lines.append(f"{host}->{job.hosts[peer]} id {identity} {start} size {job.part}{done}")
                identity += 1
        triggers += ranks * (job.steps - 1)
    head = [f"Nodes {nodes}", f"Connections {identity - 1}", f"Triggers {triggers}"]
    return "\n".join(head + lines + [f"trigger id {number} oneshot" for number in range(1, triggers + 1)]) + "\n"


def rounds(pairs: list[tuple[int, int]], size: int, count: int) -> str:
    """The matrix of `count` rounds, in each of which every pair's first host sends `size` bytes to its second one. A round begins when all flows of the one before are done."""
    lines = []
    for number in range(count):
        start = f"trigger {number}" if number > 0 else "start 0"
        done = f" send_done_trigger {number + 1}" if number + 1 < count else ""
        lines += [f"{src}->{dst} id {number * len(pairs) + at + 1} {start} size {size}{done}" for at, (src, dst) in enumerate(pairs)]
    head = [f"Nodes {1 + max(map(max, pairs))}", f"Connections {len(lines)}", f"Triggers {count - 1}"]
    return "\n".join(head + lines + [f"trigger id {number} barrier count {len(pairs)}" for number in range(1, count)]) + "\n"


def flow_text(flows: list[tuple[int, int, int, float]]) -> str:
    """The flow file of (source, destination, bytes, start in seconds)."""
    return "\n".join([str(len(flows)), *(f"{src} {dst} 3 {size} {start:.12f}" for src, dst, size, start in flows)]) + "\n"


def shuffled(hosts: int, seed: int) -> list[int]:
    """The hosts in a random order."""
    return [int(host) for host in numpy.random.default_rng(seed).permutation(hosts)]
